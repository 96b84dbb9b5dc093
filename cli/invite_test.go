package cli

import (
	"bytes"
	"net/http"
	"net/http/cookiejar"
	"testing"
)

// An invited user sets a password on a running server and signs in.
func TestInvite(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	platen(t, "user", "create", "--login=mira@example.com", "--name=Mira", "--data="+data)
	secret := platen(t, "user", "invite", "mira@example.com", "--data="+data)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	for _, step := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/invitations/accept", `{"secret":"` + secret + `","password":"nine purple elephants juggle"}`, http.StatusNoContent},
		{"GET", "/users/me", "", http.StatusUnauthorized},
		{"POST", "/sessions", `{"login":"mira@example.com","password":"nine purple elephants juggle"}`, http.StatusCreated},
		{"GET", "/users/me", "", http.StatusOK},
		{"DELETE", "/sessions", "", http.StatusNoContent},
		{"GET", "/users/me", "", http.StatusUnauthorized},
	} {
		request, err := http.NewRequestWithContext(t.Context(), step.method, server.url+"/2.0"+step.path, bytes.NewReader([]byte(step.body)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("svc-version", "2025.0")
		if step.body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != step.want {
			t.Fatalf("%s %s: status %d, want %d; %v", step.method, step.path, response.StatusCode, step.want, err)
		}
	}
}
