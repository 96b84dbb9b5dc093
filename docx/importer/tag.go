package importer

import (
	"strings"

	"platen/docx/wml"
)

// kind is what a tag does.
type kind int

const (
	kPrint   kind = iota // prints expr
	kLoop                // repeats for the items of expr
	kIf                  // keeps its content if expr is true
	kSection             // is a loop or a condition, depending on the data
	kUnless              // keeps its content if expr is false
	kWith                // makes expr the context
	kStyle               // colors its content
	kMatrix              // repeats a cell in two directions
	kElseIf
	kElse
	kEnd
	kLet     // gives expr a name
	kNothing // prints nothing, and means nothing to Platen
	kText    // is text already in Platen's language
)

// command is what a tag of another language says.
type command struct {
	kind          kind
	expr          *expr
	name          string  // of a loop's variable, or of the variable that is set
	closes        string  // the name by which an end names its block; "" for any
	value         string  // the second variable of a loop over keys
	key           string  // the variable for the keys, in a loop whose other variable has the values
	variable      string  // the variable that a loop should have
	where         *expr   // a condition on the items of a loop
	sorts         []*expr // what the items of a loop are sorted by
	unique        bool    // of items that are sorted alike, only the first one counts
	before, after string  // what is printed around a value, if test is true
	test          *expr
	text          string // of kText
	inverse       bool   // a section keeps its content if expr is false
	fills         bool   // it fills the content control or the image that has it in its description
	unit          unit
	note          string
	err           error   // why it cannot be converted
	style         *call   // of kStyle
	matrix        *matrix // of kMatrix
	word          string  // of the block in Platen, if that is known
	includes      bool    // it inserts another file

	uses  []*expr                         // other expressions that it has
	write func(w *writer) (string, error) // writes what replaces it, if that is special
	putIn func(p *part, t *tag)           // puts what replaces it into the part, if that is special
}

// unit is the element that a block tag stands for.
type unit string

const (
	unitNone      unit = ""
	unitRun       unit = "w:r"
	unitParagraph unit = "w:p"
	unitRow       unit = "w:tr"
	unitCell      unit = "w:tc"
	unitTable     unit = "w:tbl"
	unitAround    unit = "around" // the paragraphs that contain the tags, as a whole
)

// span is the piece text[from:to] of a paragraph.
type span struct{ from, to int }

// tag is a tag of another language in a paragraph.
type tag struct {
	command
	par   *paragraph
	span  span
	block *block    // that it opens, divides, or closes
	more  []stretch // the rest of a tag that continues in other paragraphs
	field *field    // that it is; nil for text

	joined []joint // what is removed around it

	columns *columns // whose cells it repeats; nil for none

	usesKey bool // a tag in the loop prints the key of an item
	keyed   bool // a loop goes through the values of an object, and has their keys

	stays   bool   // a row that it has to itself stays
	spaced  bool   // a blank precedes the character that says what it does
	padded  bool   // its content begins or ends with a blank
	added   bool   // it is not in the template, but its equivalent in Platen needs it
	follows *tag   // the opening tag of the loop whose second example it is in
	place   func() // puts what replaces it into the part, if that is special
	ownCell bool   // its table cell disappears

	index  int      // in the tags of its part
	failed error    // why it stays
	out    string   // what replaces it
	notes  []string // what the author should know
	at     int      // its position in the changed part; -1 for a tag that is no longer there
}

func (t *tag) original() string {
	if t.field != nil {
		return "{ " + t.field.code + " }"
	}
	texts := []string{t.par.text[t.span.from:t.span.to]}
	for _, m := range t.more {
		texts = append(texts, m.par.text[m.span.from:m.span.to])
	}
	return strings.Join(texts, " ")
}

// stretch is a piece of the text of a paragraph.
type stretch struct {
	par  *paragraph
	span span
}

// block is a loop or a condition with its tags.
type block struct {
	tags  []*tag // at least one
	scope *scope
	word  string // of the block in Platen: for, tablerow, tablecolumn, if
	list  string // or condition, in Platen's language
	end   bool   // it has an end

	coloring *coloring // of kStyle
}

func (b *block) last() *tag { return b.tags[len(b.tags)-1] }

// crossesCells reports whether a block begins and ends in different cells.
func (b *block) crossesCells() bool { return b.tags[0].cell() != b.last().cell() }

// fail leaves all tags of a block as they are.
func (b *block) fail(err error) {
	for i, t := range b.tags {
		if t.failed != nil {
			continue
		}
		if t.failed = err; i > 0 && !b.tags[0].added {
			t.failed = &cannot{"its opening tag " + t.block.tags[0].original() + " was not converted", "convert both together"}
		}
	}
}

func (t *tag) isCondition() bool { return t.kind == kIf || t.kind == kUnless }

// cell returns the innermost table cell around a paragraph, or nil.
func (t *tag) cell() *wml.Node { return t.par.node.Ancestor(wml.Named("w:tc")) }

// row returns the innermost table row around a paragraph, or nil.
func (t *tag) row() *wml.Node { return t.par.node.Ancestor(wml.Named("w:tr")) }
