package server

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

func TestPages(t *testing.T) {
	a, _ := newTestAPI(t)
	get := func(path string, header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		r.Header = header
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	pages := map[string]string{}
	for _, path := range []string{"/docs", "/docs/errors"} {
		w := get(path, http.Header{})
		pages[path] = w.Body.String()
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Fatalf("%s: status %d, %v", path, w.Code, w.Header())
		}
		if w := get(path, http.Header{"If-None-Match": {w.Header().Get("ETag")}}); w.Code != http.StatusNotModified {
			t.Errorf("%s again: status %d, want 304", path, w.Code)
		}
	}
	t.Run("need no script and nothing from elsewhere", func(t *testing.T) {
		loaded := regexp.MustCompile(`(?i)<(script|img|link|iframe|object|embed)|\bsrc=|@import|url\(`)
		for path, text := range pages {
			if found := loaded.FindString(text); found != "" {
				t.Errorf("%s has %s", path, found)
			}
		}
	})
	t.Run("have a place for every operation and every code", func(t *testing.T) {
		for _, op := range a.operations {
			for _, want := range []string{`id="` + op.OperationID + `"`, `href="#` + op.OperationID + `"`, op.Path} {
				if !strings.Contains(pages["/docs"], want) {
					t.Errorf("/docs lacks %s", want)
				}
			}
		}
		withToken := slices.DeleteFunc(slices.Clone(a.operations), func(op *huma.Operation) bool { return op.Security != nil })
		if got := strings.Count(pages["/docs"], "Authorization: Bearer $TOKEN"); got != len(withToken) {
			t.Errorf("%d curl commands with a token, want one for each of %d operations", got, len(withToken))
		}
		ofClients := slices.DeleteFunc(slices.Clone(a.operations), func(op *huma.Operation) bool {
			return !strings.HasPrefix(op.Path, "/oauth2/")
		})
		if got := strings.Count(pages["/docs"], "-d client_secret=SECRET"); got != len(ofClients) {
			t.Errorf("%d curl commands of clients, want %d", got, len(ofClients))
		}
		for _, kind := range errorKinds {
			if !strings.Contains(pages["/docs/errors"], `id="`+string(kind.Code)+`"`) {
				t.Errorf("/docs/errors lacks %s", kind.Code)
			}
		}
	})
	t.Run("lead somewhere", func(t *testing.T) {
		anchors := regexp.MustCompile(`href="([^"]*)"`)
		for path, text := range pages {
			for _, match := range anchors.FindAllStringSubmatch(text, -1) {
				page, anchor, _ := strings.Cut(strings.TrimPrefix(match[1], a.baseURL), "#")
				if page == "" {
					page = path
				}
				if target, known := pages[page]; anchor != "" &&
					(!known || !strings.Contains(target, `id="`+strings.ReplaceAll(anchor, "%20", " ")+`"`)) {
					t.Errorf("%s: %s leads nowhere", path, match[1])
				}
				if anchor == "" && get(page, http.Header{}).Code != http.StatusOK {
					t.Errorf("%s: %s leads nowhere", path, match[1])
				}
			}
		}
	})
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"plain <b> & more":              "plain &lt;b&gt; &amp; more",
		"a `code <x>` and `more`.":      "a <code>code &lt;x&gt;</code> and <code>more</code>.",
		"[label](http://x/#y), [z](/w)": `<a href="http://x/#y">label</a>, <a href="/w">z</a>`,
		`[x](" onclick="y)`:             `<a href="&#34; onclick=&#34;y">x</a>`,
	} {
		if got := string(markdown(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
