package server

import (
	"context"
	"net/http"
	"time"

	"platen/docgen"
)

// webhookListener is told of events like a webhook, and fetches them.
type webhookListener struct {
	ID        ID            `json:"id"`
	Type      string        `json:"type" enum:"webhook_listener"`
	Target    itemRef       `json:"target" doc:"The file or folder that it listens to; 0 is the root folder of the caller."`
	Triggers  []triggerName `json:"triggers"`
	CreatedAt timestamp     `json:"created_at"`
	ExpiresAt timestamp     `json:"expires_at" doc:"When it ends by itself, unless something is fetched before."`
}

type createListenerRequest struct {
	Target   *itemRef      `json:"target,omitempty" doc:"The file or folder to listen to; the root folder of the caller when left out."`
	Triggers []triggerName `json:"triggers,omitempty" doc:"What to be told; everything that is sent of such a target when left out."`
}

var docCreateListener = doc{
	id: "create_webhook_listener", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Listen to events without a public address",
	description: "For developers, whose programs cannot be reached: what a webhook on the target would be sent is fetched instead. Nothing is kept from " +
		"before. The listener ends when nothing has been fetched for two minutes; a user has ten at a time with an application." + extension,
	status:  http.StatusCreated,
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:    createListenerRequest{Target: &itemRef{ID: exampleFolder, Type: typeFolder}, Triggers: []triggerName{triggerName(docgen.FileUploaded)}},
	example: exampleListener(),
	also:    bodyMayBeEmpty,
}

func (a *api) createListener(ctx context.Context, c *call, _ *struct{}) (*reply[webhookListener], error) {
	request, err := readOptionalBody[createListenerRequest](c)
	if err != nil {
		return nil, err
	}
	target := itemRef{ID: 0, Type: typeFolder}
	if request.Target != nil {
		target = *request.Target
	}
	made, err := a.service.CreateListener(ctx, c.caller, target.target(), triggersOf(request.Triggers))
	if err != nil {
		return nil, err
	}
	return &reply[webhookListener]{webhookListener{
		ID: ID(made.ID), Type: typeListener, Target: targetOf(made.TargetKind, made.TargetID), Triggers: each(made.Triggers, triggerNameOf),
		CreatedAt: timestamp{made.CreatedAt}, ExpiresAt: timestamp{made.ExpiresAt},
	}}, nil
}

// ListenerPath names a listener.
type ListenerPath struct {
	ListenerID string `path:"listener_id" doc:"The id of the listener." example:"35791357"`
}

type pollRequest struct {
	Accepted []ID  `json:"accepted,omitempty" doc:"The ids of entries that were fetched before and need not come again; at most 100."`
	Wait     int64 `json:"wait_seconds,omitempty" minimum:"0" doc:"How long to wait for something to happen when there is nothing to fetch; above 30 it counts as 30."`
}

// listenerEvent is a notification as a receiver would have got it.
type listenerEvent struct {
	ID      ID                `json:"id" doc:"Of the delivery: accepted takes it."`
	Type    string            `json:"type" enum:"webhook_delivery"`
	Headers map[string]string `json:"headers" doc:"The headers of the request that a webhook's address would have got, with its signatures."`
	Body    string            `json:"body" doc:"Its body, byte for byte: the signatures are of this text."`
}

type listenerEvents struct {
	Entries []listenerEvent `json:"entries" doc:"At most 100, the oldest first; empty when nothing happened."`
}

var docPollListener = doc{
	id: "fetch_webhook_events", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Fetch what a listener is told",
	description: "The answer comes when there is something, or when wait_seconds are over: call it again at once. What is not accepted comes again, so that " +
		"nothing is lost with an answer." + extension,
	errors: []docgen.Code{docgen.CodeNotFound, codeMediaType, docgen.CodeBodyTooLarge},
	body:   pollRequest{Accepted: []ID{exampleDeliveryID}, Wait: 30},
	example: listenerEvents{[]listenerEvent{{
		ID: exampleDeliveryID, Type: typeDelivery, Headers: map[string]string{"BOX-SIGNATURE-VERSION": "1"}, Body: *exampleDelivery().Body,
	}}},
}

func (a *api) pollListener(ctx context.Context, c *call, in *ListenerPath) (*reply[listenerEvents], error) {
	id, err := pathID(typeListener, in.ListenerID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[pollRequest](c)
	if err != nil {
		return nil, err
	}
	accepted := each(request.Accepted, func(id *ID) int64 { return int64(*id) })
	polled, err := a.service.PollListener(ctx, c.caller, id, accepted, 0)
	if err == nil && len(polled.Deliveries) == 0 && request.Wait > 0 {
		polled, err = a.waitForEvents(ctx, c.caller, id, seconds(request.Wait))
	}
	if err != nil {
		return nil, err
	}
	return &reply[listenerEvents]{listenerEvents{each(polled.Deliveries, func(d *docgen.Delivery) listenerEvent {
		return listenerEvent{ID: ID(d.ID), Type: typeDelivery, Headers: a.sign(*d, polled.Keys), Body: string(d.Body)}
	})}}, nil
}

// waitForEvents waits for something to happen, but not while the server stops: then there is nothing, and who listens comes
// again.
func (a *api) waitForEvents(ctx context.Context, c *docgen.Caller, listenerID int64, wait time.Duration) (docgen.Polled, error) {
	waiting, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(stoppingOf(ctx), end)()
	polled, err := a.service.PollListener(waiting, c, listenerID, nil, wait)
	if waiting.Err() != nil && ctx.Err() == nil {
		return docgen.Polled{}, nil
	}
	return polled, err
}

type stoppingKey struct{}

// stoppingOf returns a context that is done when the server of a request stops, which waits for its requests.
func stoppingOf(ctx context.Context) context.Context {
	if stopping, ok := ctx.Value(stoppingKey{}).(context.Context); ok {
		return stopping
	}
	return context.Background()
}

var docDeleteListener = doc{
	id: "delete_webhook_listener", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "End a listener",
	description: "What was not fetched is canceled." + extension,
	status:      http.StatusNoContent,
	errors:      []docgen.Code{docgen.CodeNotFound},
}

func (a *api) deleteListener(ctx context.Context, c *call, in *ListenerPath) (*empty, error) {
	id, err := pathID(typeListener, in.ListenerID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.DeleteListener(ctx, c.caller, id)
}
