package program

import "platen/ooxml"

// FormKind is the form of a document: with or without macros.
type FormKind int

// The forms of documents.
const (
	Plain  FormKind = iota // .docx
	Macros                 // .docm
	formCount
)

// Form is what distinguishes the documents of one form from the template.
type Form struct {
	Listings map[string][]byte // the new contents of parts that list others, by name
	Omitted  map[*ooxml.Part]bool
}

// form returns the form of the execution's document.
func (x *execution) form() *Form {
	if x.opt.Macros {
		return &x.d.Forms[Macros]
	}
	return &x.d.Forms[Plain]
}
