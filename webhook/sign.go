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

// Names of headers, as Box and the Standard Webhooks specification define them.
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
	// signatureVersion and signatureAlgorithm are the only version and algorithm of Box's signatures.
	signatureVersion   = "1"
	signatureAlgorithm = "HmacSHA256"

	// standardVersion is the prefix of Standard Webhooks signatures with a shared key.
	standardVersion = "v1,"

	// sentLayout is RFC 3339 with a numeric offset, also for UTC, as Box writes it.
	sentLayout = "2006-01-02T15:04:05-07:00"

	// userAgent begins with Box's own, because receivers and their firewalls look for it. It does not reveal the version of the
	// server, and so none of its vulnerabilities.
	userAgent = "Box-WH-Client/0.1 Platen"
)

// A Message is one attempt to deliver an event.
type Message struct {
	ID       string    // of the event: the same for every attempt
	Delivery string    // ID of the attempt
	Time     time.Time // of the attempt; the headers state it in seconds, one of them in its time zone
	Body     []byte
}

// Keys holds the signing keys of an application. An empty key signs nothing.
type Keys struct {
	Primary, Secondary string
	Retired            []string // replaced keys that still sign, only for Standard Webhooks: Box has no headers for them
}

// Sign returns the headers of the request that delivers m, with two kinds of signatures: Box's, and those of Standard Webhooks.
// Without keys, the headers contain no signatures.
//
// Both kinds use the same keys. Box's signatures use the whole string, Standard Webhooks the bytes that it encodes in base64
// after the prefix. Keys from other sources may lack the prefix. A key that is not base64 makes no Standard Webhooks signature,
// because the libraries do not accept it.
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

// signBox returns the signature that Box would send. Its key is the whole string.
func signBox(key, sent string, body []byte) string {
	return authenticate([]byte(key), body, []byte(sent))
}

// signStandard returns the Standard Webhooks signature. It reports whether the key is valid for it.
func signStandard(key, id, timestamp string, body []byte) (string, bool) {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, docgen.SecretPrefix))
	if err != nil || len(secret) == 0 {
		return "", false
	}
	return standardVersion + authenticate(secret, []byte(id+"."+timestamp+"."), body), true
}

// authenticate returns the HMAC-SHA-256 of the concatenated parts, in base64.
func authenticate(key []byte, parts ...[]byte) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
