package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// delivery is one notification for one webhook, with what became of it.
type delivery struct {
	ID        ID          `json:"id"`
	Type      string      `json:"type" enum:"webhook_delivery"`
	Webhook   webhookRef  `json:"webhook" doc:"The webhook it is for, which may have been deleted."`
	EventID   string      `json:"event_id" format:"uuid" doc:"The event: id in the body. The notifications of one event for several webhooks share it."`
	Trigger   triggerName `json:"trigger"`
	State     string      `json:"state" enum:"pending,delivered,failed,canceled" doc:"pending: it is being tried. delivered: the receiver took it. failed: given up. canceled: the webhook was deleted or disabled before."`
	CreatedAt timestamp   `json:"created_at" doc:"When the event happened."`
	BegunAt   timestamp   `json:"begun_at" doc:"Since when it is being tried: since it happened, or was replayed."`
	Tries     int         `json:"tries" doc:"How many attempts have failed since then."`
	Attempts  int         `json:"attempt_count" doc:"How many attempts there were in all."`
	DueAt     timestamp   `json:"due_at" doc:"When it is tried next; null unless it is pending."`
	EndedAt   timestamp   `json:"ended_at" doc:"When it was delivered, given up or canceled; null while it is pending."`
	Reason    *string     `json:"reason" doc:"What was wrong with the last attempt, or why there was none; null when nothing was."`
	Body      *string     `json:"body,omitempty" doc:"The body of the notification, as sent: a signature is made of this text. Left out in lists."`
}

func deliveryOf(d *docgen.Delivery) delivery {
	return delivery{
		ID: ID(d.ID), Type: typeDelivery, Webhook: webhookRef{ID(d.WebhookID), typeWebhook}, EventID: d.EventID, Trigger: triggerName(d.Trigger),
		State: string(d.State), CreatedAt: timestamp{d.CreatedAt}, BegunAt: timestamp{d.BegunAt}, Tries: d.Tries, Attempts: d.Attempts,
		DueAt: timestamp{d.DueAt}, EndedAt: timestamp{d.EndedAt}, Reason: orNull(d.Reason), Body: orNull(string(d.Body)),
	}
}

// attempt is one try to deliver a notification.
type attempt struct {
	ID              ID                          `json:"id"`
	Type            string                      `json:"type" enum:"webhook_attempt"`
	Name            *string                     `json:"box_delivery_id" doc:"The header BOX-DELIVERY-ID, by which the receiver knows the attempt; null when nothing was sent."`
	BegunAt         timestamp                   `json:"begun_at"`
	Duration        int64                       `json:"duration_ms" doc:"Milliseconds until the answer was read, or the attempt was given up."`
	Outcome         string                      `json:"outcome" doc:"A word for what happened: delivered; redirect, gone (410), busy (429, or 503 with Retry-After) or status (any other) by the answer; timeout, refused, unreachable, reset, invalid, dns or tls where there was none; address, owner, expired or stopped where nothing was sent. There may be more words." example:"delivered"`
	Reason          *string                     `json:"reason" doc:"What was wrong, for a person; null when nothing was."`
	Status          *int                        `json:"status" doc:"The status of the answer; null when there was none."`
	RequestHeaders  optional[map[string]string] `json:"request_headers" doc:"Null when nothing was sent."`
	ResponseHeaders optional[map[string]string] `json:"response_headers" doc:"Null when there was no answer."`
	ResponseBody    string                      `json:"response_body" doc:"The answer's body, as far as it was read. What is no UTF-8 is replaced."`
	Truncated       bool                        `json:"is_truncated" doc:"Whether the body of the answer was longer."`
}

func attemptOf(a *docgen.Attempt) attempt {
	shown := attempt{
		ID: ID(a.ID), Type: typeAttempt, Name: orNull(a.Name), BegunAt: timestamp{a.BegunAt}, Duration: a.Duration.Milliseconds(), Outcome: a.Outcome,
		Reason: orNull(a.Reason), RequestHeaders: headersOf(a.RequestHeaders), ResponseHeaders: headersOf(a.ResponseHeaders),
		ResponseBody: a.ResponseBody, Truncated: a.Truncated,
	}
	if a.Status != 0 {
		shown.Status = &a.Status
	}
	return shown
}

