package docgen_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"pgregory.net/rapid"

	"platen/docgen"
)

// signingKey is generated once, because that takes long.
var signingKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// jtis numbers the assertions of all tests.
var jtis atomic.Int64

const tokenEndpoint = "https://platen.example/oauth2/token"

// app creates an application whose key has the id "key", and returns its client.
func (w *world) app(n docgen.NewApplication) (docgen.Application, *docgen.Client) {
	w.t.Helper()
	ctx := w.t.Context()
	app, secret, err := w.CreateApplication(ctx, n)
	must(w.t, err)
	der, err := x509.MarshalPKIXPublicKey(&signingKey().PublicKey)
	must(w.t, err)
	_, err = w.AddApplicationKey(ctx, app.ClientID, "key", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	must(w.t, err)
	client, err := w.AuthenticateClient(ctx, app.ClientID, secret)
	must(w.t, err)
	return app, client
}

// assertion signs valid claims for the service account of an application, with some changed; a nil value removes a
// claim.
func (w *world) assertion(app docgen.Application, method jwt.SigningMethod, key any, kid string, changes jwt.MapClaims) string {
	w.t.Helper()
	header := map[string]any{}
	if kid != "" {
		header["kid"] = kid
	}
	return w.assertionWith(app, method, key, header, changes)
}

// extended signs valid claims under a header with additional parameters.
func (w *world) extended(app docgen.Application, header map[string]any) string {
	w.t.Helper()
	return w.assertionWith(app, jwt.SigningMethodRS256, signingKey(), header, nil)
}

func (w *world) assertionWith(app docgen.Application, method jwt.SigningMethod, key any, header map[string]any,
	changes jwt.MapClaims) string {
	w.t.Helper()
	claims := jwt.MapClaims{
		"iss": app.ClientID, "sub": w.enterpriseID(), "box_sub_type": "enterprise", "aud": tokenEndpoint,
		"jti": fmt.Sprintf("a jti of its own: %d", jtis.Add(1)), "exp": w.clock.now().Add(30 * time.Second).Unix(),
	}
	for name, value := range changes {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	token := jwt.NewWithClaims(method, claims)
	maps.Copy(token.Header, header)
	text, err := token.SignedString(key)
	must(w.t, err)
	return text
}

func (w *world) enterpriseID() string { return strconv.FormatInt(w.EnterpriseID(), 10) }

func (w *world) assert(client *docgen.Client, assertion string) (docgen.Tokens, error) {
	return w.Grant(w.t.Context(), client, docgen.GrantRequest{Type: docgen.GrantAssertion, Assertion: assertion, Audience: tokenEndpoint})
}

// wantReason checks that a grant was rejected for a reason with a description, or succeeded if the reason is empty.
func wantReason(t testing.TB, err error, reason docgen.GrantReason, part string) {
	t.Helper()
	refused, _ := errors.AsType[*docgen.GrantError](err)
	if reason == "" && err == nil {
		return
	}
	if refused == nil || refused.Reason != reason || !strings.Contains(refused.Description, part) {
		t.Errorf("error = %v, want %s with %q", err, reason, part)
	}
}

func TestAssertions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		app, client := w.app(docgen.NewApplication{Name: "App", ActsAsUsers: true})
		_, modest := w.app(docgen.NewApplication{Name: "Modest"})
		bob := strconv.FormatInt(w.bob.User.ID, 10)
		otherKey, err := rsa.GenerateKey(rand.Reader, 2048)
		must(t, err)
		public, err := x509.MarshalPKIXPublicKey(&signingKey().PublicKey)
		must(t, err)
		publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
		at := func(d time.Duration) int64 { return w.clock.now().Add(d).Unix() }
		signed := func(changes jwt.MapClaims) string {
			return w.assertion(app, jwt.SigningMethodRS256, signingKey(), "key", changes)
		}
		tests := []struct {
			name      string
			assertion string
			reason    docgen.GrantReason
			part      string
		}{
			{"RS256", signed(nil), "", ""},
			{"RS384", w.assertion(app, jwt.SigningMethodRS384, signingKey(), "key", nil), "", ""},
			{"RS512", w.assertion(app, jwt.SigningMethodRS512, signingKey(), "key", nil), "", ""},
			{"a header that names no key", w.assertion(app, jwt.SigningMethodRS256, signingKey(), "", nil), "", ""},
			{"for a user", signed(jwt.MapClaims{"sub": bob, "box_sub_type": "user"}), "", ""},
			{"audience of client libraries", signed(jwt.MapClaims{"aud": "https://api.box.com/oauth2/token"}), "", ""},
			{"audience in a list", signed(jwt.MapClaims{"aud": []string{"x", tokenEndpoint}}), "", ""},
			{"at the end of the time", signed(jwt.MapClaims{"exp": at(65 * time.Second)}), "", ""},
			{"a clock that is 5 s behind", signed(jwt.MapClaims{"exp": at(-4 * time.Second)}), "", ""},
			{"a clock that is 5 s ahead", signed(jwt.MapClaims{"iat": at(4 * time.Second), "nbf": at(4 * time.Second)}), "", ""},
			{"the shortest jti", signed(jwt.MapClaims{"jti": strings.Repeat("é", 16)}), "", ""},

			{"no algorithm", w.assertion(app, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "key", nil), "invalid_grant", "RS256"},
			{"HMAC with the public key", w.assertion(app, jwt.SigningMethodHS256, publicPEM, "key", nil), "invalid_grant", "RS256"},
			{"RSA-PSS", w.assertion(app, jwt.SigningMethodPS256, signingKey(), "key", nil), "invalid_grant", "RS256"},
			{"another key", w.assertion(app, jwt.SigningMethodRS256, otherKey, "key", nil), "invalid_grant", "private key"},
			{"a critical extension", w.extended(app, map[string]any{"crit": []string{"x"}, "x": 1}), "invalid_grant", "crit"},
			{"no critical extension", w.extended(app, map[string]any{"crit": []string{}}), "invalid_grant", "crit"},
			{"nothing critical", w.extended(app, map[string]any{"crit": nil}), "invalid_grant", "crit"},
			{"a payload that is not encoded", w.extended(app, map[string]any{"b64": false}), "invalid_grant", "b64"},
			{"an unknown key", w.assertion(app, jwt.SigningMethodRS256, signingKey(), "other", nil), "invalid_grant", "kid"},
			{"a key that no database can keep", w.assertion(app, jwt.SigningMethodRS256, signingKey(), "\x00", nil), "invalid_grant", "kid"},
			{"another key, of a header that names none", w.assertion(app, jwt.SigningMethodRS256, otherKey, "", nil), "invalid_grant",
				"private key"},
			{"no JWT", "x", "invalid_grant", "not a JWT"},
			{"far too long", strings.Repeat("x", 1<<20), "invalid_grant", "bytes"},
			{"none", "", "invalid_request", "assertion"},
			{"cut", signed(nil)[:200], "invalid_grant", ""},
			{"another issuer", signed(jwt.MapClaims{"iss": "x"}), "invalid_grant", "iss"},
			{"no issuer", signed(jwt.MapClaims{"iss": nil}), "invalid_grant", "iss"},
			{"another audience", signed(jwt.MapClaims{"aud": "https://elsewhere.example/oauth2/token"}), "invalid_grant", "aud"},
			{"no audience", signed(jwt.MapClaims{"aud": nil}), "invalid_grant", ""},
			{"expired", signed(jwt.MapClaims{"exp": at(-6 * time.Second)}), "invalid_grant", "exp"},
			{"no end", signed(jwt.MapClaims{"exp": nil}), "invalid_grant", "required"},
			{"an end too far ahead", signed(jwt.MapClaims{"exp": at(66 * time.Second)}), "invalid_grant", "60 seconds"},
			{"not yet valid", signed(jwt.MapClaims{"nbf": at(6 * time.Second)}), "invalid_grant", "nbf"},
			{"made in the future", signed(jwt.MapClaims{"iat": at(6 * time.Second)}), "invalid_grant", "iat"},
			{"no jti", signed(jwt.MapClaims{"jti": nil}), "invalid_grant", "jti"},
			{"a short jti", signed(jwt.MapClaims{"jti": strings.Repeat("x", 15)}), "invalid_grant", "jti"},
			{"a long jti", signed(jwt.MapClaims{"jti": strings.Repeat("x", 129)}), "invalid_grant", "jti"},
			{"a jti that no database can keep", signed(jwt.MapClaims{"jti": strings.Repeat("\x00", 20)}), "invalid_grant", "jti"},
			{"no kind of subject", signed(jwt.MapClaims{"box_sub_type": nil}), "invalid_grant", "box_sub_type"},
			{"another kind of subject", signed(jwt.MapClaims{"box_sub_type": "external"}), "invalid_grant", "box_sub_type"},
			{"no subject", signed(jwt.MapClaims{"sub": nil}), "invalid_grant", "sub"},
			{"a subject that is no id", signed(jwt.MapClaims{"sub": "me"}), "invalid_grant", "sub"},
			{"another enterprise", signed(jwt.MapClaims{"sub": "4711"}), "invalid_grant", "enterprise"},
			{"an unknown user", signed(jwt.MapClaims{"sub": "4711", "box_sub_type": "user"}), "invalid_grant", "of an active user"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				tokens, err := w.assert(client, tt.assertion)
				wantReason(t, err, tt.reason, tt.part)
				if (tokens.Access != "") != (tt.reason == "") || tokens.Refresh != "" {
					t.Errorf("tokens %+v", tokens)
				}
			})
		}
		t.Run("of another application", func(t *testing.T) {
			_, err := w.assert(modest, signed(nil))
			wantReason(t, err, "invalid_grant", "iss")
		})
		t.Run("are used once, until they are forgotten because they have expired", func(t *testing.T) {
			once := signed(nil)
			_, err := w.assert(client, once)
			wantReason(t, err, "", "")
			_, err = w.assert(client, once)
			wantReason(t, err, "invalid_grant", "already used")
			w.clock.advance(71 * time.Second) // the maximum, with twice the slack
			_, err = w.RemoveExpired(t.Context())
			must(t, err)
			if n := w.count("SELECT COUNT(*) FROM assertions"); n != 0 {
				t.Errorf("%d assertions are kept after their time", n)
			}
			_, err = w.assert(client, once)
			wantReason(t, err, "invalid_grant", "exp")
		})
		t.Run("that are refused for their subject can be used again", func(t *testing.T) {
			must(t, w.exec("UPDATE users SET status = 'inactive' WHERE login = 'bob@example.com'"))
			again := signed(jwt.MapClaims{"sub": bob, "box_sub_type": "user"})
			_, err := w.assert(client, again)
			wantReason(t, err, "invalid_grant", "not the id of an active user")
			must(t, w.exec("UPDATE users SET status = 'active' WHERE login = 'bob@example.com'"))
			_, err = w.assert(client, again)
			wantReason(t, err, "", "")
		})
	})
}

