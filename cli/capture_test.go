package cli

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"platen/docgen"
	"platen/webhook"
)

// A request stored in its wire format is read back completely, whatever its body.
func TestCaptureWireFormat(t *testing.T) {
	keys := webhook.Keys{Primary: docgen.NewSecret(), Secondary: docgen.NewSecret()}
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com/hook?a=b:c", bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		request.Header = webhook.Sign(webhook.Message{ID: "1", Delivery: "2", Time: now, Body: sent}, keys)
		var wire bytes.Buffer
		if err := request.Write(&wire); err != nil {
			t.Fatal(err)
		}
		header, body, err := parseCapture(wire.String())
		if err != nil {
			t.Fatal(err)
		}
		if report := webhook.Verify(header, []byte(body), []string{keys.Primary}, now, time.Minute); !report.Good || body != string(sent) {
			t.Fatalf("body %q, %+v", body, report)
		}
	})
}

func TestParseHeaders(t *testing.T) {
	for name, text := range map[string]string{
		"wire":             "POST / HTTP/1.1\r\nHost: example.com:443\r\nWebhook-Id: 1\r\n\r\n",
		"after a mark":     "\ufeffPOST /\nHOST: example.com:443\nwebhook-id: 1\n",
		"HTTP/2":           ":method: POST\n:path: /\nhost: example.com:443\nwebhook-id:1\n",
		"curl":             "* Trying\n> POST / HTTP/1.1\n> Host: example.com:443\n> Webhook-Id: 1\n>\n< HTTP/1.1 204\n< server: x\n",
		"JavaScript":       "{\n  'host': 'example.com:443',\n  'webhook-id': '1'\n}\n",
		"Python":           "{\n  'Host': 'example.com:443',\n  'Webhook-Id': '1',\n}",
		"JSON":             `{"Host": "example.com:443", "webhook-id": 1}`,
		"JSON with lists":  `{"Host": ["example.com:443"], "webhook-id": ["1"]}`,
		"lists, not JSON":  "{\n\"Host\": [\"example.com:443\"],\n\"webhook-id\": [\"1\"],\n}",
		"blanks around it": "  Host :  example.com:443  \n\twebhook-id :\t1\n",
	} {
		t.Run(name, func(t *testing.T) {
			header, err := parseHeaders(text)
			if err != nil || header.Get("host") != "example.com:443" || header.Get("webhook-id") != "1" || len(header) != 2 {
				t.Errorf("%v, %v", header, err)
			}
		})
	}
	for _, text := range []string{"no header", "with blank: 1", "ünicode: 1", "Host: x\nPOST / HTTP/1.1\n"} {
		if header, err := parseHeaders(text); err == nil || !strings.Contains(err.Error(), "is not a header") {
			t.Errorf("%q: %v, %v", text, header, err)
		}
	}
}
