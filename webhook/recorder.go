package webhook

import (
	"context"
	"sync"

	"platen/docgen"
)

// Limits of one transaction, so that no other writer waits long for it: attempts, and about how many bytes of answers. One
// attempt is always recorded.
const (
	recordAtMost = 512
	recordBytes  = 4 << 20
)

// recorder records attempts of all webhooks together: those that come while it writes are written next, at once. What lies
// beside each other in the database is so written once, and not once for each webhook.
type recorder struct {
	service *docgen.Service
	entries chan recording
	ended   sync.WaitGroup
}

// recording is an attempt with where to say that it was recorded.
type recording struct {
	try docgen.AttemptResult
	to  chan<- recorded
}

// recorded is what became of the record of an attempt.
type recorded struct {
	id  int64 // of the delivery
	err error
}

func newRecorder(service *docgen.Service) *recorder {
	r := &recorder{service: service, entries: make(chan recording, recordAtMost)}
	r.ended.Go(r.run)
	return r
}

// record has an attempt recorded, and to told so. to has room for it.
func (r *recorder) record(try docgen.AttemptResult, to chan<- recorded) {
	r.entries <- recording{try, to}
}

// close ends the recorder when nobody records any more.
func (r *recorder) close() {
	close(r.entries)
	r.ended.Wait()
}

func (r *recorder) run() {
	for first := range r.entries {
		entries := r.gather(first)
		tries := make([]docgen.AttemptResult, len(entries))
		for i, entry := range entries {
			tries[i] = entry.try
		}
		// What was sent is worth being known also while the server stops.
		err := r.service.RecordAttempts(context.Background(), tries)
		for _, entry := range entries {
			entry.to <- recorded{entry.try.DeliveryID, err}
		}
	}
}

// gather returns an entry with those that wait behind it.
func (r *recorder) gather(first recording) []recording {
	entries, bytes := []recording{first}, sizeOf(first.try)
	for len(entries) < recordAtMost && bytes < recordBytes {
		select {
		case entry, ok := <-r.entries:
			if !ok {
				return entries
			}
			entries, bytes = append(entries, entry), bytes+sizeOf(entry.try)
		default:
			return entries
		}
	}
	return entries
}

// sizeOf is about how many bytes of an answer the record of an attempt holds.
func sizeOf(try docgen.AttemptResult) int {
	size := len(try.ResponseBody)
	for name, values := range try.ResponseHeaders {
		size += len(name)
		for _, value := range values {
			size += len(value)
		}
	}
	return size
}
