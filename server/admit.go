package server

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/httprate"

	"platen/docgen"
)

// admit decides whether a call may go on to its operation: who calls, not too often, and for the version of the
// interface that this is. The order is that of what the caller may know: a guest learns nothing but that it is one.
func (a *api) admit(c *call, d *doc) error {
	if err := a.authenticate(c); err != nil {
		return a.limitGuest(c, err)
	}
	if err := a.limitUser(c, d.upload); err != nil {
		return err
	}
	if err := a.actAs(c); err != nil {
		return err
	}
	return a.checkVersion(c, d)
}

// authenticate finds out who calls, from the access token in the Authorization header (RFC 6750, section 2.1).
func (a *api) authenticate(c *call) error {
	token, err := bearerToken(c.r.Header.Values("Authorization"))
	if err != nil {
		return err
	}
	c.caller, err = a.service.Authenticate(c.r.Context(), token)
	return err
}

// actAs lets the call act for the user that the header As-User names. The header must never be passed over: changes would
// be made in the wrong user's name.
func (a *api) actAs(c *call) error {
	values, sent := c.r.Header[asUserHeader]
	if !sent {
		return nil
	}
	id, ok := parseID(values[0])
	if !ok || len(values) > 1 {
		return invalidParam(asUserHeader, "%s must be sent once and be the id of a user: a string of decimal digits", asUserHeader)
	}
	caller, err := a.service.As(c.r.Context(), c.caller, int64(id))
	if err != nil {
		return err
	}
	c.caller = caller
	return nil
}

// Headers of clients of the same interface elsewhere. Nobody is notified here yet, so that there is nothing to suppress.
const (
	asUserHeader        = "As-User"
	notificationsHeader = "Box-Notifications"
)

// maxToken bounds what is looked up as a token.
const maxToken = 4096

func bearerToken(headers []string) (string, error) {
	if len(headers) == 0 {
		return "", failf(docgen.CodeUnauthorized, "This request needs an access token: send it with the header Authorization: Bearer <token>.")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken || strings.Contains(token, " ") {
		return "", failf(docgen.CodeUnauthorized, "The Authorization header must be sent once and hold Bearer, a blank and the access token.")
	}
	return token, nil
}

// RateLimits say how many requests a minute are answered. 0 stands for the default, and a negative number for no limit.
type RateLimits struct {
	Requests int // of one user; 1000
	Uploads  int // of one user; 240
	Guests   int // of one address without a valid token; 300
}

const rateWindow = time.Minute

// limiter makes the counter of a rate limit; nil when there is none.
func limiter(limit, otherwise int) *httprate.RateLimiter {
	switch {
	case limit < 0:
		return nil
	case limit == 0:
		limit = otherwise
	}
	return httprate.NewRateLimiter(limit, rateWindow)
}

func (a *api) limitUser(c *call, upload bool) error {
	counter := a.requests
	if upload {
		counter = a.uploads
	}
	return exceeds(c, counter, c.caller.ActorID)
}

// limitGuest answers a call without a valid token: with what is wrong, until there are too many from one address.
func (a *api) limitGuest(c *call, err error) error {
	host, _, splitErr := net.SplitHostPort(c.r.RemoteAddr)
	if splitErr != nil {
		host = c.r.RemoteAddr
	}
	if limited := exceeds(c, a.guests, httprate.CanonicalizeIP(host)); limited != nil {
		return limited
	}
	return err
}

func exceeds(c *call, counter *httprate.RateLimiter, key any) error {
	if counter == nil || !counter.OnLimit(c.w, c.r, fmt.Sprint(key)) {
		return nil
	}
	return failf(codeRateLimit, "Request rate limit exceeded, please try again later") // Retry-After is set already
}

// The header that names the version of the interface: ours, and the one that clients of the same interface elsewhere
// send.
const (
	versionHeader      = "svc-version"
	otherVersionHeader = "box-version"
	interfaceVersion   = "2025.0"
)

// checkVersion checks the version header, which operations of the versioned part of the interface demand; everywhere
// else it may be left out, but not be wrong. It is echoed under the name that the client used.
func (a *api) checkVersion(c *call, d *doc) error {
	name := ""
	for _, header := range []string{otherVersionHeader, versionHeader} {
		values, sent := c.r.Header[http.CanonicalHeaderKey(header)]
		if !sent {
			continue
		}
		name = header
		if problem := versionProblem(header, values); problem != "" {
			return failf(codeVersion, "%s", problem)
		}
	}
	if name == "" {
		if a.versioned(d) {
			return failf(codeVersion, "Missing required %s header.", versionHeader)
		}
		name = versionHeader
	}
	c.w.Header().Set(name, interfaceVersion)
	return nil
}

// versioned tells whether an operation demands the version header.
func (a *api) versioned(d *doc) bool { return d.versioned || a.requireVersion == VersionEverywhere }

func versionProblem(header string, values []string) string {
	switch value := values[0]; {
	case len(values) > 1 || strings.Contains(value, ","):
		return fmt.Sprintf("The '%s' header supports only one header value per request, do not use commas.", header)
	case value == "":
		return fmt.Sprintf("Invalid (empty) API version specified in '%s' header.", header)
	case value != interfaceVersion:
		return fmt.Sprintf("Invalid API version specified in '%s' header. Supported API versions: [%s].", header, interfaceVersion)
	}
	return ""
}
