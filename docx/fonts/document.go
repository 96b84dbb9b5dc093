// Package fonts lists the fonts that a Word document asks for, and the characters that are set in each.
//
// It follows the formatting of text as Word does (see docx/style): the styles of characters, paragraphs, and tables, the document's
// defaults, and its theme. The kind of a character decides which of a run's four fonts applies. Headers, footers, notes, text boxes, list
// numbers, symbols, watermarks, charts, and diagrams count. Hidden text, deleted text, and comments do not.
package fonts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// Document lists the fonts of a Word document. The reader that it was read from must stay open while Embedded is used. A Document is not
// safe for concurrent use.
type Document struct {
	asked    []Asked
	language string
	reader   *reader
	embedded map[string][]embeddedFile // by folded name
}

// Asked is a font that a document asks for, with the characters that are set in it.
type Asked struct {
	Name       string
	Characters *Set
}

// Fonts returns the fonts that at least one visible character is set in, sorted by name.
func (d *Document) Fonts() []Asked { return d.asked }

// Language returns the language of the document's East Asian text, or "" if it names none.
func (d *Document) Language() string { return d.language }

// Embeds reports whether the document embeds fonts. After LibreOffice has read such a document, it offers the fonts to all later documents
// until it exits.
func (d *Document) Embeds() bool { return len(d.embedded) > 0 }

// Limits on a document, far above any real one.
const (
	maxPart    = 128 << 20 // bytes of a part that is read
	maxTotal   = 512 << 20 // bytes of all parts that are read
	maxDrawing = 16 << 20  // bytes of a chart, a diagram, or the font table
	maxFile    = 32 << 20  // bytes of an embedded font
	// No stream decompresses to more than about a thousand times its size, so a false size does not cost memory.
	maxRatio = 1100
)

var limits = ooxml.Limits{
	PackageBytes: 1 << 40, TotalBytes: 1 << 40, PartBytes: 1 << 40, XMLBytes: maxPart, Ratio: maxRatio,
}

var errTooLarge = errors.New("the document is too large for its fonts to be looked for")

// reader builds a Document.
type reader struct {
	pkg      *ooxml.Package
	main     *ooxml.Part
	read     int64 // number of bytes read so far
	sheet    *style.Sheet
	fonts    map[string]*Asked // all fonts that are named, by folded name
	fallback *Asked            // the font of text that names none
	formats  map[formatKey]*format
	numbers  map[numberKey]bool // the numbers that have been added
	sections map[string]string  // by relationship of a header or footer, the pages that show it: "default", "first", or "even"
	first    bool               // a section has a different first page
	even     bool               // even pages have their own headers
}

// wordDefault is the font that Word uses if neither a style nor a run names one.
const wordDefault = "Times New Roman"

// Read lists the fonts that a Word document asks for.
func Read(r io.ReaderAt, size int64) (*Document, error) {
	pkg, err := ooxml.Peek(r, size, limits)
	if err != nil {
		return nil, err
	}
	main, err := pkg.WordMain()
	if err != nil {
		return nil, err
	}
	d := &reader{
		pkg: pkg, main: main, fonts: map[string]*Asked{}, sections: map[string]string{},
		formats: map[formatKey]*format{}, numbers: map[numberKey]bool{},
	}
	d.fallback = d.font(wordDefault)
	if d.sheet, err = style.Read(pkg, main); err != nil {
		return nil, err
	}
	if err := d.readSettings(); err != nil {
		return nil, err
	}
	if err := d.readStories(); err != nil {
		return nil, err
	}
	embedded, err := d.readFontTable()
	if err != nil {
		return nil, err
	}
	if err := d.sheet.Err(); err != nil {
		return nil, err
	}
	language, _ := d.sheet.Run(style.Cell{}, "", style.Properties{}).Get("w:lang/@w:eastAsia")
	return &Document{asked: d.seen(), language: cmp.Or(language, d.sheet.Theme.EastAsia()), reader: d, embedded: embedded}, nil
}

// part reads a part of at most limit bytes.
func (d *reader) part(part *ooxml.Part, limit int64) ([]byte, error) {
	if d.read += part.Size; part.Size > limit || d.read > maxTotal {
		return nil, errTooLarge
	}
	src, err := d.pkg.Read(part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", part.Name, err)
	}
	return src, nil
}

// seen returns the fonts that have characters.
func (d *reader) seen() []Asked {
	var seen []Asked
	for _, f := range d.fonts {
		if f.Characters.Len() > 0 {
			seen = append(seen, *f)
		}
	}
	slices.SortFunc(seen, func(a, b Asked) int { return cmp.Compare(fold(a.Name), fold(b.Name)) })
	return seen
}

func (d *reader) readSettings() error {
	part, err := wml.RelatedPart(d.pkg, d.main, names.RelSettings)
	if part == nil || err != nil {
		return err
	}
	src, err := d.part(part, maxDrawing)
	if err != nil {
		return err
	}
	r := scan.New(src)
	for range r.All {
		if r.Name() == "w:evenAndOddHeaders" {
			d.even = scan.IsOn(r.RawAttr("w:val"))
		}
	}
	return r.LimitErr()
}

// readStories reads the parts with text. It begins with the main part, which says where headers and footers appear.
func (d *reader) readStories() error {
	if err := d.readStory(d.main); err != nil {
		return err
	}
	rels, err := d.pkg.Rels(d.main.Name)
	if err != nil {
		return err
	}
	for _, r := range rels {
		part := d.pkg.Part(r.Target)
		if r.External || part == nil {
			continue
		}
		var err error
		switch r.Type {
		case names.RelHeader, names.RelFooter:
			if d.isSeen(r.ID) {
				err = d.readStory(part)
			}
		case names.RelFootnotes, names.RelEndnotes:
			err = d.readStory(part)
		case names.RelChart, names.RelDiagramData:
			err = d.readDrawing(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *reader) isSeen(header string) bool {
	pages, named := d.sections[header]
	switch pages {
	case "first":
		return d.first
	case "even":
		return d.even
	}
	return named
}

func (d *reader) readStory(part *ooxml.Part) error {
	src, err := d.part(part, maxPart)
	if err != nil {
		return err
	}
	s := &story{reader: d, r: scan.New(src), paragraphs: map[statedKey]*format{}, runs: map[statedKey]*format{}}
	s.r.Classify = classify
	for range s.r.All {
		s.element(scope{paragraph: d.format(style.Cell{}, "")})
	}
	return s.r.LimitErr()
}

const (
	maxFonts    = 500 // maximum number of fonts that a document may name
	maxFontName = 200 // bytes; Word allows 31 characters
)

// font returns the font with a name, or nil. A leading @, which asks for rotated characters in vertical text, does not matter.
func (d *reader) font(name string) *Asked {
	name = strings.TrimSpace(strings.TrimPrefix(name, "@"))
	key := fold(name)
	f := d.fonts[key]
	if f == nil && key != "" && len(name) <= maxFontName && len(d.fonts) < maxFonts {
		f = &Asked{name, new(Set)}
		d.fonts[key] = f
	}
	return f
}

// fold returns the form of a font name for comparison: in lower case and without spaces.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}
