package cli

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"platen/docx/picture"
)

// pictureServer serves pictures, and responses of hostile servers.
func pictureServer(t *testing.T, asked *atomic.Int32) *httptest.Server {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch to, _ := strings.CutPrefix(r.URL.Path, "/to/"); {
		case r.URL.Path == "/a.png" || r.URL.Path == "/b.png":
			w.Header().Set("Content-Type", "text/html")
			w.Write(file.Bytes())
		case r.URL.Path == "/page":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte("<html>secret</html>"))
		case r.URL.Path == "/large":
			w.Write(append(file.Bytes(), make([]byte, picture.MaxBytes)...))
		case r.URL.Path == "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case to != r.URL.Path:
			http.Redirect(w, r, "https://"+to, http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// sourceFor returns a source for these hosts that trusts the server's certificate.
func sourceFor(t *testing.T, server *httptest.Server, hosts string) *pictureSource {
	t.Helper()
	var h pictureHosts
	if err := h.UnmarshalText([]byte(hosts)); err != nil {
		t.Fatal(err)
	}
	s := h.source()
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	s.client.Transport.(*http.Transport).TLSClientConfig.RootCAs = trusted
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

func TestPicturesAreFetched(t *testing.T) {
	var asked atomic.Int32
	server := pictureServer(t, &asked)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := sourceFor(t, server, u.Host)
	for range 2 {
		if data, err := s.fetch(t.Context(), server.URL+"/a.png"); err != nil || len(data) == 0 {
			t.Fatalf("%d bytes (%v)", len(data), err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the server was asked %d times for one picture", n)
	}
	s.now = func() time.Time { return time.Now().Add(2 * pictureAge) }
	if _, err := s.fetch(t.Context(), server.URL+"/a.png"); err != nil || asked.Load() != 2 {
		t.Errorf("asked %d times after its age (%v)", asked.Load(), err)
	}
	if data, err := s.fetch(t.Context(), server.URL+"/to/"+u.Host+"/b.png"); err != nil || len(data) == 0 {
		t.Errorf("after a redirect: %d bytes (%v)", len(data), err)
	}
	for path, want := range map[string]string{
		"/none": "404", "/page": "is not an image", "/large": "larger than", "/round": "cannot be reached",
		"/to/example.com/a.png": `"https://example.com"`,
	} {
		if data, err := s.fetch(t.Context(), server.URL+path); err == nil || !strings.Contains(err.Error(), want) || len(data) > 0 {
			t.Errorf("%s gives %d bytes and %v, want an error with %q", path, len(data), err, want)
		}
	}
}

// Whatever the data contains, only listed hosts receive requests.
func TestPicturesFromOtherHosts(t *testing.T) {
	var asked atomic.Int32
	server := pictureServer(t, &asked)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := sourceFor(t, server, "pictures.example.com, *.example.org, 192.0.2.1, localhost:"+u.Port())
	for address, want := range map[string]string{
		server.URL + "/a.png":                                       "not an allowed host",
		"https://localhost:" + u.Port() + "/a.png":                  "is not public",
		"http://localhost:" + u.Port() + "/a.png":                   "not an allowed host",
		"https://pictures.example.com.evil.test/a":                  "not an allowed host",
		"https://pictures.example.com@127.0.0.1/a":                  "not an allowed host",
		"https://user:word@pictures.example.com/a":                  "not an allowed host",
		"https://pictures.example.com:8443/a":                       "not an allowed host",
		"http://pictures.example.com/a":                             "not an allowed host",
		"https://example.org/a":                                     "not an allowed host",
		"https://evilexample.org/a":                                 "not an allowed host",
		"https://169.254.169.254/latest/meta-data":                  "not an allowed host",
		"https://[::ffff:127.0.0.1]:" + u.Port() + "/a":             "not an allowed host",
		"file:///etc/passwd":                                        "not an allowed host",
		"https://%zz":                                               "has an invalid URL",
		"https://pictures.example.com/" + strings.Repeat("a", 3000): "has an invalid URL",
	} {
		if data, err := s.fetch(t.Context(), address); err == nil || !strings.Contains(err.Error(), want) || len(data) > 0 {
			t.Errorf("%.60s gives %d bytes and %v, want an error with %q", address, len(data), err, want)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}

func TestPictureHosts(t *testing.T) {
	var h pictureHosts
	if err := h.UnmarshalText([]byte(" Example.com,*.b.org:8443, http://10.0.0.7,,[2001:db8::1]")); err != nil {
		t.Fatal(err)
	}
	const want = "https://example.com:443, https://*.b.org:8443, http://10.0.0.7:80, https://[2001:db8::1]:443"
	if h.String() != want {
		t.Errorf("printed as %s, want %s", h, want)
	}
	var again pictureHosts
	if err := again.UnmarshalText([]byte(want)); err != nil || again.String() != want {
		t.Errorf("read again it is %s (%v)", again, err)
	}
	for _, wrong := range []string{"*", "*.com", "ftp://a.b", "a.b/c", "u@a.b", "a*.b.c", "https://", "a b"} {
		if err := new(pictureHosts).UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if new(pictureHosts).source() != nil {
		t.Error("without hosts there is something to fetch with")
	}
}

// Only one fetch waits for a host that does not respond.
func TestPicturesOfUnavailableHost(t *testing.T) {
	var asked atomic.Int32
	server := pictureServer(t, &asked)
	held := make(chan struct{})
	slow := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(held) })
	u, err := url.Parse(slow.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := sourceFor(t, server, u.Host)
	s.client.Transport.(*http.Transport).TLSClientConfig.RootCAs = slow.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	s.client.Timeout = 100 * time.Millisecond
	for i, want := range []string{"within", "a moment ago", "a moment ago"} {
		if _, err := s.fetch(t.Context(), fmt.Sprintf("%s/%d.png", slow.URL, i)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("picture %d: error %v, want one with %q", i, err, want)
		}
	}
	if n := asked.Load(); n > 1 {
		t.Errorf("the host was asked %d times", n)
	}
}
