package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"platen/docx"
	"platen/docx/lang"
	"platen/store"
)

const (
	// recentBatches is the number of the caller's last batches that a new version of a template is compared with.
	recentBatches = 50
	// maxProblemsText is the number of bytes that are kept of a template's mistakes, which are one text.
	maxProblemsText = 16 << 10
	// maxContractText is the largest size in bytes of the schema of a version. A larger one is not kept, with a warning.
	maxContractText = 4 << 20
)

// Reading is the result of reading a version of a template.
type Reading struct {
	Tags     []Tag
	Schema   json.RawMessage // JSON Schema of the required data
	Problem  string          // why the version cannot be read; if set, there are neither tags nor a schema
	Warnings []string
	Details  []*Detail // the same problems, with their locations
	Includes []Inclusion
}

// Contract is the data that a version of a template needs, and the mistakes in the version.
type Contract struct {
	TemplateID int64
	VersionID  int64
	Schema     json.RawMessage // JSON Schema; nil if the version cannot be read
	Sample     json.RawMessage // valid data; nil if the version cannot be read
	Errors     []string        // why it cannot be read
	Warnings   []string
	Details    []*Detail // the mistakes and warnings that have a place
	Changes    *ContractChanges
}

// ContractChanges are the changes of the required data since the previous version.
type ContractChanges struct {
	Since  int64 // the previous version
	Needs  []string
	Takes  []string
	Drops  []string
	Kinds  []KindChange
	Breaks []BrokenBatch // the caller's recent batches that would lack data now
}

// KindChange is a path whose value must now be of a different kind.
type KindChange struct{ Path, Old, New string }

// BrokenBatch is a batch whose data would no longer be sufficient.
type BrokenBatch struct {
	ID        string
	CreatedAt time.Time
	Lacks     []string // paths
}

// findings is the stored form of a reading's problems.
type findings struct {
	Details         []*Detail `json:"details,omitempty"`
	Warnings        []string  `json:"warnings,omitempty"`
	OmittedWarnings int       `json:"omitted_warnings,omitempty"`
}

func (r *Reading) findings() (string, error) {
	if len(r.Details)+len(r.Warnings) == 0 {
		return "", nil
	}
	f := Failures{Details: r.Details, Warnings: r.Warnings}.Bounded()
	b, err := json.Marshal(findings{f.Details, f.Warnings, f.OmittedWarnings})
	return string(b), err
}

// Contract returns the contract of a template's version; version 0 is the one that batches use. ready is false while the version
// is still being read.
func (s *Service) Contract(ctx context.Context, c *Caller, fileID, versionID int64) (found Contract, ready bool, err error) {
	if err := c.require(ScopeDocGen); err != nil {
		return found, false, err
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
		if err != nil || reading.State == TemplateProcessing {
			return err
		}
		if reading.State == "" {
			unread = version.ID
			return nil
		}
		older, err := s.readingBefore(ctx, q, c, version)
		if err != nil || older.State == TemplateProcessing {
			return err
		}
		if older.State == "" {
			unread = older.VersionID // 0 if there is no earlier version
		}
		if ready = unread == 0; !ready {
			return nil
		}
		if found, err = contractOf(reading); err != nil {
			return err
		}
		found.TemplateID = fileID
		found.Changes, err = changesOf(ctx, q, c, version, reading, older)
		return err
	})
	if err == nil && unread != 0 {
		err = s.startReading(ctx, c, fileID, unread)
	}
	return found, ready, err
}

func contractOf(reading store.DocgenTagReading) (Contract, error) {
	found := Contract{VersionID: reading.VersionID}
	if reading.Problem != "" {
		found.Errors = []string{shortened(reading.Problem, maxProblemsText)}
	}
	if reading.Findings != "" {
		var f findings
		if err := json.Unmarshal([]byte(reading.Findings), &f); err != nil {
			return found, fmt.Errorf("findings of version %d: %w", reading.VersionID, err)
		}
		kept := Failures{Details: f.Details, Warnings: f.Warnings, OmittedWarnings: f.OmittedWarnings}.Bounded()
		found.Details = kept.Details
		_, found.Warnings = kept.Lines()
	}
	if mistakes := docx.Errors(found.Details).Mistakes(); len(mistakes) > 0 {
		found.Errors = nil
		for _, mistake := range mistakes {
			found.Errors = append(found.Errors, mistake.Error())
		}
	}
	schema, err := schemaOf(reading)
	if schema == nil || err != nil {
		return found, err
	}
	found.Schema = json.RawMessage(reading.Contract)
	found.Sample, err = schema.Sample()
	return found, err
}

// schemaOf returns the schema of a version, or nil if it has none.
func schemaOf(reading store.DocgenTagReading) (*lang.Schema, error) {
	if reading.Contract == "" {
		return nil, nil
	}
	schema, err := lang.ParseSchema([]byte(reading.Contract))
	if err != nil {
		return nil, fmt.Errorf("contract of version %d: %w", reading.VersionID, err)
	}
	return schema, nil
}

// readingBefore returns the Reading of the previous version, like findReading. If there is no previous version, or it was never read, the
// Reading has neither a state nor a VersionID.
func (s *Service) readingBefore(ctx context.Context, q *store.Queries, c *Caller,
	version store.FileVersion) (store.DocgenTagReading, error) {
	before, err := q.VersionBefore(ctx, version.FileID, version.Number)
	if errors.Is(err, sql.ErrNoRows) {
		return store.DocgenTagReading{}, nil
	}
	if err != nil {
		return store.DocgenTagReading{}, err
	}
	if _, err := q.TagReading(ctx, before.ID); errors.Is(err, sql.ErrNoRows) { // the file was not a template yet
		return store.DocgenTagReading{}, nil
	}
	return s.findReading(ctx, q, c, before.ID)
}

// changesOf compares a version with the previous one. It returns nil if there is none, or if one of them has no schema.
func changesOf(ctx context.Context, q *store.Queries, c *Caller, version store.FileVersion, reading,
	older store.DocgenTagReading) (*ContractChanges, error) {
	schema, err := schemaOf(reading)
	if schema == nil || err != nil {
		return nil, err
	}
	old, err := schemaOf(older)
	if old == nil || err != nil {
		return nil, err
	}
	changes := schema.Changes(old)
	found := &ContractChanges{Since: older.VersionID, Needs: changes.Needs, Takes: changes.Takes, Drops: changes.Drops}
	for _, k := range changes.Retypes {
		found.Kinds = append(found.Kinds, KindChange(k))
	}
	found.Breaks, err = brokenBatches(ctx, q, c, version.FileID, schema)
	return found, err
}

// brokenBatches returns the caller's recent batches of a template whose data does not match a schema.
func brokenBatches(ctx context.Context, q *store.Queries, c *Caller, fileID int64, schema *lang.Schema) ([]BrokenBatch, error) {
	batches, err := q.RecentBatches(ctx, fileID, c.User.ID, recentBatches)
	if err != nil {
		return nil, err
	}
	var broken []BrokenBatch
	for _, batch := range batches {
		shape, err := lang.ParseSchema([]byte(batch.Shape))
		if err != nil {
			return nil, fmt.Errorf("shape of batch %s: %w", batch.ID, err)
		}
		if lacks := schema.Lacks(shape); len(lacks) > 0 {
			broken = append(broken, BrokenBatch{ID: batch.ID, CreatedAt: timeOf(batch.CreatedAt), Lacks: lacks})
		}
	}
	return broken, nil
}
