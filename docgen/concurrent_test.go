package docgen_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"platen/docgen"
)

// TestConcurrentOperations has several callers perform every operation on the same few items at once. Whatever comes first, no
// caller gets an internal error, and everything is consistent in the end.
func TestConcurrentOperations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folders := []int64{w.folder(w.alice, 0, "a"), w.folder(w.alice, 0, "b"), w.folder(w.alice, 0, "c")}
		operations := []func(r *rand.Rand) error{
			func(r *rand.Rand) error { // upload, and trash what was uploaded
				item, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: fmt.Sprint(r.IntN(2)), ParentID: folders[r.IntN(3)]}, reader("x"))
				if err != nil {
					return err
				}
				return w.TrashFile(ctx, w.alice, item.ID, "")
			},
			func(r *rand.Rand) error { // make a folder, and trash it
				item, err := w.CreateFolder(ctx, w.alice, docgen.NewFolder{Name: fmt.Sprint(r.IntN(2)), ParentID: folders[r.IntN(3)]})
				if err != nil {
					return err
				}
				return w.TrashFolder(ctx, w.alice, item.ID, false, "")
			},
			func(r *rand.Rand) error { // move the folders into each other, and back
				_, err := w.UpdateFolder(ctx, w.alice, folders[r.IntN(3)], docgen.ItemChange{ParentID: &folders[r.IntN(3)]})
				if err != nil {
					return err
				}
				_, err = w.UpdateFolder(ctx, w.alice, folders[r.IntN(3)], docgen.ItemChange{ParentID: new(int64(0))})
				return err
			},
			func(r *rand.Rand) error { // upload, rename and move
				item, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: fmt.Sprint("mine ", r.Uint64())}, reader("x"))
				if err != nil {
					return err
				}
				_, err = w.UpdateFile(ctx, w.alice, item.ID, docgen.ItemChange{Name: new(fmt.Sprint(r.IntN(2))), ParentID: &folders[r.IntN(3)]})
				return errors.Join(err, w.TrashFile(ctx, w.alice, item.ID, ""))
			},
			func(r *rand.Rand) error { // share and transfer the ownership
				made, err := w.CreateFolder(ctx, w.alice, docgen.NewFolder{Name: fmt.Sprint("gift ", r.IntN(2)), ParentID: folders[r.IntN(3)]})
				if err != nil {
					return err
				}
				shared, err := w.CreateCollaboration(ctx, w.alice,
					docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: made.ID, UserID: w.bob.User.ID, Role: docgen.RoleViewer})
				if err != nil {
					return err
				}
				_, err = w.UpdateCollaboration(ctx, w.alice, shared.ID, docgen.CollaborationChange{Role: docgen.RoleOwner})
				return err
			},
			func(r *rand.Rand) error { // share, change and unshare
				made, err := w.CreateCollaboration(ctx, w.alice,
					docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folders[0], UserID: w.bob.User.ID, Role: docgen.RoleEditor})
				if err != nil {
					return err
				}
				var group sync.WaitGroup
				var changed, deleted error
				group.Go(func() {
					_, changed = w.UpdateCollaboration(ctx, w.alice, made.ID, docgen.CollaborationChange{Role: docgen.RoleViewer})
				})
				group.Go(func() { deleted = w.DeleteCollaboration(ctx, w.bob, made.ID) })
				group.Wait()
				if docgen.IsCode(changed, docgen.CodeNotFound) {
					changed = nil
				}
				return errors.Join(changed, deleted)
			},
		}
		errs := make([]error, 2*len(operations))
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				for range 15 {
					var known *docgen.Error
					if err := operations[i%len(operations)](r); err != nil && !errors.As(err, &known) {
						errs[i] = errors.Join(errs[i], fmt.Errorf("operation %d: %w", i%len(operations), err))
					}
				}
			})
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		for _, id := range folders {
			if item, err := w.Folder(ctx, w.alice, id); err != nil || item.Path[0].ID != 0 {
				t.Errorf("folder = %+v, %v, want it below the root folder", item, err)
			}
		}
		w.wantNoOrphans()
	})
}
