package expect

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"platen/docx/program"
	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

const (
	maxLines = 500_000  // of an outline
	maxBytes = 32 << 20 // of the texts of an outline

	formatBytes = 8 // that a stretch of text with its own formatting counts for, apart from its text
)

// ErrTooLarge means that a document has too many elements, or too much text, to be compared.
var ErrTooLarge = fmt.Errorf("the document has more than %d elements, or more than %d MB of text", maxLines, maxBytes>>20)

// Outline returns the structure of a Word document of size bytes: a line for each paragraph, table, row, cell, section, header, footer,
// note, text box, image, chart, and the like. It has what a reader sees, with tracked changes as accepted: the text, and the effective
// formatting. It does not depend on ids, on how Word splits text into runs, and on the order or the names of parts. The error is an
// *ooxml.Error if the file is not a Word document.
func Outline(r io.ReaderAt, size int64) ([]Line, error) {
	pkg, err := ooxml.Open(r, size, ooxml.Limits{})
	if err != nil {
		return nil, err
	}
	main, err := pkg.WordMain()
	if err != nil {
		return nil, err
	}
	o := &outliner{pkg: pkg, main: main, lists: map[string]*program.NumberedList{}, seen: map[string]int{}, notes: map[string]*wml.Node{}}
	if err := o.open(); err != nil {
		return nil, err
	}
	if err := o.properties(); err != nil {
		return nil, err
	}
	o.document()
	o.blocks(o.body.root, 0)
	if o.err != nil {
		return nil, o.err
	}
	if !o.hyphenated || !o.settings.isOn("w:autoHyphenation") {
		o.withoutHyphenation()
	}
	return o.lines, o.sheet.Err()
}

// outliner writes the outline of a document.
type outliner struct {
	pkg       *ooxml.Package
	main      *ooxml.Part
	sheet     *style.Sheet
	styles    map[string]style.Definition
	numbering *program.Numbering // nil if there is none
	lists     map[string]*program.NumberedList
	numbers   program.Numbers

	settings settings

	body     *part // the main part
	*part          // that is being read
	notes    map[string]*wml.Node
	notesIn  map[LineKind]*part
	sections int
	named    [6]string      // the headers and footers of the last section, by their names
	shown    [6]string      // those that the last section that shows them has
	seen     map[string]int // the section in which a header or footer was first shown
	unseen   bool           // a header or footer is being read that the section does not show

	hyphenated bool // words of a paragraph may be divided

	lines []Line
	bytes int
	err   error // the first one, which ends the reading
}

// part is a part with text.
type part struct {
	name         string
	src          []byte
	root         *wml.Node
	resolver     *style.Resolver
	reader       *scan.Reader
	places       *wml.Locator
	rels         map[string]ooxml.Relationship
	heading      string
	fields       []field                // that are open
	codes        int                    // of them, those whose result has not begun
	controlsRead map[*wml.Node][]string // by w:sdt
	joining      *inline                // the paragraph that the next one continues; nil if there is none
}

func (o *outliner) open() (err error) {
	if o.sheet, err = style.Read(o.pkg, o.main); err != nil {
		return err
	}
	if o.styles, err = style.Definitions(o.pkg, o.main); err != nil {
		return err
	}
	if o.numbering, err = program.ReadNumbering(o.pkg, o.main); err != nil {
		return err
	}
	if err := o.readSettings(); err != nil {
		return err
	}
	if o.body, err = o.openPart(o.main); err != nil {
		return err
	}
	o.part, o.notesIn = o.body, map[LineKind]*part{}
	for kind, relType := range map[LineKind]string{Footnote: names.RelFootnotes, Endnote: names.RelEndnotes} {
		if err := o.openNotes(kind, relType); err != nil {
			return err
		}
	}
	return nil
}

func (o *outliner) openPart(p *ooxml.Part) (*part, error) {
	src, err := o.pkg.ReadXML(p)
	if err != nil {
		return nil, err
	}
	src = scan.ExpandCDATA(src)
	root, err := wml.ParseTree(p.Name, src)
	if err != nil {
		return nil, err
	}
	rels, err := o.relsOf(p.Name)
	if err != nil {
		return nil, err
	}
	return &part{
		name: p.Name, src: src, root: root, resolver: o.sheet.In(src), reader: scan.New(src), places: wml.NewLocator(root), rels: rels,
		controlsRead: map[*wml.Node][]string{},
	}, nil
}

