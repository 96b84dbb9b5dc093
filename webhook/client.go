package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"time"
)

const (
	// defaultLimit is the time a receiver has to connect and respond with a status.
	defaultLimit = 30 * time.Second
	// handshakeLimit bounds the TLS handshake.
	handshakeLimit = 10 * time.Second
	// bodyLimit bounds the time spent on a response body after the status, and maxBody the bytes read and recorded. The status
	// decides the outcome; the body only helps people to find out why.
	bodyLimit, maxBody = 5 * time.Second, 16 << 10
	// maxHeader is the maximum size of the response headers.
	maxHeader = 64 << 10
	// idlePerReceiver is the number of idle connections kept for each host, at least as many as there are concurrent requests
	// to one receiver. idleConnections is the total, and idleTimeout the time after which they are closed.
	idlePerReceiver, idleConnections, idleTimeout = 32, 1000, 90 * time.Second
	// An HTTP/2 connection that receives nothing for pingAfter is pinged, and closed if no answer arrives within pingLimit.
	// All requests to a host share the connection, so a dead one must not stay open.
	pingAfter, pingLimit = 15 * time.Second, 5 * time.Second
)

// Roots returns the system's certificate authorities and those in pem, which sign the certificates of an operator's own
// receivers.
func Roots(pem []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificate authorities: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no PEM certificate found: it starts with -----BEGIN CERTIFICATE-----")
	}
	return pool, nil
}

// client posts notifications. It follows no redirects, keeps no cookies, decompresses nothing, and uses no proxy, which
// would connect without the guard. It is safe for concurrent use.
type client struct {
	guard     *Guard
	transport *http.Transport
	tls       *tls.Config
	limit     time.Duration
	bodyLimit time.Duration
}

// newClient returns a client that connects only to addresses that the guard allows. It trusts the authorities in roots, or
// those of the system if roots is nil. limit is the time a receiver has to respond; zero means 30 seconds.
func newClient(g *Guard, roots *x509.CertPool, limit time.Duration) *client {
	if limit == 0 {
		limit = defaultLimit
	}
	c := &client{
		guard: g, limit: limit, bodyLimit: bodyLimit,
		tls: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, NextProtos: []string{"h2", "http/1.1"}},
	}
	c.transport = &http.Transport{
		DialContext: g.dial, DialTLSContext: c.dialTLS, ForceAttemptHTTP2: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost: idlePerReceiver, MaxIdleConns: idleConnections, IdleConnTimeout: idleTimeout,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingLimit},
	}
	return c
}

// close closes the idle connections.
func (c *client) close() { c.transport.CloseIdleConnections() }

// tlsError is a failed TLS handshake, for example because of a certificate that is not trusted.
type tlsError struct {
	host string
	err  error
}

func (e *tlsError) Error() string { return "TLS with " + e.host + ": " + e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

// dialTLS connects and performs the TLS handshake. The transport could do this too, but its errors would not show that the
// handshake failed.
func (c *client) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	raw, err := c.guard.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := c.tls.Clone()
	config.ServerName = host
	conn := tls.Client(raw, config)
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(&tlsError{host, err}, raw.Close())
	}
	return conn, nil
}

// answer is the result of one attempt: either err, or a response.
type answer struct {
	status    int
	header    http.Header
	body      []byte // at most maxBody bytes
	truncated bool   // whether the body is, or may be, incomplete
	began     time.Time
	took      time.Duration // until the status or the error
	err       error
}

// errStopped is the error of an attempt that the server itself canceled. It says nothing about the receiver.
var errStopped = errors.New("the attempt was canceled")

// timeoutError is the error of an attempt whose receiver did not respond in time.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }

// post makes one attempt. It does not modify header. If the receiver closes an idle connection just as it is reused, the
// request is sent again over another one. Receivers must tolerate duplicates anyway, as deliveries arrive at least once.
func (c *client) post(ctx context.Context, address string, header http.Header, body []byte) answer {
	a := answer{began: time.Now()}
	attempt, cancel := context.WithTimeoutCause(ctx, c.limit, &timeoutError{c.limit})
	defer cancel()
	request, err := c.request(attempt, address, header, body)
	if err != nil {
		a.err = err
		return a
	}
	response, err := c.transport.RoundTrip(request)
	a.took = time.Since(a.began)
	if err != nil {
		a.err = failure(ctx, attempt, err)
		return a
	}
	defer response.Body.Close()
	defer time.AfterFunc(c.bodyLimit, cancel).Stop()
	a.status, a.header = response.StatusCode, response.Header
	a.body, err = io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	a.truncated = err != nil || len(a.body) > maxBody
	a.body = a.body[:min(len(a.body), maxBody)]
	return a
}

// request builds the request. It checks the address again, because the operator may have changed the allowed addresses since
// the webhook was created.
func (c *client) request(ctx context.Context, address string, header http.Header, body []byte) (*http.Request, error) {
	u, err := c.guard.parse(address)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, badAddress("the address is not a URL") // err contains the whole address, which may be a secret
	}
	maps.Copy(request.Header, header)
	request.Header["Idempotency-Key"] = nil // not sent: it lets the transport retry on another connection
	return request, nil
}

// failure returns the cause of a failed attempt: errStopped if ctx was canceled, a timeoutError if the receiver was too slow,
// or else err.
func failure(ctx, attempt context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return errors.Join(errStopped, context.Cause(ctx))
	case attempt.Err() != nil:
		return context.Cause(attempt)
	}
	return err
}
