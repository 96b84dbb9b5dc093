package docgen_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// stream reads a stream from a position to its end, and returns the end too.
func (w *world) stream(c *docgen.Caller, r docgen.StreamRequest) (events []docgen.StreamEvent, end int64) {
	w.t.Helper()
	for r.Limit = cmp.Or(r.Limit, docgen.MaxEvents); ; {
		page, err := w.Events(w.t.Context(), c, r)
		must(w.t, err)
		events = append(events, page.Events...)
		if page.Next == r.Position {
			return events, page.Next
		}
		r.Position = page.Next
	}
}

// awaitEvents reads a stream until it ends with an event of a type. On PostgreSQL, transactions of other tests can delay events.
func (w *world) awaitEvents(c *docgen.Caller, r docgen.StreamRequest, last docgen.EventType) []docgen.StreamEvent {
	w.t.Helper()
	return w.awaitEvent(c, r, last, 0)
}

// awaitEvent is awaitEvents for an event of a source; 0 is any.
func (w *world) awaitEvent(c *docgen.Caller, r docgen.StreamRequest, last docgen.EventType, source int64) []docgen.StreamEvent {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		events, _ := w.stream(c, r)
		if n := len(events); n > 0 && events[n-1].Type == last && (source == 0 || events[n-1].Source.ID == source) {
			return events
		}
		select {
		case <-w.t.Context().Done():
			w.t.Fatalf("the stream does not end with %s:\n%s", last, said(events))
		case <-tick.C:
		}
	}
}

// mark adds an event to the stream of a user and returns the position after it. Everything that happened before is then in the streams.
func (w *world) mark(c *docgen.Caller) int64 {
	w.t.Helper()
	folder, err := w.CreateFolder(w.t.Context(), c, docgen.NewFolder{Name: fmt.Sprint("mark ", w.count("SELECT COUNT(*) FROM items"))})
	must(w.t, err)
	must(w.t, w.TrashFolder(w.t.Context(), c, folder.ID, false, ""))
	w.awaitEvent(c, docgen.StreamRequest{}, docgen.ItemTrashed, folder.ID)
	_, end := w.stream(c, docgen.StreamRequest{})
	return end
}

// said returns the types and the names of the sources of events.
func said(events []docgen.StreamEvent) string {
	lines := make([]string, len(events))
	for i, e := range events {
		name := "?"
		if e.Source.Item != nil {
			name = e.Source.Item.Name
		}
		lines[i] = fmt.Sprint(e.Type, " ", name)
	}
	return strings.Join(lines, "\n")
}

