package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"platen/client"
)

// TestClient drives a server through the generated client: a template is uploaded and marked, its tags are read, a
// document is made from it and downloaded.
func TestClient(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	c, err := client.New(v.baseURL, v.token)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	uploaded, err := client.Check(client.Upload(ctx, c, client.FileAttributes{Name: "Letter.docx", Parent: client.ParentRef{Id: "0"}}, bytes.NewReader(exampleLetter(t))))
	check(err)
	template := uploaded.JSON201.Entries[0].Id
	marked, err := client.Check(c.MarkTemplateWithResponse(ctx, &client.MarkTemplateParams{}, client.MarkTemplateRequest{File: client.FileRef{Id: template, Type: "file"}}))
	check(err)
	if marked.JSON201.File.Id != template {
		t.Errorf("marked %s, want %s", marked.JSON201.File.Id, template)
	}

	err = until(ctx, func() (bool, error) {
		tags, err := client.Check(c.ListTagsWithResponse(ctx, template, &client.ListTagsParams{}))
		check(err)
		return tags.JSON200 != nil && len(tags.JSON200.Entries) > 0, nil // until then it is 202
	})
	if err != nil {
		t.Fatal(err)
	}

	documents, names := letters(1)
	batch, err := client.Check(c.CreateBatchWithResponse(ctx, &client.CreateBatchParams{}, client.CreateBatchRequest{
		File: client.TemplateFileRef{Id: template, Type: "file"}, DestinationFolder: client.FolderRef{Id: "0", Type: "folder"},
		InputSource: "api", OutputType: client.CreateBatchRequestOutputTypeDocx,
		DocumentGenerationData: []client.DocumentToMake{{GeneratedFileName: documents[0].Name, UserInput: documents[0].Input.(map[string]any)}},
	}))
	check(err)
	var job client.Job
	err = until(ctx, func() (bool, error) {
		jobs, err := client.Check(c.ListBatchJobsWithResponse(ctx, batch.JSON202.Id.String(), &client.ListBatchJobsParams{}))
		check(err)
		job = jobs.JSON200.Entries[0]
		return job.Status != client.JobStatusPending && job.Status != client.JobStatusSubmitted, nil
	})
	if err != nil || job.Status != client.JobStatusCompleted {
		t.Fatalf("the job is %s with %+v: %v", job.Status, job.Failures, err)
	}
	file, err := client.Check(c.GetFileWithResponse(ctx, job.OutputFile.Id, &client.GetFileParams{}))
	check(err)
	content, err := client.Check(c.DownloadFileWithResponse(ctx, job.OutputFile.Id, &client.DownloadFileParams{}))
	check(err)
	if *file.JSON200.Name != names[0] || !bytes.HasPrefix(content.Body, []byte("PK")) || int64(len(content.Body)) != *file.JSON200.Size {
		t.Errorf("%s has %d bytes, want %s with %d", *file.JSON200.Name, len(content.Body), names[0], *file.JSON200.Size)
	}
}

// TestFailuresOfTheClient shows what a caller learns of what went wrong.
func TestFailuresOfTheClient(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	v := newVisitor(t, newServer(t, data), "--data="+data)
	c, err := client.New(v.baseURL+"/", v.token)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	got, err := client.Check(c.GetFileWithResponse(ctx, "4711", &client.GetFileParams{}))
	var failure *client.Error
	if !errors.As(err, &failure) || failure.Code != "not_found" || failure.RequestId == "" {
		t.Errorf("the failure is %v", failure)
	}
	if got.JSON404 == nil || got.JSON200 != nil {
		t.Errorf("the answer is %+v", got)
	}

	refused, err := client.Upload(ctx, c, client.FileAttributes{Name: "x", Parent: client.ParentRef{Id: "4711"}}, strings.NewReader("content"))
	if err != nil || refused.StatusCode() != 404 {
		t.Errorf("an upload to a folder that is not there: %v, %v", refused, err)
	}
	broken := errors.New("the disk is gone")
	_, err = client.Upload(ctx, c, client.FileAttributes{Name: "x", Parent: client.ParentRef{Id: "0"}}, iotest.ErrReader(broken))
	if !errors.Is(err, broken) {
		t.Errorf("a content that breaks off fails with %v", err)
	}
}
