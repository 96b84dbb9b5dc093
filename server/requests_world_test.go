package server_test

import (
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the digest that the interface has
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
	"platen/store/storetest"
)

// furnish makes what the requests are about: things that the callers share, things of another caller, and things of a
// stranger who never calls. All that the stranger's things say is secret, and so is where they are.
func (v *visit) furnish() {
	w := v.w
	w.t.Helper()
	v.named("", w.scene())
	v.named("2", w.scene())
	ctx := w.t.Context()

	other := w.caller("other")
	folder, err := w.CreateFolder(ctx, other, docgen.NewFolder{Name: "Of other"})
	must(w.t, err)
	v.ids["folder:other"] = id(folder.ID)
	file, err := w.CreateFile(ctx, other, docgen.NewFile{Name: "Of other.docx", ParentID: folder.ID}, strings.NewReader("other"))
	must(w.t, err)
	v.ids["file:other"], v.ids["file_version:other"] = id(file.ID), id(file.VersionID)

	for _, name := range []string{"owner", "other", "reader", "editor", "admin", "carol"} {
		v.ids["user:"+name] = id(w.userID(name))
	}
	v.ids["storage_policy:default"] = "1"
	v.ids["enterprise:own"] = id(w.EnterpriseID())
	v.past()
	v.spare()
	v.clients()
	v.stranger()
}

// spare makes things of the owner that are there to be deleted.
func (v *visit) spare() {
	ctx := v.w.t.Context()
	folder, err := v.w.CreateFolder(ctx, v.w.owner, docgen.NewFolder{Name: "Spare"})
	must(v.w.t, err)
	file, err := v.w.CreateFile(ctx, v.w.owner, docgen.NewFile{Name: "Spare.txt"}, strings.NewReader("spare"))
	must(v.w.t, err)
	v.ids["folder:spare"], v.ids["file:spare"] = id(folder.ID), id(file.ID)
}

// past makes a file of several versions, and things in the trash, all the owner's.
func (v *visit) past() {
	w := v.w
	ctx := w.t.Context()
	file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: "Versions.txt"}, strings.NewReader("1"))
	must(w.t, err)
	v.ids["file:versions"], v.ids["file_version:past"] = id(file.ID), id(file.VersionID)
	for _, name := range []string{"past2", "trashed", "trashed2", "current"} {
		changed, err := w.CreateVersion(ctx, w.owner, docgen.NewVersion{FileID: file.ID}, strings.NewReader(name))
		must(w.t, err)
		v.ids["file_version:"+name] = id(changed.VersionID)
		if name == "trashed2" || name == "current" {
			must(w.t, w.TrashVersion(ctx, w.owner, file.ID, file.VersionID, ""))
		}
		file = changed
	}
	for _, name := range []string{"trashed", "trashed2"} {
		folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: name})
		must(w.t, err)
		trashed, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: name + ".txt"}, strings.NewReader(name))
		must(w.t, err)
		must(w.t, w.TrashFolder(ctx, w.owner, folder.ID, false, ""))
		must(w.t, w.TrashFile(ctx, w.owner, trashed.ID, ""))
		v.ids["folder:"+name], v.ids["file:"+name] = id(folder.ID), id(trashed.ID)
	}
}

func (v *visit) named(suffix string, s scene) {
	v.ids["folder:shared"+suffix] = id(s.folder)
	v.ids["file:shared"+suffix] = id(s.file)
	v.ids["file_version:shared"+suffix] = id(s.version)
	v.ids["collaboration:shared"+suffix] = id(s.collaboration)
	v.ids["docgen_batch:shared"+suffix] = s.batch
	v.ids["docgen_job:shared"+suffix] = id(s.job)
	v.ids["archive:shared"+suffix] = id(s.archive)
	v.ids["user:spare"+suffix] = id(s.user)
}

// secret makes a text that no caller may see.
func (v *visit) secret() string {
	secret := "secret" + rand.Text()
	v.secrets = append(v.secrets, secret)
	return secret
}

