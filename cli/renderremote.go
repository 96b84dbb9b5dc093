package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"platen/client"
	"platen/docx"
)

// renderOn selects a server that generates the documents.
type renderOn struct {
	Server string `placeholder:"URL" group:"Server" help:"Generate the documents on this server, without storing anything there (default: on this machine). Its fonts, budgets, and hosts of images apply."`
	Token  string `env:"PLATEN_TOKEN" placeholder:"TOKEN" group:"Server" help:"Access token for --server, with the scope docgen.readwrite. Prefer the environment variable, to keep it out of the shell history."`
}

// atOnceRemotely is the number of requests in progress.
const atOnceRemotely = 4

// checkRemote rejects flags that a server cannot follow.
func (c *renderCmd) checkRemote() error {
	if c.Server == "" {
		return nil
	}
	for flag, given := range map[string]bool{
		"--contents": c.Contents != "auto", "--for-pdf": c.ForPDF, "--now": c.Now != "", "--document-time": c.DocumentTime != 0,
		"--merged": c.Merged != "", "--allow-wordml": c.AllowWordML,
	} {
		if given {
			return usagef("%s has no effect on a server: remove it, or remove --server", flag)
		}
	}
	if c.withMacros() {
		return usagef("a server generates documents without macros: use a name that ends in %s, or remove --server", wordExtension)
	}
	r := remote{Server: c.Server, Token: c.Token}
	if err := r.Validate(); err != nil {
		return &usageError{err}
	}
	return nil
}

// runRemote generates the documents on a server.
func (c *renderCmd) runRemote(ctx context.Context, s *streams, batch bool, inputs []input, options docx.Options) error {
	paths, err := c.paths(batch, inputs, options)
	if err != nil {
		return err
	}
	template, err := os.ReadFile(c.Template)
	if err != nil {
		return err
	}
	r := &remoteRendering{streams: s, client: client.New(c.Server, c.Token)}
	r.form = client.DocumentForm{Template: template, TemplateName: filepath.Base(c.Template), OutputType: c.extension()[1:]}
	if r.form.Options, err = c.remoteOptions(); err != nil {
		return err
	}
	began := time.Now()
	documents, err := c.renderAll(ctx, s, batch, atOnceRemotely, inputs, paths, r.render)
	if err != nil {
		return err
	}
	return c.report(s, renderReport{Documents: documents, Seconds: time.Since(began).Seconds()})
}

// remoteOptions returns the options for the server.
func (c *renderCmd) remoteOptions() (*client.DocumentOptions, error) {
	o := &client.DocumentOptions{Locale: orAbsent(c.Locale), TimeZone: orAbsent(c.TimeZone), Strict: orAbsent(c.Strict)}
	o.Missing = orAbsent(client.DocumentOptionsMissing(c.Missing))
	if !c.asPDF() {
		return o, nil
	}
	if _, err := c.pdfOptions(); err != nil {
		return nil, err
	}
	protection, err := c.protection()
	if err != nil {
		return nil, err
	}
	o.Pdf = &client.PdfOptions{Standard: orAbsent(client.PdfOptionsStandard(c.Standard)), Tagged: &c.Tagged, Bookmarks: &c.Bookmarks,
		Watermark: orAbsent(c.Watermark)}
	if pictures := (client.PdfPictures{Lossless: orAbsent(c.Lossless), Quality: orAbsent(int64(c.Quality)),
		MaxDpi: orAbsent(int64(c.DPI))}); pictures != (client.PdfPictures{}) {
		o.Pdf.Pictures = &pictures
	}
	if protection != nil {
		o.Pdf.Password = &protection.UserPassword
	}
	return o, nil
}

// orAbsent returns a pointer to a value, or nil for the zero value.
func orAbsent[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// remoteRendering generates documents from one template on a server.
type remoteRendering struct {
	streams *streams
	client  *client.Client
	form    client.DocumentForm
}

// render generates one document at a path, or on standard output for "-".
func (r *remoteRendering) render(ctx context.Context, in *input, path string, _ func()) renderedDocument {
	document := renderedDocument{File: path, Errors: []string{}, Warnings: []string{}}
	form := r.form
	form.Input = json.RawMessage(in.text)
	response, err := client.Generate(ctx, r.client, form)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.ContextInfo != nil && refused.ContextInfo.Failures != nil {
		document.note(refused.ContextInfo.Failures)
		document.File, document.Failure = "", refused.Message
		if len(document.Errors) > 0 && document.Errors[0] == refused.Message {
			document.Errors = document.Errors[1:]
		}
		return document
	}
	if err == nil {
		err = r.take(response.JSON200, &document)
	}
	if err != nil {
		document.File, document.Failure = "", err.Error()
	}
	return document
}

// take writes a document from the server, and notes what is missing in it.
func (r *remoteRendering) take(made *client.Document, document *renderedDocument) error {
	if made == nil || made.Content == nil {
		return errors.New("the server responded without a document")
	}
	content, err := base64.StdEncoding.DecodeString(*made.Content)
	if err != nil {
		return err
	}
	if made.PageCount != nil {
		document.Pages = int(*made.PageCount)
	}
	if made.Failures != nil {
		document.note(made.Failures)
	}
	return writeOut(r.streams, document.File, content)
}

// note adds the failures that a server reports.
func (d *renderedDocument) note(f *client.Failures) {
	d.Errors, d.Warnings = append(d.Errors, f.Errors...), append(d.Warnings, f.Warnings...)
	for _, detail := range f.Details {
		d.Details = append(d.Details, &docx.Error{
			Part: detail.Part, Heading: detail.Heading, Place: detail.Place, Text: detail.Text, Column: int(detail.Column), Tag: detail.Tag,
			Message: detail.Message, Hint: detail.Hint, Warning: detail.Severity == client.DetailSeverityWarning,
			File: orEmpty(detail.File), Path: orEmpty(detail.Path), Datum: orEmpty(detail.DataPath), Nearest: orEmpty(detail.DidYouMean),
		})
	}
}
