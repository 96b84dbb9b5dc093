package finish

import "unicode/utf16"

// text encodes a text string (ISO 32000-1, 7.9.2.2): printable ASCII as is, everything else as UTF-16.
func text(s string) str {
	ascii := true
	for _, c := range s {
		ascii = ascii && c >= ' ' && c <= '~'
	}
	if ascii {
		return str(s)
	}
	b := []byte("\xfe\xff")
	for _, unit := range utf16.Encode([]rune(s)) {
		b = append(b, byte(unit>>8), byte(unit))
	}
	return str(b)
}
