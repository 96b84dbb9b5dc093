package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"platen/store"
)

// Tag is a tag of a template, as its author typed it.
type Tag struct {
	Content   string   // the text, including the braces
	Type      string   // text, arithmetic, conditional, for-loop, table-loop, or image
	JSONPaths []string // the paths in the input data that the tag refers to, including all of their prefixes
}

// The states of reading a version's tags.
const (
	TemplateProcessing = "processing"
	TemplateReady      = "ready"
	TemplateFailed     = "failed" // the file cannot be read as a template; its list of tags is empty
)

// TagPage is a page of tags, with the problem of their version.
type TagPage struct {
	Page[Tag]
	Problem string // why the version cannot be read; empty if it can
}

// ReadTags is the task that reads the tags of a file version.
type ReadTags struct {
	VersionID int64 `json:"version_id"`
	UserID    int64 `json:"user_id,omitempty"` // who waits for them; 0 in tasks of earlier releases
}

// Kind names the task.
func (ReadTags) Kind() string { return "read_tags" }

// The queues of the task. A user waits for the tags, so reading them must wait neither for documents nor for a user
// with many templates.
const (
	TagQueue      = "tags"
	ManyTagsQueue = "tags_many" // of users who wait for many versions
)

// requestTags starts reading the tags of a version, once.
func (s *Service) requestTags(ctx context.Context, tx *store.Tx, versionID, userID int64) error {
	added, err := tx.InsertTagReading(ctx, versionID, userID)
	if err != nil || added == 0 {
		return err
	}
	return enqueueReading(ctx, tx, versionID, userID)
}

// startReading enqueues the task that reads the tags of a template's version.
func (s *Service) startReading(ctx context.Context, c *Caller, fileID, versionID int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := s.findLocked(ctx, tx, c, File, fileID, MayPreview); err != nil { // nobody can delete the version meanwhile
			return err
		}
		reading, err := tx.TagReading(ctx, versionID)
		if errors.Is(err, sql.ErrNoRows) {
			return s.requestTags(ctx, tx, versionID, c.User.ID)
		}
		if err != nil || reading.State == TemplateProcessing {
			return err
		}
		if seen, err := s.viewOf(ctx, tx.Queries, c, versionID, reading.Includes); err != nil || seen != viewStale { // already being read
			return err
		}
		if _, err := tx.RestartTagReading(ctx, versionID, c.User.ID); err != nil {
			return err
		}
		if err := tx.DeleteTags(ctx, versionID); err != nil {
			return err
		}
		return enqueueReading(ctx, tx, versionID, c.User.ID)
	})
}

// fewReadings is the number of versions that a user may have in TagQueue. Further versions go to ManyTagsQueue, with a
// lower priority the more there are.
const fewReadings = 4

// enqueueReading enqueues the task for a version that is marked as being read.
func enqueueReading(ctx context.Context, tx *store.Tx, versionID, userID int64) error {
	const most = fewReadings*64 + 1
	waiting, err := tx.CountReadings(ctx, userID, most)
	if err != nil {
		return err
	}
	job := store.Job{Task: ReadTags{VersionID: versionID, UserID: userID}, Queue: TagQueue}
	if waiting > fewReadings {
		job.Queue, job.Priority = ManyTagsQueue, 1
		for many := int64(fewReadings * 4); many < waiting && job.Priority < 4; many *= 4 {
			job.Priority++
		}
	}
	_, err = tx.Enqueue(ctx, job)
	return err
}

// findReading returns the reading of a template's version for a caller. A caller who may not download all files that the version includes
// gets a reading that failed for that reason. The state is TemplateProcessing while the version is being read, and "" if startReading must
// enqueue it first. All code that shows or uses a reading gets it from here.
func (s *Service) findReading(ctx context.Context, q *store.Queries, c *Caller, versionID int64) (store.DocgenTagReading, error) {
	reading, err := q.TagReading(ctx, versionID)
	if errors.Is(err, sql.ErrNoRows) {
		return store.DocgenTagReading{VersionID: versionID}, nil
	}
	if err != nil || reading.State == TemplateProcessing {
		return reading, err
	}
	switch seen, err := s.viewOf(ctx, q, c, versionID, reading.Includes); {
	case err != nil:
		return store.DocgenTagReading{}, err
	case seen == viewStale:
		return store.DocgenTagReading{VersionID: versionID}, nil
	case seen == viewNothing:
		return store.DocgenTagReading{VersionID: versionID, State: TemplateFailed, Problem: problemHidden, Includes: reading.Includes}, nil
	}
	return reading, nil
}

