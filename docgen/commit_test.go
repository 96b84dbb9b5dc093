package docgen_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"platen/blob"
	"platen/docgen"
	"platen/store/storetest"
)

// TestUnknownCommit breaks the connection to PostgreSQL after a commit and before the response to it. The server does
// not know then whether the file exists, so its content must.
func TestUnknownCommit(t *testing.T) {
	cfg := storetest.Postgres(t)
	server, err := pgconn.ParseConfig(cfg.URL)
	must(t, err)
	network, address := pgconn.NetworkAddress(server.Host, server.Port)
	line := newLine(t, network, address)
	cfg.URL = fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", server.User, server.Password, line.addr, server.Database)
	blobs, err := blob.Open(t.TempDir())
	must(t, err)
	w := newWorld(t, cfg, blobs, docgen.Limits{})
	file := w.upload(w.alice, 0, "old.txt", "one")
	p := w.newPress("a")
	claim := p.claim()
	results := p.results(claim, "three")

	unknown := func(err error) {
		t.Helper()
		var known *docgen.Error
		if err == nil || errors.As(err, &known) || line.cut.Load() {
			t.Fatalf("error = %v, want that of a broken connection", err)
		}
	}
	line.cut.Store(true)
	_, err = w.CreateFile(t.Context(), w.alice, docgen.NewFile{Name: "new.txt"}, reader("one"))
	unknown(err)
	line.cut.Store(true)
	_, err = w.CreateVersion(t.Context(), w.alice, docgen.NewVersion{FileID: file.ID}, reader("two"))
	unknown(err)
	line.cut.Store(true)
	_, err = w.CompleteJobs(t.Context(), claim, results)
	unknown(err)

	if n := w.count("SELECT COUNT(*) FROM file_versions"); n != 5 {
		t.Errorf("%d versions, want 5: every commit was made", n)
	}
	w.wantNoOrphans()
	if text := w.text(w.alice, file.ID, 0); text != "two" {
		t.Errorf("content = %q, want two", text)
	}
}

// line relays a connection to a server, and breaks it on cue once a commit has been answered.
type line struct {
	addr string
	cut  atomic.Bool // at the next commit
}

// newLine starts to listen. It stops at the end of the test.
func newLine(t *testing.T, network, server string) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	n := &line{addr: l.Addr().String()}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { n.carry(client, network, server) })
		}
	})
	t.Cleanup(func() {
		must(t, l.Close())
		group.Wait() // the connections end with the database that uses them, which is closed before
	})
	return n
}

// carry relays one connection until either side closes it.
func (n *line) carry(client net.Conn, network, address string) {
	defer client.Close()
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	var cut atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		defer client.Close()
		copyUntil(client, server, func([]byte) bool { return cut.Load() })
	})
	copyUntil(server, client, func(said []byte) bool {
		if bytes.Contains(said, []byte("commit\x00")) && n.cut.CompareAndSwap(true, false) {
			cut.Store(true)
		}
		return false
	})
	_ = server.Close() // ends the other direction
	group.Wait()
}

// copyUntil copies until either side ends, or stop returns true for what was just read.
func copyUntil(to io.Writer, from io.Reader, stop func([]byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || stop(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
