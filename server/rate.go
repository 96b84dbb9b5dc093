package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// RateLimits are limits of requests per minute. 0 means the default, and a negative number no limit.
type RateLimits struct {
	Requests int // per user; default 1000
	Uploads  int // per user; default 240
	Guests   int // per address without a valid token; default 300
}

func (l RateLimits) withDefaults() RateLimits {
	return RateLimits{Requests: cmp.Or(l.Requests, 1000), Uploads: cmp.Or(l.Uploads, 240), Guests: cmp.Or(l.Guests, 300)}
}

// RatePeriod is the period of rate limits.
const RatePeriod = time.Minute

// A RateCounter counts requests by key, in periods of RatePeriod since 1970. The count at a moment is the count of its period, plus the
// part of the previous period's count that falls into the last RatePeriod, as if those requests were evenly distributed.
//
// Count adds one to the count of key at now, unless the result would exceed limit. It returns whether it did, and the counts of the
// period and the previous one afterward. It is atomic, even across servers that share the counter: of any number of concurrent calls,
// exactly as many are counted as the limit allows. Time never goes back for a key: if a clock lags the latest one seen, the latest
// period counts.
type RateCounter interface {
	Count(ctx context.Context, key string, limit int, now time.Time) (counted bool, current, previous int, err error)
}

// A limiter enforces the rate limits.
type limiter struct {
	limits RateLimits
	shared RateCounter // nil if this is the only server
	own    memoryCounter
	now    func() time.Time
}

// take counts one request under a key. If the limit is exceeded, wait is the time until the caller may retry. If the shared counter
// fails, the server counts on its own, so that requests do not fail and the limits still apply per server.
func (l *limiter) take(ctx context.Context, key string, limit int) (wait time.Duration, failure error) {
	if limit < 0 {
		return 0, nil
	}
	now := l.now()
	counted, current, previous, err := l.count(ctx, key, limit, now)
	if err != nil {
		failure = fmt.Errorf("count requests: %w", err)
		counted, current, previous = l.own.count(key, limit, now)
	}
	if counted {
		return 0, failure
	}
	return max(untilRoom(limit, current, previous, now), time.Second), failure
}

// countTimeout is the maximum time for the shared counter. A waiting request has not started its work yet.
const countTimeout = time.Second

func (l *limiter) count(ctx context.Context, key string, limit int, now time.Time) (counted bool, current, previous int, err error) {
	if l.shared == nil {
		counted, current, previous = l.own.count(key, limit, now)
		return counted, current, previous, nil
	}
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	return l.shared.Count(ctx, key, limit, now)
}

// untilRoom returns the time until another request is allowed, if none is counted in between.
func untilRoom(limit, current, previous int, now time.Time) time.Duration {
	elapsed := sincePeriod(now)
	if current < limit && previous > 0 { // part of the previous period must expire
		return passing(previous, limit-current-1) - elapsed
	}
	return RatePeriod - elapsed + passing(current, limit-1)
}

// passing returns how much of a period must elapse until the previous period's count contributes at most the given number.
func passing(had, left int) time.Duration {
	if had <= left {
		return 0
	}
	over := int64(had-left) * periodMicros
	return time.Duration((over+int64(had)-1)/int64(had)) * time.Microsecond
}

// Times are in microseconds, like in the database.
const periodMicros = int64(RatePeriod / time.Microsecond)

func periodOf(now time.Time) int64 { return now.UnixMicro() / periodMicros }

func sincePeriod(now time.Time) time.Duration {
	return time.Duration(now.UnixMicro()%periodMicros) * time.Microsecond
}

// retryAfter formats a duration for the header Retry-After, in whole seconds.
func retryAfter(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// A memoryCounter counts for one server. It forgets counts that are two periods old.
type memoryCounter struct {
	mu                sync.Mutex
	period            int64
	current, previous map[string]int
}

// Count implements RateCounter.
func (c *memoryCounter) Count(_ context.Context, key string, limit int, now time.Time) (counted bool, current, previous int, err error) {
	counted, current, previous = c.count(key, limit, now)
	return counted, current, previous, nil
}

func (c *memoryCounter) count(key string, limit int, now time.Time) (counted bool, current, previous int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := periodMicros - now.UnixMicro()%periodMicros
	if period := periodOf(now); period > c.period || c.current == nil {
		c.begin(period)
	} else if period < c.period {
		left = periodMicros
	}
	current, previous = c.current[key], c.previous[key]
	if int64(previous)*left > int64(limit-current-1)*periodMicros {
		return false, current, previous
	}
	c.current[key]++
	return true, current + 1, previous
}

// begin starts a period.
func (c *memoryCounter) begin(period int64) {
	c.previous = nil
	if period == c.period+1 {
		c.previous = c.current
	}
	c.period, c.current = period, map[string]int{}
}

// addressKey returns the key of an address. An IPv6 host can choose its addresses from a network of 64 bits, so the key is that network.
func addressKey(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap().WithZone(""); address.Is4() {
		return address.String()
	}
	return netip.PrefixFrom(address, 64).Masked().String()
}
