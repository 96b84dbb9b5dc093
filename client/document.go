package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
)

// DocumentForm is a request for one document. Unlike [CreateDocumentRequest], it has the data as it is: with all digits of its numbers, and
// its members in order.
type DocumentForm struct {
	Template     []byte // a Word document that comes with the request
	TemplateName string // its file name
	TemplateID   string // of a stored template; instead of Template
	Input        json.RawMessage
	OutputType   string           // docx, pdf, or png
	Name         string           // of the document; empty for the name of the template
	FolderID     string           // of the folder to store the document in; empty not to store it
	Options      *DocumentOptions // nil for the defaults
	Prefer       string           // the header Prefer; empty for none
}

// Generate generates one document. JSON200 of the response has the document and what is missing in it, JSON202 a job if the form prefers
// one.
func Generate(ctx context.Context, c *Client, f DocumentForm) (*CreateDocumentResponse, error) {
	parts := newParts()
	parts.template(f.Template, f.TemplateName)
	parts.ref("file", "file", f.TemplateID)
	parts.ref("destination_folder", "folder", f.FolderID)
	parts.field("user_input", string(f.Input))
	parts.field("output_type", f.OutputType)
	parts.field("generated_file_name", f.Name)
	if f.Options != nil {
		parts.json("options", f.Options)
	}
	form, err := parts.form()
	if err != nil {
		return nil, err
	}
	params := &CreateDocumentParams{Accept: new("application/json")}
	if f.Prefer != "" {
		params.Prefer = &f.Prefer
	}
	return call(ctx, c, &CreateDocumentResponse{}, "POST", pathOf("/docgen_documents"), params, form, nil)
}

// CheckForm is a request to check data with a stored template. Unlike [CheckRequest], it has the data as it is.
type CheckForm struct {
	TemplateID string
	Input      json.RawMessage
	Options    *SampleOptions // nil for the defaults
}

// CheckData checks data with a template.
func CheckData(ctx context.Context, c *Client, f CheckForm) (*CheckTemplateResponse, error) {
	parts := newParts()
	parts.ref("file", "file", f.TemplateID)
	parts.field("user_input", string(f.Input))
	if f.Options != nil {
		parts.json("options", f.Options)
	}
	form, err := parts.form()
	if err != nil {
		return nil, err
	}
	return call(ctx, c, &CheckTemplateResponse{}, "POST", pathOf("/docgen_checks"), nil, form, nil)
}

// formParts builds a multipart form. It keeps the first error.
type formParts struct {
	body   bytes.Buffer
	writer *multipart.Writer
	err    error
}

func newParts() *formParts {
	p := &formParts{}
	p.writer = multipart.NewWriter(&p.body)
	return p
}

// template adds a template, unless it is nil.
func (p *formParts) template(content []byte, name string) {
	if content == nil || p.err != nil {
		return
	}
	var file io.Writer
	if file, p.err = p.writer.CreateFormFile("template", name); p.err == nil {
		_, p.err = file.Write(content)
	}
}

// field adds a text, unless it is empty.
func (p *formParts) field(name, text string) {
	if text != "" && p.err == nil {
		p.err = p.writer.WriteField(name, text)
	}
}

// json adds a value as JSON.
func (p *formParts) json(name string, value any) {
	text, err := json.Marshal(value)
	if p.err == nil {
		p.err = err
	}
	p.field(name, string(text))
}

// ref adds a reference to an object, unless its id is empty.
func (p *formParts) ref(name, kind, id string) {
	if id != "" {
		p.json(name, map[string]string{"id": id, "type": kind})
	}
}

// form returns the complete form.
func (p *formParts) form() (Form, error) {
	if p.err == nil {
		p.err = p.writer.Close()
	}
	return Form{p.writer.FormDataContentType(), bytes.NewReader(p.body.Bytes())}, p.err
}
