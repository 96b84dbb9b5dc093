package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

var docDownloadFile = doc{
	id: "download_file", tag: tagFiles, scope: docgen.ScopeRead,
	summary: "Download a file",
	description: "The content of the current version, or of another. One range of bytes can be asked for; a request for " +
		"several is answered with the whole. The server checks what it sends: if stored content is damaged, it closes the connection " +
		"before the last byte rather than complete the response.",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodePrecondition, codeRange, docgen.CodeContentDamaged},
	also:   answersContent,
}

// DownloadQuery says what to download. The headers are read by net/http.
type DownloadQuery struct {
	FilePath
	VersionID   string `query:"version" doc:"The id of a version of the file; the current one when left out." example:"87654321"`
	Range       string `header:"Range" doc:"The range of bytes wanted." example:"bytes=0-1023"`
	IfRange     string `header:"If-Range" doc:"The ETag that the content must still have for Range to count."`
	IfMatch     string `header:"If-Match" doc:"The ETag that the content must still have; otherwise the answer is 412."`
	IfNoneMatch string `header:"If-None-Match" doc:"An ETag that the caller has; the answer is 304 when it is still the content's."`
}

// A streamed answer has been written when it is returned.
type streamed struct{ Body func(huma.Context) }

func (a *api) downloadFile(ctx context.Context, c *call, in *DownloadQuery) (*streamed, error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	version, err := versionParam("version", in.VersionID)
	if err != nil {
		return nil, err
	}
	content, err := a.service.Content(ctx, c.caller, id, version)
	if err != nil {
		return nil, err
	}
	return &streamed{Body: func(huma.Context) {}}, a.serveContent(ctx, c, content)
}

// versionParam reads the query parameter that names a file version; 0 is the current one.
func versionParam(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	id, ok := parseID(text)
	if !ok {
		return 0, invalidParam(name, "%s must be the id of a file version: decimal digits", name)
	}
	return int64(id), nil
}

// oneRange is a Range header that asks for one range of bytes, and noRange one that asks for the last none, which is a
// range that cannot be satisfied (RFC 9110, section 14.1.2). Others are passed over, as RFC 9110, section 14.2,
// demands for those that cannot be understood and allows for several ranges: each would be another reading of the
// stored content.
var (
	oneRange = regexp.MustCompile(`^bytes=(\d+-\d*|-\d+)$`)
	noRange  = regexp.MustCompile(`^bytes=-0+$`)
)

// withRange returns a request in which net/http finds the range that is to be served. Of a file without content there is
// no range, and all of it is served.
func withRange(r *http.Request, size int64) *http.Request {
	asked := r.Header.Get("Range")
	switch {
	case size == 0 || !oneRange.MatchString(asked):
		asked = ""
	case noRange.MatchString(asked): // net/http would serve no bytes with 206
		asked = fmt.Sprintf("bytes=%d-", size)
	default:
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	if asked != "" {
		r.Header.Set("Range", asked)
	}
	return r
}

// serveContent answers with content, or the part of it that the request's conditions and range ask for (RFC 9110,
// sections 13 and 14).
func (a *api) serveContent(ctx context.Context, c *call, content *docgen.Content) error {
	h := c.w.Header()
	h.Set("Content-Type", contentType(content.Name))
	h.Set("Content-Disposition", disposition(content.Name))
	h.Set("ETag", `"`+content.SHA1+`"`)
	r := withRange(c.r, content.Size)
	reader := &contentReader{ctx: ctx, content: content}
	held := &holdErrors{ResponseWriter: c.w}
	if r.Method == http.MethodGet {
		held.ready = reader.begin
	}
	http.ServeContent(held, r, "", content.ModifiedAt, reader)
	err := errors.Join(reader.failure, reader.Close())
	if c.w.status == 0 {
		for _, name := range []string{"Content-Disposition", "ETag", "Last-Modified", "Accept-Ranges", "Content-Range"} {
			h.Del(name)
		}
		if held.status == http.StatusRequestedRangeNotSatisfiable { // net/http says so of some ranges only
			h.Set("Content-Range", fmt.Sprintf("bytes */%d", content.Size))
		}
		return refusal(held.status, content, err)
	}
	if err != nil {
		// Too late for another answer. The client must not take what it got for the whole.
		a.log.WarnContext(ctx, "download broken off", "request_id", c.id, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// refusal explains why net/http does not serve content.
func refusal(status int, content *docgen.Content, err error) error {
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		return failf(codeRange, "The file has %d bytes; the range asked for is not in it.", content.Size)
	case http.StatusPreconditionFailed:
		return failf(docgen.CodePrecondition, "The content is not the one that the request's conditions ask for.")
	}
	if damaged, ok := errors.AsType[*docgen.Error](err); ok {
		return damaged
	}
	return fmt.Errorf("serve content: status %d: %w", status, err)
}

// contentType tells a browser what a file is, by its name. Not every machine knows the type of a Word document.
func contentType(name string) string {
	extension := strings.ToLower(path.Ext(name))
	if extension == ".docx" {
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	}
	if t := mime.TypeByExtension(extension); t != "" {
		return t
	}
	return "application/octet-stream"
}

// disposition is the Content-Disposition of a file: always to be saved, never to be shown as a page of this server. It
// bears the name in the two forms of RFC 6266, for old clients without what is not ASCII.
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, name)
	escaped := strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	return fmt.Sprintf(`attachment; filename="%s"; filename*=UTF-8''%s`, plain, escaped)
}

// A contentReader opens stored content where it is read from, and not before.
type contentReader struct {
	ctx     context.Context
	content *docgen.Content
	at      int64
	open    io.ReadCloser
	failure error // why the stored content could not be read
}

func (r *contentReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.content.Size
	}
	if offset != r.at {
		if err := r.Close(); err != nil {
			return r.at, err
		}
		r.at = offset
	}
	return r.at, nil
}

