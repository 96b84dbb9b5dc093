package docx_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sentence is text with values, conditions, and loops, as data for a test. It is written as the text of a template and, by rules of its
// own, as the expected output.
type sentence []clause

// clause is a word, a value, a condition or a loop.
type clause struct {
	kind    string   // "text", "value", "if" or "for"
	text    string   // the word, the value's name, the condition or the list
	name    string   // of a loop's variable
	then    sentence // of conditions and loops
	other   sentence // behind {{else}}
	hasElse bool
}

// sentenceJSON is what sentences are about, and sentenceData the same.
const sentenceJSON = `{"yes":true,"no":false,"two":["p","q"],"none":[],"s":"S<>"}`

var sentenceData = map[string]any{"yes": true, "no": false, "two": []any{"p", "q"}, "none": []any{}, "s": "S<>"}

func drawSentence(t *rapid.T, depth int, names []string) sentence {
	kinds := []string{"text", "text", "value", "if", "if", "for"}
	if depth == 4 {
		kinds = kinds[:3]
	}
	s := make(sentence, rapid.IntRange(1, 4).Draw(t, "clauses"))
	for i := range s {
		c := clause{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch c.kind {
		case "text":
			c.text = rapid.SampledFrom([]string{"a", "b ", " c", "d e", ". "}).Draw(t, "text")
		case "value":
			c.text = rapid.SampledFrom(append([]string{"s"}, names...)).Draw(t, "value")
		case "if":
			c.text = rapid.SampledFrom([]string{"yes", "no", "s"}).Draw(t, "condition")
			c.then = drawSentence(t, depth+1, names)
			if c.hasElse = rapid.Bool().Draw(t, "hasElse"); c.hasElse {
				c.other = drawSentence(t, depth+1, names)
			}
		case "for":
			c.text, c.name = rapid.SampledFrom([]string{"two", "two", "none"}).Draw(t, "list"), fmt.Sprintf("v%d", depth)
			c.then = drawSentence(t, depth+1, append(slices.Clip(names), c.name))
		}
		s[i] = c
	}
	return s
}

// template writes the sentence with its tags.
func (s sentence) template() string {
	var b strings.Builder
	for _, c := range s {
		switch c.kind {
		case "text":
			b.WriteString(c.text)
		case "value":
			b.WriteString("{{" + c.text + "}}")
		case "if":
			b.WriteString("{{if " + c.text + "}}" + c.then.template())
			if c.hasElse {
				b.WriteString("{{else}}" + c.other.template())
			}
			b.WriteString("{{endif}}")
		case "for":
			b.WriteString("{{for " + c.name + " in " + c.text + "}}" + c.then.template() + "{{endfor}}")
		}
	}
	return b.String()
}

// lettered is a text whose letters are bold or not.
type lettered []letter

type letter struct {
	r    rune
	bold bool
}

// read writes what the sentence gives, and returns how much of its template it has passed. bold says it of each byte of that; a
// value is as the first brace of its tag.
func (s sentence) read(out *lettered, bold []bool, data map[string]any) (passed int) {
	write := func(text string, bold func(i int) bool) {
		if out == nil {
			return
		}
		for i, r := range text {
			*out = append(*out, letter{r, bold(i)})
		}
	}
	at := 0
	skip := func(tag string) { at += len("{{" + tag + "}}") }
	part := func(s sentence, shows bool) {
		to := out
		if !shows {
			to = nil
		}
		at += s.read(to, bold[at:], data)
	}
	for _, c := range s {
		switch c.kind {
		case "text":
			write(c.text, func(i int) bool { return bold[at+i] })
			at += len(c.text)
		case "value":
			value, _ := data[c.text].(string) // none where nothing is shown
			write(value, func(int) bool { return bold[at] })
			skip(c.text)
		case "if":
			holds := data[c.text] != false
			skip("if " + c.text)
			part(c.then, holds)
			if c.hasElse {
				skip("else")
				part(c.other, !holds)
			}
			skip("endif")
		case "for":
			skip("for " + c.name + " in " + c.text)
			for _, item := range data[c.text].([]any) {
				data[c.name] = item
				part(c.then, true)
				at -= len(c.then.template())
			}
			part(c.then, false)
			skip("endfor")
		}
	}
	return at
}

// Blocks within a text are what they say wherever its runs begin and end, within tags as well, and however close the tags stand: each
// letter keeps its look, and no tag takes another's place.
func TestBlocksWithinRuns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSentence(rt, 0, nil)
		text := s.template()
		var body strings.Builder
		bold := make([]bool, len(text))
		for from, rest := 0, rapid.SliceOfN(rapid.IntRange(1, 30), 0, 8).Draw(rt, "runs"); from < len(text); {
			to := len(text)
			if len(rest) > 0 {
				to, rest = min(to, from+rest[0]), rest[1:]
			}
			look := ""
			if rapid.Bool().Draw(rt, "bold") {
				look = "<w:rPr><w:b/></w:rPr>"
				for i := from; i < to; i++ {
					bold[i] = true
				}
			}
			fmt.Fprintf(&body, `<w:r>%s<w:t xml:space="preserve">%s</w:t></w:r>`, look, text[from:to])
			from = to
		}
		tpl, err := parse(build(t, map[string]string{"document.xml": "<w:p><w:r><w:t>(</w:t></w:r>" + body.String() +
			"<w:r><w:t>)</w:t></w:r></w:p>"}))
		if err != nil {
			rt.Fatalf("%s: %v", body.String(), err)
		}
		file, report := execute(t, tpl, decode(t, sentenceJSON))
		want := lettered{{'(', false}}
		s.read(&want, bold, maps.Clone(sentenceData))
		want = append(want, letter{')', false})
		if got := lettersOf(t, unpack(t, file)["word/document.xml"]); got.String() != want.String() || len(report.Errors) > 0 {
			rt.Fatalf("%s gives\n%s, want\n%s; errors %q", body.String(), got, want, report.Errors)
		}
	})
}

// String shows bold letters between stars. Blanks have no look.
func (l lettered) String() string {
	var b strings.Builder
	bold := false
	for _, c := range l {
		if c.r != ' ' && c.bold != bold {
			bold = c.bold
			b.WriteByte('*')
		}
		b.WriteRune(c.r)
	}
	return b.String()
}

// lettersOf reads the text of a document.
func lettersOf(t *testing.T, document string) (all lettered) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(document))
	bold, shows := false, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch shows = token.Name.Local == "t"; token.Name.Local {
			case "r":
				bold = false
			case "b":
				bold = true
			}
		case xml.CharData:
			for _, r := range string(token) {
				if shows {
					all = append(all, letter{r, bold})
				}
			}
		case xml.EndElement:
			shows = false
		}
	}
}
