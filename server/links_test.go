package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
	"platen/server"
)

// link gives a file of the owner a shared link, and returns its URL.
func (w *world) link(file int64, access, password string) string {
	w.t.Helper()
	change := docgen.LinkChange{Access: docgen.LinkAccess(access)}
	if password != "" {
		change.Password = &password
	}
	item, err := w.UpdateFile(w.t.Context(), w.owner, file, docgen.ItemChange{Link: &change})
	must(w.t, err)
	return item.SharedLink.URL
}

// linkHeader returns the header with which clients use a link without a password.
func linkHeader(link string) http.Header { return http.Header{"Boxapi": {"shared_link=" + link}} }

func TestSharedLinksOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		path := at("PUT /files/{file_id}?fields=shared_link", s)
		w.clock.Store(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
		got := w.do(path, request{body: object{"shared_link": object{
			"access": "open", "password": "correct horse", "unshared_at": "2027-01-01T00:00:00Z", "vanity_name": nil,
			"permissions": object{"can_download": false, "can_preview": true, "can_edit": false},
		}}}).want(w.t, 200)
		link := got["shared_link"].(object)
		if at, _ := link["url"].(string); !strings.HasPrefix(at, w.url+"/s/") {
			w.t.Errorf("the URL is %s", at)
		}
		want := object{
			"url": link["url"], "download_url": nil, "vanity_url": nil, "vanity_name": nil, "effective_access": "open",
			"effective_permission": "can_preview", "is_password_enabled": true, "unshared_at": "2027-01-01T00:00:00+00:00",
			"download_count": 0.0, "preview_count": 0.0, "access": "open",
			"permissions": object{"can_preview": true, "can_download": false, "can_edit": false},
		}
		if diff := cmp.Diff(want, link); diff != "" {
			w.t.Errorf("-want +got:\n%s", diff)
		}
		got = w.do(path, request{body: object{"shared_link": object{"password": nil, "unshared_at": nil,
			"permissions": object{"can_download": true}}}}).want(w.t, 200)
		changed := got["shared_link"].(object)
		if changed["url"] != link["url"] || changed["download_url"] != link["url"].(string)+"/files/"+id(s.file) ||
			changed["is_password_enabled"] != false || changed["unshared_at"] != nil {
			w.t.Errorf("the link is %v", changed)
		}
		v := w.do(at("GET /files/{file_id}?fields=is_accessible_via_shared_link,permissions", s), request{as: "editor"}).want(w.t, 200)
		if may := v["permissions"].(object); v["is_accessible_via_shared_link"] != true || may["can_share"] != true ||
			may["can_set_share_access"] != true {
			w.t.Errorf("the file is %v", v)
		}
		if v = w.do(path, request{body: object{"shared_link": nil}}).want(w.t, 200); v["shared_link"] != nil {
			w.t.Errorf("the link is %v", v["shared_link"])
		}
		v = w.do(at("PUT /folders/{folder_id}", s), request{body: object{"shared_link": object{}}}).want(w.t, 200)
		if link := v["shared_link"].(object); link["access"] != "company" || link["download_url"] != nil {
			w.t.Errorf("the link is %v", link)
		}
		bad := w.do(path, request{body: object{"shared_link": object{"access": "all", "color": "red"}}}).want(w.t, 400)
		if got := problems(bad); len(got) != 2 {
			w.t.Errorf("problems %q", got)
		}
	})
}

