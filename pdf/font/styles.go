package font

// style is a style of a paragraph, of characters or of tables.
type style struct {
	basedOn   string
	run       runProperties
	numbering numbering
	resolved  bool // what it is based on is in the fields above
}

// numbering is what a paragraph or its style says of its number.
type numbering struct {
	id, level string // "" where nothing is said
}

// styles are those of a document.
type styles struct {
	byID      map[string]*style
	defaults  runProperties
	paragraph string // the style of paragraphs that name none
}

// readStyles reads the part of the styles.
func (d *document) readStyles(part []byte) error {
	d.styles.byID = map[string]*style{}
	x := newReader(part)
	for range x.starts {
		switch string(x.name) {
		case "w:rPrDefault":
			d.styles.defaults = d.readDefaults(x)
		case "w:style":
			id := x.attr("w:styleId")
			kind := x.attr("w:type")
			isDefault := x.attr("w:default") != "" && x.attr("w:default") != "0" && x.attr("w:default") != "false"
			style := d.readStyle(x)
			if len(d.styles.byID) < maxStyles {
				d.styles.byID[id] = style
			}
			if isDefault && kind == "paragraph" {
				d.styles.paragraph = id
			}
		case "w:latentStyles":
			x.skip()
		}
	}
	return x.err
}

func (d *document) readDefaults(x *reader) (p runProperties) {
	for range x.children {
		if string(x.name) == "w:rPr" {
			p = d.readRunProperties(x)
		} else {
			x.skip()
		}
	}
	return p
}

func (d *document) readStyle(x *reader) *style {
	s := new(style)
	for range x.children {
		switch string(x.name) {
		case "w:basedOn":
			s.basedOn = x.attr("w:val")
			x.skip()
		case "w:rPr":
			s.run = d.readRunProperties(x)
		case "w:pPr":
			s.numbering = d.readParagraphProperties(x).numbering
		default:
			x.skip()
		}
	}
	return s
}

// resolve is a style with what it is based on. One that is not there says nothing.
func (s *styles) resolve(id string) *style {
	found := s.byID[id]
	if found == nil {
		return new(style)
	}
	if found.resolved {
		return found
	}
	found.resolved = true // so that one which is based on itself comes to an end
	chain := []*style{found}
	for base := s.byID[found.basedOn]; base != nil; base = s.byID[base.basedOn] {
		chain = append(chain, base)
		if base.resolved {
			break
		}
		base.resolved = true
	}
	for i := len(chain) - 2; i >= 0; i-- {
		chain[i].inherit(chain[i+1])
	}
	return found
}

func (s *style) inherit(base *style) {
	s.run = s.run.over(&base.run)
	if s.numbering.id == "" {
		s.numbering.id = base.numbering.id
	}
	if s.numbering.level == "" {
		s.numbering.level = base.numbering.level
	}
}
