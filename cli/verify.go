package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"platen/docgen"
	"platen/store"
)

type verifyCmd struct {
	config `embed:""`
	JSON   bool `name:"json" help:"Print one JSON object per line: all findings, then the summary."`
}

// Help is the additional text of platen verify --help.
func (*verifyCmd) Help() string {
	return "Reads the database and every stored content, and compares them: the consistency checks of SQLite, counts and sizes in rows, " +
		"the size and SHA-1 of each content, and objects that no file version references. It changes nothing, and can run while the " +
		"server runs, or after a restore. Use the same settings as the server. The exit code is 1 if something is damaged, missing, " +
		"or inconsistent; orphaned objects are harmless and do not count."
}

// Run verifies everything.
func (c *verifyCmd) Run(ctx context.Context, s *streams) error {
	return c.openExisting(ctx, func(db *store.DB, policies []docgen.NewStoragePolicy) error {
		served, err := c.isServed()
		if err != nil {
			return err
		}
		settled := !served && db.Dialect() == store.SQLite
		return verify(ctx, docgen.VerifyConfig{Store: db, Policies: policies, Settled: settled}, s.out, s.err, c.JSON)
	})
}

// verify verifies, prints the findings, and returns errReported if something is wrong.
func verify(ctx context.Context, cfg docgen.VerifyConfig, out, progress io.Writer, asJSON bool) error {
	bar := newLazyProgress(progress, "verifying")
	cfg.Progress = bar.set
	show := printFinding
	if asJSON {
		show = func(w io.Writer, f docgen.Finding) error { return json.NewEncoder(w).Encode(f) }
	}
	var failed error // errors of printing
	sum, err := docgen.Verify(ctx, cfg, func(f docgen.Finding) {
		if err := show(out, f); err != nil && failed == nil {
			failed = err
		}
	})
	bar.end()
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(out).Encode(struct {
			Kind string `json:"kind"`
			*docgen.Verification
			OK bool `json:"ok"`
		}{"summary", sum, !sum.Wrong()})
	} else {
		_, err = fmt.Fprintln(out, summary(sum))
	}
	if err == nil && sum.Wrong() {
		return errReported
	}
	return err
}

// printFinding prints a finding on one line.
func printFinding(w io.Writer, f docgen.Finding) error {
	line := f.Kind + ": "
	if f.Path != "" {
		line += fmt.Sprintf("%q of %s (file %d, version %d): ", f.Path, f.Owner, f.File, f.Version)
	}
	line += f.Problem
	if f.Object != "" {
		line += fmt.Sprintf(" (object %s, storage policy %s)", f.Object, f.Policy)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// summary returns the last line of the output.
func summary(sum *docgen.Verification) string {
	text := fmt.Sprintf("Verified %d contents (%d bytes): ", sum.Contents, sum.Bytes)
	var kinds []string
	for _, kind := range []string{docgen.FindingDatabase, docgen.FindingRow, docgen.FindingStore, docgen.DamageMissing, docgen.DamageChanged,
		docgen.DamageUnreadable, docgen.FindingOrphaned} {
		if n := sum.Findings[kind]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
		}
	}
	switch {
	case len(kinds) == 0:
		text += "everything is intact."
	case !sum.Wrong():
		text += "everything is intact; " + strings.Join(kinds, ", ") + "."
	default:
		text += strings.Join(kinds, ", ") + "."
	}
	if sum.Unsaved > 0 {
		text += fmt.Sprintf(" %d objects may belong to uploads in progress.", sum.Unsaved)
	}
	return text
}