// TestAssertionRace sends one assertion many times concurrently.
func TestAssertionRace(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		app, client := w.app(docgen.NewApplication{Name: "App"})
		assertion := w.assertion(app, jwt.SigningMethodRS256, signingKey(), "key", nil)
		given := 0
		for err := range atOnce(8, func() error { _, err := w.assert(client, assertion); return err }) {
			if err == nil {
				given++
				continue
			}
			wantReason(t, err, "invalid_grant", "already used")
		}
		if tokens := w.count("SELECT COUNT(*) FROM tokens WHERE expires_at <> 0"); given != 1 || tokens != 1 {
			t.Errorf("%d of 8 were given a token, and there are %d, want 1", given, tokens)
		}
	})
}

// atOnce calls a function n times concurrently and returns the results.
func atOnce(n int, call func() error) func(func(error) bool) {
	results := make(chan error, n)
	var begin sync.WaitGroup
	begin.Add(1)
	for range n {
		go func() {
			begin.Wait()
			results <- call()
		}()
	}
	begin.Done()
	return func(yield func(error) bool) {
		for range n {
			yield(<-results)
		}
	}
}

func (w *world) refresh(client *docgen.Client, token string, scope ...string) (docgen.Tokens, error) {
	return w.Grant(w.t.Context(), client, docgen.GrantRequest{Type: docgen.GrantRefresh, RefreshToken: token, Scope: strings.Join(scope, " ")})
}

