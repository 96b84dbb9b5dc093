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

// maxPause is the longest that a receiver may ask us to wait.
const maxPause = time.Hour

// Outcome is what came of an attempt, in a word to search and count by.
type Outcome string

// The outcomes of attempts.
const (
	OutcomeDelivered   Outcome = "delivered"   // a status from 200 to 299
	OutcomeRedirect    Outcome = "redirect"    // a status from 300 to 399, which is not followed
	OutcomeGone        Outcome = "gone"        // 410: nothing is to be sent there any more
	OutcomeBusy        Outcome = "busy"        // 429, or 503 with a time to come back at
	OutcomeStatus      Outcome = "status"      // any other status
	OutcomeTimeout     Outcome = "timeout"     // no status in time, or no connection
	OutcomeRefused     Outcome = "refused"     // nothing listens there
	OutcomeUnreachable Outcome = "unreachable" // no way leads there
	OutcomeReset       Outcome = "reset"       // the connection ended before a status
	OutcomeInvalid     Outcome = "invalid"     // the answer is no HTTP, or its headers are too large
	OutcomeDNS         Outcome = "dns"         // the host has no address
	OutcomeTLS         Outcome = "tls"         // no trust in the host: its certificate, or the handshake
	OutcomeAddress     Outcome = "address"     // the guard does not let notifications go there
	OutcomeStopped     Outcome = "stopped"     // cancelled from our side; it is no failure of the receiver
)

// verdict is what follows from an answer.
type verdict struct {
	outcome Outcome
	reason  string        // one sentence for a person; it names the host at most, never path or query
	pause   time.Duration // how long the receiver asks to be left alone; zero when it does not
	gone    bool          // nothing is to be sent there any more
	healthy bool          // the receiver is alive, whether it likes what it gets or not: what its breaker counts
}

// judge decides what an answer means, in this place alone.
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
		v.outcome, v.reason = OutcomeRedirect, answered+pointsTo(a.header)+"; redirects are not followed: give the webhook the address that answers"
	case a.status == http.StatusGone:
		v.outcome, v.gone, v.reason = OutcomeGone, true, answered+": it wants no more notifications"
	case a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable:
		v.pause = retryAfter(a.header, now)
		v.reason, v.healthy = answered, false
		if v.pause > 0 {
			v.reason += fmt.Sprintf(" and asks to be left alone for %v", v.pause.Round(time.Second))
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

// pointsTo says to which host a redirect leads. The rest of a location may be a secret.
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

// retryAfter returns how long a receiver asks to be left alone, in seconds or until a date (RFC 9110, section 10.2.3).
// What is neither says nothing.
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

// judgeError decides about an attempt that got no status.
func judgeError(err error) verdict {
	forbidden, isForbidden := errors.AsType[*addressError](err)
	trust, isTLS := errors.AsType[*tlsError](err)
	late, isLate := errors.AsType[*timeoutError](err)
	unknown, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, errStopped):
		return verdict{outcome: OutcomeStopped, reason: "the attempt was cancelled because the server stopped", healthy: true}
	case isForbidden:
		return verdict{outcome: OutcomeAddress, reason: forbidden.sentence}
	case isDNS:
		return verdict{outcome: OutcomeDNS, reason: dnsReason(unknown)}
	case isLate:
		return verdict{outcome: OutcomeTimeout, reason: fmt.Sprintf("the receiver did not answer within %v: have it answer first and work later", late.limit)}
	case isTimeout(err):
		return verdict{outcome: OutcomeTimeout, reason: "no connection to the receiver was made in time: see that a firewall lets it through"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return verdict{outcome: OutcomeRefused, reason: "the receiver refused the connection: see that it runs and listens on that port"}
	case errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH):
		return verdict{outcome: OutcomeUnreachable, reason: "no way leads to the receiver from here: see that the server may connect to its network"}
	case isReset(err):
		return verdict{outcome: OutcomeReset, reason: "the receiver ended the connection before it answered"}
	case isTLS:
		return verdict{outcome: OutcomeTLS, reason: tlsReason(trust)}
	case alert(err) != "": // in TLS 1.3 a receiver that wants a certificate of ours says so after the handshake
		return verdict{outcome: OutcomeTLS, reason: "the receiver ended the TLS connection" + alert(err)}
	}
	return verdict{outcome: OutcomeInvalid, reason: "the receiver's answer cannot be read: it is cut short, is not HTTP, or has headers larger than 64 KiB"}
}

func isTimeout(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return ok && late.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// protocolError is the code of a stream that broke the rules of HTTP/2, or our limits (RFC 9113, section 7).
const protocolError = 1

// streamError is the form in which net/http lets others read its errors of streams, that of golang.org/x/net/http2.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "stream error" }

func isReset(err error) bool {
	stream, isStream := errors.AsType[streamError](err)
	return isStream && stream.Code != protocolError || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func dnsReason(err *net.DNSError) string {
	if err.IsNotFound {
		return fmt.Sprintf("the host %s has no address: see that its name is right and in the DNS", err.Name)
	}
	return fmt.Sprintf("the address of the host %s was not found out: the DNS did not answer", err.Name)
}

// tlsReason says what is wrong with a certificate, or that it is the handshake.
func tlsReason(e *tlsError) string {
	certificate := "the certificate of " + e.host
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](e.err)
	_, isName := errors.AsType[x509.HostnameError](e.err)
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](e.err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		from, to := invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339)
		return fmt.Sprintf("%s is expired or not valid yet, it is from %s to %s: renew it", certificate, from, to)
	case isInvalid:
		return certificate + " is not valid for a server: " + invalid.Error()
	case isName:
		return certificate + " is for other names: use one for this name"
	case isUnknown:
		return certificate + " is not signed by a known authority: have the receiver send the whole chain, or the operator add the authority"
	}
	return "no TLS connection to " + e.host + " came about" + alert(e.err) + ": see that it serves TLS 1.2 or 1.3 there"
}

// alert tells what a receiver says that it misses in a handshake, in words of ours.
func alert(err error) string {
	remote, ok := errors.AsType[*net.OpError](err)
	if !ok || remote.Op != "remote error" {
		return ""
	}
	return ", it says " + strconv.Quote(strings.TrimPrefix(remote.Err.Error(), "tls: "))
}
