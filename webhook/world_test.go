package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
	"platen/webhook"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// patience is the maximum time to wait for an event. No event takes that long unless something is broken.
const patience = 10 * time.Minute

// world is a service whose notifications are delivered, and a user with webhooks on folders.
type world struct {
	t          testing.TB
	db         *store.DB
	service    *docgen.Service
	caller     *docgen.Caller
	admin      *docgen.Caller
	metrics    *prometheus.Registry
	config     webhook.Config
	ahead      atomic.Int64  // nanoseconds by which the clock is ahead of the real one
	unfinished atomic.Int32  // number of tasks that used up their time
	pace       time.Duration // interval of looking for tasks, and for due deliveries
	workers    int           // maximum number of concurrent tasks of webhooks
	failing    atomic.Int32  // number of times that looking for due deliveries fails at first
}

func newWorld(t testing.TB, db *store.DB) *world {
	t.Helper()
	blobs, err := blob.Open(t.TempDir())
	must(t, err)
	w := &world{t: t, db: db, metrics: prometheus.NewRegistry(), workers: 10_000, pace: 20 * time.Millisecond}
	w.service, err = docgen.New(t.Context(), docgen.Config{Store: db, Blobs: blobs, Now: w.now})
	must(t, err)
	w.caller, w.admin = w.user("alice", docgen.RoleUser), w.user("root", docgen.RoleAdmin)
	w.config = webhook.Config{
		Service: w.service, Log: slog.New(slog.DiscardHandler), Guard: webhook.NewGuard(webhook.GuardConfig{AnyAddress: true}),
		Schedule: webhook.Schedule{20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond}, Metrics: w.metrics, Now: w.now,
	}
	return w
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// later advances the clock.
func (w *world) later(d time.Duration) { w.ahead.Add(int64(d)) }

func (w *world) user(name, role string) *docgen.Caller {
	w.t.Helper()
	ctx := w.t.Context()
	_, err := w.service.CreateUser(ctx, docgen.NewUser{Login: name + "@example.com", Name: name, Role: role})
	must(w.t, err)
	token, err := w.service.CreateToken(ctx, docgen.NewToken{Login: name + "@example.com"})
	must(w.t, err)
	caller, err := w.service.Authenticate(ctx, token)
	must(w.t, err)
	return caller
}

// actor is a user of a world.
type actor struct {
	*world
	caller *docgen.Caller
}

// as returns an actor for another user.
func (w *world) as(caller *docgen.Caller) *actor { return &actor{w, caller} }

// start delivers until the test ends.
func (w *world) start() *webhook.Deliverer {
	w.t.Helper()
	return w.startNode(w.db, w.service, w.config)
}

// startNode delivers until the test ends, as one of several servers.
func (w *world) startNode(db *store.DB, service *docgen.Service, config webhook.Config) *webhook.Deliverer {
	w.t.Helper()
	deliverer := webhook.New(config)
	queue := store.NewQueue(db, store.QueueConfig{
		Workers: map[string]int{store.DefaultQueue: 4, docgen.DeliveryQueue: w.workers}, Poll: w.pace,
		Backoff: func(int) time.Duration { return time.Millisecond },
	})
	store.Handle(queue, func(ctx context.Context, task docgen.DeliverNotifications) error {
		err := deliverer.Deliver(ctx, task)
		switch {
		case errors.Is(err, webhook.ErrUnfinished):
			w.unfinished.Add(1)
			return store.Snooze(0)
		case errors.Is(err, webhook.ErrCrowded):
			return store.Snooze(20 * time.Millisecond)
		}
		return err
	})
	store.Handle(queue, func(ctx context.Context, _ docgen.WakeWebhooks) error {
		if w.failing.Add(-1) >= 0 {
			return errors.New("the database does not answer")
		}
		if err := service.WakeWebhooks(ctx, deliverer.Serves); err != nil {
			return err
		}
		return store.Snooze(w.pace)
	})
	must(w.t, service.ScheduleDeliveries(w.t.Context()))
	must(w.t, queue.Start(context.WithoutCancel(w.t.Context())))
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		must(w.t, queue.Stop(ctx))
		deliverer.Close()
	})
	return deliverer
}