func (o *outliner) relsOf(name string) (map[string]ooxml.Relationship, error) {
	list, err := o.pkg.Rels(name)
	byID := make(map[string]ooxml.Relationship, len(list))
	for _, r := range list {
		byID[r.ID] = r
	}
	return byID, err
}

// openNotes reads the footnotes or endnotes.
func (o *outliner) openNotes(kind LineKind, relType string) error {
	p, err := wml.RelatedPart(o.pkg, o.main, relType)
	if p == nil || err != nil {
		return err
	}
	notes, err := o.openPart(p)
	if err != nil {
		return err
	}
	o.notesIn[kind] = notes
	for _, note := range notes.root.Children {
		o.notes[string(kind)+wml.AttrValue(notes.src, note, "w:id")] = note
	}
	return nil
}

// shownProperties are the properties of a document that people give it.
var shownProperties = []string{"title", "subject", "creator", "keywords", "description", "category", "contentStatus"}

// properties writes the properties of the document.
func (o *outliner) properties() error {
	rels, err := o.pkg.Rels("/")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rels, func(r ooxml.Relationship) bool { return r.Type == names.RelCoreProperties && !r.External })
	if i < 0 || o.pkg.Part(rels[i].Target) == nil {
		return nil
	}
	core := o.pkg.Part(rels[i].Target)
	src, err := o.pkg.ReadXML(core)
	if err != nil {
		return err
	}
	values := map[string]string{}
	r := scan.New(src)
	eachText(r, func(text string) { values[r.LocalName()] = text })
	for _, name := range shownProperties {
		if values[name] != "" {
			o.add(Line{Part: core.Name, Place: "document property " + name, Kind: Property, Text: values[name], Format: []string{name}})
		}
	}
	return nil
}

// add adds a line, and returns its position.
func (o *outliner) add(l Line) int {
	o.bytes += len(l.Text) + len(l.Place) + formatBytes*len(l.Formats)
	if len(o.lines) >= maxLines || o.bytes > maxBytes {
		o.fail(ErrTooLarge)
		return 0
	}
	l.unseen = o.unseen
	o.lines = append(o.lines, l)
	return len(o.lines) - 1
}

func (o *outliner) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// line returns a line at an element of the part.
func (o *outliner) line(kind LineKind, n *wml.Node, depth int) Line {
	return Line{Part: o.name, Heading: o.heading, Place: o.places.Locate(n), Kind: kind, Depth: depth}
}

// blocks writes the paragraphs and tables in an element.
func (o *outliner) blocks(n *wml.Node, depth int) {
	for _, child := range n.Children {
		if o.err != nil {
			return
		}
		switch {
		case child.Name == "w:p":
			o.paragraph(child, depth)
		case child.Name == "w:tbl":
			o.table(child, depth)
		case child.Name == "w:sectPr":
			o.finish(depth)
			o.section(child)
		case child.Name == "w:altChunk":
			o.chunk(child, depth)
		case child.Name == "mc:AlternateContent":
			if branch := alternative(child); branch != nil {
				o.blocks(branch, depth)
			}
		case !child.IsTextless():
			o.blocks(child, depth)
		}
	}
	if ends[n.Name] {
		o.finish(depth)
	}
	if n.Name == "w:body" && n.Child("w:sectPr") == nil && o.err == nil {
		o.section(nil)
	}
}

// ends are the elements at whose end no paragraph continues in the next one.
var ends = wml.SetOf("w:body w:tc w:hdr w:ftr w:txbxContent w:footnote w:endnote")

// chunk writes a file whose content Word inserts when it opens the document. Its text is not read.
func (o *outliner) chunk(n *wml.Node, depth int) {
	o.finish(depth)
	if !o.enter(n) {
		return
	}
	l := o.line(Embedded, n, depth)
	_, content, err := o.contentOf(o.rels[o.reader.Attr("r:id")])
	if err != nil {
		o.fail(err)
		return
	}
	l.Format = []string{"inserted", content}
	o.add(l)
}

// alternative returns the branch of an mc:AlternateContent that Word shows; nil if there is none.
func alternative(n *wml.Node) *wml.Node {
	if choice := n.Child("mc:Choice"); choice != nil {
		return choice
	}
	return n.Child("mc:Fallback")
}

