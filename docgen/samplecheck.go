package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"platen/docx/expect"
	"platen/store"
)

// One task at a time checks, for a user, the versions of templates with their samples. Requesting a check also adds the task, unless it
// exists; the task ends in the transaction in which it finds no check that waits.

// CheckSamples is the task that checks versions of templates with their samples.
type CheckSamples struct {
	UserID int64 `json:"user_id"` // who requested the checks
}

// Kind names the task.
func (CheckSamples) Kind() string { return "check_samples" }

// SampleQueue is the queue of the task. It has at most one task for each user.
const SampleQueue = "samples"

// sampleTaskTries is the number of tries of the task, which fails only if the database fails or the server is killed.
const sampleTaskTries = 10_000

// maxSampleTries is the number of times that a check is begun. A check that is begun again was interrupted by the end of a server.
const maxSampleTries = 3

// keptSampleResults is the number of a template's versions whose results are kept.
const keptSampleResults = 20

// The states of checking a version with a template's samples, and of one sample: all but SamplesNone.
const (
	SamplesNone       = "none" // the version was not checked with all samples
	SamplesProcessing = "processing"
	SamplesPassed     = "passed"
	SamplesFailed     = "failed"
)

// rowWaiting is the stored state of a result that is SamplesProcessing.
const rowWaiting = "waiting"

// SampleReport is the result of checking a version of a template with its samples.
type SampleReport struct {
	TemplateID int64
	VersionID  int64
	State      string
	Results    []SampleResult // ordered by name, of all samples
}

// SampleResult is the result of one sample.
type SampleResult struct {
	Name    string
	State   string
	EndedAt time.Time // zero unless it passed or failed
	Hidden  bool      // there are no findings, because the caller may not read all files that they may quote; see resultView
	SampleFindings
}

// SampleDifference is one difference between the document of a sample and what is expected of it.
type SampleDifference = expect.Difference

// SampleFindings are the details of a result.
type SampleFindings struct {
	Differences []SampleDifference `json:"differences,omitempty"`
	Omitted     int                `json:"omitted,omitempty"`  // differences beyond the limit
	Warnings    []string           `json:"warnings,omitempty"` // about the document
	Pages       int                `json:"pages,omitempty"`    // 0 if they were not counted
	Includes    []Inclusion        `json:"-"`                  // the files that the version included
}

// Limits of the findings that are stored with a result.
const (
	maxSampleDifferences = 50
	maxSampleWarnings    = 20
	maxSampleText        = 500 // bytes of each text
)

// bounded returns the findings within the limits of what is stored.
func (f SampleFindings) bounded() SampleFindings {
	if more := len(f.Differences) - maxSampleDifferences; more > 0 {
		f.Differences, f.Omitted = f.Differences[:maxSampleDifferences], f.Omitted+more
	}
	for i, d := range f.Differences {
		for _, text := range []*string{&d.Heading, &d.Place, &d.Message, &d.Want, &d.Got} {
			*text = kept(shortened(*text, maxSampleText))
		}
		f.Differences[i] = d
	}
	f.Warnings = f.Warnings[:min(len(f.Warnings), maxSampleWarnings)]
	for i, text := range f.Warnings {
		f.Warnings[i] = kept(shortened(text, maxSampleText))
	}
	return f
}

// versionState returns the state of a version of a template. It is only SamplesPassed if the version passed all current samples.
func versionState(ctx context.Context, q *store.Queries, fileID, versionID int64) (string, error) {
	results, err := q.SampleResults(ctx, versionID)
	if err != nil {
		return "", err
	}
	names, err := q.SampleNames(ctx, fileID)
	return stateOf(names, results), err
}

// stateOf returns the state of a version from the names of its template's samples, and their results.
func stateOf(names []string, results []store.DocgenSampleResult) string {
	states := map[string]bool{}
	for _, r := range results {
		states[r.State] = true
	}
	switch {
	case states[rowWaiting]:
		return SamplesProcessing
	case states[SamplesFailed]:
		return SamplesFailed
	case len(names) == 0 || len(results) < len(names):
		return SamplesNone
	}
	return SamplesPassed
}

// requestSamples starts to check a version with a sample of its template, or with all of them if the name is empty. It returns their
// number.
func (s *Service) requestSamples(ctx context.Context, tx *store.Tx, fileID, versionID int64, name string, userID int64) (samples int64,
	err error) {
	samples, err = tx.RequestSampleResults(ctx, store.RequestSampleResultsParams{
		VersionID: versionID, Round: s.newID(), RequestedBy: userID, FileID: fileID, Name: name,
	})
	if err != nil || samples == 0 {
		return 0, err
	}
	if err := tx.DeleteOldSampleResults(ctx, fileID, keptSampleResults); err != nil {
		return 0, err
	}
	return samples, enqueueSamples(ctx, tx, userID)
}