// folder creates a folder in the root folder of the user.
func (w *world) folder(name string) int64 { return w.as(w.caller).folder(name) }

func (w *actor) folder(name string) int64 {
	w.t.Helper()
	item, err := w.service.CreateFolder(w.t.Context(), w.caller, docgen.NewFolder{Name: name})
	must(w.t, err)
	return item.ID
}

// hook creates a folder, and a webhook that is notified of uploads to it.
func (w *world) hook(name, address string) (folder, id int64) {
	return w.as(w.caller).hook(name, address)
}

func (w *actor) hook(name, address string) (folder, id int64) {
	w.t.Helper()
	folder = w.folder(name)
	made, err := w.service.CreateWebhook(w.t.Context(), w.caller, docgen.NewWebhook{
		TargetKind: docgen.Folder, TargetID: folder, Address: address, Triggers: []docgen.Trigger{docgen.FileUploaded},
	})
	must(w.t, err)
	return folder, made.ID
}

func (w *world) upload(folder int64, name string) { w.as(w.caller).upload(folder, name) }

func (w *actor) upload(folder int64, name string) {
	w.t.Helper()
	_, err := w.service.CreateFile(w.t.Context(), w.caller, docgen.NewFile{Name: name, ParentID: folder}, strings.NewReader("text"))
	must(w.t, err)
}

// deliveries returns the deliveries of a webhook, oldest first.
func (w *world) deliveries(id int64) []docgen.Delivery {
	w.t.Helper()
	page, err := w.service.Deliveries(context.WithoutCancel(w.t.Context()), w.admin, docgen.DeliveryFilter{WebhookID: id},
		docgen.PageRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	slices.Reverse(page.Entries)
	return page.Entries
}

// await waits until a webhook has n deliveries, all in the same state.
func (w *world) await(id int64, n int, state docgen.DeliveryState) []docgen.Delivery {
	w.t.Helper()
	var list []docgen.Delivery
	waitFor(w.t, "the deliveries to be "+string(state), func() bool {
		list = w.deliveries(id)
		return len(list) == n && !slices.ContainsFunc(list, func(d docgen.Delivery) bool { return d.State != state })
	})
	return list
}

// attempts returns the attempts of a delivery.
func (w *world) attempts(delivery int64) []docgen.Attempt {
	w.t.Helper()
	page, err := w.service.Attempts(w.t.Context(), w.admin, delivery, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	return page.Entries
}

// receiver is a server that notifications are sent to.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
	got    []request
	came   chan struct{} // receives a value when a request arrives; buffered
}

// request is a request that a receiver got.
type request struct {
	header http.Header
	body   []byte
}

// newReceiver starts a receiver that calls answer, or answers 200 if answer is nil.
func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	r := &receiver{answer: answer, came: make(chan struct{}, 1)}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) receive(rw http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.got = append(r.got, request{req.Header.Clone(), body})
	answer := r.answer
	r.mu.Unlock()
	select {
	case r.came <- struct{}{}:
	default:
	}
	if answer != nil {
		answer(rw, req)
	}
}

func (r *receiver) become(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// names returns the names of the files in the notifications, in order of arrival.
func (r *receiver) names(t testing.TB) (names []string) {
	t.Helper()
	for _, got := range r.requests() {
		var body struct{ Source docgen.Source }
		must(t, json.Unmarshal(got.body, &body))
		names = append(names, body.Source.Item.Name)
	}
	return names
}

// files returns the names of the files in the notifications, sorted and without duplicates.
func (r *receiver) files(t testing.TB) []string {
	t.Helper()
	names := r.names(t)
	slices.Sort(names)
	return slices.Compact(names)
}

// status returns a handler that answers with a status.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waitFor polls until something has happened.
func waitFor(t testing.TB, what string, happened func() bool) {
	t.Helper()
	over := time.After(patience)
	for !happened() {
		select {
		case <-over:
			t.Fatalf("timed out after %v waiting for %s", patience, what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
