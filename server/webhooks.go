package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

type webhook struct {
	ID           ID            `json:"id"`
	Type         string        `json:"type" enum:"webhook"`
	Target       itemRef       `json:"target" doc:"The file or folder to watch. A folder includes everything below it."`
	CreatedBy    userMini      `json:"created_by" doc:"The owner. Notifications contain only what this user may see."`
	CreatedAt    timestamp     `json:"created_at"`
	Address      string        `json:"address" format:"uri" doc:"The URL that receives notifications."`
	Triggers     []triggerName `json:"triggers" doc:"The triggers that the webhook subscribes to."`
	Status       string        `json:"status" enum:"active,disabled" doc:"A disabled webhook receives no notifications, and those that it misses are not kept. A Platen extension."`
	StatusReason *string       `json:"status_reason" doc:"Why it is disabled; null if it is active. A Platen extension."`
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
		CreatedAt: timestamp{w.CreatedAt}, Address: w.Address, Triggers: each(w.Triggers, triggerNameOf), Status: w.Status,
		StatusReason: orNull(w.Reason),
	}
}

func webhookMiniOf(w *docgen.Webhook) webhookMini {
	return webhookMini{ID: ID(w.ID), Type: typeWebhook, Target: targetOf(w.TargetKind, w.TargetID)}
}

func targetOf(kind docgen.Kind, id int64) itemRef { return itemRef{ID: ID(id), Type: kind.String()} }

func triggerNameOf(t *docgen.Trigger) triggerName { return triggerName(*t) }

// target converts an item reference for docgen.
func (r itemRef) target() docgen.WebhookTarget {
	if r.Type == typeFolder {
		return docgen.WebhookTarget{Kind: docgen.Folder, ID: int64(r.ID)}
	}
	return docgen.WebhookTarget{Kind: docgen.File, ID: int64(r.ID)}
}

// triggersOf converts triggers for docgen.
func triggersOf(names []triggerName) []docgen.Trigger {
	return each(names, func(name *triggerName) docgen.Trigger { return docgen.Trigger(*name) })
}

type createWebhookRequest struct {
	Target   itemRef       `json:"target" doc:"The file or folder to watch. A webhook on a folder covers everything below it, including items added later. The root folder, 0, cannot have a webhook."`
	Address  string        `json:"address" format:"uri" doc:"The URL that receives notifications: https, port 443, and a public host, unless the operator allows others. Up to 2048 bytes."`
	Triggers []triggerName `json:"triggers" doc:"1 to 100 triggers that are valid for the target."`
}

type updateWebhookRequest struct {
	Target   *itemRef       `json:"target,omitempty" doc:"A new target."`
	Address  *string        `json:"address,omitempty" format:"uri" doc:"A new URL. Pending notifications are sent there too, and a disabled webhook becomes active."`
	Triggers *[]triggerName `json:"triggers,omitempty" doc:"The triggers that replace the current ones."`
	Status   *string        `json:"status,omitempty" enum:"active,disabled" doc:"disabled: send no more notifications. active: resume. A Platen extension."`
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

// WebhookPath identifies a webhook.
type WebhookPath struct {
	WebhookID string `path:"webhook_id" doc:"The id of the webhook." example:"13579246"`
}

var docCreateWebhook = doc{
	id: "create_webhook", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Create a webhook on a file or folder",
	description: "The server notifies the address of events on the target and everything below it, for the given triggers. The caller " +
		"must be able to see the target. The webhook belongs to the caller and the application of the access token, which can have " +
		"one webhook per target and 1000 in total. Notifications contain only what the owner may see, and stop when the owner is " +
		"deleted, so use a service account or a long-term user. For the requests, their headers, and the expected responses, see " +
		"`webhooks` in `/openapi.json`.",
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
	description: "The webhooks that the caller created with the application of the access token, in ascending order of id and in short form.",
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
	description: "A webhook that the caller created with the application of the access token.",
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
	description: "Fields that you omit do not change. The whole webhook is validated like a new one.",
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
	description: "Pending notifications are not sent. The log of its deliveries remains. The target can get a new webhook.",
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
