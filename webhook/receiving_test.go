package webhook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The receivers of these tests are real servers on this machine, under the name hooks.example.com. Most of them misbehave.

const receiverName = "hooks.example.com"

// authority signs the certificates of receivers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(tb testing.TB) *authority {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "An operator's authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return &authority{certificate, key}
}

// roots returns the test authority and those of the system.
func (a *authority) roots(tb testing.TB) *x509.CertPool {
	tb.Helper()
	pool, err := Roots(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}))
	if err != nil {
		tb.Fatal(err)
	}
	return pool
}

// issue returns a configuration with a valid certificate, which change modifies unless it is nil.
func (a *authority) issue(tb testing.TB, change func(*x509.Certificate)) *tls.Config {
	tb.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{receiverName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &a.key.PublicKey, a.key)
	if err != nil {
		tb.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: a.key}}}
}

// receiving is a client and the receivers of a test.
type receiving struct {
	tb testing.TB
	*authority
	client *client
}

// newReceiving returns a client that can connect to this machine, and gives receivers the time limit to answer. At the end of the
// test, it checks that no goroutine or connection is left.
func newReceiving(tb testing.TB, limit time.Duration) *receiving {
	tb.Helper()
	before := goleak.IgnoreCurrent()
	tb.Cleanup(func() { goleak.VerifyNone(tb, before) })
	a := newAuthority(tb)
	g := guardOf(GuardConfig{Networks: prefixes("127.0.0.0/8")}, map[string][]string{receiverName: {"127.0.0.1"}})
	g.anyPort = true
	c := newClient(g, a.roots(tb), limit)
	tb.Cleanup(c.close)
	return &receiving{tb, a, c}
}

// serve starts a receiver, and returns its address.
func (r *receiving) serve(handler http.HandlerFunc, change func(*httptest.Server)) string {
	r.tb.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = r.issue(r.tb, nil)
	server.Config.ErrorLog = discard
	if change != nil {
		change(server)
	}
	server.StartTLS()
	r.tb.Cleanup(server.Close)
	return addressOn(server.Listener)
}

// serveRaw starts a receiver that accepts connections, with TLS unless config is nil, and returns its address. It passes each
// connection to the function, and closes it when the function returns or the test ends.
func (r *receiving) serveRaw(config *tls.Config, take func(conn net.Conn, ended <-chan struct{})) string {
	r.tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.tb.Fatal(err)
	}
	address := addressOn(listener)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				closing := func() { _ = conn.Close() } // fails if the connection was reset
				defer closing()
				defer context.AfterFunc(ctx, closing)()
				take(conn, ctx.Done())
			})
		}
	})
	r.tb.Cleanup(func() {
		end()
		if err := listener.Close(); err != nil {
			r.tb.Error(err)
		}
		running.Wait()
	})
	return address
}

func addressOn(listener net.Listener) string {
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "https://" + net.JoinHostPort(receiverName, port) + "/secret?key=secret"
}

// post makes one attempt with a small body.
func (r *receiving) post(address string) answer {
	r.tb.Helper()
	return r.client.post(r.tb.Context(), address, http.Header{"X-Test": {"yes"}}, []byte(`{"type":"webhook_event"}`))
}

// says returns a receiver that reads a request and answers with these bytes.
func says(text string) func(net.Conn, <-chan struct{}) {
	return func(conn net.Conn, _ <-chan struct{}) {
		if readRequest(conn) {
			_, _ = io.WriteString(conn, text) // fails if the client stops reading
		}
	}
}

// readRequest reads a whole request, and reports whether there was one.
func readRequest(conn net.Conn) bool {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err == nil
}

// reset aborts a connection with a TCP reset.
func reset(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	_ = conn.(*net.TCPConn).SetLinger(0) // fails if the connection is already closed
	_ = conn.Close()
}

// large returns a body of the given size.
func large(size int) []byte { return bytes.Repeat([]byte("x"), size) }
