package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"platen/docgen"
	"platen/server"
	"platen/store"
	"platen/store/storetest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// counters are the two implementations, which pass the same tests.
var counters = map[string]func(t testing.TB) server.RateCounter{
	"memory": func(testing.TB) server.RateCounter { return server.NewMemoryCounter() },
	"postgres": func(t testing.TB) server.RateCounter {
		return store.NewRateCounter(storetest.Open(t, storetest.Postgres(t)), server.RatePeriod)
	},
}

func runCounters(t *testing.T, test func(t *testing.T, c server.RateCounter)) {
	for name, open := range counters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// TestRateCounter checks how many requests a limit of 10 allows over time.
func TestRateCounter(t *testing.T) {
	runCounters(t, func(t *testing.T, c server.RateCounter) {
		for _, step := range []struct {
			after  time.Duration // after noon
			key    string
			counts int // how many of 20 are counted
		}{
			{0, "a", 10},
			{0, "b", 10}, // each key by itself
			{59 * time.Second, "a", 0},
			{60 * time.Second, "a", 0},  // all of the period before still counts
			{66 * time.Second, "a", 1},  // a tenth of it has passed away
			{90 * time.Second, "a", 4},  // half of it
			{60 * time.Second, "a", 0},  // by a clock that is behind
			{120 * time.Second, "a", 5}, // only the five of the last period count
			{300 * time.Second, "a", 10},
			{300 * time.Second, "b", 10},
		} {
			counted := 0
			for range 20 {
				ok, current, previous, err := c.Count(t.Context(), step.key, 10, noon.Add(step.after))
				must(t, err)
				if ok {
					counted++
				}
				if current > 10 || previous > 10 {
					t.Errorf("after %v: %d and %d are counted", step.after, current, previous)
				}
			}
			if counted != step.counts {
				t.Errorf("after %v, %s: %d counted, want %d", step.after, step.key, counted, step.counts)
			}
		}
	})
}

// TestRateCounterIsExact counts from many goroutines at once.
func TestRateCounterIsExact(t *testing.T) {
	runCounters(t, func(t *testing.T, c server.RateCounter) {
		const limit = 37
		var counted atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 10 {
					ok, _, _, err := c.Count(t.Context(), "many", limit, noon)
					if err != nil {
						t.Error(err)
					}
					if ok {
						counted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if counted.Load() != limit {
			t.Errorf("%d counted, want %d", counted.Load(), limit)
		}
	})
}

// TestRetryAfterIsExact shows that a request is allowed after the reported time, and not before. Retry-After has whole
// seconds, so it is at least 1.
func TestRetryAfterIsExact(t *testing.T) {
	runCounters(t, func(t *testing.T, c server.RateCounter) {
		key := 0
		rapid.Check(t, func(t *rapid.T) {
			key++
			name := fmt.Sprint("key ", key)
			limit := rapid.IntRange(1, 8).Draw(t, "limit")
			now := noon.Add(time.Duration(key) * 24 * time.Hour) // for a counter that all runs share, time must not go back
			take := func(at time.Time) time.Duration {
				wait, err := server.TakeRate(t.Context(), c, name, limit, at)
				if err != nil {
					t.Fatal(err)
				}
				return wait
			}
			for range rapid.IntRange(1, 40).Draw(t, "requests") {
				now = now.Add(time.Duration(rapid.Int64Range(0, 20e6).Draw(t, "µs")) * time.Microsecond)
				wait := take(now)
				if wait == 0 {
					continue
				}
				if before := now.Add(wait - time.Microsecond); wait > time.Second && take(before) == 0 {
					t.Fatalf("there is room before %v are over", wait)
				}
				now = now.Add(wait)
				if more := take(now); more != 0 {
					t.Fatalf("after %v there is no room for another %v", wait, more)
				}
			}
		})
	})
}

// TestRateCountersAgree sends both the same requests.
func TestRateCountersAgree(t *testing.T) {
	postgres := counters["postgres"](t)
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		memory, at := server.NewMemoryCounter(), noon
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			at = at.Add(time.Duration(rapid.Int64Range(0, 30e6).Draw(t, "µs")) * time.Microsecond)
			limit := rapid.IntRange(1, 6).Draw(t, "limit")
			ok1, current1, previous1, _ := memory.Count(t.Context(), "x", limit, at)
			ok2, current2, previous2, err := postgres.Count(t.Context(), fmt.Sprint("run ", run), limit, at)
			if err != nil {
				t.Fatal(err)
			}
			if ok1 != ok2 || current1 != current2 || previous1 != previous2 {
				t.Fatalf("at %v of %d: memory %v %d %d, postgres %v %d %d", at, limit, ok1, current1, previous1, ok2, current2, previous2)
			}
		}
	})
}

