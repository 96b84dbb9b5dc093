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
	id: "download_file", tag: tagFiles, scope: docgen.ScopeRead, link: true,
	summary: "Download a file",
	description: "The content of the current version, or of another one. You can request one range of bytes; a request for several " +
		"ranges returns the whole content. The server verifies the content while it sends it: if stored content is damaged, it closes " +
		"the connection before the last byte. With `--compat box`, the response is a redirect to a URL that is valid for 15 minutes.",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodePrecondition, codeRange,
		docgen.CodeContentDamaged},
	also: answersRedirect,
}

// DownloadQuery holds the parameters of a download. net/http reads the headers.
type DownloadQuery struct {
	FilePath
	VersionID string `query:"version" doc:"The id of a version of the file (default: the current version)." example:"87654321"`
	LinkHeader
	ContentHeaders
}

// ContentHeaders are the headers that select a part of the content of a file, or make a download conditional.
type ContentHeaders struct {
	Range       string `header:"Range" doc:"The range of bytes to return." example:"bytes=0-1023"`
	IfRange     string `header:"If-Range" doc:"Applies Range only if the content still has this ETag."`
	IfMatch     string `header:"If-Match" doc:"Fails with 412 unless the content still has this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"Returns 304 if the content still has this ETag."`
}

var docDownloadTicket = doc{
	id: "download_with_ticket", tag: tagFiles, ticket: "ticket", scope: docgen.ScopeRead,
	summary: "Download a file from a redirect",
	description: "The URL to which a download redirects with `--compat box`. It needs no access token. It is valid for 15 minutes, for one " +
		"version of a file, and only while the access token of the redirected request is valid and its user may download the file.",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodePrecondition, codeRange,
		docgen.CodeContentDamaged},
	also: answersContent,
}

// TicketQuery holds the parameters of a download with a ticket. net/http reads the headers.
type TicketQuery struct {
	Ticket string `path:"ticket" doc:"The signed text in the URL of the redirect." example:"AQAA5N6zdLxX4q"`
	ContentHeaders
}

func (a *api) downloadWithTicket(ctx context.Context, c *call, _ *TicketQuery) (*streamed, error) {
	content, err := a.service.Content(ctx, c.caller, c.ticket.FileID, c.ticket.VersionID)
	if err != nil {
		return nil, err
	}
	return &streamed{Body: func(huma.Context) {}}, a.serveContent(ctx, c, content)
}

// redirect sends the client of a download to a URL with a ticket. Clients of Box expect it, and some read the URL only.
func (a *api) redirect(ctx context.Context, c *call, fileID, versionID int64) (*streamed, error) {
	ticket, err := a.service.Ticket(ctx, c.caller, fileID, versionID)
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Location", a.baseOf(c)+prefix+"/downloads/"+ticket)
	c.w.WriteHeader(http.StatusFound)
	return &streamed{Body: func(huma.Context) {}}, nil
}

// baseOf returns the URL of the server for the client of a call, without a path.
func (a *api) baseOf(c *call) string {
	if a.fixedURL || c.r.Host == "" {
		return a.baseURL
	}
	return (&url.URL{Scheme: "http", Host: c.r.Host}).String() // the address it listens on may be one that clients cannot reach
}

// A streamed response has already been written when its handler returns it.
type streamed struct {
	Body func(huma.Context)
	kept *docgen.StoredResponse // what an idempotency key keeps of the response; nil for nothing
}

func (a *api) downloadFile(ctx context.Context, c *call, in *DownloadQuery) (*streamed, error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	version, err := versionParam("version", in.VersionID)
	if err != nil {
		return nil, err
	}
	if a.compat == CompatBox {
		return a.redirect(ctx, c, id, version)
	}
	content, err := a.service.Content(ctx, c.caller, id, version)
	if err != nil {
		return nil, err
	}
	return &streamed{Body: func(huma.Context) {}}, a.serveContent(ctx, c, content)
}

// versionParam parses the query parameter that identifies a file version. 0 is the current one.
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

// oneRange matches a Range header with one range of bytes. noRange matches one that requests the last 0 bytes, which cannot be satisfied
// (RFC 9110, section 14.1.2). Other headers are ignored: RFC 9110, section 14.2, requires this for invalid ones and allows it for several
// ranges, each of which would read the stored content separately.
var (
	oneRange = regexp.MustCompile(`^bytes=(\d+-\d*|-\d+)$`)
	noRange  = regexp.MustCompile(`^bytes=-0+$`)
)

