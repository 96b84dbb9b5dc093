package richtext_test

import (
	"strings"
	"testing"

	"platen/docx/richtext"
)

// BenchmarkHTML reads and writes some 10 kB as an editor gives it.
func BenchmarkHTML(b *testing.B) {
	s := strings.Repeat(`<p>Some <b>bold</b> and <a href="https://example.com">linked</a> text, not very `+
		`long.</p><ul><li>one</li><li>two</li></ul>`, 60) +
		"<table>" + strings.Repeat("<tr><td>cell</td><td>another</td><td>1.20</td></tr>", 50) + "</table>"
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		read(b, richtext.HTML, s).AppendBlocks(nil, richtext.Context{Prefix: "w:"}, &host{})
	}
}

// BenchmarkLooksLikeHTML is what every value without markup costs.
func BenchmarkLooksLikeHTML(b *testing.B) {
	s := strings.Repeat("Plain text of a value, a < b. ", 4)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if richtext.LooksLikeHTML(s) {
			b.Fatal("it is text")
		}
	}
}
