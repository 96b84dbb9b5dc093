package office

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"platen/pdf"
)

// Limits of a quarantine. The oldest documents are deleted first.
const (
	maxKept      = 100
	maxKeptBytes = 1 << 30
)

// quarantine is a folder for documents that crashed or delayed LibreOffice. Each has its own folder, with the
// document and report.json.
type quarantine struct{ folder string }

// keptReport describes a document in quarantine.
type keptReport struct {
	Time    time.Time   `json:"time"`
	Reason  string      `json:"reason"`
	SHA256  string      `json:"sha256"`
	Kind    string      `json:"kind,omitempty"`
	Options pdf.Options `json:"options"`
	Said    string      `json:"said,omitempty"` // last output of LibreOffice
}

// document stores a document and returns its folder, or "" if there is no quarantine.
func (q quarantine) document(r pdf.Request, why *stoppedError) (string, error) {
	if q.folder == "" {
		return "", nil
	}
	sum := sha256.Sum256(r.Document)
	digest := hex.EncodeToString(sum[:])
	report, err := json.MarshalIndent(keptReport{time.Now().UTC(), why.reason, digest, r.Kind, r.Options, why.said}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(q.folder, digest[:16]) // the same document is stored once
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("quarantine a document: %w", err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(path, inputFile), r.Document, 0o600),
		os.WriteFile(filepath.Join(path, "report.json"), report, 0o600)); err != nil {
		return "", fmt.Errorf("quarantine a document: %w", err)
	}
	return path, q.prune()
}

// prune removes the oldest documents until the rest is within the limits.
func (q quarantine) prune() error {
	type kept struct {
		path string
		at   time.Time
		size int64
	}
	paths, err := filepath.Glob(filepath.Join(q.folder, "*", inputFile))
	if err != nil {
		return err
	}
	var all []kept
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, kept{filepath.Dir(path), info.ModTime(), info.Size()})
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.path, b.path)) })
	var total int64
	for i, k := range all {
		if total += k.size; i >= maxKept || i > 0 && total > maxKeptBytes {
			err = errors.Join(err, os.RemoveAll(k.path))
		}
	}
	return err
}
