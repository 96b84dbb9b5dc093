package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"platen/store"
)

// Limits of the stored problems of one job, one merged file, or one version of a template. The first problems are
// stored, because later ones often follow from them; the rest is only counted.
const (
	MaxProblems     = 100      // errors and warnings in total; details have a separate limit of the same size
	MaxProblemText  = 1 << 10  // bytes of one message; a longer one ends in "…"
	MaxFailureBytes = 64 << 10 // total in bytes, as JSON
	messageShare    = 24 << 10 // the share of the messages; fonts and details have the rest
	fontShare       = 16 << 10 // the share of the fonts
	maxEventText    = 4 << 10  // bytes of the errors in a notification
)

// FailureCode classifies the failure of a job.
type FailureCode string

// The failure codes.
const (
	FailureIncomplete FailureCode = "incomplete" // the document is incomplete
	FailureFailed     FailureCode = "failed"     // there is no document
	FailureWarnings   FailureCode = "warnings"   // the document is complete, but may need attention
	FailureCanceled   FailureCode = "canceled"   // there is no document, because the batch was canceled
)

// Failures are the problems of a document. Errors say what it lacks, or why it was not generated. Warnings may be
// harmless. Details have the errors and warnings about a place in the template, with everything an author needs to find it.
type Failures struct {
	Errors   []string  `json:"errors"`
	Warnings []string  `json:"warnings"`
	Details  []*Detail `json:"details,omitempty"`
	// Fonts say what became of the fonts of a PDF: nil for other documents.
	Fonts *FontReport `json:"fonts,omitempty"`
	// OmittedErrors and OmittedWarnings count the problems that were not kept.
	OmittedErrors   int `json:"omitted_errors,omitempty"`
	OmittedWarnings int `json:"omitted_warnings,omitempty"`
}

// Any reports whether there are any errors or warnings.
func (f Failures) Any() bool { return f.Count() > 0 }

// Count returns the number of errors and warnings, including omitted ones.
func (f Failures) Count() int {
	return len(f.Errors) + len(f.Warnings) + f.OmittedErrors + f.OmittedWarnings
}

// Lines returns the errors and the warnings for people. If some were omitted, the last line has their number.
func (f Failures) Lines() (lines, warnings []string) {
	return withOmitted(f.Errors, f.OmittedErrors), withOmitted(f.Warnings, f.OmittedWarnings)
}

func withOmitted(lines []string, omitted int) []string {
	if omitted == 0 {
		return lines
	}
	return append(slices.Clip(lines), fmt.Sprintf("%d more were left out.", omitted))
}

// Bounded returns the failures within the limits MaxProblems, MaxProblemText, and MaxFailureBytes, as they are stored.
func (f Failures) Bounded() Failures {
	messages := budget{problems: MaxProblems, bytes: messageShare}
	var omitted int
	f.Errors, omitted = messages.take(f.Errors)
	f.OmittedErrors += omitted
	f.Warnings, omitted = messages.take(f.Warnings)
	f.OmittedWarnings += omitted
	left := MaxFailureBytes - messageShare
	if f.Fonts != nil {
		f.Fonts = boundedFonts(f.Fonts)
		left -= jsonSize(f.Fonts)
	}
	f.Details = boundedDetails(f.Details, left)
	return f
}

// budget is the remaining space for messages.
type budget struct{ problems, bytes int }

// take returns the first messages that fit, truncated, and the number of omitted ones.
func (b *budget) take(messages []string) (kept []string, omitted int) {
	kept = messages[:0:0] // keeps nil and empty distinct
	for i, message := range messages {
		message = shortened(message, MaxProblemText)
		size := jsonSize(message)
		if b.problems == 0 || size > b.bytes {
			b.problems = 0 // everything after an omitted message is omitted too
			return kept, len(messages) - i
		}
		b.problems--
		b.bytes -= size
		kept = append(kept, message)
	}
	return kept, 0
}

// boundedDetails returns the first details that fit into the given number of bytes, with shortened texts.
func boundedDetails(details []*Detail, left int) []*Detail {
	var kept []*Detail
	for _, d := range details[:min(len(details), MaxProblems)] {
		short := *d
		for _, text := range []*string{&short.Part, &short.Heading, &short.Place, &short.File, &short.Text, &short.Tag, &short.Message,
			&short.Hint, &short.Path, &short.Datum, &short.Nearest} {
			*text = shortened(*text, MaxProblemText)
		}
		if left -= jsonSize(short) + 1; left < 0 {
			break
		}
		kept = append(kept, &short)
	}
	return kept
}

// boundedFonts returns a report without the last fonts and characters that exceed its limits.
func boundedFonts(report *FontReport) *FontReport {
	short := *report
	for jsonSize(&short) > fontShare {
		if len(short.Fonts)+len(short.Used)+len(short.Fallback)+len(short.Missing) == 0 {
			break
		}
		short.Fonts = short.Fonts[:len(short.Fonts)/2]
		short.Used = short.Used[:len(short.Used)/2]
		short.Fallback = short.Fallback[:len(short.Fallback)/2]
		short.Missing = short.Missing[:len(short.Missing)/2]
	}
	return &short
}

