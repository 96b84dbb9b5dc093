package fidelitytest

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

const (
	maxText  = 64 << 20 // bytes of output of pdftotext
	maxWords = 250_000  // per document; aligning two that have nothing in common takes ten seconds

	// sameLine is the minimum vertical overlap, as a share of the smaller height, of consecutive words on one line.
	sameLine = 0.4
)

var errTooLong = errors.New("the document has too many words")

// A word is a word on a page. Its coordinates are in points from the top left corner of the displayed page.
type word struct {
	text                   string
	page                   int // 1 for the first
	xMin, yMin, xMax, yMax float64
}

// readWords returns the words of each page. The options of pdftotext select their order.
func readWords(ctx context.Context, path string, options ...string) ([][]word, error) {
	var pages [][]word
	err := run(ctx, func(r io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(r, maxText+1))
		if err != nil {
			return err
		}
		if len(text) > maxText {
			return errTooLong
		}
		pages, err = parseWords(text, maxWords)
		return err
	}, "pdftotext", append(options, "-bbox", "-enc", "UTF-8", path, "-")...)
	return pages, err
}

// parseWords parses the output of pdftotext -bbox, up to limit words. It ignores everything before the pages.
func parseWords(text []byte, limit int) ([][]word, error) {
	start := bytes.Index(text, []byte("<doc>"))
	if start < 0 {
		return nil, errors.New("the output of pdftotext has no <doc>")
	}
	var doc struct {
		Pages []struct {
			Words []struct {
				XMin float64 `xml:"xMin,attr"`
				YMin float64 `xml:"yMin,attr"`
				XMax float64 `xml:"xMax,attr"`
				YMax float64 `xml:"yMax,attr"`
				Text string  `xml:",chardata"`
			} `xml:"word"`
		} `xml:"page"`
	}
	if err := xml.Unmarshal(bytes.Map(legal, text[start:]), &doc); err != nil {
		return nil, err
	}
	pages := make([][]word, len(doc.Pages))
	for i, page := range doc.Pages {
		if limit -= len(page.Words); limit < 0 {
			return nil, errTooLong
		}
		for _, w := range page.Words {
			if sum := w.XMin + w.YMin + w.XMax + w.YMax; math.IsNaN(sum) || math.IsInf(sum, 0) {
				return nil, fmt.Errorf("page %d: %q has an invalid position", i+1, w.Text)
			}
			pages[i] = append(pages[i], word{text: w.Text, page: i + 1, xMin: w.XMin, yMin: w.YMin, xMax: w.XMax, yMax: w.YMax})
		}
	}
	return pages, nil
}

// legal replaces characters that are not allowed in XML. The text of a PDF may contain them, and pdftotext does not
// escape them.
func legal(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000 && r <= utf8.MaxRune:
		return r
	}
	return utf8.RuneError
}

// follows reports whether w is on the same line as the word before it.
func (w *word) follows(before *word) bool {
	overlap := min(w.yMax, before.yMax) - max(w.yMin, before.yMin)
	smaller := min(w.yMax-w.yMin, before.yMax-before.yMin)
	return w.page == before.page && overlap >= sameLine*smaller
}
