package docgen_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

func TestTokens(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		token, err := w.CreateToken(ctx, docgen.NewToken{Login: "ALICE@example.com", TTL: time.Hour})
		must(t, err)
		t.Run("are stored only as hashes", func(t *testing.T) {
			if c, err := w.Authenticate(ctx, token); err != nil || c.User.Login != "alice@example.com" {
				t.Errorf("Authenticate = %v, %v, want alice", c, err)
			}
			for _, row := range query[string](w, "SELECT hash || scopes FROM tokens") {
				if strings.Contains(row, token) {
					t.Errorf("the token %q is kept in %q", token, row)
				}
			}
			hashes := query[string](w, "SELECT hash FROM tokens WHERE expires_at <> 0")
			_, err := w.Authenticate(ctx, hashes[0])
			wantCode(t, err, docgen.CodeUnauthorized)
		})
		t.Run("that were never issued are refused", func(t *testing.T) {
			for _, made := range []string{"", "x", token[1:], token + "A", strings.ToUpper(token), "\x00", strings.Repeat("x", 1<<16)} {
				_, err := w.Authenticate(ctx, made)
				wantCode(t, err, docgen.CodeUnauthorized)
			}
		})
		t.Run("end with their time", func(t *testing.T) {
			w.clock.advance(time.Hour - time.Microsecond)
			_, err := w.Authenticate(ctx, token)
			wantCode(t, err, "")
			w.clock.advance(time.Microsecond)
			_, err = w.Authenticate(ctx, token)
			wantCode(t, err, docgen.CodeUnauthorized)
		})
		t.Run("of an inactive user are refused, and good again with the user", func(t *testing.T) {
			token, err := w.CreateToken(ctx, docgen.NewToken{Login: "bob@example.com"})
			must(t, err)
			must(t, w.exec("UPDATE users SET status = 'inactive' WHERE login = 'bob@example.com'"))
			_, err = w.Authenticate(ctx, token)
			wantCode(t, err, docgen.CodeUnauthorized)
			must(t, w.exec("UPDATE users SET status = 'cannot_delete_edit' WHERE login = 'bob@example.com'"))
			_, err = w.Authenticate(ctx, token)
			wantCode(t, err, "")
		})
		t.Run("cannot end before they begin", func(t *testing.T) {
			_, err := w.CreateToken(ctx, docgen.NewToken{Login: "alice@example.com", TTL: -time.Second})
			wantCode(t, err, docgen.CodeBadRequest)
		})
		t.Run("are for users that exist", func(t *testing.T) {
			_, err := w.CreateToken(ctx, docgen.NewToken{Login: "nobody@example.com"})
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

func TestScopesOfTokens(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, err := w.CreateUser(ctx, docgen.NewUser{Login: "admin@example.com", Name: "Admin", Role: docgen.RoleAdmin})
		must(t, err)
		ordinary := []docgen.Scope{docgen.ScopeRead, docgen.ScopeWrite, docgen.ScopeDocGen, docgen.ScopeWebhooks}
		usual := append(slices.Clone(ordinary), docgen.ScopeManagedUsers, docgen.ScopeAppUsers, docgen.ScopeEnterprise)
		all := append(slices.Clone(usual), docgen.ScopeGlobalContent)
		for login, want := range map[string][]docgen.Scope{"admin": usual, "alice": ordinary} {
			if got := w.caller(login).Scopes; !slices.Equal(got, want) {
				t.Errorf("%s has the scopes %q where none was asked for, want %q", login, got, want)
			}
		}
		for _, scope := range all {
			token, err := w.CreateToken(ctx, docgen.NewToken{Login: "alice@example.com", Scopes: []docgen.Scope{scope, "no_such_scope"}})
			wanted := 1
			if !slices.Contains(ordinary, scope) {
				wanted = 2
			}
			if got := len(asError(t, err).Problems); got != wanted || token != "" {
				t.Errorf("scope %s and an unknown one: %d problems, token %q, want %d and none", scope, got, token, wanted)
			}
			if got := w.caller("admin", scope).Scopes; !slices.Equal(got, []docgen.Scope{scope}) {
				t.Errorf("a token with the scope %s has %q", scope, got)
			}
		}
	})
}

// TestScopes calls every operation with each scope alone.
func TestScopes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		first := docgen.PageRequest{}
		operations := map[string]struct {
			need docgen.Scope
			call func(c *docgen.Caller) error
		}{
			"File":    {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.File(ctx, c, 1); return err }},
			"Content": {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.Content(ctx, c, 1, 0); return err }},
			"Folder":  {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.Folder(ctx, c, 1); return err }},
			"Items":   {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.Items(ctx, c, 1, first); return err }},
			"ItemsByOffset": {docgen.ScopeRead, func(c *docgen.Caller) error {
				_, err := w.ItemsByOffset(ctx, c, 1, docgen.OffsetRequest{}, docgen.ItemOrder{})
				return err
			}},
			"Collaboration": {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.Collaboration(ctx, c, 1); return err }},
			"Collaborations": {docgen.ScopeRead, func(c *docgen.Caller) error {
				_, err := w.Collaborations(ctx, c, docgen.Folder, 1,
					first)
				return err
			}},
			"Invitations": {docgen.ScopeRead, func(c *docgen.Caller) error {
				_, err := w.Invitations(ctx, c, docgen.OffsetRequest{Limit: 1})
				return err
			}},
			"CreateFile": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				_, err := w.CreateFile(ctx, c, docgen.NewFile{Name: "x", ParentID: 1}, unread{t})
				return err
			}},
			"CreateVersion": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				_, err := w.CreateVersion(ctx, c, docgen.NewVersion{FileID: 1}, unread{t})
				return err
			}},
			"UpdateFile": {docgen.ScopeWrite, func(c *docgen.Caller) error { _, err := w.UpdateFile(ctx, c, 1, docgen.ItemChange{}); return err }},
			"TrashFile":  {docgen.ScopeWrite, func(c *docgen.Caller) error { return w.TrashFile(ctx, c, 1, "") }},
			"CreateFolder": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				_, err := w.CreateFolder(ctx, c, docgen.NewFolder{Name: "x", ParentID: 1})
				return err
			}},
			"UpdateFolder": {docgen.ScopeWrite,
				func(c *docgen.Caller) error { _, err := w.UpdateFolder(ctx, c, 1, docgen.ItemChange{}); return err }},
			"TrashFolder": {docgen.ScopeWrite, func(c *docgen.Caller) error { return w.TrashFolder(ctx, c, 1, true, "") }},
			"CreateCollaboration": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				_, err := w.CreateCollaboration(ctx, c, docgen.NewCollaboration{ItemID: 1, Role: docgen.RoleViewer})
				return err
			}},
			"UpdateCollaboration": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				_, err := w.UpdateCollaboration(ctx, c, 1, docgen.CollaborationChange{Role: docgen.RoleViewer})
				return err
			}},
			"DeleteCollaboration": {docgen.ScopeWrite, func(c *docgen.Caller) error { return w.DeleteCollaboration(ctx, c, 1) }},
			"CheckFile": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				return w.CheckFile(ctx, c, docgen.NewFile{Name: "x", ParentID: 1}, 1)
			}},
			"CheckVersion": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				return w.CheckVersion(ctx, c, docgen.NewVersion{FileID: 1}, 1)
			}},
			"CopyFile": {docgen.ScopeWrite,
				func(c *docgen.Caller) error { _, err := w.CopyFile(ctx, c, docgen.NewCopy{ItemID: 1}); return err }},
			"CopyFolder": {docgen.ScopeWrite,
				func(c *docgen.Caller) error { _, err := w.CopyFolder(ctx, c, docgen.NewCopy{ItemID: 1}); return err }},
			"Versions": {docgen.ScopeRead,
				func(c *docgen.Caller) error { _, err := w.Versions(ctx, c, 1, docgen.OffsetRequest{}); return err }},
			"Version":        {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.Version(ctx, c, 1, 1); return err }},
			"TrashVersion":   {docgen.ScopeWrite, func(c *docgen.Caller) error { return w.TrashVersion(ctx, c, 1, 1, "") }},
			"RestoreVersion": {docgen.ScopeWrite, func(c *docgen.Caller) error { _, err := w.RestoreVersion(ctx, c, 1, 1); return err }},
			"PromoteVersion": {docgen.ScopeWrite, func(c *docgen.Caller) error { _, err := w.PromoteVersion(ctx, c, 1, 1); return err }},
			"Trashed":        {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.Trashed(ctx, c, docgen.File, 1); return err }},
			"Restore": {docgen.ScopeWrite, func(c *docgen.Caller) error {
				_, err := w.Restore(ctx, c, docgen.File, 1, docgen.Restoration{})
				return err
			}},
			"Purge": {docgen.ScopeWrite, func(c *docgen.Caller) error { return w.Purge(ctx, c, docgen.File, 1) }},
			"Trash": {docgen.ScopeRead, func(c *docgen.Caller) error { _, err := w.Trash(ctx, c, first); return err }},
			"TrashByOffset": {docgen.ScopeRead, func(c *docgen.Caller) error {
				_, err := w.TrashByOffset(ctx, c, docgen.OffsetRequest{}, docgen.ItemOrder{})
				return err
			}},
			"MarkTemplate": {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, err := w.MarkTemplate(ctx, c, 1); return err }},
			"UpdateTemplate": {docgen.ScopeDocGen, func(c *docgen.Caller) error {
				_, err := w.UpdateTemplate(ctx, c, 1, docgen.TemplateChange{})
				return err
			}},
			"UnmarkTemplate": {docgen.ScopeDocGen, func(c *docgen.Caller) error { return w.UnmarkTemplate(ctx, c, 1) }},
			"Template":       {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, err := w.Template(ctx, c, 1); return err }},
			"Templates":      {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, err := w.Templates(ctx, c, first); return err }},
			"TemplateJobs": {docgen.ScopeDocGen, func(c *docgen.Caller) error {
				_, err := w.Jobs(ctx, c, docgen.JobFilter{TemplateID: new(int64(1))}, first)
				return err
			}},
			"Tags":        {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, _, err := w.Tags(ctx, c, 1, 0, first); return err }},
			"CreateBatch": {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, err := w.CreateBatch(ctx, c, batchOf(1, 0, "{}")); return err }},
			"Batch":       {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, err := w.Batch(ctx, c, "x"); return err }},
			"Job":         {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, err := w.Job(ctx, c, 1); return err }},
			"Jobs":        {docgen.ScopeDocGen, func(c *docgen.Caller) error { _, err := w.Jobs(ctx, c, docgen.JobFilter{}, first); return err }},
			"BatchJobs": {docgen.ScopeDocGen, func(c *docgen.Caller) error {
				_, err := w.Jobs(ctx, c, docgen.JobFilter{BatchID: new("x")}, first)
				return err
			}},
			"CreateArchive": {docgen.ScopeGlobalContent, func(c *docgen.Caller) error {
				_, err := w.CreateArchive(ctx, c, docgen.NewArchive{Name: "x"})
				return err
			}},
			"UpdateArchive": {docgen.ScopeGlobalContent, func(c *docgen.Caller) error {
				_, err := w.UpdateArchive(ctx, c, 1, docgen.ArchiveChange{})
				return err
			}},
			"Archives":        {docgen.ScopeGlobalContent, func(c *docgen.Caller) error { _, err := w.Archives(ctx, c, first); return err }},
			"DeleteArchive":   {docgen.ScopeGlobalContent, func(c *docgen.Caller) error { return w.DeleteArchive(ctx, c, 1) }},
			"StoragePolicies": {docgen.ScopeManagedUsers, func(c *docgen.Caller) error { _, err := w.StoragePolicies(ctx, c, first); return err }},
			"StoragePolicy":   {docgen.ScopeManagedUsers, func(c *docgen.Caller) error { _, err := w.StoragePolicy(ctx, c, 1); return err }},
			"User":            {docgen.ScopeManagedUsers, func(c *docgen.Caller) error { _, err := w.User(ctx, c, 1); return err }},
			"Users": {docgen.ScopeManagedUsers,
				func(c *docgen.Caller) error { _, err := w.Users(ctx, c, docgen.UserFilter{}, first); return err }},
			"UsersByOffset": {docgen.ScopeManagedUsers, func(c *docgen.Caller) error {
				_, err := w.UsersByOffset(ctx, c, docgen.UserFilter{}, docgen.OffsetRequest{})
				return err
			}},
			"AddUser": {docgen.ScopeManagedUsers,
				func(c *docgen.Caller) error { _, err := w.AddUser(ctx, c, docgen.NewUser{}); return err }},
			"UpdateUser": {docgen.ScopeManagedUsers,
				func(c *docgen.Caller) error { _, err := w.UpdateUser(ctx, c, 1, docgen.UserChange{}); return err }},
			"DeleteUser":      {docgen.ScopeManagedUsers, func(c *docgen.Caller) error { return w.DeleteUser(ctx, c, 1, true) }},
			"TransferContent": {docgen.ScopeGlobalContent, func(c *docgen.Caller) error { _, err := w.TransferContent(ctx, c, 1, 2); return err }},
			"CreateWebhook": {docgen.ScopeWebhooks, func(c *docgen.Caller) error {
				_, err := w.CreateWebhook(ctx, c, docgen.NewWebhook{TargetID: 1, Address: "https://example.com/",
					Triggers: []docgen.Trigger{docgen.FileUploaded}})
				return err
			}},
			"UpdateWebhook": {docgen.ScopeWebhooks, func(c *docgen.Caller) error {
				_, err := w.UpdateWebhook(ctx, c, 1, docgen.WebhookChange{})
				return err
			}},
			"Webhook":       {docgen.ScopeWebhooks, func(c *docgen.Caller) error { _, err := w.Webhook(ctx, c, 1); return err }},
			"Webhooks":      {docgen.ScopeWebhooks, func(c *docgen.Caller) error { _, err := w.Webhooks(ctx, c, first); return err }},
			"DeleteWebhook": {docgen.ScopeWebhooks, func(c *docgen.Caller) error { return w.DeleteWebhook(ctx, c, 1) }},
			"TestWebhook": {docgen.ScopeWebhooks,
				func(c *docgen.Caller) error { _, err := w.TestWebhook(ctx, c, 1, docgen.FileUploaded); return err }},
			"SigningKeys": {docgen.ScopeWebhooks, func(c *docgen.Caller) error { _, err := w.SigningKeys(ctx, c); return err }},
			"RenewSigningKey": {docgen.ScopeWebhooks, func(c *docgen.Caller) error {
				_, err := w.RenewSigningKey(ctx, c, docgen.KeyPrimary, 0)
				return err
			}},
			"Deliveries": {docgen.ScopeWebhooks, func(c *docgen.Caller) error {
				_, err := w.Deliveries(ctx, c, docgen.DeliveryFilter{}, first)
				return err
			}},
			"DeliveriesByOffset": {docgen.ScopeWebhooks, func(c *docgen.Caller) error {
				_, err := w.DeliveriesByOffset(ctx, c, docgen.DeliveryFilter{}, docgen.OffsetRequest{})
				return err
			}},
			"Delivery":       {docgen.ScopeWebhooks, func(c *docgen.Caller) error { _, err := w.Delivery(ctx, c, 1); return err }},
			"Attempts":       {docgen.ScopeWebhooks, func(c *docgen.Caller) error { _, err := w.Attempts(ctx, c, 1, first); return err }},
			"ReplayDelivery": {docgen.ScopeWebhooks, func(c *docgen.Caller) error { _, err := w.ReplayDelivery(ctx, c, 1); return err }},
			"ReplayDeliveries": {docgen.ScopeWebhooks, func(c *docgen.Caller) error {
				_, err := w.ReplayDeliveries(ctx, c, docgen.DeliveryFilter{}, true)
				return err
			}},
			"CreateListener": {docgen.ScopeWebhooks, func(c *docgen.Caller) error {
				_, err := w.CreateListener(ctx, c, docgen.WebhookTarget{ID: 1}, nil)
				return err
			}},
			"PollListener":   {docgen.ScopeWebhooks, func(c *docgen.Caller) error { _, err := w.PollListener(ctx, c, 1, nil, 0); return err }},
			"DeleteListener": {docgen.ScopeWebhooks, func(c *docgen.Caller) error { return w.DeleteListener(ctx, c, 1) }},
		}
		w.member("root", docgen.RoleAdmin)
		for _, scope := range []docgen.Scope{docgen.ScopeRead, docgen.ScopeWrite, docgen.ScopeDocGen, docgen.ScopeWebhooks,
			docgen.ScopeManagedUsers} {
			c := w.caller("root", scope)
			for name, op := range operations {
				enough := scope == op.need || scope == docgen.ScopeWrite && op.need == docgen.ScopeRead
				if err := op.call(c); docgen.IsCode(err, docgen.CodeScope) == enough {
					t.Errorf("%s with the scope %s alone: %v", name, scope, err)
				}
			}
			if _, err := w.Me(ctx, c); err != nil {
				t.Errorf("Me with the scope %s: %v", scope, err)
			}
		}
	})
}

