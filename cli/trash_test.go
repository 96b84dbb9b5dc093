package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"platen/client"
)

// TestPermanentDeletionFreesDisk kills the server right after it has permanently deleted a file: its content is deleted
// later, unless a copy shares it.
func TestPermanentDeletionFreesDisk(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	removed, copied := v.mustUpload("removed", []byte("content that is removed")), v.mustUpload("copied", []byte("content that is copied"))
	request := client.CopyFileRequest{Name: new("copy"), Parent: client.ParentRef{Id: "0"}}
	_, err := v.CopyFile(ctx, copied, &client.CopyFileParams{}, request)
	for _, file := range []string{removed, copied} {
		if err == nil {
			_, err = v.DeleteFile(ctx, file, &client.DeleteFileParams{})
		}
		if err == nil {
			_, err = v.PurgeFile(ctx, file)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := server.kill(); err != nil {
		t.Fatal(err)
	}
	newServer(t, data)
	blobs := filepath.Join(data, "blobs")
	err = until(ctx, func() (bool, error) {
		left, err := filesWith(blobs, "content that is removed")
		return left == 0, err
	})
	if err != nil {
		t.Errorf("the content is still there: %v", err)
	}
	if left, err := filesWith(blobs, "content that is copied"); left != 1 || err != nil {
		t.Errorf("%d contents of the copy, %v, want 1", left, err)
	}
}

// filesWith returns the number of files below a folder that contain a text.
func filesWith(folder, text string) (n int, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		var content []byte
		if err == nil && !entry.IsDir() {
			content, err = fs.ReadFile(root.FS(), path)
		}
		if bytes.Equal(content, []byte(text)) {
			n++
		}
		if errors.Is(err, fs.ErrNotExist) { // deleted a moment ago
			return nil
		}
		return err
	})
	return n, err
}
