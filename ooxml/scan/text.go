package scan

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text returns the text of XML that has no elements.
func Text(raw []byte) string { return string(decode(raw)) }

// decode returns the text of XML that has no elements; the XML itself if that is its own text.
func decode(raw []byte) []byte {
	if bytes.IndexByte(raw, '&') < 0 && bytes.IndexByte(raw, '<') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	text := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		var n int
		switch raw[0] {
		case '<':
			n = markupLen(raw)
			if section, ok := bytes.CutPrefix(raw[:n], []byte(cdataStart)); ok {
				text = append(text, lines(bytes.TrimSuffix(section, []byte(cdataEnd)))...)
			}
		case '&':
			var c string
			c, n = reference(raw)
			text = append(text, c...)
		default:
			if n = bytes.IndexAny(raw, "<&"); n < 0 {
				n = len(raw)
			}
			text = append(text, lines(raw[:n])...)
		}
		raw = raw[n:]
	}
	return text
}

// lines returns text with the line ends that XML has (XML 1.0 §2.11).
func lines(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// Value returns the value of an attribute with raw between its quotes (XML 1.0 §3.3.3).
func Value(raw []byte) string {
	if !bytes.ContainsAny(raw, "&\r\n\t") {
		return string(raw)
	}
	var value strings.Builder
	raw = lines(raw)
	for len(raw) > 0 {
		n := 1
		switch raw[0] {
		case '\n', '\t':
			value.WriteByte(' ')
		case '&':
			var c string
			c, n = reference(raw)
			value.WriteString(c)
		default:
			value.WriteByte(raw[0])
		}
		raw = raw[n:]
	}
	return value.String()
}

// Decode appends the text of XML without elements and CDATA sections to dst. It returns the offsets in the source of
// each byte of the text, and of the end of raw. base is the offset of raw.
func Decode(dst *bytes.Buffer, raw []byte, base int) []int {
	offsets := make([]int, 0, len(raw)+1)
	for i := 0; i < len(raw); {
		n := 1
		text := raw[i : i+1]
		switch raw[i] {
		case '<':
			n, text = markupLen(raw[i:]), nil
		case '&':
			var c string
			c, n = reference(raw[i:])
			text = []byte(c)
		}
		for range text {
			offsets = append(offsets, base+i)
		}
		dst.Write(text)
		i += n
	}
	return append(offsets, base+len(raw))
}

const (
	cdataStart = "<![CDATA["
	cdataEnd   = "]]>"
)

// markupLen returns the length of the comment, processing instruction, CDATA section, or document type that b starts with.
func markupLen(b []byte) int {
	end := "?>"
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		end = "-->"
	case bytes.HasPrefix(b, []byte(cdataStart)):
		end = cdataEnd
	case bytes.HasPrefix(b, []byte("<!")):
		end = ">"
		if i := bytes.IndexAny(b, "[>"); i >= 0 && b[i] == '[' {
			end = "]>"
		}
	}
	if i := bytes.Index(b, []byte(end)); i >= 0 {
		return i + len(end)
	}
	return len(b)
}

// reference returns the character of the reference at the start of raw, and the length of the reference. An & that does not start a
// reference is a character.
func reference(raw []byte) (text string, length int) {
	semicolon := bytes.IndexByte(raw, ';')
	if semicolon < 0 {
		return "&", 1
	}
	return entity(string(raw[1:semicolon])), semicolon + 1
}

func entity(name string) string {
	switch name {
	case "lt":
		return "<"
	case "gt":
		return ">"
	case "amp":
		return "&"
	case "quot":
		return `"`
	case "apos":
		return "'"
	}
	digits, base := strings.TrimPrefix(name, "#"), 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	r, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		return string(utf8.RuneError)
	}
	return string(rune(r))
}

// escapes write markup as text.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// ExpandCDATA returns a part with its CDATA sections written as ordinary text, so that text has one form only. A part without any
// is returned itself.
func ExpandCDATA(src []byte) []byte {
	if !bytes.Contains(src, []byte(cdataStart)) {
		return src
	}
	out := make([]byte, 0, len(src))
	for {
		at := bytes.Index(src, []byte("<!"))
		if instruction := bytes.Index(src, []byte("<?")); instruction >= 0 && (at < 0 || instruction < at) {
			at = instruction
		}
		if at < 0 {
			return append(out, src...)
		}
		out = append(out, src[:at]...)
		markup := src[at : at+markupLen(src[at:])]
		src = src[at+len(markup):]
		if section, ok := bytes.CutPrefix(markup, []byte(cdataStart)); ok {
			markup = []byte(escapes.Replace(string(bytes.TrimSuffix(section, []byte(cdataEnd)))))
		}
		out = append(out, markup...)
	}
}
