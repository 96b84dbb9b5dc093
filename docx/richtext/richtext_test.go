package richtext_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/budget"
	"platen/docx/richtext"
	"platen/ooxml/ooxmltest"
)

// Each file of testdata has an input, html or markdown, perhaps with the properties of the tag's run (run.xml) and paragraph
// (paragraph.xml) and the names of the styles that the template has (styles). The rest is the result: blocks.xml, and
// inline.xml and text for the form within a paragraph.
func TestGolden(t *testing.T) { ooxmltest.Golden(t, runGolden) }

func runGolden(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	c := richtext.Context{Prefix: "w:", RelNamespace: "REL"}
	h := &host{}
	got := &txtar.Archive{Comment: archive.Comment}
	var doc *richtext.Doc
	for _, f := range archive.Files {
		content := bytes.TrimSuffix(f.Data, []byte("\n"))
		switch f.Name {
		case "html":
			doc = read(t, richtext.HTML, string(content))
		case "markdown":
			doc = read(t, richtext.Markdown, string(content))
		case "run.xml":
			c.RunProps = content
		case "paragraph.xml":
			c.ParaProps = content
		case "styles":
			h.styles = string(content)
		default:
			continue
		}
		got.Files = append(got.Files, f)
	}
	section := func(name, content string) {
		if content != "" {
			got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(content + "\n")})
		}
	}
	blocks := doc.AppendBlocks(nil, c, h)
	checkContent(t, blocks, "body")
	section("blocks.xml", readable(blocks))
	section("headings", strings.Join(h.headings, "\n"))
	if doc.Inline() {
		inline := doc.AppendInline(nil, c, h)
		checkContent(t, inline, "p")
		section("inline.xml", readable(inline))
	}
	section("text", doc.Text())
	return got
}

// readable puts paragraphs, rows and cells into lines of their own.
func readable(src []byte) string {
	s := string(src)
	for _, name := range []string{"p", "tr", "tc", "tbl", "r", "hyperlink"} {
		s = strings.ReplaceAll(s, "<w:"+name+">", "\n<w:"+name+">")
		s = strings.ReplaceAll(s, "<w:"+name+" ", "\n<w:"+name+" ")
	}
	for _, name := range []string{"tbl", "tr", "tc", "p", "hyperlink"} {
		s = strings.ReplaceAll(s, "</w:"+name+">", "\n</w:"+name+">")
	}
	depth, lines := 0, []string{}
	for line := range strings.SplitSeq(strings.TrimPrefix(s, "\n"), "\n") {
		if strings.HasPrefix(line, "</") {
			depth--
		}
		lines = append(lines, strings.Repeat(" ", max(depth, 0))+line)
		for _, name := range []string{"tbl", "tr", "tc", "p", "hyperlink"} {
			if strings.HasPrefix(line, "<w:"+name+">") || strings.HasPrefix(line, "<w:"+name+" ") {
				depth++
			}
		}
	}
	return strings.Join(lines, "\n")
}

// host is a template that has some styles, allows all addresses, and shows pictures by their sources.
type host struct {
	styles   string
	lists    int
	headings []string
}

func (h *host) Link(address string) string {
	if !strings.HasPrefix(address, "http") && !strings.HasPrefix(address, "mailto:") {
		return ""
	}
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(address)); err != nil {
		return ""
	}
	return "to " + b.String()
}

func (h *host) Picture(p richtext.Picture) ([]byte, bool) {
	if !strings.HasPrefix(p.Source, "data:") {
		return nil, false
	}
	return fmt.Appendf(nil, `<w:r><w:drawing w:size="%dx%d"/></w:r>`, p.Width, p.Height), true
}

func (h *host) List(l richtext.List) int {
	h.lists++
	return h.lists
}

func (h *host) Heading(heading richtext.Heading) (before, after string) {
	h.headings = append(h.headings, fmt.Sprintf("%d %q %s", heading.Outline, heading.Style, heading.Text))
	return "<w:bookmarkStart/>", "<w:bookmarkEnd/>"
}

func (h *host) Style(kind, name string) (string, bool) {
	for line := range strings.SplitSeq(h.styles, "\n") {
		if line == kind+" "+name {
			return strings.ReplaceAll(name, " ", ""), true
		}
	}
	return "", false
}

// read reads a text with markup without limits.
func read(t interface {
	Helper()
	Fatal(args ...any)
}, as func(*budget.Meter, string) (*richtext.Doc, error), s string) *richtext.Doc {
	t.Helper()
	doc, err := as(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