// stranger makes the things of a user who never calls: a folder with a template, its tags, batches and jobs, something in
// the trash; and a folder below the first one that reader may see.
func (v *visit) stranger() {
	w := v.w
	ctx := w.t.Context()
	_, err := w.CreateUser(ctx, docgen.NewUser{Login: "stranger@example.com", Name: "stranger", Role: docgen.RoleUser})
	must(w.t, err)
	w.tokens["stranger"] = w.token("stranger", 0)
	stranger := w.caller("stranger")
	defer delete(w.tokens, "stranger")

	top, err := w.CreateFolder(ctx, stranger, docgen.NewFolder{Name: v.secret()})
	must(w.t, err)
	shown, err := w.CreateFolder(ctx, stranger, docgen.NewFolder{Name: "Shown", ParentID: top.ID})
	must(w.t, err)
	_, err = w.CreateCollaboration(ctx, stranger, docgen.NewCollaboration{
		ItemKind: docgen.Folder, ItemID: shown.ID, Login: "reader@example.com", Role: docgen.RoleViewer,
	})
	must(w.t, err)
	invited, err := w.CreateCollaboration(ctx, stranger, docgen.NewCollaboration{
		ItemKind: docgen.Folder, ItemID: top.ID, Login: v.secret() + "@elsewhere.example", Role: docgen.RoleViewer,
	})
	must(w.t, err)

	content := v.secret()
	digest := sha1.Sum([]byte(content))
	v.secrets = append(v.secrets, hex.EncodeToString(digest[:]))
	file, err := w.CreateFile(ctx, stranger, docgen.NewFile{Name: v.secret() + ".docx", ParentID: top.ID}, strings.NewReader(content))
	must(w.t, err)
	description := v.secret()
	_, err = w.UpdateFile(ctx, stranger, file.ID, docgen.ItemChange{Description: &description})
	must(w.t, err)
	_, err = w.MarkTemplate(ctx, stranger, file.ID)
	must(w.t, err)
	tag := v.secret()
	must(w.t, w.SaveReading(ctx, file.VersionID, docgen.Reading{
		Tags:   []docgen.Tag{{Content: "{{ " + tag + " }}", Type: "text", JSONPaths: []string{tag}}},
		Schema: fmt.Appendf(nil, `{"type":"object","properties":{%q:{"type":"string"}}}`, tag),
	}))
	batch, err := w.CreateBatch(ctx, stranger, docgen.NewBatch{
		TemplateID: file.ID, InputSource: docgen.InputSource, DestinationID: top.ID, OutputType: docgen.OutputDocx,
		Documents: []docgen.NewDocument{{Name: v.secret(), Input: fmt.Appendf(nil, `{%q:%q}`, v.secret(), v.secret())}},
	})
	must(w.t, err)
	jobs, err := w.BatchJobs(ctx, stranger, batch, docgen.PageRequest{})
	must(w.t, err)
	gone, err := w.CreateFile(ctx, stranger, docgen.NewFile{Name: v.secret(), ParentID: top.ID}, strings.NewReader(v.secret()))
	must(w.t, err)
	must(w.t, w.TrashFile(ctx, stranger, gone.ID, ""))

	for name, id := range map[string]string{
		"folder:stranger": id(top.ID), "folder:shown": id(shown.ID), "file:stranger": id(file.ID), "file:gone": id(gone.ID),
		"file_version:stranger": id(file.VersionID), "docgen_batch:stranger": batch, "docgen_job:stranger": id(jobs.Entries[0].ID),
		"collaboration:stranger": id(invited.ID),
	} {
		v.ids[name], v.strange[name], v.seen[id] = id, true, true
	}
	v.seen[id(stranger.User.ID)] = true // so that nobody is told to become the stranger, or to take what is theirs
}

// hidden tells the names of what nobody may know to be there.
func (v *visit) hidden(name string) bool { return v.strange[name] && name != "folder:shown" }

// unused is an id like another, of what is not there.
func unused(like string) string {
	n, err := strconv.ParseInt(like, 10, 64)
	if err != nil {
		return "00000000-0000-4000-8000-000000000000"
	}
	return strconv.FormatInt(n-1_000_000, 10)
}

// betrayed makes a request again, with ids of what is not there in the place of what is hidden: the answer must be the same
// but for the ids. What came through is made again only where it has changed nothing.
func (v *visit) betrayed(r wireRequest, res response) string {
	var hidden []string
	for name := range v.strange {
		if v.hidden(name) && r.as != "archivist" && strings.Contains(fmt.Sprint(r), "«"+name+"»") {
			hidden = append(hidden, name)
		}
	}
	if len(hidden) == 0 || res.StatusCode < http.StatusBadRequest && r.method != http.MethodGet {
		return ""
	}
	v.absent = true
	absent, err := v.send(r)
	v.absent = false
	if err != nil {
		return fmt.Sprintf("%s: no answer: %v", r.call(), err)
	}
	got, want := v.anonymous(res, hidden), v.anonymous(absent, hidden)
	if got != want {
		return fmt.Sprintf("%s: what is hidden is answered with\n%s\nand what is not there with\n%s", r.call(), got, want)
	}
	return ""
}

var requestIDs = regexp.MustCompile(`"request_id": ?"[^"]*"`)

