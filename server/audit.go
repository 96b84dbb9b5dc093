package server

import (
	"context"
	"net"
	"net/http"

	"platen/docgen"
)

// originOf says for the audit log where a request comes from.
func originOf(r *http.Request, remote, requestID string) docgen.Origin {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	return docgen.Origin{Address: host, Agent: r.UserAgent(), RequestID: requestID}
}

// refuse answers an operation with an error, and counts for the audit log what was denied: to a caller, or to a guest who sent a token.
func (a *api) refuse(c *call, operation string, err error) error {
	switch known := c.caller != nil; {
	case known && (docgen.IsCode(err, docgen.CodeForbidden) || docgen.IsCode(err, docgen.CodeScope)):
		a.service.NoteDenied(c.r.Context(), c.caller, operation, string(codeOf(err)))
	case !known && docgen.IsCode(err, docgen.CodeUnauthorized) && c.r.Header.Get("Authorization") != "":
		a.service.NoteDenied(c.r.Context(), nil, operation, string(docgen.CodeUnauthorized))
	}
	return a.answer(c, err)
}

// codeOf is the code of an error that refuse counts.
func codeOf(err error) docgen.Code {
	if docgen.IsCode(err, docgen.CodeScope) {
		return docgen.CodeScope
	}
	return docgen.CodeForbidden
}

type auditEvent struct {
	Type        string            `json:"type" enum:"audit_event"`
	ID          ID                `json:"id"`
	CreatedAt   timestamp         `json:"created_at"`
	Action      string            `json:"action"`
	Outcome     string            `json:"outcome" enum:"success,denied"`
	Actor       auditUser         `json:"actor" doc:"Whose token it was; the id is 0 for a guest."`
	User        auditUser         `json:"user" doc:"As whom: the actor, unless the request had As-User."`
	Application auditApplication  `json:"application" doc:"Whose token it was; the id is 0 for a command on the machine of the server."`
	TokenID     ID                `json:"token_id"`
	Address     string            `json:"address" doc:"Of the client; empty for a command."`
	Agent       string            `json:"agent" doc:"The header User-Agent, or the command and the account that ran it; at most 200 bytes."`
	RequestID   string            `json:"request_id"`
	TargetKind  string            `json:"target_kind"`
	TargetID    string            `json:"target_id"`
	Details     map[string]string `json:"details"`
}

type auditUser struct {
	ID    ID     `json:"id"`
	Login string `json:"login" doc:"As it is now; empty for a guest."`
}

type auditApplication struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

func auditEventOf(e *docgen.AuditEvent) auditEvent {
	return auditEvent{
		Type: typeAuditEvent, ID: ID(e.ID), CreatedAt: timestamp{e.At}, Action: string(e.Action), Outcome: e.Outcome,
		Actor: auditUser{ID(e.Actor.ID), e.Actor.Login}, User: auditUser{ID(e.User.ID), e.User.Login},
		Application: auditApplication{ID(e.Application.ID), e.Application.Name}, TokenID: ID(e.TokenID),
		Address: e.Origin.Address, Agent: e.Origin.Agent, RequestID: e.Origin.RequestID, TargetKind: e.TargetKind, TargetID: e.TargetID, Details: e.Details,
	}
}

var docListAuditEvents = doc{
	id: "list_audit_events", tag: tagTokens, scope: docgen.ScopeEnterprise,
	summary: "List the audit log",
	description: "Who did what, as whom, and from where: tokens, users, applications, shares, owners, webhooks, and what was removed for good, in ascending order of id. It " +
		"holds no secrets and no content. What was denied is counted, and appears within a minute, one entry for each who was denied something.",
	errors:  []docgen.Code{docgen.CodeInvalidLimit},
	example: &markerPage[auditEvent]{Limit: docgen.DefaultPageLimit, Entries: []auditEvent{exampleAuditEvent()}},
}

// ListAuditEventsQuery asks for entries of the audit log.
type ListAuditEventsQuery struct {
	PageQuery
	UserID        string    `query:"user_id" doc:"Only what this user did, or what was done as this user." example:"33445566"`
	Action        string    `query:"action" doc:"Only this action." example:"user.updated"`
	CreatedAfter  timeParam `query:"created_after" doc:"Only what happened at this time or later." example:"2026-01-31T12:00:00Z"`
	CreatedBefore timeParam `query:"created_before" doc:"Only what happened before this time." example:"2026-02-01T12:00:00Z"`
}

func (q *ListAuditEventsQuery) filter() (f docgen.AuditFilter, err error) {
	f.Action = docgen.AuditAction(q.Action)
	if q.UserID != "" {
		id, ok := parseID(q.UserID)
		if !ok {
			return f, invalidParam("user_id", "user_id must be the id of a user: a string of decimal digits")
		}
		f.UserID = int64(id)
	}
	if f.From, err = q.CreatedAfter.parse("created_after"); err != nil {
		return f, err
	}
	f.To, err = q.CreatedBefore.parse("created_before")
	return f, err
}

func (a *api) listAuditEvents(ctx context.Context, c *call, in *ListAuditEventsQuery) (*reply[markerPage[auditEvent]], error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	request, err := in.PageQuery.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.AuditEvents(ctx, c.caller, filter, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, auditEventOf), nil
}
