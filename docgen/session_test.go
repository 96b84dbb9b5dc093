package docgen_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/docgen"
)

const goodPassword = "nine purple elephants juggle"

// person creates a user with a password.
func (w *world) person(name, role string) docgen.User {
	w.t.Helper()
	user, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: name + "@example.com", Name: name, Role: role})
	must(w.t, err)
	made, err := w.InviteUser(w.t.Context(), w.Operator(), user.ID)
	must(w.t, err)
	must(w.t, w.AcceptInvitation(w.t.Context(), made.Secret, goodPassword, "192.0.2.1"))
	return user
}

func (w *world) trySignIn(login, password, address string) (docgen.NewSession, error) {
	return w.SignIn(w.t.Context(), docgen.SignIn{Login: login + "@example.com", Password: password, Address: address})
}

// signIn signs a person in.
func (w *world) signIn(login string) (docgen.NewSession, *docgen.Caller) {
	w.t.Helper()
	made, err := w.trySignIn(login, goodPassword, "192.0.2.1")
	must(w.t, err)
	c, err := w.AuthenticateSession(w.t.Context(), made.Secret)
	must(w.t, err)
	return made, c
}

func (w *world) isSignedIn(session docgen.NewSession) bool {
	w.t.Helper()
	_, err := w.AuthenticateSession(w.t.Context(), session.Secret)
	if err != nil && !docgen.IsCode(err, docgen.CodeUnauthorized) {
		w.t.Fatal(err)
	}
	return err == nil
}

func wantLimit(t *testing.T, err error) {
	t.Helper()
	if _, limited := errors.AsType[*docgen.SignInLimitError](err); !limited {
		t.Errorf("error = %v, want that attempts are limited", err)
	}
}

func TestSessionsEnd(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.person("mira", docgen.RoleUser)
		for name, tt := range map[string]struct {
			remember       bool
			idle, absolute time.Duration
		}{"usual": {false, 2 * time.Hour, 12 * time.Hour}, "remembered": {true, 7 * 24 * time.Hour, 30 * 24 * time.Hour}} {
			begin := func() docgen.NewSession {
				made, err := w.SignIn(t.Context(), docgen.SignIn{Login: "mira@example.com", Password: goodPassword, Remember: tt.remember})
				must(t, err)
				return made
			}
			unused := begin()
			w.clock.advance(tt.idle - time.Second)
			if !w.isSignedIn(unused) {
				t.Errorf("%s: it ended too early", name)
			}
			must(t, w.RecordUses(t.Context()))
			w.clock.advance(tt.idle - time.Second)
			if !w.isSignedIn(unused) {
				t.Errorf("%s: it ended although it was used", name)
			}
			w.clock.advance(2 * time.Second) // the last use was not recorded
			if w.isSignedIn(unused) {
				t.Errorf("%s: it did not end without use", name)
			}
			_, err := w.RemoveExpired(t.Context())
			must(t, err)
			if n := w.count("SELECT COUNT(*) FROM tokens WHERE idle > 0"); n != 0 {
				t.Errorf("%s: %d rows are left", name, n)
			}
			used, began := begin(), w.clock.now()
			for w.clock.now().Sub(began) < tt.absolute-tt.idle {
				w.clock.advance(tt.idle / 2)
				if !w.isSignedIn(used) {
					t.Fatalf("%s: it ended although it was used", name)
				}
				must(t, w.RecordUses(t.Context()))
			}
			w.clock.advance(tt.absolute - w.clock.now().Sub(began) - time.Second)
			if !w.isSignedIn(used) {
				t.Errorf("%s: it ended before its time", name)
			}
			must(t, w.RecordUses(t.Context()))
			w.clock.advance(time.Second)
			if w.isSignedIn(used) {
				t.Errorf("%s: it is too old", name)
			}
		}
	})
}

