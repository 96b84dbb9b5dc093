package server

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// The headers that describe a document in a response.
const (
	statusHeader   = "Docgen-Status"
	pagesHeader    = "Docgen-Page-Count"
	failuresHeader = "Docgen-Failures"
	fileHeader     = "Docgen-Output-File"
)

// maxFailuresHeader is the largest size of the header with the failures. Proxies commonly allow 8 KiB for all headers.
const maxFailuresHeader = 4 << 10

// sendDocument writes a document as the response: the content itself with headers about it, or all as JSON if the client accepts that.
func (a *api) sendDocument(c *call, d *docgen.Document) error {
	size := len(d.Content)
	for _, image := range d.Images {
		size += len(image.PNG)
	}
	if err := c.caller.Room(int64(size)); err != nil {
		return err
	}
	if acceptsJSON(c.r) {
		c.w.Header().Set("Content-Type", jsonType)
		return writeJSON(c.w, documentOf(d))
	}
	name, mediaType, content, err := fileOfDocument(d)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", disposition(name))
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if err := describeDocument(h, d); err != nil {
		return err
	}
	_, err = c.w.Write(content)
	return err
}

// acceptsJSON reports whether a client asks for JSON instead of the document. It must name the type: */* means any document.
func acceptsJSON(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept") {
		for accepted := range strings.SplitSeq(header, ",") {
			if t, params, err := mime.ParseMediaType(accepted); err == nil && t == jsonType && !refused(params["q"]) {
				return true
			}
		}
	}
	return false
}

// refused reports whether a quality value of RFC 9110, section 12.4.2, is 0: the client does not accept the type.
func refused(quality string) bool {
	q, err := strconv.ParseFloat(quality, 64)
	return err == nil && q == 0
}

func documentOf(d *docgen.Document) document {
	out := document{
		Type: "docgen_document", Name: d.Name, OutputType: d.OutputType, Status: d.Status(), Content: d.Content,
		Images: each(d.Images, func(i *docgen.Image) pageImage {
			return pageImage{Page: i.Page, Width: i.Width, Height: i.Height, Content: i.PNG}
		}),
		Fonts: fontReportOf(d.Failures.Fonts),
	}
	if d.Pages > 0 {
		out.PageCount = &d.Pages
	}
	if d.Failures.Any() {
		out.Failures.value = new(failuresOf(d.Failures.Bounded()))
	}
	if d.Stored != nil {
		out.OutputFile.value = &fileRef{ID: ID(d.Stored.ID), Type: typeFile}
	}
	return out
}

// fileOfDocument returns a document as one file: several page images are in a ZIP file.
func fileOfDocument(d *docgen.Document) (name, mediaType string, content []byte, err error) {
	if d.OutputType != docgen.OutputPNG {
		return d.Name, contentType(d.Name), d.Content, nil
	}
	if len(d.Images) == 1 {
		return d.Name, contentType(d.Name), d.Images[0].PNG, nil
	}
	base := strings.TrimSuffix(d.Name, path.Ext(d.Name))
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	for _, image := range d.Images {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%s-%d.png", base, image.Page), Method: zip.Store})
		if err == nil {
			_, err = w.Write(image.PNG)
		}
		if err != nil {
			return "", "", nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return "", "", nil, err
	}
	return base + ".zip", "application/zip", buffer.Bytes(), nil
}

// describeDocument sets the headers that describe a document.
func describeDocument(h http.Header, d *docgen.Document) error {
	h.Set(statusHeader, string(d.Status()))
	if d.Pages > 0 {
		h.Set(pagesHeader, strconv.Itoa(d.Pages))
	}
	if d.Stored != nil {
		h.Set(fileHeader, ID(d.Stored.ID).String())
	}
	if !d.Failures.Any() {
		return nil
	}
	text, err := failuresLine(d.Failures)
	h.Set(failuresHeader, text)
	return err
}

// headerFailures are the messages of a document in a header.
type headerFailures struct {
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	Omitted  int      `json:"omitted"`
}

// failuresLine returns the first errors and warnings that fit into a header, as JSON in ASCII.
func failuresLine(f docgen.Failures) (string, error) {
	out := headerFailures{Errors: []string{}, Warnings: []string{}, Omitted: f.Count()}
	text, err := marshal(out)
	line := asciiJSON(text)
	for _, list := range []struct {
		from []string
		to   *[]string
	}{{f.Errors, &out.Errors}, {f.Warnings, &out.Warnings}} {
		for _, message := range list.from {
			*list.to = append(*list.to, message)
			out.Omitted--
			text, err := marshal(out)
			longer := asciiJSON(text)
			if err != nil || len(longer) > maxFailuresHeader {
				return string(line), err
			}
			line = longer
		}
	}
	return string(line), err
}

// answersDocument documents the response and the multipart request.
func answersDocument(a *api, op *huma.Operation) {
	ok := op.Responses["200"]
	ok.Description = "The document, or, with Accept: application/json, an object with it."
	ok.Content[jsonType].Schema = a.schemaOf(document{})
	ok.Content["*/*"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	text := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
	applied := &huma.Param{Description: "The preferences of the header Prefer that the server followed; omitted without them.", Schema: text()}
	ok.Headers = map[string]*huma.Param{
		"Preference-Applied":  applied,
		"Content-Disposition": {Description: "attachment, with the name of the document.", Schema: text()},
		statusHeader:          {Description: "completed, or completed_with_error if something is missing in the document.", Schema: text()},
		pagesHeader:           {Description: "The number of pages; omitted for Word documents.", Schema: &huma.Schema{Type: huma.TypeInteger}},
		fileHeader:            {Description: "The id of the stored file; omitted without a destination_folder.", Schema: text()},
		failuresHeader: {Description: "A JSON object in ASCII with the first errors and warnings, of at most 4 KiB, and the number of " +
			"omitted ones; omitted if there are none.", Schema: text()},
	}
	op.Responses["202"] = a.jsonResponse("The job that generates the document, with the header Prefer.", exampleJob())
	op.Responses["202"].Headers = map[string]*huma.Param{
		"Preference-Applied": applied, "Location": {Description: "The URL of the job.", Schema: text(), Required: true},
	}
	describeForm(a, op, documentParts, map[string]any{
		"template": "…", "output_type": docgen.OutputPDF, "user_input": exampleDocumentRequest().Input,
	})
	fields := op.RequestBody.Content["multipart/form-data"].Schema
	fields.Properties["output_type"] = &huma.Schema{Type: huma.TypeString, Description: "The type of the document: docx, pdf, or png."}
}

func exampleDocumentRequest() createDocumentRequest {
	return createDocumentRequest{
		File: &templateFileRef{ID: exampleFile, Type: typeFile}, OutputType: docgen.OutputPDF, Name: "Invoice 4711",
		Input: userInput{new(docgen.Inputs).Parse([]byte(`{"customer":{"name":"Example Ltd"}}`))},
	}
}

func exampleDocument() document {
	return document{Type: "docgen_document", Name: "Invoice 4711.pdf", OutputType: docgen.OutputPDF, Status: docgen.StatusCompleted,
		PageCount: new(1), Content: []byte("%PDF-1.7 ..."), Images: []pageImage{}}
}
