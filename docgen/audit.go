package docgen

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"platen/store"
)

// AuditAction is the action in an entry of the audit log.
type AuditAction string

// The actions of the audit log. Reading and changing content are not included: the request log has those.
const (
	AuditTokenIssued        AuditAction = "token.issued"       // by a command, or to an application
	AuditTokenRevoked       AuditAction = "token.revoked"      // one, or all of a grant
	AuditTokenReused        AuditAction = "token.reused"       // a refresh token was used again, so its grant was revoked
	AuditActedAs            AuditAction = "user.acted_as"      // As-User; once an hour for each token and user
	AuditUserCreated        AuditAction = "user.created"       //
	AuditUserUpdated        AuditAction = "user.updated"       //
	AuditUserDeleted        AuditAction = "user.deleted"       //
	AuditUserInvited        AuditAction = "user.invited"       // gets a secret to set a password
	AuditPasswordSet        AuditAction = "password.set"       // by an invitation, or with the current password
	AuditSignedIn           AuditAction = "session.created"    //
	AuditSignedOut          AuditAction = "session.ended"      // by its user
	AuditUserErased         AuditAction = "user.erased"        // all personal data of a user
	AuditContentTransferred AuditAction = "user.transferred"   // everything that a user owned was transferred to another user
	AuditAppCreated         AuditAction = "app.created"        //
	AuditAppDeleted         AuditAction = "app.deleted"        //
	AuditAppSecret          AuditAction = "app.secret_renewed" //
	AuditAppKeyAdded        AuditAction = "app.key_added"      //
	AuditAppKeyRemoved      AuditAction = "app.key_removed"    //
	AuditShared             AuditAction = "collaboration.created"
	AuditShareChanged       AuditAction = "collaboration.updated"
	AuditShareEnded         AuditAction = "collaboration.deleted"
	AuditLinkCreated        AuditAction = "shared_link.created"
	AuditLinkUpdated        AuditAction = "shared_link.updated"
	AuditLinkDeleted        AuditAction = "shared_link.deleted"
	AuditOwnerChanged       AuditAction = "item.owner_changed"
	AuditPurged             AuditAction = "item.purged"               // deleted permanently; once for a folder with everything in it
	AuditTemplateUpdated    AuditAction = "template.updated"          // whether its samples are required
	AuditVersionPromoted    AuditAction = "template.version_promoted" // with a reason, whatever its samples say
	AuditArchiveCreated     AuditAction = "archive.created"
	AuditArchiveDeleted     AuditAction = "archive.deleted"
	AuditWebhookCreated     AuditAction = "webhook.created"
	AuditWebhookUpdated     AuditAction = "webhook.updated"
	AuditWebhookDeleted     AuditAction = "webhook.deleted"
	AuditKeyRenewed         AuditAction = "webhook_key.renewed"
	AuditDenied             AuditAction = "request.denied" // counted, see NoteDenied
)

// The outcomes of an entry of the audit log.
const (
	AuditSuccess = "success"
	AuditRefused = "denied"
)

// AuditEvent is an entry of the audit log. It contains no token, secret, or content.
type AuditEvent struct {
	ID          int64
	At          time.Time
	Action      AuditAction
	Outcome     string  // AuditSuccess or AuditRefused
	Actor       UserRef // owner of the token; zero for a guest. Name is empty, and so is Login once the row of the user is deleted
	User        UserRef // on whose behalf the actor acted: the actor, unless the request had As-User
	Application ApplicationRef
	TokenID     int64
	Origin      Origin
	TargetKind  string
	TargetID    string
	Details     map[string]string
}

// Origin is the origin of a request. It is only for the audit log, and does not affect permissions.
type Origin struct {
	Address   string // of the client; empty for a command on the machine of the server
	Agent     string // the header User-Agent, or the command and the account that ran it
	RequestID string
}

type originKey struct{}

// WithOrigin returns a context for the operations of one request.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// Limits of texts in the audit log, in bytes.
const (
	maxAuditText   = 200
	maxAuditDetail = 1000
)

// auditText returns a text as the audit log stores it: truncated, and on one line.
func auditText(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, kept(text))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most-len("…")], "") + "…"
	}
	return text
}

// auditArrow separates the old and the new value of a change.
const auditArrow = " → "

// auditTarget is the object of an action.
type auditTarget struct {
	kind string
	id   string
}

// auditOf returns a target with an id.
func auditOf(kind string, id int64) auditTarget {
	return auditTarget{kind, strconv.FormatInt(id, 10)}
}

// audit adds an entry to the audit log in the transaction of the action, so that neither is stored without the other. The details are
// alternating names and values. Empty values are left out.
func (s *Service) audit(ctx context.Context, tx *store.Tx, c *Caller, action AuditAction, of auditTarget, details ...string) error {
	return s.insertAudit(ctx, tx, c, action, AuditSuccess, of, details...)
}

