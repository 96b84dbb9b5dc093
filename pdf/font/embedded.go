package font

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// garbled is how many bytes of an embedded font are garbled, and of how many the key is (ISO 29500-1 §17.8.1).
const (
	garbled  = 32
	keyBytes = 16
)

var errNoKey = errors.New("the key of the embedded font is no GUID")

// faces reads the faces of a font that is embedded in the document. None are found if there are none, or none that can be
// read; may tells whether their makers let a reader of the document use them.
func (d *Document) faces(name string) (faces []*Face, may bool) {
	for _, file := range d.embedded[fold(name)] {
		b, err := d.container.part(file.part, maxFontBytes)
		if err != nil || ungarble(b, file.key) != nil {
			continue
		}
		found, err := readFaces(inMemory(b))
		if err == nil {
			faces = append(faces, found...)
		}
	}
	return faces, len(faces) > 0 && !slices.ContainsFunc(faces, func(f *Face) bool { return !f.editable() })
}

// ungarble gives a font its first bytes back. The key is the bytes of the GUID from its end.
func ungarble(b []byte, guid string) error {
	if guid == "" {
		return nil // some programs embed fonts as they are
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
