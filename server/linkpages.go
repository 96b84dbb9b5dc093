package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"platen/docgen"
)

// The pages of shared links, for people without an account. They use no scripts, load nothing from elsewhere, and no other site can embed
// them. The password of a link is sent once; a cookie for the pages of this link then has a pass.

//go:embed linkpages
var linkFiles embed.FS

// linkTemplates are the templates of the pages.
var linkTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"isFile": func(item *docgen.Item) bool { return item.Kind == docgen.File },
	"size":   readableSize, "day": readableTime, "machine": machineTime,
}).ParseFS(linkFiles, "linkpages/*.html"))

// linkStyle is the style sheet of the pages, which is in each of them.
var linkStyle = func() template.CSS {
	text, err := linkFiles.ReadFile("linkpages/style.css")
	if err != nil {
		panic(err) // impossible: the file is embedded
	}
	return template.CSS(text)
}()

// linkPolicy allows a page its style sheet and its form, and nothing else.
var linkPolicy = func() string {
	sum := sha256.Sum256([]byte(linkStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

const (
	passCookie = "platen_link"
	// maxLinkForm is the maximum size of the form with a password, in bytes.
	maxLinkForm = 4 << 10
)

// A linkPage is what a page shows.
type linkPage struct {
	Title   string
	Style   template.CSS
	Item    *docgen.Item // nil on a page without an item
	Path    []pathLink   // the folders above it, as far as the link shows them
	Content string       // the URL of the content of a file; empty if the link does not permit downloads
	Items   []pageItem
	Next    string // the URL of the next page of items; empty for the last one
	Prev    string
	Form    string // the URL that the form with the password is sent to; empty for no form
	Message string // what is wrong, or what the visitor can do
	Help    string
}

type pathLink struct{ Name, URL string }

type pageItem struct {
	*docgen.Item
	URL string // of the folder, or of the content of the file; empty if the link does not permit downloads
}

// linkPages registers the pages of shared links.
func (a *api) linkPages() {
	mux := a.public.mux
	mux.HandleFunc("GET "+docgen.LinkPath+"{secret}", a.linkHandler(a.showLink))
	mux.HandleFunc("POST "+docgen.LinkPath+"{secret}", a.linkHandler(a.enterPassword))
	mux.HandleFunc("GET "+docgen.LinkPath+"{secret}/folders/{folder_id}", a.linkHandler(a.showFolder))
	mux.HandleFunc("GET "+docgen.LinkPath+"{secret}/files/{file_id}", a.linkHandler(a.downloadLinked))
}

// A visit is a request for a page of a shared link.
type visit struct {
	*call
	w      http.ResponseWriter
	r      *http.Request
	secret string
}

// linkHandler counts a request as one of a guest, and shows its failure as a page.
func (a *api) linkHandler(show func(context.Context, *visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{call: callOf(r.Context()), w: w, r: r, secret: r.PathValue("secret")}
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
		err := v.holdVisitor()
		if err == nil {
			err = a.limitGuest(v.call, nil)
		}
		if err == nil {
			err = show(r.Context(), v)
		}
		if err != nil {
			a.sendLinkError(v, err)
		}
	}
}

// open returns the caller of a visit, and the item of its link.
func (a *api) open(ctx context.Context, v *visit) (*docgen.Caller, docgen.LinkedItem, error) {
	key := docgen.LinkKey{Secret: v.secret}
	if cookie, err := v.r.Cookie(passCookie); err == nil {
		key.Pass = cookie.Value
	}
	return a.service.WithLink(ctx, a.service.Visitor(), key)
}

// showLink shows the file or folder of a link.
func (a *api) showLink(ctx context.Context, v *visit) error {
	caller, item, err := a.open(ctx, v)
	if err != nil {
		return err
	}
	if item.Kind == docgen.Folder {
		return a.sendFolder(ctx, v, caller, item.ID, "")
	}
	file, err := a.service.File(ctx, caller, item.ID)
	if err != nil {
		return err
	}
	page := linkPage{Title: file.Name, Item: file}
	if file.Permissions.Can(docgen.MayDownload) {
		page.Content = linkFileURL(v.secret, file.ID)
	}
	return a.sendLinkPage(v, http.StatusOK, page)
}

// showFolder shows a folder below the one of a link.
func (a *api) showFolder(ctx context.Context, v *visit) error {
	caller, _, err := a.open(ctx, v)
	if err != nil {
		return err
	}
	id, err := pathID("folder", v.r.PathValue("folder_id"))
	if err != nil {
		return err
	}
	return a.sendFolder(ctx, v, caller, id, "../../")
}

// sendFolder sends the page of a folder. up leads from the URL of the page to that of the pages of links.
func (a *api) sendFolder(ctx context.Context, v *visit, caller *docgen.Caller, id int64, up string) error {
	folder, err := a.service.Folder(ctx, caller, id)
	if err != nil {
		return err
	}
	request, err := docgen.ParsePage("", v.r.URL.Query().Get("marker"))
	if err != nil {
		return err
	}
	items, err := a.service.Items(ctx, caller, id, request)
	if err != nil {
		return err
	}
	page := linkPage{Title: folder.Name, Item: folder}
	base := up + v.secret
	for _, above := range folder.Path {
		page.Path = append(page.Path, pathLink{above.Name, base + "/folders/" + strconv.FormatInt(above.ID, 10)})
	}
	for i := range items.Entries {
		item := pageItem{Item: &items.Entries[i]}
		switch {
		case item.Kind == docgen.Folder:
			item.URL = base + "/folders/" + strconv.FormatInt(item.ID, 10)
		case folder.Permissions.Can(docgen.MayDownload):
			item.URL = up + linkFileURL(v.secret, item.ID)
		}
		page.Items = append(page.Items, item)
	}
	page.Next, page.Prev = markerURL(items.Next), markerURL(items.Prev)
	return a.sendLinkPage(v, http.StatusOK, page)
}

func markerURL(marker string) string {
	if marker == "" {
		return ""
	}
	return "?" + url.Values{"marker": {marker}}.Encode()
}

// downloadLinked sends the content of a file of a link, or below its folder.
func (a *api) downloadLinked(ctx context.Context, v *visit) error {
	caller, _, err := a.open(ctx, v)
	if err != nil {
		return err
	}
	id, err := pathID("file", v.r.PathValue("file_id"))
	if err != nil {
		return err
	}
	content, err := a.service.Content(ctx, caller, id, 0)
	if err != nil {
		return err
	}
	return a.serveContent(ctx, v.call, content)
}

// enterPassword checks the password of a link. If it is right, a cookie has a pass for the pages of this link.
func (a *api) enterPassword(ctx context.Context, v *visit) error {
	password, err := v.readPassword()
	if err != nil {
		return err
	}
	key := docgen.LinkKey{Secret: v.secret, Password: password, Attempt: a.guessLimit(v.call)}
	caller, _, err := a.service.WithLink(ctx, a.service.Visitor(), key)
	if err != nil {
		return err
	}
	base, err := url.Parse(a.baseURL)
	if err != nil {
		return fmt.Errorf("base URL: %w", err)
	}
	http.SetCookie(v.w, &http.Cookie{
		Name: passCookie, Value: a.service.Pass(caller), Path: strings.TrimSuffix(base.Path, "/") + docgen.LinkPath + v.secret,
		MaxAge: int(docgen.PassTTL.Seconds()), HttpOnly: true, Secure: base.Scheme == "https", SameSite: http.SameSiteLaxMode,
	})
	v.w.Header().Set("Location", v.secret) // relative, so that it works behind a proxy that adds to the path
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// readPassword reads the form with a password.
func (v *visit) readPassword() (string, error) {
	if got, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type")); err != nil || got != formType {
		return "", failf(codeMediaType, "The password must be sent as a form.")
	}
	if v.r.ContentLength > maxLinkForm {
		return "", tooLarge(maxLinkForm)
	}
	body := v.openBody(maxLinkForm, false)
	body.expect(time.Now().Add(formTime))
	text, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil || len(form["password"]) != 1 {
		return "", failf(docgen.CodeBadRequest, "The form must have one password.")
	}
	return form.Get("password"), nil
}

// sendLinkError shows a failure as a page, or the form for a password.
func (a *api) sendLinkError(v *visit, err error) {
	ans := a.answer(v.call, explained(v.r, err))
	if ans.body == nil {
		a.sendError(v.call, err)
		return
	}
	maps.Copy(v.w.Header(), ans.header)
	page := linkPage{Title: http.StatusText(ans.status), Message: ans.body.Message}
	switch {
	case errors.Is(err, docgen.ErrLinkPassword):
		page.Title, page.Form, page.Message = "Password required", v.form(), ""
		if v.r.Method == http.MethodPost {
			page.Message = "The password is wrong."
		}
	case ans.status == http.StatusUnauthorized:
		page.Title, page.Message = "Only for users", "This link is only for users of this server, and there is no page to sign in yet."
		page.Help = "Ask the person who sent you the link for one that is open to anyone. With an access token, programs can use this " +
			"one: GET /2.0/shared_items with the header BoxApi."
	case ans.status == http.StatusNotFound:
		page.Title, page.Message = "Not found", "This link does not exist, or has stopped working."
		page.Help = "Ask the person who sent it to you for a new one."
	case ans.status == http.StatusForbidden:
		page.Title, page.Message = "Not permitted", "This link does not permit downloads."
	case ans.status == http.StatusTooManyRequests:
		page.Message, page.Help = "There were too many requests.", "Wait a minute, and try again."
	}
	if err := a.sendLinkPage(v, ans.status, page); err != nil {
		a.log.ErrorContext(v.r.Context(), "cannot show a page", "request_id", v.id, "error", err)
	}
}

// form returns the URL that the form with the password is sent to, relative to that of the page.
func (v *visit) form() string {
	if v.r.PathValue("folder_id")+v.r.PathValue("file_id") != "" {
		return "../../" + v.secret
	}
	return v.secret
}

// sendLinkPage sends a page.
func (a *api) sendLinkPage(v *visit, status int, page linkPage) error {
	page.Style = linkStyle
	var buf bytes.Buffer
	if err := linkTemplates.ExecuteTemplate(&buf, "link.html", page); err != nil {
		return fmt.Errorf("page of a shared link: %w", err)
	}
	h := v.w.Header()
	h.Set("Content-Type", htmlType)
	h.Set("Content-Security-Policy", linkPolicy)
	v.w.WriteHeader(status)
	if _, err := v.w.Write(buf.Bytes()); err != nil { // it is too late for another response
		a.log.InfoContext(v.r.Context(), "cannot send the response", "request_id", v.id, "error", err)
	}
	return nil
}

// readableSize formats a number of bytes for people.
func readableSize(bytes int64) string {
	size, units := float64(bytes), []string{"kB", "MB", "GB", "TB"}
	if bytes < 1000 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	unit := -1
	for size >= 999.95 && unit < len(units)-1 {
		size /= 1000
		unit++
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + units[unit]
}

func readableTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
