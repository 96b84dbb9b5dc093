package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"platen/docx/lang"
	"platen/ooxml/names"
)

// Link writes the id of a relationship to a URL that contains tags. If a value is missing, or the URL is not allowed, the link stays
// unchanged.
type Link struct {
	Texts []string // around the tags: one more than Tags
	Tags  []*lang.Tag
	ID    []byte // of the relationship in the template
}

// addressSchemes are the schemes that links in the data may have. Others, such as javascript and file, can do harm when the document is
// opened.
var addressSchemes = []string{"http:", "https:", "mailto:", "tel:", "ftp:", "ftps:", "sms:"}

const maxAddress = 2079 // characters, as in Word

// linkAddress returns the address in a text. It handles spaces like browsers (URL Standard §4.4): those around the address are removed,
// and others become %20. The error completes a sentence about an invalid address.
func linkAddress(s string) (string, error) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	colon := strings.IndexByte(s, ':')
	if colon < 0 || !slices.Contains(addressSchemes, strings.ToLower(s[:colon+1])) {
		return "", errors.New("it must begin with a scheme such as https: or mailto:") //nolint:revive,staticcheck // a scheme has a colon
	}
	if strings.ContainsAny(s, "\r\n") {
		return "", errors.New("it contains a line break")
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFE' || r == '\uFFFF' }) {
		return "", errors.New("it contains a control character")
	}
	if host, ok := strings.CutPrefix(s[colon+1:], "//"); ok {
		if end := strings.IndexAny(host, "/?#"); end >= 0 {
			host = host[:end]
		}
		if strings.Contains(host, " ") {
			return "", errors.New("it contains a space in the host name")
		}
	}
	if s = strings.ReplaceAll(s, " ", "%20"); len(s) > maxAddress {
		return "", fmt.Errorf("it is longer than %d characters", maxAddress)
	}
	return s, nil
}

// hasScheme reports whether a text begins with a URI scheme (RFC 3986 §3.1).
func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?#")
	return i > 0 && s[i] == ':'
}

// badAddress is the message for an invalid address.
const badAddress = "The address of the link with '%s' is not valid: %s."

func (o *Link) run(x *execution) error {
	var text strings.Builder
	text.WriteString(o.Texts[0])
	for i, tag := range o.Tags {
		s, ok, err := x.env.Print(tag)
		if err != nil {
			return err
		}
		if !ok {
			x.out.buf = append(x.out.buf, o.ID...)
			return nil
		}
		text.WriteString(s + o.Texts[i+1])
	}
	address, err := linkAddress(text.String())
	if err != nil {
		x.fault(o.Tags[0], badAddress, err)
		x.out.buf = append(x.out.buf, o.ID...)
		return nil
	}
	id, err := x.added.Relate(x.part, names.RelHyperlink, address, true)
	x.out.buf = append(x.out.buf, id...)
	return err
}

// appendPlain appends a value in its escaped form for an attribute or a field code.
func appendPlain(dst []byte, s string, b *Breaks) []byte {
	if b.Code != 0 { // where a quote ends an argument (ISO 29500-1 §17.16.2)
		quoted := s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\\' })
		s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
		if b.Code&Bare != 0 && quoted {
			s = `"` + s + `"`
		}
	}
	return appendAttribute(dst, s)
}
