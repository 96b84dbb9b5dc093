package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"platen/client"
	"platen/docgen"
	"platen/examples"
)

const (
	exampleCount    = 100
	exampleTemplate = "invoice/template.docx"
	exampleLogin    = "admin@localhost"

	defaultListen = "127.0.0.1:8080"

	quickstartLog     = "quickstart.log"
	quickstartPDFs    = "invoices-as-pdf.json"
	parallelDownloads = 4
	maxFolderNumber   = 10_000
)

type quickstartCmd struct {
	config `embed:""`
	Once   bool `help:"Stop after the invoices are generated."`
}

// Run starts a server, generates example documents through its API, and serves until the process receives a signal to stop.
func (c *quickstartCmd) Run(ctx context.Context, s *streams) error {
	fmt.Fprintf(s.out, "Platen generates documents from Word templates and JSON. This example generates %d invoices.\n\n", exampleCount)
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return err
	}
	logFile, err := os.OpenFile(filepath.Join(c.Data, quickstartLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	log, err := newLogger(logFile, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	if c.Listen, err = freeAddress(ctx, c.Listen); err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	listening := make(chan string, 1)
	group.Go(func() error {
		return serve(ctx, &c.config, log, func(url string) { listening <- url })
	})
	group.Go(func() error {
		select {
		case url := <-listening:
			if err := c.visit(ctx, s.out, url); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil // the server reports why
		}
		if c.Once {
			stop()
		} else {
			fmt.Fprintf(s.out, "\nThe server keeps running; its log is %s. Press Ctrl-C to stop it.\n", logFile.Name())
		}
		return nil
	})
	err = group.Wait()
	if errors.Is(err, context.Canceled) { // stopped during the example
		err = nil
	}
	return errors.Join(err, logFile.Close())
}

// freeAddress returns the address to listen on, with another port if the default one is taken.
func freeAddress(ctx context.Context, address string) (string, error) {
	if address != defaultListen {
		return address, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "127.0.0.1:0", nil //nolint:nilerr // whatever occupies the port, another one works
	}
	return address, listener.Close()
}

// quickstart is one run of the example.
type quickstart struct {
	client   *client.Client
	url      string // of the server
	token    string
	out      io.Writer
	data     string // the data folder
	dir      string // the folder for downloaded documents
	template string // id of the template file
	folder   string // id of the folder for the documents
	request  client.CreateBatchRequest
	batch    string // id of the batch
	jobs     []client.Job

	engine pdfConfig
	pdf    string // how to generate PDFs
}

// visit generates the example invoices, and prints each step.
func (c *quickstartCmd) visit(ctx context.Context, out io.Writer, url string) error {
	fmt.Fprintf(out, "  ✓ The server listens on %s and stores its data in %s\n", url, c.Data)
	token, err := c.admit(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  ✓ The administrator %s has an access token\n", exampleLogin)
	q := &quickstart{client: client.New(url, token), url: url, token: token, out: out, data: c.Data,
		dir: filepath.Join(c.Data, "invoices"), engine: c.pdfConfig}
	for _, step := range []func(context.Context) error{q.prepareTemplate, q.prepareFolder, q.generate, q.download, q.offerPDF} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	where := "In another terminal"
	if c.Once {
		where = fmt.Sprintf("Start it again with platen serve --data %s; in another terminal", c.Data)
	}
	q.sayNext(where)
	return nil
}

// admit creates an access token and, on the first run, the administrator.
func (c *quickstartCmd) admit(ctx context.Context) (token string, err error) {
	err = c.withNewService(ctx, func(service *docgen.Service) error {
		_, err := service.CreateUser(ctx, docgen.NewUser{Login: exampleLogin, Name: "Administrator", Role: docgen.RoleAdmin})
		if err != nil && !docgen.IsCode(err, docgen.CodeLoginInUse) {
			return err
		}
		token, err = service.CreateToken(ctx, docgen.NewToken{Login: exampleLogin})
		return err
	})
	return token, err
}

// prepareTemplate uploads the example template, marks it, and waits until its tags are read.
func (q *quickstart) prepareTemplate(ctx context.Context) error {
	content, err := examples.Files.ReadFile(exampleTemplate)
	if err != nil {
		return err
	}
	if q.template, err = q.upload(ctx, "Invoice template.docx", content); err != nil {
		return fmt.Errorf("upload the template: %w", err)
	}
	file := client.FileRef{Id: q.template, Type: client.FileRefTypeFile}
	if _, err := q.client.MarkTemplate(ctx, client.MarkTemplateRequest{File: file}); err != nil {
		return fmt.Errorf("mark the template: %w", err)
	}
	var tags *client.TagPage // nil until the server has read them
	err = until(ctx, func() (bool, error) {
		answer, err := q.client.ListTags(ctx, q.template, &client.ListTagsParams{Limit: new(int64(1000))})
		if err == nil {
			tags = answer.JSON200
		}
		return tags != nil, err
	})
	if err != nil {
		return fmt.Errorf("read the tags: %w", err)
	}
	fmt.Fprintf(q.out, "  ✓ The Word template examples/%s is uploaded, and its %d tags are read\n", exampleTemplate, len(tags.Entries))
	return nil
}

// upload creates a file in the root folder and returns its id. If the name is taken, it uploads a new version of that file.
func (q *quickstart) upload(ctx context.Context, name string, content []byte) (string, error) {
	attributes := client.FileAttributes{Name: name, Parent: client.ParentRef{Id: "0"}}
	uploaded, err := client.Upload(ctx, q.client, attributes, bytes.NewReader(content))
	if taken := client.Conflict(err); taken != "" {
		_, err := client.UploadVersion(ctx, q.client, taken, client.VersionAttributes{Name: &name}, bytes.NewReader(content))
		return taken, err
	}
	if err != nil {
		return "", err
	}
	return uploaded.JSON201.Entries[0].Id, nil
}

// prepareFolder creates a folder for the documents: Invoices or, in later runs, Invoices (2) and so on.
func (q *quickstart) prepareFolder(ctx context.Context) error {
	name := "Invoices"
	for n := 2; ; n++ {
		request := client.CreateFolderRequest{Name: name, Parent: client.ParentRef{Id: "0"}}
		made, err := q.client.CreateFolder(ctx, &client.CreateFolderParams{}, request)
		if err == nil {
			q.folder = made.JSON201.Id
			return nil
		}
		if n == maxFolderNumber || client.Conflict(err) == "" {
			return fmt.Errorf("create a folder: %w", err)
		}
		name = fmt.Sprintf("Invoices (%d)", n)
	}
}

// generate sends the data of all invoices in one batch and waits for the documents.
func (q *quickstart) generate(ctx context.Context) error {
	invoices := exampleInvoices(exampleCount)
	documents := make([]client.DocumentToMake, len(invoices))
	for i := range invoices {
		documents[i] = client.DocumentToMake{GeneratedFileName: "Invoice " + invoices[i].Invoice.Number, UserInput: invoices[i].input()}
	}
	q.request = client.CreateBatchRequest{
		File:                   client.TemplateFileRef{Id: q.template, Type: client.TemplateFileRefTypeFile},
		DestinationFolder:      client.FolderRef{Id: q.folder, Type: client.FolderRefTypeFolder},
		InputSource:            client.CreateBatchRequestInputSourceApi,
		OutputType:             client.CreateBatchRequestOutputTypeDocx,
		DocumentGenerationData: documents,
	}
	began := time.Now()
	batch, err := q.client.CreateBatch(ctx, q.request)
	if err != nil {
		return fmt.Errorf("send the data: %w", err)
	}
	q.batch = batch.JSON202.Id.String()
	fmt.Fprintf(q.out, "  ✓ The data of %d invoices is sent in one batch\n", len(documents))
	bar := newProgress(q.out, len(documents), "    generating")
	q.jobs, err = awaitBatch(ctx, q.client, q.batch, func(ended int) { _ = bar.Set(ended) })
	took := time.Since(began)
	if err := errors.Join(err, bar.Exit()); err != nil {
		return fmt.Errorf("wait for the invoices: %w", err)
	}
	if err := q.checkJobs(); err != nil {
		return err
	}
	fmt.Fprintf(q.out, "  ✓ %d invoices are generated, in %.2f s: %.0f documents per second\n", len(q.jobs), took.Seconds(),
		float64(len(q.jobs))/took.Seconds())
	return nil
}

// checkJobs makes sure that every document is complete: the example has data for every tag.
func (q *quickstart) checkJobs() error {
	for _, j := range q.jobs {
		if j.Status != client.JobStatusCompleted || j.OutputFile == nil {
			reason := ""
			if j.Failures != nil {
				reason = ": " + strings.Join(j.Failures.Errors, "; ")
			}
			return fmt.Errorf("job %s ended as %s%s", j.Id, j.Status, reason)
		}
	}
	return nil
}

// download saves the documents in the data folder. It replaces those of an earlier run.
func (q *quickstart) download(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(q.dir), os.MkdirAll(q.dir, 0o700)); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelDownloads)
	for i, invoice := range exampleInvoices(len(q.jobs)) {
		group.Go(func() error {
			path := filepath.Join(q.dir, "Invoice "+invoice.Invoice.Number+".docx")
			return writeAtomically(path, func(w io.Writer) error {
				return client.Download(ctx, q.client, q.jobs[i].OutputFile.Id, w)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("download the invoices: %w", err)
	}
	fmt.Fprintf(q.out, "  ✓ The invoices are downloaded\n")
	return nil
}

// offerPDF explains how to generate the same invoices as PDFs, or what to install for that.
func (q *quickstart) offerPDF(context.Context) error {
	_, absent := q.engine.installed()
	if absent == nil {
		return q.preparePDF()
	}
	q.pdf = absent.Error()
	return nil
}

// preparePDF writes a request for the same invoices as PDFs.
func (q *quickstart) preparePDF() error {
	request := q.request
	request.OutputType = client.CreateBatchRequestOutputTypePdf
	body, err := json.MarshalIndent(request, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(q.data, quickstartPDFs)
	q.pdf = fmt.Sprintf(`Generate the same invoices as PDFs, in the same folder:

    curl -H "Authorization: Bearer $TOKEN" -H "svc-version: %s" \
         --json @%s %s/2.0/docgen_batches`, client.Version, path, q.url)
	return os.WriteFile(path, body, 0o600)
}

// sayNext prints where everything is and what to try next.
func (q *quickstart) sayNext(where string) {
	first := filepath.Join(q.dir, "Invoice "+exampleInvoices(1)[0].Invoice.Number+".docx")
	fmt.Fprintf(q.out, `
Open one in Word or LibreOffice:

    %s

On the server, they are in folder %s. %s, list their jobs and download one:

    export TOKEN=%s
    curl -H "Authorization: Bearer $TOKEN" -H "svc-version: %s" \
         "%s/2.0/docgen_batch_jobs/%s?limit=3"
    curl -H "Authorization: Bearer $TOKEN" -H "svc-version: %[5]s" -o invoice.docx \
         "%[6]s/2.0/files/%[8]s/content"

%[9]s

The API reference is at %[6]s/docs
`, first, q.folder, where, q.token, client.Version, q.url, q.batch, q.jobs[0].OutputFile.Id, q.pdf)
}
