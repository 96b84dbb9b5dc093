package generate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"platen/docgen"
	"platen/docx"
	"platen/docx/lang"
	"platen/fair"
	"platen/pdf"
	"platen/pdf/finish"
	"platen/pdf/pages"
	"platen/pdf/raster"
)

// requestWait is the maximum time that a request for a document waits until it is begun.
const requestWait = time.Minute

// ErrBusy is returned by [Generator.Document] if the server could not begin a document within a minute.
var ErrBusy = errors.New("too many documents are in progress")

// Document generates one document while the caller waits, before the documents of batches. It stores nothing, unless the request has a
// destination. The error is a [docgen.Error], which has CodeDocumentFailed if the document cannot be generated, ErrBusy, the cause of ctx,
// or an error of the server.
func (g *Generator) Document(ctx context.Context, c *docgen.Caller, r docgen.DocumentRequest) (document *docgen.Document, err error) {
	order, err := g.service.OrderDocument(ctx, c, r)
	if err != nil {
		return nil, err
	}
	o := g.requested(c, order)
	defer func() { g.metrics.requested(o.OutputType, g.now().Sub(o.begun), document, err) }()
	place, err := o.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer place.Release()
	if document, err = o.generate(ctx); err != nil || o.DestinationID == nil {
		return document, err
	}
	// Do not stop now if the caller does, who could not know whether the document is stored.
	document.Stored, err = g.service.StoreDocument(context.WithoutCancel(ctx), c, order, bytes.NewReader(document.Content))
	if err != nil {
		return nil, err
	}
	document.Name = document.Stored.Name // with a number if the name was taken
	return document, nil
}

// requested is a document that is generated on request.
type requested struct {
	*Generator
	*docgen.DocumentOrder
	claimant fair.Claimant
	begun    time.Time
}

func (g *Generator) requested(c *docgen.Caller, order *docgen.DocumentOrder) *requested {
	return &requested{Generator: g, DocumentOrder: order, begun: g.now(),
		claimant: fair.Claimant{User: c.User.ID, Weight: order.Weight, Interactive: true}}
}

// begin waits until the request can begin. The caller must release the slot.
func (o *requested) begin(ctx context.Context) (*fair.Slot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, requestWait, ErrBusy)
	defer cancel()
	return o.requests.Acquire(ctx, o.claimant)
}

func (o *requested) generate(ctx context.Context) (*docgen.Document, error) {
	if err := o.available(o.OutputType); err != nil {
		return nil, unable(err.Error())
	}
	used, err := o.template(ctx)
	if err != nil {
		return nil, err
	}
	word, report, err := o.render(ctx, used, 0)
	if err != nil {
		return nil, err
	}
	document := &docgen.Document{Name: o.FileName, OutputType: o.OutputType, Content: word, Failures: failuresOf(report, nil)}
	if o.OutputType == docgen.OutputDocx {
		return document, nil
	}
	converted, err := o.convert(ctx, word, pdfOptions(o.Options.PDF))
	if err != nil {
		return nil, err
	}
	document.Failures = failuresOf(report, converted.Fonts)
	if document.Pages, err = finish.Pages(converted.PDF); err != nil {
		return nil, fmt.Errorf("count the pages of a document: %w", err)
	}
	if o.OutputType == docgen.OutputPNG {
		document.Content = nil
		document.Images, err = o.draw(ctx, converted.PDF)
		return document, err
	}
	document.Content, err = finishPDF(converted.PDF, o.Options.PDF, o.begun, func() ([]byte, error) { return o.Input.Text(), nil })
	return document, err
}

// draw returns the images of the selected pages.
func (o *requested) draw(ctx context.Context, content []byte) ([]docgen.Image, error) {
	selection, err := o.Images.Selection()
	if err != nil {
		return nil, err
	}
	core, err := o.cores.Acquire(ctx, o.claimant)
	if err != nil {
		return nil, err
	}
	defer core.Release()
	var images []docgen.Image
	err = o.span(ctx, "draw pages", func(ctx context.Context) error {
		return o.pages.Draw(ctx, content, raster.Options{Pages: selection, DPI: int(cmp.Or(o.Images.DPI, docgen.DefaultDPI))},
			func(page raster.Page) error {
				images = append(images, docgen.Image{Page: page.Number, Width: page.Width, Height: page.Height, PNG: page.PNG})
				return nil
			})
	})
	_, missing := errors.AsType[*pages.MissingError](err)
	_, tooMuch := errors.AsType[*raster.LimitError](err)
	if missing || tooMuch || isRefused(err) {
		return nil, unable(err.Error())
	}
	return images, err
}

