package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// The progress of a batch is a stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Each event
// has the complete state, so a client that reconnects needs only the current one.

// Intervals of a stream.
const (
	eventPause  = 250 * time.Millisecond // minimum between two events
	streamCheck = 5 * time.Second        // between checks of the token
	heartbeats  = 3                      // checks between two comments that keep the connection open
)

const eventStream = "text/event-stream"

// batchProgress is the data of an event.
type batchProgress struct {
	Type        string    `json:"type" enum:"docgen_batch_progress"`
	Batch       batchRef  `json:"batch"`
	Jobs        jobCounts `json:"jobs" doc:"The number of jobs by status."`
	PerSecond   *float64  `json:"documents_per_second" doc:"The number of documents that ended per second in the last 10 to 20 seconds; null while it is unknown."`
	SecondsLeft *int64    `json:"seconds_left" doc:"The estimated time until all documents have ended; null while it is unknown."`
	CanceledAt  timestamp `json:"canceled_at" doc:"When the batch was canceled; null if it was not."`
	EndedAt     timestamp `json:"ended_at" doc:"When the batch ended; null until then."`
}

var docBatchEvents = doc{
	id: "stream_batch_progress", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Stream the progress of a batch",
	description: "Server-sent events, at most four a second: `progress` with the counts of jobs, the rate, and the estimated time left, and " +
		"`end`, after which the stream ends. The first event is the current state. If the header Last-Event-ID has the id of that state, it " +
		"is left out; if the batch has ended too, the response is 204, after which clients do not reconnect. Comments keep an idle " +
		"connection open. The stream ends without `end` when the access token expires or is revoked, when the batch is deleted, and when " +
		"the server stops. Only the user who created a batch can see its progress. A Platen extension.",
	errors: []docgen.Code{docgen.CodeNotFound},
	also: func(a *api, op *huma.Operation) {
		op.Responses["200"] = &huma.Response{
			Description: "The events. The data of each is JSON.",
			Content: map[string]*huma.MediaType{eventStream: {
				Schema: a.schemaOf(batchProgress{}), Example: exampleProgress(),
			}},
			Headers: map[string]*huma.Param{"X-Accel-Buffering": {
				Description: "no: proxies must not gather the events.", Schema: &huma.Schema{Type: huma.TypeString},
			}},
		}
		op.Responses["204"] = &huma.Response{Description: "The batch has ended, and the client has the last event."}
	},
}

func exampleProgress() batchProgress {
	return batchProgress{
		Type: "docgen_batch_progress", Batch: batchRef{ID: exampleBatchID, Type: typeBatch},
		Jobs: jobCounts{Total: 100, Pending: 58, Submitted: 2, Completed: 40}, PerSecond: new(12.5), SecondsLeft: new(int64(5)),
	}
}

// BatchEventsQuery holds the parameters of batchEvents.
type BatchEventsQuery struct {
	BatchPath
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that the client has."`
}

func (a *api) batchEvents(ctx context.Context, c *call, in *BatchEventsQuery) (*streamed, error) {
	if err := c.holdWaiting(); err != nil {
		return nil, err
	}
	watch, now, err := a.service.WatchBatch(ctx, c.caller, in.BatchID)
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	s := &progressStream{api: a, call: c, batchID: in.BatchID, watch: watch, last: in.LastEventID}
	if s.last == eventID(now) && !now.EndedAt.IsZero() {
		c.w.WriteHeader(http.StatusNoContent)
		return &streamed{Body: func(huma.Context) {}}, nil
	}
	h := c.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // nginx would gather events
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return &streamed{Body: func(huma.Context) {}}, nil
	}
	if err := s.run(ctx, now); err != nil && ctx.Err() == nil {
		a.log.InfoContext(ctx, "a stream of progress ended", "request_id", c.id, "error", err)
	}
	return &streamed{Body: func(huma.Context) {}}, nil
}

// progressStream is a stream of events about a batch.
type progressStream struct {
	*api
	call    *call
	batchID string
	watch   *docgen.Watch
	last    string // id of the last event
	pace    docgen.Pace
}

// run sends events until the batch has ended, or until the client or the server ends the stream.
func (s *progressStream) run(ctx context.Context, now docgen.Progress) error {
	if err := s.send(now); err != nil || !now.EndedAt.IsZero() {
		return err
	}
	stopping := stoppingOf(ctx).Done()
	check := time.NewTicker(streamCheck)
	defer check.Stop()
	for checks := 1; ; {
		next, changed := s.watch.Progress()
		if next != (docgen.Progress{}) && next != now {
			now = next
			if err := s.send(now); err != nil || now.Gone || !now.EndedAt.IsZero() {
				return err
			}
			if !pause(ctx, stopping) {
				return nil
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		case <-stopping:
			return nil
		case <-check.C:
			if err := s.mayContinue(ctx); err != nil {
				return err
			}
			if checks++; checks%heartbeats == 0 {
				if err := s.write(":\n\n"); err != nil {
					return err
				}
			}
		}
	}
}

// pause waits before the next event. ok is false if the client or the server ends the stream.
func pause(ctx context.Context, stopping <-chan struct{}) (ok bool) {
	over := time.NewTimer(eventPause)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-ctx.Done():
	case <-stopping:
	}
	return false
}

// mayContinue checks again whether the caller may see the batch.
func (s *progressStream) mayContinue(ctx context.Context) error {
	fresh := &call{id: s.call.id, r: s.call.r, w: s.call.w}
	if err := s.authenticate(fresh, &docBatchEvents); err != nil {
		return err
	}
	if err := s.actAs(fresh); err != nil {
		return err
	}
	return s.service.CheckBatch(ctx, fresh.caller, s.batchID)
}

// send sends the event for a state, unless the client has it.
func (s *progressStream) send(p docgen.Progress) error {
	id := eventID(p)
	if p.Gone || id == s.last {
		return nil
	}
	s.last = id
	data := batchProgress{
		Type: "docgen_batch_progress", Batch: batchRef{ID: s.batchID, Type: typeBatch}, CanceledAt: timestamp{p.CanceledAt},
		EndedAt: timestamp{p.EndedAt}, Jobs: jobCounts{
			Total: p.Jobs.Ended() + p.Jobs.Unfinished(), Pending: p.Jobs.Pending, Submitted: p.Jobs.Submitted, Completed: p.Jobs.Completed,
			CompletedWithError: p.Jobs.CompletedWithError, Failed: p.Jobs.Failed, Canceled: p.Jobs.Canceled,
		},
	}
	if rate, left, known := s.pace.Add(time.Now(), p.Jobs); known {
		data.PerSecond, data.SecondsLeft = new(math.Round(rate*100)/100), new(int64(math.Ceil(left.Seconds())))
	}
	text, err := marshal(data)
	if err != nil {
		return err
	}
	name := "progress"
	if !p.EndedAt.IsZero() {
		name = "end"
	}
	return s.write(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", id, name, text))
}

// write sends text immediately. It bypasses the compression, which would gather it.
func (s *progressStream) write(text string) error {
	if _, err := s.call.w.Write([]byte(text)); err != nil {
		return err
	}
	return http.NewResponseController(s.call.w).Flush()
}

// eventID identifies a state of a batch.
func eventID(p docgen.Progress) string {
	id := fmt.Sprintf("%d.%d.%d.%d.%d", p.Jobs.Submitted, p.Jobs.Completed, p.Jobs.CompletedWithError, p.Jobs.Failed, p.Jobs.Canceled)
	if !p.CanceledAt.IsZero() {
		id += ".canceled"
	}
	if !p.EndedAt.IsZero() {
		id += ".end"
	}
	return id
}
