package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"platen/store"
)

// maxIncludeName is the largest length in bytes of the name of an included file, with its folders.
const maxIncludeName = 1000

// Requester is the user for whom a task reads a template, with the access that the user's token had. The zero value is
// no user.
type Requester struct {
	UserID        int64
	GlobalContent bool // whether the token had ScopeGlobalContent
}

// An Inclusion is a file that a template's version includes by name.
type Inclusion struct {
	Name      string `json:"name"`
	VersionID int64  `json:"version_id"` // the version of the file; 0 if there was none to be had
}

// IncludedContent returns the content of a file that a template's version includes by name: the current version of the
// file with that name in the folder of the template, or in a folder below it ("clauses/liability.docx"). Both the
// uploader of the template's version and the requester must be allowed to download the file; without a requester, only
// the uploader's permissions count. In an archive, the permissions of the archive replace those of the uploader. If the
// file does not exist, or either may not download it, the Error has CodeNotFound.
func (s *Service) IncludedContent(ctx context.Context, versionID int64, name string, requester Requester) (*Content, error) {
	var found *Content
	err := s.db.Read(ctx, func(q *store.Queries) error {
		version, err := taskVersion(ctx, q, versionID)
		if err != nil {
			return err
		}
		var c *Caller
		if requester != (Requester{}) {
			row, err := q.User(ctx, requester.UserID)
			if err != nil {
				return fmt.Errorf("user %d: %w", requester.UserID, err)
			}
			c = callerOf(row.User, requester.GlobalContent)
		}
		current, err := s.included(ctx, q, version, name, c)
		if err == nil {
			found = s.contentOf(current)
		}
		return err
	})
	return found, err
}

// included is IncludedContent for a version of a file. It is the only rule for the files that a template includes, in documents and in
// readings. A nil requester means that only the uploader's permissions count.
func (s *Service) included(ctx context.Context, q *store.Queries, version store.FileVersion, name string,
	requester *Caller) (store.FileVersion, error) {
	author := &Caller{User: User{ID: version.CreatedBy}}
	chain, err := q.ItemChain(ctx, version.FileID, author.User.ID, s.micros())
	if err != nil || len(chain) == 0 {
		return store.FileVersion{}, fmt.Errorf("file %d: %w", version.FileID, errors.Join(err, sql.ErrNoRows))
	}
	if s.placeOf(chain).archive != nil { // the enterprise now owns it, not the uploader
		author.User.ID = s.enterprise.accountID
	}
	item, err := itemBelow(ctx, q, chain[0].Item.ParentID, name)
	if err != nil {
		return store.FileVersion{}, err
	}
	p, err := s.find(ctx, q, author, File, item.ID, MayDownload)
	if err == nil && requester != nil {
		_, err = s.find(ctx, q, requester, File, item.ID, MayDownload)
	}
	if IsCode(err, CodeForbidden) || IsCode(err, CodeTrashed) {
		err = notIncluded(name)
	}
	if err != nil {
		return store.FileVersion{}, err
	}
	return fileVersion(ctx, q, p.row, 0)
}

// view is the part of a Reading that a caller may see.
type view int

const (
	viewAll     view = iota
	viewNothing      // the caller may not download one of the included files
	viewStale        // an included file has changed, or is unknown, so that the version must be read again
)

// viewOf returns the view that a caller has of a reading, given the files that the version was read with. Any text in the reading may come
// from any of these, so the caller must be allowed to download all of them now, as for a document.
func (s *Service) viewOf(ctx context.Context, q *store.Queries, c *Caller, versionID int64, includes string) (view, error) {
	if includes == "" {
		return viewStale, nil
	}
	var files []Inclusion
	if err := json.Unmarshal([]byte(includes), &files); err != nil {
		return viewNothing, fmt.Errorf("files that version %d includes: %w", versionID, err)
	}
	if len(files) == 0 {
		return viewAll, nil
	}
	version, err := q.Version(ctx, versionID)
	if err != nil {
		return viewNothing, fmt.Errorf("version %d: %w", versionID, err)
	}
	result := viewAll
	for _, file := range files {
		now, err := s.included(ctx, q, version, file.Name, nil)
		if err != nil && !IsCode(err, CodeNotFound) {
			return viewNothing, err
		}
		if now.ID != file.VersionID {
			return viewStale, nil
		}
		if now.ID == 0 {
			continue
		}
		_, err = s.included(ctx, q, version, file.Name, c)
		if err != nil && !IsCode(err, CodeNotFound) {
			return viewNothing, err
		}
		if err != nil {
			result = viewNothing
		}
	}
	return result, nil
}

// viewLookups returns the approximate number of rows that viewOf looks up: the names in the path of each included file. It does not decode
// the text, because that would cost as much as it saves.
func viewLookups(includes string) int {
	return strings.Count(includes, `"name":`) + strings.Count(includes, "/")
}

// Messages that replace the problems of a template, by view.
const (
	problemHidden = "The template includes a file that you may not download, directly or through another file. Its tags and " +
		"contract are only visible to users who may download all of these files. Ask their owner for access."
	problemStale = "The template must be read again, because an included file has changed, or because an earlier release read it. " +
		"Get its tags or its contract to start that."
)

func notIncluded(name string) error {
	return failf(CodeNotFound, "The template includes a file %.*q, which does not exist.", maxIncludeName, name)
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
