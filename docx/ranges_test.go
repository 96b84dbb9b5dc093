package docx_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"platen/docx"
)

// rangesIn has a • at each place where a mark of a range is allowed.
var rangesIn = strings.Join([]string{
	`•<w:p>•<w:r><w:t>a</w:t></w:r>•</w:p>`,
	`<w:p>•<w:r><w:t>{{if x}}</w:t></w:r>•<w:r><w:t>b</w:t></w:r>•<w:r><w:t>{{else}}</w:t></w:r>•<w:r><w:t>{{for i in ` +
		`l}}</w:t></w:r>•<w:r><w:t>{{i}}{{endfor}}{{endif}}</w:t></w:r>•</w:p>`,
	`<w:p><w:r><w:t>{{for i in l}}</w:t></w:r>•</w:p>`,
	`<w:p>•<w:r><w:t>{{i}} {{if y}}c {{if i == 2}}</w:t></w:r>•<w:r><w:t>d{{endif}}e{{endif}}</w:t></w:r></w:p>`,
	`<w:p><w:r><w:t>{{if i == 2}}</w:t></w:r></w:p>•<w:p>•<w:r><w:t>f</w:t></w:r></w:p><w:p><w:r><w:t>{{elseif ` +
		`y}}</w:t></w:r></w:p><w:p><w:r><w:t>g</w:t></w:r>•</w:p><w:p>•<w:r><w:t>{{endif}}</w:t></w:r></w:p>`,
	`<w:p>•<w:r><w:t>{{endfor}}</w:t></w:r></w:p>`,
	table(1, `•`+row(cellOf(`{{if x}}h`))+
		row(`<w:tc><w:tcPr><w:tcW w:w="1000" w:type="dxa"/></w:tcPr><w:p>•<w:r><w:t>i{{endif}}</w:t></w:r></w:p></w:tc>`)+
		row(`<w:tc><w:tcPr><w:tcW w:w="1000" w:type="dxa"/></w:tcPr><w:p><w:r><w:t>{{tablerow j in l}}{{if `+
			`y}}</w:t></w:r>•<w:r><w:t>{{j}}{{endif}}{{endtablerow}}</w:t></w:r></w:p></w:tc>`)+`•`),
	`<w:p><w:r><w:t>k {{if x}} l</w:t></w:r>•</w:p><w:p>•<w:r><w:t>m {{endif}} n</w:t></w:r>•</w:p>`,
}, "")

// With any content of conditions and loops, each start of a range in a document is followed by its end, and ids are unique.
func TestRangesComeWhole(t *testing.T) {
	places := strings.Count(rangesIn, "•")
	var data []string
	for bits := range 4 {
		for _, list := range []string{`[]`, `[1]`, `[1,2]`, `[2,1,2]`} {
			data = append(data, fmt.Sprintf(`{"x":%t,"y":%t,"l":%s}`, bits&1 > 0, bits&2 > 0, list))
		}
	}
	for start := range places {
		for end := start; end < places; end++ {
			file := build(t, map[string]string{"document.xml": withRanges(start, end)})
			tpl, err := parse(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range data {
				var out bytes.Buffer
				if _, err := tpl.Execute(t.Context(), &out, decode(t, d), docx.Options{}); err != nil {
					t.Fatalf("marks at %d and %d, data %s: %v", start, end, d, err)
				}
				if got := unpaired(unpack(t, out.Bytes())["word/document.xml"]); got != "" {
					t.Errorf("marks at %d and %d, data %s: %s", start, end, d, got)
				}
			}
		}
	}
}

// withRanges puts a range of each kind into rangesIn, from one place to another.
func withRanges(start, end int) string {
	var b strings.Builder
	for i, text := range strings.Split(rangesIn, "•") {
		b.WriteString(text)
		if i == start {
			b.WriteString(`<w:bookmarkStart w:name="b" w:id="1"/><w:permStart w:id="2" w:edGrp="everyone"/><w:commentRangeStart w:id="3"/>`)
		}
		if i == end {
			b.WriteString(`<w:bookmarkEnd w:id="1"/><w:permEnd w:id="2"/><w:commentRangeEnd w:id="3"/>`)
		}
	}
	return b.String()
}

var rangeMark = regexp.MustCompile(`<w:(bookmark|perm|commentRange)(Start|End)\b[^>]* ?w:id="(\d+)"`)

// unpaired says which mark of a range in a document lacks the other, or comes again; "" if none does.
func unpaired(document string) string {
	state := map[string]string{}
	for _, m := range rangeMark.FindAllStringSubmatch(document, -1) {
		id := m[1] + " " + m[3]
		if m[2] == "Start" && state[id] != "" || m[2] == "End" && state[id] != "Start" {
			return "the " + m[2] + " of " + id + " follows " + state[id]
		}
		state[id] = m[2]
	}
	for id, last := range state {
		if last == "Start" {
			return id + " does not end"
		}
	}
	return ""
}
