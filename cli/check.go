package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"platen/docx"
)

type checkCmd struct {
	Template string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template."`
	Data     string `arg:"" optional:"" placeholder:"DATA.json" help:"JSON data to check the template with: an object, or an array of objects, which are all checked; - for standard input."`
	JSON     bool   `name:"json" help:"Print JSON: every problem with its part, heading, location, paragraph, and column."`
	engineFlags
	Annotate string `placeholder:"OUT.docx" help:"Write a copy of the template with a Word comment at each problem."`
}

// Help is the additional text of platen check --help.
func (*checkCmd) Help() string {
	return "Writes no files except for --annotate. The exit code is 0 if everything is correct, 3 if only data is missing, and 1 if a " +
		"document could not be generated."
}

// checkReport is the output with --json.
type checkReport struct {
	Template  string            `json:"template"`
	Problems  docx.Errors       `json:"problems"`            // of the template itself
	Warnings  docx.Errors       `json:"warnings"`            // of the template itself
	Documents []checkedDocument `json:"documents,omitempty"` // for each element of the data, in order
}

// checkedDocument describes what one document would lack, without the warnings of the template.
type checkedDocument struct {
	Failure  string      `json:"failure,omitempty"` // why it could not be generated
	Errors   []string    `json:"errors"`
	Warnings []string    `json:"warnings"`
	Details  docx.Errors `json:"details,omitempty"`
}

// Run checks the template and the data, and prints everything that is wrong.
func (c *checkCmd) Run(ctx context.Context, s *streams) error {
	options, err := c.options()
	if err != nil {
		return err
	}
	report := checkReport{Template: c.Template, Problems: docx.Errors{}, Warnings: docx.Errors{}}
	template, err := parseTemplate(c.Template)
	if mistaken, ok := errors.AsType[*templateError](err); ok {
		report.Problems = mistaken.problems.Mistakes()
		report.Warnings = append(report.Warnings, mistaken.problems.Warnings()...)
	} else if err != nil {
		return err
	} else {
		report.Warnings = append(report.Warnings, template.Warnings()...)
	}
	if c.Data != "" && template != nil {
		if report.Documents, err = checkData(ctx, template, options, c.Data, s.in); err != nil {
			return err
		}
	}
	if c.Annotate != "" {
		if err := c.annotate(report.all()); err != nil {
			return err
		}
	}
	if c.JSON {
		err = printJSON(s.out, report)
	} else {
		err = report.print(s.out)
	}
	return errors.Join(err, report.verdict())
}

// checkData generates every document of the data, without saving it.
func checkData(ctx context.Context, template *docx.Template, options docx.Options, path string,
	stdin io.Reader) ([]checkedDocument, error) {
	inputs, _, err := readData(path, stdin)
	if err != nil {
		return nil, err
	}
	documents := make([]checkedDocument, len(inputs))
	for i := range inputs {
		documents[i] = checkDocument(ctx, template, options, &inputs[i])
	}
	return documents, nil
}

func checkDocument(ctx context.Context, template *docx.Template, options docx.Options, in *input) checkedDocument {
	d := checkedDocument{Errors: []string{}, Warnings: []string{}}
	data, err := in.decode()
	if err != nil {
		d.Failure = plainPaths(err)
		return d
	}
	report, err := template.Execute(ctx, io.Discard, data, options)
	switch {
	case errors.Is(err, docx.ErrIncomplete):
		d.Failure = "with these options, incomplete documents fail"
	case err != nil:
		d.Failure = plainPaths(err)
	}
	d.Errors, d.Warnings, d.Details = append(d.Errors, report.Errors...), append(d.Warnings, report.Warnings...), report.Details
	d.leaveOut(template.Warnings())
	d.Errors, d.Warnings = withOmitted(d.Errors, report.OmittedErrors), withOmitted(d.Warnings, report.OmittedWarnings)
	return d
}

// withOmitted adds a line with the number of problems that were omitted.
func withOmitted(lines []string, omitted int) []string {
	if omitted == 0 {
		return lines
	}
	return append(lines, fmt.Sprintf("%d more were omitted.", omitted))
}

