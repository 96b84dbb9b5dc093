package server

import (
	"context"
	"net"
	"net/http"

	"platen/docgen"
)

// originOf returns the origin of a request for the audit log.
func originOf(r *http.Request, remote, requestID string) docgen.Origin {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	return docgen.Origin{Address: host, Agent: r.UserAgent(), RequestID: requestID}
}

// refuse answers an operation with an error. It counts denials for the audit log, for callers and for guests who sent a token.
func (a *api) refuse(c *call, operation string, err error) error {
	switch known := c.caller != nil; {
	case known && (docgen.IsCode(err, docgen.CodeForbidden) || docgen.IsCode(err, docgen.CodeScope)):
		a.service.NoteDenied(c.r.Context(), c.caller, operation, string(codeOf(err)))
	case !known && docgen.IsCode(err, docgen.CodeUnauthorized) && c.r.Header.Get("Authorization") != "":
		a.service.NoteDenied(c.r.Context(), nil, operation, string(docgen.CodeUnauthorized))
	}
	return a.answer(c, err)
}

// codeOf returns the code of an error that refuse counts.
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
	Actor       auditUser         `json:"actor" doc:"The user of the token; the id is 0 for a guest."`
	User        auditUser         `json:"user" doc:"The user that the request acted for: the actor, unless it had As-User."`
	Application auditApplication  `json:"application" doc:"The application of the token; the id is 0 for a command on the server's machine."`
	TokenID     ID                `json:"token_id"`
	Address     string            `json:"address" doc:"The IP address of the client; empty for a command."`
	Agent       string            `json:"agent" doc:"The header User-Agent, or the command and the account that ran it; at most 200 bytes."`
	RequestID   string            `json:"request_id"`
	TargetKind  string            `json:"target_kind"`
	TargetID    string            `json:"target_id"`
	Details     map[string]string `json:"details"`
}

type auditUser struct {
	ID    ID     `json:"id"`
	Login string `json:"login" doc:"The current login; empty for a guest."`
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
		Address: e.Origin.Address, Agent: e.Origin.Agent, RequestID: e.Origin.RequestID, TargetKind: e.TargetKind, TargetID: e.TargetID,
		Details: e.Details,
	}
}

var docListAuditEvents = doc{
	id: "list_audit_events", tag: tagTokens, scope: docgen.ScopeEnterprise,
	summary: "List the audit log",
	description: "Who did what, for which user, and from where: tokens, users, applications, collaborations, owners, webhooks, and " +
		"permanent deletions, in ascending order of id. It contains neither secrets nor content. Denied requests are counted and " +
		"appear within a minute, as one entry per user and kind.",
	errors:  []docgen.Code{docgen.CodeInvalidLimit},
	example: &markerPage[auditEvent]{Limit: docgen.DefaultPageLimit, Entries: []auditEvent{exampleAuditEvent()}},
}

// ListAuditEventsQuery holds the parameters of a list of audit events.
type ListAuditEventsQuery struct {
	PageQuery
	UserID        string    `query:"user_id" doc:"Only actions by this user, or on behalf of this user." example:"33445566"`
	Action        string    `query:"action" doc:"Only this action." example:"user.updated"`
	CreatedAfter  timeParam `query:"created_after" doc:"Only events at this time or later." example:"2026-01-31T12:00:00Z"`
	CreatedBefore timeParam `query:"created_before" doc:"Only events before this time." example:"2026-02-01T12:00:00Z"`
}

func (q *ListAuditEventsQuery) filter() (f docgen.AuditFilter, err error) {
	f.Action = docgen.AuditAction(q.Action)
	if q.UserID != "" {
		id, ok := parseID(q.UserID)
		if !ok {
			return f, invalidParam("user_id", "user_id must be the id of a user, a string of decimal digits")
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
