package compile

import (
	"regexp"
	"strings"

	"platen/docx/lang"
)

// dialect is the syntax of the tags of another template language. Such tags stay text, because the author may want them there. One
// warning for each language says what to write instead. Texts such as {d.h. 5}, ${50}, and {@home} are not tags, so the syntax leaves out
// tags that ordinary text looks like, if a template with them has others too.
type dialect struct {
	name  string // of the language, for people
	sign  string // part of every tag, possibly followed by blanks and one of next: a fast way to rule out tags
	next  string
	tag   *regexp.Regexp // its last group, if it has one
	write string         // what to write instead
}

// maxTagShown is the number of bytes of a foreign tag that a warning shows.
const maxTagShown = 60

var dialects = []dialect{
	{"Mustache, Handlebars or poi-tl", "{{", sigilBytes, regexp.MustCompile(`\{\{\s*` + sigils + `[^{}]*\}\}`),
		"{{for item in items}} … {{endfor}}, {{if paid}} … {{endif}} or {{value}}"},
	{"Jinja or docxtpl", "{%", "", regexp.MustCompile(`\{%[^{}]*%\}`), "{{for item in items}} … {{endfor}} or {{if paid}} … {{endif}}"},
	{"Carbone", "{d.", "", regexp.MustCompile(`(?:^|[^{])(\{d(?:\.+[\pL_][\pL\d_]*|\[[^\[\]{}]*\])+(?::[^{}]*)?\})(?:$|[^}])`),
		"{{customer.name}}"},
	{"docxtemplater", "{", "#^", regexp.MustCompile(`(?:^|[^{$])(\{[#^][A-Za-z_][^{}]*\})(?:$|[^}])`),
		"{{for item in items}} … {{endfor}} or {{if paid}} … {{endif}}"},
	{"docx-stamper or XDocReport", "${", "", regexp.MustCompile(`\$\{[\pL_][\pL\d_.]*(?:[?!(\[][^{}]*)?\}`), "{{customer.name}}"},
}

// sigils begin the tags of Mustache and similar languages, but no expression of Platen's language.
const (
	sigilBytes = "#/^?@>*+&="
	sigils     = "[" + sigilBytes + "]"
)

var foreignTag = regexp.MustCompile(`^\{\{\s*` + sigils)

// isForeign reports whether text in double braces that is not a Platen tag is a tag of another language.
func isForeign(text string) bool { return foreignTag.MatchString(text) }

// findDialects warns about tags of other template languages in the part, once for each language in a template and in each included file.
func (c *compiler) findDialects() {
	for i := range dialects {
		for _, p := range c.pars {
			if c.findDialect(&dialects[i], p) && len(c.stretches) == 0 {
				break
			}
		}
	}
}

// findDialect warns about a tag of another template language in a paragraph, if it is the first in its file. It reports whether the
// language is in that file.
func (c *compiler) findDialect(d *dialect, p *paragraph) bool {
	key := d.name
	if len(c.stretches) > 0 {
		file, _ := c.original(p.node.Start)
		key += "\x00" + file
	}
	if c.dialects[key] {
		return true
	}
	at := d.find(p.text)
	if at.End == 0 {
		return false
	}
	c.dialects[key] = true
	c.warn(p, at, "'"+shortened(p.text[at.Start:at.End])+"' is a tag of another template language ("+d.name+
		") and stays text; in Platen, write "+d.write+".", "")
	return true
}

// mayBeIn reports whether a text may contain a tag of the language.
func (d *dialect) mayBeIn(text string) bool {
	for {
		_, rest, found := strings.Cut(text, d.sign)
		if !found || d.next == "" {
			return found
		}
		if next := strings.TrimLeft(rest, " \t\n\f\r"); next != "" && strings.IndexByte(d.next, next[0]) >= 0 {
			return true
		}
		text = rest
	}
}

// find returns the position of the first tag of the language in a text, or the zero value if there is none.
func (d *dialect) find(text string) lang.Span {
	if !d.mayBeIn(text) {
		return lang.Span{}
	}
	groups := d.tag.FindStringSubmatchIndex(text)
	if groups == nil {
		return lang.Span{}
	}
	return lang.Span{Start: groups[len(groups)-2], End: groups[len(groups)-1]}
}

// shortened returns a foreign tag as a message shows it.
func shortened(tag string) string {
	tag = plainLine(tag, "□")
	if len(tag) > maxTagShown {
		tag = strings.ToValidUTF8(tag[:maxTagShown], "") + "…"
	}
	return tag
}
