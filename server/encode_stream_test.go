package server

import (
	"strings"
	"testing"
)

// writes records how a response is written.
type writes struct {
	sizes []int
	text  strings.Builder
}

func (w *writes) Write(p []byte) (int, error) {
	w.sizes = append(w.sizes, len(p))
	return w.text.Write(p)
}

func TestListsAreStreamed(t *testing.T) {
	page := markerPage[failures]{Limit: 1000}
	for range 1000 {
		page.Entries = append(page.Entries, failures{Errors: []string{strings.Repeat("x", 5000)}})
	}
	var w writes
	if err := writeJSON(&w, page); err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, size := range w.sizes {
		most = max(most, size)
	}
	if most > 2*answerBuffer || len(w.sizes) < 100 {
		t.Errorf("%d bytes were written in %d pieces of at most %d bytes", w.text.Len(), len(w.sizes), most)
	}
	if whole, err := marshal(page); err != nil || string(whole)+"\n" != w.text.String() {
		t.Errorf("the written bytes differ from the response (%v)", err)
	}
}
