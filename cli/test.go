package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"platen/docx/expect"
)

type testCmd struct {
	Dir    string `arg:"" placeholder:"DIR" help:"Folder with templates, searched with all folders below it; or one template."`
	Only   string `name:"run" placeholder:"PATTERN" help:"Run only the samples whose TEMPLATE/NAME, such as invoice.docx/paid, matches this regular expression."`
	Update bool   `help:"Replace the golden documents that differ, if the new documents meet all other expectations."`
	Golden bool   `help:"With --update, also create golden documents for samples that have none."`
	JSON   bool   `name:"json" help:"Print the results as JSON."`
	contentsFlags
	engineFlags
	pdfConfig
}

// Help is the additional text of platen test --help.
func (*testCmd) Help() string {
	return "The samples of invoice.docx are in the folder invoice.tests: paid.json is the data of a sample, paid.expect.json what its " +
		"author expects, and paid.docx the golden document. Only paid.json is required. The file options.json has options for all samples " +
		"of the folder: locale, time_zone, missing, strict, and now. Flags override them. Unless now is set, it is " + sampleTime + ".\n\n" +
		"The exit code is 0 if all samples passed, and 1 otherwise."
}

// testReport is the output with --json.
type testReport struct {
	Problems  []string         `json:"problems,omitempty"` // mistakes in the layout that belong to no template
	Templates []testedTemplate `json:"templates"`
	Passed    int              `json:"passed"`
	Failed    int              `json:"failed"`
	Updated   int              `json:"updated"`
}

// Run runs the samples.
func (c *testCmd) Run(ctx context.Context, s *streams) (err error) {
	r := &sampleRunner{flags: c.engineFlags, contents: c.contents(), update: c.Update, create: c.Update && c.Golden}
	if c.Golden && !c.Update {
		return usagef("--golden needs --update")
	}
	if _, err := r.options(sampleOptions{}); err != nil {
		return err
	}
	if c.Only != "" {
		if r.only, err = regexp.Compile(c.Only); err != nil {
			return usagef("--run: %w", err)
		}
	}
	tests, problems, err := findTests(c.Dir)
	if err != nil {
		return err
	}
	if r.only != nil {
		tests = slices.DeleteFunc(tests, func(t templateTests) bool { return t.wrong == nil && len(r.selected(&t)) == 0 })
	}
	if documents := r.needsPages(tests); documents > 0 {
		if err := r.countPages(&c.pdfConfig, documents); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.close()) }()
	}
	results, err := r.runAll(ctx, tests)
	if err != nil {
		return err
	}
	report := newTestReport(results)
	report.Problems, report.Failed = problems, report.Failed+len(problems)
	if c.JSON {
		err = printJSON(s.out, report)
	} else {
		err = report.print(s.out)
	}
	return errors.Join(err, c.verdict(report, tests))
}

func newTestReport(results []testedTemplate) *testReport {
	report := &testReport{Templates: results}
	for i := range results {
		if results[i].Failure != "" {
			report.Failed++
		}
		for _, sample := range results[i].Samples {
			if sample.Passed {
				report.Passed++
			} else {
				report.Failed++
			}
			if sample.Updated != "" {
				report.Updated++
			}
		}
	}
	return report
}

// verdict returns the error for the exit code. That nothing ran is an error.
func (c *testCmd) verdict(r *testReport, tests []templateTests) error {
	switch {
	case r.Failed > 0:
		return errReported
	case r.Passed > 0:
		return nil
	case c.Only != "":
		return fmt.Errorf("no sample in %s matches %s", c.Dir, c.Only)
	case len(tests) > 0:
		return fmt.Errorf("no template in %s has samples: put the data of one into %s", c.Dir, samplesFolder(tests[0].path)+"/simple.json")
	}
	return fmt.Errorf("there are no templates in %s", c.Dir)
}

// print prints the results for people: the differences of each sample, and a line for each template.
func (r *testReport) print(w io.Writer) error {
	var b bytes.Buffer
	for _, problem := range r.Problems {
		fmt.Fprintf(&b, "FAIL  %s\n", problem)
	}
	for i := range r.Templates {
		r.Templates[i].print(&b)
	}
	fmt.Fprintf(&b, "%d passed, %d failed", r.Passed, r.Failed)
	if r.Updated > 0 {
		fmt.Fprintf(&b, ", %d updated", r.Updated)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

func (t *testedTemplate) print(b *bytes.Buffer) {
	if t.Failure != "" {
		fmt.Fprintf(b, "FAIL  %s\n%s\n", t.Template, indent(t.Failure))
		return
	}
	failed := 0
	for i := range t.Samples {
		s := &t.Samples[i]
		if s.Updated != "" {
			fmt.Fprintf(b, "wrote %s\n", s.Updated)
			printDifferences(b, s.Accepted)
		}
		if s.Passed {
			continue
		}
		failed++
		fmt.Fprintf(b, "FAIL  %s: %s\n", t.Template, s.Name)
		printDifferences(b, s.Differences)
	}
	switch n := len(t.Samples); {
	case n == 0:
		fmt.Fprintf(b, "?     %s: no samples\n", t.Template)
	case failed == 0:
		fmt.Fprintf(b, "ok    %s: %d %s\n", t.Template, n, plural(n, "sample"))
	}
}

func printDifferences(b *bytes.Buffer, all []expect.Difference) {
	for i := range all {
		fmt.Fprintf(b, "%s\n", indent(all[i].String()))
	}
}

// indent indents all lines of a text.
func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}
