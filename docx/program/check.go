package program

import (
	"strings"

	"platen/docx/validate"
	"platen/ooxml"
)

// Every document is judged while it is written. What of it is the template's own bytes was read once, when it was written
// for the first time, so that an execution pays for what is new in its document only.

// Soundness is what the checks of a template's documents share.
type Soundness struct {
	Memory validate.Memory
	own    validate.Faults            // of the template itself: they are no fault of the documents
	rels   map[string]map[string]bool // the ids of the relationships of the parts with tags
}

// Learn reads a part with tags for what is wrong in it already.
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

// beginCheck begins the judgement of a document.
func (x *execution) beginCheck() {
	x.out.check = x.d.Sound.Memory.NewOutput(&x.d.Sound.own, func(id string) bool {
		return x.d.Sound.rels[x.part][id] || x.added.HasRel(x.part, id)
	})
}

// checkAdded judges what was added to the package: that it hangs together, and its XML.
func (x *execution) checkAdded() error {
	if err := x.added.Check(); err != nil {
		return x.refuse(&validate.Problem{Code: validate.CodePackage, Message: err.Error()})
	}
	for name, added := range x.added.Contents() {
		if !strings.HasSuffix(added.ContentType, "xml") {
			continue
		}
		own := &x.d.Sound.own
		if part := x.d.Package.Part(name); part != nil { // a part of the template with more in it
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

// refuse turns a problem of the document into the error that Execute returns. Problems with the writer stay as they are.
func (x *execution) refuse(err error) error {
	p, ok := validate.AsProblem(err)
	if !ok {
		return err
	}
	names := strings.Split(p.Place, ", ")
	return Errors{{
		Part: p.Part, Place: names[0], Message: "the document would be damaged: " + p.Message,
		Hint: "this is a fault of the program and not of the template; please report it with the template",
	}}
}