func wantSaid(t *testing.T, events []docgen.StreamEvent, want ...string) {
	t.Helper()
	if got := said(events); got != strings.Join(want, "\n") {
		t.Errorf("events\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestEventStream does everything that has an event, and reads the streams of the owner and of the collaborator.
func TestEventStream(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, 0, "file", "one")
		w.version(w.alice, file.ID, "two")
		_, err := w.UpdateFile(ctx, w.alice, file.ID, docgen.ItemChange{Name: new("renamed"), ParentID: &folder})
		must(t, err)
		w.text(w.alice, file.ID, 0)
		must(t, w.RecordDownloads(ctx))
		_, err = w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: file.ID, ParentID: folder, Name: "copy"})
		must(t, err)
		_, err = w.PromoteVersion(ctx, w.alice, file.ID, file.VersionID)
		must(t, err)
		share := w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		_, err = w.UpdateCollaboration(ctx, w.alice, share.ID, docgen.CollaborationChange{Role: docgen.RoleEditor})
		must(t, err)
		must(t, w.TrashFile(ctx, w.bob, file.ID, ""))
		_, err = w.Restore(ctx, w.alice, docgen.File, file.ID, docgen.Restoration{})
		must(t, err)
		events := w.awaitEvents(w.alice, docgen.StreamRequest{}, docgen.ItemRestored)
		shared := []string{ // the names are the current ones: promoting the first version restored its name
			"ITEM_CREATE folder", "ITEM_UPLOAD file", "ITEM_UPLOAD file", "ITEM_RENAME file", "ITEM_MOVE file", "ITEM_DOWNLOAD file",
			"ITEM_COPY copy", "ITEM_MAKE_CURRENT_VERSION file", "ITEM_RENAME file", "COLLAB_ADD_COLLABORATOR folder",
			"COLLAB_ROLE_CHANGE folder", "ITEM_TRASH file", "ITEM_UNDELETE_VIA_TRASH file",
		}
		wantSaid(t, events, shared...)
		if e := events[11]; e.CreatedBy.ID != w.bob.User.ID || e.At.IsZero() || e.ID == 0 {
			t.Errorf("event %+v", e)
		}
		if got, want := fmt.Sprint(events[4].Details), fmt.Sprintf("map[after_folder_id:%d before_folder_id:0]", folder); got != want {
			t.Errorf("details %s, want %s", got, want)
		}
		wantSaid(t, w.awaitEvents(w.bob, docgen.StreamRequest{}, docgen.ItemRestored), shared...)
		changes, _ := w.stream(w.bob, docgen.StreamRequest{Stream: docgen.StreamChanges})
		if strings.Contains(said(changes), "ITEM_DOWNLOAD") || len(changes) != len(events)-1 {
			t.Errorf("changes:\n%s", said(changes))
		}

		must(t, w.DeleteCollaboration(ctx, w.alice, share.ID))
		must(t, w.TrashFile(ctx, w.alice, file.ID, ""))
		must(t, w.Purge(ctx, w.alice, docgen.File, file.ID))
		w.mark(w.alice)
		events, _ = w.stream(w.bob, docgen.StreamRequest{})
		wantSaid(t, events, "COLLAB_ADD_COLLABORATOR ?", "COLLAB_ROLE_CHANGE ?", "ITEM_TRASH ?", "COLLAB_REMOVE_COLLABORATOR ?")
		events, _ = w.stream(w.alice, docgen.StreamRequest{})
		if e := events[1]; e.Source.Item != nil || e.Source.ID != file.ID || e.Source.Type != "file" {
			t.Errorf("the event of a deleted file: %+v", e)
		}
		if events, _ := w.stream(w.user("carol"), docgen.StreamRequest{}); len(events) > 0 {
			t.Errorf("a stranger sees\n%s", said(events))
		}
	})
}

// TestEventsOfDocuments reads the events of generated documents: one for each.
func TestEventsOfDocuments(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b", "c")
		start := w.mark(w.alice)
		claim := p.claim()
		results := p.results(claim, "text")
		results[2].Output, results[2].Failures = nil, docgen.Failures{Errors: []string{"No."}}
		p.complete(claim, results)
		events := w.awaitEvents(w.alice, docgen.StreamRequest{Position: start}, docgen.GenerationFailed)
		wantSaid(t, events, "ITEM_UPLOAD a.docx", "ITEM_UPLOAD b.docx", "DOCGEN_DOCUMENT_GENERATION_FAILED "+p.template.Name)
		for i, e := range events {
			if e.Details["docgen_batch_id"] != p.batchID || e.Details["docgen_job_id"] != fmt.Sprint(claim.Jobs[i].ID) {
				t.Errorf("details %v", e.Details)
			}
		}
	})
}

