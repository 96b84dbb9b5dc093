package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"platen/docx"
	"platen/docx/expect"
	"platen/docx/lang"
	"platen/pdf"
)

// sampleTime is the time that $now returns in tests, unless an option says otherwise, so that their documents are reproducible.
const sampleTime = "2026-01-01T12:00:00Z"

// testedTemplate is the result of the samples of one template.
type testedTemplate struct {
	Template string         `json:"template"`
	Failure  string         `json:"failure,omitempty"` // why no sample ran, such as the mistakes of the template
	Samples  []testedSample `json:"samples"`
}

// testedSample is the result of one sample.
type testedSample struct {
	Name        string              `json:"name"`
	Passed      bool                `json:"passed"`
	Differences []expect.Difference `json:"differences,omitempty"`
	Updated     string              `json:"updated,omitempty"`  // the golden document that was written
	Accepted    []expect.Difference `json:"accepted,omitempty"` // how it differs from the one that it replaced
	Pages       int                 `json:"pages,omitempty"`

	document []byte // nil if it could not be generated
}

// sampleRunner runs samples.
type sampleRunner struct {
	flags     engineFlags
	contents  docx.Contents
	only      *regexp.Regexp // selects samples by TEMPLATE/NAME; nil: all
	update    bool           // rewrite golden documents
	create    bool           // create golden documents of samples that have none
	keep      bool           // keep the documents of the results
	converter *converter     // nil if no sample has an expectation of pages, or if pages cannot be counted
	noPages   error          // why pages cannot be counted
}

// countPages starts to count the pages of documents, at most that many at once. Without a PDF engine, samples with an expectation of pages
// fail, and say why.
func (r *sampleRunner) countPages(settings *pdfConfig, documents int) error {
	flags := defaultPDFFlags
	var err error
	r.converter, err = newConverter(settings, &flags, "", documents)
	if err != nil {
		r.converter = nil
	}
	r.noPages = nil
	if missing, ok := errors.AsType[*pdf.UnavailableError](err); ok {
		r.noPages, err = missing, nil
	}
	return err
}

func (r *sampleRunner) close() error {
	if r.converter == nil {
		return nil
	}
	return r.converter.engine.Close()
}

// selected returns the samples of a template to run.
func (r *sampleRunner) selected(t *templateTests) []sample {
	var some []sample
	for _, s := range t.samples {
		if r.only == nil || r.only.MatchString(filepath.Base(t.path)+"/"+s.name) {
			some = append(some, s)
		}
	}
	return some
}

// needsPages reports whether a selected sample has an expectation of pages.
func (r *sampleRunner) needsPages(tests []templateTests) (documents int) {
	for i := range tests {
		for _, s := range r.selected(&tests[i]) {
			if s.expects.NeedsPages() {
				documents++
			}
		}
	}
	return documents
}

// options returns the options of the engine for a template: the flags, and where they are not set, the options of the samples.
func (r *sampleRunner) options(o sampleOptions) (docx.Options, error) {
	f := r.flags
	f.Locale, f.TimeZone, f.Missing = cmp.Or(f.Locale, o.Locale), cmp.Or(f.TimeZone, o.TimeZone), cmp.Or(f.Missing, o.Missing)
	f.Strict, f.Now = f.Strict || o.Strict, cmp.Or(f.Now, o.Now, sampleTime)
	return f.options()
}

// runAll runs the samples of templates, on all cores.
func (r *sampleRunner) runAll(ctx context.Context, tests []templateTests) ([]testedTemplate, error) {
	results := make([]testedTemplate, len(tests))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cores)
	for i := range tests {
		group.Go(func() error {
			path := tests[i].path
			results[i] = r.run(ctx, &tests[i], func() (*docx.Template, error) { return parseTemplateWith(path, r.contents) })
			return ctx.Err()
		})
	}
	return results, group.Wait()
}

