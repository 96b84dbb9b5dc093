package store

import (
	"context"
	"fmt"
	"slices"
)

// A tree is the items below one item, and that item. What follows stands here and not among the queries because sqlc
// does not resolve a recursive query inside an expression.

// belowItem names the rows of a tree, what is in the trash too.
const belowItem = `
WITH RECURSIVE below (id) AS (
    SELECT items.id FROM items WHERE items.id = $1
    UNION ALL
    SELECT items.id FROM below JOIN items ON items.parent_id = below.id
)
SELECT id FROM below`

// activeSize sums what the files of a tree hold at present, without what is in the trash or lies in a folder that is.
const activeSize = `
WITH RECURSIVE below (id, kind, size) AS (
    SELECT items.id, items.kind, items.size FROM items WHERE items.id = $1 AND items.trashed_at = 0
    UNION ALL
    SELECT items.id, items.kind, items.size FROM below JOIN items ON items.parent_id = below.id AND items.trashed_at = 0
)
SELECT CAST(COALESCE(SUM(CASE WHEN kind = 1 THEN size ELSE 0 END), 0) AS BIGINT) FROM below`

// TreeSize returns how many bytes the files of a tree hold at present; nothing when its item is in the trash.
func (q *Queries) TreeSize(ctx context.Context, id int64) (bytes int64, err error) {
	err = q.db.QueryRowContext(ctx, activeSize, id).Scan(&bytes)
	return bytes, err
}

// SetTreeOwner gives all of a tree to a user, what is in the trash too.
func (q *Queries) SetTreeOwner(ctx context.Context, id, ownerID int64) error {
	_, err := q.db.ExecContext(ctx, "UPDATE items SET owner_id = $2 WHERE id IN ("+belowItem+")", id, ownerID)
	return err
}

// DeleteTreeCollaborations ends every collaboration within a tree.
func (q *Queries) DeleteTreeCollaborations(ctx context.Context, id int64) error {
	_, err := q.db.ExecContext(ctx, "DELETE FROM collaborations WHERE item_id IN ("+belowItem+")", id)
	return err
}

// contentOfTree are the statements that remove what lies below an item, and the item, each before what it refers to.
var contentOfTree = []string{
	"DELETE FROM docgen_tags WHERE version_id IN (SELECT file_versions.id FROM file_versions WHERE file_id IN (" + belowItem + "))",
	"DELETE FROM docgen_tag_readings WHERE version_id IN (SELECT file_versions.id FROM file_versions WHERE file_id IN (" + belowItem + "))",
	"DELETE FROM docgen_templates WHERE file_id IN (" + belowItem + ")",
	"DELETE FROM file_versions WHERE file_id IN (" + belowItem + ")",
	"DELETE FROM collaborations WHERE item_id IN (" + belowItem + ")",
	"DELETE FROM items WHERE id IN (" + belowItem + ")",
}

// DeleteTree removes a tree for good, what is in the trash too. The contents of its files are orphans from then on.
func (q *Queries) DeleteTree(ctx context.Context, id int64) error {
	for _, statement := range contentOfTree {
		if _, err := q.db.ExecContext(ctx, statement, id); err != nil {
			return fmt.Errorf("delete tree %d: %w", id, err)
		}
	}
	return nil
}

// ShareTree lets a transaction change single items of a tree until it ends: others may do so too, but nobody takes all of
// the tree by HoldTrees meanwhile. On SQLite writers wait for each other anyway.
func (tx *Tx) ShareTree(ctx context.Context, id int64) error {
	return tx.lockTree(ctx, "SELECT pg_advisory_xact_lock_shared($1)", id)
}

// HoldTrees keeps everybody else from changing anything in some trees until the transaction ends. Who holds several
// takes them in one call, before any row and before ShareTree.
func (tx *Tx) HoldTrees(ctx context.Context, ids ...int64) error {
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := tx.lockTree(ctx, "SELECT pg_advisory_xact_lock($1)", id); err != nil {
			return err
		}
	}
	return nil
}

// lockTree takes an advisory lock. Ids are positive, so negative numbers are apart from the lock of migrations.
func (tx *Tx) lockTree(ctx context.Context, statement string, id int64) error {
	if tx.db.dialect == SQLite {
		return nil
	}
	if _, err := tx.sqlTx.ExecContext(ctx, statement, -id); err != nil {
		return fmt.Errorf("lock tree %d: %w", id, err)
	}
	return nil
}