func (s *Service) insertAudit(ctx context.Context, tx *store.Tx, c *Caller, action AuditAction, outcome string, of auditTarget,
	details ...string) error {
	said := map[string]string{}
	for i := 0; i+1 < len(details); i += 2 {
		if details[i+1] != "" {
			said[details[i]] = auditText(details[i+1], maxAuditDetail)
		}
	}
	text := ""
	if len(said) > 0 {
		b, err := json.Marshal(said)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if err := s.recordAudit(ctx, tx, c, action, of); err != nil {
		return err
	}
	from, _ := ctx.Value(originKey{}).(Origin)
	return tx.InsertAuditEvent(ctx, store.InsertAuditEventParams{
		ID: s.newID(), At: s.micros(), Action: string(action), Outcome: outcome,
		ActorID: c.ActorID, UserID: c.User.ID, ApplicationID: c.ApplicationID, TokenID: c.TokenID,
		Address: auditText(from.Address, maxAuditText), Agent: auditText(from.Agent, maxAuditText),
		RequestID:  auditText(from.RequestID, maxAuditText),
		TargetKind: of.kind, TargetID: auditText(of.id, maxAuditText), Details: text,
	})
}

// AuditFilter selects entries of the audit log. The zero value selects all.
type AuditFilter struct {
	UserID int64       // the actor, or the user on whose behalf the actor acted
	Action AuditAction // exactly this one
	From   time.Time   // at this time or later
	To     time.Time   // before this time
}

// requireAuditor returns the Error of a caller who may not read the audit log. Reading it requires the scope manage_enterprise_properties,
// which tokens of administrators have and, if the operator allows it, tokens of service accounts.
func (c *Caller) requireAuditor() error { return c.require(ScopeEnterprise) }

// AuditEvents returns one page of the audit log in ascending order of id, which is the order of time to the second.
func (s *Service) AuditEvents(ctx context.Context, c *Caller, f AuditFilter, r PageRequest) (Page[AuditEvent], error) {
	if err := c.requireAuditor(); err != nil {
		return Page[AuditEvent]{}, err
	}
	if !keepable(string(f.Action)) || len(f.Action) > maxAuditText {
		return Page[AuditEvent]{}, Invalid(invalidField("action", "unknown action; docs/operations.md lists all actions"))
	}
	params := store.AuditEventsAfterParams{
		Action: string(f.Action), UserID: f.UserID, Since: microsOf(f.From, 0), Until: microsOf(f.To, 1<<62),
	}
	var result Page[AuditEvent]
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		result, err = page(s, c, r, list[AuditEvent]{
			name: fmt.Sprintf("audit/%s/%d/%d/%d", params.Action, params.UserID, params.Since, params.Until),
			keys: 1,
			key:  func(e AuditEvent) []int64 { return []int64{e.ID} },
			after: func(from []int64, limit int32) ([]AuditEvent, error) {
				params.FromID, params.Count = from[0], limit
				return auditEventsOf(q.AuditEventsAfter(ctx, params))
			},
			before: func(from []int64, limit int32) ([]AuditEvent, error) {
				params.FromID, params.Count = from[0], limit
				rows, err := q.AuditEventsBefore(ctx, store.AuditEventsBeforeParams(params))
				same := make([]store.AuditEventsAfterRow, len(rows))
				for i, row := range rows {
					same[i] = store.AuditEventsAfterRow(row)
				}
				return auditEventsOf(same, err)
			},
		})
		return err
	})
	return result, err
}

func auditEventsOf(rows []store.AuditEventsAfterRow, err error) ([]AuditEvent, error) {
	if err != nil {
		return nil, err
	}
	events := make([]AuditEvent, len(rows))
	for i, row := range rows {
		e := row.AuditEvent
		events[i] = AuditEvent{
			ID: e.ID, At: timeOf(e.At), Action: AuditAction(e.Action), Outcome: e.Outcome, Actor: UserRef{ID: e.ActorID, Login: row.ActorLogin},
			User: UserRef{ID: e.UserID, Login: row.UserLogin}, Application: ApplicationRef{ID: e.ApplicationID, Name: row.ApplicationName},
			TokenID: e.TokenID, Origin: Origin{Address: e.Address, Agent: e.Agent, RequestID: e.RequestID},
			TargetKind: e.TargetKind, TargetID: e.TargetID, Details: map[string]string{},
		}
		if e.Details == "" {
			continue
		}
		if err := json.Unmarshal([]byte(e.Details), &events[i].Details); err != nil {
			return nil, fmt.Errorf("details of audit event %d: %w", e.ID, err)
		}
	}
	return events, nil
}
