package server

import (
	"fmt"
	"net/http"
	"strings"

	"platen/docgen"
)

// admit decides whether a request may proceed to its operation: it authenticates the caller and checks rate limits and the version
// header. It checks in this order so that a guest learns nothing except that it is one.
func (a *api) admit(c *call, d *doc) error {
	if d.guest {
		return a.admitGuest(c, d)
	}
	if err := a.recognize(c, d); err != nil {
		return err
	}
	if err := a.checkVersion(c, d); err != nil {
		return err
	}
	return a.useLink(c, d)
}

// recognize is admit without the check of the version header, and without shared links.
func (a *api) recognize(c *call, d *doc) error {
	if err := a.authenticate(c, d); err != nil {
		if busy := c.holdGuest(); busy != nil {
			return busy
		}
		return a.limitGuest(c, err)
	}
	if err := a.limitUser(c, d.upload); err != nil {
		return err
	}
	if err := c.holdRequest(); err != nil {
		return err
	}
	if err := a.actAs(c); err != nil {
		return err
	}
	c.caller.Room = func(bytes int64) error { return c.hold(a.in.memory, bytes, "bytes of results") }
	return nil
}

// authenticate finds the caller of the access token in the Authorization header (RFC 6750, section 2.1), or of the ticket in the path.
func (a *api) authenticate(c *call, d *doc) (err error) {
	if d.ticket != "" {
		redeem := a.service.Redeem
		if d.ticket == zipParam {
			redeem = a.service.RedeemZip
		}
		c.caller, c.ticket, err = redeem(c.r.Context(), c.r.PathValue(d.ticket))
		return err
	}
	if len(c.r.Header.Values("Authorization")) == 0 {
		if secret := a.sessionSecret(c.r); secret != "" {
			return a.authenticateSession(c, secret)
		}
	}
	token, err := bearerToken(c.r.Header.Values("Authorization"))
	if err != nil {
		return err
	}
	c.caller, err = a.service.Authenticate(c.r.Context(), token)
	return err
}

// authenticateSession finds the caller of the session in the cookie.
func (a *api) authenticateSession(c *call, secret string) error {
	if err := a.checkSameOrigin(c.r); err != nil {
		return err
	}
	caller, err := a.service.AuthenticateSession(c.r.Context(), secret)
	c.caller = caller
	return err
}

// admitGuest lets anyone begin what needs no access token, such as signing in. Every request counts for the address.
func (a *api) admitGuest(c *call, d *doc) error {
	if err := c.holdGuest(); err != nil {
		return err
	}
	if err := a.limitGuest(c, nil); err != nil {
		return err
	}
	if err := a.checkSameOrigin(c.r); err != nil {
		return err
	}
	if _, sent := c.r.Header[asUserHeader]; sent {
		return invalidParam(asUserHeader, "this operation acts for nobody; omit %s", asUserHeader)
	}
	return a.checkVersion(c, d)
}

// actAs lets the request act for the user in the header As-User. The server must never ignore that header: it would make changes as the
// wrong user.
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

// Headers of clients of the Box API. This server sends no email, so there is nothing to suppress.
const (
	asUserHeader        = "As-User"
	notificationsHeader = "Box-Notifications"
)

// maxToken is the maximum length of a token that is looked up.
const maxToken = 4096

func bearerToken(headers []string) (string, error) {
	if len(headers) == 0 {
		return "", failf(docgen.CodeUnauthorized, "Missing access token. Send the header Authorization: Bearer <token>.")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken || strings.Contains(token, " ") {
		return "", failf(docgen.CodeUnauthorized, "Invalid Authorization header. Send it once, with Bearer, a space, and the access token.")
	}
	return token, nil
}

// limitUser counts a request for the user who sends it, even on behalf of another user.
func (a *api) limitUser(c *call, upload bool) error {
	user := ID(c.caller.ActorID).String()
	if upload {
		return a.limit(c, "uploads "+user, a.limiter.limits.Uploads)
	}
	return a.limit(c, "requests "+user, a.limiter.limits.Requests)
}

// limitGuest answers a request without a valid token: with its error, until there are too many from one address.
func (a *api) limitGuest(c *call, err error) error {
	if limited := a.limit(c, "guests "+addressKey(c.r.RemoteAddr), a.limiter.limits.Guests); limited != nil {
		return limited
	}
	return err
}

func (a *api) limit(c *call, key string, limit int) error {
	ctx := c.r.Context()
	wait, err := a.limiter.take(ctx, key, limit)
	if err != nil && ctx.Err() == nil {
		a.log.WarnContext(ctx, "cannot use the shared rate counter; counting requests for this server only", "request_id", c.id, "error", err)
	}
	if wait <= 0 {
		return nil
	}
	c.w.Header().Set("Retry-After", retryAfter(wait))
	return failf(codeRateLimit, "Request rate limit exceeded, please try again later")
}

// The headers for the API version: our own, and the one that clients of the Box API send.
const (
	versionHeader      = "svc-version"
	otherVersionHeader = "box-version"
	interfaceVersion   = "2025.0"
)

// checkVersion checks the version header. A wrong version is an error even if the header is optional. The response repeats the header
// under the name that the client used.
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
		if a.needsVersion(d) {
			return failf(codeVersion, "Missing header %q. Send \"%[1]s: %s\", or start the server with --compat box.",
				versionHeader, interfaceVersion)
		}
		name = versionHeader
	}
	c.w.Header().Set(name, interfaceVersion)
	return nil
}

// needsVersion reports whether an operation requires the version header.
func (a *api) needsVersion(d *doc) bool {
	return d.versioned || a.compat != CompatBox && !d.unversioned
}

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