// table writes a table.
func (o *outliner) table(n *wml.Node, depth int) {
	o.finish(depth)
	l := o.line(Table, n, depth)
	properties := o.resolver.Table(n)
	l.Format = o.styled(properties, "w:tblStyle")
	var columns []string
	if grid := n.Child("w:tblGrid"); grid != nil {
		for _, column := range grid.Children {
			columns = append(columns, wml.AttrValue(o.src, column, "w:w"))
		}
		l.Format = append(l.Format, "column widths "+strings.Join(columns, " "))
	}
	o.add(l)
	o.rows(n, depth+1)
}

// styled returns the format of an element, which begins with the name of its style.
func (o *outliner) styled(properties style.Properties, element string) []string {
	id, _ := properties.Get(element)
	format := formatOf(properties)
	if name := styleName(o.styles[id].Name); name != "" {
		format = slices.Insert(format, 0, "style "+name)
	}
	return format
}

// rows writes the rows in a table or an element of it.
func (o *outliner) rows(n *wml.Node, depth int) {
	for _, child := range n.Children {
		switch {
		case o.err != nil:
			return
		case child.Name == "w:tr":
			if child.Child("w:trPr").Child("w:del") == nil {
				o.row(child, depth)
			}
		case child.Name != "w:tblPr" && child.Name != "w:tblGrid" && !child.IsTextless():
			o.rows(child, depth)
		}
	}
}

// row writes a row with its cells.
func (o *outliner) row(n *wml.Node, depth int) {
	l := o.line(Row, n, depth)
	l.Format = formatOf(o.resolver.Row(n))
	at := o.add(l)
	if o.err != nil {
		return
	}
	var cells [][]Format
	o.cells(n, depth+1, &cells)
	if o.err != nil {
		return
	}
	formats := joinFormats(cells, "\t")
	for _, f := range formats {
		o.bytes += len(f.Text) + formatBytes
	}
	if o.bytes > maxBytes {
		o.fail(ErrTooLarge)
		return
	}
	o.lines[at].Text, o.lines[at].Formats = visible(formats), formats
}

// cells writes the cells in a row or an element of it, and adds their texts.
func (o *outliner) cells(n *wml.Node, depth int, texts *[][]Format) {
	for _, child := range n.Children {
		switch {
		case o.err != nil:
			return
		case child.Name == "w:tc":
			if child.Child("w:tcPr").Child("w:cellDel") == nil {
				*texts = append(*texts, o.cell(child, depth))
			}
		case child.Name != "w:trPr" && child.Name != "w:tblPrEx" && !child.IsTextless():
			o.cells(child, depth, texts)
		}
	}
}

// cell writes a cell, and returns its text.
func (o *outliner) cell(n *wml.Node, depth int) []Format {
	l := o.line(Cell, n, depth)
	l.Format = formatOf(o.resolver.Cell(n))
	from := o.add(l) + 1
	o.blocks(n, depth+1)
	if o.err != nil {
		return nil
	}
	var paragraphs [][]Format
	for i := from; i < len(o.lines); i++ {
		switch l := &o.lines[i]; {
		case l.Kind != Paragraph || l.Text == "":
		case len(l.Formats) == 0:
			paragraphs = append(paragraphs, []Format{{Text: l.Text}})
		default:
			paragraphs = append(paragraphs, l.Formats)
		}
	}
	return joinFormats(paragraphs, "\n")
}

// joinFormats joins texts with a separator.
func joinFormats(texts [][]Format, separator string) []Format {
	var joined []Format
	for i, text := range texts {
		if i > 0 {
			joined = append(joined, Format{Text: separator})
		}
		joined = append(joined, text...)
	}
	return joined
}

// within calls read while another part is being read.
func (o *outliner) within(p *part, read func()) {
	outer := o.part
	o.part = p
	read()
	o.part = outer
}

// stated returns the properties that an element states.
func (o *outliner) stated(n *wml.Node) style.Properties {
	if !o.enter(n) {
		return style.Properties{}
	}
	return o.sheet.Stated(o.reader)
}

// isOn returns the value of an on/off element; n may be nil.
func (o *outliner) isOn(n *wml.Node) bool {
	return n != nil && o.enter(n) && scan.IsOn(o.reader.RawAttr("w:val"))
}

// enter moves the reader of the part to an element.
func (o *outliner) enter(n *wml.Node) bool {
	var path []int
	for ; n != nil; n = n.Parent {
		path = append(path, n.Start)
	}
	slices.Reverse(path)
	return o.reader.Enter(path...)
}
