package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/webhook"
)

const maxAge = 10 * time.Minute

// arrival is a request as it arrives, and what its receiver knows.
type arrival struct {
	header http.Header
	body   string
	keys   []string
	now    time.Time
}

var (
	primary, secondary = "whsec_dGhlIHByaW1hcnkga2V5IG9mIHRoZXNlIHRlc3RzISE=", "whsec_dGhlIHNlY29uZGFyeSBrZXkgb2YgdGhlIHRlc3RzLi4="
	sentAt             = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
)

const eventBody = `{"type":"webhook_event","id":"11111111-1111-4111-8111-111111111111","trigger":"FILE.UPLOADED",` +
	`"source":{"name":"\u30b9 \ud83d\ude00 <a&b>.txt","url":"https:\/\/example.com\/x\\","size":10000000000000001,"price":1.50}}`

// arrive signs a body with both keys. The receiver has the primary one.
func arrive(body string) *arrival {
	m := webhook.Message{ID: "11111111-1111-4111-8111-111111111111", Delivery: "22222222-2222-4222-8222-222222222222", Time: sentAt,
		Body: []byte(body)}
	a := &arrival{webhook.Sign(m, webhook.Keys{Primary: primary, Secondary: secondary}), body, []string{primary}, sentAt.Add(time.Second)}
	a.header.Set("content-length", fmt.Sprint(len(body)))
	return a
}

func (a *arrival) verify() webhook.Report {
	return webhook.Verify(a.header, []byte(a.body), a.keys, a.now, maxAge)
}

func codes(check webhook.SchemeReport, level webhook.Level) string {
	var codes []string
	for _, finding := range check.Findings {
		if finding.Level == level {
			codes = append(codes, finding.Code)
		}
	}
	return strings.Join(codes, " ")
}

func TestVerifyGood(t *testing.T) {
	for name, tt := range map[string]struct {
		change        func(*arrival)
		box, standard string // notes
	}{
		"primary": {func(a *arrival) {}, "signature_of_another_key", "signature_of_another_key"},
		"secondary": {func(a *arrival) { a.keys = []string{secondary} }, "secondary_key signature_of_another_key",
			"signature_of_another_key"},
		"both":         {func(a *arrival) { a.keys = []string{primary, secondary} }, "", ""},
		"keys swapped": {func(a *arrival) { a.keys = []string{secondary, primary} }, "secondary_key", ""},
		"one key replaced": {func(a *arrival) { a.keys = []string{docgen.NewSecret(), primary} }, "signature_of_another_key",
			"signature_of_another_key"},
		"maximum age": {func(a *arrival) { a.now = sentAt.Add(maxAge) }, "signature_of_another_key",
			"signature_of_another_key timestamp_old_for_libraries"},
		"same second": {func(a *arrival) { a.now = sentAt.Add(time.Second - 1) }, "signature_of_another_key", "signature_of_another_key"},
		"unknown version": {func(a *arrival) {
			a.header.Set("webhook-signature", "v1a,xyz "+a.header.Get("webhook-signature"))
		}, "signature_of_another_key", "signature_of_another_kind signature_of_another_key"},
		"only box": {func(a *arrival) { a.header.Del("webhook-signature") }, "signature_of_another_key", "unsigned"},
		"only standard": {func(a *arrival) { a.header.Del("box-signature-primary"); a.header.Del("box-signature-secondary") }, "unsigned",
			"signature_of_another_key"},
	} {
		t.Run(name, func(t *testing.T) {
			a := arrive(eventBody)
			tt.change(a)
			report := a.verify()
			if !report.Good {
				t.Errorf("not good: %+v", report)
			}
			if box, standard := codes(report.Schemes[0], webhook.Note), codes(report.Schemes[1], webhook.Note); box != tt.box ||
				standard != tt.standard {
				t.Errorf("notes %q and %q, want %q and %q", box, standard, tt.box, tt.standard)
			}
		})
	}
}

