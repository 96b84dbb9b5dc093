package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"platen/client"
	"platen/examples"
	"platen/store/storetest"
)

// visitor is a user of a server in a test.
type visitor struct {
	*client.Client
	token string
	t     *testing.T
}

// newVisitor creates a user of a server, and a token, with commands.
func newVisitor(t *testing.T, server *child, location ...string) *visitor {
	t.Helper()
	platen(t, append([]string{"user", "create", "--login=ada@example.com", "--name=Ada"}, location...)...)
	token := platen(t, append([]string{"token", "create", "--user=ada@example.com"}, location...)...)
	v := &visitor{token: token, t: t}
	v.visit(server)
	return v
}

// visit makes the visitor use a server.
func (v *visitor) visit(server *child) {
	v.t.Helper()
	v.Client = client.New(server.url, v.token)
}

// mustUpload creates a file in the root folder.
func (v *visitor) mustUpload(name string, content []byte) (id string) {
	v.t.Helper()
	return v.mustUploadTo("0", name, content)
}

// mustUploadTo creates a file in a folder.
func (v *visitor) mustUploadTo(folder, name string, content []byte) (id string) {
	v.t.Helper()
	attributes := client.FileAttributes{Name: name, Parent: client.ParentRef{Id: folder}}
	uploaded, err := client.Upload(v.t.Context(), v.Client, attributes, bytes.NewReader(content))
	if err != nil {
		v.t.Fatal(err)
	}
	return uploaded.JSON201.Entries[0].Id
}

