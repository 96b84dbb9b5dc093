package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"platen/docgen"
)

type auditCmd struct {
	location
	Since  auditTime `placeholder:"TIME" help:"Print entries from this time on: an age such as 24h or 7d, or a time such as 2026-01-31T12:00:00Z (default: all)."`
	Until  auditTime `placeholder:"TIME" help:"Print entries before this time."`
	User   string    `placeholder:"USER" help:"Print actions by this user or on behalf of this user: a login or an id."`
	Action string    `placeholder:"ACTION" help:"Print entries with one action, such as user.updated."`
	JSON   bool      `name:"json" help:"Print JSON, one entry per line."`
}

// auditTime is a time in the past: an age, or a time in RFC 3339 format.
type auditTime struct{ time.Time }

// UnmarshalText parses a time.
func (t *auditTime) UnmarshalText(text []byte) (err error) {
	if t.Time, err = time.Parse(time.RFC3339, string(text)); err == nil {
		return nil
	}
	var age tokenTTL
	if age.UnmarshalText(text) != nil || age <= 0 {
		return fmt.Errorf("%q is not a time: write an age such as 24h or 7d, or a time such as 2026-01-31T12:00:00Z", text)
	}
	t.Time = time.Now().Add(-time.Duration(age))
	return nil
}

// listedEvent is an entry of the audit log as JSON, like in the API.
type listedEvent struct {
	ID          string            `json:"id"`
	At          time.Time         `json:"created_at"`
	Action      string            `json:"action"`
	Outcome     string            `json:"outcome"`
	Actor       listedAccount     `json:"actor"`
	User        listedAccount     `json:"user"`
	Application string            `json:"application"`
	TokenID     string            `json:"token_id"`
	Address     string            `json:"address"`
	Agent       string            `json:"agent"`
	RequestID   string            `json:"request_id"`
	TargetKind  string            `json:"target_kind"`
	TargetID    string            `json:"target_id"`
	Details     map[string]string `json:"details"`
}

type listedAccount struct {
	ID    string `json:"id"`
	Login string `json:"login"`
}

func listedEventOf(e docgen.AuditEvent) listedEvent {
	account := func(u docgen.UserRef) listedAccount { return listedAccount{strconv.FormatInt(u.ID, 10), u.Login} }
	return listedEvent{
		ID: strconv.FormatInt(e.ID, 10), At: e.At, Action: string(e.Action), Outcome: e.Outcome, Actor: account(e.Actor), User: account(e.User),
		Application: e.Application.Name, TokenID: strconv.FormatInt(e.TokenID, 10), Address: e.Origin.Address, Agent: e.Origin.Agent,
		RequestID: e.Origin.RequestID, TargetKind: e.TargetKind, TargetID: e.TargetID, Details: e.Details,
	}
}

// Run prints the entries, oldest first, with one page in memory at a time.
func (c *auditCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		filter := docgen.AuditFilter{Action: docgen.AuditAction(c.Action), From: c.Since.Time, To: c.Until.Time}
		if c.User != "" {
			user, err := service.FindUser(ctx, service.Operator(), c.User)
			if id, noID := strconv.ParseInt(c.User, 10, 64); noID == nil && docgen.IsCode(err, docgen.CodeNotFound) {
				user.ID, err = id, nil // for a deleted user, or a service account
			}
			if err != nil {
				return err
			}
			filter.UserID = user.ID
		}
		pages := func(r docgen.PageRequest) (docgen.Page[docgen.AuditEvent], error) {
			return service.AuditEvents(ctx, service.Operator(), filter, r)
		}
		if c.JSON {
			return eachEntry(pages, func(e docgen.AuditEvent) error { return printLine(s.out, listedEventOf(e)) })
		}
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "TIME\tACTION\tACTOR\tAS\tTARGET\tFROM\tDETAILS")
		err := eachEntry(pages, func(e docgen.AuditEvent) error {
			from := e.Origin.Address
			if from == "" {
				from = e.Origin.Agent
			}
			_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.At.Format(time.RFC3339), e.Action, dash(e.Actor.Login),
				dash(e.User.Login),
				e.TargetKind+" "+e.TargetID, dash(from), dash(detailsOf(e.Details)))
			return err
		})
		return errors.Join(err, table.Flush())
	})
}

// detailsOf formats details for a table, in a fixed order.
func detailsOf(details map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(details)) {
		words = append(words, name+"="+details[name])
	}
	return strings.Join(words, " ")
}
