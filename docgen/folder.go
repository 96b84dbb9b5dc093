package docgen

import (
	"context"
	"strconv"

	"platen/store"
)

// NewFolder describes a folder to be made.
type NewFolder struct {
	Name     string
	ParentID int64 // 0 is the caller's root folder
}

// CreateFolder makes an empty folder. It belongs to the owner of the folder it lies in.
func (s *Service) CreateFolder(ctx context.Context, c *Caller, f NewFolder) (*Item, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if err := checkName(f.Name); err != nil {
		return nil, err
	}
	var item *Item
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		parent, err := s.lockFolder(ctx, tx, c, f.ParentID)
		if err != nil {
			return err
		}
		id := s.newID()
		row := newItemRow(Folder, id, parentOf(parent.row.ID), f.Name, parent.row.OwnerID, c.User.ID, s.micros())
		added, err := tx.InsertItem(ctx, row)
		if err != nil {
			return err
		}
		if added == 0 {
			return nameInUse(ctx, tx.Queries, parent.row.ID, f.Name)
		}
		item, err = s.item(ctx, tx.Queries, c, Folder, id)
		return err
	})
	return item, err
}

// Folder returns a folder.
func (s *Service) Folder(ctx context.Context, c *Caller, id int64) (*Item, error) {
	return s.read(ctx, c, Folder, id)
}

// UpdateFolder renames, describes or moves a folder.
func (s *Service) UpdateFolder(ctx context.Context, c *Caller, id int64, change ItemChange) (*Item, error) {
	return s.update(ctx, c, Folder, s.folderRow(c, id), change)
}

// TrashFolder puts a folder into the trash, with all that it holds when recursive is set; otherwise only when it holds
// nothing.
func (s *Service) TrashFolder(ctx context.Context, c *Caller, id int64, recursive bool, ifMatch string) error {
	return s.trash(ctx, c, Folder, s.folderRow(c, id), ifMatch, func(tx *store.Tx, p place) error {
		if recursive {
			return nil
		}
		full, err := tx.HasChildren(ctx, parentOf(p.row.ID))
		if err == nil && full {
			return failf(CodeFolderNotEmpty, "Cannot delete – folder not empty. Delete what it holds first, or say recursive=true.")
		}
		return err
	})
}

// folderRow is the row's id of a folder that a caller names.
func (s *Service) folderRow(c *Caller, id int64) int64 {
	if id == rootID {
		return c.rootID
	}
	return id
}

// Items returns one page by marker of what a folder holds: folders first, each kind by growing id.
func (s *Service) Items(ctx context.Context, c *Caller, folderID int64, r PageRequest) (Page[Item], error) {
	if err := c.require(ScopeRead); err != nil {
		return Page[Item]{}, err
	}
	var result Page[Item]
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, Folder, folderID, MaySee)
		if err != nil {
			return err
		}
		parent := parentOf(p.row.ID)
		result, err = page(s, c, r, list[Item]{
			name: "items/" + strconv.FormatInt(p.row.ID, 10),
			keys: 2,
			key:  func(i Item) []int64 { return []int64{int64(i.Kind), i.ID} },
			after: func(from []int64, limit int32) ([]Item, error) {
				return listedAll(q.ChildrenAfter(ctx, store.ChildrenAfterParams{ParentID: parent, FromKind: from[0], FromID: from[1], Count: limit}))
			},
			before: func(from []int64, limit int32) ([]Item, error) {
				return listedAll(q.ChildrenBefore(ctx, store.ChildrenBeforeParams{ParentID: parent, FromKind: from[0], FromID: from[1], Count: limit}))
			},
		})
		return err
	})
	return result, err
}

// ItemsByOffset returns one page by offset of what a folder holds: folders first, each kind in the order asked for.
func (s *Service) ItemsByOffset(ctx context.Context, c *Caller, folderID int64, r OffsetRequest) (OffsetPage[Item], error) {
	if err := c.require(ScopeRead); err != nil {
		return OffsetPage[Item]{}, err
	}
	result := OffsetPage[Item]{OffsetRequest: r}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, Folder, folderID, MaySee)
		if err != nil {
			return err
		}
		total, err := q.CountChildren(ctx, parentOf(p.row.ID))
		if err != nil {
			return err
		}
		result.Total = int(total)
		result.Entries, err = listedAll(childrenIn(ctx, q, p.row.ID, r))
		return err
	})
	return result, err
}

func childrenIn(ctx context.Context, q *store.Queries, folder int64, r OffsetRequest) ([]store.Item, error) {
	parent, limit, offset := parentOf(folder), int32(r.Limit), int32(r.Offset)
	switch {
	case r.Sort == "id" && r.Descending:
		return q.ChildrenByIDDesc(ctx, parent, limit, offset)
	case r.Sort == "id":
		return q.ChildrenByID(ctx, parent, limit, offset)
	case r.Sort == "date" && r.Descending:
		return q.ChildrenByDateDesc(ctx, parent, limit, offset)
	case r.Sort == "date":
		return q.ChildrenByDate(ctx, parent, limit, offset)
	case r.Sort == "size" && r.Descending:
		return q.ChildrenBySizeDesc(ctx, parent, limit, offset)
	case r.Sort == "size":
		return q.ChildrenBySize(ctx, parent, limit, offset)
	case r.Descending:
		return q.ChildrenByNameDesc(ctx, parent, limit, offset)
	}
	return q.ChildrenByName(ctx, parent, limit, offset)
}
