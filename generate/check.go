package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"platen/docgen"
	"platen/docx"
)

// Check reports what is wrong with a template, what it needs, and, with data, what a document would lack. It generates the document, but
// does not keep it. A template with mistakes is a result, not an error.
func (g *Generator) Check(ctx context.Context, c *docgen.Caller, r docgen.CheckRequest) (*docgen.Check, error) {
	order, err := g.service.OrderDocument(ctx, c, r.DocumentRequest)
	if err != nil {
		return nil, err
	}
	o := g.requested(c, order)
	place, err := o.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer place.Release()
	used, err := o.templates.get(ctx, o.claimant, o.use())
	if err != nil {
		return nil, err
	}
	check, err := o.check(ctx, used)
	if err != nil {
		return nil, err
	}
	if r.HasInput && used.template != nil {
		if check.Data, err = o.checkData(ctx, used.template); err != nil {
			return nil, err
		}
	}
	if r.Annotated {
		check.Annotated, err = o.annotate(ctx, check)
	}
	return check, err
}

// check returns what is known about a template without data.
func (o *requested) check(ctx context.Context, used *cachedTemplate) (*docgen.Check, error) {
	reading, err := readingOf(used)
	if err != nil {
		return nil, err
	}
	check := &docgen.Check{Reading: *reading.Bounded()}
	if used.broken != nil {
		check.Failures = used.broken.failures()
		return check, nil //nolint:nilerr // The failures of the check have the error.
	}
	fonts, err := o.fontWarnings(ctx, o.use())
	if err != nil {
		return nil, err
	}
	check.Failures = docgen.Failures{Warnings: slices.Concat(reading.Warnings, fonts), Details: reading.Details}
	if check.Sample, err = used.template.Sample(); err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	return check, nil
}

// checkData generates a document, and returns what is missing in it.
func (o *requested) checkData(ctx context.Context, template *docx.Template) (*docgen.DataCheck, error) {
	_, report, err := o.render(ctx, template, 0)
	if failed, ok := errors.AsType[*docgen.Error](err); ok && failed.Failures != nil {
		return &docgen.DataCheck{Status: docgen.StatusFailed, Failures: *failed.Failures}, nil
	}
	if err != nil {
		return nil, err
	}
	data := &docgen.DataCheck{Status: docgen.StatusCompleted, Failures: failuresOf(report, nil)}
	if len(report.Errors) > 0 {
		data.Status = docgen.StatusCompletedWithError
	}
	return data, nil
}

// annotate returns a copy of the template with a comment at each problem. The error is one of the server, unless the file is not a Word
// document: then there is no copy.
func (o *requested) annotate(ctx context.Context, check *docgen.Check) ([]byte, error) {
	problems := check.Failures.Details
	if check.Data != nil {
		for _, detail := range check.Data.Failures.Details {
			if !slices.ContainsFunc(problems, func(known *docx.Error) bool { return *known == *detail }) {
				problems = append(slices.Clip(problems), detail)
			}
		}
	}
	file, err := o.source(ctx, o.use())
	if err != nil {
		return nil, err
	}
	core, err := o.cores.Acquire(ctx, o.claimant)
	if err != nil {
		return nil, err
	}
	defer core.Release()
	var annotated bytes.Buffer
	if err := docx.Annotate(&annotated, bytes.NewReader(file), int64(len(file)), problems); err != nil {
		return nil, nil
	}
	return annotated.Bytes(), nil
}
