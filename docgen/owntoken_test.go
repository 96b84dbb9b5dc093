package docgen_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"platen/docgen"
)

func TestOwnTokens(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		short, err := w.CreateToken(ctx, docgen.NewToken{Login: "alice@example.com", TTL: time.Hour, Scopes: []docgen.Scope{docgen.ScopeDocGen}})
		must(t, err)
		brief, err := w.Authenticate(ctx, short)
		must(t, err)
		made, err := w.CreateOwnToken(ctx, brief, docgen.NewToken{Name: "script"})
		must(t, err)
		c, err := w.Authenticate(ctx, made.Token)
		must(t, err)
		if !slices.Equal(c.Scopes, []docgen.Scope{docgen.ScopeDocGen}) || c.TokenID != made.ID || c.ApplicationID != brief.ApplicationID ||
			!made.ExpiresAt.Equal(noon.Add(time.Hour)) || made.Name != "script" {
			t.Errorf("the token %+v acts as %+v", made.IssuedToken, c)
		}
		for name, tt := range map[string]struct {
			as   *docgen.Caller
			of   docgen.NewToken
			code docgen.Code
		}{
			"that lives longer":    {brief, docgen.NewToken{TTL: time.Hour + time.Second}, docgen.CodeBadRequest},
			"that lives forever":   {w.alice, docgen.NewToken{TTL: 366 * 24 * time.Hour}, docgen.CodeBadRequest},
			"with another scope":   {brief, docgen.NewToken{Scopes: []docgen.Scope{docgen.ScopeWrite}}, docgen.CodeBadRequest},
			"of a service account": {w.service(docgen.NewApplication{Name: "Robot"}), docgen.NewToken{}, docgen.CodeForbidden},
		} {
			_, err := w.CreateOwnToken(ctx, tt.as, tt.of)
			if !docgen.IsCode(err, tt.code) {
				t.Errorf("a token %s: %v, want %s", name, err, tt.code)
			}
		}
		w.member("admin", docgen.RoleAdmin)
		as, err := w.As(ctx, w.caller("admin"), w.alice.User.ID)
		must(t, err)
		_, err = w.CreateOwnToken(ctx, as, docgen.NewToken{})
		wantCode(t, err, docgen.CodeForbidden)

		lasting, err := w.CreateOwnToken(ctx, w.alice, docgen.NewToken{})
		must(t, err)
		if !lasting.ExpiresAt.Equal(noon.Add(docgen.DefaultTokenTTL)) {
			t.Errorf("it expires at %s", lasting.ExpiresAt)
		}
		must(t, w.RevokeToken(ctx, w.alice, brief.TokenID))
		_, err = w.CreateOwnToken(ctx, brief, docgen.NewToken{}) // a request that began before
		wantCode(t, err, docgen.CodeUnauthorized)

		err = nil
		for i := 0; err == nil; i++ {
			if i > 200 {
				t.Fatal("the number of tokens has no limit")
			}
			_, err = w.CreateOwnToken(ctx, w.bob, docgen.NewToken{Name: fmt.Sprint(i)})
		}
		wantCode(t, err, docgen.CodeConflict)
		if n := w.count("SELECT COUNT(*) FROM tokens WHERE user_id = " + fmt.Sprint(w.bob.User.ID)); n != 200 {
			t.Errorf("%d tokens, want 200", n)
		}
	})
}