// headersOf encodes headers by their names; the values of one are separated by commas.
func headersOf(headers map[string][]string) optional[map[string]string] {
	if headers == nil {
		return optional[map[string]string]{}
	}
	joined := map[string]string{}
	for name, values := range headers {
		joined[name] = strings.Join(values, ", ")
	}
	return optional[map[string]string]{&joined}
}

// DeliveriesQuery asks for deliveries. Like docgen's filter, what is empty selects all.
type DeliveriesQuery struct {
	WebhookID     idParam     `query:"webhook_id" doc:"Only those for this webhook." example:"13579246"`
	EventID       string      `query:"event_id" format:"uuid" doc:"Only those of this event: id in the body of a notification." example:"eb0c4e06-751f-442c-86f8-fd5bb404dbec"`
	Trigger       triggerName `query:"trigger" doc:"Only those of this trigger." example:"FILE.UPLOADED"`
	State         string      `query:"state" enum:"pending,delivered,failed,canceled" doc:"Only those in this state." example:"failed"`
	CreatedAfter  timeParam   `query:"created_after" doc:"Only those of events at this time or later." example:"2026-01-31T12:00:00Z"`
	CreatedBefore timeParam   `query:"created_before" doc:"Only those of events before this time." example:"2026-02-01T12:00:00Z"`
	Limit         limitParam  `query:"limit"`
	Marker        string      `query:"marker" doc:"The next_marker or prev_marker of another page of the same list, with the same filters. Leave it out, or send 0, for the first page." example:"AQDsz5a1"`
	Offset        intParam    `query:"offset" doc:"Page by offset: how many deliveries come before the page; at most 300000." example:"100"`
	UseMarker     boolParam   `query:"usemarker" doc:"true: page by marker, also when offset is given. false: page by offset, also when it is not."`
}

// An idParam is documented as an identifier.
type idParam string

// Schema describes an identifier for the OpenAPI document.
func (idParam) Schema(r huma.Registry) *huma.Schema { return ID(0).Schema(r) }

// parse reads an identifier; 0, which nothing has, where there is none.
func (p idParam) parse(name string) (int64, error) {
	id, ok := parseID(string(p))
	if p != "" && (!ok || id == 0) {
		return 0, invalidParam(name, "%s must be an identifier: decimal digits", name)
	}
	return int64(id), nil
}

// A timeParam is documented as a time.
type timeParam string

// Schema describes a time for the OpenAPI document.
func (timeParam) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// parse reads a time; the zero time where there is none.
func (p timeParam) parse(name string) (time.Time, error) {
	if p == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, string(p))
	if err != nil {
		return t, invalidParam(name, "%s must be a time in the form of RFC 3339, such as 2026-01-31T12:00:00Z", name)
	}
	return sinceEpoch(t), nil
}

// sinceEpoch returns a time that was given, or the first one after 1970: nothing happened before that, and the zero time
// would stand for none.
func sinceEpoch(t time.Time) time.Time {
	if first := time.UnixMicro(1); t.Before(first) {
		return first
	}
	return t
}

func (q *DeliveriesQuery) filter() (docgen.DeliveryFilter, error) {
	f := docgen.DeliveryFilter{EventID: q.EventID, Trigger: docgen.Trigger(q.Trigger), State: docgen.DeliveryState(q.State)}
	var err error
	if f.WebhookID, err = q.WebhookID.parse("webhook_id"); err != nil {
		return f, err
	}
	if f.From, err = q.CreatedAfter.parse("created_after"); err != nil {
		return f, err
	}
	f.To, err = q.CreatedBefore.parse("created_before")
	return f, err
}

// byOffset tells which way of paging is asked for.
func (q *DeliveriesQuery) byOffset() (bool, error) {
	if q.UseMarker == "" {
		return q.Offset != "", nil
	}
	byMarker, err := q.UseMarker.parse("usemarker")
	return !byMarker, err
}

// extension ends the description of an operation that the interface does not have.
const extension = " An extension of Platen."

