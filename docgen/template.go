package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"

	"platen/docx"
	"platen/store"
)

// Template is a file that is marked as a template. The template has the id of the file.
type Template struct {
	FileID   int64
	FileName string
	State    string // of reading the version that batches use: TemplateProcessing, TemplateReady, or TemplateFailed
	Problem  string // why that version cannot be read; empty unless State is TemplateFailed
	Defaults Defaults

	SamplesRequired bool  // versions must pass the samples before batches use them
	VersionID       int64 // the version that batches use
	CurrentID       int64 // the current version of the file
	Check           TemplateCheck
}

// TemplateCheck says in numbers what is wrong with the version that batches use.
type TemplateCheck struct {
	Mistakes, Warnings                  int64 // -1 if unknown: the version is being read, or its findings are hidden from the caller
	Samples, Passed, Failed, Processing int64 // samples of the template, and how many of them the version passed and failed
}

// maxProblemShown is the number of characters of a problem that are shown with a template. The contract shows all of them.
const maxProblemShown = 1000

// firstOf returns the first characters of a text.
func firstOf(text string, characters int) string {
	for i := range text {
		if characters == 0 {
			return text[:i]
		}
		characters--
	}
	return text
}

// templateFor converts a row to a Template. It shows problems as findReading does, but does not start reading.
func (s *Service) templateFor(ctx context.Context, q *store.Queries, c *Caller, row store.TemplateRow) (Template, error) {
	if row.State == TemplateReady || row.State == TemplateFailed {
		switch seen, err := s.viewOf(ctx, q, c, row.VersionID, row.Includes); {
		case err != nil:
			return Template{}, err
		case seen == viewNothing:
			row.State, row.Problem, row.Mistakes, row.Warnings = TemplateFailed, problemHidden, -1, -1
		case seen == viewStale && row.State == TemplateFailed:
			row.Problem = problemStale
		}
	}
	return Template{FileID: row.FileID, FileName: row.Name, State: cmp.Or(row.State, TemplateProcessing), Problem: row.Problem,
		Defaults: defaultsOf(row.Defaults), SamplesRequired: row.SamplesRequired, VersionID: row.VersionID, CurrentID: row.CurrentID,
		Check: TemplateCheck{
			Mistakes: row.Mistakes, Warnings: row.Warnings, Samples: row.Samples.Samples, Passed: row.Samples.Passed, Failed: row.Samples.Failed,
			Processing: row.Samples.Waiting,
		}}, nil
}

// MarkTemplate marks a file as a template and starts reading its tags. If the Service accepts only Word documents as
// templates, a file that cannot be one, judging by its first bytes, is rejected; other problems are found when the tags
// are read. A file that is already marked stays marked. State, Problem, and Defaults of the result are not set.
func (s *Service) MarkTemplate(ctx context.Context, c *Caller, fileID int64) (Template, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Template{}, err
	}
	if s.wordTemplates {
		if err := s.checkWord(ctx, c, fileID); err != nil {
			return Template{}, err
		}
	}
	var marked Template
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lock(ctx, tx, c, File, fileID, MayEdit, "")
		if err != nil {
			return err
		}
		if p.row.Size > s.limits.TemplateBytes {
			return Invalid(invalidField("file.id", "a template can have at most %d bytes, this file has %d", s.limits.TemplateBytes, p.row.Size))
		}
		_, err = tx.InsertTemplate(ctx, fileID, s.micros(), c.User.ID)
		if err != nil {
			return err
		}
		marked = Template{FileID: fileID, FileName: p.row.Name}
		return s.requestTags(ctx, tx, p.row.VersionID, c.User.ID)
	})
	return marked, err
}

// checkWord returns an Error with the type of a file if it cannot be a Word document. It does not check files that are already templates.
func (s *Service) checkWord(ctx context.Context, c *Caller, fileID int64) error {
	var content *Content
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, File, fileID, MayEdit)
		if err != nil {
			return err
		}
		marked, err := q.IsTemplate(ctx, fileID)
		if err != nil || marked || p.row.Size > s.limits.TemplateBytes {
			return err
		}
		version, err := fileVersion(ctx, q, p.row, 0)
		if err == nil {
			content = s.contentOf(version)
		}
		return err
	})
	if err != nil || content == nil {
		return err
	}
	reader := &contentAt{ctx: ctx, content: content}
	if err := docx.Identify(reader, content.Size); err != nil && reader.failure == nil {
		return Invalid(invalidField("file.id", "the file cannot be a template: %s", err))
	}
	return reader.failure
}

// contentAt reads content at any offset. It records errors, because otherwise the reader would report them as errors in
// the content.
type contentAt struct {
	ctx     context.Context
	content *Content
	failure error
}

func (r *contentAt) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= r.content.Size {
		return 0, io.EOF
	}
	wanted := min(int64(len(p)), r.content.Size-offset)
	from, err := r.content.Open(r.ctx, offset, wanted)
	if err != nil {
		r.failure = err
		return 0, err
	}
	n, err := io.ReadFull(from, p[:wanted])
	if err = errors.Join(err, from.Close()); err != nil {
		r.failure = err
		return n, err
	}
	if wanted < int64(len(p)) {
		return n, io.EOF
	}
	return n, nil
}

