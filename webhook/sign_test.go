package webhook_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"platen/docgen"
	"platen/webhook"
)

const (
	vectorBody = `{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED",` +
		`"source":{"id":"1234567890","type":"file","name":"Test.txt"}}`
	japaneseBody = `{"webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED",` +
		`"source":{"id":"1234567890","type":"file","name":"スクリーンショット 2020-08-05.txt"}}`
	japaneseEscape = `{"webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED","source":{"id":"1234567890","type":"file","name":` +
		`"\u30b9\u30af\u30ea\u30fc\u30f3\u30b7\u30e7\u30c3\u30c8 2020-08-05.txt"}}`
)

var (
	vectorTime = time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", -7*60*60))
	vectorKeys = webhook.Keys{Primary: "SamplePrimaryKey", Secondary: "SampleSecondaryKey"}
)

// TestSignVectors uses the test vectors of the Box SDKs and of the Standard Webhooks libraries.
func TestSignVectors(t *testing.T) {
	for name, tt := range map[string]struct {
		message webhook.Message
		keys    webhook.Keys
		want    map[string]string
	}{
		"both keys": {webhook.Message{Time: vectorTime, Body: []byte(vectorBody)}, vectorKeys, map[string]string{
			"box-delivery-timestamp":  "2020-01-01T00:00:00-07:00",
			"box-signature-primary":   "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=",
			"box-signature-secondary": "v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=",
		}},
		"Japanese": {webhook.Message{Time: vectorTime, Body: []byte(japaneseBody)}, vectorKeys, map[string]string{
			"box-signature-primary": "cc2mzyQ0LQLr+jIQ0A0aS3iKuSH5gaOzJoSVBlrj9k0=",
		}},
		"Japanese, escaped": {webhook.Message{Time: vectorTime, Body: []byte(japaneseEscape)}, vectorKeys, map[string]string{
			"box-signature-primary": "LV2uCu+5NJtIHrCXDYgZ0v/PP5THGRuegw3RtdnEyuE=",
		}},
		"Standard Webhooks": {
			webhook.Message{ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Time: time.Unix(1614265330, 0), Body: []byte(`{"test": 2432232314}`)},
			webhook.Keys{Primary: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
			map[string]string{
				"webhook-id":        "msg_p5jXN8AQM9LWM0D4loKWxJek",
				"webhook-timestamp": "1614265330",
				"webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
			},
		},
		"Standard Webhooks, key without its prefix": {
			webhook.Message{ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Time: time.Unix(1614265330, 0), Body: []byte(`{"test": 2432232314}`)},
			webhook.Keys{Secondary: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
			map[string]string{"webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			header := webhook.Sign(tt.message, tt.keys)
			for name, want := range tt.want {
				if got := header.Get(name); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		})
	}
}

func TestSignWithFewerKeys(t *testing.T) {
	unsigned := []string{"Box-Delivery-Id", "Box-Delivery-Timestamp", "Content-Type", "User-Agent", "Webhook-Id", "Webhook-Timestamp"}
	box := []string{"Box-Signature-Algorithm", "Box-Signature-Version"}
	key := docgen.NewSecret()
	for name, tt := range map[string]struct {
		keys       webhook.Keys
		signatures []string
	}{
		"no keys":   {webhook.Keys{}, nil},
		"primary":   {webhook.Keys{Primary: key}, append(box, "Box-Signature-Primary", "Webhook-Signature")},
		"secondary": {webhook.Keys{Secondary: key}, append(box, "Box-Signature-Secondary", "Webhook-Signature")},
		"both": {webhook.Keys{Primary: key, Secondary: key},
			append(box, "Box-Signature-Primary", "Box-Signature-Secondary", "Webhook-Signature")},
		"no base64":     {webhook.Keys{Primary: "a key of one's own"}, append(box, "Box-Signature-Primary")},
		"nothing in it": {webhook.Keys{Primary: "whsec_"}, append(box, "Box-Signature-Primary")},
		"one not base64": {webhook.Keys{Primary: "?", Secondary: key},
			append(box, "Box-Signature-Primary", "Box-Signature-Secondary", "Webhook-Signature")},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for header := range webhook.Sign(webhook.Message{ID: "1", Delivery: "2", Time: vectorTime}, tt.keys) {
				got = append(got, header)
			}
			want := slices.Concat(unsigned, tt.signatures)
			slices.Sort(want)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("headers %v, want %v", got, want)
			}
		})
	}
}

// TestLibraryAcceptsSignatures checks signatures with the Standard Webhooks library.
func TestLibraryAcceptsSignatures(t *testing.T) {
	keys := webhook.Keys{Primary: docgen.NewSecret(), Secondary: docgen.NewSecret()}
	body := []byte(japaneseEscape)
	header := webhook.Sign(webhook.Message{ID: uuid.NewString(), Delivery: uuid.NewString(), Time: time.Now(), Body: body}, keys)
	for _, key := range []string{keys.Primary, keys.Secondary} {
		if err := library(t, key).Verify(body, header); err != nil {
			t.Error(err)
		}
	}
	if err := library(t, docgen.NewSecret()).Verify(body, header); err == nil {
		t.Error("the library accepts another key")
	}
}

