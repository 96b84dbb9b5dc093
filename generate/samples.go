package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"platen/docgen"
	"platen/docx"
	"platen/docx/expect"
	"platen/docx/lang"
	"platen/fair"
	"platen/pdf"
	"platen/pdf/finish"
)

// CheckSamples checks versions of templates with samples, as requested by a user, until no check waits. ErrUnfinished and *[PauseError] ask
// for another run.
func (g *Generator) CheckSamples(ctx context.Context, task docgen.CheckSamples) error {
	claimant := fair.Claimant{User: task.UserID, Weight: 1}
	ctx = fair.For(ctx, claimant)
	for begun := g.now(); ; {
		check, err := g.service.NextSample(ctx, task)
		if err != nil {
			return g.afterShortage(ctx, err, "user", task.UserID)
		}
		if check == nil {
			g.shortages.over(ctx, docgen.ShortOfDatabase)
			return nil
		}
		if err := g.checkSample(ctx, claimant, check); err != nil {
			return g.releaseSample(ctx, check, err)
		}
		if g.now().Sub(begun) > runBudget {
			return ErrUnfinished
		}
	}
}

// releaseSample lets a check wait again that an error of the server interrupted.
func (g *Generator) releaseSample(ctx context.Context, check *docgen.SampleCheck, cause error) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if err := g.service.ReleaseSample(last, check); err != nil {
		return errors.Join(cause, err)
	}
	if ctx.Err() != nil {
		return cause
	}
	if docgen.ShortageOf(cause) == docgen.NoShortage {
		g.log.ErrorContext(ctx, "a check with a sample was interrupted by an error of the server", "template_version", check.VersionID,
			"sample", check.Sample.Name, "error", cause)
		return &PauseError{For: faultPause, cause: cause}
	}
	return g.afterShortage(ctx, cause, "template_version", check.VersionID)
}

// sampleAbandoned is the failure of a sample whose check was interrupted by the end of a server too often.
const sampleAbandoned = "The server ended several times while it checked this sample, so it is not checked again. The operator can find " +
	"the cause in the log."

// sampleError is why a check could not be done although neither the data of the sample nor the server is at fault. It fails the sample,
// whatever is expected of the document.
type sampleError struct{ message, cause string }

func (f *sampleError) Error() string { return f.message + " " + f.cause }

// differences returns the fault as a difference.
func (f *sampleError) differences() []expect.Difference {
	return []expect.Difference{{Kind: expect.Failed, Message: f.message, Got: f.cause}}
}

// failed returns the difference of a check that could not be done.
func failed(why string) []expect.Difference { return (&sampleError{message: why}).differences() }

// checkSample does a check and stores its result. An error is one of the server, worth a retry.
func (g *Generator) checkSample(ctx context.Context, claimant fair.Claimant, check *docgen.SampleCheck) error {
	findings, err := g.sampleFindings(ctx, claimant, check)
	if fault, ok := errors.AsType[*sampleError](err); ok {
		findings.Differences, err = fault.differences(), nil
	}
	if err != nil {
		return err
	}
	return g.service.SaveSampleResult(ctx, check, len(findings.Differences) == 0, findings)
}

// sampleFindings does a check. The error can be a *[sampleError].
func (g *Generator) sampleFindings(ctx context.Context, claimant fair.Claimant,
	check *docgen.SampleCheck) (found docgen.SampleFindings, err error) {
	if check.Abandoned {
		return found, &sampleError{message: sampleAbandoned}
	}
	expected := new(expect.Expectations)
	if len(check.Sample.Expectations) > 0 {
		if expected, err = expect.Parse(check.Sample.Expectations); err != nil { // stored by another version of the program
			return found, &sampleError{"The expectations cannot be read.", err.Error()}
		}
	}
	used, err := g.sampleTemplate(ctx, claimant, check)
	if used != nil {
		found.Includes = used.files
	}
	if err != nil {
		return found, err
	}
	result, golden, document, err := g.renderSample(ctx, claimant, used.template, check)
	if err != nil {
		return found, err
	}
	if expected.NeedsPages() && result.Failure == "" {
		if result.Pages, err = g.countPages(ctx, claimant, check, document); isRefused(err) || errors.Is(err, errSuspect) {
			golden, err = append(golden, failed("The pages cannot be counted: "+err.Error())...), nil
		}
		if err != nil {
			return found, err
		}
	}
	found.Differences, found.Warnings, found.Pages = append(expected.Check(result), golden...), result.Report.Warnings, result.Pages
	return found, nil
}

// sampleTemplate returns the template of a check. The error is a *[sampleError] if the template cannot be used.
func (g *Generator) sampleTemplate(ctx context.Context, claimant fair.Claimant, check *docgen.SampleCheck) (*cachedTemplate, error) {
	const unusable = "The template cannot be used."
	used, err := g.templates.get(ctx, claimant, templateUse{versionID: check.VersionID})
	if lost, ok := errors.AsType[*docgen.Error](err); ok && !mayPass(err) &&
		(lost.Code == docgen.CodeNotFound || lost.Code == docgen.CodeContentDamaged) {
		return nil, &sampleError{unusable, lost.Message}
	}
	if err == nil && used.broken != nil {
		err = &sampleError{unusable, used.broken.Error()}
	}
	return used, err
}

