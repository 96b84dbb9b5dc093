package server

import (
	"context"
	"net/http"
	"time"

	"platen/docgen"
)

// signingKey is a key that signs the notifications of an application.
type signingKey struct {
	Type      string    `json:"type" enum:"webhook_key"`
	Slot      string    `json:"slot" enum:"primary,secondary,retired" doc:"retired: it was replaced, and keeps signing until expires_at."`
	Secret    string    `json:"secret" doc:"The secret for signature checks, complete and in this form: whsec_ and 32 bytes in base64. Libraries for Standard Webhooks accept it as is." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	CreatedAt timestamp `json:"created_at"`
	ExpiresAt timestamp `json:"expires_at" doc:"When it stops signing; null unless retired."`
}

type keyList struct {
	Entries []signingKey `json:"entries" doc:"Primary, secondary, then retired keys, newest first."`
}

// keysReply must not be cached: every response says so, see secure.
type keysReply = reply[keyList]

func keysReplyOf(keys []docgen.SigningKey) *keysReply {
	return &keysReply{keyList{each(keys, func(k *docgen.SigningKey) signingKey {
		return signingKey{Type: typeKey, Slot: k.Slot, Secret: k.Secret, CreatedAt: timestamp{k.CreatedAt}, ExpiresAt: timestamp{k.ExpiresAt}}
	})}}
}

// whoKeeps says who may see and replace keys.
const whoKeeps = "Only administrators and the service account of the application can do this." + extension

var docListKeys = doc{
	id: "list_webhook_keys", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "List the signing keys for notifications",
	description: "The keys that currently sign for the application of the access token, or none before its first webhook. Every " +
		"notification has a signature of each key. " + whoKeeps,
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
	Overlap *int64 `json:"overlap_seconds,omitempty" minimum:"0" doc:"Seconds for which the replaced key keeps signing (default 86400, maximum 2592000). Use 0 if the key was compromised."`
}

// KeyPath identifies a slot of keys.
type KeyPath struct {
	Slot string `path:"slot" enum:"primary,secondary" doc:"Which key to replace." example:"primary"`
}

var docRenewKey = doc{
	id: "renew_webhook_key", tag: tagWebhooks, scope: docgen.ScopeWebhooks,
	summary: "Replace a signing key for notifications",
	description: "Replaces the primary or secondary key of the application of the access token, and returns all keys that sign now. " +
		"Receivers that know both current keys keep working: give them the new key, and replace the other one when all of them have " +
		"it. " + whoKeeps,
	status:  http.StatusCreated,
	errors:  []docgen.Code{codeMediaType, docgen.CodeBodyTooLarge},
	body:    renewKeyRequest{Overlap: new(int64(docgen.DefaultKeyOverlap / time.Second))},
	example: exampleKeys(),
	also:    bodyMayBeEmpty,
	secret:  true,
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

// seconds returns n seconds, or the longest duration if n is out of range.
func seconds(n int64) time.Duration {
	const many = int64(1e9)
	return time.Duration(max(-many, min(n, many))) * time.Second
}
