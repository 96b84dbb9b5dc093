package docgen

import (
	"context"

	"platen/docx/lang"
	"platen/store"
)

// DryRun has the data that the documents of a batch would lack.
type DryRun struct {
	Documents  int                  // in the batch
	Incomplete int                  // documents with missing data
	Findings   []DocumentMismatches // the first of these
}

// DocumentMismatches is the missing data of one document.
type DocumentMismatches struct {
	Position   int // in the batch, from 0
	Name       string
	Mismatches []DataMismatch
}

// DataMismatch is a location where the data does not match the template.
type DataMismatch struct{ Path, Message, Nearest string }

// maxFindings is the maximum number of documents in the result of a dry run.
const maxFindings = 1000

// TryBatch checks a batch like CreateBatch, and compares the data of each document with the template's schema. It
// creates and stores nothing. If the template has not been read yet, the Error has CodeConflict.
func (s *Service) TryBatch(ctx context.Context, c *Caller, b NewBatch) (DryRun, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return DryRun{}, err
	}
	if err := Invalid(b.Problems(s.limits)...); err != nil {
		return DryRun{}, err
	}
	var schema *lang.Schema
	var unread int64
	err := s.db.Read(ctx, func(q *store.Queries) error {
		version, _, err := s.batchTargets(ctx, q, c, b)
		if err != nil {
			return err
		}
		reading, err := s.findReading(ctx, q, c, version.ID)
		if err != nil || reading.State == TemplateProcessing {
			return err
		}
		if reading.State == "" {
			unread = version.ID
			return nil
		}
		if schema, err = schemaOf(reading); schema == nil && err == nil {
			err = Invalid(invalidField("file", "the template cannot be read: %s", reading.Problem))
		}
		return err
	})
	if err == nil && unread != 0 {
		err = s.startReading(ctx, c, b.TemplateID, unread)
	}
	if err == nil && schema == nil {
		err = failf(CodeConflict, "The server is still reading the template. Retry in a moment.")
	}
	if err != nil {
		return DryRun{}, err
	}
	return b.try(schema), nil
}

// try compares the data of each document with a schema.
func (b NewBatch) try(schema *lang.Schema) DryRun {
	run := DryRun{Documents: len(b.Documents)}
	for i, document := range b.Documents {
		found := mismatches(schema, document.Input.text)
		if len(found) == 0 {
			continue
		}
		run.Incomplete++
		if len(run.Findings) < maxFindings {
			run.Findings = append(run.Findings, DocumentMismatches{Position: i, Name: b.fileName(document), Mismatches: found})
		}
	}
	return run
}

func mismatches(schema *lang.Schema, input []byte) []DataMismatch {
	data, err := lang.Decode(input)
	if err != nil {
		return []DataMismatch{{Message: err.Error()}}
	}
	var found []DataMismatch
	for _, m := range schema.Check(data) {
		found = append(found, DataMismatch(m))
	}
	return found
}
