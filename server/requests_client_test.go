package server_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"platen/docgen"
)

// signingKey signs the assertions of applications. It is generated once, because that takes long.
var signingKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// clients creates applications: acting, which can get tokens for users and sign assertions, has grants of the owner,
// and whose account sends requests; and modest, which has few permissions.
func (v *visit) clients() {
	w := v.w
	ctx := w.t.Context()
	acting := v.client("acting", docgen.NewApplication{Name: "Acting", ActsAsUsers: true})
	v.client("modest", docgen.NewApplication{Name: "Modest", Scopes: []docgen.Scope{docgen.ScopeRead}})
	der, err := x509.MarshalPKIXPublicKey(&signingKey().PublicKey)
	must(w.t, err)
	_, err = w.AddApplicationKey(ctx, acting.ClientID, "key", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	must(w.t, err)
	for _, name := range []string{"given", "given2", "given3"} {
		tokens, err := w.CreateGrant(ctx, acting.Name, "owner@example.com", nil)
		must(w.t, err)
		v.ids["refresh:"+name] = tokens.Refresh
	}
	v.ids["enterprise:own"] = id(w.EnterpriseID())
	client, err := w.AuthenticateClient(ctx, acting.ClientID, acting.secret)
	must(w.t, err)
	tokens, err := w.Grant(ctx, client, docgen.GrantRequest{Type: docgen.GrantClient, SubjectType: "enterprise",
		SubjectID: v.ids["enterprise:own"]})
	must(w.t, err)
	w.tokens["account"] = tokens.Access
}

// client creates an application, whose secret must not appear in any response.
func (v *visit) client(name string, n docgen.NewApplication) client {
	made := v.w.client(n)
	v.ids["client:"+name], v.ids["secret:"+name] = made.ClientID, made.secret
	v.ids["basic:"+name] = base64.StdEncoding.EncodeToString([]byte(made.ClientID + ":" + made.secret))
	v.secrets = append(v.secrets, made.secret)
	return made
}

// assertion signs a new assertion of acting, with a subject that matches its kind, or with a wrong one.
func (v *visit) assertion(which string) string {
	v.assertions++
	now := time.UnixMicro(v.w.clock.Load())
	claims := jwt.MapClaims{
		"iss": v.ids["client:acting"], "sub": v.ids["enterprise:own"], "box_sub_type": "enterprise", "aud": v.w.url + "/oauth2/token",
		"jti": fmt.Sprintf("an assertion of its own: %d", v.assertions), "exp": now.Add(30 * time.Second).Unix(),
	}
	method, key := jwt.SigningMethod(jwt.SigningMethodRS256), any(signingKey())
	switch which {
	case "user":
		claims["sub"], claims["box_sub_type"] = v.ids["user:owner"], "user"
	case "used":
		claims["jti"] = "an assertion that was used before"
	case "expired":
		claims["exp"] = now.Add(-time.Hour).Unix()
	case "strange":
		claims["sub"], claims["aud"], claims["exp"] = []int{1}, 7, "soon"
	case "unsigned":
		method, key = jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType
	case "hmac":
		method, key = jwt.SigningMethodHS256, []byte("secret")
	}
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	must(v.w.t, err)
	return text
}

// clientRequest returns a request of a client to a path from the root.
func (g *generator) clientRequest(r wireRequest, path string) wireRequest {
	r.as, r.path = pick(g, "guest", "guest", "guest", "owner"), "/"+path
	form := g.tokenForm()
	if path == "/oauth2/revoke" {
		form = url.Values{"token": {pick(g, "«token:made0»", "«token:made1»", "«refresh:made0»", "«refresh:given3»", "unknown")}}
	}
	app := "acting"
	if !g.apt && g.chance(30) {
		app = "modest"
	}
	if g.chance(20) {
		r.as, r.header = "guest", append(r.header, [2]string{"Authorization", "Basic «basic:" + app + "»"})
	} else {
		form.Set("client_id", "«client:"+app+"»")
		form.Set("client_secret", "«secret:"+app+"»")
	}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if g.wrong() {
			form[name] = pick(g, nil, []string{pick(g, hostileTexts...)}, []string{form[name][0], form[name][0]})
		}
	}
	if g.wrong() {
		r.header = append(r.header, [2]string{"Authorization", pick(g, "Basic", "Basic ???", "Basic Og==", "Bearer x", "basic «basic:modest»")})
	}
	contentType := "application/x-www-form-urlencoded"
	if g.wrong() {
		contentType = pick(g, "", "application/json", contentType+"; charset=utf-16", "multipart/form-data", "*/*")
	}
	r.header = append(r.header, [2]string{"Content-Type", contentType})
	r.body = g.spoil(encodeNamed(form))
	return r
}

// tokenForm returns a token request with one of the grants.
func (g *generator) tokenForm() url.Values {
	form := url.Values{"grant_type": {pick(g, docgen.GrantClient, docgen.GrantAssertion, docgen.GrantRefresh)}}
	switch form.Get("grant_type") {
	case docgen.GrantClient:
		kind, subject := "enterprise", "«enterprise:own»"
		if g.chance(50) {
			kind, subject = "user", g.id("user")
		}
		form.Set("box_subject_type", kind)
		form.Set("box_subject_id", subject)
	case docgen.GrantAssertion:
		which := pick(g, "enterprise", "user")
		if !g.apt {
			which = pick(g, which, "used", "expired", "strange", "unsigned", "hmac")
		}
		form.Set("assertion", "«assertion:"+which+"»")
	case docgen.GrantRefresh:
		form.Set("refresh_token", "«refresh:"+pick(g, "given", "given2", "made0", "made1", "made2")+"»")
	}
	if g.chance(30) {
		form.Set("scope", pick(g, "root_readonly", "root_readwrite docgen.readwrite", "enterprise_content", "nothing"))
	}
	return form
}
