package server_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
	"platen/store"
	"platen/store/storetest"
)

// Texts that identify the user of these tests. In the end, none of them may be stored anywhere.
const (
	zoeLogin  = "Zoe.Quarrel@erase.example"
	zoeFormer = "zoe.formerly@erase.example"
	zoeName   = "Zoe Quarrelsome"
	zoeMaiden = "Zoe Maidenhead"
	zoeMarker = "quarrelmark"     // in all that is hers
	zoeHost   = "quarrel.example" // of her webhook
)

// needles returns the texts to search for, both plain and in the form of database keys.
func needles() []string {
	list := []string{zoeLogin, zoeFormer, zoeName, zoeMaiden, zoeMarker, zoeHost}
	for _, text := range []string{strings.ToLower(zoeLogin), zoeFormer, strings.ToLower(zoeName), zoeMarker} {
		list = append(list, hex.EncodeToString([]byte(text)))
	}
	return list
}

// eraseWorld is a world with data of a user in every table.
type eraseWorld struct {
	*world
	cfg  store.Config
	zoe  *docgen.Caller
	kept int64 // a file of the owner that the user changed
}

func runErase(t *testing.T, test func(w *eraseWorld)) {
	t.Parallel()
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		t.Parallel()
		w := &eraseWorld{world: newWorldOf(t, server.Config{RateLimits: noLimits}, docgen.Config{Store: storetest.Open(t, cfg)}), cfg: cfg}
		w.populate()
		test(w)
	})
}

// upload creates a file as a caller.
func (w *eraseWorld) upload(c *docgen.Caller, parent int64, name, text string) *docgen.Item {
	w.t.Helper()
	item, err := w.CreateFile(w.t.Context(), c, docgen.NewFile{Name: name, ParentID: parent}, strings.NewReader(text))
	must(w.t, err)
	return item
}

// populate creates the user, and performs typical operations as this user.
func (w *eraseWorld) populate() {
	w.t.Helper()
	ctx := docgen.WithOrigin(context.WithoutCancel(w.t.Context()), docgen.Origin{Address: "203.0.113.77", Agent: zoeMarker,
		RequestID: zoeMarker})
	made, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: zoeFormer, Name: zoeMaiden, ExternalID: zoeMarker,
		Profile: docgen.Profile{Phone: zoeMarker}})
	must(w.t, err)
	_, err = w.UpdateUser(w.t.Context(), w.Operator(), made.ID, docgen.UserChange{Login: new(zoeLogin), Name: new(zoeName)})
	must(w.t, err)
	token, err := w.CreateToken(w.t.Context(), docgen.NewToken{Login: zoeLogin, Name: "laptop of " + zoeMarker})
	must(w.t, err)
	w.tokens["zoe"] = token
	w.zoe, err = w.Authenticate(ctx, token)
	must(w.t, err)

	archivist := w.caller("archivist")
	w.upload(w.zoe, 0, "early.txt", "text")
	_, err = w.TransferContent(w.t.Context(), archivist, made.ID, w.caller("other").User.ID) // into a folder with her name
	must(w.t, err)

	folder, err := w.CreateFolder(w.t.Context(), w.owner, docgen.NewFolder{Name: "shared"})
	must(w.t, err)
	w.hook(w.t.Context(), w.owner, folder.ID, "https://owner.example/")
	for _, n := range []docgen.NewCollaboration{
		{ItemKind: docgen.Folder, ItemID: folder.ID, UserID: made.ID, Role: docgen.RoleEditor},
		{ItemKind: docgen.Folder, ItemID: folder.ID, Login: zoeFormer, Role: docgen.RoleViewer}, // no user has this login anymore
	} {
		_, err := w.CreateCollaboration(w.t.Context(), w.owner, n)
		must(w.t, err)
	}
	file := w.upload(w.owner, folder.ID, "kept.txt", "first")
	w.kept = file.ID
	_, err = w.CreateVersion(ctx, w.zoe, docgen.NewVersion{FileID: file.ID}, strings.NewReader("second"))
	must(w.t, err)

	own, err := w.CreateFolder(ctx, w.zoe, docgen.NewFolder{Name: zoeMarker})
	must(w.t, err)
	_, err = w.CreateCollaboration(ctx, w.zoe, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: own.ID, UserID: w.owner.User.ID,
		Role: docgen.RoleViewer})
	must(w.t, err)
	w.hook(w.t.Context(), w.owner, own.ID, "https://owner.example/")
	w.hook(ctx, w.zoe, own.ID, "https://"+zoeHost+"/"+zoeMarker)
	for i := range 5 {
		w.upload(w.zoe, own.ID, fmt.Sprint(zoeMarker, i), fmt.Sprint(zoeMarker, i))
	}
	_, err = w.CreateVersion(ctx, w.zoe, docgen.NewVersion{FileID: file.ID, Name: "kept.txt"}, strings.NewReader("third"))
	must(w.t, err)
	w.deliver(ctx)
	w.batches(ctx, own.ID)
	w.do("GET /users", request{as: "zoe"}).want(w.t, http.StatusForbidden)
	must(w.t, w.RecordDenials(ctx))
}

