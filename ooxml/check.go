package ooxml

import (
	"fmt"
	"strings"
)

// Check reports what makes the package unsound beyond what Open refuses: XML parts that are not well formed, parts
// without a content type, relationships whose target is missing or whose id is there twice.
func (p *Package) Check() []error {
	var problems []error
	for _, part := range p.parts {
		if part.Name != ContentTypesName && part.ContentType == "" {
			problems = append(problems, &Error{Code: CodeDamaged, Part: part.Name, Message: "the part has no content type"})
		}
		if !isXML(part) {
			continue
		}
		if _, err := p.ReadXML(part); err != nil {
			problems = append(problems, err)
		} else if source, ok := relsSource(part.Name); ok {
			problems = append(problems, p.checkRels(source)...)
		}
	}
	return problems
}

func isXML(part *Part) bool {
	return part.Name == ContentTypesName || strings.HasSuffix(part.ContentType, "+xml") || strings.HasSuffix(part.ContentType, "/xml")
}

// relsSource is the inverse of relsName.
func relsSource(name string) (string, bool) {
	dir, base, ok := strings.Cut(name, "_rels/")
	if !ok || !strings.HasSuffix(base, ".rels") {
		return "", false
	}
	return dir + strings.TrimSuffix(base, ".rels"), true
}

func (p *Package) checkRels(source string) []error {
	rels, err := p.Rels(source)
	if err != nil {
		return []error{err}
	}
	var problems []error
	seen := make(map[string]bool)
	for _, r := range rels {
		if seen[r.ID] {
			problems = append(problems, &Error{Code: CodeDamaged, Part: relsName(source),
				Message: fmt.Sprintf("the relationship %q is defined twice", r.ID)})
		}
		seen[r.ID] = true
		if !r.External && !r.IsOwn() && p.Part(r.Target) == nil && r.Target != source {
			problems = append(problems, &Error{Code: CodeDamaged, Part: relsName(source),
				Message: fmt.Sprintf("the relationship %q points to %s, which is missing", r.ID, r.Target)})
		}
	}
	return problems
}