// TestEventPages reads a stream in pages, from its end, and from a position of a later database.
func TestEventPages(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for i := range 5 {
			w.upload(w.alice, 0, fmt.Sprint("file ", i), "x")
		}
		w.mark(w.alice)
		whole, end := w.stream(w.alice, docgen.StreamRequest{})
		paged, last := w.stream(w.alice, docgen.StreamRequest{Limit: 2})
		if said(paged) != said(whole) || last != end || len(whole) != 7 {
			t.Errorf("in pages\n%s\nwant\n%s", said(paged), said(whole))
		}
		page, err := w.Events(ctx, w.alice, docgen.StreamRequest{Now: true})
		if err != nil || page.Next < end || len(page.Events) > 0 {
			t.Errorf("now is %+v, %v; want at least %d", page, err, end)
		}
		page, err = w.Events(ctx, w.alice, docgen.StreamRequest{Position: 1 << 60, Limit: 3})
		if err != nil || said(page.Events) != said(whole[:3]) {
			t.Errorf("from a position in the future: %+v, %v", page, err)
		}
		for _, r := range []docgen.StreamRequest{
			{Limit: -1}, {Limit: docgen.MaxEvents + 1}, {Stream: "unknown"}, {Types: []docgen.EventType{"UPLOAD"}}, {From: noon},
		} {
			_, err := w.Events(ctx, w.alice, r)
			wantCode(t, err, docgen.CodeBadRequest)
		}
		_, err = w.Events(ctx, w.member("root", docgen.RoleAdmin), docgen.StreamRequest{
			Stream: docgen.StreamLog, Types: slices.Repeat([]docgen.EventType{"UPLOAD"}, 101),
		})
		wantCode(t, err, docgen.CodeBadRequest)
	})
}

// TestEventsOfManyOwners reads the events of items that are shared by more owners than are read separately, and waits for one.
func TestEventsOfManyOwners(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		var last *docgen.Caller
		var folder int64
		for i := range 65 {
			last = w.user(fmt.Sprint("owner", i))
			folder = w.folder(last, 0, "folder")
			_, err := w.CreateCollaboration(ctx, last, docgen.NewCollaboration{
				ItemKind: docgen.Folder, ItemID: folder, UserID: w.bob.User.ID, Role: docgen.RoleViewer,
			})
			must(t, err)
			w.upload(last, 0, "hidden", "x")
		}
		start := w.mark(w.bob)
		if events, _ := w.stream(w.bob, docgen.StreamRequest{Limit: 7}); len(events) != 2*65+2 || strings.Contains(said(events), "UPLOAD") {
			t.Errorf("%d events:\n%s", len(events), said(events))
		}
		changed := make(chan bool, 1)
		go func() {
			got, err := w.WaitForEvents(ctx, w.bob, docgen.StreamRequest{Position: start}, docgen.MaxWait, nil)
			if err != nil {
				t.Error(err)
			}
			changed <- got
		}()
		w.upload(last, 0, "hidden too", "x")
		w.upload(last, folder, "shown", "x")
		if !<-changed {
			t.Error("nothing was noticed")
		}
	})
}

// TestEventsOfManyDownloads keeps a limited number of downloads in memory while the database cannot be written.
func TestEventsOfManyDownloads(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.upload(w.alice, 0, "file", "x")
		content, err := w.Content(ctx, w.alice, file.ID, 0)
		must(t, err)
		release := docgen.HoldDownloads(w.Service)
		for range 10_100 {
			must(t, content.NotifyDownload(ctx))
		}
		release()
		must(t, w.RecordDownloads(ctx))
		if n := w.count("SELECT COUNT(*) FROM events WHERE type = 'ITEM_DOWNLOAD'"); n != 10_000 {
			t.Errorf("%d downloads are recorded, want 10,000", n)
		}
	})
}

// insertEvents adds events of one owner on one item directly to the database.
func (w *world) insertEvents(n int, owner, item int64) {
	w.t.Helper()
	must(w.t, w.db.Write(w.t.Context(), func(tx *store.Tx) error {
		events := make([]store.Event, n)
		for i := range events {
			events[i] = store.Event{
				ID: int64(i), Type: string(docgen.ItemUploaded), CreatedAt: noon.UnixMicro(), ActorID: owner, OwnerID: owner,
				Kind: "file", SourceID: item,
			}
		}
		return tx.InsertEvents(w.t.Context(), events)
	}))
}