// run runs the samples of one template, which open returns. It calls open only if there are samples to run.
func (r *sampleRunner) run(ctx context.Context, t *templateTests, open func() (*docx.Template, error)) testedTemplate {
	result := testedTemplate{Template: t.path, Samples: []testedSample{}}
	if t.wrong != nil {
		result.Failure = plainPaths(t.wrong)
		return result
	}
	samples := r.selected(t)
	if len(samples) == 0 {
		return result
	}
	options, err := r.options(t.options)
	if err != nil {
		result.Failure = fmt.Sprintf("%s: %s", filepath.Join(samplesFolder(t.path), optionsFile), err)
		return result
	}
	template, err := open()
	if err != nil {
		result.Failure = plainPaths(err)
		return result
	}
	for i := range samples {
		if ctx.Err() != nil {
			break
		}
		result.Samples = append(result.Samples, r.runSample(ctx, template, options, &samples[i]))
	}
	return result
}

// runSample generates the document of a sample, and compares it with what its author expects.
func (r *sampleRunner) runSample(ctx context.Context, template *docx.Template, options docx.Options, s *sample) testedSample {
	tested := testedSample{Name: s.name}
	generated, err := generateSample(ctx, template, options, s)
	if err == nil && generated.Failure == "" {
		tested.document = generated.document
		generated.Outline, err = expect.Outline(bytes.NewReader(tested.document), int64(len(tested.document)))
	}
	if err == nil && tested.document != nil && s.expects.NeedsPages() && r.converter != nil {
		_, about, _, failure := r.converter.convert(ctx, tested.document, func() {})
		generated.Pages, tested.Pages, err = about.Pages, about.Pages, failure
	}
	if err == nil {
		tested.Differences = s.expects.Check(&generated.Result)
		if s.expects.NeedsPages() && tested.document != nil && r.noPages != nil {
			tested.Differences = append(tested.Differences, expect.Difference{Kind: expect.Failed, Message: r.noPages.Error()})
		}
		err = r.compareGolden(s, &generated.Result, &tested)
	}
	if err != nil {
		tested.Differences = append(tested.Differences, expect.Difference{Kind: expect.Failed, Message: plainPaths(err)})
	}
	tested.Passed = len(tested.Differences) == 0
	if !r.keep {
		tested.document = nil
	}
	return tested
}

// generatedSample is the document of a sample.
type generatedSample struct {
	expect.Result
	document []byte
}

// generateSample generates the document of a sample. The error is one of the sample itself.
func generateSample(ctx context.Context, template *docx.Template, options docx.Options, s *sample) (*generatedSample, error) {
	text, err := readSmall(s.data)
	if err != nil {
		return nil, err
	}
	value, err := lang.Decode(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, inFile(s.data, err)
	}
	var out bytes.Buffer
	report, err := template.Execute(ctx, &out, value, options)
	g := &generatedSample{Result: expect.Result{Report: report}, document: out.Bytes()}
	switch {
	case errors.Is(err, docx.ErrIncomplete):
		g.Failure = strings.Join(append([]string{"The data is not complete."}, report.Errors...), " ")
	case err != nil:
		g.Failure = plainPaths(err)
	}
	return g, ctx.Err()
}

// compareGolden compares a document with the golden one, or replaces that one if the document meets all other expectations.
func (r *sampleRunner) compareGolden(s *sample, generated *expect.Result, tested *testedSample) error {
	if tested.document == nil || !s.exists && !r.create {
		return nil
	}
	var found []expect.Difference
	if s.exists {
		golden, err := outlineOf(s.golden)
		if err != nil {
			return err
		}
		found = expect.Compare(golden, generated.Outline)
	}
	if isEqual := s.exists && len(found) == 0; isEqual {
		return nil
	}
	if !r.update || len(tested.Differences) > 0 {
		tested.Differences = append(tested.Differences, found...)
		return nil
	}
	if err := writeGolden(s.golden, tested.document); err != nil {
		tested.Differences = append(tested.Differences, found...)
		return fmt.Errorf("%s was not written: %w", s.golden, err)
	}
	tested.Updated, tested.Accepted = s.golden, found
	return nil
}

// writeGolden writes a golden document. A link stays one.
func writeGolden(path string, document []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return writeAtomically(path, func(w io.Writer) error {
		_, err := w.Write(document)
		return err
	})
}

// outlineOf returns the outline of a file.
func outlineOf(path string) ([]expect.Line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	lines, err := expect.Outline(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}
