package server_test

import (
	"crypto/sha1" //nolint:gosec // the digest that the interface has
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL

	"platen/blob"
	"platen/docgen"
	"platen/pdf"
	"platen/server"
	"platen/store"
	"platen/store/storetest"
)

var requestsPostgres = flag.Bool("requests-postgres", false, "let TestRequests make its requests on PostgreSQL")

// storedState reads the stored data of a world directly.
type storedState struct {
	w     *world
	db    *sql.DB
	tasks string       // the query for the tasks of a kind
	blobs []blob.Store // of all storage policies
}

// newStoredWorld creates a world with a second storage policy, and with an engine, or none.
func newStoredWorld(t *testing.T, cfg server.Config, engine pdf.Engine) (*world, *storedState) {
	t.Helper()
	database, open, tasks := storetest.SQLite, sqliteReader, "SELECT json(args) FROM river_job WHERE kind = $1"
	if *requestsPostgres {
		database, open, tasks = storetest.Postgres, postgresReader, "SELECT CAST(args AS TEXT) FROM river_job WHERE kind = $1"
	}
	config := database(t)
	cold, err := blob.Open(t.TempDir())
	must(t, err)
	w := newWorldWith(t, cfg, docgen.Config{
		Store: storetest.Open(t, config), Policies: []docgen.NewStoragePolicy{{Name: "Cold", Blobs: cold}}, CheckAddress: httpsAlone,
	}, engine)
	db, err := open(config)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return w, &storedState{w, db, tasks, []blob.Store{w.blobs, cold}}
}

func sqliteReader(config store.Config) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+(&url.URL{Path: config.Path}).EscapedPath()+"?mode=ro")
}

func postgresReader(config store.Config) (*sql.DB, error) { return sql.Open("pgx", config.URL) }

// inTrees is a query for every item with the root of its tree.
const inTrees = `WITH RECURSIVE tree (id, top, archive, live) AS (
    SELECT items.id, items.id AS top, CAST(0 AS BIGINT), CAST(1 AS BIGINT) FROM items WHERE items.parent_id IS NULL
    UNION ALL
    SELECT items.id, tree.top,
        CASE WHEN tree.archive <> 0 THEN tree.archive WHEN tree.id = tree.top AND tree.top = (
            SELECT root_folder_id FROM users JOIN enterprises ON enterprises.account_id = users.id) THEN items.id ELSE 0 END,
        CASE WHEN items.trashed_at = 0 THEN tree.live ELSE 0 END
    FROM tree JOIN items ON items.parent_id = tree.id
) `

