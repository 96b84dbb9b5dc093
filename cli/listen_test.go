package cli

import (
	"net/http"
	"regexp"
	"testing"
)

// With --internal-listen the metrics are served at that address alone.
func TestInternalListen(t *testing.T) {
	t.Parallel()
	server := runServer(t, "--data="+t.TempDir(), "--internal-listen=127.0.0.1:0")
	found := regexp.MustCompile(`"msg":"metrics and documentation","url":"([^"]+)"`).FindStringSubmatch(server.logged())
	if found == nil {
		t.Fatalf("the log does not name the address:\n%s", server.logged())
	}
	for url, want := range map[string]int{
		found[1] + "/metrics": http.StatusOK, found[1] + "/healthz": http.StatusOK,
		server.url + "/metrics": http.StatusNotFound, server.url + "/healthz": http.StatusOK,
	} {
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != want {
			t.Errorf("%s: status %d, want %d (%v)", url, res.StatusCode, want, err)
		}
	}
}
