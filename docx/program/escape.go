package program

// Values become the text of a w:t: escaped, with w:br for line breaks and w:tab for tabs, and without characters that XML 1.0 does not
// allow.

const (
	plain = iota
	escaped
	breaking
	illegal
	suspect // may begin U+FFFE or U+FFFF, which XML does not allow
)

// classes has the treatment of each byte of a value.
var classes = func() (t [256]uint8) {
	for c := range ' ' {
		t[c] = illegal
	}
	t['\n'], t['\r'], t['\t'] = breaking, breaking, breaking
	t['&'], t['<'], t['>'] = escaped, escaped, escaped
	t[0xEF] = suspect
	return t
}()

// appendValue appends a value as the text of a w:t. clean is false if characters were dropped.
func appendValue(dst []byte, s string, b *Breaks) (out []byte, clean bool) {
	clean = true
	start := 0
	for i := 0; i < len(s); i++ {
		class := classes[s[i]]
		if class == plain {
			continue
		}
		width := 1
		if class == suspect {
			if !isNoncharacter(s[i:]) {
				continue
			}
			width = 3
		}
		dst = append(dst, s[start:i]...)
		switch class {
		case escaped:
			dst = appendEntity(dst, s[i])
		case breaking:
			if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
				width = 2
			}
			dst = b.append(dst, s[i])
		default:
			clean = false
		}
		i += width - 1
		start = i + 1
	}
	return append(dst, s[start:]...), clean
}

func isNoncharacter(s string) bool {
	return len(s) >= 3 && s[1] == 0xBF && (s[2] == 0xBE || s[2] == 0xBF)
}

func (b *Breaks) append(dst []byte, c byte) []byte {
	if c == '\t' {
		return append(dst, b.Tab...)
	}
	return append(dst, b.Line...)
}

func appendEntity(dst []byte, c byte) []byte {
	switch c {
	case '&':
		return append(dst, "&amp;"...)
	case '<':
		return append(dst, "&lt;"...)
	}
	return append(dst, "&gt;"...)
}

// AppendEscaped appends text in its escaped form for XML content.
func AppendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		if classes[s[i]] == escaped {
			dst = appendEntity(dst, s[i])
		} else {
			dst = append(dst, s[i])
		}
	}
	return dst
}