func TestSessions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		user := w.person("mira", docgen.RoleAdmin)
		w.person("max", docgen.RoleUser)
		first, c := w.signIn("mira")
		second, _ := w.signIn("mira")
		other, otherCaller := w.signIn("max")
		for _, scope := range c.Scopes {
			if scope == docgen.ScopeGlobalContent {
				t.Error("a session has access to the content of everyone")
			}
		}
		if _, err := w.As(ctx, c, otherCaller.User.ID); err != nil {
			t.Errorf("an administrator cannot act for a user: %v", err)
		}
		list, err := w.Sessions(ctx, c)
		must(t, err)
		if len(list) != 2 || list[0].ID != second.ID || !list[1].Current || list[0].Current || list[0].Address != "192.0.2.1" {
			t.Errorf("sessions: %+v", list)
		}
		token := w.caller("mira", docgen.ScopeWrite)
		as, err := w.As(ctx, c, otherCaller.User.ID)
		must(t, err)
		for name, who := range map[string]*docgen.Caller{"a token": token, "someone who acts for a user": as} {
			_, err := w.Sessions(ctx, who)
			for _, err := range []error{err, w.EndSession(ctx, who, other.ID), w.EndSessions(ctx, who),
				w.ChangePassword(ctx, who, goodPassword, goodPassword+"!", "")} {
				if !docgen.IsCode(err, docgen.CodeForbidden) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		wantCode(t, w.EndSession(ctx, c, other.ID), docgen.CodeNotFound)      // of someone else
		wantCode(t, w.EndSession(ctx, c, token.TokenID), docgen.CodeNotFound) // a token
		must(t, w.EndSession(ctx, c, second.ID))
		if w.isSignedIn(second) || !w.isSignedIn(first) || !w.isSignedIn(other) {
			t.Error("the wrong session ended")
		}
		must(t, w.RevokeToken(ctx, w.Operator(), other.ID)) // as administrators end the session of a user
		if w.isSignedIn(other) {
			t.Error("a revoked session works")
		}
		made, err := w.CreateOwnToken(ctx, c, docgen.NewToken{TTL: 300 * 24 * time.Hour})
		must(t, err)
		must(t, w.EndSessions(ctx, c))
		if _, err := w.Authenticate(ctx, made.Token); err != nil || w.isSignedIn(first) {
			t.Errorf("after signing out everywhere: %v", err)
		}
		wantCode(t, func() error { _, err := w.CreateOwnToken(ctx, c, docgen.NewToken{}); return err }(), docgen.CodeUnauthorized)

		oldest, _ := w.signIn("mira")
		next, _ := w.signIn("mira")
		must(t, w.exec(`INSERT INTO tokens (id, hash, user_id, application_id, scopes, created_at, expires_at, idle)
			WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 48)
			SELECT tokens.id + i, 'copy ' || i, user_id, application_id, scopes, created_at, expires_at, idle FROM n, tokens WHERE tokens.id = $1`,
			next.ID))
		w.clock.advance(time.Minute) // ids grow with time
		newest, _ := w.signIn("mira")
		if w.isSignedIn(oldest) || !w.isSignedIn(next) || !w.isSignedIn(newest) {
			t.Error("not the oldest of 51 sessions ended")
		}
		w.member("boss", docgen.RoleAdmin)
		_, err = w.UpdateUser(ctx, w.Operator(), user.ID, docgen.UserChange{Role: new(docgen.RoleUser)})
		must(t, err)
		c, err = w.AuthenticateSession(ctx, newest.Secret)
		must(t, err)
		for _, scope := range c.Scopes {
			if scope == docgen.ScopeManagedUsers {
				t.Error("the session of a former administrator manages users")
			}
		}
		_, err = w.UpdateUser(ctx, w.Operator(), user.ID, docgen.UserChange{Status: new(docgen.StatusInactive)})
		must(t, err)
		if w.isSignedIn(newest) {
			t.Error("an inactive user is signed in")
		}
		must(t, w.DeleteUser(ctx, w.Operator(), user.ID, true))
		for _, table := range []string{"passwords", "password_invitations", "tokens"} {
			if n := w.count(fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE user_id = %d", table, user.ID)); n != 0 {
				t.Errorf("%d rows of %s are left of a deleted user", n, table)
			}
		}
	})
}

