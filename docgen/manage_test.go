package docgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// member creates a user with a role, and returns the caller with all scopes that a personal token can have.
func (w *world) member(name, role string) *docgen.Caller {
	w.t.Helper()
	_, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: name + "@example.com", Name: name, Role: role})
	must(w.t, err)
	return w.caller(name)
}

// service creates an application and returns its service account as a caller.
func (w *world) service(n docgen.NewApplication) *docgen.Caller {
	w.t.Helper()
	_, client := w.app(n)
	tokens, err := w.Grant(w.t.Context(), client, docgen.GrantRequest{Type: docgen.GrantClient, SubjectType: "enterprise",
		SubjectID: w.enterpriseID()})
	must(w.t, err)
	c, err := w.Authenticate(w.t.Context(), tokens.Access)
	must(w.t, err)
	return c
}

func TestAsUser(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root, second, coadmin := w.member("root", docgen.RoleAdmin), w.member("second", docgen.RoleAdmin), w.member("coadmin", docgen.RoleCoadmin)
		acting := w.service(docgen.NewApplication{Name: "Acting", ActsAsUsers: true, Scopes: []docgen.Scope{docgen.ScopeRead,
			docgen.ScopeGlobalContent}})
		plain := w.service(docgen.NewApplication{Name: "Plain"})
		_, err := w.CreateUser(ctx, docgen.NewUser{Login: "idle@example.com", Name: "idle", Status: docgen.StatusInactive})
		must(t, err)
		idle := query[int64](w, "SELECT id FROM users WHERE login = 'idle@example.com'")[0]
		gone := w.user("gone")
		must(t, w.DeleteUser(ctx, root, gone.User.ID, false))
		byHand, err := w.CreateToken(ctx, docgen.NewToken{Login: plain.User.Login})
		must(t, err)
		plainByHand, err := w.Authenticate(ctx, byHand)
		must(t, err)
		tests := []struct {
			name   string
			caller *docgen.Caller
			target int64
			code   docgen.Code
		}{
			{"a service account by a token made by hand", plainByHand, w.alice.User.ID, docgen.CodeForbidden},
			{"an administrator for a user", root, w.alice.User.ID, ""},
			{"an administrator for another", root, second.User.ID, ""},
			{"a co-administrator for a user", coadmin, w.alice.User.ID, ""},
			{"a co-administrator for an administrator", coadmin, root.User.ID, docgen.CodeForbidden},
			{"a service account for a user", acting, w.alice.User.ID, ""},
			{"a service account of another application", plain, w.alice.User.ID, docgen.CodeForbidden},
			{"a user for another", w.alice, w.bob.User.ID, docgen.CodeForbidden},
			{"a user for themself", w.alice, w.alice.User.ID, ""},
			{"for a service account", root, plain.User.ID, docgen.CodeForbidden},
			{"for an inactive user", root, idle, docgen.CodeForbidden},
			{"for a deleted user", root, gone.User.ID, docgen.CodeNotFound},
			{"for an unknown user", root, 4711, docgen.CodeNotFound},
			{"a user for an unknown user", w.alice, 4711, docgen.CodeForbidden},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				c, err := w.As(ctx, tt.caller, tt.target)
				wantCode(t, err, tt.code)
				if err == nil && (c.User.ID != tt.target || c.ActorID != tt.caller.User.ID) {
					t.Errorf("caller %+v", c)
				}
			})
		}
		t.Run("with the scopes that are left, and no other rights", func(t *testing.T) {
			c, err := w.As(ctx, acting, w.bob.User.ID)
			must(t, err)
			if !slices.Equal(c.Scopes, []docgen.Scope{docgen.ScopeRead}) {
				t.Errorf("scopes %q", c.Scopes)
			}
			file := w.upload(w.alice, 0, "a.txt", "a")
			_, err = w.File(ctx, c, file.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.As(ctx, c, w.alice.User.ID) // As cannot be chained
			wantCode(t, err, docgen.CodeForbidden)
		})
		t.Run("creates items of the user", func(t *testing.T) {
			c, err := w.As(ctx, root, w.bob.User.ID)
			must(t, err)
			file := w.upload(c, 0, "b.txt", "b")
			if file.Owner.ID != w.bob.User.ID || file.CreatedBy.ID != w.bob.User.ID {
				t.Errorf("file %+v", file)
			}
		})
	})
}

