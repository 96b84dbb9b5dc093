package docgen_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// audited returns the entries of the audit log that a filter selects, oldest first.
func (w *world) audited(f docgen.AuditFilter) []docgen.AuditEvent {
	w.t.Helper()
	page, err := w.AuditEvents(w.t.Context(), w.Operator(), f, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	return page.Entries
}

// TestAudit performs every audited action, and finds one entry for each, with the actor and the origin.
func TestAudit(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		origin := docgen.Origin{Address: "203.0.113.7", Agent: "test/1.0", RequestID: "request"}
		ctx := docgen.WithOrigin(t.Context(), origin)
		root, keeper := w.member("root", docgen.RoleAdmin), w.keeper("keeper")
		operator := w.Operator()
		folder := w.folder(w.alice, 0, "shared")
		var share *docgen.Collaboration
		var token, user, archive, hook int64
		var app docgen.Application
		steps := []struct {
			action docgen.AuditAction
			by     *docgen.Caller
			do     func() error
			says   string // in the target and the details
		}{
			{docgen.AuditTokenIssued, operator, func() error {
				secret, err := w.CreateToken(ctx, docgen.NewToken{Login: "alice@example.com", Name: "audited"})
				must(t, err)
				c, err := w.Authenticate(ctx, secret)
				token = c.TokenID
				return err
			}, "audited"},
			{docgen.AuditTokenRevoked, w.alice, func() error { return w.RevokeToken(ctx, w.alice, token) }, "token"},
			{docgen.AuditUserCreated, root, func() error {
				made, err := w.AddUser(ctx, root, docgen.NewUser{Login: "new@example.com", Name: "New"})
				user = made.ID
				return err
			}, "new@example.com"},
			{docgen.AuditUserUpdated, root, func() error {
				_, err := w.UpdateUser(ctx, root, user, docgen.UserChange{Role: new(docgen.RoleCoadmin)})
				return err
			}, "user → coadmin"},
			{docgen.AuditContentTransferred, keeper, func() error {
				_, err := w.TransferContent(ctx, keeper, user, w.bob.User.ID)
				return err
			}, "bob@example.com"},
			{docgen.AuditUserDeleted, root, func() error { return w.DeleteUser(ctx, root, user, true) }, "new@example.com"},
			{docgen.AuditAppCreated, operator, func() (err error) {
				app, _, err = w.CreateApplication(ctx, docgen.NewApplication{Name: "Audited"})
				return err
			}, "Audited"},
			{docgen.AuditAppSecret, operator, func() error { _, err := w.RenewSecret(ctx, app.Name); return err }, "Audited"},
			{docgen.AuditAppDeleted, operator, func() error { return w.DeleteApplication(ctx, app.Name) }, "Audited"},
			{docgen.AuditShared, w.alice, func() (err error) {
				share, err = w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{
					ItemKind: docgen.Folder, ItemID: folder, UserID: w.bob.User.ID, Role: docgen.RoleViewer,
				})
				return err
			}, "viewer"},
			{docgen.AuditShareChanged, w.alice, func() error {
				_, err := w.UpdateCollaboration(ctx, w.alice, share.ID, docgen.CollaborationChange{Role: docgen.RoleEditor})
				return err
			}, "editor"},
			{docgen.AuditShareEnded, w.alice, func() error { return w.DeleteCollaboration(ctx, w.alice, share.ID) }, "collaboration"},
			{docgen.AuditLinkCreated, w.alice, func() error {
				link := &docgen.LinkChange{Access: docgen.LinkOpen, Password: new("SECRET password")}
				_, err := w.UpdateFolder(ctx, w.alice, folder, docgen.ItemChange{Link: link})
				return err
			}, "password:true"},
			{docgen.AuditLinkUpdated, w.alice, func() error {
				_, err := w.UpdateFolder(ctx, w.alice, folder, docgen.ItemChange{Link: &docgen.LinkChange{Access: docgen.LinkCompany}})
				return err
			}, "company"},
			{docgen.AuditLinkDeleted, w.alice, func() error {
				_, err := w.UpdateFolder(ctx, w.alice, folder, docgen.ItemChange{Link: &docgen.LinkChange{Remove: true}})
				return err
			}, "folder"},
			{docgen.AuditWebhookCreated, w.alice, func() error {
				made, err := w.CreateWebhook(ctx, w.alice, docgen.NewWebhook{
					TargetKind: docgen.Folder, TargetID: folder, Address: "https://hooks.example.com/SECRET",
					Triggers: []docgen.Trigger{docgen.FileUploaded},
				})
				if err == nil {
					hook = made.ID
				}
				return err
			}, "hooks.example.com"},
			{docgen.AuditWebhookUpdated, w.alice, func() error {
				_, err := w.UpdateWebhook(ctx, w.alice, hook, docgen.WebhookChange{Status: new(docgen.WebhookDisabled)})
				return err
			}, "disabled"},
			{docgen.AuditWebhookDeleted, w.alice, func() error { return w.DeleteWebhook(ctx, w.alice, hook) }, "webhook"},
			{docgen.AuditKeyRenewed, root, func() error {
				_, err := w.RenewSigningKey(ctx, root, docgen.KeyPrimary, time.Hour)
				return err
			}, "primary"},
			{docgen.AuditTemplateUpdated, w.alice, func() error {
				file := w.template(w.alice, 0, "t.docx").ID
				w.passSample(file, "x")
				_, err := w.UpdateTemplate(ctx, w.alice, file, docgen.TemplateChange{SamplesRequired: new(true)})
				return err
			}, "false → true"},
			{docgen.AuditArchiveCreated, keeper, func() error {
				made, err := w.CreateArchive(ctx, keeper, docgen.NewArchive{Name: "Archive"})
				archive = made.ID
				return err
			}, "archive"},
			{docgen.AuditArchiveDeleted, keeper, func() error { return w.DeleteArchive(ctx, keeper, archive) }, "archive"},
			{docgen.AuditPurged, w.alice, func() error {
				must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
				return w.Purge(ctx, w.alice, docgen.Folder, folder)
			}, "folder"},
			{docgen.AuditActedAs, root, func() error {
				for range 3 {
					if _, err := w.As(ctx, root, w.alice.User.ID); err != nil {
						return err
					}
				}
				return nil
			}, "user"},
		}
		for _, step := range steps {
			t.Run(string(step.action), func(t *testing.T) {
				before := len(w.audited(docgen.AuditFilter{Action: step.action}))
				must(t, step.do())
				found := w.audited(docgen.AuditFilter{Action: step.action})
				if len(found) != before+1 {
					t.Fatalf("%d entries are new, want 1", len(found)-before)
				}
				got := found[slices.IndexFunc(found, func(e docgen.AuditEvent) bool { return e.Origin == origin })]
				if got.Actor.ID != step.by.ActorID || got.Outcome != docgen.AuditSuccess || !got.At.Equal(noon) {
					t.Errorf("the entry is %+v", got)
				}
				said := fmt.Sprint(got.TargetKind, got.Details)
				if !strings.Contains(said, step.says) || strings.Contains(said, "SECRET") {
					t.Errorf("the entry says %s, want %q, and no secret", said, step.says)
				}
			})
		}
		t.Run("not of failed operations", func(t *testing.T) {
			before := len(w.audited(docgen.AuditFilter{}))
			if _, err := w.UpdateUser(ctx, root, root.User.ID, docgen.UserChange{Role: new(docgen.RoleUser)}); err == nil {
				t.Error("the administrator changed their own role")
			}
			if got := len(w.audited(docgen.AuditFilter{})); got != before {
				t.Errorf("%d entries are new", got-before)
			}
		})
		t.Run("by user and time", func(t *testing.T) {
			for _, e := range w.audited(docgen.AuditFilter{UserID: w.alice.User.ID}) {
				if e.Actor.ID != w.alice.User.ID && e.User.ID != w.alice.User.ID {
					t.Errorf("not alice's: %+v", e)
				}
			}
			if got := w.audited(docgen.AuditFilter{From: noon.Add(time.Second)}); len(got) != 0 {
				t.Errorf("after noon: %v", got)
			}
			if all, got := w.audited(docgen.AuditFilter{}),
				w.audited(docgen.AuditFilter{From: noon, To: noon.Add(time.Microsecond)}); len(all) != len(got) || len(got) == 0 {
				t.Errorf("at noon: %d of %d", len(got), len(all))
			}
		})
		t.Run("only for administrators with the scope", func(t *testing.T) {
			for _, c := range []*docgen.Caller{w.alice, keeper} {
				if _, err := w.AuditEvents(ctx, c, docgen.AuditFilter{}, docgen.PageRequest{}); !docgen.IsCode(err, docgen.CodeScope) {
					t.Errorf("%v reads the log: %v", c, err)
				}
			}
			if _, err := w.AuditEvents(ctx, root, docgen.AuditFilter{}, docgen.PageRequest{}); err != nil {
				t.Error(err)
			}
		})
	})
}

