package docgen

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"platen/store"
)

// NewFolder describes a folder to create.
type NewFolder struct {
	Name     string
	ParentID int64 // 0 is the caller's root folder
}

// CreateFolder creates an empty folder. The owner of the parent folder owns it.
func (s *Service) CreateFolder(ctx context.Context, c *Caller, f NewFolder) (*Item, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if err := s.checkName(f.Name); err != nil {
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
			return s.nameInUse(ctx, tx.Queries, c, parent.row.ID, f.Name)
		}
		if item, err = s.item(ctx, tx.Queries, c, Folder, id); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{folder: parent, items: 1}); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, event{trigger: FolderCreated, item: parent.child(Folder, id)})
	})
	return item, err
}

// Folder returns a folder.
func (s *Service) Folder(ctx context.Context, c *Caller, id int64) (*Item, error) {
	return s.read(ctx, c, Folder, id)
}

// UpdateFolder renames, describes, or moves a folder.
func (s *Service) UpdateFolder(ctx context.Context, c *Caller, id int64, change ItemChange) (*Item, error) {
	return s.update(ctx, c, Folder, s.folderRow(c, id), change)
}

// TrashFolder moves a folder to the trash. Unless recursive is set, the folder must be empty.
func (s *Service) TrashFolder(ctx context.Context, c *Caller, id int64, recursive bool, ifMatch string) error {
	return s.trash(ctx, c, Folder, s.folderRow(c, id), ifMatch, func(tx *store.Tx, p place) error {
		if recursive {
			return nil
		}
		if err := tx.AddFolderItems(ctx, p.row.ID, 0); err != nil { // from here on, no job can add a document to it
			return err
		}
		full, err := tx.HasChildren(ctx, parentOf(p.row.ID))
		if err == nil && full {
			return failf(CodeFolderNotEmpty, "Cannot delete – folder not empty. Delete its items first, or send recursive=true.")
		}
		return err
	})
}

// folderRow returns the id in the database of a folder that a caller refers to.
func (s *Service) folderRow(c *Caller, id int64) int64 {
	if id == rootID {
		return c.rootID
	}
	return id
}

// listing returns the listing of a folder for a caller. The caller's own root folder also lists the items that others share.
func (s *Service) listing(c *Caller, p place) store.Listing {
	listing := store.Listing{FolderID: p.row.ID, Now: s.micros()}
	if p.row.ID == c.rootID {
		listing.UserID = c.User.ID
	}
	return listing
}

// Items returns one page of the items in a folder, by marker: folders first, each kind in ascending order of id.
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
		result, err = page(s, c, r, itemList(ctx, q, "items/"+strconv.FormatInt(p.row.ID, 10), s.listing(c, p)))
		return err
	})
	return result, err
}

// itemList returns a list of items with folders first, each kind in ascending order of id.
func itemList(ctx context.Context, q *store.Queries, name string, l store.Listing) list[Item] {
	return list[Item]{
		name: name,
		keys: 2,
		key:  func(i Item) []int64 { return []int64{int64(i.Kind), i.ID} },
		after: func(from []int64, limit int32) ([]Item, error) {
			return listedAll(q.ListAfter(ctx, l, from[0], from[1], limit))
		},
		before: func(from []int64, limit int32) ([]Item, error) {
			return listedAll(q.ListBefore(ctx, l, from[0], from[1], limit))
		},
	}
}

// ItemOrder is an order of the items in a folder. Folders precede files in each order.
type ItemOrder struct {
	By         string // id, name, date or size
	Descending bool
}

// ParseOrder parses the query parameters of an order: sort is id, name (the default), date, or size; direction is ASC
// (the default) or DESC.
func ParseOrder(sort, direction string) (ItemOrder, error) {
	order := ItemOrder{By: cmp.Or(sort, "name")}
	var problems []Problem
	if !slices.Contains([]string{"id", "name", "date", "size"}, order.By) {
		problems = append(problems, invalidField("sort", "sort must be id, name, date, or size"))
	}
	switch direction {
	case "", "ASC", "asc":
	case "DESC", "desc":
		order.Descending = true
	default:
		problems = append(problems, invalidField("direction", "direction must be ASC or DESC"))
	}
	return order, Invalid(problems...)
}

// ItemsByOffset returns one page of the items in a folder, by offset and in an order.
func (s *Service) ItemsByOffset(ctx context.Context, c *Caller, folderID int64, r OffsetRequest,
	order ItemOrder) (OffsetPage[Item], error) {
	if err := c.require(ScopeRead); err != nil {
		return OffsetPage[Item]{}, err
	}
	var result OffsetPage[Item]
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, Folder, folderID, MaySee)
		if err != nil {
			return err
		}
		result, err = itemsAt(ctx, q, c, s.listing(c, p), r, order)
		return err
	})
	return result, err
}

// itemsAt reads one page by offset of a list of items, in the given order.
func itemsAt(ctx context.Context, q *store.Queries, c *Caller, l store.Listing, r OffsetRequest,
	order ItemOrder) (OffsetPage[Item], error) {
	return pageAt(c, r,
		func() (int64, error) { return q.CountListing(ctx, l) },
		func(limit, offset int32) ([]Item, error) {
			return listedAll(q.ListInOrder(ctx, l, store.ListingOrder(order), limit, offset))
		})
}
