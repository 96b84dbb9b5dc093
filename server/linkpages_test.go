package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// A browser follows links and keeps cookies, as a visitor's does.
type browser struct {
	w      *world
	client http.Client
}

func (w *world) browser() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	must(w.t, err)
	return &browser{w: w, client: http.Client{Jar: jar}}
}

// page is a page that a browser shows.
type page struct {
	*http.Response
	text string
}

// open requests a URL, and sends a form if it is not nil.
func (b *browser) open(target string, form url.Values, header ...string) page {
	b.w.t.Helper()
	req, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodGet, target, http.NoBody)
	if form != nil {
		req, err = http.NewRequestWithContext(b.w.t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	must(b.w.t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := b.client.Do(req)
	must(b.w.t, err)
	defer res.Body.Close()
	text, err := readAnswer(b.w.t, res)
	must(b.w.t, err)
	return page{res, string(text)}
}

var linkOf = regexp.MustCompile(`<a[^>]*href="([^"]*)"[^>]*>([^<]*)</a>`)

// follow returns the target of the link with a text.
func (p page) follow(t *testing.T, text string) string {
	t.Helper()
	for _, found := range linkOf.FindAllStringSubmatch(p.text, -1) {
		if found[2] == text {
			target, err := p.Request.URL.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
			must(t, err)
			return target.String()
		}
	}
	t.Fatalf("no link says %s:\n%s", text, p.text)
	return ""
}

// want checks the status and texts of a page.
func (p page) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	_, shown, ok := strings.Cut(p.text, "<main>")
	if !ok {
		shown = p.text
	}
	if p.StatusCode != status {
		t.Errorf("%s: status %d, want %d:\n%s", p.Request.URL.Path, p.StatusCode, status, shown)
	}
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			t.Errorf("%s lacks %q:\n%s", p.Request.URL.Path, text, shown)
		}
	}
}

func TestLinkPages(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		b := w.browser()
		link := w.link(s.file, "open", "")
		first := b.open(link, nil)
		first.want(w.t, 200, "<h1>Invoice.docx</h1>", "10 bytes", "20 November 2026, 13:00 UTC")
		style := first.text[strings.Index(first.text, "<style>")+len("<style>") : strings.Index(first.text, "</style>")]
		sum := sha256.Sum256([]byte(style))
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
				"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := first.Header.Get(name); got != want {
				w.t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		content := b.open(first.follow(w.t, "Download"), nil, "Range", "bytes=2-4")
		if content.want(w.t, 206, "234"); !strings.HasPrefix(content.Header.Get("Content-Disposition"), "attachment;") ||
			!strings.Contains(content.Header.Get("Content-Security-Policy"), "sandbox") {
			w.t.Errorf("the content has %v", content.Header)
		}
		w.link(s.file, "company", "")
		b.open(link, nil).want(w.t, 401, "Only for users", "BoxApi")
		b.open(link+"/files/"+id(s.file), nil).want(w.t, 401, "Only for users")
		if _, err := w.UpdateFile(w.t.Context(), w.owner, s.file, docgen.ItemChange{
			Link: &docgen.LinkChange{Access: docgen.LinkOpen, CanDownload: new(false)}}); err != nil {
			w.t.Fatal(err)
		}
		b.open(link, nil).want(w.t, 200, "does not permit downloads")
		b.open(link+"/files/"+id(s.file), nil).want(w.t, 403, "does not permit downloads")
		for _, path := range []string{"x", "/folders/0", "/folders/" + id(s.folder), "/folders/x", "/files/1"} {
			b.open(link+path, nil).want(w.t, 404, "does not exist, or has stopped working")
		}
		secret := link[strings.LastIndex(link, "/")+1:]
		if lines := w.logs.find(secret); len(lines) > 0 {
			w.t.Errorf("the log has the secret: %s", lines)
		}
		if lines := w.logs.find("GET /s/{secret}/files/{file_id}"); len(lines) == 0 {
			w.t.Error("the log does not have the route")
		}
	})
}