// TestEventsAmongMany reads the few events that a user may see among many, in requests that each read a limited number of rows.
func TestEventsAmongMany(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		shared, hidden := w.upload(w.alice, 0, "shared", "x"), w.upload(w.alice, 0, "hidden", "x")
		w.share(docgen.File, shared.ID, w.bob, docgen.RoleViewer)
		stranger := w.user("carol")
		w.insertEvents(12_000, stranger.User.ID, 1)
		w.insertEvents(12_000, w.alice.User.ID, hidden.ID)
		must(t, w.TrashFile(ctx, w.alice, shared.ID, ""))
		w.awaitEvents(w.alice, docgen.StreamRequest{}, docgen.ItemTrashed)
		var found []docgen.StreamEvent
		requests, r := 0, docgen.StreamRequest{Limit: docgen.MaxEvents}
		for {
			page, err := w.Events(ctx, w.bob, r)
			must(t, err)
			found = append(found, page.Events...)
			if requests++; page.Next == r.Position {
				break
			}
			if page.Next < r.Position {
				t.Fatalf("the position goes back from %d to %d", r.Position, page.Next)
			}
			r.Position = page.Next
		}
		wantSaid(t, found, "ITEM_UPLOAD shared", "COLLAB_ADD_COLLABORATOR shared", "ITEM_TRASH shared")
		if requests < 3 || requests > 6 {
			t.Errorf("%d requests for 12,000 events of the owner", requests)
		}
	})
}

// TestEventsOfLateTransactions commits a transaction after a later one. A reader must not miss its events.
func TestEventsOfLateTransactions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		if w.db.Dialect() == store.SQLite {
			t.Skip("its transactions commit one after another")
		}
		file := w.upload(w.alice, 0, "file", "x")
		start := w.mark(w.alice)
		inserted, commit, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			done <- w.db.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
				late := store.Event{
					ID: 1, Type: string(docgen.ItemRenamed), ActorID: w.alice.User.ID, OwnerID: w.alice.User.ID, Kind: "file", SourceID: file.ID,
				}
				err := tx.InsertEvents(ctx, []store.Event{late})
				close(inserted)
				<-commit
				return err
			})
		}()
		<-inserted
		must(t, w.TrashFile(ctx, w.alice, file.ID, ""))
		early, position := w.stream(w.alice, docgen.StreamRequest{Position: start})
		close(commit)
		must(t, <-done)
		late := w.awaitEvents(w.alice, docgen.StreamRequest{Position: position}, docgen.ItemTrashed)
		wantSaid(t, append(early, late...), "ITEM_RENAME file", "ITEM_TRASH file")
	})
}

// TestEventsAfterRestore continues at a position that a client has after the rows were restored: to another cluster of PostgreSQL, or from
// an old backup of SQLite.
func TestEventsAfterRestore(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.upload(w.alice, 0, "before", "x")
		position := w.mark(w.alice)
		if w.db.Dialect() == store.PostgreSQL { // as if its numbers of transactions were lower
			must(t, w.exec("UPDATE events SET position = position + 1000000 * CAST(65536 AS BIGINT)"))
			position += 1_000_000 << 16
		} else { // as if the backup were old
			must(t, w.exec("UPDATE event_positions SET next = 100"))
			must(t, w.exec("UPDATE events SET position = position - (SELECT MIN(position) FROM events) + 1"))
			w.clock.advance(time.Minute)
		}
		must(t, w.db.Close())
		db, err := store.Open(ctx, w.cfg)
		must(t, err)
		defer db.Close()
		w.db = db
		w.Service, err = docgen.New(ctx, docgen.Config{Store: db, Blobs: w.blobs, Now: w.clock.now})
		must(t, err)
		file := w.upload(w.alice, 0, "after", "x")
		must(t, w.TrashFile(ctx, w.alice, file.ID, ""))
		wantSaid(t, w.awaitEvents(w.alice, docgen.StreamRequest{Position: position}, docgen.ItemTrashed), "ITEM_UPLOAD after", "ITEM_TRASH after")
	})
}

