package store

import (
	"context"
	"fmt"
)

// TemplateRow is a file marked as a template, as a listing shows it.
type TemplateRow struct {
	FileID  int64
	Name    string
	State   string // of the reading of its current version; empty when that was not asked for yet
	Problem string // at most its first 1000 characters

	VersionID int64  // its current version
	Includes  string // of the reading, as the column has it

	Defaults TemplateDefaultsRow
}

// visibleTemplates reads one page of the templates a user can see: those the user owns or collaborates on, directly or
// by a folder above, and that neither are in the trash nor lie in a folder that is. It stands here and not among the
// queries because sqlc does not resolve a recursive query inside an expression.
const visibleTemplates = `
SELECT items.id, items.name, COALESCE(readings.state, ''), SUBSTR(COALESCE(readings.problem, ''), 1, 1000),
    items.version_id, COALESCE(readings.includes, ''),
    default_missing, default_locale, default_time_zone FROM docgen_templates
JOIN items ON items.id = docgen_templates.file_id
LEFT JOIN docgen_tag_readings readings ON readings.version_id = items.version_id
WHERE docgen_templates.file_id %s $1 AND (
    WITH RECURSIVE chain (id, parent_id, owner_id, trashed_at) AS (
        SELECT self.id, self.parent_id, self.owner_id, self.trashed_at
        FROM items self WHERE self.id = docgen_templates.file_id
        UNION ALL
        SELECT above.id, above.parent_id, above.owner_id, above.trashed_at
        FROM chain JOIN items above ON above.id = chain.parent_id
    )
    SELECT CASE WHEN MAX(chain.trashed_at) = 0 AND MAX(CASE
        WHEN chain.owner_id = $2 THEN 1
        WHEN EXISTS (SELECT 1 FROM collaborations WHERE collaborations.item_id = chain.id AND collaborations.user_id = $2
            AND collaborations.status = 'accepted' AND (collaborations.expires_at = 0 OR collaborations.expires_at > $4)) THEN 1
        ELSE 0 END) = 1 THEN 1 ELSE 0 END
    FROM chain
) = 1
ORDER BY docgen_templates.file_id %s LIMIT $3`

// TemplatesAfter returns the first templates after a file id that the user can see now, by growing id.
func (q *Queries) TemplatesAfter(ctx context.Context, fileID, userID, limit, now int64) ([]TemplateRow, error) {
	return q.templates(ctx, fmt.Sprintf(visibleTemplates, ">", "ASC"), fileID, userID, limit, now)
}

// TemplatesBefore returns the last templates before a file id that the user can see now, by falling id.
func (q *Queries) TemplatesBefore(ctx context.Context, fileID, userID, limit, now int64) ([]TemplateRow, error) {
	return q.templates(ctx, fmt.Sprintf(visibleTemplates, "<", "DESC"), fileID, userID, limit, now)
}

func (q *Queries) templates(ctx context.Context, query string, args ...any) ([]TemplateRow, error) {
	return collect(ctx, q.db, func(row *TemplateRow) []any {
		d := &row.Defaults
		return []any{&row.FileID, &row.Name, &row.State, &row.Problem, &row.VersionID, &row.Includes, &d.DefaultMissing, &d.DefaultLocale, &d.DefaultTimeZone}
	}, query, args...)
}
