package docgen_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// world is a service on an empty database with two users: alice, who owns what a test creates, and bob, who has no
// access to it.
type world struct {
	*docgen.Service
	t     testing.TB
	db    *store.DB
	cfg   store.Config
	blobs blob.Store
	clock clock
	alice *docgen.Caller
	bob   *docgen.Caller
}

// clock is a clock that a test controls.
type clock struct{ micros atomic.Int64 }

func (c *clock) now() time.Time          { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.micros.Add(d.Microseconds()) }

// noon is the initial time of a world: a whole second, so that times compare on both databases.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// run runs a test in a new world on each database.
func run(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	runWith(t, docgen.Limits{}, test)
}

// runLong is run, but with -short only on SQLite, for tests that take long on PostgreSQL.
func runLong(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	if testing.Short() {
		t.Parallel()
		t.Run("sqlite", func(t *testing.T) { runOn(t, storetest.SQLite(t), docgen.Limits{}, test) })
		return
	}
	run(t, test)
}

func runWith(t *testing.T, limits docgen.Limits, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) { runOn(t, cfg, limits, test) })
}

func runOn(t *testing.T, cfg store.Config, limits docgen.Limits, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	blobs, err := blob.Open(t.TempDir())
	must(t, err)
	w := newWorld(t, cfg, blobs, limits)
	t.Cleanup(func() { w.checkRows(t) })
	test(t, w)
}

// checkRows checks that the counts of folders and batches and the sizes of archives are right, as platen verify does.
func (w *world) checkRows(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db := w.db
	if db.Ping(ctx) != nil { // the test has closed it
		var err error
		db, err = store.Open(ctx, w.cfg)
		must(t, err)
		defer db.Close()
	}
	must(t, db.Read(ctx, func(q *store.Queries) error {
		broken, err := q.BrokenRows(ctx, 1000)
		for _, row := range broken {
			if !strings.Contains(row.Rule, "count of its children") && !strings.HasPrefix(row.Rule, "archive") &&
				!strings.HasPrefix(row.Rule, "batch") {
				continue // tests change owners, versions, and digests directly in the database
			}
			t.Errorf("%s: %d (have %d, want %d)", row.Rule, row.ID, row.Have, row.Want)
		}
		return err
	}))
}

func newWorld(t testing.TB, cfg store.Config, blobs blob.Store, limits docgen.Limits) *world {
	t.Helper()
	w := &world{t: t, db: storetest.Open(t, cfg), cfg: cfg, blobs: blobs}
	w.clock.micros.Store(noon.UnixMicro())
	var err error
	w.Service, err = docgen.New(t.Context(), docgen.Config{Store: w.db, Blobs: blobs, Limits: limits, Now: w.clock.now})
	must(t, err)
	w.alice, w.bob = w.user("alice"), w.user("bob")
	return w
}

// user creates a user and returns a caller with all scopes that the user may have.
func (w *world) user(name string) *docgen.Caller {
	w.t.Helper()
	_, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: name + "@example.com", Name: name})
	must(w.t, err)
	return w.caller(name)
}

// contentManager creates an admin and returns a caller who may do everything with the content of all users.
func (w *world) contentManager(name string) *docgen.Caller {
	w.t.Helper()
	_, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: name + "@example.com", Name: name, Role: docgen.RoleAdmin})
	must(w.t, err)
	return w.caller(name, docgen.ScopeWrite, docgen.ScopeDocGen, docgen.ScopeWebhooks, docgen.ScopeGlobalContent)
}

// caller returns a caller with a new token of a user.
func (w *world) caller(name string, scopes ...docgen.Scope) *docgen.Caller {
	w.t.Helper()
	token, err := w.CreateToken(w.t.Context(), docgen.NewToken{Login: name + "@example.com", Scopes: scopes})
	must(w.t, err)
	c, err := w.Authenticate(w.t.Context(), token)
	must(w.t, err)
	return c
}

// folder creates a folder; parent 0 is the caller's root folder.
func (w *world) folder(c *docgen.Caller, parent int64, name string) int64 {
	w.t.Helper()
	item, err := w.CreateFolder(w.t.Context(), c, docgen.NewFolder{Name: name, ParentID: parent})
	must(w.t, err)
	return item.ID
}

// upload creates a file; parent 0 is the caller's root folder.
func (w *world) upload(c *docgen.Caller, parent int64, name, text string) *docgen.Item {
	w.t.Helper()
	item, err := w.CreateFile(w.t.Context(), c, docgen.NewFile{Name: name, ParentID: parent}, strings.NewReader(text))
	must(w.t, err)
	return item
}

// version uploads new content for a file.
func (w *world) version(c *docgen.Caller, file int64, text string) *docgen.Item {
	w.t.Helper()
	item, err := w.CreateVersion(w.t.Context(), c, docgen.NewVersion{FileID: file}, strings.NewReader(text))
	must(w.t, err)
	return item
}

// template uploads a file and marks it as a template.
func (w *world) template(c *docgen.Caller, parent int64, name string) *docgen.Item {
	w.t.Helper()
	file := w.upload(c, parent, name, "text of "+name)
	_, err := w.MarkTemplate(w.t.Context(), c, file.ID)
	must(w.t, err)
	return file
}

// share gives another user a role on an item of alice.
func (w *world) share(kind docgen.Kind, id int64, with *docgen.Caller, role docgen.Role) *docgen.Collaboration {
	w.t.Helper()
	collaboration, err := w.CreateCollaboration(w.t.Context(), w.alice,
		docgen.NewCollaboration{ItemKind: kind, ItemID: id, UserID: with.User.ID, Role: role})
	must(w.t, err)
	return collaboration
}

