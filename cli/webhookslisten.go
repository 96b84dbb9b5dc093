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
	Forward string   `placeholder:"URL" help:"Where to post each event, such as http://127.0.0.1:3000/hook. Without it, events are only printed."`
	Folder  string   `placeholder:"ID" xor:"target" help:"Listen to this folder and all that lies below it. Without it and --file, to all below the root folder of the user."`
	File    string   `placeholder:"ID" xor:"target" help:"Listen to this file alone."`
	Trigger []string `placeholder:"TRIGGER" help:"Listen to this trigger, such as FILE.UPLOADED; may be repeated. Without it, to all."`
	Print   bool     `help:"Print the body of each event."`
}

// Help is what platen webhooks listen --help adds.
func (*webhooksListenCmd) Help() string {
	return "For developers, whose programs a server cannot reach. No webhook is needed: what one would be sent is fetched from the server and posted " +
		"as it is, with the same headers and signatures. A line on standard output tells of each event when it came, its trigger and source, and " +
		"what the program answered, and how soon. What is not answered by a status from 200 to 299 is posted again, with a new signature, " +
		"three times, and is then lost; what comes after it waits. What happens while nobody listens is not kept. Ctrl-C ends it."
}

// Validate is called by kong when everything is read.
func (c *webhooksListenCmd) Validate() error {
	if c.Forward != "" && !isHTTP(c.Forward) {
		return errors.Join(c.remote.Validate(), errors.New("--forward is a URL, such as http://127.0.0.1:3000/hook"))
	}
	return c.remote.Validate()
}

// Run listens until it is told to stop.
func (c *webhooksListenCmd) Run(ctx context.Context, s *streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
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
	return nil // Ctrl-C is how listening ends
}

// request asks for the listener.
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

// announce says what happens, and how to check signatures.
func (c *webhooksListenCmd) announce(w io.Writer, id string) {
	what := "all below your root folder"
	switch {
	case c.Folder != "":
		what = "folder " + c.Folder
	case c.File != "":
		what = "file " + c.File
	}
	fmt.Fprintf(w, "Listening to %s at %s (listener %s). Ctrl-C ends it.\n", what, c.Server, id)
	if len(c.Trigger) > 0 {
		fmt.Fprintf(w, "Triggers: %s\n", strings.Join(c.Trigger, ", "))
	}
	if c.Forward != "" {
		fmt.Fprintf(w, "Events are posted to %s, signed with the keys of the application of your token. Where the data of the server is,\n"+
			"platen webhooks keys prints them for a token that platen token create made; for others add --app APP.\n", c.Forward)
	}
}

// How long things take while listening. A listener ends when the server has not received of it for two minutes, so that one
// portion, the post that is then under way and a pause must be shorter together.
const (
	pollWait         = 30 * time.Second // for something to happen; the server waits no longer
	pollGrace        = 15 * time.Second // for its answer then, after which the connection counts as dead
	postLimitPerPoll = 20 * time.Second // for posting, before the server is asked again
	firstAway        = 500 * time.Millisecond
	lastAway         = 15 * time.Second // between two looks whether the server is back
	endWait          = 5 * time.Second
)

// postPauses are between one post of an event that was not taken and the next. After the last it is lost.
var postPauses = []time.Duration{time.Second, 3 * time.Second, 6 * time.Second}

// listening is a listener at a server, and what becomes of what it hears.
type listening struct {
	api      *client.ClientWithResponses
	request  client.CreateListenerRequest
	forward  *forwarder      // nil where events are only printed
	pauses   []time.Duration // see postPauses
	line     eventLine
	err      io.Writer
	id       string         // of the listener; empty when it has ended
	accepted []string       // what need not come again
	refused  map[string]int // how often an event was not taken that is to come again
}

// begin makes a listener.
func (l *listening) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollGrace)
	defer cancel()
	made, err := client.Check(l.api.CreateWebhookListenerWithResponse(ctx, &client.CreateWebhookListenerParams{}, l.request))
	if err != nil {
		return err
	}
	l.id, l.accepted = made.JSON201.Id, nil
	clear(l.refused)
	return nil
}

// end ends the listener; one that the server cannot be told of ends by itself.
func (l *listening) end(ctx context.Context) {
	if l.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	_, err := client.Check(l.api.DeleteWebhookListenerWithResponse(ctx, l.id, &client.DeleteWebhookListenerParams{}))
	if err != nil && !hasEnded(err) {
		fmt.Fprintf(l.err, "The server could not be told that nobody listens any more, and finds out itself: %v\n", err)
	}
}

// run listens until ctx is done, or the server refuses.
func (l *listening) run(ctx context.Context) error {
	away := time.Duration(0)
	for {
		pause, err := l.round(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && away > 0:
			fmt.Fprintln(l.err, "The server is back.")
			away = 0
		case err != nil && isRefused(err):
			return err
		case err != nil:
			if away == 0 {
				fmt.Fprintf(l.err, "The server is away; waiting for it: %v\n", err)
			}
			away = max(firstAway, min(2*away, lastAway))
			pause = away
		}
		if !rest(ctx, pause) {
			return ctx.Err()
		}
	}
}

// round fetches what there is and forwards it, and says how long to wait before the next.
func (l *listening) round(ctx context.Context) (pause time.Duration, err error) {
	if l.id == "" {
		if err := l.begin(ctx); err != nil {
			return 0, err
		}
		fmt.Fprintf(l.err, "Listening again, with a new listener (%s).\n", l.id)
	}
	events, err := l.fetch(ctx)
	if hasEnded(err) {
		fmt.Fprintln(l.err, "The listener has ended, because nothing was fetched for too long: what has happened since is lost for it.")
		l.id = ""
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return l.take(ctx, events)
}

// fetch says what need not come again, and waits for what comes next.
func (l *listening) fetch(ctx context.Context) ([]client.ListenerEvent, error) {
	ctx, cancel := context.WithTimeout(ctx, pollWait+pollGrace)
	defer cancel()
	request := client.PollRequest{WaitSeconds: new(int64(pollWait / time.Second))}
	if len(l.accepted) > 0 {
		request.Accepted = &l.accepted
	}
	polled, err := client.Check(l.api.FetchWebhookEventsWithResponse(ctx, l.id, &client.FetchWebhookEventsParams{}, request))
	if err != nil {
		return nil, err
	}
	l.accepted = nil
	return polled.JSON200.Entries, nil
}

// take forwards events in their order, until one is not taken: that one and those behind it come again after a pause, with
// signatures of that time.
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

// pass forwards an event, tells of it, and says after which pause it is to come again; 0 for not again.
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
		then = fmt.Sprintf("lost: not taken in %d tries", before+1)
	}
	return pause, l.line.print(e, got, then, before == 0)
}

// hasEnded tells whether the server answered that there is no such listener.
func hasEnded(err error) bool {
	failure, ok := errors.AsType[*client.Error](err)
	return ok && failure.Status == http.StatusNotFound
}

// isRefused tells whether the server answered that it will never do what it was asked.
func isRefused(err error) bool {
	failure, ok := errors.AsType[*client.Error](err)
	return ok && failure.Status < http.StatusInternalServerError
}
