package deflate_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"platen/ooxml/deflate"
)

// prose is the text between the values of a long document: paragraphs of words that repeat.
func prose(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the party agreement shall obligation notice period service delivery payment written consent liability " +
		"termination supplier customer goods confidential information applicable law jurisdiction damages breach remedy")
	pieces := make([]string, n)
	for i := range pieces {
		var b strings.Builder
		for range 4 {
			fmt.Fprintf(&b, `</w:t></w:r></w:p><w:p w14:paraId="%08X" w:rsidR="00A10000"><w:pPr><w:spacing `+
				`w:after="120"/></w:pPr><w:r><w:rPr><w:lang w:val="en-GB"/></w:rPr><w:t xml:space="preserve">`, r.Uint32())
			for range 40 {
				b.WriteString(words[r.IntN(len(words))] + " ")
			}
		}
		pieces[i] = b.String()
	}
	return pieces
}

// BenchmarkPieces writes pieces that were not written before, as in a document without loops.
func BenchmarkPieces(b *testing.B) {
	s, size := new(deflate.Sketch), 0
	pieces := prose(300)
	numbers := make([]int, len(pieces))
	for i, p := range pieces {
		numbers[i] = s.Piece([]byte(p))
		s.Fresh()
		size += len(p)
	}
	plan := deflate.NewPlan(s)
	value := []byte("a value")
	b.SetBytes(int64(size))
	for b.Loop() {
		w := deflate.NewWriter(io.Discard, plan)
		for i, n := range numbers {
			w.Piece(n, len(pieces[i]))
			w.Fresh(value)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		w.Free()
	}
}

// BenchmarkRows writes the same pieces again and again, as in the rows of a table.
func BenchmarkRows(b *testing.B) {
	plan := deflate.NewPlan(rowSketch())
	values := make([][]byte, 1000)
	for i := range values {
		values[i] = fmt.Appendf(nil, "value %d", i*7919%100_000)
	}
	b.SetBytes(int64(len(values) * (len(rowTexts[3]) + len(rowTexts[5]) + len(rowTexts[7]))))
	for b.Loop() {
		w := deflate.NewWriter(io.Discard, plan)
		for _, value := range values {
			w.Piece(3, len(rowTexts[3]))
			w.Fresh(value)
			w.Piece(5, len(rowTexts[5]))
			w.Fresh(value[:3])
			w.Piece(7, len(rowTexts[7]))
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		w.Free()
	}
}

// BenchmarkPlan compresses pieces in advance.
func BenchmarkPlan(b *testing.B) {
	pieces, size := prose(300), 0
	for _, p := range pieces {
		size += len(p)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		s := new(deflate.Sketch)
		for _, p := range pieces {
			s.Piece([]byte(p))
			s.Fresh()
		}
		deflate.NewPlan(s)
	}
}
