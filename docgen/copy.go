package docgen

import (
	"context"
	"fmt"

	"platen/store"
)

// maxCopyItems is the largest number of files and folders in one copy. They are created in one transaction, which others wait for.
const maxCopyItems = 10_000

// NewCopy describes a copy of a file or folder to create.
type NewCopy struct {
	ItemID    int64
	VersionID int64  // the version of a file to copy; 0 is the current one
	ParentID  int64  // the folder for the copy; 0 is the caller's root folder
	Name      string // of the copy; empty for the name of the item
}

func (s *Service) checkCopy(c *Caller, n NewCopy) error {
	if err := c.require(ScopeWrite); err != nil || n.Name == "" {
		return err
	}
	return s.checkName(n.Name)
}

// CopyFile creates a file from a version of another file. It copies neither collaborations nor the template mark. The
// content is not duplicated: both versions refer to it, because contents never change.
func (s *Service) CopyFile(ctx context.Context, c *Caller, n NewCopy) (*Item, error) {
	if err := s.checkCopy(c, n); err != nil {
		return nil, err
	}
	var item *Item
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if err := s.shareCopy(ctx, tx, c, n); err != nil {
			return err
		}
		source, err := s.findLocked(ctx, tx, c, File, n.ItemID, MayDownload) // its content must exist until the copy refers to it
		if err != nil {
			return err
		}
		version, err := fileVersion(ctx, tx.Queries, source.row, n.VersionID)
		if err != nil {
			return err
		}
		target, err := s.lockFolder(ctx, tx, c, n.ParentID)
		if err != nil {
			return err
		}
		row, content := s.copyRow(source.row, target, c, n), s.sameContent(version)
		row.ContentCreatedAt, row.ContentModifiedAt = contentTimes(source.row, version)
		added, err := content.insertFile(ctx, tx, row)
		if err != nil {
			return err
		}
		if !added {
			return s.nameInUse(ctx, tx.Queries, c, target.row.ID, row.Name)
		}
		if item, err = s.item(ctx, tx.Queries, c, File, row.ID); err != nil {
			return err
		}
		if err := content.settle(ctx, tx, target, row.ID); err != nil {
			return err
		}
		if err := s.charge(ctx, tx, row.OwnerID, 1, version.Size); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{target, 1, version.Size}); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, copyEvents(source, target, row.ID)...)
	})
	return item, err
}

// shareCopy prevents others from locking the trees of a file and its copy exclusively.
func (s *Service) shareCopy(ctx context.Context, tx *store.Tx, c *Caller, n NewCopy) error {
	source, err := s.find(ctx, tx.Queries, c, File, n.ItemID, MayDownload)
	if err != nil {
		return err
	}
	target, err := s.find(ctx, tx.Queries, c, Folder, n.ParentID, MayUpload)
	if err != nil {
		return err
	}
	return tx.LockTreesShared(ctx, source.tree(), target.tree())
}

// copyRow returns the row for the copy of an item, without the content.
func (s *Service) copyRow(source store.Item, target place, c *Caller, n NewCopy) store.InsertItemParams {
	name := source.Name
	if n.Name != "" {
		name = n.Name
	}
	row := newItemRow(Kind(source.Kind), s.newID(), parentOf(target.row.ID), name, target.row.OwnerID, c.User.ID, s.micros())
	row.Description = source.Description
	row.ContentCreatedAt, row.ContentModifiedAt = source.ContentCreatedAt, source.ContentModifiedAt
	return row
}

// CopyFolder copies a folder with its content, and each file like CopyFile. Items in the trash are not copied.
func (s *Service) CopyFolder(ctx context.Context, c *Caller, n NewCopy) (*Item, error) {
	if err := s.checkCopy(c, n); err != nil {
		return nil, err
	}
	n.ItemID = s.folderRow(c, n.ItemID)
	var item *Item
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		source, target, err := s.holdCopy(ctx, tx, c, n)
		if err != nil {
			return err
		}
		tree, err := activeTree(ctx, tx, source)
		if err != nil {
			return err
		}
		top := s.copyRow(source.row, target, c, n)
		added, err := tx.InsertItem(ctx, top)
		if err != nil {
			return err
		}
		if added == 0 {
			return s.nameInUse(ctx, tx.Queries, c, target.row.ID, top.Name)
		}
		size, err := s.copyBelow(ctx, tx, top, tree)
		if err != nil {
			return err
		}
		if item, err = s.item(ctx, tx.Queries, c, Folder, top.ID); err != nil {
			return err
		}
		if err := settle(ctx, tx, top.ID, target.policy()); err != nil {
			return err
		}
		if err := s.charge(ctx, tx, top.OwnerID, filesIn(tree), size); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{target, 1, size}); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, copyEvents(source, target, top.ID)...)
	})
	return item, err
}

