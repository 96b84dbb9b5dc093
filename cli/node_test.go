package cli

import (
	"os"
	"testing"

	"platen/client"
)

// The server says which machine and version it is, and how much space its disks have.
func TestNodeInOperations(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	platen(t, "user", "create", "--login=ada@example.com", "--name=Ada", "--role=admin", "--data="+data)
	got, err := client.New(server.url, platen(t, "token", "create", "--user=ada@example.com", "--data="+data)).GetOperations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := got.JSON200
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if o.Server.Name != name || o.Server.Version != version() || o.Server.StartedAt.IsZero() || o.Server.Pdf.Workers < 1 {
		t.Errorf("the server is %+v", o.Server)
	}
	for _, disk := range o.Server.Disks {
		if disk.FreeBytes == nil || disk.SizeBytes == nil || *disk.FreeBytes <= 0 || *disk.SizeBytes < *disk.FreeBytes {
			t.Errorf("disk %+v", disk)
		}
	}
	if len(o.Server.Disks) == 0 || len(o.Hours) != 24 {
		t.Errorf("%d disks, %d hours", len(o.Server.Disks), len(o.Hours))
	}
}