// TestChangedBitIsRejected checks that signed requests are accepted, with any key, and rejected if a single bit is changed.
func TestChangedBitIsRejected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := docgen.NewSecret()
		keys := webhook.Keys{Primary: key}
		signature := "box-signature-primary"
		if rapid.Bool().Draw(t, "secondary") {
			keys, signature = webhook.Keys{Secondary: key}, "box-signature-secondary"
		}
		m := webhook.Message{
			ID: uuid.NewString(), Delivery: uuid.NewString(),
			Time: time.Unix(rapid.Int64Range(1e9, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).
				In(time.FixedZone("", 900*rapid.IntRange(-48, 56).Draw(t, "zone"))),
			Body: rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "body"),
		}
		header := webhook.Sign(m, keys)
		body := slices.Clone(m.Body)
		if report := webhook.Verify(header, body, []string{key}, m.Time, maxAge); !report.Good || !report.Schemes[0].Good ||
			!report.Schemes[1].Good {
			t.Fatalf("Verify rejects a signed request: %+v", report)
		}
		if err := library(t, key).VerifyIgnoringTimestamp(body, header); err != nil {
			t.Fatal(err)
		}
		changed := rapid.SampledFrom([]string{
			"body", "webhook-id", "webhook-timestamp", "webhook-signature", "box-delivery-timestamp", signature,
			"box-signature-version", "box-signature-algorithm",
		}).Draw(t, "changed")
		if changed == "body" {
			flip(t, body)
		} else {
			value := []byte(header.Get(changed))
			flip(t, value)
			header.Set(changed, string(value))
		}
		box, standard := !strings.HasPrefix(changed, "webhook-"), !strings.HasPrefix(changed, "box-")
		report := webhook.Verify(header, body, []string{key}, m.Time, maxAge)
		if report.Good || report.Schemes[0].Good == box || report.Schemes[1].Good == standard {
			t.Fatalf("changed %s: %+v", changed, report)
		}
		if accepted := library(t, key).VerifyIgnoringTimestamp(body, header) == nil; accepted == standard {
			t.Fatalf("changed %s: accepted by the library: %t", changed, accepted)
		}
	})
}

// flip changes one bit.
func flip(t *rapid.T, text []byte) {
	bit := rapid.IntRange(0, 8*len(text)-1).Draw(t, "bit")
	text[bit/8] ^= 1 << (bit % 8)
}

func library(t interface{ Fatal(args ...any) }, key string) *standardwebhooks.Webhook {
	verifier, err := standardwebhooks.NewWebhook(key)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// TestSignedOnTheWire checks that each header is sent once, and that the body is sent byte for byte.
func TestSignedOnTheWire(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	arrived := make(chan string, 1)
	go answerOnce(t, listener, arrived)

	body := []byte(japaneseEscape)
	message := webhook.Message{ID: "11111111-1111-4111-8111-111111111111", Delivery: "22222222-2222-4222-8222-222222222222",
		Time: vectorTime, Body: body}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String()+"/hook", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = webhook.Sign(message, vectorKeys)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()

	head, sent, _ := strings.Cut(<-arrived, "\r\n\r\n")
	if sent != japaneseEscape {
		t.Errorf("body %s", sent)
	}
	lines := strings.Split(strings.ToLower(head), "\r\n")
	for _, want := range []string{
		"post /hook http/1.1",
		"content-type: application/json",
		"user-agent: box-wh-client/0.1 platen",
		"box-delivery-id: 22222222-2222-4222-8222-222222222222",
		"box-delivery-timestamp: 2020-01-01t00:00:00-07:00",
		"box-signature-version: 1",
		"box-signature-algorithm: hmacsha256",
		"box-signature-primary: lv2ucu+5njtihrcxdygz0v/pp5thgruegw3rtdneyue=",
		"webhook-id: 11111111-1111-4111-8111-111111111111",
		"webhook-timestamp: 1577862000",
	} {
		if n := len(slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return line != want })); n != 1 {
			t.Errorf("%d lines match %q in\n%s", n, want, head)
		}
	}
}

// answerOnce reads one request byte for byte, and answers it.
func answerOnce(t *testing.T, listener net.Listener, arrived chan<- string) {
	connection, err := listener.Accept()
	if err != nil {
		t.Error(err)
		return
	}
	defer connection.Close()
	var raw bytes.Buffer
	request, err := http.ReadRequest(bufio.NewReader(io.TeeReader(connection, &raw)))
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		t.Error(err)
	}
	arrived <- raw.String()
	if _, err := io.WriteString(connection, "HTTP/1.1 204 No Content\r\n\r\n"); err != nil {
		t.Error(err)
	}
}