func TestManagingUsers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root, coadmin := w.member("root", docgen.RoleAdmin), w.member("coadmin", docgen.RoleCoadmin)
		service := w.service(docgen.NewApplication{Name: "App", Scopes: []docgen.Scope{docgen.ScopeAppUsers, docgen.ScopeManagedUsers}})
		onlyApp := w.service(docgen.NewApplication{Name: "Customers", Scopes: []docgen.Scope{docgen.ScopeAppUsers}})
		customer, err := w.AddUser(ctx, onlyApp, docgen.NewUser{Name: "Customer", PlatformOnly: true, ExternalID: "4711"})
		must(t, err)
		change := func(c *docgen.Caller, id int64, change docgen.UserChange) error {
			_, err := w.UpdateUser(ctx, c, id, change)
			return err
		}
		t.Run("is not for everybody", func(t *testing.T) {
			_, err := w.AddUser(ctx, w.alice, docgen.NewUser{Name: "X", Login: "x"})
			wantCode(t, err, docgen.CodeScope)
			_, err = w.AddUser(ctx, onlyApp, docgen.NewUser{Name: "X", Login: "x"})
			wantCode(t, err, docgen.CodeScope)
			for _, id := range []int64{w.alice.User.ID, 4711} {
				_, err = w.User(ctx, onlyApp, id)
				wantCode(t, err, docgen.CodeNotFound)
				wantCode(t, w.DeleteUser(ctx, onlyApp, id, true), docgen.CodeNotFound)
				wantCode(t, change(onlyApp, id, docgen.UserChange{Name: new("X")}), docgen.CodeNotFound)
				_, err = w.TransferContent(ctx, withContent(onlyApp), id, customer.ID)
				wantCode(t, err, docgen.CodeNotFound)
			}
			_, err = w.TransferContent(ctx, withContent(onlyApp), customer.ID, w.alice.User.ID)
			wantCode(t, err, docgen.CodeBadRequest)
		})
		t.Run("says all of a user", func(t *testing.T) {
			if !strings.HasPrefix(customer.Login, "AppUser_") || customer.ExternalID != "4711" || !customer.PlatformOnly ||
				customer.EnterpriseName != "Platen" {
				t.Errorf("customer %+v", customer)
			}
			got, err := w.User(ctx, onlyApp, customer.ID)
			if err != nil || got != customer {
				t.Errorf("User = %+v, %v, want %+v", got, err, customer)
			}
		})
		t.Run("changes only the requested fields", func(t *testing.T) {
			must(t, change(root, w.bob.User.ID, docgen.UserChange{JobTitle: new("Clerk"), TimeZone: new("Europe/Paris")}))
			got, err := w.UpdateUser(ctx, service, w.bob.User.ID, docgen.UserChange{Name: new("Bob"), TimeZone: new("")})
			must(t, err)
			if got.Name != "Bob" || got.Login != "bob@example.com" || got.Profile != (docgen.Profile{JobTitle: "Clerk"}) {
				t.Errorf("user %+v", got)
			}
		})
		t.Run("tells everything that is wrong at once", func(t *testing.T) {
			err := change(root, w.bob.User.ID, docgen.UserChange{
				Name: new(""), Login: new("a b"), Role: new("king"), Status: new(""), Language: new("?"), TimeZone: new("Local"),
				Phone: new(strings.Repeat("1", 256)), Address: new("\x00"), JobTitle: new("\xff"),
			})
			if got := problemNames(t, err); !slices.Equal(got, []string{"login", "name", "role", "job_title", "phone", "address", "language",
				"timezone", "status"}) {
				t.Errorf("problems with %q", got)
			}
			for _, change := range []docgen.UserChange{{Role: new("")}, {Status: new("")}} {
				_, err := w.UpdateUser(ctx, root, w.bob.User.ID, change)
				wantCode(t, err, docgen.CodeBadRequest)
			}
		})
		t.Run("gives users a weight", func(t *testing.T) {
			wantCode(t, change(coadmin, w.bob.User.ID, docgen.UserChange{Weight: new(int64(100))}), docgen.CodeForbidden)
			for _, wrong := range []int64{-1, 0, 101} {
				if got := problemNames(t, change(root, w.bob.User.ID, docgen.UserChange{Weight: &wrong})); !slices.Equal(got, []string{"weight"}) {
					t.Errorf("a weight of %d: problems with %q", wrong, got)
				}
			}
			for _, weight := range []int64{100, 3} {
				user, err := w.UpdateUser(ctx, root, w.bob.User.ID, docgen.UserChange{Weight: &weight})
				must(t, err)
				share, _, err := w.ResumeSlot(ctx, docgen.GenerateDocuments{UserID: w.bob.User.ID, Lane: docgen.LaneDocx}, false)
				must(t, err)
				merging, err := w.Weight(ctx, w.bob.User.ID)
				must(t, err)
				if user.Weight != weight || int64(share) != weight || int64(merging) != weight {
					t.Errorf("weight %d, for documents %d, for merging %d; want %d", user.Weight, share, merging, weight)
				}
			}
			must(t, change(coadmin, w.bob.User.ID, docgen.UserChange{Weight: new(int64(3))})) // no change
			page, err := w.AuditEvents(ctx, root, docgen.AuditFilter{Action: docgen.AuditUserUpdated}, docgen.PageRequest{})
			must(t, err)
			if !slices.ContainsFunc(page.Entries, func(e docgen.AuditEvent) bool { return e.Details["weight"] == "100 → 3" }) {
				t.Errorf("the audit log has %+v", page.Entries)
			}
			if weight, err := w.Weight(ctx, 4711); err != nil || weight != 1 { // an unknown user
				t.Errorf("the weight of nobody is %d, %v", weight, err)
			}
		})
		t.Run("keeps logins apart, whatever the case", func(t *testing.T) {
			wantCode(t, change(root, w.bob.User.ID, docgen.UserChange{Login: new("ALICE@example.com")}), docgen.CodeLoginInUse)
			wantCode(t, change(root, w.bob.User.ID, docgen.UserChange{Login: new("BOB@example.com")}), "")
			_, err := w.AddUser(ctx, root, docgen.NewUser{Name: "Alice", Login: "Alice@Example.com"})
			wantCode(t, err, docgen.CodeLoginInUse)
		})
		t.Run("leaves administrators to administrators", func(t *testing.T) {
			for _, c := range []*docgen.Caller{coadmin, service} {
				wantCode(t, change(c, root.User.ID, docgen.UserChange{Name: new("X")}), docgen.CodeForbidden)
				wantCode(t, w.DeleteUser(ctx, c, root.User.ID, true), docgen.CodeForbidden)
				wantCode(t, change(c, w.bob.User.ID, docgen.UserChange{Role: new(docgen.RoleAdmin)}), docgen.CodeForbidden)
				_, err := w.AddUser(ctx, c, docgen.NewUser{Name: "X", Login: "x", Role: docgen.RoleAdmin})
				wantCode(t, err, docgen.CodeForbidden)
				_, err = w.TransferContent(ctx, withContent(c), root.User.ID, w.bob.User.ID)
				wantCode(t, err, docgen.CodeForbidden)
			}
		})
		t.Run("prevents users from changing or deleting themselves", func(t *testing.T) {
			for _, c := range []*docgen.Caller{root, coadmin} {
				wantCode(t, change(c, c.User.ID, docgen.UserChange{Role: new(docgen.RoleUser)}), docgen.CodeForbidden)
				wantCode(t, change(c, c.User.ID, docgen.UserChange{Status: new(docgen.StatusInactive)}), docgen.CodeForbidden)
				wantCode(t, w.DeleteUser(ctx, c, c.User.ID, true), docgen.CodeForbidden)
				wantCode(t, change(c, c.User.ID, docgen.UserChange{Role: new(c.User.Role), Phone: new("1")}), "")
			}
			as, err := w.As(ctx, w.member("third", docgen.RoleAdmin), root.User.ID)
			must(t, err)
			third := as.ActorID
			wantCode(t, w.DeleteUser(ctx, as, third, true), docgen.CodeForbidden)
		})
		t.Run("does not reach the accounts of applications and of the enterprise", func(t *testing.T) {
			for _, id := range query[int64](w, "SELECT id FROM users WHERE kind = 'service'") {
				_, err := w.User(ctx, root, id)
				wantCode(t, err, docgen.CodeNotFound)
				wantCode(t, change(root, id, docgen.UserChange{Name: new("X")}), docgen.CodeNotFound)
				wantCode(t, w.DeleteUser(ctx, root, id, true), docgen.CodeNotFound)
				_, err = w.TransferContent(ctx, withContent(root), id, w.bob.User.ID)
				wantCode(t, err, docgen.CodeNotFound)
				_, err = w.TransferContent(ctx, withContent(root), w.bob.User.ID, id)
				wantCode(t, err, docgen.CodeBadRequest)
			}
		})
		t.Run("revokes the tokens of a deactivated user immediately", func(t *testing.T) {
			token, err := w.CreateToken(ctx, docgen.NewToken{Login: "bob@example.com"})
			must(t, err)
			must(t, change(root, w.bob.User.ID, docgen.UserChange{Status: new(docgen.StatusInactive)}))
			if w.good(token) {
				t.Error("the token of an inactive user is good")
			}
		})
	})
}