func TestVerifyFindsTheCause(t *testing.T) {
	readable := func(body string) string {
		var out bytes.Buffer
		if err := json.Indent(&out, []byte(body), "", "  "); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	again := func(body string, markup bool) string {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(markup)
		if err := encoder.Encode(inOrder(t, body)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(primary, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	body := func(change func(string) string) func(*arrival) {
		return func(a *arrival) { a.body = change(a.body) }
	}
	set := func(name, value string) func(*arrival) { return func(a *arrival) { a.header.Set(name, value) } }
	key := func(key string) func(*arrival) { return func(a *arrival) { a.keys = []string{key} } }
	replace := func(old, was string) func(string) string {
		return func(body string) string { return strings.ReplaceAll(body, old, was) }
	}
	for name, tt := range map[string]struct {
		sent          string // eventBody if empty
		change        func(*arrival)
		box, standard string // what is wrong
		message       string // a part of it
	}{
		"no keys": {"", func(a *arrival) {
			a.header = webhook.Sign(webhook.Message{ID: "1", Delivery: "2", Time: sentAt, Body: []byte(eventBody)}, webhook.Keys{})
		}, "", "", "not signed: its application has no keys"},
		"signatures lost": {"", func(a *arrival) {
			for _, name := range []string{"box-signature-primary", "box-signature-secondary", "webhook-signature"} {
				a.header.Del(name)
			}
		}, "", "", "lost in transit"},
		"no webhook": {"", func(a *arrival) { a.header = http.Header{"Content-Type": {"application/json"}} }, "", "", "no webhook headers"},

		"another key":         {"", key(docgen.NewSecret()), "wrong_key", "wrong_key", "the body looks unchanged"},
		"key cut":             {"", key(primary[:20]), "key_cut", "key_cut", "incomplete"},
		"key with line break": {"", key(primary + "\r\n"), "key_blanks", "", "line break, or quotes"},
		"key in quotes":       {"", key(`"` + primary + `"`), "key_blanks", "key_blanks", "line break, or quotes"},
		"key without prefix":  {"", key(strings.TrimPrefix(primary, "whsec_")), "key_prefix", "", "lacks the prefix whsec_"},
		"key encoded again":   {"", key(base64.StdEncoding.EncodeToString([]byte(primary + "\n"))), "key_encoded", "key_encoded", "base64 again"},
		"key decoded":         {"", key(string(raw)), "key_decoded", "key_decoded", "decoded once too often"},
		"key in hexadecimal":  {"", key(hex.EncodeToString(raw)), "key_decoded", "key_decoded", "decoded once too often"},

		"newline added": {"", body(func(b string) string { return b + "\n" }), "body_newline_added", "body_newline_added",
			"added to the end"},
		"CR LF added": {"", body(func(b string) string { return b + "\r\n" }), "body_newline_added", "body_newline_added",
			"added to the end"},
		"newline removed": {"{}\n", body(strings.TrimSpace), "body_newline_removed", "body_newline_removed", "been removed"},
		"CR LF removed":   {"{}\r\n", body(strings.TrimSpace), "body_newline_removed", "body_newline_removed", "been removed"},
		"LF to CR LF":     {"{\n}\n", body(replace("\n", "\r\n")), "body_line_ends", "body_line_ends", "from LF to CR LF"},
		"CR LF to LF":     {"{\r\n}\r\n", body(replace("\r\n", "\n")), "body_line_ends", "body_line_ends", "from CR LF to LF"},
		"byte order mark": {"", body(func(b string) string { return "\ufeff" + b }), "body_bom", "body_bom", "byte order mark"},
		"characters":      {"", body(replace(`\u30b9 \ud83d\ude00`, "ス 😀")), "body_unescaped", "body_unescaped", `\uXXXX escapes`},
		"slashes":         {"", body(replace(`\/`, "/")), "body_unescaped", "body_unescaped", `\/ escapes`},
		"readable":        {"", body(readable), "body_printed", "body_printed", "reformatted"},
		"written by others": {"", body(func(b string) string { return again(b, false) }), "body_rewritten", "body_rewritten",
			"serialized again"},
		"written by Go": {"", body(func(b string) string { return again(b, true) }), "body_rewritten", "body_rewritten", "serialized again"},
		"in another order": {"", body(func(string) string { return `{"id":1, "a":2}` }), "body_cut", "body_cut",
			"is truncated: it has 15 bytes"},
		"of unknown length": {"", func(a *arrival) { a.body = `{"id":1, "a":2}`; a.header.Del("content-length") }, "body_changed",
			"body_changed", "probably been parsed"},
		"cut": {"", body(func(b string) string { return b[:100] }), "body_cut", "body_cut", "has 100 bytes"},
		"something appended": {"", body(func(b string) string { return b + "\n\n\nCtrl-C" }), "body_longer", "body_longer",
			"longer than its content-length"},

		"no version": {"", func(a *arrival) { a.header.Del("box-signature-version") }, "constant_missing", "",
			"box-signature-version is missing"},
		"another version":   {"", set("box-signature-version", "2"), "constant_unknown", "", `box-signature-version is "2"`},
		"another algorithm": {"", set("box-signature-algorithm", "HmacSHA1"), "constant_unknown", "", "it must be HmacSHA256"},
		"no timestamp": {"", func(a *arrival) { a.header.Del("box-delivery-timestamp") }, "timestamp_missing timestamp_changed", "",
			"is missing"},
		"no timestamp for both": {"", func(a *arrival) { a.header.Del("box-delivery-timestamp"); a.header.Del("webhook-timestamp") },
			"timestamp_missing", "timestamp_missing", "is missing"},
		"unreadable timestamp": {"", set("webhook-timestamp", "2026-01-31T12:00:00Z"), "", "timestamp_unreadable timestamp_changed",
			"not a timestamp such as 17698"},
		"timestamp reformatted": {"", set("box-delivery-timestamp", "2026-01-31T13:00:00+01:00"), "timestamp_changed", "",
			"its time or its format"},
		"another timestamp": {"", set("webhook-timestamp", "1769860799"), "", "timestamp_changed", "webhook-timestamp differs from"},
		"too old": {"", func(a *arrival) { a.now = sentAt.Add(maxAge + time.Second) }, "timestamp_old", "timestamp_old",
			"is 10m1s old, more than the maximum of 10m0s"},
		"in the future": {"", func(a *arrival) { a.now = sentAt.Add(-1) }, "timestamp_future", "timestamp_future",
			"is 1s in the future"},
		"no id":                     {"", func(a *arrival) { a.header.Del("webhook-id") }, "", "id_missing id_changed", "webhook-id is missing"},
		"another id":                {"", set("webhook-id", "x"), "", "id_changed", "differs from the id in the body"},
		"another id, none known":    {"{}", set("webhook-id", "x"), "", "header_changed", "the key and the body are correct"},
		"unknown signature version": {"", set("webhook-signature", "v1a,abc="), "", "signature_unknown", "begins with v1,"},
		"signature changed": {"", func(a *arrival) { a.header.Set("box-signature-primary", "A"); a.header.Del("box-signature-secondary") },
			"header_changed", "", "the key and the body are correct"},
		"old, by another key": {"", func(a *arrival) { a.now = sentAt.Add(time.Hour); a.keys = []string{docgen.NewSecret()} },
			"wrong_key timestamp_old", "wrong_key timestamp_old", "No signature matches any of the keys"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := tt.sent
			if sent == "" {
				sent = eventBody
			}
			a := arrive(sent)
			tt.change(a)
			report := a.verify()
			if report.Good || report.Remedy == "" || !strings.Contains(report.Message, tt.message) {
				t.Errorf("good %v, message %q, remedy %q; want %q", report.Good, report.Message, report.Remedy, tt.message)
			}
			for i, want := range []string{tt.box, tt.standard} {
				check := report.Schemes[i]
				if got := codes(check, webhook.Wrong); got != want {
					t.Errorf("%s: codes %q are wrong, want %q: %+v", check.Scheme, got, want, check.Findings)
				}
				if check.Good != (check.Signed && want == "") {
					t.Errorf("%s: signed %t, good %t", check.Scheme, check.Signed, check.Good)
				}
			}
		})
	}
}

// inOrder parses JSON as many frameworks do, into a value that keeps the order of the members.
func inOrder(t *testing.T, body string) any {
	t.Helper()
	type source struct {
		Name  string      `json:"name"`
		URL   string      `json:"url"`
		Size  json.Number `json:"size"`
		Price json.Number `json:"price"`
	}
	var event struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Trigger string `json:"trigger"`
		Source  source `json:"source"`
	}
	if err := json.Unmarshal([]byte(body), &event); err != nil {
		t.Fatal(err)
	}
	return event
}

// TestVerifyVectors uses a vector of the Box SDKs' tests. Its signature is valid for the escaped body.
func TestVerifyVectors(t *testing.T) {
	header := http.Header{}
	for name, value := range map[string]string{
		"box-delivery-id": "f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f", "box-delivery-timestamp": "2020-01-01T00:00:00-07:00",
		"box-signature-version": "1", "box-signature-algorithm": "HmacSHA256",
		"box-signature-primary": "LV2uCu+5NJtIHrCXDYgZ0v/PP5THGRuegw3RtdnEyuE=",
	} {
		header.Set(name, value)
	}
	verify := func(body string) webhook.Report {
		return webhook.Verify(header, []byte(body), []string{"SamplePrimaryKey"}, vectorTime, maxAge)
	}
	if report := verify(japaneseEscape); !report.Good {
		t.Errorf("%+v", report)
	}
	if report := verify(japaneseBody); report.Good || codes(report.Schemes[0], webhook.Wrong) != "body_unescaped" {
		t.Errorf("%+v", report)
	}
}

// TestVerifyKeepsKeysSecret checks that no report contains a key, because people paste reports when they ask for help.
func TestVerifyKeepsKeysSecret(t *testing.T) {
	for _, key := range []string{primary, strings.TrimPrefix(primary, "whsec_"), docgen.NewSecret(), "x" + primary} {
		a := arrive(eventBody)
		a.keys = []string{key}
		text, err := json.Marshal(a.verify())
		if err != nil {
			t.Fatal(err)
		}
		if secret := strings.TrimSuffix(key, "="); bytes.Contains(text, []byte(secret[10:])) {
			t.Errorf("the report contains the key %s: %s", key, text)
		}
	}
	if report := arrive(eventBody).verify(); slices.Contains([]string{report.Message, report.Remedy}, primary) {
		t.Error(report)
	}
}
