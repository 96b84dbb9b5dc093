package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/generate"
	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/raster"
	"platen/server"
	"platen/store"
	"platen/store/storetest"
)

func TestMain(m *testing.M) {
	office.Worker(os.Args)
	raster.Worker(os.Args)
	storetest.Main(m)
}

// world is a server on an empty database, with its callers. Tests create objects as the owner.
type world struct {
	*docgen.Service
	t      *testing.T
	url    string // without the /2.0
	logs   *logs
	clock  atomic.Int64 // microseconds
	compat server.Compat
	blobs  blob.Store
	owner  *docgen.Caller
	tokens map[string]string // by the name of the caller
	api    *document         // for validating every response
	engine pdf.Engine        // for PDFs; nil if the server has none
}

// The callers of a world. guest sends no token. expired has an expired token of the owner. scope has a token of the
// owner with only the scope for webhooks; for operations on webhooks, the token named reading replaces it, with only
// the scope for reading. reader and editor are collaborators where scene says so. other has no relation to the owner,
// and neither has admin, who is an admin of the enterprise. archivist is the admin with a token that has every scope,
// including access to the content of all users.
var callers = []string{"guest", "expired", "scope", "other", "reader", "editor", "owner", "admin", "archivist"}

// everyScope lists all scopes of an admin's token.
var everyScope = []docgen.Scope{docgen.ScopeRead, docgen.ScopeWrite, docgen.ScopeDocGen, docgen.ScopeWebhooks, docgen.ScopeManagedUsers,
	docgen.ScopeAppUsers, docgen.ScopeEnterprise, docgen.ScopeGlobalContent}

// run runs a test in a new world on each database.
func run(t *testing.T, test func(w *world)) {
	t.Helper()
	runWith(t, server.Config{RateLimits: noLimits}, docgen.Limits{}, test)
}

// runLong is run, but with -short only on SQLite: for tests that take long on PostgreSQL and depend little on the
// database.
func runLong(t *testing.T, test func(w *world)) {
	t.Helper()
	if testing.Short() {
		runOnce(t, server.Config{RateLimits: noLimits}, test)
		return
	}
	run(t, test)
}

// runOnce runs a test that does not depend on the database, in a new world on SQLite.
func runOnce(t *testing.T, cfg server.Config, test func(w *world)) {
	t.Helper()
	t.Parallel()
	test(newWorld(t, storetest.Open(t, storetest.SQLite(t)), cfg, docgen.Limits{}))
}

var noLimits = server.RateLimits{Requests: -1, Uploads: -1, Guests: -1}

func runWith(t *testing.T, cfg server.Config, limits docgen.Limits, test func(w *world)) {
	t.Helper()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		t.Parallel()
		test(newWorld(t, db, cfg, limits))
	})
}

func newWorld(t *testing.T, db *store.DB, cfg server.Config, limits docgen.Limits) *world {
	t.Helper()
	return newWorldOf(t, cfg, docgen.Config{Store: db, Limits: limits})
}

// newWorldOf creates a world with a service whose contents are in a separate directory.
func newWorldOf(t *testing.T, cfg server.Config, service docgen.Config) *world {
	t.Helper()
	return newWorldWith(t, cfg, service, nil)
}

// newWorldWith is newWorldOf with an engine for PDFs, whose pages the server draws too.
func newWorldWith(t *testing.T, cfg server.Config, service docgen.Config, engine pdf.Engine) *world {
	t.Helper()
	w := &world{t: t, logs: &logs{}, tokens: map[string]string{"guest": ""}, engine: engine}
	w.clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMicro())
	var err error
	w.blobs, err = blob.Open(t.TempDir())
	must(t, err)
	service.Blobs, service.Now = w.blobs, func() time.Time { return time.UnixMicro(w.clock.Load()).UTC() }
	service.Notification, service.LeadingSpaces = server.Notification, cfg.Compat == server.CompatBox
	w.Service, err = docgen.New(t.Context(), service)
	must(t, err)
	for _, name := range []string{"owner", "other", "reader", "editor", "admin", "carol"} {
		role := docgen.RoleUser
		if name == "admin" {
			role = docgen.RoleAdmin
		}
		_, err := w.CreateUser(t.Context(), docgen.NewUser{Login: name + "@example.com", Name: name, Role: role})
		must(t, err)
		w.tokens[name] = w.token(name, 0)
	}
	w.tokens["scope"] = w.token("owner", 0, docgen.ScopeWebhooks)
	w.tokens["reading"] = w.token("owner", 0, docgen.ScopeRead)
	w.tokens["archivist"] = w.token("admin", 0, everyScope...)
	w.tokens["expired"] = w.token("owner", time.Minute)
	w.clock.Add(time.Hour.Microseconds())
	w.owner = w.caller("owner")
	w.serve(cfg)
	w.api = w.document()
	return w
}

