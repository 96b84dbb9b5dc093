package client

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
)

// DocumentForm is a request for one document whose template comes with it.
type DocumentForm struct {
	Template     []byte // a Word document
	TemplateName string // its file name
	Input        json.RawMessage
	OutputType   string           // docx or pdf
	Name         string           // of the document; empty for the name of the template
	Options      *DocumentOptions // nil for the defaults
}

// Generate generates one document from a template in the request. Unlike [Client.CreateDocument], it sends the data as it is, with all
// digits of its numbers. JSON200 of the response has the document and what is missing in it.
func Generate(ctx context.Context, c *Client, f DocumentForm) (*CreateDocumentResponse, error) {
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	file, err := parts.CreateFormFile("template", f.TemplateName)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(f.Template); err != nil {
		return nil, err
	}
	fields := [][2]string{{"user_input", string(f.Input)}, {"output_type", f.OutputType}}
	if f.Name != "" {
		fields = append(fields, [2]string{"generated_file_name", f.Name})
	}
	if f.Options != nil {
		options, err := json.Marshal(f.Options)
		if err != nil {
			return nil, err
		}
		fields = append(fields, [2]string{"options", string(options)})
	}
	for _, field := range fields {
		if err := parts.WriteField(field[0], field[1]); err != nil {
			return nil, err
		}
	}
	if err := parts.Close(); err != nil {
		return nil, err
	}
	accept := "application/json"
	return call(ctx, c, &CreateDocumentResponse{}, "POST", pathOf("/docgen_documents"), &CreateDocumentParams{Accept: &accept},
		Form{parts.FormDataContentType(), bytes.NewReader(body.Bytes())}, nil)
}