// good reports whether an access token is accepted.
func (w *world) good(token string) bool {
	w.t.Helper()
	_, err := w.Authenticate(w.t.Context(), token)
	if err != nil {
		wantCode(w.t, err, docgen.CodeUnauthorized)
	}
	return err == nil
}

func TestRefreshTokens(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, client := w.app(docgen.NewApplication{Name: "App"})
		_, other := w.app(docgen.NewApplication{Name: "Other"})
		begin := func(t *testing.T) docgen.Tokens {
			t.Helper()
			tokens, err := w.CreateGrant(ctx, "app", "alice@example.com", nil)
			must(t, err)
			return tokens
		}
		t.Run("come with the next one, and end nothing", func(t *testing.T) {
			first := begin(t)
			second, err := w.refresh(client, first.Refresh)
			must(t, err)
			if second.Access == first.Access || second.Refresh == first.Refresh || !w.good(first.Access) || !w.good(second.Access) {
				t.Errorf("first %+v, second %+v", first, second)
			}
		})
		t.Run("that are used again revoke their grant, and nothing else", func(t *testing.T) {
			first, bystander := begin(t), begin(t)
			second, err := w.refresh(client, first.Refresh)
			must(t, err)
			_, err = w.refresh(client, first.Refresh)
			wantReason(t, err, "invalid_grant", "already used")
			_, err = w.refresh(client, second.Refresh)
			wantReason(t, err, "invalid_grant", "unknown")
			if w.good(first.Access) || w.good(second.Access) || !w.good(bystander.Access) {
				t.Error("not the tokens of the grant have ended")
			}
			_, err = w.refresh(client, bystander.Refresh)
			wantReason(t, err, "", "")
		})
		t.Run("give fewer scopes where asked, and all again", func(t *testing.T) {
			tokens, err := w.refresh(client, begin(t).Refresh, "root_readonly")
			must(t, err)
			if !slices.Equal(tokens.Scopes, []docgen.Scope{docgen.ScopeRead}) {
				t.Errorf("scopes %q", tokens.Scopes)
			}
			tokens, err = w.refresh(client, tokens.Refresh)
			must(t, err)
			if len(tokens.Scopes) != 4 {
				t.Errorf("scopes %q, want all four again", tokens.Scopes)
			}
			_, err = w.refresh(client, tokens.Refresh, "root_readonly", "manage_managed_users")
			wantReason(t, err, "invalid_scope", "root_readonly")
			_, err = w.refresh(client, tokens.Refresh)
			wantReason(t, err, "", "") // what was refused was not used
		})
		t.Run("of another client, unknown or absent are refused", func(t *testing.T) {
			tokens := begin(t)
			_, err := w.refresh(other, tokens.Refresh)
			wantReason(t, err, "invalid_grant", "unknown")
			_, err = w.refresh(client, tokens.Access)
			wantReason(t, err, "invalid_grant", "unknown")
			_, err = w.refresh(client, "")
			wantReason(t, err, "invalid_request", "refresh_token")
			_, err = w.refresh(client, tokens.Refresh)
			wantReason(t, err, "", "")
		})
		t.Run("of an inactive user are refused", func(t *testing.T) {
			tokens := begin(t)
			must(t, w.exec("UPDATE users SET status = 'inactive' WHERE login = 'alice@example.com'"))
			_, err := w.refresh(client, tokens.Refresh)
			wantReason(t, err, "invalid_grant", "not active")
			must(t, w.exec("UPDATE users SET status = 'active' WHERE login = 'alice@example.com'"))
			_, err = w.refresh(client, tokens.Refresh)
			wantReason(t, err, "", "")
		})
		t.Run("end after 60 days, and access tokens after an hour, and are forgotten", func(t *testing.T) {
			tokens := begin(t)
			w.clock.advance(time.Hour)
			if w.good(tokens.Access) {
				t.Error("the access token is good after an hour")
			}
			w.clock.advance(60*24*time.Hour - time.Hour - time.Second)
			next, err := w.refresh(client, tokens.Refresh)
			must(t, err)
			w.clock.advance(60 * 24 * time.Hour)
			_, err = w.refresh(client, next.Refresh)
			wantReason(t, err, "invalid_grant", "expired")
			_, err = w.RemoveExpired(ctx)
			must(t, err)
			if n := w.count("SELECT COUNT(*) FROM refresh_tokens"); n != 0 {
				t.Errorf("%d refresh tokens are kept after their time", n)
			}
			if n := w.count("SELECT COUNT(*) FROM tokens WHERE expires_at <> 0"); n != 0 {
				t.Errorf("%d tokens are kept after their time", n)
			}
		})
	})
}

