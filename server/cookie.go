package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"platen/docgen"
)

// Sessions are in cookies, which browsers send on their own, also with requests that other sites make. SameSite keeps browsers from that,
// and requests with a session that come from another origin are rejected.

// The names of the cookie. Browsers accept the prefix __Host- only in a cookie that was set over HTTPS, for this host alone and all paths,
// so that no other host can set it. Without HTTPS, there are sessions only on the loopback interface.
const (
	secureCookie = "__Host-platen_session"
	plainCookie  = "platen_session"
)

// maxSecret is the maximum length of the secret of a session that is looked up.
const maxSecret = 128

// cookieName returns the name of the cookie for a request, or an Error if the server is not reached in a way that keeps it secret.
func (a *api) cookieName(r *http.Request) (string, error) {
	base, err := url.Parse(a.baseURL)
	switch {
	case r.TLS != nil, err == nil && base.Scheme == "https":
		return secureCookie, nil
	case err == nil && isLoopback(base.Host) && isLoopback(r.Host) && isLoopback(r.RemoteAddr):
		return plainCookie, nil
	}
	return "", failf(docgen.CodeRefused, "Signing in needs HTTPS. Put a proxy with TLS in front of the server, and start it with --base-url "+
		"https://….")
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// sessionSecret returns the secret in the cookie of a request, or "" if it has none. With two cookies of the name, it is unknown which one
// is ours.
func (a *api) sessionSecret(r *http.Request) string {
	name, err := a.cookieName(r)
	if err != nil {
		return ""
	}
	cookies := r.CookiesNamed(name)
	if len(cookies) != 1 || len(cookies[0].Value) > maxSecret {
		return ""
	}
	return cookies[0].Value
}

// setSession sends the cookie of a session to the client. maxAge is its lifetime in seconds: 0 until the browser is closed, and negative to
// delete it.
func setSession(w http.ResponseWriter, name, secret string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: secret, Path: "/", MaxAge: maxAge, Secure: name == secureCookie, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// checkSameOrigin returns an Error for a request that a page of another origin makes. It is for requests with a session, and for those that
// begin one.
func (a *api) checkSameOrigin(r *http.Request) error {
	foreign := failf(docgen.CodeForbidden, "Access denied – requests with a session must come from the pages of this server.")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return foreign // for safe methods too, which could tell another site what the person sees
	}
	protection := http.NewCrossOriginProtection()
	if a.fixedURL { // a proxy may change the header Host
		if err := protection.AddTrustedOrigin(a.baseOrigin()); err != nil {
			return fmt.Errorf("origin of the base URL: %w", err)
		}
	}
	if protection.Check(r) != nil {
		return foreign
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 || a.fixedURL && len(origins) == 1 && origins[0] == a.baseOrigin() {
		return nil
	}
	origin, err := url.Parse(origins[0])
	if len(origins) > 1 || err != nil || !strings.EqualFold(origin.Host, r.Host) {
		return foreign
	}
	if name, err := a.cookieName(r); err != nil || name == secureCookie && origin.Scheme != "https" { // net/http compares hosts alone
		return foreign
	}
	return nil
}

// baseOrigin returns the origin of the pages that clients get from the base URL.
func (a *api) baseOrigin() string {
	base, err := url.Parse(a.baseURL)
	if err != nil {
		return ""
	}
	return base.Scheme + "://" + base.Host
}
