package server

import (
	"context"
	"net/http"
	"time"
)

// readyTimeout is the maximum time for a dependency of the service to respond.
const readyTimeout = 5 * time.Second

// healthz reports that the process is alive and responds. It checks no dependencies, so that an outage of the database does not restart
// every server.
func (a *api) healthz(w http.ResponseWriter, r *http.Request) {
	a.sendJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz reports whether the server can serve requests, including writes: ok or unavailable for each dependency. The log has the details,
// which can contain hosts and paths. A server without LibreOffice is ready, because it can generate Word documents; the response then
// contains a note that says what to install.
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

// ready checks each dependency of the service. It returns ok or unavailable for each, and whether all are ok.
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

// readyValue is the value of platen_ready.
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
		a.log.InfoContext(r.Context(), "cannot send the response", "error", err)
	}
}
