package cli

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"platen/client"
	"platen/store"
	"platen/store/storetest"
)

// A server that gets a signal to stop does not wait longer for hanging receivers than for anything else. After the next
// start, it sends the notifications again, as if for the first time.
func TestStoppingWhileReceiversHang(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		stopWhileReceiversHang(t, store.Config{Path: filepath.Join(data, "platen.db")}, "--data="+data)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		database := storetest.Postgres(t)
		stopWhileReceiversHang(t, database, "--data="+t.TempDir(), "--database="+database.URL)
	})
}

func stopWhileReceiversHang(t *testing.T, database store.Config, location ...string) {
	const drain = 200 * time.Millisecond
	r := newHanging(t)
	args := append(slices.Clone(location), "--webhook-any-address", "--drain="+drain.String())
	server := runServer(t, args...)
	v := newVisitor(t, server, location...)
	folder := v.mustFolder("Watched")
	v.mustWebhook(folder, r.URL, client.TriggerFILEUPLOADED)
	v.mustUploadTo(folder, "a.txt", []byte("text"))
	first := r.await(t)

	server.terminate(t)
	server.awaitEnd(t) // the receiver hangs until the server has ended
	db := storetest.Raw(t, database)
	var attempts int
	d := theDelivery(t, db)
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM webhook_attempts").Scan(&attempts); err != nil {
		t.Fatal(err)
	}
	if want := (delivery{"pending", 0, 0}); d != want || attempts != 0 {
		t.Errorf("the interrupted delivery is %+v with %d attempts in the log, want %+v", d, attempts, want)
	}

	r.well.Store(true)
	runServer(t, args...)
	if again := r.await(t); again != first {
		t.Errorf("after the next start, the receiver got\n%s\nand before it\n%s", again, first)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := until(ctx, func() (bool, error) { return theDelivery(t, db) == delivery{"delivered", 1, 1}, nil })
	if err != nil {
		t.Errorf("%v: the repeated delivery is %+v", err, theDelivery(t, db))
	}
}

// delivery is a delivery in the log.
type delivery struct {
	state           string
	tries, attempts int
}

// theDelivery returns the only delivery.
func theDelivery(t *testing.T, db *sql.DB) (d delivery) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT state, tries, attempts FROM webhook_deliveries").Scan(&d.state, &d.tries,
		&d.attempts); err != nil {
		t.Fatal(err)
	}
	return d
}

// hanging is a receiver that does not respond until it recovers.
type hanging struct {
	*httptest.Server
	well   atomic.Bool
	bodies chan string
}

func newHanging(t *testing.T) *hanging {
	h := &hanging{bodies: make(chan string, 10)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h.bodies <- string(body)
		if !h.well.Load() {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// await returns the next request.
func (h *hanging) await(t *testing.T) string {
	t.Helper()
	select {
	case body := <-h.bodies:
		return body
	case <-time.After(patience):
		t.Fatal("no notification comes")
	}
	return ""
}
