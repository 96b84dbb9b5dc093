package webhook

import (
	"context"
	"sync"

	"platen/docgen"
)

// Limits of one transaction, so that other writers do not wait long. One attempt is always recorded, whatever its size.
const (
	recordAtMost = 512     // attempts
	recordBytes  = 4 << 20 // approximate size of the recorded responses
)

// recorder records the attempts of all webhooks. Attempts that arrive during a transaction are recorded together in the next
// one, which writes fewer pages of the database than one transaction for each webhook.
type recorder struct {
	service *docgen.Service
	entries chan recording
	ended   sync.WaitGroup
}

// recording is an attempt to record, and the channel that receives the result.
type recording struct {
	try docgen.AttemptResult
	to  chan<- recorded
}

// recorded is the result of recording an attempt.
type recorded struct {
	id  int64 // of the delivery
	err error
}

func newRecorder(service *docgen.Service) *recorder {
	r := &recorder{service: service, entries: make(chan recording, recordAtMost)}
	r.ended.Go(r.run)
	return r
}

// record queues an attempt. The result is sent to to, which must have room for it.
func (r *recorder) record(try docgen.AttemptResult, to chan<- recorded) {
	r.entries <- recording{try, to}
}

// close records the queued attempts and stops the recorder. record must not be called any more.
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
		// Attempts are recorded even while the server stops.
		err := r.service.RecordAttempts(context.Background(), tries)
		for _, entry := range entries {
			entry.to <- recorded{entry.try.DeliveryID, err}
		}
	}
}

// gather returns first and the entries waiting after it, within the limits of one transaction.
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

// sizeOf returns the approximate number of bytes of the response in the record of an attempt.
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
