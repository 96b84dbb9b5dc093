package font

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"
)

// Limits of a document that is looked at: far above any real one.
const (
	maxEntries         = 5000
	maxPartBytes       = 128 << 20
	maxDefinitionBytes = 16 << 20  // of a part that is kept in mind, such as that of the styles
	maxTotalBytes      = 512 << 20 // of all parts that are read
	maxFontBytes       = 32 << 20  // of one embedded font
)

var (
	errNotDocument = errors.New("this is no Word document")
	errTooLarge    = errors.New("the document is too large for its fonts to be looked for")
)

// container is a document's zip file.
type container struct {
	entries map[string]*zip.File // by lower-case name
	read    int64                // bytes, unpacked
	inflate io.ReadCloser
}

func openContainer(r io.ReaderAt, size int64) (*container, error) {
	zr, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errNotDocument
	}
	if len(zr.File) > maxEntries {
		return nil, errTooLarge
	}
	c := &container{entries: make(map[string]*zip.File, len(zr.File))}
	for _, f := range zr.File {
		// Names of parts are equal whatever their case (ISO 29500-2 §6.2.2).
		c.entries[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	return c, nil
}

// part reads a part. One that is not there is empty.
func (c *container) part(name string, limit int64) ([]byte, error) {
	f := c.entries[strings.ToLower(name)]
	if f == nil {
		return nil, nil
	}
	size := int64(f.UncompressedSize64)
	if c.read += size; size < 0 || size > limit || c.read > maxTotalBytes {
		return nil, errTooLarge
	}
	raw, err := f.OpenRaw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// A bomb says a small size, and is cut off there. The lexer puts a zero behind the text and would copy it for that.
	b, err := c.unpack(f, raw, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func (c *container) unpack(f *zip.File, raw io.Reader, size int64) ([]byte, error) {
	switch f.Method {
	case zip.Store:
	case zip.Deflate:
		if err := c.reset(raw); err != nil {
			return nil, err
		}
		raw = c.inflate
	default:
		return nil, zip.ErrAlgorithm
	}
	// No stream unpacks to more than this, so that a size which is a lie takes no memory.
	const maxRatio = 1100
	if size > maxRatio*int64(f.CompressedSize64)+1024 {
		return nil, zip.ErrFormat
	}
	b := make([]byte, size, size+1)
	_, err := io.ReadFull(raw, b)
	return b, err
}

// reset makes one decompressor serve all parts.
func (c *container) reset(raw io.Reader) error {
	if c.inflate == nil {
		c.inflate = flate.NewReader(raw)
		return nil
	}
	return c.inflate.(flate.Resetter).Reset(raw, nil)
}

// relationship is how a part names another.
type relationship struct {
	id, kind, target string // the kind is the last word of its type; the target, the name of a part
}

// relationships reads those of a part; "" is the package.
func (c *container) relationships(of string) ([]relationship, error) {
	folder, base := path.Split(of)
	text, err := c.part(folder+"_rels/"+base+".rels", maxDefinitionBytes)
	if err != nil {
		return nil, err
	}
	var all []relationship
	x := newReader(text)
	for range x.starts {
		if string(x.name) != "Relationship" || x.attr("TargetMode") == "External" {
			continue
		}
		target := x.attr("Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(folder, target)
		}
		kind := x.attr("Type")
		all = append(all, relationship{x.attr("Id"), kind[strings.LastIndexByte(kind, '/')+1:], strings.TrimPrefix(path.Clean(target), "/")})
	}
	return all, x.err
}
