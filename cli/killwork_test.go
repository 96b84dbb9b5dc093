package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"platen/client"
)

// killWorker is a user of a server that is killed. No other user changes its files.
type killWorker struct {
	*killing
	number int
	rng    *rand.Rand
	named  int      // number of names given
	files  []string // whose upload succeeded
	asked  []string // batches that were accepted
}

// work performs one operation. It must succeed, or fail where that is expected, unless the server was killed meanwhile.
func (w *killWorker) work(ctx context.Context, struck <-chan struct{}) {
	w.judge(w.request(ctx), struck)
}

// judge reports an error, unless the server was killed.
func (w *killWorker) judge(err error, struck <-chan struct{}) {
	select {
	case <-struck:
	default:
		if err != nil {
			w.t.Error(err)
		}
	}
}

func (w *killWorker) request(ctx context.Context) error {
	switch n := w.rng.IntN(12); {
	case n < 3 || len(w.files) == 0:
		return w.upload(ctx)
	case n == 3:
		documents, _ := letters(1 + w.rng.IntN(5))
		return w.batch(ctx, w.template, documents)
	case n == 4:
		return w.inVain(ctx)
	}
	return w.change(ctx, w.files[w.rng.IntN(len(w.files))])
}

// name returns a unique name. The first word of a file's name never changes.
func (w *killWorker) name(first string) string {
	w.named++
	return fmt.Sprintf("%s %d-%d.txt", first, w.number, w.named)
}

func (w *killWorker) folder() client.ParentRef { return client.ParentRef{Id: w.folders[w.rng.IntN(2)]} }

func (w *killWorker) upload(ctx context.Context) error {
	attributes := client.FileAttributes{Name: w.name("Upload"), Parent: w.folder()}
	made, err := client.Upload(ctx, w.visitor.Client, attributes, strings.NewReader(attributes.Name))
	if err == nil {
		w.files = append(w.files, made.JSON201.Entries[0].Id)
	}
	return err
}

func (w *killWorker) batch(ctx context.Context, template string, documents []client.DocumentToMake) error {
	return w.ask(ctx, client.CreateBatchRequest{
		File:                   client.TemplateFileRef{Id: template, Type: client.TemplateFileRefTypeFile},
		OutputType:             client.CreateBatchRequestOutputTypeDocx,
		DocumentGenerationData: documents,
	})
}

// ask creates a batch, with one of the folders as its destination.
func (w *killWorker) ask(ctx context.Context, request client.CreateBatchRequest) error {
	request.DestinationFolder = client.FolderRef{Id: w.folder().Id, Type: client.FolderRefTypeFolder}
	request.InputSource = client.CreateBatchRequestInputSourceApi
	made, err := w.visitor.CreateBatch(ctx, request)
	if err == nil {
		w.asked = append(w.asked, made.JSON202.Id.String())
	}
	return err
}

// change changes a file, wherever it is now.
func (w *killWorker) change(ctx context.Context, id string) error {
	v := w.visitor
	answer, err := v.GetFile(ctx, id, &client.GetFileParams{})
	if hasStatus(err, http.StatusNotFound) {
		return w.changeTrashed(ctx, id)
	}
	if err != nil {
		return err
	}
	file := answer.JSON200
	first, _, _ := strings.Cut(*file.Name, " ")
	switch w.rng.IntN(5) {
	case 0:
		_, err = client.UploadVersion(ctx, v.Client, id, client.VersionAttributes{}, strings.NewReader(w.name("Content")))
	case 1:
		_, err = v.UpdateFile(ctx, id, &client.UpdateFileParams{}, client.ItemChange{Name: new(w.name(first))})
	case 2:
		to := w.folders[0]
		if file.Parent.Id == to {
			to = w.folders[1]
		}
		_, err = v.UpdateFile(ctx, id, &client.UpdateFileParams{}, client.ItemChange{Parent: &client.MovedRef{Id: to}})
	case 3:
		_, err = v.DeleteFile(ctx, id, &client.DeleteFileParams{})
	case 4:
		return w.copy(ctx, id)
	}
	return err
}

func (w *killWorker) copy(ctx context.Context, id string) error {
	request := client.CopyFileRequest{Name: new(w.name("Copy")), Parent: w.folder()}
	made, err := w.visitor.CopyFile(ctx, id, &client.CopyFileParams{}, request)
	if err == nil {
		w.files = append(w.files, made.JSON201.Id)
	}
	return err
}

// changeTrashed changes a file in the trash, unless it was deleted permanently.
func (w *killWorker) changeTrashed(ctx context.Context, id string) error {
	v := w.visitor
	var err error
	if w.rng.IntN(3) == 0 {
		_, err = v.PurgeFile(ctx, id)
	} else {
		_, err = v.RestoreFile(ctx, id, &client.RestoreFileParams{}, client.RestoreRequest{})
	}
	if hasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// inVain sends a request that fails and must not cause a notification.
func (w *killWorker) inVain(ctx context.Context) error {
	v := w.visitor
	want, err := http.StatusNotFound, error(nil)
	switch w.rng.IntN(5) {
	case 0:
		want = http.StatusConflict
		attributes := client.FileAttributes{Name: "Letter.docx", Parent: client.ParentRef{Id: w.watched}}
		_, err = client.Upload(ctx, v.Client, attributes, strings.NewReader("in vain"))
	case 1:
		want = http.StatusPreconditionFailed
		_, err = v.UpdateFile(ctx, w.template, &client.UpdateFileParams{IfMatch: new("4711")}, client.ItemChange{Name: new("vain.docx")})
	case 2:
		_, err = v.UpdateFile(ctx, w.template, &client.UpdateFileParams{}, client.ItemChange{Parent: &client.MovedRef{Id: "4711"}})
	case 3:
		want = http.StatusConflict
		_, err = v.CopyFile(ctx, w.template, &client.CopyFileParams{}, client.CopyFileRequest{Parent: client.ParentRef{Id: w.watched}})
	case 4:
		documents, _ := letters(1)
		err = w.batch(ctx, "4711", documents)
	}
	if !hasStatus(err, want) {
		return fmt.Errorf("what cannot be done is answered with %w, want %d", err, want)
	}
	return nil
}

func hasStatus(err error, status int) bool {
	answered, ok := errors.AsType[*client.Error](err)
	return ok && int(answered.Status) == status
}