// jsonSize returns the number of bytes of a value's JSON.
func jsonSize(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("docgen: %T has no JSON: %v", v, err)) // impossible for the types of this package
	}
	return len(b)
}

// shortened returns a text of at most limit bytes: the whole text, or its beginning and "…".
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	at := limit - len("…")
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return strings.Clone(text[:at]) + "…"
}

func (f Failures) text() (string, error) {
	if !f.Any() && f.Fonts == nil {
		return "", nil
	}
	f.Errors, f.Warnings = noNil(f.Errors), noNil(f.Warnings)
	b, err := json.Marshal(f)
	return string(b), err
}

// failuresOf decodes failures encoded by text.
func failuresOf(text string) (f Failures, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &f)
	}
	return f, err
}

// FailureSummary is the summary of a job's failures in lists.
type FailureSummary struct {
	Code    FailureCode `json:"code"`
	Message string      `json:"message"` // the first error or, without errors, the first warning
	Count   int         `json:"count"`   // errors and warnings, those omitted included
}

// summary returns the summary of the failures of a job that ended with a status, or nil if there are none.
func (f Failures) summary(status Status) *FailureSummary {
	if !f.Any() {
		return nil
	}
	s := &FailureSummary{Code: failureCodes[status], Count: f.Count()}
	for _, messages := range [][]string{f.Warnings, f.Errors} {
		if len(messages) > 0 {
			s.Message = messages[0]
		}
	}
	return s
}

var failureCodes = map[Status]FailureCode{
	StatusCompleted: FailureWarnings, StatusCompletedWithError: FailureIncomplete, StatusFailed: FailureFailed,
}

// text encodes a summary for the database; "-" means no failures.
func (s *FailureSummary) text() (string, error) {
	if s == nil {
		return noFailures, nil
	}
	b, err := json.Marshal(s)
	return string(b), err
}

// stub returns the placeholder for failures of which only the summary is stored.
func (s *FailureSummary) stub() Failures {
	switch {
	case s == nil:
		return Failures{}
	case s.Code == FailureWarnings:
		return Failures{Warnings: []string{s.Message}}
	}
	return Failures{Errors: []string{s.Message}}
}

// noFailures is the summary of a job without failures. An empty one was not written yet.
const noFailures = "-"

// summaryOf reads the summary in a row. The job may have ended on a server of an earlier release, which wrote none.
func summaryOf(text string, status Status) (*FailureSummary, error) {
	switch {
	case text == noFailures:
		return nil, nil
	case text != "":
		s := &FailureSummary{}
		return s, json.Unmarshal([]byte(text), s)
	case status == StatusFailed || status == StatusCompletedWithError:
		return &FailureSummary{Code: failureCodes[status], Message: "Get the job to see its failures.", Count: 1}, nil
	}
	return nil, nil
}

// eventLines returns the errors to include in a notification.
func (f Failures) eventLines() []string {
	b := budget{problems: MaxProblems, bytes: maxEventText}
	kept, omitted := b.take(f.Errors)
	return withOmitted(kept, omitted+f.OmittedErrors)
}

// failureText returns the stored failures of a job, "" if there are none.
func failureText(ctx context.Context, q *store.Queries, row store.DocgenJob) (string, error) {
	text, err := q.FailuresOfJob(ctx, row.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return row.Failures, nil // written by an earlier release, or empty
	}
	return text, err
}

// keepFailures stores the failures of a job that has ended. They must already be bounded.
func keepFailures(ctx context.Context, tx *store.Tx, jobID int64, f Failures) error {
	text, err := f.text()
	if err != nil || text == "" {
		return err
	}
	return tx.InsertFailures(ctx, jobID, text)
}

// SummarizeFailures is the task that adds summaries to the jobs of earlier releases, and bounds their stored failures.
type SummarizeFailures struct{}

// Kind names the task.
func (SummarizeFailures) Kind() string { return "summarize_failures" }

// summarizePortion is the number of jobs that are summarized in one transaction. They are read one by one, because the
// text of one job of an earlier release may have 500 KB.
const summarizePortion = 50

// ScheduleSummaries schedules the task that summarizes the jobs of earlier releases.
func (s *Service) ScheduleSummaries(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: SummarizeFailures{}, Unique: true, Priority: 4, Tries: maintenanceTries})
		return err
	})
}

// Summarize adds summaries to some jobs of earlier releases. more reports whether there may be others.
func (s *Service) Summarize(ctx context.Context) (more bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		ids, err := tx.UnsummarizedJobs(ctx, summarizePortion)
		if err != nil {
			return err
		}
		more = len(ids) == summarizePortion
		for _, id := range ids {
			if err := summarize(ctx, tx, id); err != nil {
				return fmt.Errorf("summarize job %d: %w", id, err)
			}
		}
		return nil
	})
	return more, err
}

func summarize(ctx context.Context, tx *store.Tx, id int64) error {
	row, err := tx.OldFailures(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // another server was faster
	}
	if err != nil {
		return err
	}
	f, err := failuresOf(row.Failures)
	if err != nil {
		return err
	}
	f = f.Bounded()
	if err := keepFailures(ctx, tx, id, f); err != nil {
		return err
	}
	summary, err := f.summary(Status(row.Status)).text()
	if err != nil {
		return err
	}
	return tx.Summarize(ctx, id, summary)
}