// TestEnterpriseEvents reads the streams of the enterprise.
func TestEnterpriseEvents(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		admin := w.member("root", docgen.RoleAdmin)
		file := w.upload(w.alice, 0, "file", "x")
		w.insertEvents(1200, w.alice.User.ID, file.ID)
		w.clock.advance(time.Hour)
		must(t, w.TrashFile(ctx, w.alice, file.ID, ""))
		_, err := w.UpdateUser(ctx, admin, w.bob.User.ID, docgen.UserChange{Name: new("Robert")})
		must(t, err)
		log := docgen.StreamRequest{Stream: docgen.StreamLog}
		events := w.awaitEvents(admin, log, "EDIT_USER")
		if e := events[len(events)-1]; e.Source.User.Name != "Robert" || e.CreatedBy.ID != admin.User.ID {
			t.Errorf("%+v", e)
		}
		if e := events[0]; e.Type != "NEW_USER" || e.Source.User.Name != "alice" {
			t.Errorf("%+v", e)
		}
		log.From = noon.Add(time.Minute)
		events, _ = w.stream(admin, log)
		wantSaid(t, events, "DELETE ?", "EDIT_USER ?") // the administrator may not see the file
		log.From, log.To = time.Time{}, noon.Add(time.Minute)
		log.Types = []docgen.EventType{"UPLOAD", "DELETE"}
		if events, _ = w.stream(admin, log); len(events) != 1201 || events[0].Type != "UPLOAD" {
			t.Errorf("%d events", len(events))
		}
		for types, want := range map[docgen.EventType]string{"DELETE": "DELETE ?", "LOGIN": "", "EDIT_USER": "EDIT_USER ?"} {
			page, err := w.Events(ctx, admin, docgen.StreamRequest{
				Stream: docgen.StreamLogLive, Types: []docgen.EventType{types}, Limit: docgen.MaxEvents,
			})
			if err != nil || said(page.Events) != want {
				t.Errorf("%s: %s, %v", types, said(page.Events), err)
			}
		}
		for _, c := range []*docgen.Caller{w.alice, w.contentManager("manager")} {
			_, err := w.Events(ctx, c, docgen.StreamRequest{Stream: docgen.StreamLog})
			wantCode(t, err, docgen.CodeScope)
		}
	})
}

// TestContentManagersHaveTheirOwnStream reads the stream of a user who may see the content of all users.
func TestContentManagersHaveTheirOwnStream(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.upload(w.alice, 0, "file", "x")
		manager := w.contentManager("manager")
		w.mark(w.alice)
		if events, _ := w.stream(manager, docgen.StreamRequest{}); len(events) > 0 {
			t.Errorf("the stream has\n%s", said(events))
		}
	})
}

// Every trigger that is fired has a type of event, or is left out on purpose.
func TestEveryTriggerHasAnEvent(t *testing.T) {
	for _, rule := range docgen.Triggers() {
		if _, known := docgen.StreamTypeOf(rule.Trigger); rule.Fired && !known {
			t.Errorf("%s has no type of event", rule.Trigger)
		}
	}
}

// TestWaitForEvents waits for events of the user, of shared items, and of invitations, whichever server adds them.
func TestWaitForEvents(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		other, err := docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs, Now: w.clock.now})
		must(t, err)
		upload := func(s *docgen.Service, parent int64) func() {
			return func() {
				_, err := s.CreateFile(ctx, w.alice, docgen.NewFile{ParentID: parent, Name: w.clock.now().String()}, reader("x"))
				must(t, err)
				w.clock.advance(time.Second)
			}
		}
		carol := w.user("carol")
		for name, wait := range map[string]struct {
			caller *docgen.Caller
			cause  func()
		}{
			"own": {w.alice, upload(w.Service, 0)}, "shared": {w.bob, upload(w.Service, folder)},
			"of another server": {w.bob, upload(other, folder)},
			"a new share":       {carol, func() { w.share(docgen.Folder, w.folder(w.alice, 0, "new"), carol, docgen.RoleViewer) }},
		} {
			t.Run(name, func(t *testing.T) {
				start, changed := w.mark(wait.caller), make(chan bool, 1)
				go func() {
					got, err := w.WaitForEvents(ctx, wait.caller, docgen.StreamRequest{Position: start}, docgen.MaxWait, nil)
					if err != nil {
						t.Error(err)
					}
					changed <- got
				}()
				wait.cause()
				if !<-changed {
					t.Error("nothing was noticed")
				}
			})
		}
		start := w.mark(w.bob)
		upload(w.Service, 0)()
		w.mark(w.alice)
		for name, r := range map[string]docgen.StreamRequest{"from a position": {Position: start}, "from now": {Now: true}} {
			if changed, err := w.WaitForEvents(ctx, w.bob, r, time.Millisecond, nil); err != nil || changed {
				t.Errorf("%s: bob was notified of a file of alice: %t, %v", name, changed, err)
			}
		}
		if changed, err := w.WaitForEvents(ctx, w.alice, docgen.StreamRequest{}, docgen.MaxWait, nil); err != nil || !changed {
			t.Errorf("old events: %t, %v", changed, err)
		}
		stop := make(chan struct{})
		close(stop)
		if changed, err := w.WaitForEvents(ctx, w.bob, docgen.StreamRequest{Position: start}, docgen.MaxWait, stop); err != nil || changed {
			t.Errorf("when the server stops: %t, %v", changed, err)
		}
		leaving, leave := context.WithCancel(ctx)
		time.AfterFunc(time.Millisecond, leave)
		_, err = w.WaitForEvents(leaving, w.bob, docgen.StreamRequest{Position: start}, docgen.MaxWait, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("when the client leaves: %v", err)
		}
		_, err = w.WaitForEvents(ctx, w.member("root", docgen.RoleAdmin), docgen.StreamRequest{Stream: docgen.StreamLog}, 0, nil)
		wantCode(t, err, docgen.CodeBadRequest)
	})
}

