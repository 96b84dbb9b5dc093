package docgen

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"platen/store"
)

// Deleting a large tree permanently takes many short transactions, so that other writers can proceed in between. The
// request itself deletes the first portion. If more is left, the same transaction hides the tree from every caller, and
// the task RemoveTrees deletes the rest. All state is in rows: after a crash, the task continues.

// RemoveTrees is the task that deletes the rest of permanently deleted trees. At most one runs at a time.
type RemoveTrees struct{}

// Kind names the task.
func (RemoveTrees) Kind() string { return "remove_trees" }

// RemovalQueue is the queue of RemoveTrees. It has its own queue because it can take long.
const RemovalQueue = "removal"

const (
	removalPortion = 200              // rows of items, versions, and tags that one transaction deletes
	removalTurn    = 20               // portions of one tree before the next tree gets its turn
	removalTrees   = 100              // trees that take turns
	removalBudget  = 45 * time.Second // no portion begins after this; the queue gives a task 120 s
)

// maintenanceTries is the number of tries of tasks that must succeed in the end. They fail only if the database or a
// store fails, or if their process ends.
const maintenanceTries = 10_000

// removeLater hides an item, with everything below it, from every caller and schedules its deletion.
func (s *Service) removeLater(ctx context.Context, tx *store.Tx, itemID int64) error {
	if err := tx.MarkRemoved(ctx, itemID, store.Removed); err != nil {
		return err
	}
	if err := tx.InsertRemoval(ctx, itemID, s.micros()); err != nil {
		return err
	}
	return wakeRemoval(ctx, tx)
}

func wakeRemoval(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Enqueue(ctx, store.Job{Task: RemoveTrees{}, Queue: RemovalQueue, Unique: true, Tries: maintenanceTries})
	return err
}

// ScheduleRemoval schedules RemoveTrees if any tree is left to delete. Call it once at startup.
func (s *Service) ScheduleRemoval(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		left, err := tx.Removals(ctx, 1)
		if err != nil || len(left) == 0 {
			return err
		}
		return wakeRemoval(ctx, tx)
	})
}

// RemoveTrees deletes the rest of deleted trees, which take turns. If more is true, its time was up, and it must be called again.
func (s *Service) RemoveTrees(ctx context.Context) (more bool, err error) {
	began := s.now()
	for {
		var trees []int64
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			trees, err = q.Removals(ctx, removalTrees)
			return err
		})
		if err != nil {
			return false, err
		}
		if len(trees) == 0 {
			return s.endRemoval(ctx)
		}
		for _, id := range trees {
			for range removalTurn {
				if s.now().Sub(began) > removalBudget {
					return true, nil
				}
				all, err := s.removeMore(ctx, id)
				if err != nil {
					return false, fmt.Errorf("remove the items below item %d: %w", id, err)
				}
				if all {
					break
				}
			}
		}
	}
}

// endRemoval marks the task as done, unless a tree was added meanwhile (more is then true). Trees added later enqueue a
// new task.
func (s *Service) endRemoval(ctx context.Context) (more bool, err error) {
	return s.endUnlessDue(ctx, func(tx *store.Tx) (bool, error) {
		left, err := tx.Removals(ctx, 1)
		return len(left) > 0, err
	})
}

// removeMore deletes one portion of a hidden tree in one transaction. all reports that nothing is left.
func (s *Service) removeMore(ctx context.Context, id int64) (all bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		held, err := tx.LockRemoval(ctx, id)
		if all = held == 0; err != nil || all {
			return err
		}
		lock := func(place) error { return nil } // no caller can find a hidden item, but a folder above it can still be moved
		p, err := steady(ctx, tx, Folder, lock, func() (place, error) { return s.placeAt(ctx, tx.Queries, Folder, id) })
		if err != nil {
			return err
		}
		all, err = s.removeSome(ctx, tx, Kind(p.row.Kind), id)
		return err
	})
	return all, err
}