// templateChanged starts reading the tags of a file's new version, and checking it with samples, if the file is a template.
func (s *Service) templateChanged(ctx context.Context, tx *store.Tx, fileID, versionID, userID int64) error {
	marked, err := tx.IsTemplate(ctx, fileID)
	if err != nil || !marked {
		return err
	}
	if err := s.requestTags(ctx, tx, versionID, userID); err != nil {
		return err
	}
	_, err = s.requestSamples(ctx, tx, fileID, versionID, "", userID)
	return err
}

// TemplateContent returns the content of a template's version for the tasks that read it. The Error has CodeNotFound if the version was
// permanently deleted.
func (s *Service) TemplateContent(ctx context.Context, versionID int64) (*Content, error) {
	var found *Content
	err := s.db.Read(ctx, func(q *store.Queries) error {
		version, err := taskVersion(ctx, q, versionID)
		if err != nil {
			return err
		}
		found = s.contentOf(version)
		return nil
	})
	return found, err
}

// taskVersion returns the version for a task. It may have been deleted meanwhile.
func taskVersion(ctx context.Context, q *store.Queries, versionID int64) (store.FileVersion, error) {
	version, err := q.Version(ctx, versionID)
	if errors.Is(err, sql.ErrNoRows) {
		return version, failf(CodeNotFound,
			"The template was permanently deleted, including version %d, which this batch uses. Create the batch again with another template.",
			versionID)
	}
	if err != nil {
		return version, fmt.Errorf("version %d: %w", versionID, err)
	}
	return version, nil
}

// Limits of the stored tags of one version of a template.
const (
	maxTagText  = 8 << 10  // bytes of a tag; a longer one ends in "…"
	maxTagPaths = 16 << 10 // bytes of the paths of one tag; further paths are left out
	maxTagsText = 32 << 20 // bytes of all tags and paths; further tags are left out
)

// Bounded shortens a reading to the limits of what is stored, and adds warnings about omitted parts.
func (r *Reading) Bounded() *Reading {
	left, cut := maxTagsText, 0
	for i := range r.Tags {
		cut += r.Tags[i].bound()
		if left -= r.Tags[i].size(); left < 0 {
			r.warn("Only %d of %d tags are listed, because all of them together are too long.", i, len(r.Tags))
			r.Tags = r.Tags[:i]
			break
		}
	}
	if cut > 0 {
		r.warn("%d tags are listed with shortened text or paths, because they are too long.", cut)
	}
	if len(r.Schema) > maxContractText {
		r.warn("The template has no schema, because it would have %d bytes, more than the limit of %d.", len(r.Schema), maxContractText)
		r.Schema = nil
	}
	return r
}

func (r *Reading) warn(format string, args ...any) {
	r.Warnings = append([]string{fmt.Sprintf(format, args...)}, r.Warnings...)
}

// bound shortens a tag to the limits of what is stored, and returns 1 if it omitted anything.
func (t *Tag) bound() (cut int) {
	if len(t.Content) > maxTagText {
		t.Content, cut = shortened(t.Content, maxTagText), 1
	}
	left := maxTagPaths
	for i, path := range t.JSONPaths {
		if left -= len(path); left < 0 {
			t.JSONPaths, cut = t.JSONPaths[:i:i], 1
			break
		}
	}
	return cut
}

func (t *Tag) size() int {
	n := len(t.Content)
	for _, path := range t.JSONPaths {
		n += len(path)
	}
	return n
}

// rows returns the rows for the tags of a reading.
func (r *Reading) rows(versionID int64) ([]store.DocgenTag, error) {
	rows := make([]store.DocgenTag, len(r.Tags))
	for i, tag := range r.Tags {
		paths, err := json.Marshal(tag.JSONPaths)
		if err != nil {
			return nil, fmt.Errorf("json paths of tag %q: %w", tag.Content, err)
		}
		rows[i] = store.DocgenTag{VersionID: versionID, Position: int64(i) + 1, Content: kept(tag.Content), Type: tag.Type,
			JsonPaths: string(paths)}
	}
	return rows, nil
}

