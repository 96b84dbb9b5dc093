package docgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// issued returns the tokens of a caller, by name.
func (w *world) issued(c *docgen.Caller) map[string]docgen.IssuedToken {
	w.t.Helper()
	found := map[string]docgen.IssuedToken{}
	page, err := w.Tokens(w.t.Context(), c, docgen.TokenFilter{}, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	for _, token := range page.Entries {
		found[token.Name] = token
	}
	return found
}

// named creates a token with a name and returns the token and its id.
func (w *world) named(login, name string, ttl time.Duration, scopes ...docgen.Scope) (token string, id int64) {
	w.t.Helper()
	token, err := w.CreateToken(w.t.Context(), docgen.NewToken{Login: login + "@example.com", Name: name, TTL: ttl, Scopes: scopes})
	must(w.t, err)
	c, err := w.Authenticate(w.t.Context(), token)
	must(w.t, err)
	return token, c.TokenID
}

func TestTokensAreListed(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.named("alice", "short", time.Hour)
		_, lasting := w.named("alice", "lasting", 0, docgen.ScopeRead)
		mine := w.issued(w.alice)
		if got := mine["short"]; got.Kind != docgen.TokenAccess || !got.ExpiresAt.Equal(noon.Add(time.Hour)) ||
			got.User.Login != "alice@example.com" ||
			got.Application.Name != docgen.CommandLineApplication || len(got.Scopes) != 4 || got.Current {
			t.Errorf("short: %+v", got)
		}
		if got := mine["lasting"]; got.ID != lasting || !got.ExpiresAt.IsZero() || !slices.Equal(got.Scopes, []docgen.Scope{docgen.ScopeRead}) {
			t.Errorf("lasting: %+v", got)
		}
		if !mine[""].Current || mine[""].ID != w.alice.TokenID {
			t.Errorf("the caller's own: %+v", mine[""])
		}
		if got := w.issued(w.bob); len(got) != 1 {
			t.Errorf("bob has %v", got)
		}
		t.Run("not when they have expired", func(t *testing.T) {
			w.clock.advance(time.Hour)
			if _, has := w.issued(w.alice)["short"]; has {
				t.Error("an expired token is listed")
			}
		})
		t.Run("refresh tokens too, until they are used", func(t *testing.T) {
			app, client := w.app(docgen.NewApplication{Name: "Payroll"})
			first, err := w.CreateGrant(ctx, app.Name, "bob@example.com", nil)
			must(t, err)
			count := func() (refresh, access int) {
				page, err := w.Tokens(ctx, w.bob, docgen.TokenFilter{}, docgen.PageRequest{})
				must(t, err)
				for _, token := range page.Entries {
					if token.Application.Name == app.Name && token.Kind == docgen.TokenRefresh {
						refresh++
					} else if token.Application.Name == app.Name {
						access++
					}
				}
				return refresh, access
			}
			if refresh, access := count(); refresh != 1 || access != 1 {
				t.Errorf("%d refresh and %d access tokens, want 1 and 1", refresh, access)
			}
			_, err = w.Grant(ctx, client, docgen.GrantRequest{Type: docgen.GrantRefresh, RefreshToken: first.Refresh})
			must(t, err)
			if refresh, access := count(); refresh != 1 || access != 2 {
				t.Errorf("%d refresh and %d access tokens, want 1 and 2", refresh, access)
			}
			page, err := w.Tokens(ctx, w.bob, docgen.TokenFilter{}, docgen.PageRequest{})
			must(t, err)
			for _, token := range page.Entries {
				if token.Kind == docgen.TokenRefresh {
					must(t, w.RevokeToken(ctx, w.bob, token.ID))
				}
			}
			if refresh, access := count(); refresh != 0 || access != 0 {
				t.Errorf("after the refresh token was revoked: %d refresh and %d access tokens, want none", refresh, access)
			}
		})
	})
}