// leaveOut removes the warnings of the template. If the options turn them into errors, they remain as the reason why the document fails.
func (d *checkedDocument) leaveOut(known docx.Errors) {
	d.Warnings = slices.DeleteFunc(d.Warnings, func(text string) bool { return slices.Contains(known.Messages(), text) })
	d.Details = slices.DeleteFunc(d.Details, func(e *docx.Error) bool {
		return slices.ContainsFunc(known, func(k *docx.Error) bool { return *k == *e })
	})
}

// all returns the problems of the template and the data that have a location, without duplicates.
func (r *checkReport) all() docx.Errors {
	all := slices.Concat(r.Problems, r.Warnings)
	seen := map[docx.Error]bool{}
	for _, d := range r.Documents {
		for _, problem := range d.Details {
			if !seen[*problem] {
				seen[*problem] = true
				all = append(all, problem)
			}
		}
	}
	return all
}

func (c *checkCmd) annotate(problems docx.Errors) error {
	template, err := os.ReadFile(c.Template)
	if err != nil {
		return err
	}
	return writeAtomically(c.Annotate, func(w io.Writer) error {
		return docx.Annotate(w, bytes.NewReader(template), int64(len(template)), problems)
	})
}

// print prints what is wrong, for people.
func (r *checkReport) print(w io.Writer) error {
	var b bytes.Buffer
	for _, problem := range r.Problems {
		fmt.Fprintf(&b, "%s\n\n", problem)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n\n", warning)
	}
	for i := range r.Documents {
		which := ""
		if len(r.Documents) > 1 {
			which = fmt.Sprintf("document %d: ", i+1)
		}
		r.Documents[i].print(&b, which)
	}
	fmt.Fprintf(&b, "%s: %s\n", r.Template, r.summary())
	_, err := w.Write(b.Bytes())
	return err
}

func (d *checkedDocument) print(b *bytes.Buffer, which string) {
	if d.Failure != "" {
		fmt.Fprintf(b, "%s%s\n", which, d.Failure)
	}
	placed := map[string]bool{}
	for _, detail := range d.Details {
		placed[detail.Message] = true
		kind := ""
		if detail.Warning {
			kind = "warning: "
		}
		fmt.Fprintf(b, "%s%s%s\n\n", which, kind, detail)
	}
	for _, text := range d.Errors {
		if !placed[text] {
			fmt.Fprintf(b, "%s%s\n", which, text)
		}
	}
	for _, text := range d.Warnings {
		if !placed[text] {
			fmt.Fprintf(b, "%swarning: %s\n", which, text)
		}
	}
}

// counts returns the number of documents that could not be generated, and of documents that would be incomplete.
func (r *checkReport) counts() (failed, incomplete int) {
	for _, d := range r.Documents {
		switch {
		case d.Failure != "":
			failed++
		case len(d.Errors) > 0:
			incomplete++
		}
	}
	return failed, incomplete
}

func (r *checkReport) summary() string {
	failed, incomplete := r.counts()
	switch n := len(r.Documents); {
	case len(r.Problems) > 0:
		return fmt.Sprintf("%d %s", len(r.Problems), plural(len(r.Problems), "mistake"))
	case n == 0:
		return "no errors" + r.warned()
	case failed+incomplete == 0:
		return fmt.Sprintf("no errors; nothing is missing in %d %s", n, plural(n, "document")) + r.warned()
	default:
		return fmt.Sprintf("no errors; of %d %s, %d would be incomplete and %d could not be generated", n, plural(n, "document"),
			incomplete, failed)
	}
}

// warned returns an addition to the summary if there are warnings.
func (r *checkReport) warned() string {
	n := len(r.Warnings)
	for _, d := range r.Documents {
		n += len(d.Warnings)
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", but see the %s above", plural(n, "warning"))
}

// verdict returns the error for the exit code.
func (r *checkReport) verdict() error {
	failed, incomplete := r.counts()
	switch {
	case len(r.Problems) > 0 || failed > 0:
		return errReported
	case incomplete > 0:
		return errIncomplete
	}
	return nil
}
