package store

import (
	"context"
	"fmt"
)

// A Listing names the items of a folder, or of an owner's trash. In a user's root folder, that includes the items that others share with
// the user. It is not in store/queries because its text depends on the request, and because sqlc does not resolve recursive queries inside
// an expression.
type Listing struct {
	FolderID int64 // 0 for the trash
	TrashOf  int64 // the owner whose trash is listed, without what is below trashed folders; 0 for a folder
	TrashToo int64 // another owner whose trash is listed too; 0 if there is only one
	UserID   int64 // the user whose root folder is listed; 0 for anything else
	Now      int64 // the time at which collaborations must be valid
}

// ListingOrder is an order of a listing: folders first, then by a column.
type ListingOrder struct {
	By         string // id, name, date, or size
	Descending bool
}

// ListedItem contains the columns of an item that a listing reads. Reading all columns takes half as long again.
type ListedItem struct {
	Kind, ID, Etag                      int64
	Name, Description                   string
	VersionID, VersionNumber, Size      int64
	Sha1                                string
	CreatedAt, ModifiedAt               int64
	ContentCreatedAt, ContentModifiedAt int64
	TrashedAt                           int64
}

// Listed returns the item as in a listing.
func (i Item) Listed() ListedItem {
	return ListedItem{
		Kind: i.Kind, ID: i.ID, Etag: i.Etag, Name: i.Name, Description: i.Description,
		VersionID: i.VersionID, VersionNumber: i.VersionNumber, Size: i.Size, Sha1: i.Sha1,
		CreatedAt: i.CreatedAt, ModifiedAt: i.ModifiedAt, ContentCreatedAt: i.ContentCreatedAt, ContentModifiedAt: i.ContentModifiedAt,
		TrashedAt: i.TrashedAt,
	}
}

const listedColumns = `items.kind, items.id, items.etag, items.name, items.description, items.version_id, items.version_number, items.size,
	items.sha1, items.created_at, items.modified_at, items.content_created_at, items.content_modified_at, items.trashed_at`

const inFolder = ` FROM items WHERE items.parent_id = $1 AND items.trashed_at = 0`

var inTrash = ` FROM items WHERE items.trashed_at <> 0 AND ` + notRemoved("items.id")

// shared selects the items of others that the user of a root folder collaborates on.
const shared = ` FROM collaborations JOIN items ON items.id = collaborations.item_id
	WHERE collaborations.user_id = $2 AND collaborations.status = 'accepted' AND NOT collaborations.is_access_only
	AND (collaborations.expires_at = 0 OR collaborations.expires_at > $3) AND items.trashed_at = 0`

// reachedHere selects the shared items that the user's root folder lists. It excludes items in trashed folders, items below one that the
// user owns or reaches through another collaboration, and the user's own items.
const reachedHere = `(
	WITH RECURSIVE chain (id, parent_id, owner_id, trashed_at, depth) AS (
		SELECT self.id, self.parent_id, self.owner_id, self.trashed_at, 0 FROM items self WHERE self.id = items.id
		UNION ALL
		SELECT above.id, above.parent_id, above.owner_id, above.trashed_at, chain.depth + 1
		FROM chain JOIN items above ON above.id = chain.parent_id
	)
	SELECT MAX(CASE
		WHEN chain.trashed_at <> 0 OR chain.owner_id = $2 THEN 1
		WHEN chain.depth > 0 AND EXISTS (SELECT 1 FROM collaborations above WHERE above.item_id = chain.id AND above.user_id = $2
			AND above.status = 'accepted' AND NOT above.is_access_only AND (above.expires_at = 0 OR above.expires_at > $3)) THEN 1
		ELSE 0 END)
	FROM chain
) = 0`

// ListAfter returns the first items of a listing after a kind and an id, in ascending order of kind and id.
func (q *Queries) ListAfter(ctx context.Context, l Listing, kind, id int64, limit int32) ([]ListedItem, error) {
	return q.listFrom(ctx, l, ">", "items.kind, items.id", kind, id, limit)
}

// ListBefore returns the last items of a listing before a kind and an id, in descending order of kind and id.
func (q *Queries) ListBefore(ctx context.Context, l Listing, kind, id int64, limit int32) ([]ListedItem, error) {
	return q.listFrom(ctx, l, "<", "items.kind DESC, items.id DESC", kind, id, limit)
}