// TestRateLimitsAcrossServers sends many concurrent requests to two servers on one database: exactly as many succeed as
// the limit allows.
func TestRateLimitsAcrossServers(t *testing.T) {
	t.Parallel()
	cfg := storetest.Postgres(t)
	const limit = 41
	nodeConfig := func(db *store.DB) server.Config {
		return server.Config{
			RateLimits: server.RateLimits{Requests: limit, Guests: limit}, Now: func() time.Time { return noon.Add(15 * time.Second) },
			Rates: store.NewRateCounter(db, server.RatePeriod),
		}
	}
	first := storetest.Open(t, cfg)
	w := newWorld(t, first, nodeConfig(first), docgen.Limits{})
	second := storetest.Open(t, cfg)
	service, err := docgen.New(t.Context(), docgen.Config{Store: second, Now: func() time.Time { return noon }})
	must(t, err)
	otherConfig := nodeConfig(second)
	otherConfig.Service, otherConfig.Log = service, storetest.Log(t)
	other := httptest.NewServer(server.New(otherConfig))
	t.Cleanup(other.Close)

	for name, token := range map[string]string{"a user": w.tokens["owner"], "a guest": "nobody's"} {
		t.Run(name, func(t *testing.T) {
			var limited, answered atomic.Int64
			var wg sync.WaitGroup
			for i := range 16 {
				url := []string{w.url, other.URL}[i%2] + "/2.0/users/me"
				wg.Go(func() {
					for range 10 {
						status, retryAfter := get(t, url, token)
						switch {
						case status != http.StatusTooManyRequests:
							answered.Add(1)
						case retryAfter == "47": // of the 41 one has passed away 1.46 s after the minute
							limited.Add(1)
						default:
							t.Errorf("Retry-After %q, want 47", retryAfter)
						}
					}
				})
			}
			wg.Wait()
			if answered.Load() != limit || limited.Load() != 160-limit {
				t.Errorf("%d answered and %d limited, want %d and %d", answered.Load(), limited.Load(), limit, 160-limit)
			}
		})
	}
}

func get(t *testing.T, url, token string) (status int, retryAfter string) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("svc-version", "2025.0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Error(err)
	}
	return res.StatusCode, res.Header.Get("Retry-After")
}

// TestRateLimitsWithoutTheSharedCounter closes the counter's database: the server counts on its own, and logs this.
func TestRateLimitsWithoutTheSharedCounter(t *testing.T) {
	gone, err := store.Open(t.Context(), storetest.Postgres(t))
	must(t, err)
	must(t, gone.Close())
	cfg := server.Config{
		RateLimits: server.RateLimits{Requests: 3, Guests: -1}, Now: func() time.Time { return noon },
		Rates: store.NewRateCounter(gone, server.RatePeriod),
	}
	runOnce(t, cfg, func(w *world) {
		for range 3 {
			w.do("GET /users/me", request{}).want(w.t, 200)
		}
		w.do("GET /users/me", request{}).want(w.t, 429, "rate_limit_exceeded")
		if len(w.logs.find("cannot use the shared rate counter; counting requests for this server only", "request_id")) != 4 {
			w.t.Error("it is not logged")
		}
	})
}

// TestOldRatesAreRemoved counts under many keys, and under one of them some time later.
func TestOldRatesAreRemoved(t *testing.T) {
	cfg := storetest.Postgres(t)
	db := storetest.Open(t, cfg)
	conn, err := pgx.Connect(t.Context(), cfg.URL)
	must(t, err)
	defer func() { must(t, conn.Close(t.Context())) }()
	for i := range 50 {
		_, _, _, err := store.NewRateCounter(db, server.RatePeriod).Count(t.Context(), fmt.Sprint("key ", i), 10, noon)
		must(t, err)
	}
	counter := store.NewRateCounter(db, server.RatePeriod)
	for _, step := range []struct {
		after time.Duration
		rows  int
	}{{time.Minute, 51}, {2 * time.Minute, 1}} {
		_, _, _, err := counter.Count(t.Context(), "later", 10, noon.Add(step.after))
		must(t, err)
		var rows int
		must(t, conn.QueryRow(t.Context(), "SELECT COUNT(*) FROM rates").Scan(&rows))
		if rows != step.rows {
			t.Errorf("after %v there are %d rows, want %d", step.after, rows, step.rows)
		}
	}
}

func TestAddressesOfGuests(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:4711":             "192.0.2.7",
		"[::ffff:192.0.2.7]:4711":    "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:443": "2001:db8:1:2::/64",
		"[2001:db8:1:2::9]:80":       "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":          "fe80::/64",
		"@":                          "@", // a Unix socket
	} {
		if got := server.AddressKey(remote); got != want {
			t.Errorf("%s is counted as %s, want %s", remote, got, want)
		}
	}
}

// BenchmarkCount counts toward a limit that is never reached. The floor is a query that does nothing.
func BenchmarkCount(b *testing.B) {
	for name, open := range counters {
		for _, users := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d users", name, users), func(b *testing.B) {
				c := open(b)
				b.ResetTimer()
				var n atomic.Int64
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, _, _, err := c.Count(b.Context(), fmt.Sprint(n.Add(1)%int64(users)), 1<<30, noon); err != nil {
							b.Error(err)
						}
					}
				})
			})
		}
	}
	b.Run("floor: ping", func(b *testing.B) {
		db := storetest.Open(b, storetest.Postgres(b))
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := db.Ping(b.Context()); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
