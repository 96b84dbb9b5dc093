// Package include inserts the content of Word documents into another one, like Word's Insert, Text from File: with its pictures, links,
// charts, lists, styles, and notes.
package include

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"platen/ooxml"
	"platen/ooxml/names"
)

// Place is the place for the content of a document, which replaces the paragraph at Source[Start:End] of a part. Places with the same
// position get their contents in the order of the places.
type Place struct {
	Part        string
	Source      []byte // of the part
	Start, End  int
	Document    *ooxml.Package
	TableBefore bool // a table is before the paragraph
	NoParagraph bool // a table follows, or nothing
	NoSections  bool // the place is in a header, a table, or the like, where no section can end

	Tag           []byte // a paragraph to insert above the content; nil for none
	Before, After string // the texts of paragraphs to insert around the content; "" for none

	Opening, Closing []byte // the starts and ends of ranges, as XML, to insert around all of that
	References       []byte // runs to append to the last paragraph of the content
	PageBreak        bool   // the content begins on a new page
	Section          []byte // the paragraph that ends the section of the text above, if the content has sections; nil if no text is above
}

// Taken are the ids and names that the document uses already.
type Taken struct {
	FirstID      int             // from here on, ids of bookmarks and tracked changes are free
	FirstDrawing int             // the same for IDs of drawings
	FirstTextBox int             // the same for those of text boxes that share a text
	Bookmarks    map[string]bool // names
}

// Stretch is the range of the content of a place in the result, with the paragraphs around it except [Place.Tag].
type Stretch struct{ Start, End int }

// ErrStrict means that one document has the strict form of ISO 29500-1 and the other does not.
var ErrStrict = errors.New("has another form of Office Open XML (strict or transitional) than the template: save both in the same form")

// Error is a document that cannot be included. Its message completes a sentence whose subject is the file.
type Error struct {
	Place int // which of the places
	Err   error
}

// Error returns the message.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Into returns pkg as a file with the content of documents inserted in places, and the ranges of the content in the file. The content is
// the body of a document without its last section, which defines its pages. Sections before that keep their headers and footers. If both
// documents have a style with the same name, that of pkg is used. Comments are left out.
//
// The error is an [*Error] if a document cannot be included.
func Into(pkg *ooxml.Package, places []Place, taken Taken) (file []byte, stretches []Stretch, err error) {
	main, err := pkg.WordMain()
	if err != nil {
		return nil, nil, err
	}
	in := &inserter{pkg: pkg, main: main, added: ooxml.NewAdditions(pkg, nil), taken: taken, sources: map[*ooxml.Package]*source{},
		changed: map[*ooxml.Part]bool{}}
	if err := in.open(); err != nil {
		return nil, nil, err
	}
	stretches = make([]Stretch, len(places))
	for _, part := range pkg.Parts() {
		if err := in.insertInto(part, places, stretches); err != nil {
			return nil, nil, err
		}
	}
	file, err = in.write()
	return file, stretches, err
}

// inserter puts documents into one.
type inserter struct {
	pkg     *ooxml.Package
	main    *ooxml.Part
	added   *ooxml.Additions
	taken   Taken
	sources map[*ooxml.Package]*source
	changed map[*ooxml.Part]bool // parts that have other content

	styles    *styleSheet
	numbering *numbering
	notes     [2]*notes // footnotes and endnotes
	places    int
	hasTheme  bool
}

// open reads the parts of the document that content may add to.
func (in *inserter) open() (err error) {
	if in.styles, err = readStyles(in.pkg, in.main); err != nil {
		return err
	}
	if in.numbering, err = readNumbering(in.pkg, in.main); err != nil {
		return err
	}
	for i, kind := range noteKinds {
		if in.notes[i], err = readNotes(in.pkg, in.main, kind); err != nil {
			return err
		}
	}
	return nil
}

