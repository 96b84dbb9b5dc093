package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"platen/client"
)

type webhooksListenCmd struct {
	remote
	Forward string   `placeholder:"URL" help:"URL to post each event to, such as http://127.0.0.1:3000/hook (default: only print events)."`
	Folder  string   `placeholder:"ID" xor:"target" help:"Listen to this folder and everything below it (default: the root folder of the user)."`
	File    string   `placeholder:"ID" xor:"target" help:"Listen only to this file."`
	Trigger []string `placeholder:"TRIGGER" help:"Listen to this trigger, such as FILE.UPLOADED (default: all). Repeat the flag for several triggers."`
	Print   bool     `help:"Print the body of each event."`
}

// Help is the additional text of platen webhooks listen --help.
func (*webhooksListenCmd) Help() string {
	return "For development, when a server cannot reach your program. You do not need a webhook: the command fetches the notifications " +
		"from the server and posts them unchanged, with the same headers and signatures. For each event, it prints a line with the " +
		"time, trigger, and source, and the status and time of the response. If the response is not a status from 200 to 299, the " +
		"command posts the event three more times, with new signatures, while later events wait; then the event is lost. Events while " +
		"no listener is running are not kept. Press Ctrl-C to stop."
}

// kong calls Validate after parsing.
func (c *webhooksListenCmd) Validate() error {
	if c.Forward != "" && !isHTTP(c.Forward) {
		return errors.Join(c.remote.Validate(), errors.New("--forward must be a URL, such as http://127.0.0.1:3000/hook"))
	}
	return c.remote.Validate()
}

// Run listens until it is interrupted.
func (c *webhooksListenCmd) Run(ctx context.Context, s *streams) error {
	api := c.client()
	l := &listening{
		api: api, request: c.request(), pauses: postPauses, line: eventLine{out: s.out, bodies: c.Print}, err: s.err, refused: map[string]int{},
	}
	if c.Forward != "" {
		l.forward = newForwarder(c.Forward)
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end(ctx)
	c.announce(s.err, l.id)
	if err := l.run(ctx); ctx.Err() == nil {
		return err
	}
	return nil // Ctrl-C is the normal way to stop
}

// request returns the request for the listener.
func (c *webhooksListenCmd) request() client.CreateListenerRequest {
	var request client.CreateListenerRequest
	if c.Folder != "" {
		request.Target = &client.ItemRef{Id: c.Folder, Type: client.ItemRefTypeFolder}
	}
	if c.File != "" {
		request.Target = &client.ItemRef{Id: c.File, Type: client.ItemRefTypeFile}
	}
	if len(c.Trigger) > 0 {
		triggers := make([]client.Trigger, len(c.Trigger))
		for i, trigger := range c.Trigger {
			triggers[i] = client.Trigger(trigger)
		}
		request.Triggers = &triggers
	}
	return request
}

// announce prints what happens, and how to verify signatures.
func (c *webhooksListenCmd) announce(w io.Writer, id string) {
	what := "everything below your root folder"
	switch {
	case c.Folder != "":
		what = "folder " + c.Folder
	case c.File != "":
		what = "file " + c.File
	}
	fmt.Fprintf(w, "Listening to %s at %s (listener %s). Press Ctrl-C to stop.\n", what, c.Server, id)
	if len(c.Trigger) > 0 {
		fmt.Fprintf(w, "Triggers: %s\n", strings.Join(c.Trigger, ", "))
	}
	if c.Forward != "" {
		fmt.Fprintf(w, "Events are posted to %s, signed with the keys of the application of your token.\n"+
			"To print the keys on the server's machine, run platen webhooks keys, with --app APP unless the token is from platen token create.\n",
			c.Forward)
	}
}

// Times of listening. A listener expires after two minutes without a poll, so posting between polls, including one post in progress and a
// pause, must take less.
const (
	pollWait         = 30 * time.Second // maximum wait for events; the server's maximum too
	pollGrace        = 15 * time.Second // for the response after that; then the connection counts as broken
	postLimitPerPoll = 20 * time.Second // maximum time of posting between two polls
	firstAway        = 500 * time.Millisecond
	lastAway         = 15 * time.Second // maximum pause between attempts to reach the server
	endWait          = 5 * time.Second
)

// postPauses are the pauses between posts of an event that was not accepted. After the last one, the event is lost.
var postPauses = []time.Duration{time.Second, 3 * time.Second, 6 * time.Second}

// listening is a listener at a server, and the handling of its events.
type listening struct {
	api      *client.Client
	request  client.CreateListenerRequest
	forward  *forwarder      // nil to only print events
	pauses   []time.Duration // see postPauses
	line     eventLine
	err      io.Writer
	id       string         // of the listener; empty after it expired
	accepted []string       // events to acknowledge with the next poll
	refused  map[string]int // number of failed posts, by event
}

// begin creates a listener.
func (l *listening) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollGrace)
	defer cancel()
	made, err := l.api.CreateWebhookListener(ctx, l.request)
	if err != nil {
		return err
	}
	l.id, l.accepted = made.JSON201.Id, nil
	clear(l.refused)
	return nil
}