// text returns the content of a version of a file; version 0 is the current one.
func (w *world) text(c *docgen.Caller, file, version int64) string {
	w.t.Helper()
	content, err := w.Content(w.t.Context(), c, file, version)
	must(w.t, err)
	must(w.t, content.NotifyDownload(w.t.Context()))
	r, err := content.Open(w.t.Context(), 0, -1)
	must(w.t, err)
	defer r.Close()
	data, err := io.ReadAll(r)
	must(w.t, err)
	return string(data)
}

// names lists the items of a folder, sorted by name.
func (w *world) names(c *docgen.Caller, folder int64) []string {
	w.t.Helper()
	page, err := w.ItemsByOffset(w.t.Context(), c, folder, docgen.OffsetRequest{Limit: docgen.MaxPageLimit}, docgen.ItemOrder{By: "name"})
	must(w.t, err)
	names := []string{}
	for _, item := range page.Entries {
		names = append(names, item.Name)
	}
	return names
}

// keys lists the contents in the blob store.
func (w *world) keys() []string {
	w.t.Helper()
	keys := []string{}
	for info, err := range w.blobs.List(w.t.Context(), "versions/") {
		must(w.t, err)
		keys = append(keys, info.Key)
	}
	return keys
}

// wantNoOrphans checks that the stored contents are exactly those that versions refer to.
func (w *world) wantNoOrphans() {
	w.t.Helper()
	got, want := w.keys(), query[string](w, "SELECT DISTINCT blob_key FROM file_versions")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("contents = %q, want those that versions name: %q", got, want)
	}
}

// raw opens the database directly, to inspect it.
func (w *world) raw() *sql.DB {
	w.t.Helper()
	return storetest.Raw(w.t, w.cfg)
}

// query returns the only column of a query, directly from the database.
func query[T any](w *world, text string, args ...any) []T {
	w.t.Helper()
	db := w.raw()
	defer db.Close()
	rows, err := db.QueryContext(w.t.Context(), text, args...)
	must(w.t, err)
	defer rows.Close()
	var list []T
	for rows.Next() {
		var value T
		must(w.t, rows.Scan(&value))
		list = append(list, value)
	}
	must(w.t, rows.Err())
	return list
}

// count returns the only number of a query, directly from the database.
func (w *world) count(text string) int {
	w.t.Helper()
	return query[int](w, text)[0]
}

// exec changes the database directly, where no operation exists for the change.
func (w *world) exec(text string, args ...any) error {
	w.t.Helper()
	db := w.raw()
	defer db.Close()
	_, err := db.ExecContext(w.t.Context(), text, args...)
	return err
}

// recount updates the counts of folders after items were inserted directly into the database.
func (w *world) recount() {
	w.t.Helper()
	must(w.t, w.exec("DELETE FROM folder_counts"))
	must(w.t, w.exec(`INSERT INTO folder_counts (folder_id, items)
		SELECT parent_id, COUNT(*) FROM items WHERE parent_id IS NOT NULL AND trashed_at = 0 GROUP BY parent_id`))
	must(w.t, w.exec("DELETE FROM user_space"))
	must(w.t, w.exec(`INSERT INTO user_space (user_id, bytes, files, max_bytes)
		SELECT items.owner_id, CAST(COALESCE(SUM(file_versions.size), 0) AS BIGINT), COUNT(DISTINCT items.id), 0
		FROM items LEFT JOIN file_versions ON file_versions.file_id = items.id WHERE items.kind = 1 GROUP BY items.owner_id`))
}

// recountBatches updates the counts of batches after jobs were changed directly in the database.
func (w *world) recountBatches() {
	w.t.Helper()
	const jobs = "(SELECT COUNT(*) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id"
	must(w.t, w.exec("UPDATE docgen_batches SET jobs_total = "+jobs+"), jobs_completed = "+jobs+
		" AND j.status = 'completed'), jobs_incomplete = "+
		jobs+" AND j.status = 'completed_with_error'), jobs_failed = "+jobs+" AND j.status = 'failed')"))
	must(w.t, w.exec("UPDATE docgen_batches SET number = (SELECT MIN(j.id) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id)"))
	must(w.t, w.exec("UPDATE docgen_batches SET ended_at = CASE WHEN "+jobs+
		" AND j.status IN ('pending', 'submitted')) = 0 THEN 1 ELSE 0 END"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks that an operation failed with a code, or succeeded if the code is empty.
func wantCode(t testing.TB, err error, code docgen.Code) {
	t.Helper()
	if code == "" && err != nil || code != "" && !docgen.IsCode(err, code) {
		t.Errorf("error = %v, want %s", err, orNone(code))
	}
}

func orNone(code docgen.Code) string {
	if code == "" {
		return "none"
	}
	return string(code)
}

// problemNames lists the fields in the problems of an error.
func problemNames(t testing.TB, err error) []string {
	t.Helper()
	var names []string
	for _, p := range asError(t, err).Problems {
		names = append(names, p.Name)
	}
	return names
}

// unread is content that must not be read.
type unread struct{ t testing.TB }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the content was read before the request was found good")
	return 0, io.EOF
}

// numbered returns n texts in a format, with numbers from 1.
func numbered(format string, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(format, i+1)
	}
	return texts
}

func reader(text string) *bytes.Reader { return bytes.NewReader([]byte(text)) }
