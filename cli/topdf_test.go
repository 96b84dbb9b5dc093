package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
)

// A document that must wait for long lets others start: here all of them, one at a time.
func TestSeveral(t *testing.T) {
	const documents = 5
	var others sync.WaitGroup
	others.Add(documents - 1)
	var order []int
	err := several(t.Context(), documents, 1, newProgress(io.Discard, documents, ""), func(_ context.Context, i int, release func()) {
		if i == 0 {
			release()
			others.Wait()
		} else {
			defer others.Done()
		}
		order = append(order, i)
	})
	if err != nil || len(order) != documents || order[documents-1] != 0 {
		t.Errorf("the documents ended in the order %v, with the error %v; want all, and the first last", order, err)
	}
}

// A canceled conversion of several documents starts no other document, and reports that some are missing.
func TestSeveralCanceled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	begun := 0
	err := several(ctx, 5, 1, newProgress(io.Discard, 5, ""), func(context.Context, int, func()) {
		begun++
		stop()
	})
	if !errors.Is(err, context.Canceled) || begun != 1 {
		t.Errorf("several = %v after %d documents, want that it was stopped after 1", err, begun)
	}
}
