package server

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"unicode/utf8"

	"platen/docgen"
)

// The kinds of the parts of a multipart request.
type partKind int

const (
	partText partKind = iota
	partJSON
	partFile
)

// documentParts are the parts of a multipart request for a document: the fields of createDocumentRequest.
var documentParts = map[string]partKind{
	"file": partJSON, "file_version": partJSON, "template": partFile, "output_type": partText, "generated_file_name": partText,
	"user_input": partJSON, "destination_folder": partJSON, "options": partJSON,
}

// An inlineFile is a file in a part of a multipart request.
type inlineFile struct {
	name    string
	content []byte
}

// checkParts are the parts of a multipart request for a check: the fields of checkRequest.
var checkParts = map[string]partKind{
	"file": partJSON, "file_version": partJSON, "template": partFile, "user_input": partJSON, "options": partJSON, "annotated": partJSON,
}

// readTemplateFields returns the fields of a request with a template as a JSON object. The template of a multipart request is separate.
func (a *api) readTemplateFields(c *call, known map[string]partKind) (text []byte, template *inlineFile, err error) {
	limit := int64(maxInlineTemplate+a.service.Limits().InputBytes) + maxJSONBytes
	mediaType, parameters, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/form-data" {
		text, err := c.readText(limit + maxInlineTemplate/3) // Base64
		return text, nil, err
	}
	if err := wantMediaType(c.r, mediaType); err != nil {
		return nil, nil, err
	}
	if c.r.ContentLength > limit {
		return nil, nil, tooLarge(limit)
	}
	body, err := c.readAll(limit)
	if err != nil {
		return nil, nil, err
	}
	form := templateForm{known: known, seen: map[string]bool{}}
	if err := form.read(multipart.NewReader(bytes.NewReader(body), parameters["boundary"])); err != nil {
		return nil, nil, err
	}
	if len(form.problems) > 0 {
		return nil, nil, docgen.Invalid(form.problems...)
	}
	return append(append([]byte{'{'}, bytes.Join(form.fields, []byte{','})...), '}'), form.template, nil
}

// A templateForm collects the parts of a multipart request with a template.
type templateForm struct {
	known    map[string]partKind
	fields   [][]byte // as members of a JSON object
	template *inlineFile
	seen     map[string]bool
	problems []docgen.Problem
}

func (f *templateForm) read(parts *multipart.Reader) error {
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return failf(docgen.CodeBadRequest, "The body is not valid multipart/form-data.")
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return failf(docgen.CodeBadRequest, "The body is not valid multipart/form-data.")
		}
		if len(f.problems) == maxProblems {
			return nil
		}
		if err := f.add(part.FormName(), part.FileName(), content); err != nil {
			return err
		}
	}
}

// add adds a part.
func (f *templateForm) add(name, fileName string, content []byte) error {
	kind, known := f.known[name]
	switch {
	case !known:
		f.problems = append(f.problems, parameterProblem(name, quoteParameter(name)+" is not a part of this request; its parts are "+
			strings.Join(slices.Sorted(maps.Keys(f.known)), ", ")))
	case f.seen[name]:
		f.problems = append(f.problems, parameterProblem(name, quoteParameter(name)+" must be sent once"))
	case kind == partFile:
		f.template = &inlineFile{fileName, content}
	case kind == partText:
		return f.addText(name, content)
	default:
		return f.addJSON(name, content)
	}
	f.seen[name] = true
	return nil
}

func (f *templateForm) addText(name string, content []byte) error {
	if !utf8.Valid(content) {
		f.problems = append(f.problems, parameterProblem(name, quoteParameter(name)+" must be UTF-8"))
		return nil
	}
	text, err := marshal(string(content))
	f.addField(name, text)
	return err
}

// addJSON adds a part with JSON. A mistake in it is reported with its position in the part.
func (f *templateForm) addJSON(name string, content []byte) error {
	if !utf8.Valid(content) {
		f.problems = append(f.problems, parameterProblem(name, quoteParameter(name)+" must be JSON in UTF-8"))
		return nil
	}
	d := docgen.NewJSONDecoder(content)
	why := ""
	if err := d.SkipValue(); err != nil {
		why = "must be JSON: " + syntaxProblem(content, err)
	} else if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		why = "must be JSON: " + problemAt(content, int(d.InputOffset()), "unexpected data after the end of the value")
	}
	if why != "" {
		if bytes.HasPrefix(content, []byte("PK")) {
			why = "must be JSON; send a Word document as the part template"
		}
		f.problems = append(f.problems, parameterProblem(name, quoteParameter(name)+" "+why))
		return nil
	}
	f.addField(name, content)
	return nil
}

func (f *templateForm) addField(name string, value []byte) {
	f.seen[name] = true
	f.fields = append(f.fields, slices.Concat([]byte(`"`+name+`":`), value))
}
