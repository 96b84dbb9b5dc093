package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// delivery is one notification for one webhook, with its state.
type delivery struct {
	ID        ID          `json:"id"`
	Type      string      `json:"type" enum:"webhook_delivery"`
	Webhook   webhookRef  `json:"webhook" doc:"The webhook, which may have been deleted."`
	EventID   string      `json:"event_id" format:"uuid" doc:"The event: the id in the body. All notifications of one event share it."`
	Trigger   triggerName `json:"trigger"`
	State     string      `json:"state" enum:"pending,delivered,failed,canceled" doc:"pending: delivery is in progress. delivered: the receiver accepted it. failed: the server gave up. canceled: the webhook was deleted or disabled first."`
	CreatedAt timestamp   `json:"created_at" doc:"When the event happened."`
	BegunAt   timestamp   `json:"begun_at" doc:"When delivery started: at the event or the last replay."`
	Tries     int         `json:"tries" doc:"Failed attempts since then."`
	Attempts  int         `json:"attempt_count" doc:"Attempts in total."`
	DueAt     timestamp   `json:"due_at" doc:"When the next attempt is due; null unless pending."`
	EndedAt   timestamp   `json:"ended_at" doc:"When it was delivered, failed, or canceled; null while pending."`
	Reason    *string     `json:"reason" doc:"What was wrong with the last attempt, or why there was none; null if nothing was."`
	Body      *string     `json:"body,omitempty" doc:"The exact body of the notification, which signatures cover. Omitted in lists."`
}

func deliveryOf(d *docgen.Delivery) delivery {
	return delivery{
		ID: ID(d.ID), Type: typeDelivery, Webhook: webhookRef{ID(d.WebhookID), typeWebhook}, EventID: d.EventID, Trigger: triggerName(d.Trigger),
		State: string(d.State), CreatedAt: timestamp{d.CreatedAt}, BegunAt: timestamp{d.BegunAt}, Tries: d.Tries, Attempts: d.Attempts,
		DueAt: timestamp{d.DueAt}, EndedAt: timestamp{d.EndedAt}, Reason: orNull(d.Reason), Body: orNull(string(d.Body)),
	}
}

// attempt is one attempt to deliver a notification.
type attempt struct {
	ID              ID                          `json:"id"`
	Type            string                      `json:"type" enum:"webhook_attempt"`
	Name            *string                     `json:"box_delivery_id" doc:"The header BOX-DELIVERY-ID, which identifies the attempt for the receiver; null if nothing was sent."`
	BegunAt         timestamp                   `json:"begun_at"`
	Duration        int64                       `json:"duration_ms" doc:"Milliseconds until the response was read or the attempt ended."`
	Outcome         string                      `json:"outcome" doc:"What happened. By the status of the response: delivered, redirect, gone (410), busy (429, or 503 with Retry-After), or status (any other). Without a response: timeout, refused, unreachable, reset, invalid, dns, or tls. If nothing was sent: address, owner, expired, or stopped. More values may be added." example:"delivered"`
	Reason          *string                     `json:"reason" doc:"What was wrong; null if nothing was."`
	Status          *int                        `json:"status" doc:"The status of the response; null if there was none."`
	RequestHeaders  optional[map[string]string] `json:"request_headers" doc:"Null if nothing was sent."`
	ResponseHeaders optional[map[string]string] `json:"response_headers" doc:"Null if there was no response."`
	ResponseBody    string                      `json:"response_body" doc:"The body of the response, as far as it was read. Bytes that are not UTF-8 are replaced."`
	Truncated       bool                        `json:"is_truncated" doc:"Whether the body of the response was longer."`
}

func attemptOf(a *docgen.Attempt) attempt {
	shown := attempt{
		ID: ID(a.ID), Type: typeAttempt, Name: orNull(a.Name), BegunAt: timestamp{a.BegunAt}, Duration: a.Duration.Milliseconds(),
		Outcome: a.Outcome,
		Reason:  orNull(a.Reason), RequestHeaders: headersOf(a.RequestHeaders), ResponseHeaders: headersOf(a.ResponseHeaders),
		ResponseBody: a.ResponseBody, Truncated: a.Truncated,
	}
	if a.Status != 0 {
		shown.Status = &a.Status
	}
	return shown
}

// headersOf encodes headers by name. Several values of a header are separated by commas.
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