func (q *Queries) listFrom(ctx context.Context, l Listing, beyond, order string, kind, id int64, limit int32) ([]ListedItem, error) {
	if from, of := l.plain(); l.UserID == 0 {
		n := len(of)
		text := fmt.Sprintf("SELECT %s%s AND (items.kind, items.id) %s ($%d, $%d) ORDER BY %s LIMIT $%d", listedColumns, from, beyond,
			n+1, n+2, order, n+3)
		return q.list(ctx, text, append(of, kind, id, limit)...)
	}
	place := fmt.Sprintf(" AND (items.kind, items.id) %s ($4, $5)", beyond)
	held := "SELECT items.*" + inFolder + place + " ORDER BY " + order + " LIMIT $6"
	others := "SELECT * FROM (SELECT items.*" + shared + first + ") AS items WHERE TRUE" + place + " ORDER BY " + order + first
	met := "SELECT * FROM (" + others + ") AS items WHERE " + reachedHere + " ORDER BY " + order + " LIMIT $6"
	return q.list(ctx, "SELECT "+listedColumns+" FROM (SELECT * FROM ("+held+") AS held UNION ALL SELECT * FROM ("+met+") AS met) AS items"+
		" ORDER BY "+order+" LIMIT $6", l.FolderID, l.UserID, l.Now, kind, id, limit)
}

// first ends a subquery. It makes the database find and sort the subquery's rows before it evaluates the conditions of the outer query on
// each row, because reachedHere is expensive.
const first = " LIMIT 9223372036854775807"

// ListInOrder returns the items of a listing from an offset on, in the given order. Shared items that the user reaches elsewhere count
// toward the offset and the limit, but are left out.
func (q *Queries) ListInOrder(ctx context.Context, l Listing, o ListingOrder, limit, offset int32) ([]ListedItem, error) {
	if from, of := l.plain(); l.UserID == 0 {
		text := fmt.Sprintf("SELECT %s%s ORDER BY %s LIMIT $%d OFFSET $%d", listedColumns, from, l.order(o), len(of)+1, len(of)+2)
		return q.list(ctx, text, append(of, limit, offset)...)
	}
	held := "SELECT items.*" + inFolder + " ORDER BY " + l.order(o) + " LIMIT CAST($4 AS BIGINT) + CAST($5 AS BIGINT)"
	return q.list(ctx, "SELECT "+listedColumns+" FROM (SELECT * FROM ("+held+") AS held UNION ALL SELECT items.*"+shared+
		" ORDER BY "+l.order(o)+" LIMIT $4 OFFSET $5) AS items WHERE items.parent_id = $1 OR "+reachedHere+
		" ORDER BY "+l.order(o), l.FolderID, l.UserID, l.Now, limit, offset)
}

// CountListing returns the number of items in a listing, as ListInOrder counts them.
func (q *Queries) CountListing(ctx context.Context, l Listing) (count int64, err error) {
	text, args := "SELECT "+folderCount, []any{l.FolderID}
	switch {
	case l.TrashOf != 0:
		text, args = l.plain()
		text = "SELECT COUNT(*)" + text
	case l.UserID != 0:
		text, args = text+" + (SELECT COUNT(*)"+shared+")", append(args, l.UserID, l.Now)
	}
	err = q.db.QueryRowContext(ctx, text, args...).Scan(&count)
	return count, err
}

const folderCount = "COALESCE((SELECT folder_counts.items FROM folder_counts WHERE folder_counts.folder_id = $1), 0)"

// order returns the ORDER BY terms of an order. It is unambiguous, so that offsets are stable from page to page. Names are unique within a
// folder, and their index is sorted.
func (l Listing) order(o ListingOrder) string {
	direction := ""
	if o.Descending {
		direction = " DESC"
	}
	column := map[string]string{"name": "name_key", "date": "modified_at", "size": "size"}[o.By]
	switch {
	case column == "":
		return "kind, id" + direction
	case o.By == "name" && l.UserID == 0 && l.TrashOf == 0:
		return "kind, name_key" + direction
	}
	return "kind, " + column + direction + ", id" + direction
}

// plain returns the FROM and WHERE clauses of a listing without shared items, and their arguments.
func (l Listing) plain() (from string, of []any) {
	switch {
	case l.TrashOf == 0:
		return inFolder, []any{l.FolderID}
	case l.TrashToo == 0:
		return inTrash + " AND items.owner_id = $1", []any{l.TrashOf}
	}
	return inTrash + " AND items.owner_id IN ($1, $2)", []any{l.TrashOf, l.TrashToo}
}

func (q *Queries) list(ctx context.Context, query string, args ...any) ([]ListedItem, error) {
	return collect(ctx, q.db, func(i *ListedItem) []any {
		return []any{
			&i.Kind, &i.ID, &i.Etag, &i.Name, &i.Description, &i.VersionID, &i.VersionNumber, &i.Size, &i.Sha1,
			&i.CreatedAt, &i.ModifiedAt, &i.ContentCreatedAt, &i.ContentModifiedAt, &i.TrashedAt,
		}
	}, query, args...)
}
