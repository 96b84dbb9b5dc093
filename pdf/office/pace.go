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

// How long a conversion may take while others wait, before it is thought to hang.
const (
	leastPatience   = 250 * time.Millisecond
	unknownPatience = 2 * time.Second // nothing is known of any document
	strangeFactor   = 10              // times what documents of other kinds took, where nothing is known of a kind
	manyKinds       = 1000            // of more, what was known is forgotten
)

// pace is what is known of how long documents take, for each byte of what is to be laid out.
type pace struct {
	mu    sync.Mutex
	kinds map[string]estimate
	all   estimate
}

// patience is how long a document may hold up others.
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

// took learns how long a document took.
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

// estimate is a mean that follows what it is told, and how far from it that usually is: as TCP estimates how long an answer
// takes, to know when it waits in vain (RFC 6298, section 2).
type estimate struct{ mean, deviation float64 }

func (e estimate) with(value float64) estimate {
	if e.mean == 0 {
		return estimate{value, value / 2}
	}
	e.deviation += (math.Abs(value-e.mean) - e.deviation) / 4
	e.mean += (value - e.mean) / 8
	return e
}

// most is what a value is hardly ever over.
func (e estimate) most() float64 { return e.mean + max(4*e.deviation, e.mean) }

// weigh returns about how much of a document is to be laid out: the bytes of its XML, and some for what every document
// costs. A *[pdf.DocumentError] says that it is no document: LibreOffice would take it for a text and print its bytes.
func weigh(document []byte) (float64, error) {
	const always = 20_000
	archive, err := zip.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		return 0, &pdf.DocumentError{Reason: "It is no Word document of the .docx kind, which is a ZIP archive (" + err.Error() +
			"). An old .doc, or a document with a password, must be saved as .docx without one."}
	}
	total := uint64(always)
	for _, entry := range archive.File {
		if strings.HasPrefix(entry.Name, "word/") && strings.HasSuffix(entry.Name, ".xml") {
			total += min(entry.UncompressedSize64, uint64(len(document))*1000) // no more than it can be
		}
	}
	return float64(total), nil
}
