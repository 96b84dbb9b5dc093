package store

import (
	"context"
	"fmt"
	"slices"
)

// A tree is an item with all items below it. These queries are not in store/queries because sqlc does not resolve recursive queries inside
// an expression.

// belowItem selects the rows of a tree, including those in the trash.
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

// TreeItems counts the items of a tree, up to a limit. It reads no more rows than that. It counts items in the trash only if all is set.
func (q *Queries) TreeItems(ctx context.Context, id, limit int64, all bool) (count int64, err error) {
	tree := activeItem
	if all {
		tree = belowItem
	}
	err = q.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM ("+tree+" LIMIT $2) AS counted", id, limit).Scan(&count)
	return count, err
}

// activeSize adds up the current sizes of the files of a tree that are neither in the trash nor in a trashed folder.
const activeSize = `
WITH RECURSIVE below (id, kind, size) AS (
    SELECT items.id, items.kind, items.size FROM items WHERE items.id = $1 AND items.trashed_at = 0
    UNION ALL
    SELECT items.id, items.kind, items.size FROM below JOIN items ON items.parent_id = below.id AND items.trashed_at = 0
)
SELECT CAST(COALESCE(SUM(CASE WHEN kind = 1 THEN size ELSE 0 END), 0) AS BIGINT) FROM below`

// TreeSize returns the total size in bytes of the current versions of the files in a tree. It is 0 if the tree's item is in the trash.
func (q *Queries) TreeSize(ctx context.Context, id int64) (bytes int64, err error) {
	err = q.db.QueryRowContext(ctx, activeSize, id).Scan(&bytes)
	return bytes, err
}

// SetTreeOwner makes a user the owner of a whole tree, including items in the trash.
func (q *Queries) SetTreeOwner(ctx context.Context, id, ownerID int64) error {
	for _, owned := range []string{"items SET owner_id = $2 WHERE id", "docgen_templates SET owner_id = $2 WHERE file_id"} {
		if _, err := q.db.ExecContext(ctx, "UPDATE "+owned+" IN ("+belowItem+")", id, ownerID); err != nil {
			return err
		}
	}
	return nil
}

// DeleteTreeCollaborationsOf deletes a user's collaborations within a tree. It starts from the user's collaborations, because a tree can
// have many more items.
func (q *Queries) DeleteTreeCollaborationsOf(ctx context.Context, id, userID int64) error {
	_, err := q.db.ExecContext(ctx, "DELETE FROM collaborations WHERE user_id = $2 AND "+withinTree("collaborations.item_id"), id, userID)
	return err
}

// DeleteTreeShares deletes all collaborations and shared links within a tree.
func (q *Queries) DeleteTreeShares(ctx context.Context, id int64) error {
	for _, table := range []string{"collaborations", "shared_links"} {
		if _, err := q.db.ExecContext(ctx, "DELETE FROM "+table+" WHERE item_id IN ("+belowItem+")", id); err != nil {
			return err
		}
	}
	return nil
}

// CountTree sets the item counts of the folders of a new tree, whose items were inserted without counting them.
func (q *Queries) CountTree(ctx context.Context, id int64) error {
	_, err := q.db.ExecContext(ctx, `INSERT INTO folder_counts (folder_id, items)
		SELECT items.parent_id, COUNT(*) FROM items WHERE items.trashed_at = 0 AND items.parent_id IN (`+belowItem+
		`) GROUP BY items.parent_id`, id)
	return err
}

// ContentPlace is where content is stored: a key in a storage policy.
type ContentPlace struct {
	Key      string `json:"key"`
	PolicyID int64  `json:"storage_policy_id"`
}

// SetTreePolicy sets the policy that is to store the contents of a tree, including those in the trash. It returns the number of versions
// that another policy stores or was to store. It finds the versions by their files before it compares their policies: the statistics may
// not know that most versions have another policy, and PostgreSQL would then compare each version with each item.
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

// LockTreesShared lets a transaction change single items of some trees until it ends. Other transactions may do the same, but none can lock
// such a tree with LockTrees meanwhile. To lock several trees, use one call, before locking any row. On SQLite, writers wait for each other
// anyway.
func (tx *Tx) LockTreesShared(ctx context.Context, ids ...int64) error {
	return tx.lockTrees(ctx, "SELECT pg_advisory_xact_lock_shared($1)", ids)
}

// LockTrees keeps all other transactions from changing anything in some trees until this one ends. To lock several trees, use one call,
// before locking any row and before LockTreesShared.
func (tx *Tx) LockTrees(ctx context.Context, ids ...int64) error {
	return tx.lockTrees(ctx, "SELECT pg_advisory_xact_lock($1)", ids)
}

// lockTrees takes advisory locks, always in the same order. Ids are positive, so their negatives never collide with the lock of migrations.
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

// WebhookTarget is an item that has a webhook.
type WebhookTarget struct{ ID, Kind int64 }

// ChildWebhookTargets returns the items directly in a folder that have webhooks which are not deleted.
func (q *Queries) ChildWebhookTargets(ctx context.Context, folderID int64) ([]WebhookTarget, error) {
	return collect(ctx, q.db, func(t *WebhookTarget) []any { return []any{&t.ID, &t.Kind} },
		`SELECT DISTINCT webhooks.target_id, webhooks.target_kind FROM webhooks JOIN items ON items.id = webhooks.target_id
		WHERE webhooks.slot = 0 AND items.parent_id = $1 ORDER BY webhooks.target_id`, folderID)
}

// EndWebhooksOn ends the webhooks on an item that is about to be removed. Their pending deliveries are still sent.
func (q *Queries) EndWebhooksOn(ctx context.Context, itemID int64, reason string, now int64) error {
	_, err := q.db.ExecContext(ctx, "UPDATE webhooks SET status = 'gone', reason = $2, slot = id, ended_at = $3 WHERE slot = 0 AND "+
		"target_id = $1", itemID, reason, now)
	return err
}

// TreeSpace returns the number of files in a tree, and the total size in bytes of all their versions, including those in the trash. It
// reads each version once, and counts a file with its current version.
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

// TreeSampleBytes returns the size of the samples of the templates in a tree, including those in the trash.
func (q *Queries) TreeSampleBytes(ctx context.Context, id int64) (bytes int64, err error) {
	err = q.db.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM docgen_samples WHERE file_id IN ("+belowItem+")", id).
		Scan(&bytes)
	return bytes, err
}