// TestRefreshRace uses one refresh token many times concurrently: one request succeeds, and the whole grant is revoked.
func TestRefreshRace(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		_, client := w.app(docgen.NewApplication{Name: "App"})
		first, err := w.CreateGrant(t.Context(), "App", "alice@example.com", nil)
		must(t, err)
		given := make(chan docgen.Tokens, 8)
		won := 0
		for err := range atOnce(8, func() error {
			tokens, err := w.refresh(client, first.Refresh)
			given <- tokens
			return err
		}) {
			if err == nil {
				won++
			} else {
				wantReason(t, err, "invalid_grant", "")
			}
		}
		if won != 1 {
			t.Errorf("%d of 8 were given tokens, want 1", won)
		}
		for range 8 {
			if tokens := <-given; tokens.Access != "" && w.good(tokens.Access) {
				t.Error("the winner's access token is good, though the refresh token was used again")
			}
		}
		if n := w.count("SELECT COUNT(*) FROM refresh_tokens"); n != 0 || w.good(first.Access) {
			t.Errorf("%d refresh tokens of the grant are left", n)
		}
	})
}

func TestRevoke(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, client := w.app(docgen.NewApplication{Name: "App"})
		_, other := w.app(docgen.NewApplication{Name: "Other"})
		first, err := w.CreateGrant(ctx, "App", "alice@example.com", nil)
		must(t, err)
		wantReason(t, w.Revoke(ctx, client, ""), "invalid_request", "token")
		wantReason(t, w.Revoke(ctx, client, "nothing"), "", "")
		wantReason(t, w.Revoke(ctx, other, first.Access), "invalid_client", "does not belong to this client")
		wantReason(t, w.Revoke(ctx, other, first.Refresh), "invalid_client", "does not belong to this client")
		if !w.good(first.Access) {
			t.Error("another client has ended the token")
		}
		wantReason(t, w.Revoke(ctx, client, first.Access), "", "")
		if w.good(first.Access) {
			t.Error("the access token is good after its end")
		}
		second, err := w.refresh(client, first.Refresh)
		must(t, err)
		wantReason(t, w.Revoke(ctx, client, first.Refresh), "", "")
		if w.good(second.Access) {
			t.Error("an access token is good after the end of its grant")
		}
		_, err = w.refresh(client, second.Refresh)
		wantReason(t, err, "invalid_grant", "")
	})
}