// hook creates a webhook on a folder.
func (w *eraseWorld) hook(ctx context.Context, c *docgen.Caller, folder int64, address string) {
	w.t.Helper()
	_, err := w.CreateWebhook(ctx, c, docgen.NewWebhook{
		TargetKind: docgen.Folder, TargetID: folder, Address: address, Triggers: []docgen.Trigger{docgen.FileUploaded, docgen.FolderDeleted},
	})
	must(w.t, err)
}

// deliver records that half of the waiting notifications were delivered, with responses that repeat them.
func (w *eraseWorld) deliver(ctx context.Context) {
	w.t.Helper()
	for _, webhook := range w.query("SELECT id FROM webhooks") {
		var id int64
		_, err := fmt.Sscan(webhook, &id)
		must(w.t, err)
		box, err := w.Outbox(ctx, id, 100)
		must(w.t, err)
		for i, due := range box.Deliveries {
			if i%2 == 0 {
				must(w.t, w.RecordAttempts(ctx, []docgen.AttemptResult{{Attempt: docgen.Attempt{DeliveryID: due.ID, Status: 200,
					ResponseBody: string(due.Body)}, Delivered: true}}))
			}
		}
	}
}

// batches creates batches of the user: one with failed jobs, one whose document is being generated, and one that waits.
func (w *eraseWorld) batches(ctx context.Context, folder int64) {
	w.t.Helper()
	template := w.upload(w.zoe, folder, "template.docx", zoeMarker)
	_, err := w.MarkTemplate(ctx, w.zoe, template.ID)
	must(w.t, err)
	for i := range 3 {
		_, err := w.CreateBatch(ctx, w.zoe, docgen.NewBatch{
			TemplateID: template.ID, InputSource: docgen.InputSource, DestinationID: folder, OutputType: docgen.OutputDocx,
			Documents: []docgen.NewDocument{{Name: zoeMarker, Input: new(docgen.Inputs).Parse([]byte(`{"name":"` + zoeName + zoeMarker + `"}`))}},
		})
		must(w.t, err)
		claim, err := w.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: w.zoe.User.ID, Lane: docgen.LaneDocx})
		must(w.t, err)
		if i == 0 {
			_, err := w.CompleteJobs(ctx, claim, []docgen.Result{{Job: claim.Jobs[0], Failures: docgen.Failures{Errors: []string{zoeMarker}}}})
			must(w.t, err)
		}
		if i == 1 {
			must(w.t, w.ReleaseJobs(ctx, claim, claim.Jobs))
		}
	}
}

// query returns the only column of a query, as text.
func (w *eraseWorld) query(text string) (rows []string) {
	w.t.Helper()
	db := storetest.Raw(w.t, w.cfg)
	defer db.Close()
	found, err := db.QueryContext(w.t.Context(), text)
	must(w.t, err)
	defer found.Close()
	for found.Next() {
		var value string
		must(w.t, found.Scan(&value))
		rows = append(rows, value)
	}
	must(w.t, found.Err())
	return rows
}

// finish runs the tasks that the queue runs in the background.
func (w *eraseWorld) finish() {
	w.t.Helper()
	ctx := w.t.Context()
	for _, work := range []func(context.Context) (bool, error){
		w.EraseUsers, w.RemoveTrees, func(ctx context.Context) (bool, error) { _, more, err := w.RemoveBatches(ctx); return more, err },
	} {
		if more, err := work(ctx); err != nil || more {
			w.t.Errorf("there is more to do, %v", err)
		}
	}
	args := "args"
	if w.cfg.Path != "" {
		args = "json(args)"
	}
	for _, text := range w.query("SELECT " + args + " FROM river_job WHERE kind = 'remove_contents'") {
		var task docgen.RemoveContents
		must(w.t, json.Unmarshal([]byte(text), &task))
		must(w.t, w.RemoveContents(ctx, task))
	}
}

