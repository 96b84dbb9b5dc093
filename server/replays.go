package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// replayRequest selects deliveries with the filters of their list.
type replayRequest struct {
	WebhookID     *ID         `json:"webhook_id,omitempty" doc:"Only deliveries of this webhook."`
	EventID       string      `json:"event_id,omitempty" minLength:"1" format:"uuid" doc:"Only deliveries of this event."`
	Trigger       triggerName `json:"trigger,omitempty" minLength:"1" doc:"Only deliveries of this trigger."`
	State         string      `json:"state,omitempty" enum:"pending,delivered,failed,canceled" doc:"Only deliveries in this state; pending selects none."`
	CreatedAfter  *timestamp  `json:"created_after,omitempty" doc:"Only events at this time or later."`
	CreatedBefore *timestamp  `json:"created_before,omitempty" doc:"Only events before this time."`
	DryRun        bool        `json:"dry_run,omitempty" doc:"Send nothing, and return the number of deliveries (default false)."`
}

func (r *replayRequest) filter() (docgen.DeliveryFilter, error) {
	f := docgen.DeliveryFilter{EventID: r.EventID, Trigger: docgen.Trigger(r.Trigger), State: docgen.DeliveryState(r.State)}
	if r.WebhookID != nil {
		var err error
		if f.WebhookID, err = idParam(r.WebhookID.String()).parse("webhook_id"); err != nil {
			return f, err
		}
	}
	if r.CreatedAfter != nil {
		f.From = sinceEpoch(r.CreatedAfter.Time)
	}
	if r.CreatedBefore != nil {
		f.To = sinceEpoch(r.CreatedBefore.Time)
	}
	return f, nil
}

// replayed counts deliveries.
type replayed struct {
	Count int64 `json:"count" doc:"The number of deliveries that are sent again, or would be."`
}

// The status of a replayReply says whether deliveries are sent again.
type replayReply struct {
	Status int
	Body   replayed
}

var docReplayDeliveries = doc{
	id: "replay_webhook_deliveries", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Replay many webhook deliveries",
	description: "Replays each selected delivery that has ended, except those of disabled or deleted webhooks. Without a filter, that " +
		"is everything the caller can see, including delivered notifications: send state failed to replay only failures, and try " +
		"dry_run first. " + seenDeliveries + extension,
	status:  http.StatusAccepted,
	errors:  []docgen.Code{codeMediaType, docgen.CodeBodyTooLarge},
	body:    exampleReplay(),
	example: replayed{Count: 12},
	also: func(a *api, op *huma.Operation) {
		op.Responses["200"] = a.jsonResponse("The number of deliveries, with dry_run.", replayed{Count: 12})
	},
}

func (a *api) replayDeliveries(ctx context.Context, c *call, _ *struct{}) (*replayReply, error) {
	request, err := readBody[replayRequest](c)
	if err != nil {
		return nil, err
	}
	filter, err := request.filter()
	if err != nil {
		return nil, err
	}
	count, err := a.service.ReplayDeliveries(ctx, c.caller, filter, request.DryRun)
	if err != nil {
		return nil, err
	}
	answer := &replayReply{Status: http.StatusAccepted, Body: replayed{count}}
	if request.DryRun {
		answer.Status = http.StatusOK
	}
	return answer, nil
}

type testRequest struct {
	Trigger triggerName `json:"trigger" doc:"A trigger that is valid for the target, even if the webhook does not subscribe to it, or WEBHOOK.DELETED."`
}

var docTestWebhook = doc{
	id: "test_webhook", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Send a test event to a webhook",
	description: "Sends a notification of the trigger, with the webhook's target as its source and {\"test\": true} as additional_info. " +
		"It is signed, retried, and logged like any other." + extension,
	status:  http.StatusAccepted,
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:    testRequest{Trigger: triggerName(docgen.FileUploaded)},
	example: exampleDelivery(),
}

func (a *api) testWebhook(ctx context.Context, c *call, in *WebhookPath) (*reply[delivery], error) {
	id, err := pathID(typeWebhook, in.WebhookID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[testRequest](c)
	if err != nil {
		return nil, err
	}
	made, err := a.service.TestWebhook(ctx, c.caller, id, docgen.Trigger(request.Trigger))
	if err != nil {
		return nil, err
	}
	return &reply[delivery]{deliveryOf(&made)}, nil
}