// withRange returns a request with the range that net/http should serve. A file without content has no range and is served whole.
func withRange(r *http.Request, size int64) *http.Request {
	asked := r.Header.Get("Range")
	switch {
	case size == 0 || !oneRange.MatchString(asked):
		asked = ""
	case noRange.MatchString(asked): // net/http would return 206 with no bytes
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

// serveContent sends content, or the part that the conditions and the range of the request select (RFC 9110, sections 13 and 14).
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
		if held.status == http.StatusRequestedRangeNotSatisfiable { // net/http sends it for some ranges only
			h.Set("Content-Range", fmt.Sprintf("bytes */%d", content.Size))
		}
		return refusal(held.status, content, err)
	}
	if err != nil {
		// It is too late for another response. The client must not mistake what it received for the whole.
		a.log.WarnContext(ctx, "download aborted", "request_id", c.id, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// refusal returns the Error for a status with which net/http refuses to serve content.
func refusal(status int, content *docgen.Content, err error) error {
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		return failf(codeRange, "The requested range is not in the file, which has %d bytes.", content.Size)
	case http.StatusPreconditionFailed:
		return failf(docgen.CodePrecondition, "The content does not match the conditions of the request.")
	}
	if damaged, ok := errors.AsType[*docgen.Error](err); ok {
		return damaged
	}
	return fmt.Errorf("serve content: status %d: %w", status, err)
}

// contentType returns the media type of a file by its name. Not every machine knows the type of a Word document.
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

// disposition returns the Content-Disposition of a file, which browsers save and never display as a page of this server. It contains the
// name in both forms of RFC 6266; the one for old clients is reduced to ASCII.
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

// A contentReader opens stored content at the position where it is first read, and not before.
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

// begin makes sure that the content is readable before the response starts, and fires the download event.
func (r *contentReader) begin() error {
	if err := r.prepare(); err != nil || r.at > 0 {
		return err
	}
	r.failure = r.content.NotifyDownload(r.ctx)
	return r.failure
}

// prepare opens the content at the current position.
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

// Close closes the open content, if any.
func (r *contentReader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}

// answersRedirect documents a response with file content, or with its URL.
func answersRedirect(a *api, op *huma.Operation) {
	answersContent(a, op)
	op.Responses["302"] = &huma.Response{Description: "With `--compat box`: where the content is.", Headers: map[string]*huma.Param{
		"Location": {Description: "The URL of the content.", Schema: &huma.Schema{Type: huma.TypeString, Format: "uri"}, Required: true},
	}}
}

// answersContent documents a response with file content.
func answersContent(_ *api, op *huma.Operation) {
	bytes := map[string]*huma.MediaType{"*/*": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	text := &huma.Schema{Type: huma.TypeString}
	headers := map[string]*huma.Param{
		"ETag":                {Description: "The SHA-1 of the content, in quotes.", Schema: text, Required: true},
		"Content-Disposition": {Description: "attachment, with the name of the file.", Schema: text, Required: true},
		"Accept-Ranges":       {Description: "bytes: ranges are supported.", Schema: text},
		"Last-Modified":       {Description: "When the content was last changed.", Schema: text},
	}
	part := maps.Clone(headers)
	part["Content-Range"] = &huma.Param{Description: "The range of bytes in the response, and the total size.", Schema: text, Required: true}
	op.Responses["200"] = &huma.Response{Description: "The content.", Content: bytes, Headers: maps.Clone(headers)}
	op.Responses["206"] = &huma.Response{Description: "The requested range of the content.", Content: bytes, Headers: part}
	op.Responses["304"] = &huma.Response{Description: "The caller already has the current content.", Headers: headers}
	op.Responses["416"].Headers = map[string]*huma.Param{
		"Content-Range": {Description: "The total size of the content.", Schema: text, Required: true},
	}
}

// answersNotModified documents the response to a conditional request.
func answersNotModified(_ *api, op *huma.Operation) {
	op.Responses["304"] = &huma.Response{Description: "The caller already has the current state.", Headers: map[string]*huma.Param{
		"ETag": {Description: "The entity tag of the current state, in quotes.", Schema: &huma.Schema{Type: huma.TypeString}, Required: true},
	}}
}
