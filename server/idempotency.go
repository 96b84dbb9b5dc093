package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) lets clients repeat a POST safely. docgen has the rules; here, requests get
// their fingerprints, and responses are encoded before they are sent, so that they can be stored.

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
	maxKey         = 255 // maximum number of characters of a key
)

// takesKey reports whether an operation takes an Idempotency-Key.
func takesKey(method string, d *doc) bool { return method == http.MethodPost && !d.secret }

func keyParameter() *huma.Param {
	most := maxKey + 2 // with quotes
	return &huma.Param{
		Name: keyHeader, In: "header",
		Description: "Makes the request safe to repeat for 24 hours: a string of 1 to 255 characters that no other request has, such as a " +
			"UUID, with or without quotes. If the first request with the key succeeded, repeated ones get its response with the header " +
			replayedHeader + ": true.",
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most}, Example: `"8e03978e-40d5-43dd-bc93-6894a57f9324"`,
	}
}

// parseKey returns the key in the header of a request: a string of RFC 8941, or the same characters without quotes. It is empty if there
// is no header. Parameters of the string are not allowed.
func parseKey(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	malformed := func(why string) (string, error) {
		return "", invalidParam(keyHeader, "%s %s. Send a unique string of at most %d characters in quotes, such as \"8e03978e-40d5-43dd\"",
			keyHeader, why, maxKey)
	}
	if len(values) > 1 {
		return malformed("must be sent once")
	}
	text := strings.Trim(values[0], " \t")
	key, quoted := strings.CutPrefix(text, `"`)
	if quoted {
		if key, quoted = unquoteKey(key); !quoted {
			return malformed("is not a string of RFC 8941")
		}
	} else if strings.ContainsAny(text, `"\,; `) {
		return malformed("has characters that need quotes")
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return malformed("has characters that are not printable ASCII")
		}
	}
	switch {
	case key == "":
		return malformed("is empty")
	case len(key) > maxKey:
		return malformed("is too long")
	}
	return key, nil
}

