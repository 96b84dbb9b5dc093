package fonts

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// garbled is the number of obfuscated bytes at the start of an embedded font, and the length of the key (ISO 29500-1 §17.8.1).
const (
	garbled  = 32
	keyBytes = 16
	maxFaces = 4 // per embedded font
)

var errNoKey = errors.New("the key of the embedded font is not a GUID")

// embeddedFile is an obfuscated font file in a document, with its key.
type embeddedFile struct {
	part *ooxml.Part
	key  string
}

// Embedded returns the files of a font that the document embeds. It leaves out files that cannot be read.
func (d *Document) Embedded(name string) [][]byte {
	var files [][]byte
	for _, file := range d.embedded[fold(name)] {
		if file.part.Size > maxFile {
			continue
		}
		b, err := d.reader.pkg.Read(file.part)
		if err != nil {
			continue
		}
		b = slices.Clone(b)
		if ungarble(b, file.key) == nil {
			files = append(files, b)
		}
	}
	return files
}

// ungarble restores the first bytes of a font. The key consists of the bytes of the GUID in reverse order.
func ungarble(b []byte, guid string) error {
	if guid == "" {
		return nil // some programs embed fonts without obfuscation
	}
	key, err := hex.DecodeString(strings.NewReplacer("{", "", "}", "", "-", "").Replace(guid))
	if err != nil || len(key) != keyBytes {
		return errNoKey
	}
	slices.Reverse(key)
	for i := range min(garbled, len(b)) {
		b[i] ^= key[i%keyBytes]
	}
	return nil
}

// readFontTable returns the files of the fonts that the document embeds (ISO 29500-1 §17.8.1).
func (d *reader) readFontTable() (map[string][]embeddedFile, error) {
	embedded := map[string][]embeddedFile{}
	part, err := wml.RelatedPart(d.pkg, d.main, names.RelFontTable)
	if part == nil || err != nil {
		return nil, err
	}
	src, err := d.part(part, maxDrawing)
	if err != nil {
		return nil, err
	}
	rels, err := d.pkg.Rels(part.Name)
	if err != nil {
		return nil, err
	}
	name := ""
	r := scan.New(src)
	for range r.All {
		switch r.Name() {
		case "w:font":
			name = fold(r.Attr("w:name"))
		case "w:embedRegular", "w:embedBold", "w:embedItalic", "w:embedBoldItalic":
			id := r.Attr("r:id")
			i := slices.IndexFunc(rels, func(r ooxml.Relationship) bool { return r.ID == id && !r.External })
			if i < 0 || len(embedded[name]) == maxFaces {
				continue
			}
			if file := d.pkg.Part(rels[i].Target); file != nil {
				embedded[name] = append(embedded[name], embeddedFile{file, r.Attr("w:fontKey")})
			}
		}
	}
	return embedded, r.LimitErr()
}
