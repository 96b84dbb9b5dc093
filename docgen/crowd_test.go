package docgen_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"platen/docgen"
)

// A crowd is a number of concurrent writers that perform every operation on the items of two archives and of a user.
type crowd struct {
	servers  []*world
	c        *docgen.Caller
	roots    []int64 // the archives, and a folder of the user
	template int64

	mu    sync.Mutex
	items map[docgen.Kind][]int64
}

// pick returns an item of a kind, or a root.
func (d *crowd) pick(r *rand.Rand, kind docgen.Kind) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.items[kind]
	if kind == docgen.Folder && r.IntN(3) == 0 || len(known) == 0 {
		return d.roots[r.IntN(len(d.roots))]
	}
	return known[r.IntN(len(known))]
}

func (d *crowd) add(item *docgen.Item, err error) error {
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.items[item.Kind] = append(d.items[item.Kind], item.ID)
	}
	return err
}

// generate generates a document in a folder, like a worker.
func (d *crowd) generate(ctx context.Context, w *world, folder int64) error {
	job, err := w.tryGenerate(ctx, d.c, d.template, folder)
	if err != nil || job.OutputFileID == 0 { // the folder was trashed meanwhile
		return err
	}
	return d.add(&docgen.Item{Kind: docgen.File, ID: job.OutputFileID}, nil)
}

// act performs one random operation. The numbers are odds out of 18.
func (d *crowd) act(ctx context.Context, r *rand.Rand) error {
	w := d.servers[r.IntN(len(d.servers))]
	text := strings.Repeat("x", 1+r.IntN(100))
	name := fmt.Sprint("item ", r.Uint64())
	switch n := r.IntN(18); {
	case n < 4:
		return d.add(w.CreateFile(ctx, d.c, docgen.NewFile{Name: name, ParentID: d.pick(r, docgen.Folder)}, reader(text)))
	case n < 6:
		return d.add(w.CreateFolder(ctx, d.c, docgen.NewFolder{Name: name, ParentID: d.pick(r, docgen.Folder)}))
	case n < 9:
		_, err := w.CreateVersion(ctx, d.c, docgen.NewVersion{FileID: d.pick(r, docgen.File)}, reader(text))
		return err
	case n < 11:
		_, err := w.UpdateFile(ctx, d.c, d.pick(r, docgen.File), docgen.ItemChange{ParentID: new(d.pick(r, docgen.Folder))})
		return err
	case n < 14:
		_, err := w.UpdateFolder(ctx, d.c, d.pick(r, docgen.Folder), docgen.ItemChange{ParentID: new(d.pick(r, docgen.Folder))})
		return err
	case n < 15:
		return d.generate(ctx, w, d.pick(r, docgen.Folder))
	case n < 16:
		_, err := w.UpdateArchive(ctx, d.c, d.roots[r.IntN(2)], docgen.ArchiveChange{Name: &name})
		return err
	case n < 17:
		return w.TrashFile(ctx, d.c, d.pick(r, docgen.File), "")
	}
	return w.TrashFolder(ctx, d.c, d.pick(r, docgen.Folder), r.IntN(2) == 0, "")
}

// sums returns, for each archive, its size and the bytes of the files in it that are not in the trash.
const sums = `
WITH RECURSIVE below (archive_id, size, id) AS (
    SELECT items.id, items.size, items.id FROM items WHERE items.parent_id = $1
    UNION ALL
    SELECT below.archive_id, below.size, items.id FROM below JOIN items ON items.parent_id = below.id AND items.trashed_at = 0
)
SELECT below.archive_id || ' holds ' || below.size || ', its files ' || COALESCE(SUM(file_versions.size), 0)
FROM below JOIN items ON items.id = below.id LEFT JOIN file_versions ON file_versions.id = items.version_id
GROUP BY below.archive_id, below.size
HAVING below.size <> COALESCE(SUM(file_versions.size), 0)`