// dump returns all stored data: the files of SQLite, or every row of PostgreSQL, and the contents.
func (w *eraseWorld) dump() map[string][]byte {
	w.t.Helper()
	all := map[string][]byte{}
	if w.cfg.Path != "" {
		must(w.t, w.TruncateLog(w.t.Context()))
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(w.cfg.Path + suffix)
			if !errors.Is(err, fs.ErrNotExist) {
				must(w.t, err)
			}
			all["database"+suffix] = data
		}
	} else {
		for _, table := range w.query("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND " +
			"table_type = 'BASE TABLE'") {
			all[table] = []byte(strings.Join(w.query(`SELECT t::text FROM "`+table+`" t`), "\n"))
		}
	}
	for info, err := range w.blobs.List(w.t.Context(), "") {
		must(w.t, err)
		r, err := w.blobs.Open(w.t.Context(), info.Key, 0, -1)
		must(w.t, err)
		data, err := io.ReadAll(r)
		must(w.t, errors.Join(err, r.Close()))
		all["content "+info.Key] = data
	}
	return all
}

// found returns the locations of all needles.
func (w *eraseWorld) found(needles []string) []string {
	w.t.Helper()
	places := []string{}
	for place, data := range w.dump() {
		for _, needle := range needles {
			if i := bytes.Index(data, []byte(needle)); i >= 0 {
				places = append(places, fmt.Sprintf("%q in %s: %q", needle, place, data[max(0, i-80):min(len(data), i+120)]))
			}
		}
	}
	slices.Sort(places)
	return places
}

// TestEraseUser erases a user through the API and searches all stored bytes for data of the user.
func TestEraseUser(t *testing.T) {
	runErase(t, func(w *eraseWorld) {
		for _, needle := range needles() {
			if len(w.found([]string{needle})) == 0 {
				w.t.Errorf("%q is not found before", needle)
			}
		}
		call := "DELETE /users/" + id(w.zoe.User.ID)
		w.do(call+"?erase=true&force=true", request{as: "other"}).want(w.t, http.StatusForbidden, "insufficient_scope")
		w.do(call+"?erase=true", request{as: "archivist"}).want(w.t, http.StatusConflict, "user_owns_content")
		w.do(call+"?erase=yes", request{as: "archivist"}).want(w.t, http.StatusBadRequest)
		w.do(call+"?erase=true&force=true", request{as: "archivist"}).want(w.t, http.StatusNoContent)
		w.do("GET /users/me", request{as: "zoe"}).want(w.t, http.StatusUnauthorized)
		file := w.do("GET /files/"+id(w.kept), request{as: "owner"}).want(w.t, http.StatusOK)
		if by := file["modified_by"].(object); by["name"] != "Erased user" || by["login"] != "erased-"+id(w.zoe.User.ID) {
			w.t.Errorf("the file was changed by %v", by)
		}
		w.finish()
		for _, place := range w.found(needles()) {
			w.t.Error(place)
		}
		if left := w.query("SELECT address FROM audit_events WHERE address <> '' AND actor_id = " + id(w.zoe.User.ID)); len(left) > 0 {
			w.t.Errorf("addresses %q are left", left)
		}
		w.do(call+"?erase=true", request{as: "archivist"}).want(w.t, http.StatusNoContent) // again, nothing is left to do
		w.finish()
		if n := w.query("SELECT COUNT(*) FROM audit_events WHERE action = 'user.erased'"); n[0] != "1" {
			w.t.Errorf("%s entries say that the user was erased, want 1", n[0])
		}
		if got := w.query("SELECT status FROM webhooks ORDER BY id"); !slices.Equal(got, []string{"active", "gone", "deleted"}) {
			w.t.Errorf("webhooks are %q", got)
		}
		if pending := w.query("SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'pending'"); pending[0] == "0" {
			w.t.Error("the pending notifications of the owner's webhook were deleted")
		}
	})
}
