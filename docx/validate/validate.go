// Package validate checks whether Word, and every other program that follows the standard, will open a Word document. It shares only the
// container with the engine that generates documents, so that a mistake in the engine cannot hide here.
//
// [Package] checks a whole document. [Output] checks the parts of a document while they are written, at a fraction of the cost of writing
// them.
package validate

import (
	"fmt"
	"io"
	"regexp"

	"platen/ooxml"
)

// Code names a kind of problem. It is stable: programs may compare it.
type Code string

// The kinds of problems.
const (
	CodePackage      Code = "package"      // the zip file or its directory is damaged
	CodeContentType  Code = "content_type" // a part has no content type, or the wrong one
	CodeRelationship Code = "relationship" // a relationship without a target, a duplicate one, or a missing one
	CodeXML          Code = "xml"          // the XML is not well formed
	CodeNamespace    Code = "namespace"    // a prefix is not declared
	CodeNesting      Code = "nesting"      // an element or text is not allowed in its parent
	CodeOrder        Code = "order"        // elements are in the wrong order, or repeated
	CodeEmpty        Code = "empty"        // an element lacks its required content
	CodeEnd          Code = "end"          // a cell does not end with a paragraph
	CodeMissing      Code = "missing"      // a required child is missing
	CodeDuplicate    Code = "duplicate_id" // an id is not unique
	CodeReference    Code = "reference"    // a reference to a list, note, comment, or style that does not exist
	CodeTable        Code = "table"        // cells do not fit the grid
	CodeField        Code = "field"        // a complex field lacks its begin or end: the text after it is lost
)

// Problem is one mistake in a document.
type Problem struct { //nolint:errname // most are listed and not returned as errors
	Part    string // "/word/document.xml"; "" for the file as a whole
	Place   string // the open elements and the byte: "w:document/w:body/w:tbl, byte 1234"
	Code    Code
	Message string
	Warning bool // Word opens the document anyway
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

// Key identifies the problem without its place, which changes when a document is generated from a template.
func (p Problem) Key() string { return p.Part + " " + string(p.Code) + " " + p.Message }

// Kind is the same for problems of the same kind, whatever ids they name.
func (p *Problem) Kind() string {
	return string(p.Code) + " " + anID.ReplaceAllString(p.Message, "…")
}

// anID matches numbers and text in quotes, which are ids.
var anID = regexp.MustCompile(`"[^"]*"|\b\S*\d\S*`)

// MaxProblems is the maximum number of problems that are reported for one document.
const MaxProblems = 1000

// Package checks a document of size bytes: the package (ISO 29500-2), whether the XML is well formed, and for WordprocessingML
// (ISO 29500-1 §17) the rules in rules.go, unique ids, references, and the grids of tables. It reads each part once, and keeps one part in
// memory at a time. The problems are in the order of the parts.
func Package(r io.ReaderAt, size int64) []Problem {
	pkg, err := ooxml.Open(r, size, ooxml.Limits{})
	if err != nil {
		return []Problem{{Code: CodePackage, Message: err.Error()}}
	}
	return Opened(pkg)
}

// Opened is [Package] for a package that is open.
func Opened(pkg *ooxml.Package) []Problem {
	d := &document{pkg: pkg, ids: map[string]bool{}}
	for _, part := range pkg.Parts() {
		d.check(part)
	}
	d.resolve()
	return d.problems
}

// where describes a position by its open elements and its byte.
func where(p *point, offset int64) string {
	if p.depth == 0 {
		return fmt.Sprintf("byte %d", offset)
	}
	return fmt.Sprintf("%s, byte %d", p.path(), offset)
}