// strays returns the items whose owner is not the owner of their root folder.
const strays = `
WITH RECURSIVE below (owner_id, id) AS (
    SELECT items.owner_id, items.id FROM items WHERE items.parent_id IS NULL
    UNION ALL
    SELECT below.owner_id, items.id FROM below JOIN items ON items.parent_id = below.id
)
SELECT items.id FROM items LEFT JOIN below ON below.id = items.id
WHERE below.owner_id IS NULL OR below.owner_id <> items.owner_id`

// misplaced returns the versions whose contents are not, or will not be, in the storage that the policy of their archive names.
const misplaced = `
WITH RECURSIVE below (policy_id, id) AS (
    SELECT CASE WHEN items.storage_policy_id = 0 THEN 1 ELSE items.storage_policy_id END, items.id FROM items
    WHERE items.parent_id IN (SELECT roots.id FROM items roots WHERE roots.parent_id IS NULL)
    UNION ALL
    SELECT below.policy_id, items.id FROM below JOIN items ON items.parent_id = below.id
)
SELECT file_versions.id FROM file_versions JOIN below ON below.id = file_versions.file_id
WHERE file_versions.storage_policy_id <> below.policy_id OR file_versions.wanted_policy_id <> below.policy_id`

// TestArchivesUnderConcurrentWriters has a crowd of writers change two archives at once, on two servers, while contents
// are relocated. In the end the size of each archive is that of its files, every item belongs to the owner of its tree,
// contents are in the storage of their archive, and no request has failed with an internal error.
func TestArchivesUnderConcurrentWriters(t *testing.T) {
	const writers = 12
	actions := 60
	if testing.Short() {
		actions = 20
	}
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		s := newStores(t, w)
		c := s.c
		d := &crowd{
			servers: []*world{w, w.again(s.config())}, c: c, items: map[docgen.Kind][]int64{},
			template: w.template(w.alice, 0, "template.docx").ID,
			roots:    []int64{s.archive, w.archive(c, "b").ID, w.folder(w.alice, 0, "alice's")},
		}
		for _, root := range d.roots { // initial folders
			folder := w.folder(c, root, "folder")
			must(t, d.add(w.Folder(ctx, c, folder)))
			must(t, d.add(w.upload(c, folder, "file", "something"), nil))
		}
		errs := make([]error, writers)
		done := make([]int, writers)
		var group, carriers sync.WaitGroup
		stop := make(chan struct{})
		carried := make([]error, len(d.servers))
		for i, server := range d.servers {
			carriers.Go(func() { carried[i] = keepRelocating(ctx, server, stop) })
		}
		for i := range writers {
			group.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				for range actions {
					err := d.act(ctx, r)
					if _, refused := errors.AsType[*docgen.Error](err); err != nil && !refused {
						errs[i] = errors.Join(errs[i], err)
					} else if err == nil {
						done[i]++
					}
				}
			})
		}
		group.Wait()
		close(stop)
		carriers.Wait()
		must(t, errors.Join(slices.Concat(errs, carried)...))
		root := query[int64](w, "SELECT root_folder_id FROM users JOIN enterprises ON enterprises.account_id = users.id")[0]
		if wrong := query[string](w, sums, root); len(wrong) > 0 {
			t.Errorf("archive %s", strings.Join(wrong, "; archive "))
		}
		if wrong := query[int64](w, strays); len(wrong) > 0 {
			t.Errorf("items %d do not belong to the owner of their tree", wrong)
		}
		if wrong := query[int64](w, misplaced); len(wrong) > 0 {
			t.Errorf("the contents of versions %d are not where their archive says", wrong)
		}
		s.wantWhole()
		for _, archive := range w.archives(c) {
			t.Logf("archive of %d bytes", archive.Size)
		}
		t.Logf("%d folders, %d files, actions done by each writer: %d", len(d.items[docgen.Folder]), len(d.items[docgen.File]), done)
		if slices.Min(done) < actions/6 {
			t.Errorf("actions done by each writer: %d, want more of the %d", done, actions)
		}
	})
}

// keepRelocating relocates contents until stop is closed, and then the rest.
func keepRelocating(ctx context.Context, w *world, stop <-chan struct{}) error {
	for {
		last := false
		select {
		case <-stop:
			last = true
		default:
		}
		if _, _, err := w.Relocate(ctx); err != nil || last {
			return err
		}
	}
}
