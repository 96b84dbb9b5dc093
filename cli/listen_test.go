package cli

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// One address may use a quarter of --max-connections.
func TestMaxConnections(t *testing.T) {
	t.Parallel()
	server := runServer(t, "--data="+t.TempDir(), "--max-connections=8")
	if log := server.logged(); !strings.Contains(log, `"connections":8`) {
		t.Errorf("the log does not say how many connections there may be:\n%s", log)
	}
	// from returns a client that connects from an address of this machine and keeps its connection open.
	from := func(host string) *http.Client {
		transport := &http.Transport{DialContext: dialer(host).DialContext}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	get := func(client *http.Client, path string) (string, error) {
		res, err := client.Get(server.url + path)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return string(text), err
	}
	for range 2 {
		if _, err := get(from("127.0.0.2"), "/healthz"); err != nil {
			t.Fatal(err)
		}
	}
	if answer, err := get(from("127.0.0.2"), "/healthz"); err == nil {
		t.Errorf("a third connection of one address got %q", answer)
	}
	metrics, err := get(from("127.0.0.3"), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"platen_http_connections 3\n", "platen_http_connections_limit 8\n",
		"platen_http_connections_refused_total "} {
		if !strings.Contains(metrics, "\n"+want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
	if strings.Contains(metrics, "platen_http_connections_refused_total 0\n") {
		t.Error("the refused connection is not counted")
	}
}

// With --internal-listen, the metrics are served only at that address.
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
