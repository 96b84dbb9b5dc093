package server_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"platen/server"
)

// A server that cannot generate PDFs is ready, and says what is missing.
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

// platen_ready has the result of the readiness check.
func TestReadyMetric(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		shows := func(want string) {
			t.Helper()
			if text := string(w.do("GET //metrics", request{as: "guest"}).text); !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("the metrics do not show %q", want)
			}
		}
		w.do("GET //readyz", request{as: "guest"}).want(t, 200)
		shows("platen_ready 1")
		must(t, w.blobs.Close())
		w.clock.Add(time.Minute.Microseconds())                      // readiness is not checked again within a second
		if status, _ := get(t, w.url+"/readyz", ""); status != 503 { // whose body is no error of the interface
			t.Errorf("readyz: status %d, want 503", status)
		}
		shows("platen_ready 0")
	})
}