func TestPasswordInvitations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.member("admin", docgen.RoleAdmin)
		w.member("deputy", docgen.RoleCoadmin)
		admin := w.caller("admin")
		alice := w.alice.User.ID
		for name, tt := range map[string]struct {
			by   *docgen.Caller
			user int64
			code docgen.Code
		}{
			"by a user":                       {w.bob, alice, docgen.CodeScope},
			"of oneself without a scope":      {w.alice, alice, docgen.CodeScope},
			"with a token for users alone":    {w.caller("admin", docgen.ScopeManagedUsers), alice, docgen.CodeForbidden},
			"of an administrator by a deputy": {w.caller("deputy"), admin.User.ID, docgen.CodeForbidden},
			"of nobody":                       {admin, 4711, docgen.CodeNotFound},
			"of a service account":            {admin, w.service(docgen.NewApplication{Name: "Robot"}).User.ID, docgen.CodeNotFound},
		} {
			_, err := w.InviteUser(ctx, tt.by, tt.user)
			if !docgen.IsCode(err, tt.code) {
				t.Errorf("%s: %v, want %s", name, err, tt.code)
			}
		}
		for _, n := range []docgen.NewUser{
			{Name: "app", PlatformOnly: true}, {Name: "x", Login: "x@example.com", Status: docgen.StatusInactive},
		} {
			user, err := w.CreateUser(ctx, n)
			must(t, err)
			_, err = w.InviteUser(ctx, w.Operator(), user.ID)
			wantCode(t, err, docgen.CodeConflict)
		}

		old, err := w.InviteUser(ctx, admin, alice)
		must(t, err)
		made, err := w.InviteUser(ctx, admin, alice)
		must(t, err)
		accept := func(secret, password string) error { return w.AcceptInvitation(ctx, secret, password, "192.0.2.1") }
		for _, secret := range []string{"", "unknown", old.Secret} {
			wantCode(t, accept(secret, goodPassword), docgen.CodeUnauthorized)
		}
		for _, password := range []string{"", "too short", strings.Repeat("x", 20), strings.Repeat("ab", 200), "ALICE@example.com",
			"twelve \xff bytes"} {
			err := accept(made.Secret, password)
			if !docgen.IsCode(err, docgen.CodeBadRequest) || password != "" && strings.Contains(err.Error(), password) {
				t.Errorf("password %q: %v", password, err)
			}
		}
		must(t, accept(made.Secret, "zwölf große Äpfel"))
		wantCode(t, accept(made.Secret, goodPassword), docgen.CodeUnauthorized)
		_, err = w.trySignIn("alice", "zwo\u0308lf gro\u00dfe A\u0308pfel", "192.0.2.1") // as another keyboard writes it
		must(t, err)
		if n := w.count("SELECT COUNT(*) FROM passwords WHERE hash LIKE '$argon2id$v=19$m=19456,t=2,p=1$%'"); n != 1 {
			t.Errorf("%d hashes with the right parameters", n)
		}

		late, err := w.InviteUser(ctx, admin, w.bob.User.ID)
		must(t, err)
		w.clock.advance(72 * time.Hour)
		wantCode(t, accept(late.Secret, goodPassword), docgen.CodeUnauthorized)
		if _, err := w.RemoveExpired(ctx); err != nil || w.count("SELECT COUNT(*) FROM password_invitations") != 0 {
			t.Errorf("an expired invitation is kept: %v", err)
		}

		// A new password ends all sessions. Of many who have the secret at once, one sets the password.
		session, err := w.trySignIn("alice", "zwölf große Äpfel", "192.0.2.1")
		must(t, err)
		again, err := w.InviteUser(ctx, admin, alice)
		must(t, err)
		var wait sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wait.Go(func() { errs[i] = accept(again.Secret, fmt.Sprint(goodPassword, i)) })
		}
		wait.Wait()
		won := 0
		for i, err := range errs {
			if err != nil {
				wantCode(t, err, docgen.CodeUnauthorized)
				continue
			}
			won++
			_, err := w.trySignIn("alice", fmt.Sprint(goodPassword, i), "192.0.2.1")
			must(t, err)
		}
		if won != 1 || w.isSignedIn(session) {
			t.Errorf("%d have set the password", won)
		}
	})
}

func TestChangePassword(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.person("mira", docgen.RoleUser)
		other, _ := w.signIn("mira")
		mine, c := w.signIn("mira")
		wantCode(t, w.ChangePassword(ctx, c, "wrong", goodPassword+"!", "x"), docgen.CodeForbidden)
		wantCode(t, w.ChangePassword(ctx, c, goodPassword, "short", "x"), docgen.CodeBadRequest)
		must(t, w.ChangePassword(ctx, c, goodPassword, goodPassword+"!", "x"))
		if w.isSignedIn(other) || !w.isSignedIn(mine) {
			t.Error("not the other sessions ended")
		}
		_, err := w.trySignIn("mira", goodPassword, "192.0.2.9")
		wantCode(t, err, docgen.CodeUnauthorized)
		for range 5 {
			wantCode(t, w.ChangePassword(ctx, c, "wrong", goodPassword, "x"), docgen.CodeForbidden)
		}
		wantLimit(t, w.ChangePassword(ctx, c, goodPassword+"!", goodPassword, "x")) // a stolen session cannot guess it
		if _, err := w.trySignIn("mira", goodPassword+"!", "192.0.2.9"); err != nil {
			t.Errorf("the person cannot sign in: %v", err)
		}
	})
}

