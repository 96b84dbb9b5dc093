package font

// paragraphProperties are what w:pPr says that matters here.
type paragraphProperties struct {
	style     string
	numbering numbering
	mark      runProperties // of the paragraph's end, which its number looks like
}

// readParagraphProperties reads the element w:pPr that has just started.
func (d *document) readParagraphProperties(x *reader) (p paragraphProperties) {
	for range x.children {
		switch string(x.name) {
		case "w:pStyle":
			p.style = x.attr("w:val")
			x.skip()
		case "w:numPr":
			p.numbering = readNumberingReference(x)
		case "w:rPr":
			p.mark = d.readRunProperties(x)
		case "w:sectPr":
			(&story{document: d, x: x}).section()
		default:
			x.skip()
		}
	}
	return p
}

func readNumberingReference(x *reader) (n numbering) {
	for range x.children {
		switch string(x.name) {
		case "w:numId":
			n.id = x.attr("w:val")
		case "w:ilvl":
			n.level = x.attr("w:val")
		}
		x.skip()
	}
	return n
}

// formatKey is what a paragraph's format goes by: the styles of the table that it is in and its own.
type formatKey struct{ table, style string }

// paragraphFormat is how a paragraph of a style looks.
type paragraphFormat struct {
	style     string
	numbering numbering
	styled    runProperties // what the styles of paragraphs and tables say
	run       runProperties // the same on the document's defaults
}

// paragraphFormat puts together how paragraphs of a style in a table of another look.
func (d *document) paragraphFormat(table, id string) *paragraphFormat {
	key := formatKey{table, id}
	if f := d.formats[key]; f != nil {
		return f
	}
	if id == "" || d.styles.byID[id] == nil {
		id = d.styles.paragraph
	}
	style := d.styles.resolve(id)
	f := &paragraphFormat{style: id, numbering: style.numbering}
	f.styled = style.run.overStyle(&d.styles.resolve(table).run)
	f.run = f.styled.over(&d.styles.defaults)
	if len(d.formats) < maxFormats {
		d.formats[key] = f
	}
	return f
}

// Limits of what is remembered of a document; what is beyond is formatted like text that says nothing.
const (
	maxFormats  = 10_000 // combinations of styles, and numbers in them
	maxStyles   = 20_000
	maxLists    = 20_000
	maxSections = 20_000 // headers and footers
)

// format is how a run looks that says something itself.
func (d *document) format(paragraph *paragraphFormat, p *runProperties) *runProperties {
	base := paragraph.run
	if p.style != "" {
		styled := d.styles.resolve(p.style).run.overStyle(&paragraph.styled)
		base = styled.over(&d.styles.defaults)
	}
	merged := p.over(&base)
	return &merged
}

// symbolKey is what the number of a paragraph looks like: its level, in a format. Marks that say something are not
// remembered.
type symbolKey struct {
	level  *level
	format *paragraphFormat
}

// number takes note of what a paragraph's number or bullet is made of.
func (d *document) number(f *paragraphFormat, p *paragraphProperties) {
	n, style := p.numbering, ""
	if n.id == "" {
		n.id = f.numbering.id
		if n.level == "" {
			n.level, style = f.numbering.level, f.style
		}
	} else if n.level == "" {
		n.level = "0"
	}
	l := d.lists.level(n, style)
	key := symbolKey{l, f}
	plain := p.mark == runProperties{}
	if l == nil || plain && d.symbols[key] {
		return
	}
	if plain && len(d.symbols) < maxFormats {
		d.symbols[key] = true
	}
	marked := d.format(f, &p.mark)
	looks := l.run.over(marked)
	if looks.on&hidden == 0 {
		d.note(&looks, []byte(l.symbol()))
	}
}
