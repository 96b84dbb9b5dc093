package docgen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"platen/store"
)

// Limits of assertions (RFC 7523).
const (
	maxAssertion   = 16 << 10         // bytes
	assertionTTL   = 60 * time.Second // how far in the future an assertion may expire
	assertionSlack = 5 * time.Second  // allowed difference between the clocks
	minJTI, maxJTI = 16, 128          // characters
)

// clientAudience is the audience that client libraries for the same API send, regardless of the server.
const clientAudience = "https://api.box.com/oauth2/token"

// assertionMethods are the accepted signature algorithms. Others are rejected before a key is looked up: with HMAC, a
// public key would work as the secret.
var assertionMethods = []string{"RS256", "RS384", "RS512"}

// claims are the claims of an assertion.
type claims struct {
	jwt.RegisteredClaims
	SubjectType string `json:"box_sub_type"`
}

// grantAssertion issues an access token for the subject of an assertion. An assertion can be used once.
func (s *Service) grantAssertion(ctx context.Context, client *Client, r GrantRequest) (Tokens, error) {
	if r.Assertion == "" {
		return Tokens{}, missingParameter("assertion")
	}
	c, err := s.checkAssertion(ctx, client, r)
	if err != nil {
		return Tokens{}, err
	}
	of := subject{c.SubjectType, c.Subject, "the claim box_sub_type", "the claim sub"}
	if of.problem() != nil {
		return Tokens{}, invalidGrant("the claim box_sub_type must be %s or %s, and sub the corresponding id.", subjectEnterprise, subjectUser)
	}
	return s.grantSubject(ctx, client, of, r.Scope, func(tx *store.Tx) error {
		added, err := tx.InsertAssertion(ctx, client.app.ID, c.ID, c.ExpiresAt.Add(assertionSlack).UnixMicro())
		if err == nil && added == 0 {
			return invalidGrant("the assertion was already used. Sign a new one with another jti.")
		}
		return err
	})
}

// checkAssertion returns the claims of an assertion that a key of the client signed.
func (s *Service) checkAssertion(ctx context.Context, client *Client, r GrantRequest) (*claims, error) {
	if len(r.Assertion) > maxAssertion {
		return nil, invalidGrant("the assertion is longer than %d bytes.", maxAssertion)
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods(assertionMethods), jwt.WithIssuer(client.ID()), jwt.WithAudience(r.Audience, clientAudience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(s.now), jwt.WithLeeway(assertionSlack), jwt.WithStrictDecoding(),
	)
	var unkeyed error // the reason why no key can verify it
	c := &claims{}
	_, err := parser.ParseWithClaims(r.Assertion, c, func(t *jwt.Token) (any, error) {
		var keys jwt.VerificationKeySet
		unkeyed = checkHeader(t.Header)
		if unkeyed != nil {
			return keys, unkeyed
		}
		keys, unkeyed = s.assertionKeys(ctx, client, t.Header["kid"])
		return keys, unkeyed
	})
	if unkeyed != nil {
		return nil, unkeyed
	}
	if err != nil {
		return nil, invalidGrant("%s.", assertionProblem(err))
	}
	if c.ExpiresAt.After(s.now().Add(assertionTTL + assertionSlack)) {
		return nil, invalidGrant("the claim exp must be at most %d seconds ahead.", int(assertionTTL/time.Second))
	}
	if n := utf8.RuneCountInString(c.ID); n < minJTI || n > maxJTI || !keepable(c.ID) {
		return nil, invalidGrant("the claim jti must have %d to %d characters.", minJTI, maxJTI)
	}
	return c, nil
}

// checkHeader returns the Error for a header that requires extensions (crit, RFC 7515, section 4.1.11). None are supported, and an empty
// list is invalid.
func checkHeader(header map[string]any) error {
	if _, sent := header["crit"]; sent {
		return invalidGrant("the header crit is not supported. Sign without it.")
	}
	if encoded, sent := header["b64"]; sent && encoded != true { // RFC 7797, which demands crit
		return invalidGrant("the header b64 must be true or absent.")
	}
	return nil
}

// assertionProblems maps the errors of the parser to messages. The first match is reported.
var assertionProblems = []struct {
	err  error
	text string
}{
	{jwt.ErrTokenMalformed, "the assertion is not a JWT"},
	{jwt.ErrTokenSignatureInvalid, "the assertion must be signed with " + strings.Join(assertionMethods, " or ") +
		" and the private key of one of the application's public keys"},
	{jwt.ErrTokenExpired, "the claim exp is in the past: check the clock"},
	{jwt.ErrTokenNotValidYet, "the claim nbf is in the future: check the clock"},
	{jwt.ErrTokenUsedBeforeIssued, "the claim iat is in the future: check the clock"},
	{jwt.ErrTokenInvalidAudience, "the claim aud must be the address of the token endpoint"},
	{jwt.ErrTokenInvalidIssuer, "the claim iss must be the client id"},
}

// assertionProblem describes a mistake in an assertion for the developer of the client.
func assertionProblem(err error) string {
	for _, known := range assertionProblems {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "the claims iss, sub, box_sub_type, aud, jti, and exp are required"
}

// assertionKeys returns the public keys of a client, one of which must verify an assertion: the key that its header names, or all keys if
// it names none, like some client libraries.
func (s *Service) assertionKeys(ctx context.Context, client *Client, kid any) (jwt.VerificationKeySet, error) {
	var rows []store.ApplicationKey
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		rows, err = q.ApplicationKeys(ctx, client.app.ID)
		return err
	})
	var keys jwt.VerificationKeySet
	for _, row := range rows {
		if kid != nil && kid != row.Name {
			continue
		}
		key, err := jwt.ParseRSAPublicKeyFromPEM([]byte(row.PublicKey))
		if err != nil {
			return keys, fmt.Errorf("key %q of application %d: %w", row.Name, row.ApplicationID, err)
		}
		keys.Keys = append(keys.Keys, key)
	}
	if err == nil && len(keys.Keys) == 0 {
		err = invalidGrant("the header kid must be the id of a key of the application.")
	}
	return keys, err
}
