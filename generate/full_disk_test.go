package generate_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"platen/blob"
	"platen/blob/blobtest"
	"platen/docgen"
	"platen/generate"
	"platen/store"
	"platen/store/storetest"
)

// logged is the log of a generator.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// count returns the number of lines that contain some words.
func (l *logged) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// putOff returns how often documents were postponed because of a shortage, according to the metric.
func (w *world) putOff(lacking docgen.Shortage) int {
	w.t.Helper()
	return w.counted("platen_shortages_total", string(lacking))
}

// endedAs returns how many documents ended with a status, according to the metric.
func (w *world) endedAs(status docgen.Status) int {
	w.t.Helper()
	return w.counted("platen_documents_total", string(status))
}

func (w *world) counted(name, label string) int {
	w.t.Helper()
	families, err := w.metrics.Gather()
	must(w.t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == name && metric.GetLabel()[0].GetValue() == label {
				return int(metric.GetCounter().GetValue() + metric.GetGauge().GetValue())
			}
		}
	}
	w.t.Fatalf("there is no %s with %s", name, label)
	return 0
}

// While the disk is full, documents wait, however often they are tried, and report the reason. Once there is space,
// they are generated.
func TestDocumentsWaitForDiskSpace(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		said := &logged{}
		blobs := blobtest.NewFaulty(newBlobs(t))
		w := newWorldAs(t, db, blobs, generate.Config{Log: slog.New(slog.NewTextHandler(said, nil))})
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		w.start()
		blobs.Room(0)
		inputs := make([]string, 40) // more than one claim
		for i := range inputs {
			inputs[i] = fmt.Sprintf(`{"a": %d}`, i)
		}
		batch := w.batch(template.ID, docgen.OutputDocx, inputs...)
		waitFor(t, "more tries than fail a document", func() bool {
			if failed := w.endedAs(docgen.StatusFailed); failed > 0 {
				t.Fatalf("%d documents failed", failed)
			}
			return w.putOff(docgen.ShortOfDiskSpace) >= 10
		})
		page, err := w.service.Jobs(t.Context(), w.caller, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{Limit: docgen.MaxPageLimit})
		must(t, err)
		for _, job := range page.Entries {
			one, err := w.service.Job(t.Context(), w.caller, job.ID)
			must(t, err)
			if job.Status == docgen.StatusFailed || job.WaitingFor != docgen.ShortOfDiskSpace || one.WaitingFor != docgen.ShortOfDiskSpace {
				t.Errorf("without room a job is %s, and waits for %q in the list, %q by itself", job.Status, job.WaitingFor, one.WaitingFor)
			}
		}
		if n := w.counted("platen_shortage", string(docgen.ShortOfDiskSpace)); n != 1 {
			t.Errorf("platen_shortage is %d without room, want 1", n)
		}
		if n := said.count("level=ERROR"); n != 1 || said.count("waiting_for=disk_space") != 1 {
			t.Errorf("the log has %d errors, want one that says that there is no disk space:\n%s", n, said.text.String())
		}
		blobs.Room(-1)
		for i, job := range w.jobs(batch) {
			if job.Status != docgen.StatusCompleted || job.WaitingFor != docgen.NoShortage || w.text(job) != fmt.Sprint(i) {
				t.Errorf("with room again: status %s with %q, waiting for %q", job.Status, job.Failures.Errors, job.WaitingFor)
			}
		}
		if n := w.counted("platen_shortage", string(docgen.ShortOfDiskSpace)); n != 0 {
			t.Errorf("platen_shortage is %d with room again, want 0", n)
		}
		if n := said.count("documents are generated again"); n != 1 {
			t.Errorf("the log says %d times that it is over, want once:\n%s", n, said.text.String())
		}
	})
}

// A full disk stops only the batches that need it. Other batches of the same user are generated.
func TestFullDiskBlocksOnlyAffectedBatches(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := &fullFor{Store: newBlobs(t), t: t}
		w := newWorld(t, db, blobs)
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		w.start()
		blobs.full.Store(true)
		waiting := w.batch(template.ID, docgen.OutputDocx, `{"a": "large"}`)
		waitFor(t, "a document that waits", func() bool { return w.putOff(docgen.ShortOfDiskSpace)+w.endedAs(docgen.StatusFailed) > 0 })
		for range 3 {
			if job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": "small"}`))[0]; job.Status != docgen.StatusCompleted {
				t.Errorf("a document there is room for is %s: %q", job.Status, job.Failures.Errors)
			}
		}
		blobs.full.Store(false)
		if job := w.jobs(waiting)[0]; job.Status != docgen.StatusCompleted {
			t.Errorf("with room again: status %s with %q", job.Status, job.Failures.Errors)
		}
	})
}

// A user's own quota is not an error of the server: the document fails immediately, with the reason.
func TestFullQuotaFailsImmediately(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		_, err := w.service.UpdateUser(t.Context(), w.admin(), w.caller.User.ID, docgen.UserChange{SpaceAmount: new(template.Size + 1)})
		must(t, err)
		w.start()
		job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`))[0]
		if said := strings.Join(job.Failures.Errors, " "); job.Status != docgen.StatusFailed ||
			!strings.Contains(said, "ask an administrator for a larger quota") {
			t.Errorf("status %s with %q, want failed for want of quota", job.Status, said)
		}
		if n := w.putOff(docgen.ShortOfDiskSpace); n != 0 {
			t.Errorf("it was put off %d times", n)
		}
	})
}

// admin is a caller who may set quotas.
func (w *world) admin() *docgen.Caller {
	w.t.Helper()
	ctx := w.t.Context()
	_, err := w.service.CreateUser(ctx, docgen.NewUser{Login: "admin@example.com", Name: "Admin", Role: docgen.RoleAdmin})
	must(w.t, err)
	token, err := w.service.CreateToken(ctx, docgen.NewToken{Login: "admin@example.com"})
	must(w.t, err)
	caller, err := w.service.Authenticate(ctx, token)
	must(w.t, err)
	return caller
}

// The connection to the database breaks each time a document is to be completed. That does not count as a failed try
// either.
func TestDocumentsWaitForTheDatabase(t *testing.T) {
	cfg := storetest.Postgres(t)
	db, raw := storetest.Open(t, cfg), storetest.Raw(t, cfg)
	for _, statement := range []string{
		"CREATE SEQUENCE outages",
		`CREATE FUNCTION outage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('outages') <= 8 THEN PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(60); END IF;
			RETURN NEW;
		END $$`,
		"CREATE TRIGGER outage BEFORE UPDATE ON docgen_jobs FOR EACH ROW WHEN (NEW.finished_at <> 0) EXECUTE FUNCTION outage()",
	} {
		_, err := raw.ExecContext(t.Context(), statement)
		must(t, err)
	}
	w := newWorld(t, db, newBlobs(t))
	template := w.template("T.docx", docxOf(t, "{{a}}"))
	w.start()
	if job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`))[0]; job.Status != docgen.StatusCompleted {
		t.Errorf("the document is %s: %q", job.Status, job.Failures.Errors)
	}
	if n := w.putOff(docgen.ShortOfDatabase); n < 8 {
		t.Errorf("it was put off %d times, want 8", n)
	}
}

// fullFor is a blob store without space for contents that contain some words.
type fullFor struct {
	blob.Store
	t    *testing.T
	full atomic.Bool
}

func (f *fullFor) Put(ctx context.Context, key string, r io.Reader) (int64, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	if f.full.Load() && strings.HasPrefix(documentText(f.t, content), "large") {
		return 0, blob.ErrNoSpace
	}
	return f.Store.Put(ctx, key, bytes.NewReader(content))
}