// anonymous is what an answer says, without the ids of what is hidden, and those in their place.
func (v *visit) anonymous(res response, hidden []string) string {
	text := requestIDs.ReplaceAllString(string(res.text), "")
	for _, name := range hidden {
		text = strings.NewReplacer(v.ids[name], name, unused(v.ids[name]), name).Replace(text)
	}
	return fmt.Sprint(res.StatusCode, " ", slices.Sorted(maps.Keys(res.Header)), " ", text)
}

func (w *world) userID(name string) int64 { return w.caller(name).User.ID }

// storedState looks at what a world has stored, past the service.
type storedState struct {
	w  *world
	db *sql.DB
}

func newStoredWorld(t *testing.T, cfg server.Config) (*world, *storedState) {
	t.Helper()
	config := storetest.SQLite(t)
	w := newWorld(t, storetest.Open(t, config), cfg, docgen.Limits{})
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: config.Path}).EscapedPath()+"?mode=ro")
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return w, &storedState{w, db}
}

// inTrees is a query with every item and the top of its tree.
const inTrees = `WITH RECURSIVE tree (id, top, archive, live) AS (
    SELECT items.id, items.id AS top, 0, 1 FROM items WHERE items.parent_id IS NULL
    UNION ALL
    SELECT items.id, tree.top,
        CASE WHEN tree.archive <> 0 THEN tree.archive WHEN tree.id = tree.top AND tree.top = (
            SELECT root_folder_id FROM users JOIN enterprises ON enterprises.account_id = users.id) THEN items.id ELSE 0 END,
        CASE WHEN items.trashed_at = 0 THEN tree.live ELSE 0 END
    FROM tree JOIN items ON items.parent_id = tree.id
) `

// What must never be found in the database: each query counts what breaks a rule.
var storedRules = map[string]string{
	"items that no tree holds": `SELECT COUNT(*) FROM items WHERE id NOT IN (SELECT id FROM tree)`,
	"items that do not belong to the owner of their tree": `SELECT COUNT(*) FROM tree JOIN items ON items.id = tree.id
		JOIN items top ON top.id = tree.top WHERE items.owner_id <> top.owner_id`,
	"archives whose size is not the sum of what they hold": `SELECT COUNT(*) FROM items archive WHERE archive.id IN (SELECT archive FROM tree)
		AND archive.trashed_at = 0 AND archive.size <> (SELECT COALESCE(SUM(items.size), 0) FROM tree JOIN items ON items.id = tree.id
			WHERE tree.archive = archive.id AND tree.live = 1 AND items.kind = 1)`,
	"files whose version is not theirs": `SELECT COUNT(*) FROM items WHERE kind = 1
		AND NOT EXISTS (SELECT 1 FROM file_versions WHERE file_versions.id = items.version_id AND file_versions.file_id = items.id)`,
	"files that say another size or digest than their version": `SELECT COUNT(*) FROM items JOIN file_versions ON file_versions.id = items.version_id
		WHERE items.size <> file_versions.size OR items.sha1 <> file_versions.sha1`,
	"jobs that have ended and keep their data": `SELECT COUNT(*) FROM docgen_inputs JOIN docgen_jobs ON docgen_jobs.id = docgen_inputs.job_id
		WHERE docgen_jobs.status = 'completed'`,
	"collaborations of the owner": `SELECT COUNT(*) FROM collaborations JOIN items ON items.id = collaborations.item_id
		WHERE items.owner_id = collaborations.user_id`,
}

// problem says what does not hold together of what is stored; "" when all does.
func (s *storedState) problem() string {
	ctx := s.w.t.Context()
	var problems []string
	for what, query := range storedRules {
		var found int
		must(s.w.t, s.db.QueryRowContext(ctx, inTrees+query).Scan(&found))
		if found > 0 {
			problems = append(problems, fmt.Sprintf("there are %d %s", found, what))
		}
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id, size, sha1 FROM file_versions")
	must(s.w.t, err)
	defer rows.Close()
	for rows.Next() {
		var version, size int64
		var digest string
		must(s.w.t, rows.Scan(&version, &size, &digest))
		if err := s.holds(version, size, digest); err != nil {
			problems = append(problems, fmt.Sprintf("version %d: %v", version, err))
		}
	}
	must(s.w.t, rows.Err())
	return strings.Join(problems, "\n")
}

// holds tells whether the content of a version is there, and is what the version says.
func (s *storedState) holds(version, size int64, digest string) error {
	content, err := s.w.TemplateContent(s.w.t.Context(), version)
	if err != nil {
		return err
	}
	stored, err := content.Open(s.w.t.Context(), 0, -1)
	if err != nil {
		return err
	}
	defer stored.Close()
	hash := sha1.New() //nolint:gosec // the digest that the interface has
	n, err := io.Copy(hash, stored)
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); n != size || got != digest {
		return fmt.Errorf("it has %d bytes with the digest %s, want %d and %s", n, got, size, digest)
	}
	return nil
}