// insertInto puts content into one part.
func (in *inserter) insertInto(part *ooxml.Part, places []Place, stretches []Stretch) error {
	var order []int
	for i := range places {
		if places[i].Part == part.Name {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a].Start, places[b].Start) })
	src := places[order[0]].Source
	declared, err := declarationsOf(src)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	at := 0
	for _, i := range order {
		p := &places[i]
		content, err := in.content(part, p, declared)
		if err != nil {
			return &Error{i, err}
		}
		out.Write(src[at:p.Start])
		start := out.Len()
		if p.Tag != nil {
			start += len(p.Opening) + len(p.Tag)
		}
		stretches[i] = Stretch{start, out.Len() + len(content)}
		out.Write(content)
		at = p.End
	}
	out.Write(src[at:])
	in.replace(part, out.Bytes())
	return nil
}

// content returns the XML to insert in a place.
func (in *inserter) content(part *ooxml.Part, p *Place, declared declarations) ([]byte, error) {
	s, err := in.source(p.Document)
	if err != nil {
		return nil, err
	}
	in.places++
	if err := in.theme(s); err != nil {
		return nil, err
	}
	c := &copier{in: in, from: s, part: s.main, rels: s.rels, declared: declared, lists: map[string]string{}, ids: map[string]int{},
		textBoxes: map[string]int{}, named: map[string]bool{}, bookmarks: map[string]string{}, isMain: part == in.main}
	c.relate = func(relType, target string, external bool) (string, error) {
		return in.added.Relate(part.Name, relType, target, external)
	}
	blocks := s.blocks()
	c.noSections = p.NoSections
	for _, b := range blocks {
		c.nameBookmarks(b)
	}
	var out bytes.Buffer
	if p.Tag != nil {
		out.Write(p.Opening)
		out.Write(p.Tag)
	}
	out.WriteString(textParagraph(p.Before, in.pkg.Strict()))
	if !p.NoSections && slices.ContainsFunc(blocks, endsSection) {
		out.Write(p.Section)
	}
	if p.Tag == nil {
		out.Write(p.Opening)
	}
	if err := in.writeBlocks(&out, c, blocks, p); err != nil {
		return nil, err
	}
	out.WriteString(textParagraph(p.After, in.pkg.Strict()))
	out.Write(p.Closing)
	return out.Bytes(), nil
}

// writeBlocks writes copies of the blocks of a body, and the empty paragraphs that their place needs around them.
func (in *inserter) writeBlocks(out *bytes.Buffer, c *copier, blocks []*element, p *Place) error {
	paragraph := emptyParagraph(in.pkg.Strict())
	if p.TableBefore && len(blocks) > 0 && isTable(blocks[0]) {
		out.WriteString(paragraph)
	}
	copies := make([]*element, len(blocks))
	for i, b := range blocks {
		var err error
		if copies[i], err = c.copyOf(b); err != nil {
			return err
		}
	}
	if p.PageBreak && len(copies) > 0 {
		breakPage(copies[0])
	}
	if err := c.refer(copies, p.References); err != nil {
		return err
	}
	for _, b := range copies {
		if err := writeElement(out, b); err != nil {
			return err
		}
	}
	if p.NoParagraph && (len(blocks) == 0 || isTable(blocks[len(blocks)-1])) {
		out.WriteString(paragraph)
	}
	return nil
}

// refer appends runs to the last paragraph of some blocks, which may be in a table.
func (c *copier) refer(blocks []*element, runs []byte) error {
	if len(runs) == 0 {
		return nil
	}
	for _, b := range slices.Backward(blocks) {
		if p := lastParagraph(b); p != nil {
			added, err := parseWithin(c.declared, runs)
			for _, run := range added {
				p.AddChild(run)
			}
			return err
		}
	}
	return nil
}

// endsSection reports whether a block is a paragraph with a section break.
func endsSection(b *element) bool { return child(child(b, "w:pPr"), "w:sectPr") != nil }

// theme gives a document without a theme that of another one, because its charts and styles may use the colors.
func (in *inserter) theme(s *source) error {
	isTheme := func(r ooxml.Relationship) bool { return r.Type == names.RelTheme && !r.External }
	i := slices.IndexFunc(s.rels, isTheme)
	if in.hasTheme || i < 0 {
		return nil
	}
	own, err := in.pkg.Rels(in.main.Name)
	if in.hasTheme = true; err != nil || slices.ContainsFunc(own, isTheme) {
		return err
	}
	c := &copier{in: in, from: s, relate: func(relType, target string, external bool) (string, error) {
		return in.added.Relate(in.main.Name, relType, target, external)
	}}
	_, err = c.relation(s.rels[i])
	return err
}