// renderSample generates the document of a sample, and compares it with the golden document.
func (g *Generator) renderSample(ctx context.Context, claimant fair.Claimant, template *docx.Template,
	check *docgen.SampleCheck) (*expect.Result, []expect.Difference, []byte, error) {
	core, err := g.cores.Acquire(ctx, claimant)
	if err != nil {
		return nil, nil, nil, err
	}
	defer core.Release()
	result, document, err := g.executeSample(ctx, template, check)
	if err != nil || result.Failure != "" {
		return result, nil, nil, err
	}
	if result.Outline, err = expect.Outline(bytes.NewReader(document), int64(len(document))); err != nil {
		return nil, nil, nil, &sampleError{"The document cannot be compared.", err.Error()}
	}
	golden, err := g.compareGolden(ctx, check, result.Outline)
	return result, golden, document, err
}

// executeSample generates the document of a sample. The result has a failure if that is not possible with its data.
func (g *Generator) executeSample(ctx context.Context, template *docx.Template, check *docgen.SampleCheck) (*expect.Result, []byte, error) {
	now := g.now()
	if check.Sample.Time != nil {
		now = *check.Sample.Time
	}
	options, wrong := g.engineOptions(check.Sample.Options, docgen.OutputDocx, now)
	if len(wrong) > 0 { // from another version of the program
		return nil, nil, &sampleError{"The sample has an option that this server does not support.", wrong[0].Message}
	}
	data, err := lang.Decode(check.Sample.Input)
	if err != nil {
		return nil, nil, &sampleError{"The input data cannot be read.", err.Error()}
	}
	document, report, failure, err := g.execute(ctx, template, data, options)
	if crash, ok := errors.AsType[*panicError](err); ok {
		g.log.ErrorContext(ctx, "a sample crashed the engine", "template_version", check.VersionID, "sample", check.Sample.Name,
			"panic", crash.value, "stack", string(crash.stack))
		return nil, nil, &sampleError{message: sampleCrashed}
	}
	if err != nil {
		return nil, nil, err
	}
	result := &expect.Result{Report: report}
	switch {
	case errors.Is(failure, docx.ErrIncomplete):
		result.Failure = strings.Join(append([]string{"The data is not complete."}, report.Errors...), " ")
	case failure != nil:
		result.Failure = failure.Error()
	}
	return result, document, nil
}

// sampleCrashed is the failure of a sample that crashed the engine.
const sampleCrashed = "The document could not be generated because of an error in the server. The operator can find the cause in the log " +
	"under the version of the template."

// compareGolden compares a document with the golden document of the sample, if there is one.
func (g *Generator) compareGolden(ctx context.Context, check *docgen.SampleCheck, outline []expect.Line) ([]expect.Difference, error) {
	if check.Sample.GoldenID == 0 {
		return nil, nil
	}
	if check.Golden == nil {
		return failed(fmt.Sprintf("The golden document, file %d, does not exist anymore, is in the trash, or the user who saved the sample may "+
			"not download it.", check.Sample.GoldenID)), nil
	}
	content, err := g.read(ctx, check.Golden)
	if tooLarge, ok := errors.AsType[*sizeError](err); ok {
		return failed("The golden document " + tooLarge.Error() + "."), nil
	}
	if err != nil {
		return nil, err
	}
	golden, err := expect.Outline(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return failed("The golden document cannot be read: " + err.Error()), nil //nolint:nilerr // the result reports it
	}
	return expect.Compare(golden, outline), nil
}

// errSuspect is why the pages of a document are not counted that crashed LibreOffice.
var errSuspect = errors.New("the document crashed LibreOffice, or delayed others")

// countPages converts a document to PDF, and returns the number of its pages.
func (g *Generator) countPages(ctx context.Context, claimant fair.Claimant, check *docgen.SampleCheck, document []byte) (int, error) {
	if err := g.available(docgen.OutputPDF); err != nil {
		return 0, err
	}
	engine, err := g.engines.Acquire(ctx, claimant)
	if err != nil {
		return 0, err
	}
	defer engine.Release()
	converted, err := g.pdf.Convert(ctx, pdf.Request{
		Document: document, Options: pdfOptions(nil), Kind: fmt.Sprintf("template version %d", check.VersionID),
		OthersWait: func() bool { return g.engines.Waiting() > 0 },
	})
	if _, suspect := errors.AsType[*pdf.SuspectError](err); suspect {
		return 0, errSuspect
	}
	if err != nil {
		return 0, err
	}
	return finish.Pages(converted.PDF)
}