// TestRetentionOfEvents removes old events, in portions, and keeps the others.
func TestRetentionOfEvents(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, err := w.RetentionBegins(ctx)
		must(t, err)
		w.insertEvents(2345, w.alice.User.ID, 1)
		before := w.count("SELECT COUNT(*) FROM events")
		w.pass(10)
		w.folder(w.alice, 0, "folder")
		keep := docgen.Retention{Events: 14 * day}
		if removed, _, err := w.ApplyRetention(ctx, keep); err != nil || removed != (docgen.RetentionCounts{}) {
			t.Errorf("after 10 days %+v was removed, %v", removed, err)
		}
		if found, err := w.OutdatedAt(ctx, keep, w.clock.now().Add(5*day)); err != nil || found != (docgen.RetentionCounts{Events: 1}) {
			t.Errorf("after 15 days %+v will be outdated, %v", found, err)
		}
		w.pass(5)
		removed, more, err := w.ApplyRetention(ctx, keep)
		if want := (docgen.RetentionCounts{Events: int64(before)}); err != nil || removed != want || more {
			t.Errorf("removed %+v, more %t, %v; want %+v", removed, more, err, want)
		}
		events := w.awaitEvents(w.alice, docgen.StreamRequest{}, docgen.ItemCreated)
		wantSaid(t, events, "ITEM_CREATE folder")
	})
}

// TestManyWaitForEvents measures the memory of 1,000 requests that wait, and ends all of them with one event.
func TestManyWaitForEvents(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector needs memory of its own")
	}
	const requests, most = 1000, 20 << 20                                // connections need the rest of the 50 MiB that all should need
	w := newWorld(t, storetest.SQLite(t), openBlobs(t), docgen.Limits{}) // not at the same time as other tests, because of their memory
	ctx := t.Context()
	start := w.mark(w.alice)
	memory := func() int64 {
		for range 3 { // each shrinks stacks by half
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	before := memory()
	var group sync.WaitGroup
	changed := make([]bool, requests)
	for i := range requests {
		group.Go(func() {
			var err error
			changed[i], err = w.WaitForEvents(ctx, w.alice, docgen.StreamRequest{Position: start}, docgen.MaxWait, nil)
			if err != nil {
				t.Error(err)
			}
		})
	}
	for docgen.WaitingForEvents(w.Service) < requests {
		runtime.Gosched()
	}
	used := memory() - before
	t.Logf("%d requests that wait use %d KiB", requests, used>>10)
	if used > most {
		t.Errorf("%d requests that wait use %d bytes, more than %d", requests, used, most)
	}
	w.upload(w.alice, 0, "file", "x")
	group.Wait()
	if slices.Contains(changed, false) {
		t.Error("some requests were not notified")
	}
}
