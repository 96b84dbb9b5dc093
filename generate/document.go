package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"platen/docgen"
	"platen/docx"
	"platen/docx/lang"
	"platen/generate/internal/isolate"
	"platen/pdf"
)

// document generates one document of a claim and makes it durable. An error is one of the server, worth a retry; problems of the data are
// in the result.
func (s *slice) document(ctx context.Context, template *docx.Template, options docx.Options,
	job docgen.ClaimedJob) (result docgen.Result, err error) {
	g, begun := s.Generator, s.now()
	ctx, span := s.startDocument(ctx, job)
	defer func() { endDocument(span, result, err) }()
	result = docgen.Result{Job: job}
	rendered, err := s.begin(ctx, template, options, job)
	if unreadable, ok := errors.AsType[*lang.DataError](err); ok {
		result.Reason = docgen.FailedData
		result.Failures.Errors = []string{"The input data cannot be read: " + unreadable.Error()}
		return result, nil
	}
	if err != nil {
		return result, err
	}
	output, fonts, err := s.save(ctx, job, rendered)
	failure := rendered.wait()
	report := rendered.report
	var crash *panicError
	var exceeded *docx.BudgetError
	var suspect *pdf.SuspectError
	var unstarted *isolate.ServerError
	var died *isolate.DiedError
	failed := "" // why there is no document
	switch {
	case errors.As(err, &suspect):
		g.log.WarnContext(ctx, "a PDF will be converted in isolation", "job", job.ID, "reason", suspect.Reason)
		result.Isolate = true
		return result, nil
	case docgen.IsCode(err, docgen.CodeTooLarge):
		failed, result.Reason = err.Error(), docgen.FailedBudget
	case errors.As(failure, &exceeded):
		g.metrics.exceededBudget(exceeded.Budget)
		failed, result.Reason = failure.Error(), docgen.FailedBudget
	case errors.As(failure, &unstarted):
		return result, fmt.Errorf("job %d: %w", job.ID, failure)
	case failure != nil && ctx.Err() != nil: // the task ended, or the server stops: another try generates the document
		return result, fmt.Errorf("job %d: %w", job.ID, context.Cause(ctx))
	case errors.As(failure, &crash):
		g.log.ErrorContext(ctx, "a document crashed the engine", "job", job.ID, "panic", crash.value, "stack", string(crash.stack))
		report, failed, result.Reason = docx.Report{}, internalFailure, docgen.FailedServer
	case errors.As(failure, &died):
		g.log.ErrorContext(ctx, "a document ended the process that generated it in isolation", "job", job.ID, "how", died.How, "said", died.Said)
		failed, result.Reason = failure.Error(), docgen.FailedServer
	case errors.Is(failure, docx.ErrIncomplete): // the report says what is missing
	case failure != nil:
		failed = failure.Error()
	case isRefused(err):
		failed, result.Reason = err.Error(), docgen.FailedPDF
	case err != nil:
		return result, fmt.Errorf("job %d: %w", job.ID, err)
	default:
		result.Output = &output
		g.metrics.made(g.now().Sub(begun))
	}
	result.Failures = failuresOf(report, fonts)
	if failed != "" {
		result.Failures.Errors = append([]string{failed}, report.Errors...)
	}
	result.Failures = result.Failures.Bounded() // a task holds them until all of its documents are done
	return result, nil
}

// save stores a document durably while it is rendered, as the file type of the batch. For a PDF, it returns its fonts.
func (s *slice) save(ctx context.Context, job docgen.ClaimedJob, rendered io.Reader) (docgen.Output, *docgen.FontReport, error) {
	g := s.Generator
	if s.claim.OutputType != docgen.OutputPDF {
		output, err := g.service.SaveOutput(ctx, job, rendered)
		return output, nil, err
	}
	document, err := io.ReadAll(rendered)
	if err != nil {
		return docgen.Output{}, nil, err
	}
	converted, fonts, err := s.convert(ctx, job, document)
	if err != nil {
		return docgen.Output{}, nil, err
	}
	output, err := g.service.SaveOutput(ctx, job, bytes.NewReader(converted))
	return output, fonts, err
}

// begin starts to render a document as soon as a core is free.
func (s *slice) begin(ctx context.Context, template *docx.Template, options docx.Options, job docgen.ClaimedJob) (*rendering, error) {
	core, err := s.cores.Acquire(ctx, s.claimant)
	if err != nil {
		return nil, err
	}
	s.endWait(ctx)
	if job.First {
		s.metrics.waited(s.claim.Lane, s.now().Sub(s.claim.CreatedAt))
	}
	input, err := s.service.Input(ctx, job.ID)
	if err != nil {
		core.Release()
		return nil, err
	}
	if s.isIsolated() {
		return s.renderIsolated(ctx, input, options, core.Release)
	}
	data, err := lang.Decode(input)
	if err != nil {
		core.Release()
		return nil, err
	}
	return s.render(ctx, template, data, options, core.Release), nil
}

// rendering is a document that is generated while it is read.
type rendering struct {
	*piped
	report docx.Report
	cancel context.CancelCauseFunc
}

// wait is that of piped. If the document is no longer read, the engine stops, even if it writes nothing for long.
func (r *rendering) wait() error {
	r.cancel(errReaderStopped)
	return r.piped.wait()
}

// render starts to generate a document. It calls done when the engine has finished, which is soon after ctx ends.
func (g *Generator) render(ctx context.Context, template *docx.Template, data lang.Value, options docx.Options, done func()) *rendering {
	ctx, cancel := context.WithCancelCause(ctx)
	rendered := &rendering{cancel: cancel}
	rendered.piped = pipe(func(w io.Writer) error {
		defer done()
		return g.span(ctx, "render", func(ctx context.Context) (err error) {
			rendered.report, err = template.Execute(ctx, w, data, options)
			return err
		})
	})
	return rendered
}
