package cli

import (
	"context"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platen/client"
)

// Contents moved into an archive move to the store of its storage policy, and a server does not start without that
// store.
func TestStoragePolicies(t *testing.T) {
	t.Parallel()
	data, cold := t.TempDir(), t.TempDir()
	policy := "--storage-policy=cold=file://" + cold
	server := newServer(t, data, policy, "--no-archive-delete")
	platen(t, "user", "create", "--login=ada@example.com", "--name=Ada", "--role=admin", "--data="+data)
	token := platen(t, "token", "create", "--user=ada@example.com", "--data="+data,
		"--scope=enterprise_content", "--scope=root_readwrite", "--scope=manage_managed_users")
	v := &visitor{token: token, t: t}
	v.visit(server)
	policies, err := v.ListStoragePolicies(t.Context(), &client.ListStoragePoliciesParams{})
	if err != nil {
		t.Fatal(err)
	}
	request := client.CreateArchiveRequest{Name: "Contracts", StoragePolicyId: &policies.JSON200.Entries[1].Id}
	made, err := v.CreateArchive(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	archive := made.JSON201.Id
	file := v.mustUpload("contract.txt", []byte("signed"))
	move := client.ItemChange{Parent: &client.MovedRef{Id: archive}}
	if _, err := v.UpdateFile(t.Context(), file, &client.UpdateFileParams{}, move); err != nil {
		t.Fatal(err)
	}
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
	_, err = v.DeleteArchive(t.Context(), archive)
	if err == nil || !strings.Contains(err.Error(), "has disabled the deletion of archives") {
		t.Errorf("deleting an archive: %v, want it refused", err)
	}
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}

	out, err := exec.CommandContext(t.Context(), "platen", "serve", "--listen=127.0.0.1:0", "--data="+data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `the storage policy "cold"`) {
		t.Errorf("without the storage policy the server ends with %v:\n%s", err, out)
	}
	v.visit(newServer(t, data, policy))
	if text := string(v.mustDownload(file)); text != "signed" {
		t.Errorf("content after a new start = %q", text)
	}
}

// contentsIn lists the files in a blob store that are contents of versions.
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
