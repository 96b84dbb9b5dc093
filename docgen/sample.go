package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"platen/docx/expect"
	"platen/store"
)

// Limits of the samples that are stored with templates.
const (
	maxSamples             = 100      // of a template
	maxSampleName          = 100      // characters
	maxSampleBytes         = 1 << 20  // of the input and the expectations of a sample
	maxSampleBytesTemplate = 8 << 20  // of all samples of a template, so that its editors leave space for other templates of its owner
	maxSampleBytesUser     = 64 << 20 // of all samples of a user's templates, including those in the trash; the enterprise has no limit
)

// Sample is input for a template, with what the document must be like. The versions of the template are checked with it.
type Sample struct {
	Name         string
	Input        json.RawMessage
	Options      BatchOptions    // without those for PDF
	Expectations json.RawMessage // as package docx/expect reads them; nil for none
	GoldenID     int64           // the file that the document must be equal to in structure; 0 for none
	Time         *time.Time      // what the document takes for the present; nil for the time of the check
	SavedAt      time.Time
	SavedBy      UserRef
}

// NewSample describes a sample.
type NewSample struct {
	Name         string
	Input        Input
	Options      BatchOptions
	Expectations json.RawMessage // empty for none
	GoldenID     int64
	Time         *time.Time // nil for the time of the check
}

// size returns the bytes that count toward the limits.
func (n *NewSample) size() int64 { return int64(len(n.Input.text) + len(n.Expectations)) }

// problems returns everything that is wrong with the sample, as far as it can be checked without the database.
func (n *NewSample) problems(limits Limits) []Problem {
	var problems []Problem
	if why := nameProblem(n.Name, maxSampleName); why != "" {
		problems = append(problems, invalidField("sample_name", "%s", why))
	}
	if why := n.Input.validate(limits); why != "" {
		problems = append(problems, invalidField("user_input", "%s", why))
	}
	if len(n.Expectations) > 0 {
		if _, err := expect.Parse(n.Expectations); err != nil {
			problems = append(problems, invalidField("expectations", "%s", err))
		}
	}
	if n.Time != nil && !n.Time.After(time.Time{}) { // the engine takes the zero time for none
		problems = append(problems, invalidField("time", "'time' must be after 0001-01-01T00:00:00Z"))
	}
	_, wrong := n.Options.Engine()
	problems = append(problems, wrong...)
	if n.size() > maxSampleBytes {
		problems = append(problems, invalidField("user_input", "a sample can have at most %d bytes, this one has %d", maxSampleBytes, n.size()))
	}
	return problems
}

// row returns the stored form of the sample.
func (n *NewSample) row(fileID, userID, now int64) (store.SaveSampleParams, error) {
	row := store.SaveSampleParams{FileID: fileID, Name: n.Name, Input: string(n.Input.text), Expectations: string(n.Expectations),
		GoldenID: n.GoldenID, Size: n.size(), SavedAt: now, SavedBy: userID}
	if n.Time != nil {
		row.PresentAt = sql.NullInt64{Int64: n.Time.UnixMicro(), Valid: true}
	}
	var err error
	row.Options, err = n.Options.text()
	return row, err
}

// SaveSample stores a sample with a template, in place of one with the same name, and starts to check the current version of the file with
// it. Results of earlier versions with the sample that it replaces are deleted. The caller must be allowed to download the golden document,
// which also requires ScopeRead; checks need that permission too.
func (s *Service) SaveSample(ctx context.Context, c *Caller, fileID int64, n NewSample) (Sample, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Sample{}, err
	}
	if n.GoldenID != 0 {
		if err := c.require(ScopeRead); err != nil {
			return Sample{}, err
		}
	}
	if err := Invalid(n.problems(s.limits)...); err != nil {
		return Sample{}, err
	}
	if err := s.checkRoom(ctx); err != nil {
		return Sample{}, err
	}
	row, err := n.row(fileID, c.User.ID, s.micros())
	if err != nil {
		return Sample{}, err
	}
	var saved Sample
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lockTemplate(ctx, tx, c, fileID)
		if err != nil {
			return err
		}
		if err := s.checkGolden(ctx, tx.Queries, c, n.GoldenID); err != nil {
			return err
		}
		if err := s.fitsSamples(ctx, tx.Queries, p, row); err != nil {
			return err
		}
		if err := tx.SaveSample(ctx, row); err != nil {
			return err
		}
		if err := tx.DeleteResultsOfSample(ctx, n.Name, fileID, p.row.VersionID); err != nil {
			return err
		}
		if _, err := s.requestSamples(ctx, tx, fileID, p.row.VersionID, n.Name, c.User.ID); err != nil {
			return err
		}
		saved, err = findSample(ctx, tx.Queries, fileID, n.Name)
		return err
	})
	return saved, err
}