// Whatever others try, a person can sign in from where she is signed in, and with an invitation.
func TestSignInLimits(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.person("mira", docgen.RoleUser)
		w.signIn("mira") // from 192.0.2.1
		fail := func(login, address string) error {
			t.Helper()
			_, err := w.trySignIn(login, "wrong password", address)
			return err
		}
		for i := range 50 {
			wantCode(t, fail("mira", fmt.Sprint("attacker ", i)), docgen.CodeUnauthorized)
		}
		wantLimit(t, fail("mira", "attacker 50"))
		_, err := w.trySignIn("mira", goodPassword, "a café")
		wantLimit(t, err) // for a while
		_, err = w.trySignIn("mira", goodPassword, "192.0.2.1")
		must(t, err)
		made, err := w.InviteUser(ctx, w.Operator(), w.userNamed("mira"))
		must(t, err)
		must(t, w.AcceptInvitation(ctx, made.Secret, goodPassword, "a café"))
		w.clock.advance(15 * time.Minute)
		_, err = w.trySignIn("mira", goodPassword, "a café")
		must(t, err)

		for i := range 50 {
			wantCode(t, fail(fmt.Sprint("user ", i), "attacker"), docgen.CodeUnauthorized)
		}
		wantLimit(t, fail("another", "attacker"))
		_, err = w.trySignIn("mira", goodPassword, "attacker")
		wantLimit(t, err)

		// Many at once do not pass the limit, and successes do not count.
		w.clock.advance(time.Hour)
		var wait sync.WaitGroup
		errs := make([]error, 20)
		for i := range errs {
			wait.Go(func() { errs[i] = fail("mira", "crowd") })
		}
		wait.Wait()
		checked := 0
		for _, err := range errs {
			if docgen.IsCode(err, docgen.CodeUnauthorized) {
				checked++
			} else {
				wantLimit(t, err)
			}
		}
		if checked != 5 {
			t.Errorf("%d passwords were checked, want 5", checked)
		}
		for range 10 {
			_, err := w.trySignIn("mira", goodPassword, "office")
			must(t, err)
		}
		denied, cancel := context.WithCancel(ctx)
		cancel()
		for range 10 {
			if _, err := w.SignIn(denied, docgen.SignIn{Login: "mira@example.com", Password: "x", Address: "broken off"}); err == nil {
				t.Error("a request that ended signed in")
			}
		}
		_, err = w.trySignIn("mira", goodPassword, "broken off")
		must(t, err)
	})
}

// userNamed returns the id of a user.
func (w *world) userNamed(name string) int64 {
	w.t.Helper()
	user, err := w.FindUser(w.t.Context(), w.Operator(), name+"@example.com")
	must(w.t, err)
	return user.ID
}

// Failures are counted for a bounded number of logins and addresses.
func TestAttemptsAreBounded(t *testing.T) {
	docgen.CheckAttemptsAreBounded(t)
}

// The audit log has who signed in and who failed, but no secrets.
func TestSessionsAreAudited(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := docgen.WithOrigin(t.Context(), docgen.Origin{Address: "192.0.2.7", Agent: "browser", RequestID: "r"})
		user := w.person("mira", docgen.RoleUser)
		made, err := w.SignIn(ctx, docgen.SignIn{Login: "mira@example.com", Password: goodPassword, Address: "192.0.2.7"})
		must(t, err)
		_, err = w.SignIn(ctx, docgen.SignIn{Login: "mira@example.com", Password: "a wrong password", Address: "192.0.2.7"})
		wantCode(t, err, docgen.CodeUnauthorized)
		must(t, w.RecordDenials(ctx))
		var text strings.Builder
		actions := map[docgen.AuditAction]int{}
		for _, e := range w.audited(docgen.AuditFilter{}) {
			actions[e.Action]++
			fmt.Fprintf(&text, "%+v\n", e)
		}
		if actions[docgen.AuditUserInvited] != 1 || actions[docgen.AuditPasswordSet] != 1 || actions[docgen.AuditSignedIn] != 1 ||
			actions[docgen.AuditDenied] != 1 {
			t.Errorf("the audit log has %v", actions)
		}
		for _, secret := range []string{made.Secret, goodPassword, "a wrong password", "argon2"} {
			if strings.Contains(text.String(), secret) {
				t.Errorf("the audit log has %q", secret)
			}
		}
		if e := w.audited(docgen.AuditFilter{Action: docgen.AuditSignedIn})[0]; e.Actor.ID != user.ID || e.Origin.Address != "192.0.2.7" ||
			e.TokenID != made.ID {
			t.Errorf("signing in: %+v", e)
		}
	})
}
