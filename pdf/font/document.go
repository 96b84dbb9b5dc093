package font

import (
	"cmp"
	"io"
	"path"
	"slices"
	"strings"
)

// Document is what a Word document asks for. What it was read from must stay readable: the fonts that are embedded in it
// are read when a Report wants them. It is not for several goroutines at once.
type Document struct {
	asked     []*asked // in the order of their names
	language  string   // of its text in East Asian characters
	container *container
	embedded  map[string][]embeddedFile // by folded name
}

// Fonts are the fonts that at least one visible character is set in, with these characters, in the order of their names.
func (d *Document) Fonts() []Asked {
	fonts := make([]Asked, len(d.asked))
	for i, f := range d.asked {
		fonts[i] = Asked{f.name, &f.characters}
	}
	return fonts
}

// Embeds reports whether fonts are embedded in the document. A LibreOffice that has read such a document knows them for as
// long as it runs, and uses them for the documents of others that ask for them by name.
func (d *Document) Embeds() bool { return len(d.embedded) > 0 }

// Asked is a font that a document asks for.
type Asked struct {
	Name       string
	Characters *Set
}

// document is a Document that is being read.
type document struct {
	*container
	fonts    map[string]*asked // all that are named, by folded name
	spelled  map[string]*asked // the same, as attributes spell them
	fallback *asked            // for text that is given no font
	theme    theme
	styles   styles
	lists    lists
	evenPage bool              // headers of even pages are seen
	sections map[string]string // in which pages a header or footer is seen, by its relationship: "default", "first" or "even"
	first    bool              // some section has a first page of its own
	formats  map[formatKey]*paragraphFormat
	symbols  map[symbolKey]bool // numbers that are counted
}

// wordDefault is what Word sets text in that no style and no run gives a font.
const wordDefault = "Times New Roman"

// Read finds out which fonts a Word document asks for, with the characters that it sets in each.
//
// It follows the formats of runs as Word does: styles of characters, paragraphs and tables, the document's defaults and its
// theme; which of a run's four fonts a character has goes by its kind. Headers, footers, notes, text boxes, numbers of
// lists, signs, watermarks, charts and diagrams count; what is hidden, deleted or a comment does not.
func Read(r io.ReaderAt, size int64) (*Document, error) {
	c, err := openContainer(r, size)
	if err != nil {
		return nil, err
	}
	d := &document{
		container: c, fonts: map[string]*asked{}, spelled: map[string]*asked{}, sections: map[string]string{},
		formats: map[formatKey]*paragraphFormat{}, symbols: map[symbolKey]bool{},
	}
	d.fallback = d.font(wordDefault)
	main, err := d.mainPart()
	if err != nil {
		return nil, err
	}
	relationships, err := d.relationships(main)
	if err != nil {
		return nil, err
	}
	if err := d.readDefinitions(relationships); err != nil {
		return nil, err
	}
	if err := d.readStories(main, relationships); err != nil {
		return nil, err
	}
	embedded, err := d.readFontTable(relationships)
	if err != nil {
		return nil, err
	}
	return &Document{asked: d.seen(), language: cmp.Or(d.styles.defaults.lang, d.theme.eastAsia), container: c, embedded: embedded}, nil
}

func (d *document) mainPart() (string, error) {
	relationships, err := d.relationships("")
	if err != nil {
		return "", err
	}
	for _, r := range relationships {
		if r.kind == "officeDocument" && d.entries[strings.ToLower(r.target)] != nil {
			return r.target, nil
		}
	}
	return "", errNotDocument
}

// seen are the fonts that have characters.
func (d *document) seen() []*asked {
	var seen []*asked
	for _, f := range d.fonts {
		if f.characters.Len() > 0 {
			seen = append(seen, f)
		}
	}
	slices.SortFunc(seen, func(a, b *asked) int { return cmp.Compare(fold(a.name), fold(b.name)) })
	return seen
}

// readDefinitions reads the parts that say what the others mean, those first that others need.
func (d *document) readDefinitions(relationships []relationship) error {
	steps := []struct {
		kind string
		read func(part []byte) error
	}{
		{"settings", d.readSettings}, {"theme", d.readTheme}, {"styles", d.readStyles}, {"numbering", d.readNumbering},
	}
	for _, step := range steps {
		for _, r := range relationships {
			if r.kind != step.kind {
				continue
			}
			part, err := d.part(r.target, maxDefinitionBytes)
			if err == nil {
				err = step.read(part)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *document) readSettings(part []byte) error {
	x := newReader(part)
	for range x.starts {
		switch string(x.name) {
		case "w:themeFontLang":
			d.theme.eastAsia, d.theme.bidi = x.attr("w:eastAsia"), x.attr("w:bidi")
		case "w:evenAndOddHeaders":
			d.evenPage = x.on()
		}
	}
	return x.err
}

func (d *document) readTheme(part []byte) (err error) {
	d.theme.collections, err = readTheme(part)
	return err
}

// readStories reads the parts that have text: first the main one, which says where headers and footers are seen.
func (d *document) readStories(main string, relationships []relationship) error {
	if err := d.readStory(main); err != nil {
		return err
	}
	for _, r := range relationships {
		switch r.kind {
		case "header", "footer":
			if !d.isSeen(r.id) {
				continue
			}
		case "chart", "diagramData":
			if err := d.readDrawing(r.target); err != nil {
				return err
			}
			continue
		case "footnotes", "endnotes":
		default:
			continue
		}
		if err := d.readStory(r.target); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) isSeen(header string) bool {
	pages, named := d.sections[header]
	switch pages {
	case "first":
		return d.first
	case "even":
		return d.evenPage
	}
	return named
}

func (d *document) readStory(name string) error {
	part, err := d.part(name, maxPartBytes)
	if err != nil {
		return err
	}
	s := &story{document: d, x: newReader(part)}
	for range s.x.starts {
		s.element(scope{paragraph: d.paragraphFormat("", "")})
	}
	return s.x.err
}

// embeddedFile is a font file in a document, garbled with a key.
type embeddedFile struct{ part, key string }

// readFontTable reads which fonts are embedded in the document (ISO 29500-1 §17.8.1).
func (d *document) readFontTable(relationships []relationship) (map[string][]embeddedFile, error) {
	embedded := map[string][]embeddedFile{}
	for _, r := range relationships {
		if r.kind != "fontTable" {
			continue
		}
		part, err := d.part(r.target, maxDefinitionBytes)
		if err != nil {
			return nil, err
		}
		targets, err := d.relationships(path.Clean(r.target))
		if err != nil {
			return nil, err
		}
		name := ""
		x := newReader(part)
		for range x.starts {
			switch string(x.name) {
			case "w:font":
				name = fold(x.attr("w:name"))
			case "w:embedRegular", "w:embedBold", "w:embedItalic", "w:embedBoldItalic":
				id := x.attr("r:id")
				i := slices.IndexFunc(targets, func(t relationship) bool { return t.id == id })
				if i >= 0 && len(embedded[name]) < 4 {
					embedded[name] = append(embedded[name], embeddedFile{targets[i].target, x.attr("w:fontKey")})
				}
			}
		}
		if x.err != nil {
			return nil, x.err
		}
	}
	return embedded, nil
}