// unquoteKey returns the string whose opening quote was cut off.
func unquoteKey(text string) (key string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return b.String(), i == len(text)-1
		case '\\':
			if i++; i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", false
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// keyed runs an operation. If the request has an Idempotency-Key, it runs at most once: repeated requests get the stored response.
func keyed[O any](a *api, c *call, d *doc, run func(context.Context) (*O, error)) (*O, error) {
	ctx := c.r.Context()
	if c.r.Method != http.MethodPost || len(c.r.Header[keyHeader]) == 0 {
		return run(ctx)
	}
	if d.secret {
		return nil, invalidParam(keyHeader, "this operation takes no %s, because its response has a secret, which the server does not "+
			"store. Send the request without it", keyHeader)
	}
	key, err := parseKey(c.r.Header[keyHeader])
	if err != nil {
		return nil, err
	}
	fingerprint := newFingerprint(c.r)
	claim, kept, err := a.service.ClaimKey(ctx, c.caller, docgen.KeyedRequest{
		Key: key, Target: c.r.Method + " " + c.r.URL.EscapedPath() + "?" + c.r.URL.RawQuery, Scope: d.scope, Digest: fingerprint.digest,
	})
	if err != nil {
		return nil, err
	}
	c.r.Body = fingerprint
	if kept != nil {
		return nil, a.replay(c, d, kept, fingerprint)
	}
	ended := false
	defer func() {
		if !ended { // a panic
			a.logKey(c, claim.Fail(ctx, false))
		}
	}()
	out, err := run(claim.Context(ctx))
	if ended = true; err != nil {
		a.logKey(c, claim.Fail(ctx, a.isMistake(c, err)))
		return nil, err
	}
	c.readRest(fingerprint)
	a.logKey(c, claim.Complete(ctx, encodeResponse(d, out)))
	return out, nil
}

// logKey logs that the end of a request could not be stored. The request itself did not fail.
func (a *api) logKey(c *call, err error) {
	if err != nil {
		a.log.LogAttrs(c.r.Context(), slog.LevelError, "cannot store the response for an idempotency key", slog.String("request_id", c.id),
			slog.Any("error", err))
	}
}

// isMistake reports whether an error becomes a response with a status below 500.
func (a *api) isMistake(c *call, err error) bool {
	if done, ok := errors.AsType[*answer](err); ok {
		return done.status < http.StatusInternalServerError
	}
	e := docgen.PublicError(err)
	if e == nil {
		e = c.bodyError()
	}
	return e != nil && kindOf(e.Code).Status < http.StatusInternalServerError
}

// replay returns the stored response as an answer, if the body of the request is that of the first one.
func (a *api) replay(c *call, d *doc, kept *docgen.KeptKey, f *fingerprint) error {
	limits := a.service.Limits()
	body := c.openBody(max(limits.UploadBytes, limits.StreamedBytes, limits.BatchBytes)+maxPartsBytes, true)
	if _, err := io.Copy(io.Discard, body); err != nil {
		return err
	}
	if err := kept.Same(f.digest()); err != nil {
		return err
	}
	c.w.Header().Set(replayedHeader, "true")
	if kept.Result != "" && d.created != nil {
		text, err := marshal(d.created(kept.Result))
		if err != nil {
			return err
		}
		return &answer{status: d.status, header: http.Header{}, stored: text}
	}
	ans := &answer{status: kept.Response.Status, header: http.Header{}, stored: kept.Response.Body}
	for name, value := range kept.Response.Header {
		ans.header.Set(name, value)
	}
	return ans
}

// readRest reads the end of a body that the operation did not need, so that its fingerprint is complete. If that fails, repeated requests
// are not compared with the body.
func (c *call) readRest(f *fingerprint) {
	if f.complete {
		return
	}
	body := c.body
	if body == nil {
		body = c.openBody(maxJSONBytes, false)
	}
	_, _ = io.Copy(io.Discard, body)
}

// encodeResponse encodes the response of an operation like huma does.
func encodeResponse(d *doc, out any) docgen.StoredResponse {
	if s, ok := out.(*streamed); ok && s.kept != nil {
		return *s.kept
	}
	r := docgen.StoredResponse{Status: d.status, Header: map[string]string{}}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	v := reflect.ValueOf(out).Elem()
	for i := range v.NumField() {
		switch field := v.Type().Field(i); {
		case field.Name == "Status":
			r.Status = int(v.Field(i).Int())
		case field.Tag.Get("header") != "" && v.Field(i).String() != "":
			r.Header[field.Tag.Get("header")] = v.Field(i).String()
		case field.Name == "Body" && field.Type.Kind() == reflect.Func: // a stream
			r.Lost = true
		case field.Name == "Body":
			var text limitedBuffer
			r.Lost = writeJSON(&text, v.Field(i).Interface()) != nil
			r.Body = text.Bytes()
		}
	}
	return r
}

// A limitedBuffer holds as much as can be stored. Beyond that, writing fails.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > docgen.MaxStoredResponse {
		return 0, io.ErrShortBuffer
	}
	return b.Buffer.Write(p)
}

// A fingerprint reads the body of a request and computes its digest meanwhile. Clients choose a random boundary for each upload, so the
// boundary is not part of the digest.
type fingerprint struct {
	io.ReadCloser
	hash     hash.Hash
	boundary []byte // of multipart/form-data; empty for other bodies
	tail     []byte // of the data read so far, in which a boundary may begin
	complete bool
}

func newFingerprint(r *http.Request) *fingerprint {
	f := &fingerprint{ReadCloser: r.Body, hash: sha256.New()}
	if kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		f.boundary = []byte(params["boundary"])
	}
	return f
}

func (f *fingerprint) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	f.add(p[:n])
	if err == io.EOF && !f.complete {
		f.hash.Write(f.tail)
		f.complete = true
	}
	return n, err
}

// add adds data to the digest, without boundaries.
func (f *fingerprint) add(p []byte) {
	if len(f.boundary) == 0 {
		f.hash.Write(p)
		return
	}
	text := append(f.tail, p...) //nolint:gocritic // the rest of it becomes the tail
	for {
		before, after, found := bytes.Cut(text, f.boundary)
		if !found {
			break
		}
		f.hash.Write(before)
		f.hash.Write([]byte{0}) // in place of the boundary
		text = after
	}
	keep := min(len(text), len(f.boundary)-1)
	f.hash.Write(text[:len(text)-keep])
	f.tail = append([]byte(nil), text[len(text)-keep:]...)
}

// digest returns the digest of the body, or "" if it was not read completely.
func (f *fingerprint) digest() string {
	if !f.complete {
		return ""
	}
	return hex.EncodeToString(f.hash.Sum(nil))
}
