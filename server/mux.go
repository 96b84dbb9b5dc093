package server

import (
	"net/http"
	"strings"
)

// uploadsPath is the path of upload sessions.
const uploadsPath = "/files/upload_sessions"

// A mux routes requests by pattern. Upload sessions have a table of their own: in one table, their patterns would conflict with those of
// files, because both match /files/upload_sessions/content.
type mux struct{ others, uploads http.ServeMux }

func (m *mux) tableOf(path string) *http.ServeMux {
	if rest, ok := strings.CutPrefix(path, prefix+uploadsPath); ok && (rest == "" || rest[0] == '/') {
		return &m.uploads
	}
	return &m.others
}

// Handle registers the handler for a pattern with a method.
func (m *mux) Handle(pattern string, handler http.Handler) {
	_, path, _ := strings.Cut(pattern, " ")
	m.tableOf(path).Handle(pattern, handler)
}

// HandleFunc registers the function for a pattern with a method.
func (m *mux) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, http.HandlerFunc(handler))
}

// Handler returns the pattern that matches a request, or an empty string.
func (m *mux) Handler(r *http.Request) (http.Handler, string) {
	return m.tableOf(r.URL.Path).Handler(r)
}

// ServeHTTP calls the handler whose pattern matches the request.
func (m *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.tableOf(r.URL.Path).ServeHTTP(w, r)
}
