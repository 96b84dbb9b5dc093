package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"platen/pdf"
	"platen/pdf/font"
)

// checkOffice converts a document like the server.
func (c *doctorCmd) checkOffice(ctx context.Context) finding {
	program, err := c.installed()
	if err != nil && c.LibreOffice != "" { // it was configured explicitly
		return wrong("", "%v", err)
	}
	if err != nil {
		return warn("Word documents do not need it.", "%v", err)
	}
	if err := c.convertPage(ctx); err != nil {
		return wrong("Make sure that it is completely installed (Debian and Ubuntu: apt-get install --reinstall "+
			"libreoffice-writer-nogui), and that it can write to --pdf-folder.",
			"the one in %s cannot convert documents: %v", program, err)
	}
	took := c.page.Took.Seconds()
	made := fine("%s in %s converted a page in %.2f s, after %.1f s to start", c.page.Maker.Version, program, took, c.pageTook.Seconds()-took)
	made.Remedy = c.page.Maker.Advice
	return made
}

// convertPage converts a page to PDF.
func (c *doctorCmd) convertPage(ctx context.Context) (err error) {
	page, err := pageOfFonts()
	if err != nil {
		return err
	}
	settings := c.pdfConfig
	settings.PDFQuarantine, settings.PDFWorkers = keepNothing, 1
	engine, err := settings.engine(slog.New(slog.DiscardHandler), nil, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	began := time.Now()
	if c.page, err = pdf.Convert(ctx, engine, pdf.Request{Document: page}); err != nil {
		return err
	}
	c.pageTook = time.Since(began)
	return nil
}

// checkProtection reports how well the sandbox confines untrusted documents.
func (c *doctorCmd) checkProtection(context.Context) finding {
	if c.page == nil {
		return finding{}
	}
	if missing := c.page.Maker.Missing; len(missing) > 0 {
		return warn("Until this is fixed, convert only documents from trusted authors, or start the server with --pdf-sandbox=require, "+
			"which refuses to start in this state.",
			"the sandbox is incomplete; if a document takes over LibreOffice, %s", strings.Join(missing, "; "))
	}
	return fine("a document that takes over LibreOffice has no access to the network, programs, or files, except fonts and system files")
}

// usualFonts are the most common fonts in Word documents for which free fonts with the same widths exist.
var usualFonts = []string{"Arial", "Calibri", "Cambria", "Courier New", "Times New Roman"}

// pageOfFonts returns a Word document with one line in each of the usual fonts.
func pageOfFonts() ([]byte, error) {
	const (
		head  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
		types = head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
		rels = head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`
	)
	var body strings.Builder
	body.WriteString(head + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`)
	for _, name := range usualFonts {
		fmt.Fprintf(&body, `<w:p><w:r><w:rPr><w:rFonts w:ascii=%[1]q w:hAnsi=%[1]q/></w:rPr><w:t>This line is set in `+
			`%[1]s.</w:t></w:r></w:p>`, name)
	}
	body.WriteString(`</w:body></w:document>`)
	var page bytes.Buffer
	archive := zip.NewWriter(&page)
	for _, part := range [][2]string{{"[Content_Types].xml", types}, {"_rels/.rels", rels}, {"word/document.xml", body.String()}} {
		w, err := archive.Create(part[0])
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, part[1]); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return page.Bytes(), err
}

// checkFonts reports the usual fonts that have no replacement with the same widths.
func (c *doctorCmd) checkFonts(context.Context) finding {
	if c.page == nil || c.page.Fonts == nil {
		return finding{}
	}
	const fonts = "select a folder with the original fonts with --pdf-fonts"
	remedy, missing := "For the same layout as in Word, "+fonts+".", []string{}
	for _, f := range c.page.Fonts.Fonts {
		if f.Status == font.Substituted {
			remedy = "Debian and Ubuntu: apt-get install fonts-liberation2 fonts-crosextra-carlito fonts-crosextra-caladea; or " + fonts + "."
		}
		if f.Status == font.Substituted || f.WidthMismatch != nil {
			missing = append(missing, fmt.Sprintf("%s (%s is used)", f.Name, f.Used))
		}
	}
	if len(missing) > 0 {
		return warn(remedy, "line breaks differ from Word for text in %s", strings.Join(missing, ", "))
	}
	return fine("%s, or fonts with the same widths, are installed", strings.Join(usualFonts, ", "))
}

// checkPageImages reports whether pages of PDFs can be drawn as images.
func checkPageImages(context.Context) finding {
	program, err := drawsPages()
	if err != nil {
		return warn("Other documents do not need it.", "%v", err)
	}
	return fine("%s draws the pages of PDFs", program)
}

// checkMemory reports how the memory is divided, and whether it is enough.
func (c *doctorCmd) checkMemory(context.Context) finding {
	plan, err := c.planMemory()
	if err != nil {
		return wrong("", "%v", err)
	}
	message := fmt.Sprintf("%s: %s for %d LibreOffice processes, a spare one, and one in isolation, %s for the server (template "+
		"cache %s, requests in flight %s, %d connections)",
		inGiB(plan.Total), inGiB(plan.Office), plan.Workers, inGiB(plan.GoLimit), byteSize(plan.TemplateCache).rounded(),
		byteSize(plan.InFlight).rounded(), plan.Connections)
	if plan.Workers == 0 {
		message = fmt.Sprintf("%s: %s for the server (template cache %s, requests in flight %s, %d connections)",
			inGiB(plan.Total), inGiB(plan.GoLimit), byteSize(plan.TemplateCache).rounded(), byteSize(plan.InFlight).rounded(), plan.Connections)
	}
	if len(plan.Notes) > 0 {
		return warn(strings.Join(plan.Notes, "; ")+".", "%s", message)
	}
	return fine("%s", message)
}
