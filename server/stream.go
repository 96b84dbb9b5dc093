package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// streamMemory is the memory for a batch whose data streams: a portion that is being stored, and a row that is being read.
const streamMemory = 16 << 20

// streamedBatchRequest is the part attributes of a streamed batch: a batch without documents.
type streamedBatchRequest struct {
	File        templateFileRef `json:"file" doc:"The template."`
	FileVersion *fileVersionRef `json:"file_version,omitempty" doc:"A version of the template (default: its version in use). You can also send it as file.file_version."`
	InputSource string          `json:"input_source" enum:"api"`
	Destination folderRef       `json:"destination_folder" doc:"The folder for the documents; 0 is the root folder of the caller."`
	OutputType  string          `json:"output_type" enum:"docx,pdf" doc:"The type of the documents."`
	Options     *batchOptions   `json:"options,omitempty" doc:"How to generate the documents."`
	Format      string          `json:"data_format,omitempty" enum:"csv,ndjson,json" doc:"The format of the part data (default: its Content-Type, or the extension of its file name). csv: a heading, and one document on each line. ndjson: one element of document_generation_data on each line. json: an array of them."`
	Name        string          `json:"generated_file_name,omitempty" minLength:"1" doc:"The file name of documents whose row has none. It can have tags for values of the row." example:"Invoice {{number}}"`
	CSV         *csvForm        `json:"csv,omitempty" doc:"How to read a CSV."`
}

type csvForm struct {
	Delimiter string   `json:"delimiter,omitempty" minLength:"1" doc:"The character between cells: a comma, a semicolon, a tab, or | (default: the most frequent one in the headings)." example:";"`
	GroupBy   []string `json:"group_by,omitempty" doc:"The headings of the columns that are the same on all lines of a document. Consecutive lines with the same values become one document, and each adds an item to the lists whose heading has []." example:"[\"order\"]"`
}

// createStreamedBatch creates a batch from the parts of a form, attributes and data. The data streams from the connection to the database.
func (a *api) createStreamedBatch(ctx context.Context, c *call) (*batchReply, error) {
	if err := wantMediaType(c.r, "multipart/form-data"); err != nil {
		return nil, err
	}
	limits := a.service.Limits()
	if c.r.ContentLength > limits.StreamedBytes+maxPartsBytes {
		return nil, tooLarge(limits.StreamedBytes)
	}
	if err := c.hold(a.in.memory, streamMemory, tooManyBytes); err != nil {
		return nil, err
	}
	c.r.Body = io.NopCloser(c.openBody(limits.StreamedBytes+maxPartsBytes, true))
	parts, err := c.r.MultipartReader()
	if err != nil {
		return nil, failf(docgen.CodeBadRequest, "The body is not valid multipart/form-data: the Content-Type header has no boundary.")
	}
	var request streamedBatchRequest
	if err := c.readFirst(parts, &request); err != nil {
		return nil, err
	}
	part, err := c.streamPart(parts, "data")
	if err != nil {
		return nil, err
	}
	batch, format, err := request.parse(part)
	if err != nil {
		return nil, err
	}
	data := &dataPart{part: part, parts: parts, call: c}
	if request.Options != nil && request.Options.DryRun {
		run, err := a.service.TryData(ctx, c.caller, batch, format, data)
		return triedReply(&run, err)
	}
	id, err := a.service.AcceptBatch(ctx, c.caller, batch, format, data)
	return createdReply(id, err)
}

// parse returns the batch without its documents, and the format of the data.
func (r *streamedBatchRequest) parse(part *multipart.Part) (docgen.NewBatch, docgen.DataFormat, error) {
	whole := createBatchRequest{
		File: r.File, FileVersion: r.FileVersion, InputSource: r.InputSource, Destination: r.Destination, OutputType: r.OutputType,
		Options: r.Options,
	}
	format := docgen.DataFormat{Format: r.Format, Name: r.Name}
	if r.CSV != nil {
		format.CSV = docgen.CSVForm(*r.CSV)
	}
	problems := whole.oneVersion()
	if format.Format == "" {
		if format.Format = formatOf(part); format.Format == "" {
			problems = append(problems, parameterProblem("data_format", "the format of the part data is unknown; send data_format "+
				"csv, ndjson, or json"))
		}
	}
	return whole.batch(), format, docgen.Invalid(problems...)
}