// seenDeliveries says whose deliveries a caller sees.
const seenDeliveries = "Callers see those for the webhooks that they made with the application of the access token; with the scope " +
	"`manage_enterprise_properties` those for the webhooks of everybody."

var docListDeliveries = doc{
	id: "list_webhook_deliveries", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "List what webhooks were told",
	description: "The newest first: by marker, or by offset when offset is given or usemarker is false. Filters add up. " + seenDeliveries +
		" The operator says how long deliveries are kept." + extension,
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset},
	example: markerPage[delivery]{Limit: docgen.DefaultPageLimit, Entries: []delivery{exampleListedDelivery()}},
}

// deliveriesReply is a page by marker, or one by offset.
type (
	deliveriesReply = reply[deliveriesPage]
	deliveriesPage  = either[markerPage[delivery], offsetPage[delivery]]
)

func (a *api) listDeliveries(ctx context.Context, c *call, in *DeliveriesQuery) (*deliveriesReply, error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	byOffset, err := in.byOffset()
	if err != nil {
		return nil, err
	}
	if byOffset {
		request, err := docgen.ParseOffset(string(in.Limit), string(in.Offset))
		if err != nil {
			return nil, err
		}
		page, err := a.service.DeliveriesByOffset(ctx, c.caller, filter, request)
		if err != nil {
			return nil, err
		}
		return &deliveriesReply{deliveriesPage{second: &offsetPageOf(page, deliveryOf).Body}}, nil
	}
	request, err := docgen.ParsePage(string(in.Limit), in.Marker)
	if err != nil {
		return nil, err
	}
	page, err := a.service.Deliveries(ctx, c.caller, filter, request)
	if err != nil {
		return nil, err
	}
	return &deliveriesReply{deliveriesPage{first: &pageOf(page, deliveryOf).Body}}, nil
}

// DeliveryPath names a delivery.
type DeliveryPath struct {
	DeliveryID string `path:"delivery_id" doc:"The id of the delivery." example:"24680135"`
}

var docGetDelivery = doc{
	id: "get_webhook_delivery", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "Get what a webhook was told",
	description: "With the body of the notification. " + seenDeliveries + extension,
	errors:      []docgen.Code{docgen.CodeNotFound},
	example:     exampleDelivery(),
}

func (a *api) getDelivery(ctx context.Context, c *call, in *DeliveryPath) (*reply[delivery], error) {
	id, err := pathID(typeDelivery, in.DeliveryID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.Delivery(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[delivery]{deliveryOf(&found)}, nil
}

var docListAttempts = doc{
	id: "list_webhook_attempts", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "List the attempts of a delivery",
	description: "Each with what was sent and what was answered, the oldest first. All of them sent the body of the delivery." + extension,
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound},
	example:     markerPage[attempt]{Limit: docgen.DefaultPageLimit, Entries: []attempt{exampleAttempt()}},
}

// AttemptsQuery asks for the attempts of a delivery.
type AttemptsQuery struct {
	DeliveryPath
	PageQuery
}

func (a *api) listAttempts(ctx context.Context, c *call, in *AttemptsQuery) (*reply[markerPage[attempt]], error) {
	request, err := in.PageQuery.parse()
	if err != nil {
		return nil, err
	}
	id, err := pathID(typeDelivery, in.DeliveryID)
	if err != nil {
		return nil, err
	}
	page, err := a.service.Attempts(ctx, c.caller, id, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, attemptOf), nil
}

var docReplayDelivery = doc{
	id: "replay_webhook_delivery", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Send a notification again",
	description: "With the same body, and tried like a new one; one that is pending is tried at once. The webhook must be active. A receiver that had " +
		"it already knows it by its id." + extension,
	status:  http.StatusAccepted,
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict},
	example: exampleDelivery(),
}

func (a *api) replayDelivery(ctx context.Context, c *call, in *DeliveryPath) (*reply[delivery], error) {
	id, err := pathID(typeDelivery, in.DeliveryID)
	if err != nil {
		return nil, err
	}
	replayed, err := a.service.ReplayDelivery(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[delivery]{deliveryOf(&replayed)}, nil
}
