package server_test

import (
	"fmt"
	"slices"
	"testing"

	"platen/docgen"
)

func TestUsersOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		do := func(call string, body any) response { return w.do(call, request{as: "admin", body: body}) }
		made := do("POST /users", object{
			"name": "Zoe", "login": "zoe@example.com", "role": "coadmin", "language": "de-CH", "timezone": "Europe/Zurich", "job_title": "Clerk",
			"phone": "1", "address": "Main Street", "external_app_user_id": "z",
		}).want(w.t, 201)
		for name, want := range map[string]any{
			"type": "user", "name": "Zoe", "login": "zoe@example.com", "language": "de-CH", "timezone": "Europe/Zurich", "job_title": "Clerk",
			"phone":   "1",
			"address": "Main Street", "status": "active", "space_amount": -1.0, "space_used": 0.0, "max_upload_size": float64(5 << 30),
			"avatar_url": nil, "notification_email": nil,
		} {
			if got, ok := made[name]; got != want || !ok {
				w.t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		path := "/users/" + made["id"].(string)
		shown := do("GET "+path+"?fields=role,enterprise,is_platform_access_only,external_app_user_id", nil).want(w.t, 200)
		if len(shown) != 6 || shown["role"] != "coadmin" || shown["is_platform_access_only"] != false || shown["external_app_user_id"] != "z" ||
			shown["enterprise"].(object)["id"] != id(w.EnterpriseID()) {
			w.t.Errorf("fields asked for: %v", shown)
		}
		changed := do("PUT "+path, object{"name": "Zoë", "phone": "", "job_title": nil, "notify": true}).want(w.t, 200)
		if changed["name"] != "Zoë" || changed["phone"] != "" || changed["job_title"] != "Clerk" {
			w.t.Errorf("changed: %v", changed)
		}
		w.t.Run("everything that is wrong at once", func(t *testing.T) {
			v := do("POST /users", object{"login": 5, "role": "king", "status": "dead", "timezone": "Mars/Olympus", "colour": "red"}).want(t,
				400, "bad_request")
			want := []string{"invalid_parameter colour", "invalid_parameter login", "invalid_parameter role", "invalid_parameter status",
				"invalid_parameter timezone", "missing_parameter name"}
			if got := problems(v); !slices.Equal(got, want) {
				t.Errorf("problems %q, want %q", got, want)
			}
			v = do("PUT "+path, object{"name": "", "status": "dead", "language": 1}).want(t, 400, "bad_request")
			if got := problems(v); !slices.Equal(got, []string{"invalid_parameter language", "invalid_parameter name", "invalid_parameter status"}) {
				t.Errorf("problems %q", got)
			}
			v = do("POST /users", object{"name": "X"}).want(t, 400, "bad_request")
			if got := problems(v); !slices.Equal(got, []string{"missing_parameter login"}) {
				t.Errorf("problems %q", got)
			}
		})
		w.t.Run("a login that is taken", func(t *testing.T) {
			do("POST /users", object{"name": "Z", "login": "ZOE@example.com"}).want(t, 409, "user_login_already_used")
			do("PUT "+path, object{"login": "OWNER@example.com"}).want(t, 409, "user_login_already_used")
		})
		w.t.Run("missing users", func(t *testing.T) {
			for _, call := range []string{"GET /users/4711", "GET /users/x", "DELETE /users/4711", "GET /users/" + id(w.serviceAccount())} {
				v := do(call, nil).want(t, 404, "not_found")
				if got := problems(v); !slices.Equal(got, []string{"invalid_parameter user"}) {
					t.Errorf("%s: problems %q", call, got)
				}
			}
		})
		w.t.Run("deleting", func(t *testing.T) {
			s := w.scene()
			do("DELETE "+path+"?force=perhaps", nil).want(t, 400, "bad_request")
			owner := "/users/" + id(w.owner.User.ID)
			do("DELETE "+owner, nil).want(t, 409, "user_owns_content")
			transfer := request{as: "archivist", body: object{"owned_by": object{"id": made["id"]}}}
			moved := w.do("PUT "+owner+"/folders/0?notify=false", transfer).want(t, 200)
			if moved["name"] != "owner's Files and Folders" || moved["owned_by"].(object)["id"] != made["id"] ||
				moved["parent"].(object)["id"] != "0" {
				t.Errorf("moved: %v", moved)
			}
			w.do(at("GET /files/{file_id}", s), request{}).want(t, 404)
			do("DELETE "+owner+"?notify=true", nil).want(t, 204)
			w.do("GET /users/me", request{}).want(t, 401, "unauthorized")
			do("DELETE "+path+"?force=true", nil).want(t, 204)
			do("GET "+path, nil).want(t, 404)
		})
	})
}

// serviceAccount returns the id of the service account of an application.
func (w *world) serviceAccount() int64 {
	w.t.Helper()
	app := w.client(docgen.NewApplication{Name: "To be seen by nobody"})
	return app.Account.ID
}

func TestListingUsersOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		list := func(query string) object { return w.do("GET /users"+query, request{as: "admin"}).want(w.t, 200) }
		page := list("?limit=2&offset=1&fields=login")
		if page["total_count"] != 6.0 || page["limit"] != 2.0 || page["offset"] != 1.0 ||
			fmt.Sprint(logins(page)) != "[other@example.com reader@example.com]" {
			w.t.Errorf("by offset: %v", page)
		}
		page = list("?limit=4&usemarker=true&filter_term=&fields=login")
		if _, has := page["total_count"]; has || page["prev_marker"] != nil || len(logins(page)) != 4 {
			w.t.Errorf("by marker: %v", page)
		}
		page = list("?limit=4&usemarker=true&marker=" + page["next_marker"].(string))
		if page["next_marker"] != nil || page["prev_marker"] == nil || fmt.Sprint(logins(page)) != "[admin@example.com carol@example.com]" {
			w.t.Errorf("the next page: %v", page)
		}
		if page := list("?limit=5000&filter_term=E"); page["limit"] != 1000.0 || fmt.Sprint(logins(page)) != "[editor@example.com]" {
			w.t.Errorf("filtered: %v", page)
		}
		for query, code := range map[string]string{
			"?limit=0": "invalid_limit", "?offset=300001": "invalid_offset", "?usemarker=maybe": "bad_request", "?user_type=robots": "bad_request",
			"?usemarker=true&marker=x": "bad_request", "?filter_term=%00": "bad_request",
		} {
			w.do("GET /users"+query, request{as: "admin"}).want(w.t, 400, code)
		}
	})
}

func logins(page object) []string {
	var logins []string
	for _, entry := range page["entries"].([]any) {
		logins = append(logins, entry.(object)["login"].(string))
	}
	return logins
}
