package server

import (
	"context"
	"net/http"
	"time"
)

// readyTimeout is how long a part that the service needs may take to say that it works.
const readyTimeout = 5 * time.Second

// healthz tells that the process is alive and answers; it asks nobody else, so that a database that is down does not
// have every server restarted.
func (a *api) healthz(w http.ResponseWriter, r *http.Request) {
	a.sendJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz tells whether requests can be served, which includes that they can write: each part that the service needs, with ok or what is wrong. What exactly
// is wrong stands in the log: it may name hosts and paths. A server that can make Word documents is ready: that it makes no
// PDFs is a note, which says what to install.
func (a *api) readyz(w http.ResponseWriter, r *http.Request) {
	status, verdict := http.StatusOK, "ok"
	checks, ready := a.ready(r.Context())
	if !ready {
		status, verdict = http.StatusServiceUnavailable, "unavailable"
	}
	body := map[string]any{"status": verdict, "checks": checks}
	if a.pdf != nil {
		body["pdf"] = "ok"
		if err := a.pdf(); err != nil {
			body["pdf"] = err.Error()
		}
	}
	a.sendJSON(w, r, status, body)
}

// ready asks each part that the service needs, and returns ok or unavailable for each, and whether all are ok.
func (a *api) ready(ctx context.Context) (checks map[string]string, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	checks, ready = map[string]string{}, true
	for name, err := range a.service.Ready(ctx) {
		checks[name] = "ok"
		if err != nil {
			checks[name], ready = "unavailable", false
			a.log.ErrorContext(ctx, "not ready", "check", name, "error", err)
		}
	}
	return checks, ready
}

// readyValue is what platen_ready shows.
func (a *api) readyValue() float64 {
	if _, ready := a.ready(context.Background()); !ready {
		return 0
	}
	return 1
}

func (a *api) sendJSON(w http.ResponseWriter, r *http.Request, status int, body any) {
	text, err := marshal(body)
	if err != nil {
		a.sendError(callOf(r.Context()), err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(append(text, '\n')); err != nil {
		a.log.InfoContext(r.Context(), "the client did not take the answer", "error", err)
	}
}