// begin makes sure that the content can be read before that is promised, and tells that it is taken.
func (r *contentReader) begin() error {
	if err := r.prepare(); err != nil || r.at > 0 {
		return err
	}
	r.failure = r.content.NotifyDownload(r.ctx)
	return r.failure
}

// prepare opens the content where it will be read from.
func (r *contentReader) prepare() error {
	if r.open == nil && r.at < r.content.Size {
		r.open, r.failure = r.content.Open(r.ctx, r.at, -1)
	}
	return r.failure
}

func (r *contentReader) Read(p []byte) (int, error) {
	if r.at >= r.content.Size {
		return 0, io.EOF
	}
	if err := r.prepare(); err != nil {
		return 0, err
	}
	n, err := r.open.Read(p)
	r.at += int64(n)
	if err != nil && err != io.EOF {
		r.failure = err
	}
	return n, err
}

// Close ends the reading where it is.
func (r *contentReader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}

// answersContent documents an answer of bytes.
func answersContent(_ *api, op *huma.Operation) {
	bytes := map[string]*huma.MediaType{"*/*": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	text := &huma.Schema{Type: huma.TypeString}
	headers := map[string]*huma.Param{
		"ETag":                {Description: "The SHA-1 of the content, in quotes.", Schema: text, Required: true},
		"Content-Disposition": {Description: "attachment, with the name of the file.", Schema: text, Required: true},
		"Accept-Ranges":       {Description: "bytes: a range can be asked for.", Schema: text},
		"Last-Modified":       {Description: "When the content was last changed.", Schema: text},
	}
	part := maps.Clone(headers)
	part["Content-Range"] = &huma.Param{Description: "Which bytes these are, of how many.", Schema: text, Required: true}
	op.Responses["200"] = &huma.Response{Description: "The content.", Content: bytes, Headers: maps.Clone(headers)}
	op.Responses["206"] = &huma.Response{Description: "The range of it that was asked for.", Content: bytes, Headers: part}
	op.Responses["304"] = &huma.Response{Description: "The caller has the current content already.", Headers: headers}
	op.Responses["416"].Headers = map[string]*huma.Param{
		"Content-Range": {Description: "How many bytes there are.", Schema: text, Required: true},
	}
}

// answersNotModified documents the answer of a conditional request.
func answersNotModified(_ *api, op *huma.Operation) {
	op.Responses["304"] = &huma.Response{Description: "The caller has the current state already.", Headers: map[string]*huma.Param{
		"ETag": {Description: "What the state is called, in quotes.", Schema: &huma.Schema{Type: huma.TypeString}, Required: true},
	}}
}
