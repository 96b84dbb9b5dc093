package server

import (
	"context"
	"net/http"
	"time"

	"platen/docgen"
)

// signingKey is a key that the notifications of an application are signed with.
type signingKey struct {
	Type      string    `json:"type" enum:"webhook_key"`
	Slot      string    `json:"slot" enum:"primary,secondary,retired" doc:"retired: it was replaced, and goes on signing until expires_at."`
	Secret    string    `json:"secret" doc:"What receivers check signatures with, all of it, in this form: whsec_ and 32 bytes in base64. Libraries for Standard Webhooks take it as it is." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	CreatedAt timestamp `json:"created_at"`
	ExpiresAt timestamp `json:"expires_at" doc:"When it signs no more; null of a key that is not retired."`
}

type keyList struct {
	Entries []signingKey `json:"entries" doc:"Primary, secondary, then those that are retired, the newest first."`
}

// keysReply is never kept by who passes it on: every answer says so, see secure.
type keysReply = reply[keyList]

func keysReplyOf(keys []docgen.SigningKey) *keysReply {
	return &keysReply{keyList{each(keys, func(k *docgen.SigningKey) signingKey {
		return signingKey{Type: typeKey, Slot: k.Slot, Secret: k.Secret, CreatedAt: timestamp{k.CreatedAt}, ExpiresAt: timestamp{k.ExpiresAt}}
	})}}
}

// whoKeeps says who may see and replace keys.
const whoKeeps = "Only administrators and the service account of the application may do so." + extension

var docListKeys = doc{
	id: "list_webhook_keys", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "List the keys that notifications are signed with",
	description: "Those that sign at present for the application of the access token; none before its first webhook. Every notification is signed with " +
		"all of them. " + whoKeeps,
	example: exampleKeys(),
}

func (a *api) listKeys(ctx context.Context, c *call, _ *struct{}) (*keysReply, error) {
	keys, err := a.service.SigningKeys(ctx, c.caller)
	if err != nil {
		return nil, err
	}
	return keysReplyOf(keys), nil
}

type renewKeyRequest struct {
	Overlap *int64 `json:"overlap_seconds,omitempty" minimum:"0" doc:"How long the key that was there goes on signing; a day when left out, 30 days at most. 0 ends it at once: for a key that somebody else knows."`
}

// KeyPath names a slot of keys.
type KeyPath struct {
	Slot string `path:"slot" enum:"primary,secondary" doc:"Which key to replace." example:"primary"`
}

var docRenewKey = doc{
	id: "renew_webhook_key", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Replace a key that notifications are signed with",
	description: "A new key takes the place of the primary or secondary one of the application of the access token, and all that sign then are the answer. " +
		"Receivers that know both keys of before go on without noticing: tell them the new one, and replace the other when all of them know it. " + whoKeeps,
	status:  http.StatusCreated,
	errors:  []docgen.Code{codeMediaType, docgen.CodeBodyTooLarge},
	body:    renewKeyRequest{Overlap: new(int64(docgen.DefaultKeyOverlap / time.Second))},
	example: exampleKeys(),
	also:    bodyMayBeEmpty,
}

func (a *api) renewKey(ctx context.Context, c *call, in *KeyPath) (*keysReply, error) {
	request, err := readOptionalBody[renewKeyRequest](c)
	if err != nil {
		return nil, err
	}
	overlap := docgen.DefaultKeyOverlap
	if request.Overlap != nil {
		overlap = seconds(*request.Overlap)
	}
	keys, err := a.service.RenewSigningKey(ctx, c.caller, in.Slot, overlap)
	if err != nil {
		return nil, err
	}
	return keysReplyOf(keys), nil
}

// seconds is a number of seconds, or as many as are more than anybody may mean.
func seconds(n int64) time.Duration {
	const many = int64(1e9)
	return time.Duration(max(-many, min(n, many))) * time.Second
}
