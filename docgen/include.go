package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"platen/store"
)

// maxIncludeName is how long the name of an included file may be, with its folders.
const maxIncludeName = 1000

// Requester is the user for whom a task reads a template, with the reach that the user's token had. The zero value is nobody.
type Requester struct {
	UserID        int64
	GlobalContent bool // whether the token had ScopeGlobalContent
}

// IncludedContent returns the content of a file that a template's version includes by name: the current version of the file of that name in
// the folder of the template, or in a folder below it ("clauses/liability.docx"). Both the uploader of the template's version and the
// requester must be allowed to download the file; without a requester the uploader's rights decide alone. In an archive, the rights of the
// archive stand in for the uploader's. If the file does not exist, or one of them may not download it, the Error has CodeNotFound.
func (s *Service) IncludedContent(ctx context.Context, versionID int64, name string, requester Requester) (*Content, error) {
	var found *Content
	err := s.db.Read(ctx, func(q *store.Queries) error {
		version, err := taskVersion(ctx, q, versionID)
		if err != nil {
			return err
		}
		author := &Caller{User: User{ID: version.CreatedBy}}
		chain, err := q.ItemChain(ctx, version.FileID, author.User.ID, s.micros())
		if err != nil || len(chain) == 0 {
			return fmt.Errorf("file %d: %w", version.FileID, errors.Join(err, sql.ErrNoRows))
		}
		if s.placeOf(chain).archive != nil { // whoever uploaded it has lost it to the enterprise
			author.User.ID = s.enterprise.accountID
		}
		item, err := itemBelow(ctx, q, chain[0].Item.ParentID, name)
		if err != nil {
			return err
		}
		p, err := s.find(ctx, q, author, File, item.ID, MayDownload)
		if err != nil {
			return err
		}
		if err := s.checkRequester(ctx, q, requester, item.ID); err != nil {
			return err
		}
		current, err := fileVersion(ctx, q, p.row, 0)
		if err != nil {
			return err
		}
		found = s.contentOf(current)
		return nil
	})
	if IsCode(err, CodeForbidden) || IsCode(err, CodeTrashed) {
		err = notIncluded(name)
	}
	return found, err
}

// checkRequester returns an Error if a requester may not download a file.
func (s *Service) checkRequester(ctx context.Context, q *store.Queries, requester Requester, fileID int64) error {
	if requester == (Requester{}) {
		return nil
	}
	row, err := q.User(ctx, requester.UserID)
	if err != nil {
		return fmt.Errorf("user %d: %w", requester.UserID, err)
	}
	_, err = s.find(ctx, q, callerOf(row.User, requester.GlobalContent), File, fileID, MayDownload)
	return err
}

func notIncluded(name string) error {
	return failf(CodeNotFound, "There is no file %.*q for the template to include.", maxIncludeName, name)
}

// itemBelow returns the item at a path below a folder.
func itemBelow(ctx context.Context, q *store.Queries, folder sql.NullInt64, path string) (item store.Item, err error) {
	if len(path) > maxIncludeName {
		return item, notIncluded(path)
	}
	for name := range strings.SplitSeq(path, "/") {
		item, err = q.Child(ctx, folder, foldKey(name))
		if errors.Is(err, sql.ErrNoRows) {
			return item, notIncluded(path)
		}
		if err != nil {
			return item, fmt.Errorf("child of folder %d: %w", folder.Int64, err)
		}
		folder = parentOf(item.ID)
	}
	return item, nil
}