func TestSharedItems(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		link := w.link(s.file, "open", "")
		get := func(header string, as string) response {
			return w.do("GET /shared_items", request{as: as, header: http.Header{"Boxapi": {header}}})
		}
		if v := get("shared_link="+link, "other").want(w.t, 200); v["type"] != "file" || v["id"] != id(s.file) || v["parent"] != nil {
			w.t.Errorf("the item is %v", v)
		}
		res := w.do(at("GET /files/{file_id}/content", s), request{as: "other", header: linkHeader(link)})
		if res.StatusCode != http.StatusOK || string(res.text) != "0123456789" {
			w.t.Errorf("status %d: %s", res.StatusCode, res.text)
		}
		w.do(at("GET /files/{file_id}", s), request{as: "other", header: linkHeader(link)}).want(w.t, 200)
		w.do(at("GET /folders/{folder_id}", s), request{as: "other", header: linkHeader(link)}).want(w.t, 404, "not_found")
		w.do(at("GET /files/{file_id}", s), request{as: "other"}).want(w.t, 404, "not_found")
		w.do(at("PUT /files/{file_id}", s), request{as: "other", header: linkHeader(link), body: object{}}).want(w.t, 404, "not_found")
		get("shared_link="+link, "guest").want(w.t, 401, "unauthorized")
		get("shared_link="+link+"x", "other").want(w.t, 404, "not_found")
		get("shared_link=", "other").want(w.t, 404, "not_found")
		get(link, "other").want(w.t, 400, "bad_request")
		w.do("GET /shared_items", request{as: "other"}).want(w.t, 400, "bad_request")

		link = w.link(s.file, "open", "correct horse&%41")
		for _, header := range []string{"shared_link=" + link, "shared_link=" + link + "&shared_link_password=wrong horse"} {
			get(header, "other").want(w.t, 403, "access_denied_insufficient_permissions")
		}
		get("shared_link="+link+"&shared_link_password=correct horse&%41", "other").want(w.t, 200)
		get("shared_link="+url.QueryEscape(link)+"&shared_link_password="+url.QueryEscape("correct horse&%41"), "other").want(w.t, 200)

		folder, err := w.UpdateFolder(w.t.Context(), w.owner, s.folder, docgen.ItemChange{Link: &docgen.LinkChange{}})
		must(w.t, err)
		header := linkHeader(folder.SharedLink.URL)
		v := w.do("GET /shared_items?fields=name,item_collection", request{as: "other", header: header}).want(w.t, 200)
		if v["type"] != "folder" || len(v["item_collection"].(object)["entries"].([]any)) != 1 {
			w.t.Errorf("the item is %v", v)
		}
		list := w.do(at("GET /folders/{folder_id}/items?usemarker=true", s), request{as: "other", header: header}).want(w.t, 200)
		if len(list["entries"].([]any)) != 1 {
			w.t.Errorf("the items are %v", list)
		}
		etag := w.do("GET /shared_items", request{as: "other", header: header}).Header.Get("ETag")
		header.Set("If-None-Match", etag)
		if res := w.do("GET /shared_items", request{as: "other", header: header}); res.StatusCode != http.StatusNotModified {
			w.t.Errorf("status %d, want 304", res.StatusCode)
		}
	})
}

// TestRedirectsWithLinks downloads with a link and --compat box: the redirect keeps the access of the link.
func TestRedirectsWithLinks(t *testing.T) {
	runBox(t, noLimits, func(w *world) {
		s := w.scene()
		link := w.link(s.file, "open", "correct horse")
		header := http.Header{"Boxapi": {"shared_link=" + link + "&shared_link_password=correct horse"}}
		redirect := w.do(at("GET /files/{file_id}/content", s), request{as: "other", header: header})
		w.follow(redirect, request{}).wantOK(w.t)
		w.link(s.file, "open", "battery staple")
		w.follow(redirect, request{}).want(w.t, 404, "not_found")
		must(w.t, w.TrashFile(w.t.Context(), w.owner, s.file, ""))
		w.do(at("GET /files/{file_id}", s), request{as: "other", header: linkHeader(w.url + "/s/x")}).want(w.t, 404, "not_found")
	})
}

// TestGuesses sends more passwords than one user may in a minute.
func TestGuesses(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		link := w.link(s.file, "open", "correct horse")
		guess := func(as, password string) response {
			header := http.Header{"Boxapi": {"shared_link=" + link + "&shared_link_password=" + password}}
			return w.do("GET /shared_items", request{as: as, header: header})
		}
		for range 10 {
			guess("other", "wrong horse").want(w.t, 403)
		}
		guess("other", "correct horse").want(w.t, 429, "rate_limit_exceeded")
		guess("carol", "correct horse").want(w.t, 200)
		guess("other", "correct horse").want(w.t, 200) // known to the server by now
	})
}

// TestGuessesOfLink sends more passwords for a link than all users together may in a minute.
func TestGuessesOfLink(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		link := w.link(s.file, "open", "correct horse")
		guess := func(name string) response {
			header := http.Header{"Boxapi": {"shared_link=" + link + "&shared_link_password=wrong horse"}}
			return w.do("GET /shared_items", request{as: name, header: header})
		}
		for i := range 6 {
			name := "guesser" + string(rune('a'+i))
			w.user(name)
			w.tokens[name] = w.token(name, 0)
			for range 10 {
				guess(name).want(w.t, 403)
			}
		}
		guess("carol").want(w.t, 429, "rate_limit_exceeded")
	})
}
