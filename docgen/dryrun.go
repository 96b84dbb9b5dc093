package docgen

import (
	"context"
	"time"

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
	Line       int // of streamed data, from 1; 0 for other data
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
	schema, _, err := s.batchSchema(ctx, c, b)
	if err != nil {
		return DryRun{}, err
	}
	return b.try(schema), nil
}

// batchSchema returns the schema and the id of the template's version that a batch uses, and checks the batch like CreateBatch. If the
// template has not been read yet, the Error has CodeConflict.
func (s *Service) batchSchema(ctx context.Context, c *Caller, b NewBatch) (schema *lang.Schema, versionID int64, err error) {
	var unread int64
	err = s.db.Read(ctx, func(q *store.Queries) error {
		version, _, err := s.batchTargets(ctx, q, c, b)
		if err != nil {
			return err
		}
		versionID = version.ID
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
		err = &Error{Code: CodeConflict, RetryAfter: time.Second, Message: "The server is still reading the template. Retry in a moment."}
	}
	return schema, versionID, err
}

// try compares the data of each document with a schema.
func (b NewBatch) try(schema *lang.Schema) DryRun {
	run := DryRun{Documents: len(b.Documents)}
	for i, document := range b.Documents {
		run.add(schema, i, 0, b.fileName(document), document.Input.text)
	}
	return run
}

// add compares the data of a document with a schema.
func (run *DryRun) add(schema *lang.Schema, position, line int, name string, input []byte) {
	found := mismatches(schema, input)
	if len(found) == 0 {
		return
	}
	run.Incomplete++
	if len(run.Findings) < maxFindings {
		run.Findings = append(run.Findings, DocumentMismatches{Position: position, Line: line, Name: name, Mismatches: found})
	}
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