// end deletes the listener. If that fails, the listener expires.
func (l *listening) end(ctx context.Context) {
	if l.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	_, err := l.api.DeleteWebhookListener(ctx, l.id)
	if err != nil && !hasEnded(err) {
		fmt.Fprintf(l.err, "Cannot delete the listener, which will expire: %v\n", err)
	}
}

// run listens until ctx is done, or the server rejects a request.
func (l *listening) run(ctx context.Context) error {
	away := time.Duration(0)
	for {
		pause, err := l.round(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && away > 0:
			fmt.Fprintln(l.err, "The server is available again.")
			away = 0
		case err != nil && isRefused(err):
			return err
		case err != nil:
			if away == 0 {
				fmt.Fprintf(l.err, "The server is not available; retrying: %v\n", err)
			}
			away = max(firstAway, min(2*away, lastAway))
			pause = away
		}
		if !rest(ctx, pause) {
			return ctx.Err()
		}
	}
}

// round polls once, posts them, and returns the pause before the next poll.
func (l *listening) round(ctx context.Context) (pause time.Duration, err error) {
	if l.id == "" {
		if err := l.begin(ctx); err != nil {
			return 0, err
		}
		fmt.Fprintf(l.err, "Listening again, with a new listener (%s).\n", l.id)
	}
	events, err := l.fetch(ctx)
	if hasEnded(err) {
		fmt.Fprintln(l.err, "The listener has expired, because it was not polled for too long. Events since then are lost.")
		l.id = ""
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return l.take(ctx, events)
}

// fetch acknowledges events, and waits for the next ones.
func (l *listening) fetch(ctx context.Context) ([]client.ListenerEvent, error) {
	ctx, cancel := context.WithTimeout(ctx, pollWait+pollGrace)
	defer cancel()
	request := client.PollRequest{WaitSeconds: new(int64(pollWait / time.Second))}
	if len(l.accepted) > 0 {
		request.Accepted = &l.accepted
	}
	polled, err := l.api.FetchWebhookEvents(ctx, l.id, request)
	if err != nil {
		return nil, err
	}
	l.accepted = nil
	return polled.JSON200.Entries, nil
}

// take posts events in order, until one is not accepted. That one and later ones are delivered again after a pause, with new
// signatures.
func (l *listening) take(ctx context.Context, events []client.ListenerEvent) (pause time.Duration, err error) {
	begun := time.Now()
	for i := range events {
		if time.Since(begun) > postLimitPerPoll {
			return 0, nil
		}
		if pause, err = l.pass(ctx, &events[i]); pause > 0 || err != nil {
			return pause, err
		}
		delete(l.refused, events[i].Id)
		l.accepted = append(l.accepted, events[i].Id)
	}
	return 0, nil
}

// pass posts an event and prints it. It returns the pause before the event should be delivered again, or 0 if it should not.
func (l *listening) pass(ctx context.Context, received *client.ListenerEvent) (pause time.Duration, err error) {
	e, err := readEvent(received)
	if err != nil {
		return 0, err
	}
	if l.forward == nil {
		return 0, l.line.print(e, nil, "", true)
	}
	got := l.forward.post(ctx, received)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	before := l.refused[received.Id]
	then := ""
	switch {
	case got.taken():
	case before < len(l.pauses):
		pause = l.pauses[before]
		l.refused[received.Id]++
		then = fmt.Sprintf("again in %v", pause)
	default:
		then = fmt.Sprintf("lost: not accepted in %d tries", before+1)
	}
	return pause, l.line.print(e, got, then, before == 0)
}

// hasEnded reports whether the server responded that the listener does not exist.
func hasEnded(err error) bool {
	failure, ok := errors.AsType[*client.Error](err)
	return ok && failure.Status == http.StatusNotFound
}

// isRefused reports whether the server rejected the request permanently.
func isRefused(err error) bool {
	failure, ok := errors.AsType[*client.Error](err)
	return ok && failure.Status < http.StatusInternalServerError
}
