package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"platen/docgen"
)

// Names of headers, as the hosted service and the Standard Webhooks specification write them.
const (
	headerDelivery  = "box-delivery-id"
	headerSent      = "box-delivery-timestamp"
	headerVersion   = "box-signature-version"
	headerAlgorithm = "box-signature-algorithm"
	headerPrimary   = "box-signature-primary"
	headerSecondary = "box-signature-secondary"

	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

const (
	// The one version and algorithm of the signatures in headers of the hosted service.
	signatureVersion   = "1"
	signatureAlgorithm = "HmacSHA256"

	// standardVersion begins a signature of Standard Webhooks that is made with a shared key.
	standardVersion = "v1,"

	// sentLayout is RFC 3339 with the offset in digits, as the hosted service writes it.
	sentLayout = "2006-01-02T15:04:05-07:00"

	// userAgent begins with that of the hosted service, because receivers and their firewalls look for it. It tells no version:
	// who is called need not learn which faults the caller has.
	userAgent = "Box-WH-Client/0.1 Platen"
)

// A Message is one attempt to deliver an event.
type Message struct {
	ID       string    // of the event: the same for every attempt
	Delivery string    // of the attempt
	Time     time.Time // of the attempt; headers have it to the second, in its own time zone
	Body     []byte
}

// Keys are those of an application. Either may be empty, then nothing is signed with it.
type Keys struct {
	Primary, Secondary string
	Retired            []string // were replaced, and sign once more where there is room: among the signatures of Standard Webhooks
}

// Sign returns the headers of a request that delivers a message: who calls, what is sent, and its signatures in two ways, those of
// the hosted service and those of Standard Webhooks. Without keys there are no signatures, but all else.
//
// One text serves as the key of both: as it stands for the one, and for the other the bytes that it is the base64 of. Keys that
// were made elsewhere may lack the prefix. Where the rest is no base64, the libraries of Standard Webhooks do not take the
// key, and there is no signature for them.
func Sign(m Message, k Keys) http.Header {
	header := http.Header{}
	sent, timestamp := m.Time.Format(sentLayout), strconv.FormatInt(m.Time.Unix(), 10)
	set := func(name, value string) { header.Set(name, value) }
	set("content-type", "application/json")
	set("user-agent", userAgent)
	set(headerDelivery, m.Delivery)
	set(headerSent, sent)
	set(headerID, m.ID)
	set(headerTimestamp, timestamp)

	var standard []string
	for _, key := range []struct{ text, header string }{{k.Primary, headerPrimary}, {k.Secondary, headerSecondary}} {
		if key.text == "" {
			continue
		}
		set(headerVersion, signatureVersion)
		set(headerAlgorithm, signatureAlgorithm)
		set(key.header, signBox(key.text, sent, m.Body))
		if signature, ok := signStandard(key.text, m.ID, timestamp, m.Body); ok {
			standard = append(standard, signature)
		}
	}
	for _, key := range k.Retired {
		if signature, ok := signStandard(key, m.ID, timestamp, m.Body); ok {
			standard = append(standard, signature)
		}
	}
	if len(standard) > 0 {
		set(headerSignature, strings.Join(standard, " "))
	}
	return header
}

// signBox signs as the hosted service does: with the text of the key.
func signBox(key, sent string, body []byte) string {
	return authenticate([]byte(key), body, []byte(sent))
}

// signStandard signs by Standard Webhooks, and reports whether the key can be used there.
func signStandard(key, id, timestamp string, body []byte) (string, bool) {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, docgen.SecretPrefix))
	if err != nil || len(secret) == 0 {
		return "", false
	}
	return standardVersion + authenticate(secret, []byte(id+"."+timestamp+"."), body), true
}

// authenticate returns the HMAC-SHA-256 of parts that follow one another, in base64.
func authenticate(key []byte, parts ...[]byte) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
