package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Removed is the trashed_at of an item that is being deleted permanently with everything below it. It is greater than the
// trashed_at of any item in the trash.
const Removed = math.MaxInt64

// removing reports whether any tree is being deleted right now.
const removing = "EXISTS (SELECT 1 FROM removals)"

// belowRemoved reports whether an item, given as an SQL expression for its id, is being deleted, itself or with a folder above it.
func belowRemoved(id string) string {
	return `EXISTS (
	WITH RECURSIVE chain (parent_id, trashed_at) AS (
		SELECT self.parent_id, self.trashed_at FROM items self WHERE self.id = ` + id + `
		UNION ALL
		SELECT above.parent_id, above.trashed_at FROM chain JOIN items above ON above.id = chain.parent_id
	)
	SELECT 1 FROM chain WHERE chain.trashed_at = 9223372036854775807)`
}

// notRemoved excludes items that are being deleted. It costs nothing while no tree is.
func notRemoved(id string) string { return "(NOT " + removing + " OR NOT " + belowRemoved(id) + ")" }

// Portion is a set of rows that can be deleted together: everything below each item is in it as well, or already deleted.
type Portion struct {
	Items    []int64 // children before parents
	Files    int64   // how many of the items are files
	Versions []int64
}

// DeletePortion deletes the rows of a portion. It returns where the contents of its versions are stored, without duplicates, and
// the total size of the versions. Their tags must already be deleted. The caller updates the counts of the folders that stay.
func (q *Queries) DeletePortion(ctx context.Context, p Portion) (contents []ContentPlace, bytes int64, err error) {
	for ids := range slices.Chunk(p.Versions, bulkParameters) {
		list, args := idList(ids)
		type version struct {
			place ContentPlace
			size  int64
		}
		deleted, err := collect(ctx, q.db, func(v *version) []any { return []any{&v.place.Key, &v.place.PolicyID, &v.size} },
			"DELETE FROM file_versions WHERE id IN "+list+" RETURNING blob_key, storage_policy_id, size", args...)
		if err != nil {
			return nil, 0, fmt.Errorf("delete versions: %w", err)
		}
		for _, v := range deleted {
			contents, bytes = append(contents, v.place), bytes+v.size
		}
	}
	for ids := range slices.Chunk(p.Items, bulkParameters) {
		list, args := idList(ids)
		for _, rows := range []string{"docgen_samples WHERE file_id", "docgen_templates WHERE file_id", "collaborations WHERE item_id",
			"shared_links WHERE item_id", "folder_counts WHERE folder_id", "removals WHERE item_id", "items WHERE id"} {
			if _, err := q.db.ExecContext(ctx, "DELETE FROM "+rows+" IN "+list, args...); err != nil {
				table, _, _ := strings.Cut(rows, " ")
				return nil, 0, fmt.Errorf("delete %s: %w", table, err)
			}
		}
	}
	slices.SortFunc(contents, func(a, b ContentPlace) int {
		return strings.Compare(fmt.Sprint(a.Key, " ", a.PolicyID), fmt.Sprint(b.Key, " ", b.PolicyID))
	})
	return slices.Compact(contents), bytes, nil
}

// idList returns a parenthesized list of placeholders for ids, and the arguments.
func idList(ids []int64) (list string, args []any) {
	for _, id := range ids {
		args = append(args, id)
	}
	return "(" + numbered(1, len(ids)) + ")", args
}

// withinTree reports whether an item, given as an SQL expression for its id, is item $1 or below it.
func withinTree(id string) string {
	return `EXISTS (
	WITH RECURSIVE chain (id, parent_id) AS (
		SELECT self.id, self.parent_id FROM items self WHERE self.id = ` + id + `
		UNION ALL
		SELECT above.id, above.parent_id FROM chain JOIN items above ON above.id = chain.parent_id
	)
	SELECT 1 FROM chain WHERE chain.id = $1)`
}

// TreeWebhookTargets returns the items of a tree that have webhooks. It starts from the webhooks of the tree's owner, because a
// tree can have many more items than there are webhooks.
func (q *Queries) TreeWebhookTargets(ctx context.Context, id int64) ([]WebhookTarget, error) {
	return collect(ctx, q.db, func(t *WebhookTarget) []any { return []any{&t.ID, &t.Kind} },
		`SELECT DISTINCT target_id, target_kind FROM webhooks JOIN items ON items.id = webhooks.target_id
		WHERE webhooks.slot = 0 AND items.owner_id = (SELECT top.owner_id FROM items top WHERE top.id = $1)
		AND `+withinTree("webhooks.target_id")+
			` ORDER BY target_id`, id)
}

// Invitations returns the invitations that are pending for a user at the time now, in ascending order of id.
func (q *Queries) Invitations(ctx context.Context, userID, now int64, limit, offset int32) ([]Collaboration, error) {
	return collect(ctx, q.db, func(c *Collaboration) []any {
		return []any{
			&c.ID, &c.ItemID, &c.UserID, &c.InviteLogin, &c.InviteKey, &c.Role, &c.Status, &c.IsAccessOnly, &c.CanViewPath,
			&c.ExpiresAt, &c.AcknowledgedAt, &c.CreatedAt, &c.CreatedBy, &c.ModifiedAt,
		}
	}, `SELECT id, item_id, user_id, invite_login, invite_key, role, status, is_access_only, can_view_path,
		expires_at, acknowledged_at, created_at, created_by, modified_at`+invitations+" ORDER BY id LIMIT $3 OFFSET $4", userID, now, limit,
		offset)
}

// CountInvitations returns the number of these invitations.
func (q *Queries) CountInvitations(ctx context.Context, userID, now int64) (count int64, err error) {
	err = q.db.QueryRowContext(ctx, "SELECT COUNT(*)"+invitations, userID, now).Scan(&count)
	return count, err
}

var invitations = " FROM collaborations WHERE user_id = $1 AND status = 'pending' AND (expires_at = 0 OR expires_at > $2) AND " +
	notRemoved("collaborations.item_id")