// Rules of the stored data: each query counts violations.
var storedRules = map[string]string{
	"items that no tree holds": `SELECT COUNT(*) FROM items WHERE id NOT IN (SELECT id FROM tree)`,
	"items that do not belong to the owner of their tree": `SELECT COUNT(*) FROM tree JOIN items ON items.id = tree.id
		JOIN items top ON top.id = tree.top WHERE items.owner_id <> top.owner_id`,
	"archives whose size is not the sum of what they hold": `SELECT COUNT(*) FROM items archive WHERE archive.id IN (SELECT archive FROM tree)
		AND archive.trashed_at = 0 AND archive.size <> (SELECT COALESCE(SUM(items.size), 0) FROM tree JOIN items ON items.id = tree.id
			WHERE tree.archive = archive.id AND tree.live = 1 AND items.kind = 1)`,
	"files whose version is not theirs": `SELECT COUNT(*) FROM items WHERE kind = 1
		AND NOT EXISTS (SELECT 1 FROM file_versions WHERE file_versions.id = items.version_id AND file_versions.file_id = items.id)`,
	"folders that hold another number of items than is said": `SELECT COUNT(*) FROM items folder WHERE folder.kind = 0
		AND COALESCE((SELECT folder_counts.items FROM folder_counts WHERE folder_counts.folder_id = folder.id), 0)
			<> (SELECT COUNT(*) FROM items WHERE items.parent_id = folder.id AND items.trashed_at = 0)`,
	"files that say another size or digest than their version": `SELECT COUNT(*) FROM items JOIN file_versions ON file_versions.id =
		items.version_id
		WHERE items.size <> file_versions.size OR items.sha1 <> file_versions.sha1`,
	"jobs that have ended and keep their data": `SELECT COUNT(*) FROM docgen_inputs JOIN docgen_jobs ON docgen_jobs.id = docgen_inputs.job_id
		WHERE docgen_jobs.status = 'completed'`,
	"names that a folder holds twice": `SELECT COUNT(*) FROM (SELECT parent_id FROM items WHERE trashed_at = 0 AND parent_id IS NOT NULL
		GROUP BY parent_id, LOWER(name) HAVING COUNT(*) > 1) twice`,
	"files whose current version is in the trash, or has another number": `SELECT COUNT(*) FROM items JOIN file_versions ON
		file_versions.id = items.version_id
		WHERE file_versions.trashed_at <> 0 OR file_versions.number <> items.version_number`,
	"contents that are not wanted where their tree wants them": `SELECT COUNT(*) FROM file_versions JOIN tree ON tree.id =
		file_versions.file_id
		LEFT JOIN items archive ON archive.id = tree.archive WHERE file_versions.wanted_policy_id <> COALESCE(archive.storage_policy_id, 1)`,
	"files among the archives": `SELECT COUNT(*) FROM tree JOIN items ON items.id = tree.id WHERE tree.archive = tree.id AND items.kind = 1`,
	"storage policies of items that are not archives": `SELECT COUNT(*) FROM tree JOIN items ON items.id = tree.id
		WHERE (tree.archive = tree.id) <> (items.storage_policy_id <> 0)`,
	"users without a root folder of their own": `SELECT COUNT(*) FROM users WHERE deleted_at = 0 AND NOT EXISTS (SELECT 1 FROM items
		WHERE items.id = users.root_folder_id AND items.owner_id = users.id AND items.parent_id IS NULL AND items.kind = 0 AND
			items.trashed_at = 0)`,
	"root folders without a user": `SELECT COUNT(*) FROM items WHERE parent_id IS NULL AND id NOT IN (SELECT ` +
		`root_folder_id FROM users WHERE deleted_at = 0) AND id NOT IN (SELECT folder_id FROM temporary_folders)`,
	"temporary folders of other users": `SELECT COUNT(*) FROM temporary_folders WHERE NOT EXISTS (SELECT 1 FROM items
		WHERE items.id = folder_id AND items.owner_id = user_id AND parent_id IS NULL)`,
	"collaborations of deleted users": `SELECT COUNT(*) FROM collaborations JOIN users ON users.id = collaborations.user_id ` +
		`WHERE users.deleted_at <> 0`,
	"invitations of the login of a user": `SELECT COUNT(*) FROM collaborations JOIN users ON users.login_key = collaborations.invite_key
		WHERE collaborations.user_id IS NULL`,
	"tokens of deleted users": `SELECT COUNT(*) FROM users WHERE deleted_at <> 0
		AND (id IN (SELECT user_id FROM tokens) OR id IN (SELECT user_id FROM refresh_tokens))`,
	"enterprises without an administrator": `SELECT COUNT(*) FROM enterprises WHERE NOT EXISTS (SELECT 1 FROM users
		WHERE users.enterprise_id = enterprises.id AND users.role = 'admin' AND users.status <> 'inactive' AND users.deleted_at = 0)`,
	"templates that are no files": `SELECT COUNT(*) FROM docgen_templates JOIN items ON items.id = docgen_templates.file_id WHERE ` +
		`items.kind <> 1`,
	"jobs that have not ended and have no data": `SELECT COUNT(*) FROM docgen_jobs WHERE status IN ('pending', 'submitted')
		AND id NOT IN (SELECT job_id FROM docgen_inputs)`,
	"batches whose end is not awaited": `SELECT COUNT(*) FROM docgen_endings WHERE jobs_left <> (SELECT COUNT(*) FROM docgen_jobs
		WHERE docgen_jobs.batch_id = docgen_endings.batch_id AND docgen_jobs.status IN ('pending', 'submitted'))`,
	"unfinished merged files without an ending": `SELECT COUNT(*) FROM docgen_merges WHERE status IN ('pending', 'submitted')
		AND batch_id NOT IN (SELECT batch_id FROM docgen_endings)`,
	// Listeners can be polled a last time after that, and expire on their own.
	"webhooks on deleted items": `SELECT COUNT(*) FROM webhooks WHERE status = 'active' AND address <> '' AND target_id NOT IN ` +
		`(SELECT id FROM items)`,
	"collaborations of the owner": `SELECT COUNT(*) FROM collaborations JOIN items ON items.id = collaborations.item_id
		WHERE items.owner_id = collaborations.user_id`,
}

