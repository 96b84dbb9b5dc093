package docgen_test

import (
	"fmt"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
)

// TestBacklog counts what waits for webhooks, without what waits for listeners.
func TestBacklog(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		want := func(want docgen.Backlog) {
			t.Helper()
			got, err := w.Backlog(ctx)
			must(t, err)
			if got != want {
				t.Errorf("backlog %+v, want %+v", got, want)
			}
		}
		want(docgen.Backlog{})
		folder := w.folder(w.alice, 0, "inbox")
		_, err := w.CreateListener(ctx, w.alice, docgen.WebhookTarget{Kind: docgen.Folder, ID: folder}, nil)
		must(t, err)
		w.upload(w.alice, folder, "heard.txt", "text")
		w.clock.advance(time.Second)
		want(docgen.Backlog{})

		quiet, hook := w.hook(w.bob, w.folder(w.bob, 0, "quiet"), docgen.FileUploaded), w.hook(w.alice, folder, docgen.FileUploaded)
		w.upload(w.alice, folder, "a.txt", "text")
		w.clock.advance(3 * time.Second)
		w.upload(w.alice, folder, "b.txt", "text")
		w.clock.advance(2 * time.Second)
		want(docgen.Backlog{Late: 5 * time.Second, Pending: 2, Active: 2})

		must(t, w.PostponeDeliveries(ctx, hook.ID, w.clock.now().Add(time.Minute), "later"))
		want(docgen.Backlog{Pending: 2, Active: 2})
		w.clock.advance(time.Minute + time.Second)
		must(t, w.DisableWebhook(ctx, quiet.ID, "it wants no more"))
		want(docgen.Backlog{Late: time.Second, Pending: 2, Active: 1, Disabled: 1})
		must(t, w.DeleteWebhook(ctx, w.alice, hook.ID))
		want(docgen.Backlog{Disabled: 1})
	})
}

// TestLargeBacklog: the backlog is counted up to its limit, over all webhooks, and the oldest notification is found beyond the limit.
func TestLargeBacklog(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for i := range 3 {
			folder := w.folder(w.alice, 0, fmt.Sprint(i))
			w.hook(w.alice, folder, docgen.FileUploaded)
			for j := range 3 {
				w.upload(w.alice, folder, fmt.Sprint(j), "text")
			}
		}
		oldest := noon.Add(-time.Hour).UnixMicro()
		db := w.raw()
		defer db.Close()
		_, err := db.ExecContext(t.Context(),
			"UPDATE webhook_deliveries SET due_at = $1 WHERE id = (SELECT MAX(id) FROM webhook_deliveries)", oldest)
		must(t, err)
		for most, want := range map[int64]int64{4: 4, 9: 9, 100: 9} {
			var got store.Backlog
			must(t, w.db.ReadOne(t.Context(), func(q *store.Queries) (err error) {
				got, err = q.Backlog(t.Context(), most)
				return err
			}))
			if want := (store.Backlog{FirstDue: oldest, Pending: want, Active: 3}); got != want {
				t.Errorf("of at most %d: backlog %+v, want %+v", most, got, want)
			}
		}
	})
}