// serve starts the server.
func (w *world) serve(cfg server.Config) {
	log := slog.New(slog.NewJSONHandler(w.logs, nil))
	listener := httptest.NewUnstartedServer(nil)
	w.url = "http://" + listener.Listener.Addr().String()
	cfg.Service, cfg.Log, cfg.BaseURL, w.compat = w.Service, log, w.url, cfg.Compat
	must(w.t, w.SetBaseURL(w.t.Context(), w.url))
	generator := generate.Config{Service: w.Service, Log: log, Picture: unanswered, PDF: w.engine}
	if w.engine != nil {
		self, err := os.Executable()
		must(w.t, err)
		generator.Pages = raster.New(raster.Config{Worker: self})
	}
	cfg.Generator = generate.New(generator)
	listener.Config = server.NewHTTPServer(server.New(cfg), log)
	listener.Listener = server.Listener(listener.Listener, w.url, log)
	listener.Start()
	w.t.Cleanup(listener.Close)
}

// unanswered is a host of images that never answers.
func unanswered(ctx context.Context, _ string) ([]byte, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (w *world) token(user string, ttl time.Duration, scopes ...docgen.Scope) string {
	w.t.Helper()
	token, err := w.CreateToken(w.t.Context(), docgen.NewToken{Login: user + "@example.com", TTL: ttl, Scopes: scopes})
	must(w.t, err)
	return token
}

// tokenID returns the id that lists show for a token.
func (w *world) tokenID(token string) int64 {
	w.t.Helper()
	c, err := w.Authenticate(w.t.Context(), token)
	must(w.t, err)
	return c.TokenID
}

func (w *world) caller(name string) *docgen.Caller {
	w.t.Helper()
	c, err := w.Authenticate(w.t.Context(), w.tokens[name])
	must(w.t, err)
	return c
}

// request is a request of a test. The zero value of a field is the most common case.
type request struct {
	as      string      // the caller; the owner if empty
	header  http.Header // in addition to the token, the version header, and the content type
	body    any         // a string or []byte is sent unchanged, a form as a form, anything else as JSON
	without []string    // headers not to send
}

// form is the parts of an upload, in order.
type form [][2]string

// response is the received response.
type response struct {
	*http.Response
	text []byte
}

// do sends a request. call is a method and a path under /2.0, or a path from the root if it begins with //.
func (w *world) do(call string, r request) response {
	w.t.Helper()
	method, path, _ := strings.Cut(call, " ")
	address := w.url + "/2.0" + path
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		address = w.url + "/" + rest
	}
	body, contentType := encode(w.t, r.body)
	req, err := http.NewRequestWithContext(w.t.Context(), method, address, body)
	must(w.t, err)
	if r.as == "" {
		r.as = "owner"
	}
	if token := w.tokens[r.as]; token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("svc-version", "2025.0")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	maps.Copy(req.Header, r.header)
	for _, name := range r.without {
		req.Header.Del(name)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(w.t, err)
	defer res.Body.Close()
	text, err := readAnswer(w.t, res)
	must(w.t, err)
	got := response{res, text}
	if w.api != nil {
		w.api.check(w.t, got)
	}
	return got
}

// readAnswer reads the body of a response: of a stream of events, only the first one.
func readAnswer(t *testing.T, res *http.Response) ([]byte, error) {
	t.Helper()
	if res.Header.Get("Content-Type") != "text/event-stream" {
		return io.ReadAll(unpacked(t, res))
	}
	var text []byte
	for r := bufio.NewReader(res.Body); ; {
		line, err := r.ReadBytes('\n')
		text = append(text, line...)
		if errors.Is(err, io.EOF) || err == nil && len(line) == 1 {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}

// unpacked returns the body of a response, decompressed if the request explicitly accepted compression.
func unpacked(t *testing.T, res *http.Response) io.Reader {
	t.Helper()
	if res.Header.Get("Content-Encoding") != "gzip" || res.Request.Method == http.MethodHead {
		return res.Body
	}
	r, err := gzip.NewReader(res.Body)
	must(t, err)
	return r
}

func encode(t *testing.T, body any) (io.Reader, string) {
	t.Helper()
	switch b := body.(type) {
	case nil:
		return nil, ""
	case string:
		return strings.NewReader(b), "application/json"
	case []byte:
		return bytes.NewReader(b), "application/json"
	case url.Values:
		return strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
	case form:
		var buf bytes.Buffer
		parts := multipart.NewWriter(&buf)
		for _, part := range b {
			create := parts.CreateFormField
			if part[0] == "file" {
				create = func(name string) (io.Writer, error) { return parts.CreateFormFile(name, "") }
			}
			w, err := create(part[0])
			must(t, err)
			_, err = io.WriteString(w, part[1])
			must(t, err)
		}
		must(t, parts.Close())
		return &buf, parts.FormDataContentType()
	}
	text, err := json.Marshal(body)
	must(t, err)
	return bytes.NewReader(text), "application/json"
}

// object is a JSON object.
type object = map[string]any

// json decodes a response.
func (r response) json(t *testing.T) object {
	t.Helper()
	var v object
	if err := json.Unmarshal(r.text, &v); err != nil {
		t.Fatalf("%s %s: %d %q: %v", r.Request.Method, r.Request.URL, r.StatusCode, r.text, err)
	}
	return v
}

// want checks the status, and the code of an error.
func (r response) want(t *testing.T, status int, code ...string) object {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, status, r.text)
	}
	if len(r.text) == 0 {
		return nil
	}
	v := r.json(t)
	if len(code) > 0 && v["code"] != code[0] {
		t.Errorf("%s %s: code %v, want %s: %s", r.Request.Method, r.Request.URL.Path, v["code"], code[0], r.text)
	}
	return v
}

// problems returns the reason and the name of every problem that an error lists.
func problems(v object) []string {
	info, _ := v["context_info"].(object)
	list, _ := info["errors"].([]any)
	names := []string{}
	for _, p := range list {
		names = append(names, fmt.Sprint(p.(object)["reason"], " ", p.(object)["name"]))
	}
	slices.Sort(names)
	return names
}

// scene is a shared folder of the owner with a template in it, a batch generated from it, and an empty archive. A
// webhook of the owner on the folder has a test delivery.
type scene struct {
	folder, file, version, collaboration, job, archive int64
	batch                                              string
	user, newOwner                                     int64 // two users without other relations
	client                                             client
	token                                              int64  // of the owner, to read
	ticket                                             string // of the owner, for the file; empty until a test issues it
	zip                                                string // ticket of the owner, for a ZIP download of the folder
	session, part                                      int64  // of the owner; none until a test starts an upload in parts
	webhook, delivery, listener                        int64  // there is no listener until a test creates one
}

// scene creates a folder that reader may read and editor may edit, and on which carol collaborates.
func (w *world) scene() scene {
	w.t.Helper()
	ctx := w.t.Context()
	name := fmt.Sprintf("scene %d", w.clock.Add(1))
	folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: name})
	must(w.t, err)
	s := scene{folder: folder.ID}
	for login, role := range map[string]docgen.Role{"reader": docgen.RoleViewer, "editor": docgen.RoleEditor, "carol": docgen.RoleViewer} {
		made, err := w.CreateCollaboration(ctx, w.owner, docgen.NewCollaboration{
			ItemKind: docgen.Folder, ItemID: folder.ID, Login: login + "@example.com", Role: role,
		})
		must(w.t, err)
		if login == "carol" {
			s.collaboration = made.ID
		}
	}
	file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: "Invoice.docx", ParentID: folder.ID}, strings.NewReader("0123456789"))
	must(w.t, err)
	s.file, s.version = file.ID, file.VersionID
	_, err = w.MarkTemplate(ctx, w.owner, s.file)
	must(w.t, err)
	must(w.t, w.SaveReading(ctx, s.version, docgen.Reading{
		Tags:   []docgen.Tag{{Content: "{{ name }}", Type: "text", JSONPaths: []string{"name"}}},
		Schema: []byte(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	}))
	_, err = w.SaveSample(ctx, w.owner, s.file, docgen.NewSample{Name: "paid", Input: new(docgen.Inputs).Parse([]byte(`{"name":"Ada"}`))})
	must(w.t, err)
	s.batch, err = w.CreateBatch(ctx, w.owner, docgen.NewBatch{
		TemplateID: s.file, InputSource: docgen.InputSource, DestinationID: s.folder, OutputType: docgen.OutputDocx,
		Documents: []docgen.NewDocument{{Name: "Letter", Input: new(docgen.Inputs).Parse([]byte(`{"name":"Ada"}`))}},
	})
	must(w.t, err)
	jobs, err := w.Jobs(ctx, w.owner, docgen.JobFilter{BatchID: new(s.batch)}, docgen.PageRequest{})
	must(w.t, err)
	s.job = jobs.Entries[0].ID
	archive, err := w.CreateArchive(ctx, w.caller("archivist"), docgen.NewArchive{Name: "archive of " + name})
	must(w.t, err)
	s.archive = archive.ID
	s.user, s.newOwner = w.user(name+".user"), w.user(name+".new-owner")
	s.client = w.client(docgen.NewApplication{Name: name, ActsAsUsers: true})
	s.token = w.tokenID(w.token("owner", 0, docgen.ScopeRead))
	hook, err := w.CreateWebhook(ctx, w.owner, docgen.NewWebhook{
		TargetKind: docgen.Folder, TargetID: s.folder, Address: "https://hooks.example.com/Invoice",
		Triggers: []docgen.Trigger{docgen.FileUploaded},
	})
	must(w.t, err)
	delivery, err := w.TestWebhook(ctx, w.owner, hook.ID, docgen.FileUploaded)
	must(w.t, err)
	s.webhook, s.delivery = hook.ID, delivery.ID
	s.ticket, s.zip = w.ticket(s), w.zip(s, false)
	return s
}