func TestApplications(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		app, secret, err := w.CreateApplication(ctx,
			docgen.NewApplication{Name: "App", Scopes: []docgen.Scope{docgen.ScopeRead, docgen.ScopeGlobalContent}})
		must(t, err)
		enterprise := docgen.GrantRequest{Type: docgen.GrantClient, SubjectType: "enterprise", SubjectID: w.enterpriseID()}
		client, err := w.AuthenticateClient(ctx, app.ClientID, secret)
		must(t, err)
		tokens, err := w.Grant(ctx, client, enterprise)
		must(t, err)
		t.Run("have the scopes that the operator gave in their own account", func(t *testing.T) {
			c, err := w.Authenticate(ctx, tokens.Access)
			must(t, err)
			if c.User.ID != app.Account.ID || c.User.Kind != docgen.KindService || !slices.Contains(c.Scopes, docgen.ScopeGlobalContent) ||
				len(c.Scopes) != 2 {
				t.Errorf("caller %+v", c)
			}
			file := w.upload(w.alice, 0, "a.txt", "a")
			if _, err := w.File(ctx, c, file.ID); err != nil {
				t.Errorf("a file of another user: %v", err)
			}
		})
		t.Run("keep no secret that can be read", func(t *testing.T) {
			for _, row := range query[string](w, "SELECT secret_hash || client_id FROM applications") {
				if strings.Contains(row, secret) {
					t.Errorf("the secret is kept in %q", row)
				}
			}
		})
		t.Run("are authenticated only by the right secret", func(t *testing.T) {
			for _, pair := range [][2]string{{app.ClientID, ""}, {app.ClientID, secret[1:]}, {"", ""}, {"", secret}, {"nobody", secret},
				{"\x00", secret}} {
				_, err := w.AuthenticateClient(ctx, pair[0], pair[1])
				wantReason(t, err, "invalid_client", "not valid")
			}
		})
		t.Run("lose their secret to the next", func(t *testing.T) {
			renewed, err := w.RenewSecret(ctx, "APP")
			must(t, err)
			_, err = w.AuthenticateClient(ctx, app.ClientID, secret)
			wantReason(t, err, "invalid_client", "")
			_, err = w.AuthenticateClient(ctx, app.ClientID, renewed)
			wantReason(t, err, "", "")
		})
		t.Run("are rejected with all problems", func(t *testing.T) {
			_, _, err := w.CreateApplication(ctx, docgen.NewApplication{Name: " ", Scopes: []docgen.Scope{"x", docgen.ScopeRead, "y"}})
			if got := problemNames(t, err); !slices.Equal(got, []string{"name", "scope", "scope"}) {
				t.Errorf("problems with %q", got)
			}
			_, _, err = w.CreateApplication(ctx, docgen.NewApplication{Name: "app"})
			wantCode(t, err, docgen.CodeConflict)
			_, _, err = w.CreateApplication(ctx, docgen.NewApplication{Name: "COMMAND line"})
			wantCode(t, err, docgen.CodeBadRequest)
			weak, err := rsa.GenerateKey(rand.Reader, 1024)
			must(t, err)
			der, err := x509.MarshalPKIXPublicKey(&weak.PublicKey)
			must(t, err)
			for _, text := range [][]byte{nil, []byte("x"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})} {
				_, err = w.AddApplicationKey(ctx, "App", "k", text)
				wantCode(t, err, docgen.CodeBadRequest)
			}
			wantCode(t, w.RemoveApplicationKey(ctx, "App", "\x00"), docgen.CodeNotFound)
			public, err := x509.MarshalPKIXPublicKey(&signingKey().PublicKey)
			must(t, err)
			for n := range 11 {
				_, err = w.AddApplicationKey(ctx, "App", fmt.Sprint(n), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
				if n < 10 {
					must(t, err)
				}
			}
			wantCode(t, err, docgen.CodeConflict)
			wantCode(t, w.DeleteApplication(ctx, "Command line"), docgen.CodeNotFound)
			wantCode(t, w.DeleteApplication(ctx, "\x00"), docgen.CodeNotFound)
		})
		t.Run("end with all that is theirs", func(t *testing.T) {
			grant, err := w.CreateGrant(ctx, "App", "alice@example.com", nil)
			must(t, err)
			must(t, w.DeleteApplication(ctx, "App"))
			_, err = w.Grant(ctx, client, enterprise)
			wantReason(t, err, "invalid_client", "")
			_, err = w.refresh(client, grant.Refresh)
			wantReason(t, err, "invalid_client", "")
			if w.good(grant.Access) || w.good(tokens.Access) {
				t.Error("a token is good after the end of its application")
			}
			apps, err := w.Applications(ctx)
			if err != nil || len(apps) != 0 {
				t.Errorf("applications %+v, %v", apps, err)
			}
			_, _, err = w.CreateApplication(ctx, docgen.NewApplication{Name: "App"})
			wantCode(t, err, "")
		})
	})
}

