package server

import (
	"context"
	"net/http"
	"time"

	"platen/docgen"
)

// Internals for the tests.

// NewMemoryCounter returns the counter of a server without a cluster.
func NewMemoryCounter() RateCounter { return &memoryCounter{} }

// TakeRate counts one request like a server, at a given time.
func TakeRate(ctx context.Context, counter RateCounter, key string, limit int, now time.Time) (time.Duration, error) {
	l := limiter{shared: counter, now: func() time.Time { return now }}
	return l.take(ctx, key, limit)
}

// AddressKey is the key under which requests of guests are counted.
var (
	AddressKey    = addressKey
	ClientAddress = clientAddress
)

// WithDefaults exposes the defaults of limits.
func (l RateLimits) WithDefaults() RateLimits { return l.withDefaults() }

// PlainNotification encodes a notification like a response.
func PlainNotification(n docgen.Notification) ([]byte, error) { return marshal(notificationOf(n)) }

// Preferences returns the preferences that a server follows for the headers of a request.
func Preferences(h http.Header) (string, error) {
	p, err := preferenceOf(h)
	applied := http.Header{}
	p.apply(applied)
	return applied.Get("Preference-Applied"), err
}

// DocumentFile returns a document as the file that a client gets, with its name and media type.
func DocumentFile(d *docgen.Document) (name, mediaType string, content []byte, err error) {
	return fileOfDocument(d)
}