// removeSome deletes at most removalPortion rows of a tree, leaves first, and updates the counts of the folders that stay. all
// reports that the whole tree is deleted. The caller updates the count of the folder that contains the tree.
func (s *Service) removeSome(ctx context.Context, tx *store.Tx, kind Kind, id int64) (all bool, err error) {
	owner, err := tx.ItemOwner(ctx, id)
	if err != nil {
		return false, err
	}
	r := &remover{tx: tx, room: removalPortion, held: map[int64]int64{}}
	all, err = r.walk(ctx, 0, store.SomeChildrenRow{ID: id, Kind: int64(kind), TrashedAt: store.Removed})
	if err != nil {
		return false, err
	}
	if err := s.deletePortion(ctx, tx, r.portion, owner); err != nil {
		return false, err
	}
	for _, id := range r.portion.Items {
		delete(r.held, id)
	}
	for _, id := range slices.Sorted(maps.Keys(r.held)) {
		if err := tx.AddFolderItems(ctx, id, -r.held[id]); err != nil {
			return false, err
		}
	}
	return all, nil
}

// deletePortion deletes the rows of a portion, which belong to one user, and schedules the deletion of their contents.
func (s *Service) deletePortion(ctx context.Context, tx *store.Tx, portion store.Portion, owner int64) error {
	contents, bytes, err := tx.DeletePortion(ctx, portion)
	if err != nil {
		return err
	}
	if len(contents) > 0 {
		if _, err := tx.Enqueue(ctx, store.Job{Task: RemoveContents{contents}, Priority: 4, Tries: maintenanceTries}); err != nil {
			return err
		}
	}
	return s.charge(ctx, tx, owner, -portion.Files, -bytes)
}

// remover collects one portion of a tree.
type remover struct {
	tx      *store.Tx
	room    int // rows the portion can still take
	portion store.Portion
	held    map[int64]int64 // by folder: items in the portion that its count includes
}

// walk adds an item and everything below it to the portion while there is room. all reports that all of it fit. folderID is the
// parent, or 0 for the top of the tree.
func (r *remover) walk(ctx context.Context, folderID int64, item store.SomeChildrenRow) (all bool, err error) {
	below := r.folder
	if Kind(item.Kind) == File {
		below = r.file
	}
	if all, err := below(ctx, item.ID); err != nil || !all || r.room <= 0 {
		return false, err
	}
	r.room--
	r.portion.Items = append(r.portion.Items, item.ID)
	if Kind(item.Kind) == File {
		r.portion.Files++
	}
	if item.TrashedAt == 0 {
		r.held[folderID]++
	}
	return true, nil
}

// folder adds the contents of a folder.
func (r *remover) folder(ctx context.Context, id int64) (all bool, err error) {
	if r.room <= 0 {
		return false, nil
	}
	limit := r.room
	children, err := r.tx.SomeChildren(ctx, parentOf(id), int32(limit))
	if err != nil {
		return false, err
	}
	for _, child := range children {
		if all, err := r.walk(ctx, id, child); err != nil || !all {
			return false, err
		}
	}
	return len(children) < limit, nil
}

// file adds the versions of a file.
func (r *remover) file(ctx context.Context, id int64) (all bool, err error) {
	if r.room <= 0 {
		return false, nil
	}
	limit := r.room
	versions, err := r.tx.SomeVersions(ctx, id, int32(limit))
	if err != nil {
		return false, err
	}
	all, err = r.versions(ctx, versions)
	return all && len(versions) < limit, err
}

// versions adds versions of a file. It deletes their tags immediately, the reading first: SaveReading updates the reading before
// it inserts tags, so it cannot insert any after this. all reports that all of them fit.
func (r *remover) versions(ctx context.Context, versions []int64) (all bool, err error) {
	for _, version := range versions {
		if r.room <= 0 {
			return false, nil
		}
		if err := r.tx.DeleteTagReading(ctx, version); err != nil {
			return false, err
		}
		if err := r.tx.DeleteSampleResults(ctx, version); err != nil {
			return false, err
		}
		tags, err := r.tx.DeleteFirstTags(ctx, version, int64(r.room))
		if err != nil {
			return false, err
		}
		if r.room -= int(tags); r.room <= 0 {
			return false, nil
		}
		r.room--
		r.portion.Versions = append(r.portion.Versions, version)
	}
	return true, nil
}
