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
	// defaultLimit is how long a receiver has to answer with a status, connecting included.
	defaultLimit = 30 * time.Second
	// handshakeLimit is how long it has for the handshake of TLS.
	handshakeLimit = 10 * time.Second
	// bodyLimit is how long we go on reading after the status, and maxBody how much of a body is read and kept. The status has
	// said what matters; the body is for the people who look why.
	bodyLimit, maxBody = 5 * time.Second, 16 << 10
	// maxHeader is how large the headers of an answer may be.
	maxHeader = 64 << 10
	// keptPerReceiver is how many connections to one host are kept when they are idle, at least as many as requests go there at
	// the same time. keptConnections is how many in all, and keptFor how long.
	keptPerReceiver, keptConnections, keptFor = 32, 1000, 90 * time.Second
	// A connection of HTTP/2 on which nothing came for pingAfter is asked whether it lives, and is closed when that is not
	// answered within pingLimit: all requests share it.
	pingAfter, pingLimit = 15 * time.Second, 5 * time.Second
)

// Roots returns the authorities of the system together with those of pem, which sign certificates of an operator's own
// receivers.
func Roots(pem []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("certificates of the system: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in PEM found: it begins with -----BEGIN CERTIFICATE-----")
	}
	return pool, nil
}

// client posts notifications, and takes answers as receivers give them: it follows no redirect, keeps no cookie, uses no
// proxy (which would dial unguarded) and decompresses nothing. It is safe for use by many goroutines.
type client struct {
	guard     *Guard
	transport *http.Transport
	tls       *tls.Config
	limit     time.Duration
	bodyLimit time.Duration
}

// newClient returns a client that connects where the guard lets it. It trusts the authorities in roots, or those of the system
// when it is nil. A receiver has so much time to answer; zero is 30 seconds.
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
		MaxIdleConnsPerHost: keptPerReceiver, MaxIdleConns: keptConnections, IdleConnTimeout: keptFor,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingLimit},
	}
	return c
}

// close closes the connections that are idle.
func (c *client) close() { c.transport.CloseIdleConnections() }

// tlsError is a connection on which no trust was found.
type tlsError struct {
	host string
	err  error
}

func (e *tlsError) Error() string { return "TLS with " + e.host + ": " + e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

// dialTLS connects and shakes hands. The transport could do that, but its errors would not say that it was the handshake.
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

// answer is what came of one attempt. With an err there is no status.
type answer struct {
	status    int
	header    http.Header
	body      []byte
	truncated bool // there was more of the body, or it may be
	began     time.Time
	took      time.Duration // until the status, or the error
	err       error
}

// errStopped is the error of an attempt that was cancelled from our side. It says nothing about the receiver.
var errStopped = errors.New("the attempt was cancelled")

// timeoutError is the error of an attempt whose receiver did not answer in time.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }

// post makes one attempt. It does not change the header. What was sent on a kept connection that the receiver was closing at
// that moment is sent once more, on another: receivers bear with that, as deliveries come at least once.
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

// request judges the address once more: what an operator allows may have changed since the webhook was made.
func (c *client) request(ctx context.Context, address string, header http.Header, body []byte) (*http.Request, error) {
	u, err := c.guard.parse(address)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, badAddress("the address is no URL") // err has the whole address
	}
	maps.Copy(request.Header, header)
	request.Header["Idempotency-Key"] = nil // is not sent; it lets the transport try another connection
	return request, nil
}

// failure tells our own stopping and the receiver's being late from other errors.
func failure(ctx, attempt context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return errors.Join(errStopped, context.Cause(ctx))
	case attempt.Err() != nil:
		return context.Cause(attempt)
	}
	return err
}