func TestUsers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		t.Run("know themselves", func(t *testing.T) {
			me, err := w.Me(ctx, w.alice)
			must(t, err)
			want := docgen.User{
				ID: w.alice.User.ID, Login: "alice@example.com", Name: "alice", Kind: docgen.KindManaged, Role: docgen.RoleUser,
				Status: docgen.StatusActive, EnterpriseID: w.alice.User.EnterpriseID, EnterpriseName: "Platen", CreatedAt: noon, ModifiedAt: noon,
				Weight: 1,
			}
			if me != want {
				t.Errorf("Me = %+v, want %+v", me, want)
			}
		})
		t.Run("have logins of their own, whatever the case", func(t *testing.T) {
			_, err := w.CreateUser(ctx, docgen.NewUser{Login: "Alice@Example.COM", Name: "Another"})
			wantCode(t, err, docgen.CodeLoginInUse)
		})
		t.Run("are rejected with all problems", func(t *testing.T) {
			_, err := w.CreateUser(ctx, docgen.NewUser{Login: "a b", Name: " ", Role: "king", Status: "dead",
				Profile: docgen.Profile{Language: "tlhingan hol", TimeZone: "Mars/Olympus"}})
			if got := problemNames(t, err); !slices.Equal(got, []string{"login", "name", "role", "status", "language", "timezone"}) {
				t.Errorf("problems with %q", got)
			}
		})
		t.Run("have text that both databases can keep", func(t *testing.T) {
			for _, u := range []docgen.NewUser{{Login: "a\x00", Name: "A"}, {Login: "a\xff", Name: "A"}, {Login: "a", Name: "\x00"},
				{Login: "a", Name: "\xff"}} {
				_, err := w.CreateUser(ctx, u)
				wantCode(t, err, docgen.CodeBadRequest)
			}
		})
		t.Run("share one enterprise and one application, also when several services begin at once", func(t *testing.T) {
			errs := make(chan error)
			for range 4 {
				go func() {
					_, err := docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs})
					errs <- err
				}()
			}
			for range 4 {
				must(t, <-errs)
			}
			for _, table := range []string{"enterprises", "applications"} {
				if n := w.count("SELECT COUNT(*) FROM " + table); n != 1 {
					t.Errorf("%d %s, want 1", n, table)
				}
			}
		})
	})
}