// holdCopy returns the folder to copy and the target folder. Until the transaction ends, nobody else can change
// anything in their trees, so that the contents exist until the copies refer to them.
func (s *Service) holdCopy(ctx context.Context, tx *store.Tx, c *Caller, n NewCopy) (source, target place, err error) {
	err = lockTrees(ctx, tx, func() ([]int64, error) {
		if source, err = s.find(ctx, tx.Queries, c, Folder, n.ItemID, MayDownload); err != nil {
			return nil, err
		}
		if target, err = s.find(ctx, tx.Queries, c, Folder, n.ParentID, MayUpload); err != nil {
			return nil, err
		}
		return []int64{source.tree(), target.tree()}, nil
	})
	switch {
	case err != nil:
	case !source.row.ParentID.Valid:
		err = failf(CodeForbidden, "Access denied – the root folder cannot be copied. Copy its items instead.")
	case target.isBelow(source):
		err = failf(CodeCycle, "A folder cannot be copied into itself or into a folder below it.")
	}
	return source, target, err
}

// activeTree returns the items in a copy of a folder: the folder, and every folder before its content.
func activeTree(ctx context.Context, tx *store.Tx, folder place) ([]store.ActiveTreeRow, error) {
	count, err := tx.TreeItems(ctx, folder.row.ID, maxCopyItems+1, false) // ActiveTree sorts the whole tree
	if err != nil {
		return nil, err
	}
	if count > maxCopyItems {
		return nil, Invalid(invalidField("folder",
			"folder %d contains more than %d files and folders, the maximum for a copy: copy its folders one by one",
			folder.row.ID, maxCopyItems))
	}
	return tx.ActiveTree(ctx, folder.row.ID, maxCopyItems)
}

// filesIn returns the number of files in a tree.
func filesIn(tree []store.ActiveTreeRow) (files int64) {
	for _, node := range tree {
		files += node.Item.Kind // which is 1 for files
	}
	return files
}

// copyBelow copies everything below a folder to its copy, and returns the total size of the files.
func (s *Service) copyBelow(ctx context.Context, tx *store.Tx, top store.InsertItemParams,
	tree []store.ActiveTreeRow) (size int64, err error) {
	copies := map[int64]int64{tree[0].Item.ID: top.ID}
	var items []store.Item
	var versions []store.FileVersion
	for _, node := range tree[1:] {
		item := node.Item
		copies[item.ID] = s.newID()
		item.ID, item.ParentID, item.OwnerID, item.Etag = copies[item.ID], parentOf(copies[item.ParentID.Int64]), top.OwnerID, 0
		item.CreatedAt, item.CreatedBy, item.ModifiedAt, item.ModifiedBy = top.CreatedAt, top.CreatedBy, top.CreatedAt, top.CreatedBy
		item.StoragePolicyID = 0
		if Kind(item.Kind) == File {
			item.VersionID, item.VersionNumber = s.newID(), 1
			size += item.Size
			versions = append(versions, store.FileVersion{
				ID: item.VersionID, FileID: item.ID, Number: 1, Name: item.Name, BlobKey: node.BlobKey, Size: item.Size, Sha1: item.Sha1,
				CreatedAt: top.CreatedAt, CreatedBy: top.CreatedBy, StoragePolicyID: node.StoragePolicyID, WantedPolicyID: node.StoragePolicyID,
			})
		}
		items = append(items, item)
	}
	if err := tx.InsertItems(ctx, items); err != nil {
		return 0, fmt.Errorf("copy folder %d: %w", tree[0].Item.ID, err)
	}
	if err := tx.CountTree(ctx, top.ID); err != nil {
		return 0, err
	}
	return size, tx.InsertVersions(ctx, versions)
}