func enqueueSamples(ctx context.Context, tx *store.Tx, userID int64) error {
	_, err := tx.Enqueue(ctx, store.Job{Task: CheckSamples{userID}, Queue: SampleQueue, Unique: true, Tries: sampleTaskTries})
	return err
}

// CheckTemplate starts to check a version of a template with all samples, again if it was checked before, and returns the report. Version 0
// is the current version of the file.
func (s *Service) CheckTemplate(ctx context.Context, c *Caller, fileID, versionID int64) (SampleReport, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return SampleReport{}, err
	}
	if err := s.checkRoom(ctx); err != nil {
		return SampleReport{}, err
	}
	var report SampleReport
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lockTemplate(ctx, tx, c, fileID)
		if err != nil {
			return err
		}
		version, err := fileVersion(ctx, tx.Queries, p.row, versionID)
		if err != nil {
			return err
		}
		samples, err := s.requestSamples(ctx, tx, fileID, version.ID, "", c.User.ID)
		if err != nil {
			return err
		}
		if samples == 0 {
			return failf(CodeConflict, "The template has no samples. Add one first.")
		}
		report, err = s.sampleReport(ctx, tx.Queries, c, fileID, version.ID)
		return err
	})
	return report, err
}

// SampleReport returns the result of checking a version of a template with its samples. Version 0 is the current version of the file.
func (s *Service) SampleReport(ctx context.Context, c *Caller, fileID, versionID int64) (SampleReport, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return SampleReport{}, err
	}
	var report SampleReport
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.findTemplate(ctx, q, c, fileID, MayPreview)
		if err != nil {
			return err
		}
		version, err := fileVersion(ctx, q, p.row, versionID)
		if err != nil {
			return err
		}
		report, err = s.sampleReport(ctx, q, c, fileID, version.ID)
		return err
	})
	return report, err
}

func (s *Service) sampleReport(ctx context.Context, q *store.Queries, c *Caller, fileID, versionID int64) (SampleReport, error) {
	rows, err := q.SampleResults(ctx, versionID)
	if err != nil {
		return SampleReport{}, err
	}
	names, err := q.SampleNames(ctx, fileID)
	if err != nil {
		return SampleReport{}, err
	}
	report := SampleReport{TemplateID: fileID, VersionID: versionID, State: stateOf(names, rows)}
	results := map[string]store.DocgenSampleResult{}
	for _, row := range rows {
		results[row.Name] = row
	}
	type quoted struct {
		includes string
		golden   int64
	}
	views := map[quoted]view{} // most results quote the same files
	for _, name := range names {
		result := SampleResult{Name: name, State: SamplesNone}
		if row, ok := results[name]; ok {
			files := quoted{row.Includes, row.GoldenVersionID}
			if _, known := views[files]; !known {
				if views[files], err = s.resultView(ctx, q, c, row); err != nil {
					return SampleReport{}, err
				}
			}
			if result, err = resultOf(row, views[files]); err != nil {
				return SampleReport{}, err
			}
		}
		report.Results = append(report.Results, result)
	}
	return report, nil
}

// resultView returns the view that a caller has of a result. Any text in it may come from the template, from the files that the version
// includes, and from the golden document. So the token must have the scope to read files, the caller must be allowed to download the
// included files and the golden document now, and these must be the same as at the check.
func (s *Service) resultView(ctx context.Context, q *store.Queries, c *Caller, row store.DocgenSampleResult) (view, error) {
	if !c.has(ScopeRead) {
		return viewNothing, nil
	}
	seen, err := s.viewOf(ctx, q, c, row.VersionID, row.Includes)
	if err != nil || seen != viewAll || row.GoldenVersionID == 0 {
		return seen, err
	}
	golden, err := q.Version(ctx, row.GoldenVersionID)
	if errors.Is(err, sql.ErrNoRows) {
		return viewStale, nil
	}
	if err != nil {
		return viewNothing, fmt.Errorf("golden version %d: %w", row.GoldenVersionID, err)
	}
	p, err := s.find(ctx, q, c, File, golden.FileID, MayDownload)
	switch {
	case IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) || IsCode(err, CodeForbidden):
		return viewNothing, nil
	case err != nil:
		return viewNothing, err
	case p.row.VersionID != golden.ID:
		return viewStale, nil
	}
	return viewAll, nil
}

// resultOf returns a result with the findings that the caller may see.
func resultOf(row store.DocgenSampleResult, seen view) (SampleResult, error) {
	result := SampleResult{Name: row.Name, State: row.State, EndedAt: timeOf(row.EndedAt)}
	if row.State == rowWaiting {
		result.State = SamplesProcessing
		return result, nil
	}
	if result.Hidden = seen != viewAll; result.Hidden {
		return result, nil
	}
	if err := json.Unmarshal([]byte(row.Findings), &result.SampleFindings); err != nil {
		return result, fmt.Errorf("findings of sample %q of version %d: %w", row.Name, row.VersionID, err)
	}
	return result, nil
}

