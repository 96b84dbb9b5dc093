package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/server"
)

// follow requests the URL of a redirect, without an access token unless a caller is named.
func (w *world) follow(res response, r request) response {
	w.t.Helper()
	if r.as == "" {
		r.as = "guest"
	}
	target, err := url.Parse(res.Header.Get("Location"))
	must(w.t, err)
	if res.StatusCode != http.StatusFound || !strings.HasPrefix(target.String(), w.url+"/2.0/downloads/") {
		w.t.Fatalf("status %d, Location %s: %s", res.StatusCode, target, res.text)
	}
	return w.do(res.Request.Method+" "+strings.TrimPrefix(target.Path, "/2.0"), r)
}

// wantOK checks that the status of a response is 200.
func (r response) wantOK(t *testing.T) {
	t.Helper()
	if r.StatusCode != http.StatusOK {
		t.Errorf("status %d, want 200: %s", r.StatusCode, r.text)
	}
}

// runBox runs a test with --compat box on each database.
func runBox(t *testing.T, limits server.RateLimits, test func(w *world)) {
	t.Helper()
	runWith(t, server.Config{RateLimits: limits, Compat: server.CompatBox}, docgen.Limits{}, test)
}

func TestRedirectedDownload(t *testing.T) {
	runBox(t, noLimits, func(w *world) {
		s := w.scene() // a file of ten digits
		const call = "GET /files/{file_id}/content"
		redirect := func(as string) response { return w.do(at(call, s), request{as: as}) }
		ranged := request{header: http.Header{"Range": {"bytes=2-4"}}}
		if res := w.follow(redirect("owner"), ranged); res.StatusCode != http.StatusPartialContent || string(res.text) != "234" {
			w.t.Errorf("a range: status %d: %s", res.StatusCode, res.text)
		}
		if res := w.follow(redirect("reader"), request{as: "reader"}); res.StatusCode != http.StatusOK || string(res.text) != "0123456789" {
			w.t.Errorf("with a token: status %d: %s", res.StatusCode, res.text)
		}
		head := w.do(at("HEAD /files/{file_id}/content", s), request{})
		if res := w.follow(head, request{}); res.StatusCode != http.StatusOK || res.ContentLength != 10 {
			w.t.Errorf("HEAD: status %d, %d bytes", res.StatusCode, res.ContentLength)
		}
		first := redirect("owner")
		w.do(at("POST /files/{file_id}/content", s), request{body: form{{"file", "new"}}}).want(w.t, 200)
		if res := w.follow(first, request{}); string(res.text) != "0123456789" {
			w.t.Errorf("the version changed to %s", res.text)
		}
		if res := w.follow(w.do(at(call, s)+"?version="+id(s.version), request{}), request{}); string(res.text) != "0123456789" {
			w.t.Errorf("the version is %s", res.text)
		}
		if h := first.Header; h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
			w.t.Errorf("the redirect has %v", h)
		}
		ticket := first.Header.Get("Location")[strings.LastIndex(first.Header.Get("Location"), "/")+1:]
		if lines := w.logs.find(ticket[:20]); len(lines) > 0 {
			w.t.Errorf("the log has the ticket: %s", lines)
		}
		if lines := w.logs.find("GET /2.0/downloads/{ticket}"); len(lines) == 0 {
			w.t.Error("the log does not have the route")
		}
		redirect("other").want(w.t, 404, "not_found")
		redirect("scope").want(w.t, 403, "insufficient_scope")
		redirect("guest").want(w.t, 401, "unauthorized")
		w.do(at(call, s)+"?access_token="+w.tokens["owner"], request{as: "guest"}).want(w.t, 401, "unauthorized")
	})
}

// TestStaleTickets changes what the permission to download depends on, between the redirect and the download.
func TestStaleTickets(t *testing.T) {
	runBox(t, noLimits, func(w *world) {
		w.tokens["brief"], w.tokens["carol"] = w.token("owner", time.Hour), w.token("carol", 0)
		collaborations := func(s scene, change func(id string)) {
			for _, entry := range w.do(at("GET /folders/{folder_id}/collaborations", s), request{}).want(w.t, 200)["entries"].([]any) {
				change(entry.(object)["id"].(string))
			}
		}
		for _, tt := range []struct {
			name   string
			as     string
			change func(s scene)
			status int
			code   string
		}{
			{"a revoked collaboration", "reader", func(s scene) {
				collaborations(s, func(id string) { w.do("DELETE /collaborations/"+id, request{}).want(w.t, 204) })
			}, 404, "not_found"},
			{"a lower role", "reader", func(s scene) {
				collaborations(s, func(id string) {
					w.do("PUT /collaborations/"+id, request{body: object{"role": "previewer"}}).want(w.t, 200)
				})
			}, 403, "access_denied_insufficient_permissions"},
			{"a file in the trash", "owner", func(s scene) {
				w.do(at("DELETE /files/{file_id}", s), request{}).want(w.t, 204)
			}, 404, "trashed"},
			{"a deleted file", "owner", func(s scene) {
				w.do(at("DELETE /files/{file_id}", s), request{}).want(w.t, 204)
				w.do(at("DELETE /files/{file_id}/trash", s), request{}).want(w.t, 204)
			}, 404, "not_found"},
			{"a revoked token", "brief", func(scene) {
				w.do("DELETE /tokens/"+id(w.tokenID(w.tokens["brief"])), request{}).want(w.t, 204)
			}, 401, "unauthorized"},
			{"an expired ticket", "owner", func(scene) { w.clock.Add(docgen.TicketTTL.Microseconds()) }, 401, "unauthorized"},
			{"an inactive user", "editor", func(scene) {
				w.do("PUT /users/"+id(w.userID("editor")), request{as: "admin", body: object{"status": "inactive"}}).want(w.t, 200)
			}, 401, "unauthorized"},
			{"a deleted user", "carol", func(scene) {
				w.do("DELETE /users/"+id(w.userID("carol"))+"?force=true", request{as: "admin"}).want(w.t, 204)
			}, 401, "unauthorized"},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				s := w.scene()
				redirect := w.do(at("GET /files/{file_id}/content", s), request{as: tt.as})
				w.follow(redirect, request{}).wantOK(t)
				tt.change(s)
				w.follow(redirect, request{}).want(t, tt.status, tt.code)
			})
		}
	})
}

// TestTicketsCount checks that downloads with tickets count toward the limit of the user, and invalid tickets toward that of the address.
func TestTicketsCount(t *testing.T) {
	runBox(t, server.RateLimits{Requests: 3, Uploads: -1, Guests: 2}, func(w *world) {
		s := w.scene()
		redirect := w.do(at("GET /files/{file_id}/content", s), request{})
		w.follow(redirect, request{}).wantOK(w.t)
		w.follow(redirect, request{}).wantOK(w.t)
		w.follow(redirect, request{}).want(w.t, 429, "rate_limit_exceeded")
		w.do("GET /downloads/invalid", request{as: "guest"}).want(w.t, 401, "unauthorized")
		w.do("GET /downloads/invalid", request{}).want(w.t, 401, "unauthorized") // no access token replaces a ticket
		w.do("GET /downloads/invalid", request{}).want(w.t, 429, "rate_limit_exceeded")
	})
}

// TestDirectDownload downloads without a redirect, which is the default.
func TestDirectDownload(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		w.do(at("GET /files/{file_id}/content", s), request{}).wantOK(w.t)
		w.do(at("GET /files/{file_id}/content", s)+"?access_token="+w.tokens["owner"], request{}).want(w.t, 400, "bad_request")
	})
}
