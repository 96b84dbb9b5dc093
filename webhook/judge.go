package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxPause is the maximum time that a receiver can pause its deliveries.
const maxPause = time.Hour

// Outcome is the kind of result of an attempt, for searching and counting.
type Outcome string

// The outcomes of attempts.
const (
	OutcomeDelivered   Outcome = "delivered"   // a status from 200 to 299
	OutcomeRedirect    Outcome = "redirect"    // a status from 300 to 399; redirects are not followed
	OutcomeGone        Outcome = "gone"        // 410: the webhook is disabled
	OutcomeBusy        Outcome = "busy"        // 429, or 503 with Retry-After
	OutcomeStatus      Outcome = "status"      // any other status
	OutcomeTimeout     Outcome = "timeout"     // no connection, or no status, in time
	OutcomeRefused     Outcome = "refused"     // the connection was refused
	OutcomeUnreachable Outcome = "unreachable" // there is no route to the host
	OutcomeReset       Outcome = "reset"       // the connection was closed before a status
	OutcomeInvalid     Outcome = "invalid"     // the response is not HTTP, or its headers are too large
	OutcomeDNS         Outcome = "dns"         // the host did not resolve to an address
	OutcomeTLS         Outcome = "tls"         // the certificate is not trusted, or the handshake failed
	OutcomeAddress     Outcome = "address"     // the Guard rejects the address
	OutcomeStopped     Outcome = "stopped"     // canceled by the server; not a failure of the receiver
)

// verdict is the interpretation of an answer.
type verdict struct {
	outcome Outcome
	reason  string        // one sentence for users; it contains at most the host of the address, never the path or query
	pause   time.Duration // the pause that the receiver asks for; zero if it does not
	gone    bool          // whether the webhook is to be disabled
	healthy bool          // whether the receiver works, even if it rejects the notification; counted by its circuit breaker
}

// judge returns the verdict on an answer. No other function interprets answers.
func judge(a answer, now time.Time) verdict {
	if a.err != nil {
		return judgeError(a.err)
	}
	v := verdict{outcome: OutcomeStatus, healthy: a.status < 500}
	answered := strings.TrimSpace("the receiver answered " + strconv.Itoa(a.status) + " " + http.StatusText(a.status))
	switch {
	case a.status >= 200 && a.status < 300:
		v.outcome, v.reason = OutcomeDelivered, answered
	case a.status >= 300 && a.status < 400:
		v.outcome = OutcomeRedirect
		v.reason = answered + pointsTo(a.header) + "; redirects are not followed: change the address of the webhook to the final one"
	case a.status == http.StatusGone:
		v.outcome, v.gone, v.reason = OutcomeGone, true, answered+": it wants no more notifications"
	case a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable:
		v.pause = retryAfter(a.header, now)
		v.reason, v.healthy = answered, false
		if v.pause > 0 {
			v.reason += fmt.Sprintf(" and asks for a pause of %v", v.pause.Round(time.Second))
		}
		if v.pause > 0 || a.status == http.StatusTooManyRequests {
			v.outcome = OutcomeBusy
		}
	case a.status == http.StatusRequestTimeout:
		v.reason, v.healthy = answered, false
	default:
		v.reason = answered
	}
	return v
}

// pointsTo describes the target of a redirect by its host. The rest of the location may be a secret.
func pointsTo(header http.Header) string {
	to, err := url.Parse(header.Get("Location"))
	switch {
	case err != nil || header.Get("Location") == "" || to.Host != "" && !isName(to.Hostname()):
		return ""
	case to.Host == "":
		return " and points to another path of the same host"
	}
	return " and points to the host " + to.Host
}

// retryAfter returns the pause that a receiver asks for, in seconds or as a date (RFC 9110, section 10.2.3), up to maxPause. It
// returns zero if the header is missing or invalid.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxPause)
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(0, min(date.Sub(now), maxPause))
}

// judgeError returns the verdict on an attempt without a response.
func judgeError(err error) verdict {
	forbidden, isForbidden := errors.AsType[*addressError](err)
	trust, isTLS := errors.AsType[*tlsError](err)
	late, isLate := errors.AsType[*timeoutError](err)
	unknown, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, errStopped):
		return verdict{outcome: OutcomeStopped, reason: "the attempt was canceled because the server stopped", healthy: true}
	case isForbidden:
		return verdict{outcome: OutcomeAddress, reason: forbidden.sentence}
	case isDNS:
		return verdict{outcome: OutcomeDNS, reason: dnsReason(unknown)}
	case isLate:
		return verdict{outcome: OutcomeTimeout, reason: fmt.Sprintf(
			"the receiver did not respond within %v: it should respond first and do its work afterward", late.limit)}
	case isTimeout(err):
		return verdict{outcome: OutcomeTimeout, reason: "the connection to the receiver timed out: check that a firewall permits it"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return verdict{outcome: OutcomeRefused, reason: "the receiver refused the connection: check that it runs and listens on that port"}
	case errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH):
		return verdict{outcome: OutcomeUnreachable, reason: "there is no route to the receiver: check that the server can connect to its network"}
	case isReset(err):
		return verdict{outcome: OutcomeReset, reason: "the receiver closed the connection before it answered"}
	case isTLS:
		return verdict{outcome: OutcomeTLS, reason: tlsReason(trust)}
	case alert(err) != "": // in TLS 1.3, a receiver that requires a client certificate reports it after the handshake
		return verdict{outcome: OutcomeTLS, reason: "the receiver closed the TLS connection" + alert(err)}
	}
	return verdict{outcome: OutcomeInvalid,
		reason: "the receiver's answer is not readable: it is truncated, is not HTTP, or has headers larger than 64 KiB"}
}

func isTimeout(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return ok && late.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// protocolError is the code of an HTTP/2 stream that violated the protocol, or our limits (RFC 9113, section 7).
const protocolError = 1

// streamError has the layout of StreamError in golang.org/x/net/http2. net/http converts its stream errors to any such type in
// errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "stream error" }

func isReset(err error) bool {
	stream, isStream := errors.AsType[streamError](err)
	return isStream && stream.Code != protocolError || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func dnsReason(err *net.DNSError) string {
	if err.IsNotFound {
		return fmt.Sprintf("the host %s does not exist in the DNS: check its name", err.Name)
	}
	return fmt.Sprintf("the host %s could not be resolved: the DNS server did not respond", err.Name)
}

// tlsReason describes what is wrong with the certificate, or else the failed handshake.
func tlsReason(e *tlsError) string {
	certificate := "the certificate of " + e.host
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](e.err)
	_, isName := errors.AsType[x509.HostnameError](e.err)
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](e.err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		from, to := invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339)
		return fmt.Sprintf("%s has expired or is not valid yet: it is valid from %s to %s", certificate, from, to)
	case isInvalid:
		return certificate + " is not valid for a server: " + invalid.Error()
	case isName:
		return certificate + " is for other names: use one for this name"
	case isUnknown:
		return certificate + " is not signed by a known authority: make the receiver send the whole chain, or ask the operator to add the " +
			"authority"
	}
	return "the TLS handshake with " + e.host + " failed" + alert(e.err) + ": check that the receiver supports TLS 1.2 or 1.3"
}

// alert describes the TLS alert that a receiver sent, in crypto/tls's words. It returns "" if err is not an alert.
func alert(err error) string {
	remote, ok := errors.AsType[*net.OpError](err)
	if !ok || remote.Op != "remote error" {
		return ""
	}
	return " with the alert " + strconv.Quote(strings.TrimPrefix(remote.Err.Error(), "tls: "))
}
