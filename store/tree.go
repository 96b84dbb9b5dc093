package store

import (
	"context"
	"fmt"
	"slices"
)

// A tree is the items below one item, and that item. These queries are here because sqlc does not resolve a recursive query inside an
// expression.

// belowItem names the rows of a tree, what is in the trash too.
const belowItem = `
WITH RECURSIVE below (id) AS (
    SELECT items.id FROM items WHERE items.id = $1
    UNION ALL
    SELECT items.id FROM below JOIN items ON items.parent_id = below.id
)
SELECT id FROM below`

// activeItem selects the rows of a tree that are neither in the trash nor in a trashed folder.
const activeItem = `
WITH RECURSIVE below (id) AS (
    SELECT items.id FROM items WHERE items.id = $1 AND items.trashed_at = 0
    UNION ALL
    SELECT items.id FROM below JOIN items ON items.parent_id = below.id AND items.trashed_at = 0
)
SELECT id FROM below`

// TreeItems counts the items of a tree, up to a limit: a tree that has more costs no more. It counts what is in the
// trash only if all is set.
func (q *Queries) TreeItems(ctx context.Context, id, limit int64, all bool) (count int64, err error) {
	tree := activeItem
	if all {
		tree = belowItem
	}
	err = q.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM ("+tree+" LIMIT $2) AS counted", id, limit).Scan(&count)
	return count, err
}

// activeSize sums the current sizes of the files of a tree that are neither in the trash nor in a trashed folder.
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
	for _, owned := range []string{"items SET owner_id = $2 WHERE id", "docgen_templates SET owner_id = $2 WHERE file_id"} {
		if _, err := q.db.ExecContext(ctx, "UPDATE "+owned+" IN ("+belowItem+")", id, ownerID); err != nil {
			return err
		}
	}
	return nil
}

// DeleteTreeCollaborationsOf ends what a user collaborates in within a tree. It starts from the user's collaborations,
// because a tree can have many more items.
func (q *Queries) DeleteTreeCollaborationsOf(ctx context.Context, id, userID int64) error {
	_, err := q.db.ExecContext(ctx, "DELETE FROM collaborations WHERE user_id = $2 AND "+withinTree("collaborations.item_id"), id, userID)
	return err
}

// DeleteTreeCollaborations ends every collaboration within a tree.
func (q *Queries) DeleteTreeCollaborations(ctx context.Context, id int64) error {
	_, err := q.db.ExecContext(ctx, "DELETE FROM collaborations WHERE item_id IN ("+belowItem+")", id)
	return err
}

// CountTree counts what the folders of a new tree hold, whose items were added without.
func (q *Queries) CountTree(ctx context.Context, id int64) error {
	_, err := q.db.ExecContext(ctx, `INSERT INTO folder_counts (folder_id, items)
		SELECT items.parent_id, COUNT(*) FROM items WHERE items.trashed_at = 0 AND items.parent_id IN (`+belowItem+
		`) GROUP BY items.parent_id`, id)
	return err
}

// ContentPlace is where a content is kept: under a key of a storage policy.
type ContentPlace struct {
	Key      string `json:"key"`
	PolicyID int64  `json:"storage_policy_id"`
}

// SetTreePolicy says where the contents of a tree are to be, of what is in the trash too, and returns of how many versions
// they were to be elsewhere, or are. The versions are found by their files before it looks at their policies: most
// versions of a server may have another policy than its statistics know, and PostgreSQL would then compare each version with each item.
func (q *Queries) SetTreePolicy(ctx context.Context, id, policyID int64) (int64, error) {
	result, err := q.db.ExecContext(ctx, `UPDATE file_versions SET wanted_policy_id = $2 WHERE id IN (
		SELECT found.id FROM (
			SELECT v.id, v.wanted_policy_id, v.storage_policy_id FROM (`+belowItem+
		`) AS tree CROSS JOIN file_versions v WHERE v.file_id = tree.id`+first+`
		) AS found WHERE found.wanted_policy_id <> $2 OR found.storage_policy_id <> $2)`, id, policyID)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// LockTreesShared lets a transaction change single items of some trees until it ends: others may do so too, but nobody takes all
// of such a tree by LockTrees meanwhile. Who shares several takes them in one call, before any row. On SQLite writers wait
// for each other anyway.
func (tx *Tx) LockTreesShared(ctx context.Context, ids ...int64) error {
	return tx.lockTrees(ctx, "SELECT pg_advisory_xact_lock_shared($1)", ids)
}

// LockTrees keeps everybody else from changing anything in some trees until the transaction ends. Who holds several
// takes them in one call, before any row and before LockTreesShared.
func (tx *Tx) LockTrees(ctx context.Context, ids ...int64) error {
	return tx.lockTrees(ctx, "SELECT pg_advisory_xact_lock($1)", ids)
}

// lockTrees takes advisory locks, in the same order for everybody. Ids are positive, so negative numbers are apart from
// the lock of migrations.
func (tx *Tx) lockTrees(ctx context.Context, statement string, ids []int64) error {
	if tx.db.dialect == SQLite {
		return nil
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if _, err := tx.sqlTx.ExecContext(ctx, statement, -id); err != nil {
			return fmt.Errorf("lock tree %d: %w", id, err)
		}
	}
	return nil
}

// WebhookTarget is an item that a webhook is on.
type WebhookTarget struct{ ID, Kind int64 }

// ChildWebhookTargets returns the items directly in a folder that webhooks are on, which are not deleted.
func (q *Queries) ChildWebhookTargets(ctx context.Context, folderID int64) ([]WebhookTarget, error) {
	return collect(ctx, q.db, func(t *WebhookTarget) []any { return []any{&t.ID, &t.Kind} },
		`SELECT DISTINCT webhooks.target_id, webhooks.target_kind FROM webhooks JOIN items ON items.id = webhooks.target_id
		WHERE webhooks.slot = 0 AND items.parent_id = $1 ORDER BY webhooks.target_id`, folderID)
}

// EndWebhooksOn ends the webhooks on an item that is about to be removed. What waits for them is still sent.
func (q *Queries) EndWebhooksOn(ctx context.Context, itemID int64, reason string, now int64) error {
	_, err := q.db.ExecContext(ctx, "UPDATE webhooks SET status = 'gone', reason = $2, slot = id, ended_at = $3 WHERE slot = 0 AND "+
		"target_id = $1", itemID, reason, now)
	return err
}

// TreeSpace returns how many files a tree has, and how many bytes all their versions have, those in the trash too. It reads each version
// once, and counts a file with its current one.
func (q *Queries) TreeSpace(ctx context.Context, id int64) (files, bytes int64, err error) {
	err = q.db.QueryRowContext(ctx, `
WITH RECURSIVE below (id, version_id) AS (
    SELECT items.id, items.version_id FROM items WHERE items.id = $1
    UNION ALL
    SELECT items.id, items.version_id FROM below JOIN items ON items.parent_id = below.id
)
SELECT COUNT(CASE WHEN file_versions.id = below.version_id THEN 1 END), CAST(COALESCE(SUM(file_versions.size), 0) AS BIGINT)
FROM below CROSS JOIN file_versions WHERE file_versions.file_id = below.id`, id).Scan(&files, &bytes)
	return files, bytes, err
}
