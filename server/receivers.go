package server

import (
	"context"

	"platen/docgen"
)

type webhookReceiver struct {
	Type         string                    `json:"type" enum:"webhook_receiver"`
	Webhook      webhookRef                `json:"webhook"`
	State        string                    `json:"state" enum:"working,failing,resting" doc:"working: the last attempt found that it works, or there was none. failing: the last attempt failed. resting: it failed repeatedly or asked for a pause, so nothing is sent for a while."`
	RestingUntil timestamp                 `json:"resting_until" doc:"When it is tried again; null unless it rests."`
	Failures     int64                     `json:"failures" doc:"Failed attempts in a row. An attempt has failed if the receiver did not respond, or with a status of 500 or above, 408, or 429."`
	FailingSince timestamp                 `json:"failing_since" doc:"Time of the first of these failures; null if it works."`
	LastFailure  optional[receiverFailure] `json:"last_failure" doc:"The last failed attempt; null if the receiver works."`
	Pending      int64                     `json:"pending_deliveries" doc:"Deliveries of the webhook that wait, counted up to 100000. They are not lost while the receiver rests."`
	NextAt       timestamp                 `json:"next_attempt_at" doc:"When the first of them is due; null if none waits."`
}

type receiverFailure struct {
	At         timestamp `json:"at"`
	Status     *int      `json:"status" doc:"The HTTP status of the response; null if there was none."`
	RetryAfter *int64    `json:"retry_after_seconds" doc:"The pause that the response asked for with Retry-After, at most an hour; null if it asked for none."`
	Reason     string    `json:"reason" doc:"What was wrong, in words."`
}

var docGetReceiver = doc{
	id: "get_webhook_receiver", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Get the state of a webhook's receiver",
	description: "Whether the receiver works, why it rests and until when, and what waits for it. All servers on one database give the same " +
		"answer: what the last attempt found. A Platen extension.",
	errors:  []docgen.Code{docgen.CodeNotFound},
	example: exampleReceiver(),
}

func exampleReceiver() *webhookReceiver {
	return &webhookReceiver{
		Type: "webhook_receiver", Webhook: webhookRef{ID: exampleWebhook().ID, Type: typeWebhook}, State: docgen.ReceiverResting,
		RestingUntil: timestamp{exampleTime}, Failures: 3, FailingSince: timestamp{exampleTime},
		LastFailure: optional[receiverFailure]{&receiverFailure{
			At: timestamp{exampleTime}, Status: new(503), RetryAfter: new(int64(60)),
			Reason: "the receiver answered 503 Service Unavailable and asks for a pause of 1m0s",
		}},
		Pending: 2, NextAt: timestamp{exampleTime},
	}
}

func (a *api) getReceiver(ctx context.Context, c *call, in *WebhookPath) (*reply[webhookReceiver], error) {
	id, err := pathID("webhook", in.WebhookID)
	if err != nil {
		return nil, err
	}
	r, err := a.service.Receiver(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	found := webhookReceiver{
		Type: "webhook_receiver", Webhook: webhookRef{ID: ID(r.WebhookID), Type: typeWebhook}, State: r.State,
		RestingUntil: timestamp{r.RestingUntil}, Failures: r.Failures, FailingSince: timestamp{r.FailingSince}, Pending: r.Pending,
		NextAt: timestamp{r.NextAt}, LastFailure: optionalOf(r.LastFailure, receiverFailureOf),
	}
	return &reply[webhookReceiver]{found}, nil
}

func receiverFailureOf(f *docgen.ReceiverFailure) receiverFailure {
	failure := receiverFailure{At: timestamp{f.At}, Reason: f.Reason}
	if f.Status != 0 {
		failure.Status = &f.Status
	}
	if f.RetryAfter != 0 {
		failure.RetryAfter = new(wholeSeconds(f.RetryAfter))
	}
	return failure
}
