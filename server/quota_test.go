package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestUploadBeyondTheQuota sends the first part of an upload that exceeds the user's quota. The response arrives before
// the rest is sent.
func TestUploadBeyondTheQuota(t *testing.T) {
	run(t, func(w *world) {
		me := w.do("GET /users/me", request{}).want(w.t, 200)
		changed := w.do(fmt.Sprint("PUT /users/", me["id"]), request{as: "admin", body: object{"space_amount": 1 << 20}}).want(w.t, 200)
		if changed["space_amount"] != float64(1<<20) {
			w.t.Errorf("space_amount %v", changed["space_amount"])
		}
		conn := w.wire(w.t)
		conn.send("POST /2.0/files/content HTTP/1.1\r\nHost: x\r\nsvc-version: 2025.0\r\nAuthorization: Bearer " + w.tokens["owner"] +
			"\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000000\r\n\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"attributes\"\r\n\r\n{\"name\":\"large\",\"parent\":{\"id\":\"0\"}}\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n" + strings.Repeat("x", 8<<10))
		if v := conn.answer("POST").want(w.t, 403, "storage_limit_exceeded"); !strings.Contains(v["message"].(string), "1048576") {
			w.t.Errorf("the message %q does not name the quota", v["message"])
		}
	})
}