// checkGolden returns an Error unless the caller may download the golden document of a sample.
func (s *Service) checkGolden(ctx context.Context, q *store.Queries, c *Caller, fileID int64) error {
	if fileID == 0 {
		return nil
	}
	_, err := s.find(ctx, q, c, File, fileID, MayDownload)
	if IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) || IsCode(err, CodeForbidden) {
		return Invalid(invalidField("golden.id", "the file does not exist, is in the trash, or you may not download it"))
	}
	return err
}

// fitsSamples returns an Error if a sample would exceed a limit. The sample that it replaces does not count. A sample that is not larger
// than the one that it replaces always fits.
func (s *Service) fitsSamples(ctx context.Context, q *store.Queries, p place, row store.SaveSampleParams) error {
	before, err := q.Sample(ctx, row.FileID, row.Name)
	isNew := errors.Is(err, sql.ErrNoRows)
	if err != nil && !isNew {
		return err
	}
	added := row.Size - before.Size
	if !isNew && added <= 0 {
		return nil
	}
	own, err := q.SampleSpace(ctx, row.FileID)
	if err != nil {
		return err
	}
	if isNew && own.Samples >= maxSamples {
		return failf(CodeConflict, "The template has %d samples, which is the limit. Delete one first.", own.Samples)
	}
	if bytes := own.Bytes + added; bytes > maxSampleBytesTemplate {
		return failf(CodeConflict, "The samples of the template would have %d bytes, more than the limit of %d. Delete some first, or use "+
			"less data.", bytes, maxSampleBytesTemplate)
	}
	return s.fitsOwner(ctx, q, p.row.OwnerID, added, CodeConflict)
}

// fitsOwner returns an Error with a code if additional bytes of samples exceed the limit of the owner of their templates.
func (s *Service) fitsOwner(ctx context.Context, q *store.Queries, ownerID, added int64, code Code) error {
	if added == 0 || ownerID == s.enterprise.accountID {
		return nil
	}
	bytes, err := q.SampleBytes(ctx, ownerID)
	if err == nil && bytes+added > maxSampleBytesUser {
		err = failf(code, "The samples of all templates of the owner of the folder, including those in the trash, would have %d bytes, more "+
			"than the limit of %d. Delete samples, or permanently delete templates.", bytes+added, maxSampleBytesUser)
	}
	return err
}

// fitsNewOwner returns an Error if the samples of the templates in a tree exceed the limit of another owner. There is no limit for callers
// who manage the content of the enterprise.
func (s *Service) fitsNewOwner(ctx context.Context, tx *store.Tx, c *Caller, p place, ownerID int64) error {
	if c.has(ScopeGlobalContent) {
		return nil
	}
	bytes, err := tx.TreeSampleBytes(ctx, p.row.ID)
	if err != nil {
		return err
	}
	return s.fitsOwner(ctx, tx.Queries, ownerID, bytes, CodeStorageFull)
}

// Sample returns a sample of a template.
func (s *Service) Sample(ctx context.Context, c *Caller, fileID int64, name string) (Sample, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Sample{}, err
	}
	var found Sample
	err := s.db.Read(ctx, func(q *store.Queries) error {
		if _, err := s.findTemplate(ctx, q, c, fileID, MayPreview); err != nil {
			return err
		}
		var err error
		found, err = findSample(ctx, q, fileID, name)
		return err
	})
	return found, err
}

