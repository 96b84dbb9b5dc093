package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"platen/client"
)

const (
	postLimit   = 30 * time.Second // for a receiver to respond, the same as the default for webhooks
	shownAnswer = 200              // bytes of a response that are shown if an event was not accepted
)

// forwarder posts events to a program of the developer.
type forwarder struct {
	client http.Client
	url    string
}

// newForwarder returns a forwarder that does not follow redirects, like webhooks.
func newForwarder(address string) *forwarder {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &forwarder{http.Client{Timeout: postLimit, CheckRedirect: stay}, address}
}

// posted is the result of a post.
type posted struct {
	status int // 0 if there was no response
	why    string
	took   time.Duration
}

func (p *posted) taken() bool { return p.status/100 == 2 }

// post sends an event like a webhook: with the same headers and the same body.
func (f *forwarder) post(ctx context.Context, e *client.ListenerEvent) *posted {
	begun := time.Now()
	status, why, err := f.send(ctx, e)
	if err != nil {
		if failure, ok := errors.AsType[*url.Error](err); ok {
			err = failure.Err // without the URL, which is known
		}
		status, why = 0, err.Error()
	}
	return &posted{status, why, time.Since(begun)}
}

func (f *forwarder) send(ctx context.Context, e *client.ListenerEvent) (status int, why string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(e.Body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range e.Headers {
		request.Header.Set(name, value)
	}
	response, err := f.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, shownAnswer))
	return response.StatusCode, strings.TrimSpace(string(body)), err
}

// event is the part of an event that is printed.
type event struct {
	body    string
	Trigger string
	Source  struct{ ID, Type, Name string }
}

func readEvent(received *client.ListenerEvent) (*event, error) {
	e := &event{body: received.Body}
	if err := json.Unmarshal([]byte(received.Body), e); err != nil {
		return nil, fmt.Errorf("event %s: %w", received.Id, err)
	}
	return e, nil
}

// eventLine prints a line for each event.
type eventLine struct {
	out    io.Writer
	bodies bool
}

// print prints an event, the result of posting it unless that is nil, and what happens next. It prints the body if the event is new.
func (l eventLine) print(e *event, got *posted, then string, isNew bool) error {
	words := []string{time.Now().Format(time.TimeOnly), e.Trigger, e.Source.Type + " " + e.Source.ID}
	if e.Source.Name != "" {
		words = append(words, fmt.Sprintf("%q", e.Source.Name))
	}
	if got != nil {
		words = append(words, got.words()...)
	}
	if then != "" {
		words = append(words, then)
	}
	text := strings.Join(words, "  ") + "\n"
	if l.bodies && isNew {
		text += indented(e.body) + "\n"
	}
	_, err := io.WriteString(l.out, text)
	return err
}

// words describe the result of a post, and how long it took.
func (p *posted) words() []string {
	took := p.took.Round(time.Millisecond).String()
	switch {
	case p.taken():
		return []string{fmt.Sprint(p.status), took}
	case p.status == 0:
		return []string{"no response", took, plain(p.why)}
	case p.why == "":
		return []string{fmt.Sprint(p.status), took}
	}
	return []string{fmt.Sprint(p.status), took, fmt.Sprintf("%q", p.why)}
}