// TestAuditActing checks that As-User is recorded once an hour for each token and user.
func TestAuditActing(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		root := w.member("root", docgen.RoleAdmin)
		for _, step := range []struct {
			after time.Duration
			as    *docgen.Caller
			want  int
		}{{0, w.alice, 1}, {0, w.bob, 2}, {59 * time.Minute, w.alice, 2}, {time.Minute, w.alice, 3}} {
			w.clock.advance(step.after)
			_, err := w.As(t.Context(), root, step.as.User.ID)
			must(t, err)
			if got := w.audited(docgen.AuditFilter{Action: docgen.AuditActedAs}); len(got) != step.want {
				t.Errorf("%d entries, want %d", len(got), step.want)
			}
		}
	})
}

// TestAuditDenials sends denied requests of guests from many addresses: the log grows by a bounded number of entries,
// and counts all of them.
func TestAuditDenials(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const guests, tries = 250, 40
		for i := range guests * tries {
			from := docgen.Origin{Address: fmt.Sprint("198.51.100.", i%guests)}
			w.NoteDenied(docgen.WithOrigin(context.WithoutCancel(t.Context()), from), nil, "get_me", "unauthorized")
		}
		w.NoteDenied(t.Context(), w.alice, "list_users", "insufficient_scope")
		must(t, w.RecordDenials(t.Context()))
		denied, counted := w.audited(docgen.AuditFilter{Action: docgen.AuditDenied}), 0
		for _, e := range denied {
			var n int
			_, err := fmt.Sscan(e.Details["count"], &n)
			must(t, err)
			if counted += n; e.Outcome != docgen.AuditRefused {
				t.Errorf("outcome %q", e.Outcome)
			}
		}
		if len(denied) > 101 || counted != guests*tries+1 {
			t.Errorf("%d entries count %d denials, want at most 101, and %d", len(denied), counted, guests*tries+1)
		}
		must(t, w.RecordDenials(t.Context()))
		if again := w.audited(docgen.AuditFilter{Action: docgen.AuditDenied}); len(again) != len(denied) {
			t.Errorf("%d entries are new without a denial", len(again)-len(denied))
		}
	})
}

