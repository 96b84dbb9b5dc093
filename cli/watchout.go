package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"platen/client"
)

// documentsFolder is where the documents of samples are written.
type documentsFolder struct {
	root string // the folder with the templates, or the template
	out  string // empty: next to the samples of each template
}

// check rejects a folder in which the documents would be taken for templates.
func (d *documentsFolder) check() error {
	if d.out == "" {
		return nil
	}
	root, err := filepath.Abs(d.root)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(d.out)
	if err != nil {
		return err
	}
	if inside, err := filepath.Rel(root, out); err == nil && filepath.IsLocal(inside) {
		return usagef("--out must be outside of %s, because documents in it would count as templates", d.root)
	}
	return nil
}

// folderOf returns the folder for the documents of a template.
func (d *documentsFolder) folderOf(template string) string {
	if d.out == "" {
		return filepath.Join(samplesFolder(template), outFolder)
	}
	name, err := filepath.Rel(d.root, template)
	if err != nil || name == "." {
		name = filepath.Base(template)
	}
	return filepath.Join(d.out, strings.TrimSuffix(name, filepath.Ext(name)))
}

// write writes the documents of the samples of a template, and returns their folder; "" if there are none.
func (d *documentsFolder) write(result *testedTemplate) (string, error) {
	folder, written := d.folderOf(result.Template), ""
	var wrong []error
	for i := range result.Samples {
		s := &result.Samples[i]
		if s.document == nil {
			continue
		}
		if written == "" {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return "", err
			}
			written = folder
		}
		wrong = append(wrong, writeAtomically(filepath.Join(folder, s.Name+wordExtension), func(w io.Writer) error {
			_, err := w.Write(s.document)
			return err
		}))
	}
	return written, errors.Join(wrong...)
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// uploader uploads templates to a folder of a server.
type uploader struct {
	api    *client.Client
	folder string // its id
}

// uploadTime is the maximum time to upload a template and to wait until the server has read it.
const uploadTime = time.Minute

// template uploads a template as the new version of the file of its name, or as a new file, marks it, and prints what changed.
func (u *uploader) template(ctx context.Context, b *bytes.Buffer, saved *savedTemplate) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	id, version, err := u.send(ctx, filepath.Base(saved.path), saved.content)
	if err != nil {
		return err
	}
	if _, err := u.api.MarkTemplate(ctx, client.MarkTemplateRequest{File: client.FileRef{Id: id, Type: client.FileRefTypeFile}}); err != nil {
		return fmt.Errorf("file %s was uploaded, but is no template: %w", id, err)
	}
	fmt.Fprintf(b, "    uploaded as version %s of file %s\n", version, id)
	return u.printChanges(ctx, b, id, version)
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
		return fmt.Errorf("the version was uploaded, but its contract cannot be read: %w", err)
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
