package program

import (
	"bytes"
	"path"
	"strings"

	"platen/docx/validate"
	"platen/ooxml"
)

// Every document is checked while it is written. The bytes of the template are checked only in the first document, so that an execution
// pays only for new content.

// Soundness is the state that the checks of a template's documents share.
type Soundness struct {
	Memory validate.Memory
	own    validate.Faults            // of the template itself, which are tolerated in its documents
	rels   map[string]map[string]bool // ids of the relationships, by part with tags
}

// Learn records the faults that a part with tags already has.
func (s *Soundness) Learn(pkg *ooxml.Package, part string, src []byte) error {
	if s.rels == nil {
		s.rels = map[string]map[string]bool{}
	}
	s.own.Tolerate(&s.Memory, src)
	rels, err := pkg.Rels(part)
	if err != nil {
		return err
	}
	s.rels[part] = make(map[string]bool, len(rels))
	for _, r := range rels {
		s.rels[part][r.ID] = true
	}
	return nil
}

// beginCheck begins the check of a document.
func (x *execution) beginCheck() {
	x.out.check = x.d.Sound.Memory.NewOutput(&x.d.Sound.own, func(id string) bool {
		return x.d.Sound.rels[x.part][id] || x.added.HasRel(x.part, id)
	})
}

// checkAdded checks the additions to the package: their relationships, and their XML.
func (x *execution) checkAdded() error {
	if err := x.added.Check(); err != nil {
		return x.refuse(&validate.Problem{Code: validate.CodePackage, Message: err.Error()})
	}
	for name, added := range x.added.Contents() {
		if !strings.HasSuffix(added.ContentType, "xml") {
			continue
		}
		own := &x.d.Sound.own
		if part := x.d.Package.Part(name); part != nil { // a part of the template with additions
			src, err := x.d.Package.Read(part)
			if err != nil {
				return err
			}
			own = new(validate.Faults)
			own.Tolerate(&x.d.Sound.Memory, src)
		}
		check := x.d.Sound.Memory.NewOutput(own, nil)
		check.Part(name, nil)
		check.Write(added.Data)
		if err := check.End(); err != nil {
			return x.refuse(err)
		}
	}
	return nil
}

// CheckMerged returns an error if a file that was merged from several documents has mistakes that none of them has. The check of generated
// documents cannot find these, because it tolerates what their template already has. Files from which the data chooses may refer to the
// same comments, because a document has only one of them.
func CheckMerged(file []byte, from []*ooxml.Package) error {
	known := map[string]bool{}
	for _, pkg := range from {
		for _, problem := range validate.Opened(pkg) {
			known[problem.Kind()] = true
		}
	}
	for _, problem := range validate.Package(bytes.NewReader(file), int64(len(file))) {
		place, _, _ := strings.Cut(problem.Place, ", ")
		isReference := problem.Code == validate.CodeDuplicate && path.Base(place) == "w:commentReference"
		if !problem.Warning && !known[problem.Kind()] && !isReference {
			return Damaged(&problem)
		}
	}
	return nil
}

// refuse returns the error of Execute for a problem of the document. It returns other errors unchanged.
func (x *execution) refuse(err error) error {
	if p, ok := validate.AsProblem(err); ok {
		return Damaged(p)
	}
	return err
}

// Damaged returns the error for a document that Platen would damage.
func Damaged(p *validate.Problem) Errors {
	names := strings.Split(p.Place, ", ")
	return Errors{{
		Part: p.Part, Place: names[0], Message: "the document would be damaged: " + p.Message,
		Hint: "this is a bug in Platen, not a mistake in the template; please report it, with the template",
	}}
}
