package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"platen/docgen"
	"platen/docx"
	"platen/examples"
)

const (
	exampleCount    = 100
	exampleTemplate = "invoice/template.docx"
	exampleLogin    = "admin@localhost"

	defaultListen = "127.0.0.1:8080"

	quickstartLog     = "quickstart.log"
	parallelDownloads = 4
	maxFolderNumber   = 10_000
)

type quickstartCmd struct {
	config `embed:""`
	Once   bool `help:"Stop when the invoices are made, instead of serving on."`
}

// Run starts a server, plays a newcomer's first visit through its API, and serves on until the process is told to stop.
func (c *quickstartCmd) Run(ctx context.Context, s *streams) error {
	fmt.Fprintf(s.out, "Platen makes documents of Word templates and JSON. Here it makes %d invoices.\n\n", exampleCount)
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
			return nil // the server says why
		}
		if c.Once {
			stop()
		} else {
			fmt.Fprintf(s.out, "\nThe server keeps running; its log is %s. Press Ctrl-C to stop it.\n", logFile.Name())
		}
		return nil
	})
	err = group.Wait()
	if errors.Is(err, context.Canceled) { // told to stop in the middle of the visit
		err = nil
	}
	return errors.Join(err, logFile.Close())
}

// freeAddress returns the address to listen on: another port than the default one where that is taken.
func freeAddress(ctx context.Context, address string) (string, error) {
	if address != defaultListen {
		return address, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "127.0.0.1:0", nil //nolint:nilerr // whatever keeps that port from us, another one will do
	}
	return address, listener.Close()
}

// quickstart is one visit to a server.
type quickstart struct {
	client   *apiClient
	out      io.Writer
	dir      string // where the documents are downloaded to
	template string // id of the template's file
	folder   string // id of the folder of the documents
	batch    string // id of the batch
	jobs     []job
}

// visit has the server make the example invoices, and says at each step what it did.
func (c *quickstartCmd) visit(ctx context.Context, out io.Writer, url string) error {
	fmt.Fprintf(out, "  ✓ A server listens on %s and keeps its data in %s\n", url, c.Data)
	token, err := c.admit(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  ✓ The user %s is its administrator and has an access token\n", exampleLogin)
	q := &quickstart{client: &apiClient{baseURL: url, token: token}, out: out, dir: filepath.Join(c.Data, "invoices")}
	for _, step := range []func(context.Context) error{q.prepareTemplate, q.prepareFolder, q.generate, q.download} {
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

// admit makes the administrator, unless an earlier visit has, and a token.
func (c *quickstartCmd) admit(ctx context.Context) (token string, err error) {
	err = c.withService(ctx, func(service *docgen.Service) error {
		_, err := service.CreateUser(ctx, docgen.NewUser{Login: exampleLogin, Name: "Administrator", Role: docgen.RoleAdmin})
		if err != nil && !docgen.IsCode(err, docgen.CodeLoginInUse) {
			return err
		}
		token, err = service.CreateToken(ctx, docgen.NewToken{Login: exampleLogin})
		return err
	})
	return token, err
}

// prepareTemplate uploads the example template, marks it and waits until its tags are read.
func (q *quickstart) prepareTemplate(ctx context.Context) error {
	content, err := examples.Files.ReadFile(exampleTemplate)
	if err != nil {
		return err
	}
	q.template, err = q.client.upload(ctx, "Invoice template.docx", content)
	if err != nil {
		return err
	}
	if err := q.client.markTemplate(ctx, q.template); err != nil {
		return err
	}
	var tags []docx.Tag
	err = until(ctx, func() (ready bool, err error) {
		tags, ready, err = q.client.tags(ctx, q.template)
		return ready, err
	})
	fmt.Fprintf(q.out, "  ✓ The Word template examples/%s is uploaded, and its %d tags are read\n", exampleTemplate, len(tags))
	return err
}

// prepareFolder makes a new folder for the documents: Invoices or, after other visits, Invoices (2) and so on.
func (q *quickstart) prepareFolder(ctx context.Context) (err error) {
	name := "Invoices"
	for n := 2; n < maxFolderNumber; n++ {
		q.folder, err = q.client.createFolder(ctx, "0", name)
		if conflict(err) == "" {
			break
		}
		name = fmt.Sprintf("Invoices (%d)", n)
	}
	return err
}

// generate sends the data of all invoices in one batch and waits for the documents.
func (q *quickstart) generate(ctx context.Context) (err error) {
	invoices := exampleInvoices(exampleCount)
	documents := make([]newDocument, len(invoices))
	for i := range invoices {
		documents[i] = newDocument{Name: "Invoice " + invoices[i].Invoice.Number, Input: invoices[i]}
	}
	began := time.Now()
	q.batch, err = q.client.createBatch(ctx, q.template, q.folder, documents)
	if err != nil {
		return err
	}
	fmt.Fprintf(q.out, "  ✓ The data of %d invoices is sent, in one batch\n", len(documents))
	bar := newProgress(q.out, len(documents), "    generating")
	q.jobs, err = q.client.awaitBatch(ctx, q.batch, func(ended int) { _ = bar.Set(ended) })
	took := time.Since(began)
	if err := errors.Join(err, bar.Exit()); err != nil {
		return err
	}
	if err := q.checkJobs(); err != nil {
		return err
	}
	fmt.Fprintf(q.out, "  ✓ %d invoices are generated, in %.2f s: %.0f documents a second\n", len(q.jobs), took.Seconds(), float64(len(q.jobs))/took.Seconds())
	return nil
}

// checkJobs makes sure that every document is as it should be: the example has data for every tag.
func (q *quickstart) checkJobs() error {
	for _, j := range q.jobs {
		if j.Status != "completed" || j.OutputFile == nil {
			reason := ""
			if j.Failures != nil {
				reason = ": " + strings.Join(j.Failures.Errors, "; ")
			}
			return fmt.Errorf("job %s ended as %s%s", j.ID, j.Status, reason)
		}
	}
	return nil
}

// download copies the documents into the data folder, for Word to open. Those of an earlier visit make room.
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
				return q.client.download(ctx, q.jobs[i].OutputFile.ID, w)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(q.out, "  ✓ They are downloaded, for you to look at\n")
	return nil
}

// sayNext says where everything is and what to try.
func (q *quickstart) sayNext(where string) {
	first := filepath.Join(q.dir, "Invoice "+exampleInvoices(1)[0].Invoice.Number+".docx")
	fmt.Fprintf(q.out, `
Open one in Word or LibreOffice:

    %s

On the server they are in folder %s. %s, list the jobs that made them, and download one:

    export TOKEN=%s
    curl -H "Authorization: Bearer $TOKEN" -H "svc-version: %s" \
         "%s/2.0/docgen_batch_jobs/%s?limit=3"
    curl -H "Authorization: Bearer $TOKEN" -H "svc-version: %[5]s" -o invoice.docx \
         "%[6]s/2.0/files/%[8]s/content"

All that the API can do is described at %[6]s/docs
`, first, q.folder, where, q.client.token, apiVersion, q.client.baseURL, q.batch, q.jobs[0].OutputFile.ID)
}