// unable returns the error for a document that cannot be generated.
func unable(why string) error {
	return docgen.FailDocument(docgen.Failures{Errors: []string{why}})
}

// template returns the compiled template.
func (o *requested) template(ctx context.Context) (*docx.Template, error) {
	used, err := o.templates.get(ctx, o.claimant, o.use())
	if err != nil {
		return nil, err
	}
	if used.broken != nil {
		return nil, docgen.FailDocument(used.broken.failures())
	}
	return used.template, nil
}

// use returns the template to use.
func (o *requested) use() templateUse {
	use := templateUse{versionID: o.DocumentOrder.VersionID, requester: o.Requester}
	if o.Inline != nil {
		use.inline = newInlineTemplate(o.Inline)
	}
	return use
}

// render generates the Word document, with marks at values up to a number.
func (o *requested) render(ctx context.Context, template *docx.Template, marks int) ([]byte, docx.Report, error) {
	options, wrong := o.engineOptions(o.Options, o.OutputType, o.begun)
	if len(wrong) > 0 { // a default of another version of the program
		return nil, docx.Report{}, docgen.Invalid(wrong...)
	}
	options.Marks = marks
	core, err := o.cores.Acquire(ctx, o.claimant)
	if err != nil {
		return nil, docx.Report{}, err
	}
	defer core.Release()
	data, err := lang.Decode(o.Input.Text())
	if err != nil {
		return nil, docx.Report{}, unable("The input data cannot be read: " + err.Error())
	}
	word, report, failure, err := o.execute(ctx, template, data, options)
	if crash, ok := errors.AsType[*panicError](err); ok {
		o.log.ErrorContext(ctx, "a document crashed the engine", "template_version", o.DocumentOrder.VersionID, "panic", crash.value,
			"stack", string(crash.stack))
	}
	if err != nil {
		return nil, report, err
	}
	if failure != nil {
		f := failuresOf(report, nil)
		if !errors.Is(failure, docx.ErrIncomplete) { // otherwise, the report says what is missing
			f.Errors = append([]string{failure.Error()}, f.Errors...)
		}
		return nil, report, docgen.FailDocument(f)
	}
	return word, report, nil
}

// execute generates a Word document in memory. failure is the engine's reason why there is none. err is a *panicError, or the cause of ctx.
func (g *Generator) execute(ctx context.Context, template *docx.Template, data lang.Value,
	options docx.Options) (document []byte, report docx.Report, failure, err error) {
	var buffer bytes.Buffer
	err = guarded(func(w io.Writer) error {
		return g.span(ctx, "render", func(ctx context.Context) (err error) {
			report, err = template.Execute(ctx, w, data, options)
			return err
		})
	}, &buffer)
	if _, crashed := errors.AsType[*panicError](err); crashed {
		return nil, docx.Report{}, nil, err
	}
	if err != nil && ctx.Err() != nil {
		return nil, report, nil, context.Cause(ctx)
	}
	if exceeded, ok := errors.AsType[*docx.BudgetError](err); ok {
		g.metrics.exceededBudget(exceeded.Budget)
	}
	return buffer.Bytes(), report, err, nil
}

// failuresOf returns the failures of a document with a report of the engine, and with the fonts of its PDF, which may be nil.
func failuresOf(report docx.Report, fonts *docgen.FontReport) docgen.Failures {
	f := docgen.Failures{Errors: report.Errors, Warnings: report.Warnings, Details: report.Details, Fonts: fonts,
		OmittedErrors: report.OmittedErrors, OmittedWarnings: report.OmittedWarnings}
	if fonts != nil {
		f.Warnings = slices.Concat(report.Warnings, fonts.Warnings())
	}
	return f
}

// convert converts the Word document to PDF, a second time in isolation if the first time fails because of the converter.
func (o *requested) convert(ctx context.Context, word []byte, options pdf.Options) (*pdf.Result, error) {
	request := pdf.Request{Document: word, Options: options}
	if o.Inline == nil {
		request.Kind = fmt.Sprintf("template version %d", o.DocumentOrder.VersionID)
	}
	result, err := o.convertNext(ctx, o.claimant, request)
	if suspect, ok := errors.AsType[*pdf.SuspectError](err); ok {
		o.log.WarnContext(ctx, "a PDF is converted in isolation", "user", o.claimant.User, "reason", suspect.Reason)
		request.Again = true
		result, err = o.convertNext(ctx, o.claimant, request)
	}
	if isRefused(err) {
		return nil, unable(err.Error())
	}
	return result, err
}
