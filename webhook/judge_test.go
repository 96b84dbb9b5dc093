package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestJudgeStatus(t *testing.T) {
	const busy = OutcomeBusy
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		status     int
		retryAfter string
		want       verdict
	}{
		{200, "", verdict{OutcomeDelivered, "the receiver answered 200 OK", 0, false, true}},
		{299, "60", verdict{OutcomeDelivered, "the receiver answered 299", 0, false, true}},
		{304, "60", verdict{OutcomeRedirect, "the receiver answered 304 Not Modified; redirects are not followed: change the address of the " +
			"webhook to the final one", 0, false, true}},
		{400, "60", verdict{OutcomeStatus, "the receiver answered 400 Bad Request", 0, false, true}},
		{404, "", verdict{OutcomeStatus, "the receiver answered 404 Not Found", 0, false, true}},
		{408, "", verdict{OutcomeStatus, "the receiver answered 408 Request Timeout", 0, false, false}},
		{410, "60", verdict{OutcomeGone, "the receiver answered 410 Gone: it wants no more notifications", 0, true, true}},
		{429, "", verdict{busy, "the receiver answered 429 Too Many Requests", 0, false, false}},
		{429, "90", verdict{busy, "the receiver answered 429 Too Many Requests and asks for a pause of 1m30s", 90 * time.Second, false, false}},
		{429, "Sat, 21 Nov 2026 12:05:00 GMT", verdict{busy, "the receiver answered 429 Too Many Requests and asks for a pause of 5m0s",
			5 * time.Minute, false, false}},
		{429, "Saturday, 21-Nov-26 12:05:00 GMT",
			verdict{busy, "the receiver answered 429 Too Many Requests and asks for a pause of 5m0s", 5 * time.Minute, false, false}},
		{429, "Sat, 21 Nov 2026 11:00:00 GMT", verdict{busy, "the receiver answered 429 Too Many Requests", 0, false, false}},
		{429, "86400", verdict{busy, "the receiver answered 429 Too Many Requests and asks for a pause of 1h0m0s", time.Hour, false, false}},
		{429, "Sat, 21 Nov 2099 12:05:00 GMT", verdict{busy, "the receiver answered 429 Too Many Requests and asks for a pause of 1h0m0s",
			time.Hour, false, false}},
		{503, "60", verdict{busy, "the receiver answered 503 Service Unavailable and asks for a pause of 1m0s", time.Minute, false, false}},
		{503, "", verdict{OutcomeStatus, "the receiver answered 503 Service Unavailable", 0, false, false}},
		{503, "0", verdict{OutcomeStatus, "the receiver answered 503 Service Unavailable", 0, false, false}},
		{500, "60", verdict{OutcomeStatus, "the receiver answered 500 Internal Server Error", 0, false, false}},
	} {
		got := judge(answer{status: test.status, header: http.Header{"Retry-After": {test.retryAfter}}}, now)
		if got != test.want {
			t.Errorf("%d, %q: %+v,\nwant %+v", test.status, test.retryAfter, got, test.want)
		}
	}
	for _, nonsense := range []string{"-1", "soon", "1.5", "1e3", "0x10", "99999999999999999999", " 60", "60 ", "60, 70", "Sat, 21 Nov 2026",
		"2026-11-21T12:05:00Z", "\x00"} {
		if got := judge(answer{status: 503, header: http.Header{"Retry-After": {nonsense}}}, now); got.pause != 0 ||
			got.outcome != OutcomeStatus {
			t.Errorf("%q: %+v", nonsense, got)
		}
	}
}

func TestJudgeRedirects(t *testing.T) {
	for location, want := range map[string]string{
		"https://new.example.com/secret?secret":  "302 Found and points to the host new.example.com; redirects",
		"https://u:secret@new.example.com:8443/": "the host new.example.com:8443;",
		"//new.example.com/secret":               "the host new.example.com;",
		"/secret":                                "302 Found and points to another path of the same host; redirects",
		"?secret":                                "the same host;",
		"":                                       "302 Found; redirects", "https://secret%zz": "302 Found; redirects",
		"https://<secret>/": "302 Found; redirects",
	} {
		got := judge(answer{status: http.StatusFound, header: http.Header{"Location": {location}}}, time.Now())
		if got.outcome != OutcomeRedirect || !strings.Contains(got.reason, want) || strings.Contains(got.reason, "secret") {
			t.Errorf("%q: %+v, want %q", location, got, want)
		}
	}
}

// TestJudgeErrors covers errors that no server on this machine can cause.
func TestJudgeErrors(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for name, test := range map[string]struct {
		err     error
		outcome Outcome
		reason  string
	}{
		"connecting too late":   {dial(os.ErrDeadlineExceeded), OutcomeTimeout, "the connection to the receiver timed out"},
		"handshaking too late":  {&tlsError{"a", context.DeadlineExceeded}, OutcomeTimeout, "the connection to the receiver timed out"},
		"one late, one refused": {errors.Join(dial(syscall.ECONNREFUSED), dial(os.ErrDeadlineExceeded)), OutcomeTimeout, "timed out"},
		"one away, one refused": {errors.Join(dial(syscall.ENETUNREACH), dial(syscall.ECONNREFUSED)), OutcomeRefused, "refused the connection"},
		"no route":              {dial(syscall.EHOSTUNREACH), OutcomeUnreachable, "no route to the receiver"},
		"no network":            {dial(syscall.ENETUNREACH), OutcomeUnreachable, "no route to the receiver"},
		"broken pipe":           {dial(syscall.EPIPE), OutcomeReset, "closed the connection"},
		"DNS too late": {&net.DNSError{Name: "a.example", IsTimeout: true}, OutcomeDNS,
			"a.example could not be resolved: the DNS server did not respond"},
		"DNS without it": {dial(&net.DNSError{Name: "a.example", IsNotFound: true}), OutcomeDNS, "a.example does not exist"},
		"late alert": {&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}, OutcomeTLS,
			`closed the TLS connection with the alert "certificate required"`},
		"anything else": {errors.New("secret"), OutcomeInvalid, "not readable"},
	} {
		got := judge(answer{err: test.err}, time.Now())
		if got.outcome != test.outcome || !strings.Contains(got.reason, test.reason) || got.healthy || got.gone || got.pause != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
