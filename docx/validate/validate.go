// Package validate judges Word documents: whether Word, and every other program that keeps to the standard, will open them.
// It shares nothing with the engine that makes them but the container, so that a mistake there does not hide here.
//
// Package judges a whole document. Stream judges the parts of a document while they are written, at a cost that is small
// beside that of writing them.
package validate

import (
	"fmt"
	"io"

	"platen/ooxml"
)

// Code names a kind of problem. It is stable: programs may compare it.
type Code string

// The kinds of problems.
const (
	CodePackage      Code = "package"      // the zip file or its directory
	CodeContentType  Code = "content_type" // a part without a type, or with one that its content is not
	CodeRelationship Code = "relationship" // one that leads nowhere, is there twice, or is named and not there
	CodeXML          Code = "xml"          // not well formed
	CodeNamespace    Code = "namespace"    // a prefix that is not declared
	CodeNesting      Code = "nesting"      // an element or text where it may not stand
	CodeOrder        Code = "order"        // elements in the wrong order, or too many
	CodeEmpty        Code = "empty"        // an element without what it must hold
	CodeEnd          Code = "end"          // a cell that does not end with a paragraph
	CodeMissing      Code = "missing"      // a child that must be there
	CodeDuplicate    Code = "duplicate_id" // an id that must be unique
	CodeReference    Code = "reference"    // a list, note, comment or style that is named and not there
	CodeTable        Code = "table"        // cells that do not fit the grid
	CodeField        Code = "field"        // a complex field without its begin or its end: text behind is lost
)

// Problem is one thing that is wrong with a document.
type Problem struct { //nolint:errname // most are told and not returned
	Part    string // "/word/document.xml"; empty for the file as a whole
	Place   string // the elements around it and the byte, "w:document/w:body/w:tbl, byte 1234"
	Code    Code
	Message string
	Warning bool // Word opens the document all the same
}

func (p *Problem) Error() string {
	s := p.Message
	if p.Place != "" {
		s = p.Place + ": " + s
	}
	if p.Part != "" {
		s = p.Part + ": " + s
	}
	return s
}

// Key tells what is wrong without the place, which moves when a document is filled.
func (p Problem) Key() string { return p.Part + " " + string(p.Code) + " " + p.Message }

// MaxProblems is how many problems are reported of one document.
const MaxProblems = 1000

// Package judges a document of size bytes: the package (ISO 29500-2), that its XML is well formed, and of
// WordprocessingML (ISO 29500-1 §17) what the tables in rules.go say, unique ids, references, and the grid of tables.
// It reads each part once and holds one at a time. The problems come in the order of the parts.
func Package(r io.ReaderAt, size int64) []Problem {
	pkg, err := ooxml.Open(r, size, ooxml.Limits{})
	if err != nil {
		return []Problem{{Code: CodePackage, Message: err.Error()}}
	}
	d := &document{pkg: pkg, ids: map[string]bool{}}
	for _, part := range pkg.Parts() {
		d.check(part)
	}
	d.resolve()
	return d.problems
}

func where(p *point, offset int64) string {
	if p.depth == 0 {
		return fmt.Sprintf("byte %d", offset)
	}
	return fmt.Sprintf("%s, byte %d", p.path(), offset)
}