// TestTokensHaveNoMoreScopes requests tokens in every way, with many applications, users, and scopes: no token has a
// scope that the application or the role lacks.
func TestTokensHaveNoMoreScopes(t *testing.T) {
	all := []docgen.Scope{
		docgen.ScopeRead, docgen.ScopeWrite, docgen.ScopeDocGen, docgen.ScopeWebhooks, docgen.ScopeManagedUsers, docgen.ScopeAppUsers,
		docgen.ScopeEnterprise, docgen.ScopeGlobalContent,
	}
	ordinary := all[:4]
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		users := map[string]docgen.User{}
		for _, role := range []string{docgen.RoleAdmin, docgen.RoleCoadmin, docgen.RoleUser} {
			user, err := w.CreateUser(ctx, docgen.NewUser{Login: role + "@example.com", Name: role, Role: role})
			must(t, err)
			users[role] = user
		}
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			n++
			granted := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 8, rapid.ID[docgen.Scope]).Draw(rt, "application")
			asked := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, 3, rapid.ID[docgen.Scope]).Draw(rt, "asked")
			role := rapid.SampledFrom([]string{docgen.RoleAdmin, docgen.RoleCoadmin, docgen.RoleUser}).Draw(rt, "role")
			_, client := w.app(docgen.NewApplication{Name: fmt.Sprint("App ", n), Scopes: granted, ActsAsUsers: true})
			words := make([]string, len(asked))
			for i, scope := range asked {
				words[i] = string(scope)
			}
			tokens, err := w.Grant(ctx, client, docgen.GrantRequest{
				Type: docgen.GrantClient, SubjectType: "user", SubjectID: strconv.FormatInt(users[role].ID, 10), Scope: strings.Join(words, " "),
			})
			if err != nil {
				wantReason(t, err, "invalid_scope", "")
				return
			}
			c, err := w.Authenticate(ctx, tokens.Access)
			if err != nil {
				rt.Fatal(err)
			}
			for _, scope := range c.Scopes {
				if !slices.Contains(granted, scope) || role == docgen.RoleUser && !slices.Contains(ordinary, scope) || len(asked) > 0 &&
					!slices.Contains(asked, scope) {
					rt.Errorf("the token has %s", scope)
				}
			}
		})
		t.Run("nor more than the role that the user has now", func(t *testing.T) {
			_, client := w.app(docgen.NewApplication{Name: "Last", Scopes: all, ActsAsUsers: true})
			tokens, err := w.Grant(ctx, client, docgen.GrantRequest{Type: docgen.GrantClient, SubjectType: "user",
				SubjectID: strconv.FormatInt(users[docgen.RoleCoadmin].ID, 10)})
			must(t, err)
			must(t, w.exec("UPDATE users SET role = 'user' WHERE login = 'coadmin@example.com'"))
			c, err := w.Authenticate(ctx, tokens.Access)
			must(t, err)
			if len(c.Scopes) != len(ordinary) {
				t.Errorf("scopes %q after the role was lowered", c.Scopes)
			}
		})
	})
}

