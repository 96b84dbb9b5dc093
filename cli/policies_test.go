package cli

import (
	"context"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is moved into an archive goes to the place of its storage policy, and a server does not start without that.
func TestStoragePolicies(t *testing.T) {
	t.Parallel()
	data, cold := t.TempDir(), t.TempDir()
	policy := "--storage-policy=cold=file://" + cold
	server := newServer(t, data, policy, "--no-archive-delete")
	platen(t, "user", "create", "--login=ada@example.com", "--name=Ada", "--role=admin", "--data="+data)
	token := platen(t, "token", "create", "--user=ada@example.com", "--data="+data,
		"--scope=enterprise_content", "--scope=root_readwrite", "--scope=manage_managed_users")
	v := &visitor{&apiClient{baseURL: server.url, token: token}, t}
	call := func(method, path string, in, out any) {
		t.Helper()
		if _, err := v.call(t.Context(), method, path, in, out); err != nil {
			t.Fatal(err)
		}
	}
	var policies page[ref]
	call("GET", "/storage_policies", nil, &policies)
	var archive ref
	call("POST", "/archives", map[string]any{"name": "Contracts", "storage_policy_id": policies.Entries[1].ID}, &archive)
	file, err := v.upload(t.Context(), "contract.txt", []byte("signed"))
	if err != nil {
		t.Fatal(err)
	}
	call("PUT", "/files/"+file, map[string]any{"parent": map[string]string{"id": archive.ID}}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = until(ctx, func() (bool, error) {
		return len(contentsIn(t, cold)) == 1 && len(contentsIn(t, filepath.Join(data, "blobs"))) == 0, nil
	})
	if err != nil {
		t.Errorf("the content stays where it was: %v", err)
	}
	if text := string(v.mustDownload(file)); text != "signed" {
		t.Errorf("content = %q", text)
	}
	if _, err := v.call(t.Context(), "DELETE", "/archives/"+archive.ID, nil, nil); err == nil || !strings.Contains(err.Error(), "turned that off") {
		t.Errorf("deleting an archive: %v, want it refused", err)
	}
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}

	out, err := exec.CommandContext(t.Context(), "platen", "serve", "--listen=127.0.0.1:0", "--data="+data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `the storage policy "cold"`) {
		t.Errorf("without the storage policy the server ends with %v:\n%s", err, out)
	}
	v.baseURL = newServer(t, data, policy).url
	if text := string(v.mustDownload(file)); text != "signed" {
		t.Errorf("content after a new start = %q", text)
	}
}

// contentsIn lists the files of a blob store that hold contents of versions.
func contentsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "versions~") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
