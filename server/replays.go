package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// replayRequest selects deliveries, by the filters of their list.
type replayRequest struct {
	WebhookID     *ID         `json:"webhook_id,omitempty" doc:"Only those for this webhook."`
	EventID       string      `json:"event_id,omitempty" minLength:"1" format:"uuid" doc:"Only those of this event."`
	Trigger       triggerName `json:"trigger,omitempty" minLength:"1" doc:"Only those of this trigger."`
	State         string      `json:"state,omitempty" enum:"pending,delivered,failed,canceled" doc:"Only those in this state; pending selects none."`
	CreatedAfter  *timestamp  `json:"created_after,omitempty" doc:"Only those of events at this time or later."`
	CreatedBefore *timestamp  `json:"created_before,omitempty" doc:"Only those of events before this time."`
	DryRun        bool        `json:"dry_run,omitempty" doc:"Send nothing, and say how many there are."`
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
	Count int64 `json:"count" doc:"How many deliveries are sent again, or would be."`
}

// A replayReply tells by its status whether they are.
type replayReply struct {
	Status int
	Body   replayed
}

var docReplayDeliveries = doc{
	id: "replay_webhook_deliveries", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Send many notifications again",
	description: "Those that the filters select and that have ended, each as if it were replayed alone; those for webhooks that are disabled or deleted " +
		"excepted. Without a filter they are all that the caller sees, also those that were delivered: send the state failed for the others, and dry_run " +
		"before. " + seenDeliveries + extension,
	status:  http.StatusAccepted,
	errors:  []docgen.Code{codeMediaType, docgen.CodeBodyTooLarge},
	body:    exampleReplay(),
	example: replayed{Count: 12},
	also: func(a *api, op *huma.Operation) {
		op.Responses["200"] = a.jsonResponse("How many there are, with dry_run.", replayed{Count: 12})
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
	Trigger triggerName `json:"trigger" doc:"A trigger that a webhook on such a target can have, also one that it did not ask for; or WEBHOOK.DELETED."`
}

var docTestWebhook = doc{
	id: "test_webhook", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Send a webhook an event that did not happen",
	description: "A notification of the trigger, with the webhook's target as its source and {\"test\": true} as additional_info. It is signed, tried and " +
		"logged like any other." + extension,
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
