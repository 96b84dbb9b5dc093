package office

import (
	"archive/zip"
	"bytes"
	"math"
	"strings"
	"sync"
	"time"

	"platen/pdf"
)

// How long a conversion may take while others wait before it is considered stuck.
const (
	leastPatience   = 250 * time.Millisecond
	unknownPatience = 2 * time.Second // before the first document
	strangeFactor   = 10              // for a new kind: this many times the mean of all documents
	manyKinds       = 1000            // number of kinds above which all estimates are reset
)

// pace estimates conversion times from earlier ones, in seconds per byte of content.
type pace struct {
	mu    sync.Mutex
	kinds map[string]estimate
	all   estimate
}

// patience returns how long a document may delay others.
func (p *pace) patience(kind string, size float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	expected := strangeFactor * p.all.mean * size
	if known, ok := p.kinds[kind]; ok {
		expected = known.most() * size
	}
	if expected == 0 {
		return unknownPatience
	}
	return max(leastPatience, time.Duration(expected*float64(time.Second)))
}

// took records how long a document took.
func (p *pace) took(kind string, size float64, took time.Duration) {
	rate := took.Seconds() / size
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = p.all.with(rate)
	if kind == "" {
		return
	}
	if p.kinds == nil || len(p.kinds) > manyKinds {
		p.kinds = map[string]estimate{}
	}
	p.kinds[kind] = p.kinds[kind].with(rate)
}

// estimate is a moving average with its mean deviation, like TCP's estimate of the round-trip time (RFC 6298, section
// 2).
type estimate struct{ mean, deviation float64 }

func (e estimate) with(value float64) estimate {
	if e.mean == 0 {
		return estimate{value, value / 2}
	}
	e.deviation += (math.Abs(value-e.mean) - e.deviation) / 4
	e.mean += (value - e.mean) / 8
	return e
}

// most returns a value that is rarely exceeded.
func (e estimate) most() float64 { return e.mean + max(4*e.deviation, e.mean) }

// weigh returns the approximate amount of content to lay out: the bytes of XML, plus a constant for the cost of any
// document. If the document is not a ZIP archive, the error is a *[pdf.DocumentError]: LibreOffice would convert it
// as plain text.
func weigh(document []byte) (float64, error) {
	const always = 20_000
	archive, err := zip.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		return 0, &pdf.DocumentError{Reason: "This is not a .docx document (" + err.Error() +
			"). If it is a .doc file or has a password, save it as .docx without a password."}
	}
	total := uint64(always)
	for _, entry := range archive.File {
		if strings.HasPrefix(entry.Name, "word/") && strings.HasSuffix(entry.Name, ".xml") {
			total += min(entry.UncompressedSize64, uint64(len(document))*1000) // do not trust sizes that are impossible
		}
	}
	return float64(total), nil
}
