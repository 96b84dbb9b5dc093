package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/ooxml/names"
)

// Link writes the id of a relationship to a URL that contains tags. If a value is missing or the URL is not allowed, the link stays as it
// is.
type Link struct {
	Texts []string // around the tags: one more than these
	Tags  []*lang.Tag
	ID    []byte // of the relationship in the template
}

// addressSchemes are those that a link of the data may have; others, such as javascript and file, do harm where the document
// is opened.
var addressSchemes = []string{"http:", "https:", "mailto:", "tel:", "ftp:", "ftps:", "sms:"}

const maxAddress = 2079 // characters, as Word takes them

// linkAddress returns the address that a text is, with its blanks written as browsers write them (URL Standard §4.4: without those
// around it, %20 within). The error says what is wrong with a text that is none.
func linkAddress(s string) (string, error) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	colon := strings.IndexByte(s, ':')
	if colon < 0 || !slices.Contains(addressSchemes, strings.ToLower(s[:colon+1])) {
		return "", errors.New("it must begin with https:, mailto: or the like")
	}
	if strings.ContainsAny(s, "\r\n") {
		return "", errors.New("it holds the end of a line")
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFE' || r == '\uFFFF' }) {
		return "", errors.New("it holds a control character")
	}
	if host, ok := strings.CutPrefix(s[colon+1:], "//"); ok {
		if end := strings.IndexAny(host, "/?#"); end >= 0 {
			host = host[:end]
		}
		if strings.Contains(host, " ") {
			return "", errors.New("it holds a blank in the name of the host")
		}
	}
	if s = strings.ReplaceAll(s, " ", "%20"); len(s) > maxAddress {
		return "", fmt.Errorf("it is longer than %d characters", maxAddress)
	}
	return s, nil
}

// hasScheme reports whether a text begins with the scheme of an address (RFC 3986 §3.1).
func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?#")
	return i > 0 && s[i] == ':'
}

// badAddress is what is said of an address that is none.
const badAddress = "The address of the link with '%s' is none that a link can have: %s."

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

// appendPlain appends a value as it may stand in an attribute or the code of a field.
func appendPlain(dst []byte, s string, code bool) []byte {
	if code { // where a quote ends an argument (ISO 29500-1 §17.16.2)
		s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
	}
	return appendAttribute(dst, s)
}