// SaveReading stores the result of reading a template's version.
func (s *Service) SaveReading(ctx context.Context, versionID int64, r Reading) error {
	rows, err := r.Bounded().rows(versionID)
	if err != nil {
		return err
	}
	found, err := r.findings()
	if err != nil {
		return fmt.Errorf("findings of version %d: %w", versionID, err)
	}
	includes, err := json.Marshal(append([]Inclusion{}, r.Includes...))
	if err != nil {
		return fmt.Errorf("files that version %d includes: %w", versionID, err)
	}
	finish := store.FinishTagReadingParams{VersionID: versionID, State: TemplateReady,
		Problem: kept(shortened(r.Problem, maxProblemsText)), Contract: string(r.Schema),
		Findings: kept(found), Includes: string(includes), Warnings: int64(len(r.Warnings))}
	for _, d := range r.Details {
		if !d.Warning {
			finish.Mistakes++
		}
	}
	if r.Problem != "" {
		finish.Mistakes = max(1, finish.Mistakes)
	}
	if r.Problem != "" {
		finish.State, finish.Contract, rows = TemplateFailed, "", nil
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		finished, err := tx.FinishTagReading(ctx, finish)
		if err != nil || finished == 0 {
			return err
		}
		return tx.InsertTags(ctx, rows)
	})
}

// Tags returns one page of the tags of a template's version in document order; version 0 is the one that batches use. While the
// version is still being read, ready is false and the page is empty.
func (s *Service) Tags(ctx context.Context, c *Caller, fileID, versionID int64, r PageRequest) (tags TagPage, ready bool, err error) {
	if err := c.require(ScopeDocGen); err != nil {
		return tags, false, err
	}
	var unread int64
	err = s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.findTemplate(ctx, q, c, fileID, MayPreview)
		if err != nil {
			return err
		}
		version, err := templateVersion(ctx, q, p.row, versionID)
		if err != nil {
			return err
		}
		reading, err := s.findReading(ctx, q, c, version.ID)
		if err != nil {
			return err
		}
		if reading.State == "" {
			unread = version.ID
			return nil
		}
		ready = reading.State != TemplateProcessing
		tags.Problem = firstOf(reading.Problem, maxProblemShown)
		tags.Page, err = s.tagPage(ctx, q, c, reading, r)
		return err
	})
	if err == nil && unread != 0 {
		err = s.startReading(ctx, c, fileID, unread)
	}
	return tags, ready, err
}

func (s *Service) tagPage(ctx context.Context, q *store.Queries, c *Caller, reading store.DocgenTagReading,
	r PageRequest) (Page[Tag], error) {
	versionID := reading.VersionID
	read := func(tags func() ([]store.DocgenTag, error)) ([]store.DocgenTag, error) {
		if reading.State != TemplateReady { // the caller may not see the stored tags
			return nil, nil
		}
		return tags()
	}
	numbered, err := page(s, c, r, list[store.DocgenTag]{
		name: "docgen_tags/" + strconv.FormatInt(versionID, 10),
		keys: 1,
		key:  func(t store.DocgenTag) []int64 { return []int64{t.Position} },
		after: func(from []int64, limit int32) ([]store.DocgenTag, error) {
			return read(func() ([]store.DocgenTag, error) { return q.TagsAfter(ctx, versionID, from[0], limit) })
		},
		before: func(from []int64, limit int32) ([]store.DocgenTag, error) {
			return read(func() ([]store.DocgenTag, error) { return q.TagsBefore(ctx, versionID, from[0], limit) })
		},
	})
	result := Page[Tag]{Entries: make([]Tag, len(numbered.Entries)), Limit: numbered.Limit, Next: numbered.Next, Prev: numbered.Prev}
	for i, row := range numbered.Entries {
		result.Entries[i] = Tag{Content: row.Content, Type: row.Type}
		err = errors.Join(err, json.Unmarshal([]byte(row.JsonPaths), &result.Entries[i].JSONPaths))
	}
	return result, err
}