// TestLastAdministrator has administrators delete each other at the same time: one is left.
func TestLastAdministrator(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		var admins []*docgen.Caller
		for i := range 4 {
			admins = append(admins, w.member(fmt.Sprint("admin", i), docgen.RoleAdmin))
		}
		next := make(chan int, len(admins))
		for i := range admins {
			next <- i
		}
		for err := range atOnce(len(admins), func() error {
			i := <-next
			target := admins[(i+1)%len(admins)].User.ID
			switch i % 2 {
			case 0:
				return w.DeleteUser(ctx, admins[i], target, false)
			default:
				_, err := w.UpdateUser(ctx, admins[i], target, docgen.UserChange{Role: new(docgen.RoleUser)})
				return err
			}
		}) {
			if err != nil && !docgen.IsCode(err, docgen.CodeForbidden) {
				t.Error(err)
			}
		}
		if n := w.count("SELECT COUNT(*) FROM users WHERE role = 'admin' AND status = 'active' AND deleted_at = 0"); n != 1 {
			t.Errorf("%d administrators are left, want 1", n)
		}
	})
}

// TestSameLoginAtOnce creates users with the same login at the same time.
func TestSameLoginAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		root := w.member("root", docgen.RoleAdmin)
		made := 0
		for err := range atOnce(6, func() error {
			_, err := w.AddUser(t.Context(), root, docgen.NewUser{Name: "Zoe", Login: "zoe@example.com"})
			return err
		}) {
			if err == nil {
				made++
			} else {
				wantCode(t, err, docgen.CodeLoginInUse)
			}
		}
		if made != 1 {
			t.Errorf("%d users made, want 1", made)
		}
	})
}