func TestTokensAreRevoked(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root, coadmin := w.member("root", docgen.RoleAdmin), w.member("coadmin", docgen.RoleCoadmin)
		reading := w.caller("alice", docgen.ScopeRead)
		_, narrow := w.named("alice", "narrow", 0, docgen.ScopeRead)
		_, writing := w.named("alice", "writing", 0, docgen.ScopeWrite)
		_, bobs := w.named("bob", "bob's", 0)
		service := w.service(docgen.NewApplication{Name: "Robot"})
		for _, tt := range []struct {
			name string
			by   *docgen.Caller
			id   int64
			code docgen.Code
		}{
			{"of another user", w.alice, bobs, docgen.CodeNotFound},
			{"that does not exist", w.alice, 4711, docgen.CodeNotFound},
			{"with a scope that the caller lacks", reading, writing, docgen.CodeForbidden},
			{"of an administrator by a co-administrator", coadmin, root.TokenID, docgen.CodeForbidden},
			{"of a service account by an administrator", root, service.TokenID, docgen.CodeNotFound},
			{"with no scope that the caller lacks", reading, narrow, ""},
			{"of one's own with more scopes", w.alice, writing, ""},
			{"itself", reading, reading.TokenID, ""},
			{"of a user by a co-administrator", coadmin, bobs, ""},
			{"of a service account by the operator", w.Operator(), service.TokenID, ""},
			{"of an administrator by the operator", w.Operator(), root.TokenID, ""},
		} {
			t.Run(tt.name, func(t *testing.T) {
				err := w.RevokeToken(ctx, tt.by, tt.id)
				if tt.code == "" && err != nil || tt.code != "" && !docgen.IsCode(err, tt.code) {
					t.Fatalf("error %v, want code %q", err, tt.code)
				}
				left := query[int64](w, fmt.Sprint("SELECT COUNT(*) FROM tokens WHERE id = ", tt.id))[0]
				if want := map[bool]int64{true: 0, false: 1}[tt.code == "" || tt.id == 4711]; left != want {
					t.Errorf("%d tokens are left, want %d", left, want)
				}
			})
		}
	})
}

// TestUsesOfTokens counts the writes: none by a request, and one per token and minute.
func TestUsesOfTokens(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		token, id := w.named("alice", "busy", 0)
		used := func() time.Time { return w.issued(w.alice)["busy"].UsedAt }
		must(t, w.RecordUses(ctx))
		if !used().Equal(noon) {
			t.Fatalf("last use %v, want %v", used(), noon)
		}
		for _, step := range []struct{ after, want time.Duration }{{30 * time.Second, 0}, {29 * time.Second, 0}, {time.Second, time.Minute}} {
			w.clock.advance(step.after)
			_, err := w.Authenticate(ctx, token)
			must(t, err)
			must(t, w.RecordUses(ctx))
			if want := noon.Add(step.want); !used().Equal(want) {
				t.Errorf("last use %v, want %v", used(), want)
			}
		}
		w.clock.advance(time.Hour)
		_, err := w.Authenticate(ctx, token)
		must(t, err)
		if want := noon.Add(time.Minute); !used().Equal(want) {
			t.Errorf("the request itself wrote the last use: %v, want %v", used(), want)
		}
		must(t, w.RevokeToken(ctx, w.alice, id))
		must(t, w.RecordUses(ctx)) // of a token that no longer exists
	})
}

func TestExpiringTokens(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, err := w.CreateGrant(ctx, w.newApp("Payroll"), "bob@example.com", nil) // renewed by its application
		must(t, err)
		w.named("alice", "soon", docgen.ExpiringSoon)
		w.named("alice", "sooner", time.Minute)
		w.named("alice", "later", docgen.ExpiringSoon+time.Microsecond)
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{0, 2}, {time.Minute, 2}, {docgen.ExpiringSoon, 0}} {
			w.clock.advance(step.after)
			if got, err := w.CountExpiring(ctx); err != nil || got != step.want {
				t.Errorf("%v later %d tokens expire soon, want %d (%v)", step.after, got, step.want, err)
			}
		}
	})
}

// newApp creates an application and returns its name.
func (w *world) newApp(name string) string {
	w.t.Helper()
	app, _ := w.app(docgen.NewApplication{Name: name})
	return app.Name
}

// TestTokenNotice opens a database of an earlier release, in which tokens never expired by default.
func TestTokenNotice(t *testing.T) {
	t.Parallel()
	storetest.RunOld(t, func(t *testing.T, _ string, cfg store.Config) {
		service, err := docgen.New(t.Context(), docgen.Config{Store: storetest.Open(t, cfg)})
		must(t, err)
		for _, want := range []int64{1, 0} {
			if got, err := service.TokenNotice(t.Context()); err != nil || got != want {
				t.Errorf("%d tokens to warn of, want %d (%v)", got, want, err)
			}
		}
	})
}

func TestNoTokenNotice(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.named("alice", "lasting", 0)
		if got, err := w.TokenNotice(t.Context()); err != nil || got != 0 {
			t.Errorf("a new database warns of %d tokens (%v)", got, err)
		}
	})
}

func TestNamesOfTokens(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for name, wrong := range map[string]bool{"": false, strings.Repeat("ä", 100): false, strings.Repeat("a", 101): true,
			"a\x1b[2J": true, "\xff": true} {
			_, err := w.CreateToken(t.Context(), docgen.NewToken{Login: "alice@example.com", Name: name})
			if docgen.IsCode(err, docgen.CodeBadRequest) != wrong {
				t.Errorf("name %q: %v", name, err)
			}
		}
	})
}
