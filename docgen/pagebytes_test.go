package docgen_test

import (
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// A room counts the bytes that a caller requests, and rejects requests beyond its limit.
type room struct{ asked, most int64 }

// give returns the caller with the room.
func (r *room) give(c *docgen.Caller) *docgen.Caller {
	asking := *c
	asking.Room = func(bytes int64) error {
		if r.asked += bytes; r.asked > r.most {
			return &docgen.Error{Code: docgen.CodeUnavailable, Message: "no room"}
		}
		return nil
	}
	return &asking
}

// TestAttemptsAreBoundedInBytes lists attempts with responses of the maximum size. A page requests memory even if it is
// read in one portion.
func TestAttemptsAreBoundedInBytes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		hook := w.hook(w.alice, folder, docgen.FileUploaded)
		w.upload(w.alice, folder, "a", "text")
		box, err := w.Outbox(ctx, hook.ID, 1)
		must(t, err)
		tries := make([]docgen.AttemptResult, 120)
		for i := range tries {
			tries[i] = docgen.AttemptResult{Again: w.clock.now().Add(time.Hour), Attempt: docgen.Attempt{
				DeliveryID: box.Deliveries[0].ID, Name: "name", BegunAt: w.clock.now(), Outcome: "status", Status: 500,
				ResponseHeaders: map[string][]string{"X": {strings.Repeat(`"`, 32<<10)}}, ResponseBody: strings.Repeat("\x01", 16<<10),
			}}
		}
		for portion := range 12 {
			must(t, w.RecordAttempts(ctx, tries[portion*10:][:10]))
		}
		seen, pages := 0, 0
		for marker := ""; ; {
			page, err := w.Attempts(ctx, w.alice, box.Deliveries[0].ID, docgen.PageRequest{Limit: 1000, Marker: marker})
			must(t, err)
			size := 0
			for _, a := range page.Entries {
				size += 6*len(a.ResponseBody) + 2*len(a.ResponseHeaders["X"][0])
			}
			if size > docgen.MaxPageBytes {
				t.Errorf("a page of %d attempts has %d bytes", len(page.Entries), size)
			}
			seen, pages = seen+len(page.Entries), pages+1
			if marker = page.Next; marker == "" {
				break
			}
		}
		if seen != len(tries) || pages < 3 {
			t.Errorf("%d attempts on %d pages", seen, pages)
		}
		few := room{most: 1 << 20}
		_, err = w.Attempts(ctx, few.give(w.alice), box.Deliveries[0].ID, docgen.PageRequest{Limit: 8})
		wantCode(t, err, docgen.CodeUnavailable)
		if read := int64(10 * (6*16 + 2*32) << 10); few.asked > 2*read {
			t.Errorf("%d bytes were read before the page asked for room", few.asked/2)
		}
	})
}

// TestOffsetPagesAreBoundedInBytes lists users with names larger than any operation allows.
func TestOffsetPagesAreBoundedInBytes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		app := w.service(docgen.NewApplication{Name: "Customers", Scopes: []docgen.Scope{docgen.ScopeAppUsers}})
		for _, name := range numbered("customer %d", 30) {
			_, err := w.AddUser(t.Context(), app, docgen.NewUser{Name: name, PlatformOnly: true})
			must(t, err)
		}
		list := func(c *docgen.Caller, limit int) (docgen.OffsetPage[docgen.User], error) {
			return w.UsersByOffset(t.Context(), c, docgen.UserFilter{}, docgen.OffsetRequest{Limit: limit})
		}
		none := room{}
		_, err := list(none.give(app), 1000)
		must(t, err)
		if none.asked != 0 {
			t.Errorf("a small page asked for %d bytes", none.asked)
		}
		must(t, w.exec("UPDATE users SET name = $1", strings.Repeat("1", 300_000)))
		_, err = list(app, 1000)
		wantCode(t, err, docgen.CodeInvalidLimit)
		some := room{most: 64 << 20}
		page, err := list(some.give(app), 20)
		must(t, err)
		if len(page.Entries) != 20 || page.Total < 30 {
			t.Errorf("got %d of %d users", len(page.Entries), page.Total)
		}
		if some.asked < 10<<20 {
			t.Errorf("a page of 6 MB asked for %d bytes", some.asked)
		}
		_, err = list(none.give(app), 20)
		wantCode(t, err, docgen.CodeUnavailable)
	})
}