// mustTemplate uploads a template, marks it, and waits for its tags.
func (v *visitor) mustTemplate(name string, content []byte) (id string, tags []client.Tag) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	id = v.mustUpload(name, content)
	file := client.FileRef{Id: id, Type: client.FileRefTypeFile}
	if _, err := v.MarkTemplate(ctx, client.MarkTemplateRequest{File: file}); err != nil {
		v.t.Fatal(err)
	}
	err := until(ctx, func() (bool, error) {
		answer, err := v.ListTags(ctx, id, &client.ListTagsParams{Limit: new(int64(1000))})
		if err != nil || answer.JSON200 == nil {
			return false, err
		}
		tags = answer.JSON200.Entries
		return true, nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return id, tags
}

func (v *visitor) mustFolder(name string) string {
	v.t.Helper()
	request := client.CreateFolderRequest{Name: name, Parent: client.ParentRef{Id: "0"}}
	made, err := v.CreateFolder(v.t.Context(), &client.CreateFolderParams{}, request)
	if err != nil {
		v.t.Fatal(err)
	}
	return made.JSON201.Id
}

// mustWebhook creates a webhook on a folder.
func (v *visitor) mustWebhook(folder, address string, triggers ...client.Trigger) (id string) {
	v.t.Helper()
	target := client.ItemRef{Id: folder, Type: client.ItemRefTypeFolder}
	made, err := v.CreateWebhook(v.t.Context(), client.CreateWebhookRequest{
		Target: target, Address: address, Triggers: triggers,
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return made.JSON201.Id
}

func (v *visitor) mustBatch(template, folder string, documents []client.DocumentToMake) string {
	v.t.Helper()
	return v.mustBatchOf(client.CreateBatchRequestOutputTypeDocx, template, folder, documents)
}

// mustBatchOf is mustBatch for documents of a type.
func (v *visitor) mustBatchOf(kind client.CreateBatchRequestOutputType, template, folder string, documents []client.DocumentToMake) string {
	v.t.Helper()
	batch, err := v.CreateBatch(v.t.Context(), client.CreateBatchRequest{
		File:                   client.TemplateFileRef{Id: template, Type: client.TemplateFileRefTypeFile},
		DestinationFolder:      client.FolderRef{Id: folder, Type: client.FolderRefTypeFolder},
		InputSource:            client.CreateBatchRequestInputSourceApi,
		OutputType:             kind,
		DocumentGenerationData: documents,
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return batch.JSON202.Id.String()
}

// mustAwait waits until every job of a batch has completed.
func (v *visitor) mustAwait(batch string) []client.Job {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	jobs, err := awaitBatch(ctx, v.Client, batch, func(int) {})
	if err != nil {
		v.t.Fatal(err)
	}
	for _, j := range jobs {
		if j.Status != client.JobStatusCompleted {
			v.t.Errorf("job %s: %s, %+v", j.Id, j.Status, j.Failures)
		}
	}
	return jobs
}

func (v *visitor) mustDownload(file string) []byte {
	v.t.Helper()
	var content bytes.Buffer
	if err := client.Download(v.t.Context(), v.Client, file, &content); err != nil {
		v.t.Fatal(err)
	}
	return content.Bytes()
}

// files returns the names of the files in a folder, by id.
func (v *visitor) files(folder string) map[string]string {
	v.t.Helper()
	names := map[string]string{}
	params := &client.ListItemsParams{Usemarker: new(true), Limit: new(int64(1000))}
	for {
		answer, err := v.ListItems(v.t.Context(), folder, params)
		if err != nil {
			v.t.Fatal(err)
		}
		items, err := answer.JSON200.AsMarkerPageEntry()
		if err != nil {
			v.t.Fatal(err)
		}
		for _, item := range items.Entries {
			file, err := item.AsFile()
			if err != nil {
				v.t.Fatal(err)
			}
			names[file.Id] = *file.Name
		}
		if params.Marker = items.NextMarker; params.Marker == nil {
			return names
		}
	}
}

var markup = regexp.MustCompile(`<[^>]*>`)

// textOf returns the text of a document's body.
func textOf(t *testing.T, document []byte) string {
	t.Helper()
	return markup.ReplaceAllString(bodyOf(t, document), "")
}

// bodyOf returns the XML of a document's body.
func bodyOf(t *testing.T, document []byte) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		t.Fatal(err)
	}
	part, err := archive.Open("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	xml, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(xml)
}

// A template written by others is processed unchanged, and the document has a value for every tag.
func TestRealTemplate(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../shared/corpus/doc-gen-workshop/MovieScriptSummaryTemplate.docx")
	if os.IsNotExist(err) {
		t.Skip("the corpus of real templates is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	v := newVisitor(t, newServer(t, data), "--data="+data)
	template, tags := v.mustTemplate("MovieScriptSummaryTemplate.docx", content)
	t.Logf("%d tags:", len(tags))
	for _, tag := range tags {
		t.Logf("  %-10s %-60s %s", tag.TagType, tag.TagContent, strings.Join(tag.JsonPaths, " "))
	}
	if len(tags) == 0 || tags[0].TagContent != "{{script.title}}" {
		t.Fatalf("tags are %+v, want {{script.title}} first", tags)
	}

	folder := v.mustFolder("Summaries")
	jobs := v.mustAwait(v.mustBatch(template, folder, []client.DocumentToMake{
		{GeneratedFileName: "The Salt Road", UserInput: movieScript("The Salt Road", "Ines Carvalho")},
		{GeneratedFileName: "Low Tide", UserInput: movieScript("Low Tide", "Owen Pryce")},
	}))
	if got, want := slices.Sorted(maps.Values(v.files(folder))), []string{"Low Tide.docx", "The Salt Road.docx"}; !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
	document := v.mustDownload(jobs[0].OutputFile.Id)
	text := strings.Join(strings.Fields(textOf(t, document)), " ")
	for _, want := range []string{"The Salt Road", "Ines Carvalho", "Salt flats", "A lantern", "The Kiln", "1250000",
		"Lantern Films, Heron &amp; Sons, and Quay Pictures"} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
	if strings.Contains(text, "{{") {
		t.Errorf("tags are left: %s", text)
	}
	t.Logf("text: %s", text)
	opensInLibreOffice(t, document, "The Salt Road")
}

// movieScript returns data for the template of the movie scripts.
func movieScript(title, author string) map[string]any {
	type object = map[string]any
	things := func(names ...string) (list []object) {
		for _, name := range names {
			list = append(list, object{"name": name, "description": "As described for " + strings.ToLower(name)})
		}
		return list
	}
	return object{"script": object{
		"title": title, "author": author, "genre": "Drama", "date_written": "14 May 2026",
		"plot_summary":          "Two people who do not know each other carry the same letter.",
		"locations":             things("Salt flats", "Harbour", "Night train"),
		"props":                 things("A lantern", "A sealed letter"),
		"character_list":        []object{{"name": "Mara", "description": "A surveyor", "suggested_actors": "Somebody tall"}},
		"directors":             things("Petra Lindqvist"),
		"producers":             things("Oluwaseun Bello"),
		"accomplishments":       []object{{"description": "First prize at a festival of short films"}},
		"other_scripts":         []object{{"description": "A walk across the desert"}, {"description": "A night at sea"}},
		"produced_movies":       []object{{"title": "The Kiln", "gross_revenue": 1250000}},
		"companies_worked_with": []object{{"description": "Lantern Films"}, {"description": "Heron & Sons"}, {"description": "Quay Pictures"}},
	}}
}

// opensInLibreOffice converts a document to text with LibreOffice, if it is installed.
func opensInLibreOffice(t *testing.T, document []byte, want string) {
	t.Helper()
	if _, err := exec.LookPath("soffice"); err != nil {
		t.Log("LibreOffice is not installed: make test-deps installs it")
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "document.docx"), document, 0o600); err != nil {
		t.Fatal(err)
	}
	soffice := exec.CommandContext(t.Context(), "soffice", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"),
		"--headless", "--convert-to", "txt:Text (encoded):UTF8", "--outdir", dir, filepath.Join(dir, "document.docx"))
	if out, err := soffice.CombinedOutput(); err != nil {
		t.Fatalf("soffice: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "document.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want) || strings.Contains(string(text), "{{") {
		t.Errorf("LibreOffice reads %q", text)
	}
}

// A server that is killed in the middle of a batch finishes it after the next start: it generates each document exactly
// once.
func TestKilledDuringBatch(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		killInTheMiddle(t, data, nil, func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		database := storetest.Postgres(t).URL
		data := t.TempDir()
		killInTheMiddle(t, data, []string{"--database=" + database}, func() {
			if muchLater(t, database) == 0 {
				t.Fatal("no tasks were running")
			}
		})
	})
}

func killInTheMiddle(t *testing.T, data string, args []string, afterDeath func()) {
	killedDocuments := 500
	if testing.Short() {
		killedDocuments = 200
	}
	killAfter, killBefore := killedDocuments/10, killedDocuments*8/10
	location := append([]string{"--data=" + data}, args...)
	args = append(args, "--rate-requests=-1")
	server := newServer(t, data, append(args, "--workers=1")...)
	v := newVisitor(t, server, location...)
	template, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
	folder := v.mustFolder("Letters")
	documents, names := letters(killedDocuments)
	batch := v.mustBatch(template, folder, documents)

	ended := v.awaitSome(batch, killAfter)
	if err := server.kill(); err != nil {
		t.Fatal(err)
	}
	t.Logf("killed when %d of %d documents were there", ended, killedDocuments)
	if ended >= killBefore {
		t.Fatalf("%d documents were there already: too late to show anything", ended)
	}
	afterDeath()

	v.visit(newServer(t, data, args...))
	jobs := v.mustAwait(batch)
	files := v.files(folder)
	if got := slices.Sorted(maps.Values(files)); !slices.Equal(got, names) {
		t.Errorf("the folder holds %d files, want %d, each once: %q", len(got), len(names), got)
	}
	if len(jobs) != killedDocuments {
		t.Errorf("the batch has %d jobs, want %d", len(jobs), killedDocuments)
	}
	for i, j := range jobs {
		want := fmt.Sprintf("Recipient %d of the letters", i+1)
		if name := files[j.OutputFile.Id]; name != documents[i].GeneratedFileName+".docx" {
			t.Errorf("job %d has the file %q", i+1, name)
		}
		if text := textOf(t, v.mustDownload(j.OutputFile.Id)); !strings.Contains(text, want) {
			t.Errorf("document %d lacks %q", i+1, want)
		}
	}
}

// awaitSome waits until some jobs of a batch have ended, and returns their number.
func (v *visitor) awaitSome(batch string, some int) int {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	ended := 0
	ticker := time.NewTicker(firstLook)
	defer ticker.Stop()
	for ended < some {
		jobs, err := v.ListBatchJobs(ctx, batch, &client.ListBatchJobsParams{Limit: new(int64(1000))})
		if err != nil {
			v.t.Fatal(err)
		}
		ended = countEnded(jobs.JSON200.Entries)
		select {
		case <-ctx.Done():
			v.t.Fatalf("only %d jobs have ended: %v", ended, ctx.Err())
		case <-ticker.C:
		}
	}
	return ended
}

func exampleLetter(t *testing.T) []byte {
	t.Helper()
	content, err := examples.Files.ReadFile("letter/template.docx")
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// letters returns data for n letters, and the names of their files, sorted.
func letters(n int) (documents []client.DocumentToMake, names []string) {
	for i := range n {
		name := fmt.Sprintf("Letter %03d", i+1)
		names = append(names, name+".docx")
		documents = append(documents, client.DocumentToMake{GeneratedFileName: name, UserInput: map[string]any{
			"candidate": map[string]any{
				"name": fmt.Sprintf("Recipient %d of the letters", i+1), "salutation": "Dr Sørensen",
				"address": map[string]any{"street": "41 Castle Terrace", "postcode": "EH1 2EL", "city": "Edinburgh"},
			},
			"letter": map[string]any{"place": "Aberdeen", "date": "2026-11-12", "replyBy": "2026-11-27"},
			"position": map[string]any{
				"title": "Engineer", "team": "Reliability", "startDate": "2027-02-01", "manager": "Callum Reid",
				"location": "Aberdeen", "remoteDays": 2, "weeklyHours": 37.5, "currency": "GBP", "monthlySalary": 5650,
				"holidayDays": 28, "contract": "permanent", "probationMonths": 6,
			},
			"benefits": []map[string]any{{"name": "Pension", "detail": "we contribute 9%"}},
			"sender":   map[string]any{"name": "Fiona MacLeod", "role": "Head of People", "phone": "+44 1224 496 017"},
		}})
	}
	return documents, names
}

// muchLater makes the tasks of a killed server on PostgreSQL look old enough for another server to take them over: five
// minutes, or their maximum duration. Where several servers share the work, none can know sooner that another is not
// just slow. It returns the number of tasks.
func muchLater(t *testing.T, database string) int64 {
	t.Helper()
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	result, err := db.ExecContext(t.Context(), "UPDATE river_job SET attempted_at = attempted_at - interval '1 hour' WHERE state = 'running'")
	if err != nil {
		t.Fatal(err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// On PostgreSQL, commands need only the URL of the database, on any machine, but a data folder still belongs to one
// server.
func TestPostgres(t *testing.T) {
	t.Parallel()
	database, data := "--database="+storetest.Postgres(t).URL, t.TempDir()
	server := newServer(t, data, database)
	if out, err := exec.CommandContext(t.Context(), "platen", "serve", "--listen=127.0.0.1:0", "--data="+data,
		database).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "only one server can use a data folder") {
		t.Errorf("a second server ends with %v:\n%s", err, out)
	}
	elsewhere := filepath.Join(t.TempDir(), "none")
	v := newVisitor(t, server, database, "--data="+elsewhere)
	if _, err := os.Stat(elsewhere); !os.IsNotExist(err) {
		t.Errorf("the commands created a data folder: %v", err)
	}
	template, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
	documents, _ := letters(3)
	v.mustAwait(v.mustBatch(template, v.mustFolder("Letters"), documents))
}
