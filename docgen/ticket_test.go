package docgen_test

import (
	"strings"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store/storetest"
)

// TestTickets redeems download tickets that are valid, changed, or stale.
func TestTickets(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.upload(w.alice, 0, "a.txt", "first")
		ticket := func(c *docgen.Caller) string {
			t.Helper()
			text, err := w.Ticket(ctx, c, file.ID, 0)
			must(t, err)
			return text
		}
		valid := ticket(w.alice)
		w.version(w.alice, file.ID, "second")
		c, redeemed, err := w.Redeem(ctx, valid)
		must(t, err)
		if c.User.ID != w.alice.User.ID || c.TokenID != w.alice.TokenID || redeemed.FileID != file.ID || redeemed.VersionID != file.VersionID {
			t.Errorf("the ticket is %+v for %+v", redeemed, c)
		}

		refused := func(why, text string) {
			t.Helper()
			if _, _, err := w.Redeem(ctx, text); !docgen.IsCode(err, docgen.CodeUnauthorized) {
				t.Errorf("%s: %v", why, err)
			}
		}
		for i := range valid {
			other := byte('A')
			if valid[i] == other {
				other = 'B'
			}
			refused("a changed character", valid[:i]+string(other)+valid[i+1:])
			refused("a missing end", valid[:i])
		}
		for _, text := range []string{valid + "A", valid + "\n", " " + valid, strings.Repeat("A", len(valid)), w.alice.User.Login} {
			refused("an invented ticket", text)
		}
		blobs, err := blob.Open(t.TempDir())
		must(t, err)
		other := newWorld(t, storetest.SQLite(t), blobs, docgen.Limits{})
		foreign, err := other.Ticket(ctx, other.alice, other.upload(other.alice, 0, "a.txt", "x").ID, 0)
		must(t, err)
		refused("a ticket of another server", foreign)

		_, err = w.Ticket(ctx, w.bob, file.ID, 0)
		wantCode(t, err, docgen.CodeNotFound)
		w.share(docgen.File, file.ID, w.bob, docgen.RolePreviewer)
		_, err = w.Ticket(ctx, w.bob, file.ID, 0)
		wantCode(t, err, docgen.CodeForbidden)

		w.clock.advance(docgen.TicketTTL - time.Microsecond)
		_, _, err = w.Redeem(ctx, valid)
		must(t, err)
		w.clock.advance(time.Microsecond)
		refused("an expired ticket", valid)

		bobs := w.upload(w.bob, 0, "b.txt", "x")
		text, err := w.Ticket(ctx, w.bob, bobs.ID, 0)
		must(t, err)
		must(t, w.RevokeToken(ctx, w.bob, w.bob.TokenID))
		refused("a ticket of a revoked token", text)
	})
}

// TestTicketsOfOthers redeems a ticket that was issued to a user on behalf of another.
func TestTicketsOfOthers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.contentManager("root")
		root := w.caller("root", docgen.ScopeRead, docgen.ScopeManagedUsers)
		file := w.upload(w.alice, 0, "a.txt", "first")
		as, err := w.As(ctx, root, w.alice.User.ID)
		must(t, err)
		text, err := w.Ticket(ctx, as, file.ID, 0)
		must(t, err)
		c, _, err := w.Redeem(ctx, text)
		must(t, err)
		if c.User.ID != w.alice.User.ID || c.ActorID != root.User.ID {
			t.Errorf("the caller is %d, acting for %d", c.ActorID, c.User.ID)
		}
		_, err = w.UpdateUser(ctx, root, w.alice.User.ID, docgen.UserChange{Status: new(docgen.StatusInactive)})
		must(t, err)
		if _, _, err := w.Redeem(ctx, text); err == nil {
			t.Error("the ticket outlives its user")
		}
	})
}