// problem returns the inconsistencies in the stored data, before and after the tasks for contents have run, one per
// line.
func (s *storedState) problem() string {
	problems := append(s.broken(storedRules), s.lost()...)
	s.work()
	problems = append(problems, s.broken(map[string]string{
		"contents that are not where they are wanted": `SELECT COUNT(*) FROM file_versions WHERE storage_policy_id <> wanted_policy_id`,
	})...)
	problems = append(problems, s.lost()...)
	problems = append(problems, s.orphans()...)
	slices.Sort(problems)
	return strings.Join(slices.Compact(problems), "\n")
}

// broken returns the rules that the stored state breaks.
func (s *storedState) broken(rules map[string]string) []string {
	var problems []string
	for what, query := range rules {
		var found int
		must(s.w.t, s.db.QueryRowContext(s.w.t.Context(), inTrees+query).Scan(&found))
		if found > 0 {
			problems = append(problems, fmt.Sprintf("there are %d %s", found, what))
		}
	}
	return problems
}

// A storedVersion is a version according to its row.
type storedVersion struct {
	id, size  int64
	sha1, key string
}

// versions returns all versions.
func (s *storedState) versions() []storedVersion {
	rows, err := s.db.QueryContext(s.w.t.Context(), "SELECT id, size, sha1, blob_key FROM file_versions")
	must(s.w.t, err)
	defer rows.Close()
	var versions []storedVersion
	for rows.Next() {
		var v storedVersion
		must(s.w.t, rows.Scan(&v.id, &v.size, &v.sha1, &v.key))
		versions = append(versions, v)
	}
	must(s.w.t, rows.Err())
	return versions
}

// parts returns the keys of the parts of uploads.
func (s *storedState) parts() (keys []string) {
	rows, err := s.db.QueryContext(s.w.t.Context(), "SELECT id FROM upload_parts")
	must(s.w.t, err)
	defer rows.Close()
	for rows.Next() {
		var part int64
		must(s.w.t, rows.Scan(&part))
		keys = append(keys, "parts/"+id(part))
	}
	must(s.w.t, rows.Err())
	return keys
}

// lost returns a message for each version whose content is missing.
func (s *storedState) lost() []string {
	var problems []string
	for _, v := range s.versions() {
		if err := s.holds(v); err != nil {
			problems = append(problems, fmt.Sprintf("version %d: %v", v.id, err))
		}
	}
	return problems
}

// work runs the tasks of the queue that move and delete contents.
func (s *storedState) work() {
	t := s.w.t
	_, _, err := s.w.Relocate(t.Context())
	must(t, err)
	rows, err := s.db.QueryContext(t.Context(), s.tasks, docgen.RemoveContents{}.Kind())
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var args string
		must(t, rows.Scan(&args))
		var task docgen.RemoveContents
		must(t, json.Unmarshal([]byte(args), &task))
		must(t, s.w.RemoveContents(t.Context(), task))
	}
	must(t, rows.Err())
}

// orphans returns a message for each content that no version refers to.
func (s *storedState) orphans() []string {
	named := map[string]bool{}
	for _, mark := range docgen.IdentityObjects() { // they identify the database of the contents
		named[mark] = true
	}
	for _, v := range s.versions() {
		named[v.key] = true
	}
	for _, key := range s.parts() {
		named[key] = true
	}
	var problems []string
	for _, blobs := range s.blobs {
		for info, err := range blobs.List(s.w.t.Context(), "") {
			must(s.w.t, err)
			if !named[info.Key] {
				problems = append(problems, fmt.Sprintf("no version and no upload names the content %s", info.Key))
			}
		}
	}
	return problems
}

// holds returns an error unless the content of a version exists and matches its row.
func (s *storedState) holds(v storedVersion) error {
	content, err := s.w.TemplateContent(s.w.t.Context(), v.id)
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
	if got := hex.EncodeToString(hash.Sum(nil)); n != v.size || got != v.sha1 {
		return fmt.Errorf("it has %d bytes with the digest %s, want %d and %s", n, got, v.size, v.sha1)
	}
	return nil
}
