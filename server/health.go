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
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	status, verdict := http.StatusOK, "ok"
	checks := map[string]string{}
	for name, err := range a.service.Ready(ctx) {
		checks[name] = "ok"
		if err != nil {
			checks[name], status, verdict = "unavailable", http.StatusServiceUnavailable, "unavailable"
			a.log.ErrorContext(ctx, "not ready", "check", name, "error", err)
		}
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