func TestListingUsers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		onlyApp := w.service(docgen.NewApplication{Name: "Customers", Scopes: []docgen.Scope{docgen.ScopeAppUsers}})
		for i := range 3 {
			_, err := w.AddUser(ctx, root, docgen.NewUser{Name: fmt.Sprintf("Ünal %d", i), Login: fmt.Sprintf("u%d@example.com", i)})
			must(t, err)
			_, err = w.AddUser(ctx, onlyApp, docgen.NewUser{Name: fmt.Sprintf("Customer %d", i), PlatformOnly: true, ExternalID: fmt.Sprint("x", i)})
			must(t, err)
		}
		tests := []struct {
			name   string
			caller *docgen.Caller
			filter docgen.UserFilter
			want   string // names, separated by commas
			total  int
		}{
			{"all", root, docgen.UserFilter{}, "alice,bob,root,Ünal 0,Customer 0,Ünal 1,Customer 1,Ünal 2,Customer 2", 9},
			{"only those of applications", onlyApp, docgen.UserFilter{}, "Customer 0,Customer 1,Customer 2", 3},
			{"others are not even counted", onlyApp, docgen.UserFilter{Term: "u1@"}, "", 0},
			{"by name, whatever the case", root, docgen.UserFilter{Term: "üN"}, "Ünal 0,Ünal 1,Ünal 2", 3},
			{"by login", root, docgen.UserFilter{Term: "u1@"}, "Ünal 1", 1},
			{"by a term with a wildcard", root, docgen.UserFilter{Term: "%"}, "", 0},
			{"by the middle of a name", root, docgen.UserFilter{Term: "nal"}, "", 0},
			{"by external id", root, docgen.UserFilter{ExternalID: "x1"}, "Customer 1", 1},
			{"managed", root, docgen.UserFilter{Type: "managed", Term: "b"}, "bob", 1},
			{"external", root, docgen.UserFilter{Type: "external"}, "", 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				page, err := w.UsersByOffset(ctx, tt.caller, tt.filter, docgen.OffsetRequest{Limit: 100})
				must(t, err)
				if got := userNames(page.Entries); got != tt.want || page.Total != tt.total {
					t.Errorf("by offset: %s of %d, want %s of %d", got, page.Total, tt.want, tt.total)
				}
				byMarker, err := w.Users(ctx, tt.caller, tt.filter, docgen.PageRequest{})
				must(t, err)
				if got := userNames(byMarker.Entries); got != tt.want {
					t.Errorf("by marker: %s, want %s", got, tt.want)
				}
			})
		}
		t.Run("page by page, by offset and by marker, there and back", func(t *testing.T) {
			var byOffset, byMarker []docgen.User
			for offset := 0; offset < 3; offset += 2 {
				page, err := w.UsersByOffset(ctx, onlyApp, docgen.UserFilter{}, docgen.OffsetRequest{Limit: 2, Offset: offset})
				must(t, err)
				byOffset = append(byOffset, page.Entries...)
			}
			page, err := w.Users(ctx, onlyApp, docgen.UserFilter{}, docgen.PageRequest{Limit: 2})
			must(t, err)
			first := page
			for byMarker = page.Entries; page.Next != ""; byMarker = append(byMarker, page.Entries...) {
				page, err = w.Users(ctx, onlyApp, docgen.UserFilter{}, docgen.PageRequest{Limit: 2, Marker: page.Next})
				must(t, err)
			}
			const want = "Customer 0,Customer 1,Customer 2"
			if userNames(byOffset) != want || userNames(byMarker) != want {
				t.Errorf("by offset %s, by marker %s", userNames(byOffset), userNames(byMarker))
			}
			page, err = w.Users(ctx, onlyApp, docgen.UserFilter{}, docgen.PageRequest{Limit: 2, Marker: page.Prev})
			if err != nil || userNames(page.Entries) != userNames(first.Entries) {
				t.Errorf("back: %s, %v", userNames(page.Entries), err)
			}
			_, err = w.Users(ctx, onlyApp, docgen.UserFilter{Term: "c"}, docgen.PageRequest{Marker: first.Next})
			wantCode(t, err, docgen.CodeBadRequest)
			_, err = w.Users(ctx, root, docgen.UserFilter{}, docgen.PageRequest{Marker: first.Next})
			wantCode(t, err, docgen.CodeBadRequest)
		})
		t.Run("with filters that cannot be", func(t *testing.T) {
			_, err := w.UsersByOffset(ctx, root, docgen.UserFilter{Type: "x", Term: "\x00"}, docgen.OffsetRequest{})
			if got := problemNames(t, err); !slices.Equal(got, []string{"user_type", "filter_term"}) {
				t.Errorf("problems with %q", got)
			}
			_, err = w.Users(ctx, root, docgen.UserFilter{ExternalID: "\xff"}, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeBadRequest)
		})
	})
}

func userNames(users []docgen.User) string {
	names := make([]string, len(users))
	for i, user := range users {
		names[i] = user.Name
	}
	return strings.Join(names, ",")
}