// TestEndingRace revokes grants and deletes applications while tokens are issued: the tokens issued meanwhile are
// revoked too.
func TestEndingRace(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		app, client := w.app(docgen.NewApplication{Name: "App"})
		t.Run("of a grant whose next token is used", func(t *testing.T) {
			first, err := w.CreateGrant(ctx, "App", "alice@example.com", nil)
			must(t, err)
			second, err := w.refresh(client, first.Refresh)
			must(t, err)
			next := make(chan string, 8)
			for i := range 8 {
				next <- []string{first.Refresh, second.Refresh}[i%2]
			}
			for err := range atOnce(8, func() error { _, err := w.refresh(client, <-next); return err }) {
				if err != nil {
					wantReason(t, err, "invalid_grant", "")
				}
			}
			if n := w.count("SELECT COUNT(*) FROM refresh_tokens") + w.count("SELECT COUNT(*) FROM tokens WHERE grant_id <> 0"); n != 0 {
				t.Errorf("%d tokens of the grant are left", n)
			}
		})
		t.Run("of an application that asks for tokens", func(t *testing.T) {
			enterprise := docgen.GrantRequest{Type: docgen.GrantClient, SubjectType: "enterprise", SubjectID: w.enterpriseID()}
			next := make(chan int, 8)
			for i := range 8 {
				next <- i
			}
			for err := range atOnce(8, func() error {
				if <-next == 4 {
					return w.DeleteApplication(ctx, app.ClientID)
				}
				_, err := w.Grant(ctx, client, enterprise)
				return err
			}) {
				if err != nil {
					wantReason(t, err, "invalid_client", "")
				}
			}
			if n := w.count(fmt.Sprint("SELECT COUNT(*) FROM tokens WHERE application_id = ", app.ID)); n != 0 {
				t.Errorf("%d tokens of the application are left", n)
			}
		})
	})
}
