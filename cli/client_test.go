package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"platen/client"
)

// TestClient calls a server through the generated client, as the visitors of other tests do. A document has the name
// and the size that its file reports.
func TestClient(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	v := newVisitor(t, newServer(t, data), "--data="+data)
	template, tags := v.mustTemplate("Letter.docx", exampleLetter(t))
	if len(tags) == 0 {
		t.Error("the template has no tags")
	}
	documents, names := letters(1)
	jobs := v.mustAwait(v.mustBatch(template, "0", documents))
	document := jobs[0].OutputFile.Id
	answer, err := v.GetFile(t.Context(), document, &client.GetFileParams{})
	if err != nil {
		t.Fatal(err)
	}
	content := v.mustDownload(document)
	file := answer.JSON200
	if *file.Name != names[0] || !bytes.HasPrefix(content, []byte("PK")) || int64(len(content)) != *file.Size {
		t.Errorf("%s has %d bytes, want %s with %d", *file.Name, len(content), names[0], *file.Size)
	}
}

// TestClientConflicts shows which information a caller gets about a name conflict, and that content can be
// uploaded as a version of the conflicting file.
func TestClientConflicts(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	v := newVisitor(t, newServer(t, data), "--data="+data)
	ctx, c := t.Context(), v.Client
	file, folder := v.mustUpload("taken.txt", []byte("one")), v.mustFolder("Taken")

	_, err := client.Upload(ctx, c, client.FileAttributes{Name: "taken.txt", Parent: client.ParentRef{Id: "0"}}, strings.NewReader("two"))
	if got := client.Conflict(err); got != file {
		t.Errorf("in the way of a file is %q (%v), want %s", got, err, file)
	}
	_, err = v.CreateFolder(ctx, &client.CreateFolderParams{}, client.CreateFolderRequest{Name: "taken", Parent: client.ParentRef{Id: "0"}})
	if got := client.Conflict(err); got != folder {
		t.Errorf("in the way of a folder is %q (%v), want %s", got, err, folder)
	}
	_, err = v.GetFile(ctx, "4711", &client.GetFileParams{})
	if got := client.Conflict(err); got != "" || err == nil {
		t.Errorf("in the way of nothing is %q (%v)", got, err)
	}

	version, err := client.UploadVersion(ctx, c, file, client.VersionAttributes{}, strings.NewReader("two"))
	if err != nil {
		t.Fatal(err)
	}
	if entries := version.JSON200.Entries; len(entries) != 1 || entries[0].Id != file || *entries[0].Name != "taken.txt" {
		t.Errorf("the version is of %+v", entries)
	}
	_, err = client.UploadVersion(ctx, c, file, client.VersionAttributes{Name: new("free.txt")}, strings.NewReader("three"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(v.mustDownload(file)); text != "three" || v.files("0")[file] != "free.txt" {
		t.Errorf("%s holds %q", v.files("0")[file], text)
	}
}

// TestClientErrors shows which information a caller gets about errors.
func TestClientErrors(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	ctx, c := t.Context(), v.Client

	got, err := v.GetFile(ctx, "4711", &client.GetFileParams{})
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || failure.Code != "not_found" {
		t.Fatalf("the failure is %v", err)
	}
	want := "the server responded with 404 not_found: Not Found; file: Invalid value '4711'. 'file' with value '4711' not found" +
		" (request " + failure.RequestId + "; see " + server.url + "/docs/errors#not_found)"
	if text := err.Error(); text != want || failure.RequestId == "" {
		t.Errorf("the failure says %q, want %q", text, want)
	}
	if got.StatusCode() != 404 || got.JSON200 != nil {
		t.Errorf("the answer is %+v", got)
	}
	for _, fails := range []func(id string) error{
		func(id string) error { return client.Download(ctx, c, id, io.Discard) },
		func(id string) error {
			_, err := client.Upload(ctx, c, client.FileAttributes{Name: "x", Parent: client.ParentRef{Id: id}}, strings.NewReader("content"))
			return err
		},
	} {
		if failure, ok := errors.AsType[*client.Error](fails("4711")); !ok || failure.Code != "not_found" {
			t.Errorf("the failure is %v", failure)
		}
	}

	broken := errors.New("the disk is gone")
	_, err = client.Upload(ctx, c, client.FileAttributes{Name: "x", Parent: client.ParentRef{Id: "0"}}, iotest.ErrReader(broken))
	if !errors.Is(err, broken) {
		t.Errorf("a content that breaks off fails with %v", err)
	}
}

// TestTemplatesWithCompatBox marks a PDF as a template. By default, the server rejects it and says what the file is; with
// --compat box, the template and its tags say so.
func TestTemplatesWithCompatBox(t *testing.T) {
	t.Parallel()
	for _, compat := range []string{"", "box"} {
		data := t.TempDir()
		v := newVisitor(t, newServer(t, data, "--compat="+compat), "--data="+data)
		id := v.mustUpload("Letter.docx", []byte("%PDF-1.7\n"))
		file := client.FileRef{Id: id, Type: client.FileRefTypeFile}
		_, err := v.MarkTemplate(t.Context(), client.MarkTemplateRequest{File: file})
		if compat == "" {
			if err == nil || !strings.Contains(err.Error(), "not a Word document but a PDF") {
				t.Errorf("marking a PDF: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		err = until(t.Context(), func() (bool, error) {
			answer, err := v.GetTemplate(t.Context(), id)
			return err == nil && answer.JSON200.State == "failed" && strings.Contains(*answer.JSON200.Problem, "a PDF"), err
		})
		if err != nil {
			t.Error(err)
		}
		tags, err := v.ListTags(t.Context(), id, &client.ListTagsParams{})
		if err != nil || tags.JSON200 == nil || !strings.Contains(*tags.JSON200.Problem, "a PDF") {
			t.Errorf("the tags are %+v, %v", tags, err)
		}
	}
}
