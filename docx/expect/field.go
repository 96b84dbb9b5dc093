package expect

import (
	"net/url"
	"slices"
	"strings"

	"platen/docx/wml"
)

// maxInstruction is the number of bytes of a field's code that are read, to find its kind and its link.
const maxInstruction = 4000

// field is a field that is open in the text.
type field struct {
	code       string
	kind, link string // of the code; the link of a field around it if it has none
	showing    bool   // its result follows, which is text
	from       int    // bytes of the text of the paragraph before its result
	drawn      bool   // Word draws its result
}

// fieldOf begins the property of the result of a field.
const fieldOf = "field "

// computed are the fields whose results Word and LibreOffice compute whenever they show a document. The results in the file do not count.
var computed = wml.SetOf("PAGE NUMPAGES SECTION SECTIONPAGES DATE TIME")

// codeOf returns the kind of a field, and the address that a HYPERLINK leads to. The kind of a computed field is its code.
func codeOf(code string) (kind, link string) {
	words := strings.Fields(code)
	if len(words) == 0 {
		return "", ""
	}
	words[0] = strings.ToUpper(words[0])
	switch {
	case computed[words[0]]:
		return strings.ReplaceAll(strings.Join(words, " "), ` \* MERGEFORMAT`, ""), ""
	case words[0] == "HYPERLINK":
		return words[0], linkOf(code)
	}
	return words[0], ""
}

// linkOf returns the address in the code of a HYPERLINK: HYPERLINK "address" \l "bookmark".
func linkOf(code string) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(code), " ")
	rest = strings.TrimSpace(rest)
	to := ""
	if quoted, found := strings.CutPrefix(rest, `"`); found {
		to, rest, _ = strings.Cut(quoted, `"`)
	}
	_, bookmark, _ := strings.Cut(rest, `\l "`)
	bookmark, _, _ = strings.Cut(bookmark, `"`)
	return linkTo(to, bookmark)
}

// linkTo returns the target of a link to an address and a bookmark there. A bookmark whose name begins with _ is hidden, and numbered by
// Word. An address that is only a host leads to its root.
func linkTo(address, bookmark string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" && u.Path == "/" {
		address = strings.TrimSuffix(address, "/")
	}
	if bookmark != "" && !strings.HasPrefix(bookmark, "_") {
		return address + "#" + bookmark
	}
	return address
}

// computedField returns the code of the computed field that a stretch of text is the result of; "" if there is none.
func (f *Format) computedField() string {
	for _, property := range f.Properties {
		code, isField := strings.CutPrefix(property, fieldOf)
		if kind, _, _ := strings.Cut(code, " "); isField && computed[kind] {
			return code
		}
	}
	return ""
}

// settled returns the line with the codes of computed fields in place of their results.
func (l *Line) settled() *Line {
	if !slices.ContainsFunc(l.Formats, func(f Format) bool { return f.computedField() != "" }) {
		return l
	}
	own := *l
	own.Formats = slices.Clone(l.Formats)
	var text strings.Builder
	for i := range own.Formats {
		f := &own.Formats[i]
		if code := f.computedField(); code != "" {
			f.Text = "«" + code + "»"
		}
		text.WriteString(f.Text)
	}
	own.Text = text.String()
	return &own
}
