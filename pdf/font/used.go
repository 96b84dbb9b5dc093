package font

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
)

// Limits on scanning a PDF.
const (
	scanBuffer       = 64 << 10
	maxNamePDF       = 512       // bytes of a name, before it is decoded
	maxDictionary    = 2 << 10   // bytes between the type of an object stream and its data
	maxObjectStreams = 10_000    // that are decompressed
	maxObjectStream  = 16 << 20  // bytes of one, decompressed
	maxObjectBytes   = 256 << 20 // bytes of all, decompressed
	maxUsedFonts     = 10_000
)

var (
	baseFontKey = []byte("/BaseFont")
	objStmName  = []byte("/ObjStm")
	streamWord  = []byte("stream")
)

// Used returns the names of the fonts in a PDF: the BaseFont entries of its font dictionaries, without the tags of subsets. They are
// PostScript names, which [Library.FamilyOf] maps to families. Used scans the file instead of parsing it. It finds dictionaries that are
// written in plain text, as LibreOffice does, and those in object streams (ISO 32000-1 §7.5.7).
func Used(pdf io.Reader) ([]string, error) {
	s := &scan{r: bufio.NewReaderSize(pdf, scanBuffer), found: map[string]bool{}}
	for {
		window, err := s.r.Peek(scanBuffer)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, err
		}
		done, packed := s.names(window, last)
		if last && !packed {
			return slices.Sorted(maps.Keys(s.found)), nil
		}
		if _, err := s.r.Discard(done); err != nil {
			return nil, err
		}
		if packed {
			s.unpack()
		}
	}
}

// scan is the state of scanning a PDF.
type scan struct {
	r       *bufio.Reader
	found   map[string]bool
	streams int   // number of decompressed object streams
	bytes   int64 // their total size
}

// names records the names in a piece of a PDF. done is the number of bytes that are finished: the rest could be the beginning of a name.
// names stops before the compressed data of an object stream, and then packed is set.
func (s *scan) names(b []byte, last bool) (done int, packed bool) {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '/')
		if i < 0 {
			return len(b), false
		}
		at += i
		rest := b[at:]
		if len(rest) < maxDictionary && !last {
			return at, false
		}
		at++
		switch {
		case bytes.HasPrefix(rest, baseFontKey):
			if name := baseFont(rest[len(baseFontKey):]); name != "" && len(s.found) < maxUsedFonts {
				s.found[name] = true
			}
		case bytes.HasPrefix(rest, objStmName) && s.streams < maxObjectStreams && s.bytes < maxObjectBytes:
			if i := bytes.Index(rest[:min(len(rest), maxDictionary)], streamWord); i >= 0 {
				return at - 1 + i + len(streamWord), true
			}
		}
	}
}

// unpack reads the object stream that begins here. If it cannot be decompressed, it has no fonts.
func (s *scan) unpack() {
	s.streams++
	line, err := s.r.Peek(2)
	if err != nil {
		return
	}
	if _, err := s.r.Discard(len(line) - len(bytes.TrimLeft(line, "\r\n"))); err != nil {
		return
	}
	z, err := zlib.NewReader(s.r)
	if err != nil {
		return
	}
	var objects bytes.Buffer
	n, _ := io.Copy(&objects, io.LimitReader(z, maxObjectStream)) // data before an error counts
	s.bytes += n
	s.names(objects.Bytes(), true)
}

// baseFont decodes a name object (ISO 32000-1 §7.3.5) without the tag of a subset (§9.6.4).
func baseFont(b []byte) string {
	b = bytes.TrimLeft(b[:min(len(b), maxNamePDF)], " \t\r\n\f\x00")
	if len(b) == 0 || b[0] != '/' {
		return ""
	}
	b = b[1:]
	if end := bytes.IndexAny(b, " \t\r\n\f\x00/<>[](){}%"); end >= 0 {
		b = b[:end]
	}
	name := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		var c [1]byte
		if b[i] == '#' && i+2 < len(b) {
			if _, err := hex.Decode(c[:], b[i+1:i+3]); err == nil {
				name = append(name, c[0])
				i += 2
				continue
			}
		}
		name = append(name, b[i])
	}
	const tag = 6
	if len(name) > tag && name[tag] == '+' && isUpper(name[:tag]) {
		name = name[tag+1:]
	}
	return string(name)
}

func isUpper(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < 'A' || c > 'Z' })
}
