package server

import (
	"context"
	"net/http"
	"time"

	"platen/docgen"
)

// webhookListener receives events like a webhook, but by long polling.
type webhookListener struct {
	ID        ID            `json:"id"`
	Type      string        `json:"type" enum:"webhook_listener"`
	Target    itemRef       `json:"target" doc:"The file or folder to watch; 0 is the root folder of the caller."`
	Triggers  []triggerName `json:"triggers"`
	CreatedAt timestamp     `json:"created_at"`
	ExpiresAt timestamp     `json:"expires_at" doc:"When it expires unless it is polled before."`
}

type createListenerRequest struct {
	Target   *itemRef      `json:"target,omitempty" doc:"The file or folder to watch (default: the root folder of the caller)."`
	Triggers []triggerName `json:"triggers,omitempty" doc:"The triggers to subscribe to (default: all that are valid for the target)."`
}

var docCreateListener = doc{
	id: "create_webhook_listener", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Create a listener for events",
	description: "A listener is a webhook without a public address, for development: instead of receiving notifications, you poll for " +
		"them. It gets no events from before its creation, and expires when it has not been polled for two minutes. The limit is ten " +
		"listeners per user and application." + extension,
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body: createListenerRequest{Target: &itemRef{ID: exampleFolder, Type: typeFolder},
		Triggers: []triggerName{triggerName(docgen.FileUploaded)}},
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

// ListenerPath identifies a listener.
type ListenerPath struct {
	ListenerID string `path:"listener_id" doc:"The id of the listener." example:"35791357"`
}

type pollRequest struct {
	Accepted []ID  `json:"accepted,omitempty" doc:"The ids of processed entries, which are not returned again; at most 100."`
	Wait     int64 `json:"wait_seconds,omitempty" minimum:"0" doc:"Seconds to wait if no event is pending (default 0, maximum 30). Higher values count as 30."`
}

// listenerEvent is a notification, as a webhook's receiver would get it.
type listenerEvent struct {
	ID      ID                `json:"id" doc:"The id of the delivery. Send it in accepted."`
	Type    string            `json:"type" enum:"webhook_delivery"`
	Headers map[string]string `json:"headers" doc:"The headers that a webhook's receiver would get, including signatures."`
	Body    string            `json:"body" doc:"The exact request body, which the signatures cover."`
}

type listenerEvents struct {
	Entries []listenerEvent `json:"entries" doc:"At most 100 entries, oldest first; empty if no event is pending."`
}

var docPollListener = doc{
	id: "fetch_webhook_events", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Poll a listener for events",
	description: "Responds as soon as events are pending, or after wait_seconds. Poll again immediately. Entries that you do not accept " +
		"are returned again, so a lost response loses no event." + extension,
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

// waitForEvents waits for events. It returns none when the server stops, so that the client polls again.
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

// stoppingOf returns a context that is done when the server of a request starts to shut down. A shutdown waits for requests.
func stoppingOf(ctx context.Context) context.Context {
	if stopping, ok := ctx.Value(stoppingKey{}).(context.Context); ok {
		return stopping
	}
	return context.Background()
}

var docDeleteListener = doc{
	id: "delete_webhook_listener", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "Delete a listener",
	description: "Cancels its pending events." + extension,
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
