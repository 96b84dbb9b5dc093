package cli

import (
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
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// hostedNames are the hosts of the hosted service to which clients with fixed URLs connect.
var hostedNames = []string{"api.box.com", "upload.box.com", "app.box.com", "account.box.com"}

// A hosted makes a server look like the hosted service to clients whose URLs are fixed. It is a proxy for HTTPS that connects the hosts of
// the service to the server, with a certificate of a test CA, and no other hosts.
type hosted struct {
	proxy string // URL
	ca    string // file

	mu  sync.Mutex
	log []string // requests, with the status of their responses
}

// hostedAt starts the proxy for a server.
func hostedAt(t *testing.T, server string) *hosted {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{ca: filepath.Join(t.TempDir(), "ca.pem")}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.log = append(h.log, r.Request.Method+" "+r.Request.URL.RequestURI()+" "+r.Status)
			return nil
		},
	}
	front := httptest.NewUnstartedServer(forward)
	front.TLS = &tls.Config{Certificates: []tls.Certificate{h.certificate(t)}, MinVersion: tls.VersionTLS12}
	front.StartTLS()
	t.Cleanup(front.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || r.Method != http.MethodConnect || !slices.Contains(hostedNames, host) {
			http.Error(w, "the test connects no other hosts", http.StatusForbidden)
			return
		}
		tunnel(w, front.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	h.proxy = proxy.URL
	return h
}

// env returns the environment variables with which a client uses the proxy and trusts the CA.
func (h *hosted) env() []string {
	return []string{"HTTPS_PROXY=" + h.proxy, "NO_PROXY=", "SSL_CERT_FILE=" + h.ca, "SSL_CERT_DIR=/nonexistent", "NODE_EXTRA_CA_CERTS=" + h.ca}
}

// requests returns the requests so far.
func (h *hosted) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// tunnel connects the client of a CONNECT request to an address until both have ended.
func tunnel(w http.ResponseWriter, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return
	}
	var copies sync.WaitGroup
	for _, pair := range [][2]net.Conn{{server, client}, {client, server}} {
		copies.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // ends with its connection
			_ = pair[0].(*net.TCPConn).CloseWrite()
		})
	}
	copies.Wait()
}

// certificate returns a certificate for the hosts of the service, signed by a new CA, whose own certificate it writes to a file.
func (h *hosted) certificate(t *testing.T) tls.Certificate {
	t.Helper()
	year := time.Now().AddDate(1, 0, 0)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Platen test CA"}, NotAfter: year,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey, caText := sign(t, authority, authority, nil)
	if err := os.WriteFile(h.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caText}), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: hostedNames[0]}, DNSNames: hostedNames, NotAfter: year,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, text := sign(t, hosts, authority, caKey)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}
}

// sign returns a new key and its certificate, signed by the key of the issuer, or by itself if that is nil.
func sign(t *testing.T, certificate, issuer *x509.Certificate, by *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by = key
	}
	text, err := x509.CreateCertificate(rand.Reader, certificate, issuer, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

// TestOlderSDK uses a server with the last version of the SDK for Node before it was generated, unmodified and with its own URLs.
func TestOlderSDK(t *testing.T) {
	sdk := fromNPM(t, "box-node-sdk-3")
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data, "--compat=box", "--base-url=https://api.box.com", "--rate-requests=-1", "--rate-uploads=-1",
		"--webhook-any-address")
	h, visitor := hostedAt(t, server.url), newVisitor(t, server, "--data="+data)
	platen(t, "user", "create", "--data="+data, "--login=grace@example.com", "--name=Grace")
	env := append(os.Environ(), h.env()...)
	env = append(env, "PLATEN_SDK="+sdk, "PLATEN_PROXY="+h.proxy, "PLATEN_TOKEN="+visitor.token,
		"PLATEN_OTHER="+platen(t, "token", "create", "--data="+data, "--user=grace@example.com"))
	runNode(t, env, "../tools/box-node-sdk-3/files.test.mjs")
}
