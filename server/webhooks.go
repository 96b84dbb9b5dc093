package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

type webhook struct {
	ID           ID            `json:"id"`
	Type         string        `json:"type" enum:"webhook"`
	Target       itemRef       `json:"target" doc:"The file, or the folder with all that lies below it, that the webhook is told about."`
	CreatedBy    userMini      `json:"created_by" doc:"The owner: notifications tell what this user may see."`
	CreatedAt    timestamp     `json:"created_at"`
	Address      string        `json:"address" format:"uri" doc:"Where notifications are sent to."`
	Triggers     []triggerName `json:"triggers" doc:"What the webhook is told."`
	Status       string        `json:"status" enum:"active,disabled" doc:"A disabled webhook is told nothing, and what happens meanwhile is not kept for it. An extension of the interface."`
	StatusReason *string       `json:"status_reason" doc:"Why it is disabled; null when it is active. An extension of the interface."`
}

// webhookMini is a webhook in a list.
type webhookMini struct {
	ID     ID      `json:"id"`
	Type   string  `json:"type" enum:"webhook"`
	Target itemRef `json:"target"`
}

func webhookOf(w *docgen.Webhook) webhook {
	return webhook{
		ID: ID(w.ID), Type: typeWebhook, Target: targetOf(w.TargetKind, w.TargetID), CreatedBy: userMiniOf(&w.CreatedBy),
		CreatedAt: timestamp{w.CreatedAt}, Address: w.Address, Triggers: each(w.Triggers, triggerNameOf), Status: w.Status, StatusReason: orNull(w.Reason),
	}
}

func webhookMiniOf(w *docgen.Webhook) webhookMini {
	return webhookMini{ID: ID(w.ID), Type: typeWebhook, Target: targetOf(w.TargetKind, w.TargetID)}
}

func targetOf(kind docgen.Kind, id int64) itemRef { return itemRef{ID: ID(id), Type: kind.String()} }

func triggerNameOf(t *docgen.Trigger) triggerName { return triggerName(*t) }

// target says in docgen's words which item a request names.
func (r itemRef) target() docgen.WebhookTarget {
	if r.Type == typeFolder {
		return docgen.WebhookTarget{Kind: docgen.Folder, ID: int64(r.ID)}
	}
	return docgen.WebhookTarget{Kind: docgen.File, ID: int64(r.ID)}
}

// triggersOf says in docgen's words which triggers a request names.
func triggersOf(names []triggerName) []docgen.Trigger {
	return each(names, func(name *triggerName) docgen.Trigger { return docgen.Trigger(*name) })
}

type createWebhookRequest struct {
	Target   itemRef       `json:"target" doc:"The file or folder. A webhook on a folder covers all that lies below it, also what comes there later. The root folder, 0, cannot have one."`
	Address  string        `json:"address" format:"uri" doc:"Where notifications are sent to: an https URL with the port 443, at a public host, unless the operator allows others. Up to 2048 bytes."`
	Triggers []triggerName `json:"triggers" doc:"What to tell: 1 to 100 triggers that a webhook on such a target can have."`
}

type updateWebhookRequest struct {
	Target   *itemRef       `json:"target,omitempty" doc:"Another file or folder."`
	Address  *string        `json:"address,omitempty" format:"uri" doc:"Another address. What waits to be delivered goes there too, and a disabled webhook is active again."`
	Triggers *[]triggerName `json:"triggers,omitempty" doc:"All triggers that it has from now on."`
	Status   *string        `json:"status,omitempty" enum:"active,disabled" doc:"disabled: tell it nothing more; active: go on. An extension of the interface."`
}

func (r *updateWebhookRequest) change() docgen.WebhookChange {
	change := docgen.WebhookChange{Address: r.Address, Status: r.Status}
	if r.Target != nil {
		change.Target = new(r.Target.target())
	}
	if r.Triggers != nil {
		change.Triggers = triggersOf(*r.Triggers)
	}
	return change
}

// WebhookPath names a webhook.
type WebhookPath struct {
	WebhookID string `path:"webhook_id" doc:"The id of the webhook." example:"13579246"`
}

var docCreateWebhook = doc{
	id: "create_webhook", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Set a webhook on a file or folder",
	description: "From now on its address is sent a notification of everything that happens to the target, and to what lies below it, as far as " +
		"triggers say. The caller must see the target. The webhook belongs to the caller and the application of the access token, which have one " +
		"on a target, and 1000 at most; notifications tell what the owner may see, and nothing is sent once the owner is deleted: make webhooks as a " +
		"service account, or as a user who stays. What is sent, with which headers, and what to answer, is described under `webhooks` in `/openapi.json`.",
	status:  http.StatusCreated,
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:    exampleNewWebhook(),
	example: exampleWebhook(),
}

func (a *api) createWebhook(ctx context.Context, c *call, _ *struct{}) (*reply[webhook], error) {
	request, err := readBody[createWebhookRequest](c)
	if err != nil {
		return nil, err
	}
	target := request.Target.target()
	made, err := a.service.CreateWebhook(ctx, c.caller, docgen.NewWebhook{
		TargetKind: target.Kind, TargetID: target.ID, Address: request.Address, Triggers: triggersOf(request.Triggers),
	})
	if err != nil {
		return nil, err
	}
	return &reply[webhook]{webhookOf(made)}, nil
}

var docListWebhooks = doc{
	id: "list_webhooks", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "List webhooks",
	description: "Those that the caller made with the application of the access token, by growing id, in their short form.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit},
	example:     markerPage[webhookMini]{Limit: docgen.DefaultPageLimit, Entries: []webhookMini{exampleWebhookMini()}},
}

func (a *api) listWebhooks(ctx context.Context, c *call, in *PageQuery) (*reply[markerPage[webhookMini]], error) {
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Webhooks(ctx, c.caller, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, webhookMiniOf), nil
}

var docGetWebhook = doc{
	id: "get_webhook", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "Get a webhook",
	description: "One that the caller made with the application of the access token.",
	errors:      []docgen.Code{docgen.CodeNotFound},
	example:     exampleWebhook(),
}

func (a *api) getWebhook(ctx context.Context, c *call, in *WebhookPath) (*reply[webhook], error) {
	id, err := pathID(typeWebhook, in.WebhookID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.Webhook(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[webhook]{webhookOf(found)}, nil
}

var docUpdateWebhook = doc{
	id: "update_webhook", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "Change a webhook",
	description: "What is left out stays as it is. Everything is checked as if the webhook were made anew.",
	errors:      []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:        exampleWebhookChange(),
	example:     exampleWebhook(),
}

func (a *api) updateWebhook(ctx context.Context, c *call, in *WebhookPath) (*reply[webhook], error) {
	id, err := pathID(typeWebhook, in.WebhookID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[updateWebhookRequest](c)
	if err != nil {
		return nil, err
	}
	changed, err := a.service.UpdateWebhook(ctx, c.caller, id, request.change())
	if err != nil {
		return nil, err
	}
	return &reply[webhook]{webhookOf(changed)}, nil
}

var docDeleteWebhook = doc{
	id: "delete_webhook", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary:     "Delete a webhook",
	description: "What was not delivered yet is not sent any more; the log of its deliveries stays. Its target is free for another.",
	status:      http.StatusNoContent,
	errors:      []docgen.Code{docgen.CodeNotFound},
}

func (a *api) deleteWebhook(ctx context.Context, c *call, in *WebhookPath) (*empty, error) {
	id, err := pathID(typeWebhook, in.WebhookID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.DeleteWebhook(ctx, c.caller, id)
}