// replace replaces the content of a part of the document.
func (in *inserter) replace(part *ooxml.Part, data []byte) {
	in.changed[part] = true
	in.added.Replace(part.Name, data)
}

// write returns the document as a file.
func (in *inserter) write() ([]byte, error) {
	if err := in.finish(); err != nil {
		return nil, err
	}
	if err := in.added.Check(); err != nil {
		return nil, fmt.Errorf("include: %w", err)
	}
	var out bytes.Buffer
	w := ooxml.NewWriter(&out)
	var late []*ooxml.Part
	for _, part := range in.pkg.Parts() {
		switch {
		case in.added.Deferred(part):
		case in.changed[part]:
			late = append(late, part)
		default:
			if err := w.Copy(part); err != nil {
				return nil, err
			}
		}
	}
	if err := in.added.WriteTo(w, late...); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// finish writes the parts that content added to.
func (in *inserter) finish() error {
	for _, sheet := range []*sheet{&in.styles.sheet, &in.numbering.sheet, &in.notes[0].sheet, &in.notes[1].sheet} {
		if !sheet.grown {
			continue
		}
		data, err := sheet.bytes()
		if err != nil {
			return err
		}
		if sheet.part != nil {
			in.replace(sheet.part, data)
			continue
		}
		name, err := in.added.Add("/word/"+sheet.name, "xml", sheet.contentType, data)
		if err != nil {
			return err
		}
		if _, err := in.added.Relate(in.main.Name, sheet.relType, name, false); err != nil {
			return err
		}
		if len(sheet.rels) > 0 {
			in.added.RelateAll(name, sheet.rels)
		}
	}
	return nil
}

// source is a document whose content is copied.
type source struct {
	pkg       *ooxml.Package
	main      *ooxml.Part
	rels      []ooxml.Relationship
	body      *element
	styles    *styleSheet
	numbering *numbering
	notes     [2]*notes
	parts     map[*ooxml.Part]string // names of the copies, by the original
	copying   map[*ooxml.Part]bool
	styleIDs  map[string]string // new ids of styles, by kind and old id
	newStyles map[string]bool   // ids that the document did not have
	lists     map[string]string // the lists that styles name, in the same form
}

// source opens a document once.
func (in *inserter) source(pkg *ooxml.Package) (*source, error) {
	if s := in.sources[pkg]; s != nil {
		return s, nil
	}
	if pkg.Strict() != in.pkg.Strict() {
		return nil, ErrStrict
	}
	main, err := pkg.WordMain()
	if err != nil {
		return nil, err
	}
	s := &source{pkg: pkg, main: main, parts: map[*ooxml.Part]string{}, copying: map[*ooxml.Part]bool{}, styleIDs: map[string]string{},
		newStyles: map[string]bool{}, lists: map[string]string{}}
	root, err := readElement(pkg, main)
	if err != nil {
		return nil, err
	}
	if s.body = child(root, "w:body"); s.body == nil {
		return nil, errors.New("has no body")
	}
	if s.rels, err = pkg.Rels(main.Name); err != nil {
		return nil, err
	}
	if s.styles, err = readStyles(pkg, main); err != nil {
		return nil, err
	}
	if s.numbering, err = readNumbering(pkg, main); err != nil {
		return nil, err
	}
	for i, kind := range noteKinds {
		if s.notes[i], err = readNotes(pkg, main, kind); err != nil {
			return nil, err
		}
	}
	in.sources[pkg] = s
	return s, nil
}

// blocks returns the content of the body without the section that ends it.
func (s *source) blocks() []*element {
	blocks := slices.DeleteFunc(slices.Clone(s.body.ChildElements()), unwanted)
	if n := len(blocks); n > 0 && nameOf(blocks[n-1]) == "w:sectPr" {
		blocks = blocks[:n-1]
	}
	return blocks
}