// findTemplate returns a file that is marked as a template. Other files are not found.
func (s *Service) findTemplate(ctx context.Context, q *store.Queries, c *Caller, fileID int64, need Permissions) (place, error) {
	p, err := s.find(ctx, q, c, File, fileID, need)
	if err != nil {
		return p, err
	}
	return p, checkMarked(ctx, q, fileID)
}

// lockTemplate returns a template that the caller may edit, and that nobody else can change until the transaction ends.
func (s *Service) lockTemplate(ctx context.Context, tx *store.Tx, c *Caller, fileID int64) (place, error) {
	p, err := s.lock(ctx, tx, c, File, fileID, MayEdit, "")
	if err != nil {
		return p, err
	}
	return p, checkMarked(ctx, tx.Queries, fileID)
}

// checkMarked returns an Error unless a file is marked as a template.
func checkMarked(ctx context.Context, q *store.Queries, fileID int64) error {
	marked, err := q.IsTemplate(ctx, fileID)
	if err == nil && !marked {
		err = NotFound("template", fileID)
	}
	return err
}

// Template returns a template.
func (s *Service) Template(ctx context.Context, c *Caller, fileID int64) (Template, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Template{}, err
	}
	var found Template
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.findTemplate(ctx, q, c, fileID, MaySee)
		if err != nil {
			return err
		}
		version, err := templateVersion(ctx, q, p.row, 0)
		if err != nil {
			return err
		}
		row, err := q.TemplateReading(ctx, version.ID)
		if errors.Is(err, sql.ErrNoRows) {
			row.Mistakes, row.Warnings, err = -1, -1, nil
		}
		if err != nil {
			return err
		}
		samples, err := q.CountSamples(ctx, fileID, version.ID)
		if err != nil {
			return err
		}
		use, err := q.TemplateUse(ctx, fileID)
		if err != nil {
			return err
		}
		defaults, err := q.TemplateDefaults(ctx, fileID)
		if err != nil {
			return err
		}
		found, err = s.templateFor(ctx, q, c, store.TemplateRow{
			FileID: fileID, Name: p.row.Name, State: row.State, Problem: row.Problem, VersionID: version.ID, Includes: row.Includes,
			Defaults: defaults, SamplesRequired: use.SamplesRequired, CurrentID: p.row.VersionID, Mistakes: row.Mistakes,
			Warnings: row.Warnings, Samples: samples,
		})
		return err
	})
	return found, err
}

// UnmarkTemplate turns a template into a regular file again, and deletes its samples. Batches in progress continue.
func (s *Service) UnmarkTemplate(ctx context.Context, c *Caller, fileID int64) error {
	if err := c.require(ScopeDocGen); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := s.lockTemplate(ctx, tx, c, fileID); err != nil {
			return err
		}
		if err := errors.Join(tx.DeleteSamplesOf(ctx, fileID), tx.DeleteOldSampleResults(ctx, fileID, 0)); err != nil {
			return err
		}
		_, err := tx.DeleteTemplate(ctx, fileID)
		return err
	})
}

// Templates returns one page of the templates that the caller can see, in ascending order of id, without those in the
// trash.
func (s *Service) Templates(ctx context.Context, c *Caller, r PageRequest) (Page[Template], error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Page[Template]{}, err
	}
	rows, err := page(s, c, r, list[store.TemplateRow]{
		name: "docgen_templates",
		keys: 1,
		key:  func(row store.TemplateRow) []int64 { return []int64{row.FileID} },
		after: func(from []int64, limit int32) ([]store.TemplateRow, error) {
			return s.walkTemplates(ctx, c, (*store.Queries).TemplatesAfter, from[0], int64(limit))
		},
		before: func(from []int64, limit int32) ([]store.TemplateRow, error) {
			return s.walkTemplates(ctx, c, (*store.Queries).TemplatesBefore, from[0], int64(limit))
		},
		lookups: func(row store.TemplateRow) int { return viewLookups(row.Includes) },
	})
	if err != nil {
		return Page[Template]{}, err
	}
	result := Page[Template]{Entries: make([]Template, len(rows.Entries)), Limit: rows.Limit, Next: rows.Next, Prev: rows.Prev}
	err = s.db.Read(ctx, func(q *store.Queries) (err error) {
		for i, row := range rows.Entries {
			if result.Entries[i], err = s.templateFor(ctx, q, c, row); err != nil {
				return err
			}
		}
		return nil
	})
	return result, err
}

// walkTemplates returns templates that the caller can see, starting at a file id. It reads in steps and lets other
// readers proceed in between, because the caller may see none of thousands of candidates.
func (s *Service) walkTemplates(ctx context.Context, c *Caller, step func(q *store.Queries, ctx context.Context, from, userID, limit,
	now int64) (store.TemplateStep, error), from, limit int64) ([]store.TemplateRow, error) {
	var found []store.TemplateRow
	for {
		var next store.TemplateStep
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			next, err = step(q, ctx, from, c.User.ID, limit-int64(len(found)), s.micros())
			return err
		})
		if err != nil {
			return nil, err
		}
		found = append(found, next.Rows...)
		if next.Done || int64(len(found)) == limit {
			return found, nil
		}
		from = next.Next
	}
}
