package generate

import (
	"context"
	"fmt"

	"platen/docgen"
	"platen/docx"
	"platen/pdf/finish"
)

// Preview generates the PDF of a document with the positions of its values. Its errors are those of Document. The PDF lacks the structure
// for screen readers.
func (g *Generator) Preview(ctx context.Context, c *docgen.Caller, r docgen.DocumentRequest) (*docgen.Preview, error) {
	r.OutputType, r.DestinationID = docgen.OutputPDF, nil
	order, err := g.service.OrderDocument(ctx, c, r)
	if err != nil {
		return nil, err
	}
	o := g.requested(c, order)
	place, err := o.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer place.Release()
	if err := o.available(docgen.OutputPDF); err != nil {
		return nil, unable(err.Error())
	}
	used, err := o.template(ctx)
	if err != nil {
		return nil, err
	}
	word, report, err := o.render(ctx, used, docgen.MaxMarks)
	if err != nil {
		return nil, err
	}
	options := pdfOptions(o.Options.PDF)
	options.Tagged = false // the structure would refer to the marks
	converted, err := o.convert(ctx, word, options)
	if err != nil {
		return nil, err
	}
	marked, err := finish.Marks(converted.PDF, docx.MarkAddress)
	if err != nil {
		return nil, fmt.Errorf("read the marks in a PDF: %w", err)
	}
	return previewOf(o, marked, report, converted.Fonts), nil
}

func previewOf(o *requested, marked *finish.Marked, report docx.Report, fonts *docgen.FontReport) *docgen.Preview {
	p := &docgen.Preview{
		Document: docgen.Document{Name: o.FileName, OutputType: docgen.OutputPDF, Content: marked.PDF, Pages: len(marked.Pages),
			Failures: failuresOf(report, fonts)},
		Values: make([]docgen.PreviewValue, len(report.Marks)), Omitted: report.OmittedMarks,
	}
	for _, size := range marked.Pages {
		p.PageSizes = append(p.PageSizes, docgen.PageSize(size))
	}
	for i, mark := range report.Marks {
		p.Values[i] = docgen.PreviewValue{Tag: mark.Tag, DataPath: mark.DataPath}
	}
	for _, mark := range marked.Marks {
		if mark.ID >= len(p.Values) { // a link of the template
			continue
		}
		for _, r := range mark.Rects {
			p.Values[mark.ID].Areas = append(p.Values[mark.ID].Areas, docgen.PreviewArea{
				Page: mark.Page, X: r.X, Y: r.Y, Width: r.Width, Height: r.Height,
			})
		}
	}
	return p
}