func findSample(ctx context.Context, q *store.Queries, fileID int64, name string) (Sample, error) {
	row, err := q.Sample(ctx, fileID, name)
	if errors.Is(err, sql.ErrNoRows) {
		return Sample{}, NotFound("sample", name)
	}
	if err != nil {
		return Sample{}, err
	}
	found := Sample{Name: row.Name, Input: json.RawMessage(row.Input), GoldenID: row.GoldenID, SavedAt: timeOf(row.SavedAt)}
	if row.PresentAt.Valid {
		found.Time = new(time.UnixMicro(row.PresentAt.Int64).UTC())
	}
	if row.Options != "" {
		if err := json.Unmarshal([]byte(row.Options), &found.Options); err != nil {
			return Sample{}, fmt.Errorf("options of sample %q of template %d: %w", name, fileID, err)
		}
	}
	if row.Expectations != "" {
		found.Expectations = json.RawMessage(row.Expectations)
	}
	found.SavedBy, err = userRefs{}.get(ctx, q, row.SavedBy)
	return found, err
}

// DeleteSample deletes a sample of a template, with its results. The last one cannot be deleted while the template requires samples.
func (s *Service) DeleteSample(ctx context.Context, c *Caller, fileID int64, name string) error {
	if err := c.require(ScopeDocGen); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lockTemplate(ctx, tx, c, fileID)
		if err != nil {
			return err
		}
		deleted, err := tx.DeleteSample(ctx, fileID, name)
		if err != nil {
			return err
		}
		if deleted == 0 {
			return NotFound("sample", name)
		}
		if err := tx.DeleteResultsOfSample(ctx, name, fileID, 0); err != nil {
			return err
		}
		use, err := tx.TemplateUse(ctx, fileID)
		if err != nil || !use.SamplesRequired {
			return err
		}
		left, err := tx.SampleSpace(ctx, fileID)
		if err != nil {
			return err
		}
		if left.Samples == 0 {
			return failf(CodeConflict, "This is the last sample, and the template requires samples. First set samples_required to false.")
		}
		return advance(ctx, tx, fileID, p.row.VersionID)
	})
}

// requireSamples changes whether the versions of a template must pass its samples before batches use them, and records who did. When it
// becomes required, the current version must have passed them, so that batches always have a version to use.
func (s *Service) requireSamples(ctx context.Context, tx *store.Tx, c *Caller, p place, required bool) error {
	use, err := tx.TemplateUse(ctx, p.row.ID)
	if err != nil || use.SamplesRequired == required {
		return err
	}
	change := strconv.FormatBool(!required) + auditArrow + strconv.FormatBool(required)
	if err := s.audit(ctx, tx, c, AuditTemplateUpdated, auditOf("template", p.row.ID), "samples_required", change); err != nil {
		return err
	}
	if !required {
		return tx.SetTemplateUse(ctx, p.row.ID, false, 0)
	}
	state, err := versionState(ctx, tx.Queries, p.row.ID, p.row.VersionID)
	if err != nil {
		return err
	}
	switch state {
	case SamplesPassed:
		return tx.SetTemplateUse(ctx, p.row.ID, true, p.row.VersionID)
	case SamplesNone:
		return failf(CodeConflict, "The current version of the template was not checked with samples. Add a sample, or check the template first.")
	case SamplesProcessing:
		return failf(CodeConflict, "The current version of the template is still being checked with its samples. Retry in a moment.")
	default:
		return failf(CodeConflict, "The current version of the template failed its samples. Correct the template or the samples first.")
	}
}

// templateVersion returns a version of a template that can be used. 0 is the current version of the file or, if the template requires
// samples, the newest version that passed them.
func templateVersion(ctx context.Context, q *store.Queries, file store.Item, versionID int64) (store.FileVersion, error) {
	if versionID == 0 {
		use, err := q.TemplateUse(ctx, file.ID)
		if err != nil {
			return store.FileVersion{}, err
		}
		versionID = use.UsedVersionID
	}
	return fileVersion(ctx, q, file, versionID)
}

// advance makes batches use a version of a template that requires samples, if the version is newer than the one they use, and passed.
func advance(ctx context.Context, tx *store.Tx, fileID, versionID int64) error {
	use, err := tx.TemplateUse(ctx, fileID)
	if errors.Is(err, sql.ErrNoRows) { // no longer a template
		return nil
	}
	if err != nil || !use.SamplesRequired || versionID <= use.UsedVersionID {
		return err
	}
	state, err := versionState(ctx, tx.Queries, fileID, versionID)
	if err != nil || state != SamplesPassed {
		return err
	}
	return tx.SetTemplateUse(ctx, fileID, true, versionID)
}