// dataTypes are the media types and the extensions of the formats of data.
var dataTypes = map[string]string{
	"text/csv": docgen.FormatCSV, "application/csv": docgen.FormatCSV, "application/x-ndjson": docgen.FormatNDJSON,
	"application/jsonl": docgen.FormatNDJSON, "application/json": docgen.FormatJSON,
	".csv": docgen.FormatCSV, ".tsv": docgen.FormatCSV, ".ndjson": docgen.FormatNDJSON, ".jsonl": docgen.FormatNDJSON,
	".json": docgen.FormatJSON,
}

// formatOf returns the format of a part, or "" if it is unknown.
func formatOf(part *multipart.Part) string {
	kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if format := dataTypes[kind]; format != "" {
		return format
	}
	return dataTypes[strings.ToLower(path.Ext(part.FileName()))]
}

// readFirst reads the part attributes, which must come first.
func (c *call) readFirst(parts *multipart.Reader, attributes any) error {
	part, err := c.streamPart(parts, "attributes")
	if err != nil {
		return err
	}
	return c.readAttributes(part, attributes)
}

// streamPart returns the next part of a streamed batch, which must have the given name. The part is not decoded.
func (c *call) streamPart(parts *multipart.Reader, name string) (*multipart.Part, error) {
	part, err := parts.NextRawPart()
	switch {
	case errors.Is(err, io.EOF):
		return nil, docgen.Invalid(missingPart(name))
	case err != nil:
		return nil, c.unreadableParts()
	case part.FormName() == name:
		return part, nil
	case part.FormName() == "data":
		return nil, failf(codeParts, "The part attributes must come before the part data.")
	}
	return nil, docgen.Invalid(missingPart(name), strangeDataPart(part))
}

func strangeDataPart(part *multipart.Part) docgen.Problem {
	return parameterProblem(part.FormName(), "a streamed batch has the parts attributes and data, in this order, and no others")
}

// A dataPart is the data of a streamed batch. The body must end with it.
type dataPart struct {
	part  io.Reader
	parts *multipart.Reader
	call  *call
	ended bool
}

func (d *dataPart) Read(p []byte) (int, error) {
	n, err := d.part.Read(p)
	switch {
	case err == io.EOF && !d.ended:
		d.ended = true
		if part, after := d.parts.NextRawPart(); after == nil {
			return n, docgen.Invalid(strangeDataPart(part))
		} else if !errors.Is(after, io.EOF) {
			return n, d.call.unreadableParts()
		}
	case err != nil && err != io.EOF:
		return n, d.call.unreadableParts()
	}
	return n, err
}

// streamedBody documents the parts of a streamed batch.
func (a *api) streamedBody(op *huma.Operation) {
	example := exampleStreamedBatch()
	op.RequestBody.Content["multipart/form-data"] = &huma.MediaType{
		Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"attributes", "data"},
			Properties: map[string]*huma.Schema{
				"attributes": a.schemaOf(example),
				"data":       {Type: huma.TypeString, Format: "binary", Description: "The documents: CSV, NDJSON, or a JSON array."},
			},
		},
		Encoding: map[string]*huma.Encoding{"attributes": {ContentType: "application/json"}},
		Example:  map[string]any{"attributes": example, "data": "number;customer.name\r\n4711;Ada\r\n"},
	}
}

func exampleStreamedBatch() streamedBatchRequest {
	whole := exampleBatch()
	return streamedBatchRequest{
		File: whole.File, InputSource: whole.InputSource, Destination: whole.Destination, OutputType: whole.OutputType,
		Format: docgen.FormatCSV, Name: "Invoice {{number}}",
	}
}