// SampleCheck is a check that a task has begun: of one version of a template with one sample.
type SampleCheck struct {
	TemplateID, VersionID int64
	Sample                Sample
	Golden                *Content // nil if the sample has no golden document, or if it is not available
	Abandoned             bool     // it was begun too often: it ends servers
	round                 int64
}

// NextSample begins the next check for a user, or ends the task that ctx belongs to, and returns nil.
func (s *Service) NextSample(ctx context.Context, task CheckSamples) (*SampleCheck, error) {
	for {
		check, again, err := s.nextSample(ctx, task)
		if err != nil || !again {
			return check, err
		}
	}
}

func (s *Service) nextSample(ctx context.Context, task CheckSamples) (check *SampleCheck, again bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		check, again = nil, false
		row, err := tx.NextSampleResult(ctx, task.UserID)
		if errors.Is(err, sql.ErrNoRows) {
			return endTask(ctx, tx, func() (bool, error) {
				_, err := tx.NextSampleResult(ctx, task.UserID)
				if errors.Is(err, sql.ErrNoRows) {
					return false, nil
				}
				return err == nil, err
			})
		}
		if err != nil {
			return err
		}
		begun, err := tx.BeginSampleResult(ctx, row.VersionID, row.Name)
		if err != nil {
			return err
		}
		if begun == 0 {
			again = true
			return nil
		}
		check, err = s.sampleCheck(ctx, tx.Queries, row)
		if errors.Is(err, errSampleGone) {
			again = true
			return tx.DeleteSampleResult(ctx, row.VersionID, row.Name)
		}
		return err
	})
	if errors.Is(err, errMoreIsDue) {
		return nil, true, nil
	}
	return check, again, err
}

// errSampleGone is why a check is not done: its sample, version, or template was deleted.
var errSampleGone = errors.New("the sample was deleted")

func (s *Service) sampleCheck(ctx context.Context, q *store.Queries, row store.DocgenSampleResult) (*SampleCheck, error) {
	version, err := q.Version(ctx, row.VersionID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errSampleGone
	}
	if err != nil {
		return nil, err
	}
	sample, err := findSample(ctx, q, version.FileID, row.Name)
	if IsCode(err, CodeNotFound) {
		return nil, errSampleGone
	}
	if err != nil {
		return nil, err
	}
	check := &SampleCheck{TemplateID: version.FileID, VersionID: version.ID, Sample: sample, round: row.Round,
		Abandoned: row.Tries >= maxSampleTries}
	defaults, err := q.TemplateDefaults(ctx, version.FileID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	check.Sample.Options = sample.Options.withDefaults(defaultsOf(defaults), s.defaults)
	if sample.GoldenID != 0 {
		check.Golden, err = s.goldenContent(ctx, q, sample)
	}
	return check, err
}

// goldenContent returns the current content of a sample's golden document, or nil if the user who saved the sample may not download it.
func (s *Service) goldenContent(ctx context.Context, q *store.Queries, sample Sample) (*Content, error) {
	p, err := s.find(ctx, q, &Caller{User: User{ID: sample.SavedBy.ID}}, File, sample.GoldenID, MayDownload)
	if IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) || IsCode(err, CodeForbidden) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	version, err := fileVersion(ctx, q, p.row, 0)
	if err != nil {
		return nil, err
	}
	return s.contentOf(version), nil
}

// SaveSampleResult ends a check. A version that has now passed all samples of a template that requires them is used by batches from now on.
func (s *Service) SaveSampleResult(ctx context.Context, check *SampleCheck, passed bool, findings SampleFindings) error {
	text, err := json.Marshal(findings.bounded())
	if err != nil {
		return fmt.Errorf("findings of sample %q of version %d: %w", check.Sample.Name, check.VersionID, err)
	}
	includes, err := json.Marshal(append([]Inclusion{}, findings.Includes...))
	if err != nil {
		return fmt.Errorf("files that version %d includes: %w", check.VersionID, err)
	}
	state := SamplesFailed
	if passed {
		state = SamplesPassed
	}
	var golden int64
	if check.Golden != nil {
		golden = check.Golden.VersionID
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		ended, err := tx.EndSampleResult(ctx, store.EndSampleResultParams{VersionID: check.VersionID, Name: check.Sample.Name, State: state,
			Findings: string(text), Includes: string(includes), GoldenVersionID: golden, EndedAt: s.micros(), Round: check.round})
		if err != nil || ended == 0 || !passed {
			return err
		}
		return advance(ctx, tx, check.TemplateID, check.VersionID)
	})
}

// ReleaseSample lets a check wait again that was interrupted, but not by the end of a server.
func (s *Service) ReleaseSample(ctx context.Context, check *SampleCheck) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		return tx.ReleaseSampleResult(ctx, check.VersionID, check.Sample.Name, check.round)
	})
}