// TestAuditDenialsOfOthers denies requests of many users and guests. The denials of one more user still get separate
// entries.
func TestAuditDenialsOfOthers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const users, ways = 30, 60
		counted := map[int64]int{}
		deny := func(c *docgen.Caller, address, operation string) {
			w.NoteDenied(docgen.WithOrigin(context.WithoutCancel(t.Context()), docgen.Origin{Address: address}), c, operation, "insufficient_scope")
			if c == nil {
				c = &docgen.Caller{}
			}
			counted[c.ActorID]++
		}
		for i := range ways {
			deny(w.bob, "", fmt.Sprint("operation_", i))
			deny(nil, fmt.Sprint("198.51.100.", i), "get_me")
			for user := range users {
				deny(&docgen.Caller{ActorID: int64(user + 1), User: docgen.User{ID: int64(user + 1)}}, "", fmt.Sprint("operation_", i))
			}
		}
		deny(w.alice, "192.0.2.1", "list_users")
		must(t, w.RecordDenials(t.Context()))
		denied, mine := w.audited(docgen.AuditFilter{Action: docgen.AuditDenied}), 0
		for _, e := range denied {
			var n int
			_, err := fmt.Sscan(e.Details["count"], &n)
			must(t, err)
			if counted[e.Actor.ID] -= n; e.Actor.ID != w.alice.User.ID {
				continue
			}
			if mine++; e.TargetID != "list_users" || e.Origin.Address != "192.0.2.1" || e.Details["reason"] != "insufficient_scope" {
				t.Errorf("what alice was denied: %+v", e)
			}
		}
		if len(denied) > 101 || mine != 1 {
			t.Errorf("%d entries, want at most 101, of which alice has %d, want 1", len(denied), mine)
		}
		for actor, missing := range counted {
			if missing != 0 {
				t.Errorf("%d denials of %d are missing", missing, actor)
			}
		}
	})
}

// TestAuditBounds sends longer texts than the log stores.
func TestAuditBounds(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := docgen.WithOrigin(t.Context(), docgen.Origin{Agent: strings.Repeat("ä", 10_000), Address: "\x1b[2J\n", RequestID: "\xff\x00"})
		_, err := w.CreateUser(ctx, docgen.NewUser{Login: "x@example.com", Name: strings.Repeat("n", 250)})
		must(t, err)
		log := w.audited(docgen.AuditFilter{Action: docgen.AuditUserCreated})
		got := log[slices.IndexFunc(log, func(e docgen.AuditEvent) bool { return e.Origin.Agent != "" })].Origin
		if len(got.Agent) > 200 || !strings.HasPrefix(got.Agent, "ää") || got.Address != " [2J " || got.RequestID != "��" &&
			got.RequestID != "\uFFFD\uFFFD" {
			t.Errorf("kept: %q", got)
		}
	})
}
