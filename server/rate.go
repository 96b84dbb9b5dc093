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

// RateLimits say how many requests a minute are answered. 0 stands for the default, and a negative number for no limit.
type RateLimits struct {
	Requests int // of one user; 1000
	Uploads  int // of one user; 240
	Guests   int // of one address without a valid token; 300
}

func (l RateLimits) withDefaults() RateLimits {
	return RateLimits{Requests: cmp.Or(l.Requests, 1000), Uploads: cmp.Or(l.Uploads, 240), Guests: cmp.Or(l.Guests, 300)}
}

// RatePeriod is the time that rate limits are for.
const RatePeriod = time.Minute

// A RateCounter counts what happens under a key in periods of RatePeriod since 1970. The count at a moment is that of
// its period, and of the one before as much as lies within RatePeriod before the moment, as if that had happened evenly.
//
// Count adds one to what key has at now, unless that would then be above limit, and tells whether it did, with what the
// period and the one before have afterwards. It is one step: of any number of calls at once, also by other servers that
// share the counter, as many are counted as there is room for. Under a key time does not go back: a
// clock that is behind the last one counted by finds the period that this had found.
type RateCounter interface {
	Count(ctx context.Context, key string, limit int, now time.Time) (counted bool, current, previous int, err error)
}

// A limiter lets through what the rate limits allow.
type limiter struct {
	limits RateLimits
	shared RateCounter // nil: this server is alone
	own    memoryCounter
	now    func() time.Time
}

// take counts one call under a key; wait is how long the caller is to wait when there are too many. Where the shared
// counter does not answer the server counts by itself: neither do requests fail for want of a count, nor are there no
// limits, only one for each server.
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

// countTimeout is how long a shared counter may take. A request that it makes wait has not begun its work yet.
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

// untilRoom is how long it takes until one more would be counted, if nothing else is.
func untilRoom(limit, current, previous int, now time.Time) time.Duration {
	elapsed := sincePeriod(now)
	if current < limit && previous > 0 { // some of the period before has to pass away
		return passing(previous, limit-current-1) - elapsed
	}
	return RatePeriod - elapsed + passing(current, limit-1)
}

// passing is how much of a period must be over until of what the one before it had only so many count.
func passing(had, left int) time.Duration {
	if had <= left {
		return 0
	}
	over := int64(had-left) * periodMicros
	return time.Duration((over+int64(had)-1)/int64(had)) * time.Microsecond
}

// Times are counted in microseconds, as a database does.
const periodMicros = int64(RatePeriod / time.Microsecond)

func periodOf(now time.Time) int64 { return now.UnixMicro() / periodMicros }

func sincePeriod(now time.Time) time.Duration {
	return time.Duration(now.UnixMicro()%periodMicros) * time.Microsecond
}

// retryAfter writes a time to wait for the header of that name, in whole seconds.
func retryAfter(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// A memoryCounter counts for one server, and forgets what is two periods old.
type memoryCounter struct {
	mu                sync.Mutex
	period            int64
	current, previous map[string]int
}

// Count makes a memoryCounter a RateCounter.
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

// begin begins a period.
func (c *memoryCounter) begin(period int64) {
	c.previous = nil
	if period == c.period+1 {
		c.previous = c.current
	}
	c.period, c.current = period, map[string]int{}
}

// addressKey names whom an address belongs to: of IPv6, a host has a network of 64 bits to choose addresses from.
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