// user creates a user and returns the id.
func (w *world) user(name string) int64 {
	w.t.Helper()
	made, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: strings.ReplaceAll(name, " ", "") + "@example.com", Name: name})
	must(w.t, err)
	return made.ID
}

// client is an application with its secret.
type client struct {
	docgen.Application
	secret string
}

func (w *world) client(n docgen.NewApplication) client {
	w.t.Helper()
	app, secret, err := w.CreateApplication(w.t.Context(), n)
	must(w.t, err)
	return client{app, secret}
}

// form returns the credentials of the client as a form with additional fields: names and values.
func (c client) form(more ...string) url.Values {
	f := url.Values{"client_id": {c.ClientID}, "client_secret": {c.secret}}
	for i := 0; i < len(more); i += 2 {
		f.Set(more[i], more[i+1])
	}
	return f
}

// logs collects the log lines of a server.
type logs struct{ lines atomic.Pointer[[]string] }

func (l *logs) Write(p []byte) (int, error) {
	for {
		old := l.lines.Load()
		var lines []string
		if old != nil {
			lines = slices.Clone(*old)
		}
		lines = append(lines, string(p))
		if l.lines.CompareAndSwap(old, &lines) {
			return len(p), nil
		}
	}
}

// find returns the log lines that contain all of the texts.
func (l *logs) find(texts ...string) []string {
	var found []string
	for _, line := range *l.lines.Load() {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			found = append(found, line)
		}
	}
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
