package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"platen/client"
)

// Times that a server may take.
const (
	uploadTime = time.Minute      // to store a template and to read it
	beginTime  = 10 * time.Second // to answer when the watcher begins
)

// uploader uploads templates to a folder of a server, one after another, while the watcher continues. Only the watcher calls its methods.
type uploader struct {
	api     *client.Client
	folder  string // its id
	longest time.Duration
	now     func() time.Time

	current string      // the template that is being uploaded; "" for none
	began   time.Time   // when that began
	waiting []upload    // one for each template at most
	done    chan string // receives what to print about the current upload
}

// upload is a template to upload.
type upload struct {
	path    string
	content []byte
}

// check asks the server whether the token and the folder are right. It returns an error if they are not, and prints a warning if the server
// does not answer.
func (u *uploader) check(ctx context.Context, out io.Writer) error {
	limited, cancel := context.WithTimeout(ctx, min(beginTime, u.longest))
	defer cancel()
	_, err := u.api.CheckUpload(limited, client.CheckUploadRequest{Name: "template.docx", Parent: client.ParentRef{Id: u.folder}})
	if client.Conflict(err) != "" {
		err = nil
	}
	if err == nil {
		_, err = u.api.ListTemplates(limited, &client.ListTemplatesParams{Limit: new(int64(1))})
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status < http.StatusInternalServerError {
		return fmt.Errorf("templates cannot be uploaded to folder %s: %w", u.folder, refused)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(out, "Templates cannot be uploaded now: %s. Watching continues, and each save tries again.\n", u.reason(err))
	}
	return nil
}

// reason returns an error in other words if the server took too long, or the user stopped the command.
func (u *uploader) reason(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the server does not answer")
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	}
	return err
}

// add uploads a template, after those that wait. It replaces an earlier content of the same template that waits.
func (u *uploader) add(ctx context.Context, b *bytes.Buffer, next upload) {
	if u.current == "" {
		b.WriteString("    uploading\n")
		u.begin(ctx, next)
		return
	}
	fmt.Fprintf(b, "    uploaded later: the server has been busy with %s for %.0f s\n", u.current, u.now().Sub(u.began).Seconds())
	u.waiting = append(slices.DeleteFunc(u.waiting, func(other upload) bool { return other.path == next.path }), next)
}

func (u *uploader) begin(ctx context.Context, next upload) {
	u.current, u.began = next.path, u.now()
	go func() {
		var b bytes.Buffer
		u.template(ctx, &b, next)
		u.done <- b.String()
	}()
}

// end prints the result of the current upload, and begins the next one. After ctx has ended, it prints what was not uploaded.
func (u *uploader) end(ctx context.Context, out io.Writer, result string) {
	fmt.Fprintf(out, "%s %s\n%s", u.now().Format(time.TimeOnly), u.current, result)
	u.current = ""
	for len(u.waiting) > 0 && u.current == "" {
		next := u.waiting[0]
		if u.waiting = u.waiting[1:]; ctx.Err() == nil {
			u.begin(ctx, next)
		} else {
			fmt.Fprintf(out, "%s\n    not uploaded\n", next.path)
		}
	}
}

// template uploads a template as the new version of the file of its name, or as a new file, marks it, and prints what changed.
func (u *uploader) template(ctx context.Context, b *bytes.Buffer, next upload) {
	ctx, cancel := context.WithTimeout(ctx, u.longest)
	defer cancel()
	id, version, err := u.send(ctx, filepath.Base(next.path), next.content)
	if err != nil {
		fmt.Fprintf(b, "    not uploaded: %s. The next save tries again.\n", u.reason(err))
		return
	}
	fmt.Fprintf(b, "    uploaded as version %s of file %s\n", version, id)
	if _, err := u.api.MarkTemplate(ctx, client.MarkTemplateRequest{File: client.FileRef{Id: id, Type: client.FileRefTypeFile}}); err != nil {
		fmt.Fprintf(b, "    but the file is not marked as a template: %s. The next save tries again.\n", u.reason(err))
		return
	}
	if err := u.printChanges(ctx, b, id, version); err != nil {
		fmt.Fprintf(b, "    but it is not known how the data that it needs has changed: %s\n", u.reason(err))
	}
}

// send uploads the content of a file. It returns the ids of the file and of the version.
func (u *uploader) send(ctx context.Context, name string, content []byte) (file, version string, err error) {
	parent := client.ParentRef{Id: u.folder}
	_, err = u.api.CheckUpload(ctx, client.CheckUploadRequest{Name: name, Parent: parent, Size: new(int64(len(content)))})
	var entries []client.File
	if existing := client.Conflict(err); existing != "" {
		answer, failure := client.UploadVersion(ctx, u.api, existing, client.VersionAttributes{Name: &name}, bytes.NewReader(content))
		if err = failure; err == nil && answer.JSON200 != nil {
			entries = answer.JSON200.Entries
		}
	} else if err == nil {
		answer, failure := client.Upload(ctx, u.api, client.FileAttributes{Name: name, Parent: parent}, bytes.NewReader(content))
		if err = failure; err == nil && answer.JSON201 != nil {
			entries = answer.JSON201.Entries
		}
	}
	if err != nil {
		return "", "", err
	}
	if len(entries) != 1 || entries[0].FileVersion == nil {
		return "", "", errors.New("the response of the server does not describe the file")
	}
	return entries[0].Id, entries[0].FileVersion.Id, nil
}

// printChanges waits until the server has read a version, and prints how the data that it needs has changed.
func (u *uploader) printChanges(ctx context.Context, b *bytes.Buffer, file, version string) error {
	var contract *client.Contract
	err := until(ctx, func() (bool, error) {
		answer, err := u.api.GetTemplateContract(ctx, file, &client.GetTemplateContractParams{TemplateVersionId: &version})
		if err != nil {
			return false, err
		}
		contract = answer.JSON200
		return contract != nil, nil
	})
	if err != nil {
		return err
	}
	changes := contract.Changes
	if changes == nil {
		return nil
	}
	list := func(what string, paths []string) {
		if len(paths) > 0 {
			fmt.Fprintf(b, "    %s: %s\n", what, strings.Join(paths[:min(len(paths), maxShown)], ", "))
		}
	}
	list("the data now needs", changes.Needs)
	list("the data may now have", changes.Takes)
	list("no longer read", changes.Drops)
	var kinds []string
	for _, k := range changes.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s (%s, not %s)", k.Path, k.New, k.Old))
	}
	list("now of another kind", kinds)
	if n := len(changes.Breaks); n > 0 {
		fmt.Fprintf(b, "    %d recent %s would now be incomplete\n", n, map[bool]string{true: "batch", false: "batches"}[n == 1])
	}
	return nil
}