func TestLinkPagesOfFolders(t *testing.T) {
	run(t, func(w *world) {
		ctx := w.t.Context()
		top, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "Offers & <more>"})
		must(w.t, err)
		inner, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "Inner", ParentID: top.ID})
		must(w.t, err)
		for i := range 101 {
			_, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: fmt.Sprintf("%03d.txt", i), ParentID: inner.ID}, strings.NewReader("text"))
			must(w.t, err)
		}
		shared, err := w.UpdateFolder(ctx, w.owner, top.ID, docgen.ItemChange{Link: &docgen.LinkChange{Access: docgen.LinkOpen}})
		must(w.t, err)
		b := w.browser()
		first := b.open(shared.SharedLink.URL, nil)
		first.want(w.t, 200, "<h1>Offers &amp; &lt;more&gt;</h1>")
		second := b.open(first.follow(w.t, "Inner"), nil)
		second.want(w.t, 200, "<h1>Inner</h1>", "000.txt", "099.txt")
		b.open(second.follow(w.t, "Download"), nil).want(w.t, 200, "text")
		b.open(second.follow(w.t, "Offers &amp; &lt;more&gt;"), nil).want(w.t, 200, "Inner")
		last := b.open(second.follow(w.t, "Next page"), nil)
		last.want(w.t, 200, "100.txt")
		b.open(last.follow(w.t, "Previous page"), nil).want(w.t, 200, "000.txt")
		b.open(shared.SharedLink.URL+"?marker=x", nil).want(w.t, 400, "Bad Request")
		empty, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "Empty", ParentID: top.ID})
		must(w.t, err)
		b.open(shared.SharedLink.URL+"/folders/"+id(empty.ID), nil).want(w.t, 200, "This folder is empty.")
	})
}

// TestLinkPasswordPages enters passwords, until there were too many.
func TestLinkPasswordPages(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		link := w.link(s.file, "open", "correct horse")
		b, other := w.browser(), w.browser()
		for _, path := range []string{"", "/files/" + id(s.file), "/folders/" + id(s.folder)} {
			p := b.open(link+path, nil)
			p.want(w.t, 403, "Password required")
			action := regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(p.text)[1]
			target, err := p.Request.URL.Parse(action)
			must(w.t, err)
			if target.String() != link {
				w.t.Errorf("the form goes to %s, want %s", target, link)
			}
		}
		b.open(link, url.Values{"password": {"wrong horse"}}).want(w.t, 403, "The password is wrong.")
		b.open(link, url.Values{"password": {"correct horse"}}).want(w.t, 200, "<h1>Invoice.docx</h1>")
		b.open(link+"/files/"+id(s.file), nil).want(w.t, 200, "0123456789")
		other.open(link+"/files/"+id(s.file), nil).want(w.t, 403, "Password required")
		for _, form := range []url.Values{{}, {"password": {"a", "b"}}, {"password": {strings.Repeat("x", 5000)}}} {
			if p := other.open(link, form); p.StatusCode != http.StatusBadRequest && p.StatusCode != http.StatusRequestEntityTooLarge {
				w.t.Errorf("%v: status %d", form, p.StatusCode)
			}
		}
		other.open(link, url.Values{"password": {"x"}}, "Content-Type", "application/json").want(w.t, 415)
		w.link(s.file, "open", "battery staple")
		b.open(link, nil).want(w.t, 403, "Password required")
		for range 10 {
			other.open(link, url.Values{"password": {"wrong horse"}})
		}
		refused := other.open(link, url.Values{"password": {"battery staple"}})
		if refused.want(w.t, 429, "too many requests"); refused.Header.Get("Retry-After") == "" {
			w.t.Error("the page does not say when to try again")
		}
	})
}

// TestVisitorsAreLimited sends more requests than an address without a token may.
func TestVisitorsAreLimited(t *testing.T) {
	runOnce(t, server.Config{RateLimits: server.RateLimits{Requests: -1, Uploads: -1, Guests: 3}}, func(w *world) {
		link := w.link(w.scene().file, "open", "")
		for range 3 {
			w.browser().open(link, nil).want(w.t, 200)
		}
		w.browser().open(link, nil).want(w.t, 429, "too many requests")
	})
}
