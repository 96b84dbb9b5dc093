package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestRemovedForGoodFreesTheDisk kills the server right after it has removed a file for good: the content goes all the same,
// and that of a copy stays.
func TestRemovedForGoodFreesTheDisk(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call := func(method, path string, in any) {
		t.Helper()
		if _, err := v.call(ctx, method, path, in, nil); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, name := range []string{"removed", "copied"} {
		id, err := v.upload(ctx, name, []byte("content that is "+name))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	call(http.MethodPost, "/files/"+ids[1]+"/copy", map[string]any{"parent": map[string]string{"id": "0"}, "name": "copy"})
	for _, id := range ids {
		call(http.MethodDelete, "/files/"+id, nil)
		call(http.MethodDelete, "/files/"+id+"/trash", nil)
	}
	if err := server.kill(); err != nil {
		t.Fatal(err)
	}
	newServer(t, data)
	blobs := filepath.Join(data, "blobs")
	err := until(ctx, func() (bool, error) {
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

// filesWith counts the files below a folder that hold a text.
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
		if errors.Is(err, fs.ErrNotExist) { // removed a moment ago
			return nil
		}
		return err
	})
	return n, err
}
