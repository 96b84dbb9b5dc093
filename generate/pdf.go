package generate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"platen/docgen"
	"platen/fair"
	"platen/pdf"
	"platen/pdf/finish"
)

// available returns an error if this server cannot generate documents of a type.
func (g *Generator) available(outputType string) error {
	switch {
	case outputType == docgen.OutputDocx:
		return nil
	case g.pdf == nil:
		return &pdf.UnavailableError{Reason: "PDFs are not available: this server was started without a PDF engine."}
	}
	if err := g.pdf.Available(); err != nil || outputType != docgen.OutputPNG {
		return err
	}
	if g.pages == nil {
		return &pdf.UnavailableError{Reason: "Page images are not available: this server was started without a program that draws pages."}
	}
	return g.pages.Available()
}

// convert converts a document to PDF with the options of its batch, and returns the fonts of the PDF.
func (s *slice) convert(ctx context.Context, job docgen.ClaimedJob, document []byte) ([]byte, *docgen.FontReport, error) {
	claim := s.claim
	result, err := s.convertNext(ctx, s.claimant, pdf.Request{
		Document: document, Options: pdfOptions(claim.Options.PDF), Again: claim.Lane == docgen.LaneIsolated,
		Kind: fmt.Sprintf("template version %d", claim.TemplateVersionID),
	})
	if err != nil {
		return nil, nil, err
	}
	input := func() ([]byte, error) { return s.service.Input(ctx, job.ID) }
	finished, err := finishPDF(result.PDF, claim.Options.PDF, claim.CreatedAt, input)
	if err != nil {
		return nil, nil, fmt.Errorf("job %d: %w", job.ID, err)
	}
	return finished, result.Fonts, nil
}

// convertNext converts a document as soon as the engine is free. Retries have a worker of their own.
func (g *Generator) convertNext(ctx context.Context, claimant fair.Claimant, request pdf.Request) (*pdf.Result, error) {
	if !request.Again {
		engine, err := g.engines.Acquire(ctx, claimant)
		if err != nil {
			return nil, err
		}
		defer engine.Release()
		request.OthersWait = func() bool { return g.engines.Waiting() > 0 }
	}
	var result *pdf.Result
	err := g.span(ctx, "convert to PDF", func(ctx context.Context) (err error) {
		result, err = g.pdf.Convert(ctx, request)
		return err
	})
	return result, err
}

// finishPDF applies the options that are independent of the engine to a PDF: it attaches the input, and encrypts.
func finishPDF(content []byte, o *docgen.PDFOptions, created time.Time, input func() ([]byte, error)) ([]byte, error) {
	if o != nil && o.AttachData {
		data, err := input()
		if err != nil {
			return nil, err
		}
		content, err = finish.Attach(content, []finish.File{{
			Name: dataFile, MIMEType: "application/json", Description: "The data of the document",
			Modified: created, Relationship: finish.Source, Content: data,
		}})
		if err != nil {
			return nil, fmt.Errorf("attach the data to the PDF: %w", err)
		}
	}
	if p := protectionOf(o); p != nil {
		encrypted, err := finish.Encrypt(content, *p)
		if err != nil {
			return nil, fmt.Errorf("encrypt the PDF: %w", err)
		}
		return encrypted, nil
	}
	return content, nil
}

// dataFile is the name of the data that is attached to a PDF.
const dataFile = "data.json"

// protectionOf returns the encryption of the PDFs of a batch, or nil for none.
func protectionOf(o *docgen.PDFOptions) *finish.Protection {
	p := o.Protection()
	if p == nil {
		return nil
	}
	return &finish.Protection{
		UserPassword: string(p.Password), OwnerPassword: string(p.OwnerPassword),
		Permissions: finish.Permissions{
			Print: p.Print == docgen.PrintAll, PrintDraft: p.Print != docgen.PrintNone,
			Copy: p.Copy, Change: p.Change, Comment: p.Comment, FillForms: p.FillForms, Assemble: p.Assemble,
		},
	}
}

// fontWarnings returns warnings about the fonts of a template, for PDFs; nothing if PDFs are not available.
func (g *Generator) fontWarnings(ctx context.Context, of templateUse) ([]string, error) {
	if g.available(docgen.OutputPDF) != nil {
		return nil, nil //nolint:nilerr // the jobs report it
	}
	template, err := g.source(ctx, of)
	if err != nil {
		return nil, err
	}
	fonts, err := g.pdf.Fonts(template)
	if err != nil { // its errors as a template are already known
		g.log.DebugContext(ctx, "the fonts of a template cannot be read", "version", of.versionID, "error", err)
		return nil, nil
	}
	return fonts.Warnings(), nil
}

// isRefused reports whether an error is due to the document or to missing software: a retry would not help.
func isRefused(err error) bool {
	_, refused := errors.AsType[*pdf.DocumentError](err)
	_, unavailable := errors.AsType[*pdf.UnavailableError](err)
	return refused || unavailable
}

// pdfOptions converts the options of a batch for the engine.
func pdfOptions(o *docgen.PDFOptions) pdf.Options {
	options := pdf.Options{Tagged: o.IsTagged(), Bookmarks: o.HasBookmarks()}
	if o == nil {
		return options
	}
	options.Archive, options.Watermark = pdf.Archive(o.Standard), o.Watermark
	if p := o.Pictures; p != nil {
		options.Pictures.Lossless = p.Lossless
		if p.Quality != nil {
			options.Pictures.Quality = int(*p.Quality)
		}
		if p.MaxDPI != nil {
			options.Pictures.MaxDPI = int(*p.MaxDPI)
		}
	}
	return options
}

// WaitingForPDF returns the number of generated documents that wait for their turn with the PDF engine.
func (g *Generator) WaitingForPDF() int { return g.engines.Waiting() }
