package server

import (
	"context"
	"time"

	"platen/docgen"
)

// What the tests look at from inside.

// NewMemoryCounter returns the counter of a server that is alone.
func NewMemoryCounter() RateCounter { return &memoryCounter{} }

// TakeRate takes one as a server does, at a time.
func TakeRate(ctx context.Context, counter RateCounter, key string, limit int, now time.Time) (time.Duration, error) {
	l := limiter{shared: counter, now: func() time.Time { return now }}
	return l.take(ctx, key, limit)
}

// AddressKey is what guests are counted under.
var (
	AddressKey    = addressKey
	ClientAddress = clientAddress
)

// WithDefaults exposes the defaults of limits.
func (l RateLimits) WithDefaults() RateLimits { return l.withDefaults() }

// PlainNotification encodes a notification like a response.
func PlainNotification(n docgen.Notification) ([]byte, error) { return marshal(notificationOf(n)) }
