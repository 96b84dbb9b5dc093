package cli

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"platen/client"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// Servers are killed while they permanently delete a large folder. In the end, all of it is deleted, including its
// contents; counts and sizes are exact, and a copy outside still has the contents that it shared.
func TestKilledWhileDeleting(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	k := &killing{t: t, args: []string{"--rate-requests=-1", "--rate-uploads=-1", "--data=" + data}}
	server := k.start()
	v := newVisitor(t, server, "--data="+data)
	kept, doomed := v.mustFolder("Kept"), v.mustFolder("Doomed")
	text := func(i int) string { return fmt.Sprint("content ", i) }
	for i := range 30 {
		v.mustUploadTo(kept, fmt.Sprint(i, ".txt"), []byte(text(i)))
		v.mustUploadTo(doomed, fmt.Sprint(i, ".txt"), []byte(fmt.Sprint("doomed ", i)))
	}
	for i := range 60 {
		request := client.CopyFolderRequest{Name: new(fmt.Sprint("Copy ", i)), Parent: client.ParentRef{Id: doomed}}
		if _, err := v.CopyFolder(t.Context(), kept, &client.CopyFolderParams{}, request); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.DeleteFolder(t.Context(), doomed, &client.DeleteFolderParams{Recursive: new(true)}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.PurgeFolder(t.Context(), doomed); err != nil {
		t.Fatal(err)
	}
	db := storetest.Raw(t, store.Config{Path: filepath.Join(data, "platen.db")})
	inMidst := 0
	for left := count(t, db, "items"); count(t, db, "removals") > 0; {
		if err := server.kill(); err != nil {
			t.Fatal(err)
		}
		if count(t, db, "removals") > 0 {
			inMidst++
		}
		server = k.start()
		awaitTrue(t, "the server goes on", func() bool { return count(t, db, "items") < left || count(t, db, "removals") == 0 })
		left = count(t, db, "items")
	}
	if inMidst < 2 {
		t.Errorf("%d servers were killed while the folder was being deleted: too few to show anything", inMidst)
	}
	awaitTrue(t, "the contents are deleted", func() bool {
		return count(t, db, fmt.Sprintf("river_job WHERE kind IN ('%s', '%s') AND state <> 'completed'", docgen.RemoveTrees{}.Kind(),
			docgen.RemoveContents{}.Kind())) == 0
	})
	v.visit(server)
	for id, name := range v.files(kept) {
		var i int
		if _, err := fmt.Sscanf(name, "%d.txt", &i); err != nil || string(v.mustDownload(id)) != text(i) {
			t.Errorf("the file %s that is kept: %v", name, err)
		}
	}
	if err := server.stop(); err != nil {
		t.Error(err)
	}
	if n := count(t, db, "file_versions"); n != 30 {
		t.Errorf("%d versions are left, want 30", n)
	}
	out := platen(t, "verify", "--data="+data)
	if !strings.Contains(out, "everything is intact.") {
		t.Errorf("verify says:\n%s", out)
	}
	t.Logf("%d servers were killed while they deleted", inMidst)
}

// count returns the number of rows of a table.
func count(t *testing.T, db *sql.DB, table string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(context.WithoutCancel(t.Context()), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
