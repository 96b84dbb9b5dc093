package server_test

import (
	"errors"
	"testing"

	"platen/server"
)

// A server that makes no PDFs is ready, and says what it lacks.
func TestReadyWithoutPDF(t *testing.T) {
	for name, tt := range map[string]struct {
		pdf  func() error
		want any
	}{
		"without":   {func() error { return errors.New("install it") }, "install it"},
		"with":      {func() error { return nil }, "ok"},
		"not asked": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			runOnce(t, server.Config{RateLimits: noLimits, PDF: tt.pdf}, func(w *world) {
				body := w.do("GET //readyz", request{as: "guest"}).want(t, 200)
				if body["status"] != "ok" || body["pdf"] != tt.want {
					t.Errorf("readyz = %v, want the status ok and pdf %v", body, tt.want)
				}
			})
		})
	}
}