// DeliveriesQuery holds the parameters of a list of deliveries. Like in docgen's filter, an empty field selects everything.
type DeliveriesQuery struct {
	WebhookID     idParam     `query:"webhook_id" doc:"Only deliveries of this webhook." example:"13579246"`
	EventID       string      `query:"event_id" format:"uuid" doc:"Only deliveries of this event: the id in the body of a notification." example:"eb0c4e06-751f-442c-86f8-fd5bb404dbec"`
	Trigger       triggerName `query:"trigger" doc:"Only deliveries of this trigger." example:"FILE.UPLOADED"`
	State         string      `query:"state" enum:"pending,delivered,failed,canceled" doc:"Only deliveries in this state." example:"failed"`
	CreatedAfter  timeParam   `query:"created_after" doc:"Only events at this time or later." example:"2026-01-31T12:00:00Z"`
	CreatedBefore timeParam   `query:"created_before" doc:"Only events before this time." example:"2026-02-01T12:00:00Z"`
	Limit         limitParam  `query:"limit"`
	Marker        string      `query:"marker" doc:"The next_marker or prev_marker of another page of the same list, with the same filters. Omit it, or send 0, to get the first page." example:"AQDsz5a1"`
	Offset        intParam    `query:"offset" doc:"Number of deliveries to skip, at most 300000. Selects paging by offset." example:"100"`
	UseMarker     boolParam   `query:"usemarker" doc:"true: page by marker even if offset is set. false: page by offset even if it is not."`
}

// An idParam is a query parameter with an identifier.
type idParam string

// Schema describes an identifier for the OpenAPI document.
func (idParam) Schema(r huma.Registry) *huma.Schema { return ID(0).Schema(r) }

// parse parses an identifier. It returns 0, which is never used, if there is none.
func (p idParam) parse(name string) (int64, error) {
	id, ok := parseID(string(p))
	if p != "" && (!ok || id == 0) {
		return 0, invalidParam(name, "%s must be an identifier: decimal digits", name)
	}
	return int64(id), nil
}

// A timeParam is a query parameter with a time.
type timeParam string

// Schema describes a time for the OpenAPI document.
func (timeParam) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// parse parses a time. It returns the zero time if there is none.
func (p timeParam) parse(name string) (time.Time, error) {
	if p == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, string(p))
	if err != nil {
		return t, invalidParam(name, "%s must be a time in RFC 3339 format, such as 2026-01-31T12:00:00Z", name)
	}
	return sinceEpoch(t), nil
}

// sinceEpoch returns t, but at least the first moment after 1970. Nothing happened before that, and docgen treats the zero time as no
// limit.
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

// byOffset reports whether the request pages by offset.
func (q *DeliveriesQuery) byOffset() (bool, error) {
	if q.UseMarker == "" {
		return q.Offset != "", nil
	}
	byMarker, err := q.UseMarker.parse("usemarker")
	return !byMarker, err
}

// extension ends the description of an operation that the Box API does not have.
const extension = " A Platen extension."

// seenDeliveries says which deliveries a caller can see.
const seenDeliveries = "Callers can see the deliveries of webhooks that they created with the application of the access token; with the " +
	"scope `manage_enterprise_properties`, of all webhooks."

var docListDeliveries = doc{
	id: "list_webhook_deliveries", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "List webhook deliveries",
	description: "Newest first: by marker, or by offset if offset is set or usemarker is false. A delivery must match all filters. " +
		seenDeliveries + " The operator decides how long deliveries are kept." + extension,
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset},
	example: markerPage[delivery]{Limit: docgen.DefaultPageLimit, Entries: []delivery{exampleListedDelivery()}},
}

// deliveriesReply is a page by marker or by offset.
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

// DeliveryPath identifies a delivery.
type DeliveryPath struct {
	DeliveryID string `path:"delivery_id" doc:"The id of the delivery." example:"24680135"`
}

var docGetDelivery = doc{
	id: "get_webhook_delivery", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "Get a webhook delivery",
	description: "Includes the body of the notification. " + seenDeliveries + extension,
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
	description: "Requests and responses of all attempts, oldest first. Every attempt sends the body of the delivery." + extension,
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound},
	example:     markerPage[attempt]{Limit: docgen.DefaultPageLimit, Entries: []attempt{exampleAttempt()}},
}

// AttemptsQuery holds the parameters of a list of attempts.
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
	summary: "Replay a webhook delivery",
	description: "Sends the same body again and retries like a new notification. A pending delivery is sent immediately. The webhook " +
		"must be active. A receiver recognizes the notification by its id." + extension,
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
