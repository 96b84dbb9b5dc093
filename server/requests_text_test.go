package server_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// A wireRequest is a request as it is sent. Names between « and » stand for values that differ between worlds, and for long texts:
//
//	«file:shared»      the id of an item that every visit has
//	«file:made3»       the fourth id of its kind in the responses, counted from the first again if there are fewer
//	«marker:2»         a marker of the responses
//	«secret:acting»    the secret of the application «client:acting»; «basic:…», «token:…», and «refresh:…» are similar
//	«assertion:user»   an assertion of an application
//	«repeat:500:[»     a text, repeated
type wireRequest struct {
	operation        string // of the OpenAPI document
	as, method, path string // path has the query. It is relative to /2.0, or to the root if it begins with //
	header           [][2]string
	body             string
}

func (r wireRequest) call() string { return r.method + " " + r.path + " as " + r.as }

// fill replaces the names between « and » with their values for a caller.
func (v *visit) fill(caller, text string) string {
	var filled strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "«")
		name, after, ended := strings.Cut(rest, "»")
		filled.WriteString(before)
		if !ok || !ended {
			return filled.String()
		}
		filled.WriteString(v.meant(caller, name))
		text = after
	}
}

// isLogged reports whether the log of deliveries contains ids of a kind.
func isLogged(kind string) bool { return strings.HasPrefix(kind, "webhook") || kind == "event" }

// seesLog reports whether a caller sees the deliveries of all users.
func seesLog(caller string) bool { return caller == "admin" || caller == "account" }

// meant returns the value of a name. It is "0" for unknown names, for the stranger's items if the caller may change everything, and for
// their deliveries if the caller may see those.
func (v *visit) meant(caller, name string) string {
	kind, which, _ := strings.Cut(name, ":")
	count, what, _ := strings.Cut(which, ":")
	n, err := strconv.Atoi(count)
	switch {
	case kind == "repeat" && err == nil && n >= 0:
		return strings.Repeat(what, n)
	case kind == "marker" && err == nil && n >= 0 && len(v.markers) > 0:
		return v.markers[n%len(v.markers)]
	case kind == "assertion":
		return v.assertion(which)
	case v.strange[name] && (caller == "archivist" || isLogged(kind) && seesLog(caller)):
		return "0"
	case v.absent && v.hidden(name):
		return unused(v.ids[name])
	}
	if made, err := strconv.Atoi(strings.TrimPrefix(which, "made")); err == nil && made >= 0 && v.made[kind] > 0 {
		return v.ids[fmt.Sprintf("%s:made%d", kind, made%v.made[kind])]
	}
	return cmp.Or(v.ids[name], "0")
}

// Requests are stored as text: the call, a line for each header, an empty line, and a line with the body. Text that
// does not fit on a line is quoted as in Go. A line with two dashes separates requests.
const between = "\n--\n"

func formatRequests(requests []wireRequest) string {
	texts := make([]string, len(requests))
	for i, r := range requests {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s as %s\n", r.method, line(r.path), r.as)
		for _, h := range r.header {
			fmt.Fprintf(&b, "%s: %s\n", h[0], line(h[1]))
		}
		texts[i] = b.String() + "\n" + line(r.body)
	}
	return strings.Join(texts, between) + "\n"
}

// line returns a text as one line, quoted if necessary.
func line(text string) string {
	strange := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if strings.ContainsFunc(text, strange) || strings.HasPrefix(text, `"`) || strings.TrimSpace(text) != text {
		return strconv.Quote(text)
	}
	return text
}

func unline(text string) (string, error) {
	if strings.HasPrefix(text, `"`) {
		return strconv.Unquote(text)
	}
	return text, nil
}

func parseRequests(text string) ([]wireRequest, error) {
	var requests []wireRequest
	for one := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), between) {
		r, err := parseRequest(one)
		if err != nil {
			return nil, fmt.Errorf("%w in:\n%s", err, one)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

func parseRequest(text string) (r wireRequest, err error) {
	head, body, _ := strings.Cut(text, "\n\n")
	first, headers, _ := strings.Cut(head, "\n")
	call, as, ok := cutLast(first, " as ")
	method, path, spaced := strings.Cut(call, " ")
	if !ok || !spaced {
		return r, fmt.Errorf("%q is no call", first)
	}
	r = wireRequest{as: as, method: method}
	if r.path, err = unline(path); err != nil {
		return r, err
	}
	for header := range strings.Lines(headers) {
		name, value, _ := strings.Cut(strings.TrimSuffix(header, "\n"), ": ")
		if value, err = unline(value); err != nil {
			return r, err
		}
		r.header = append(r.header, [2]string{name, value})
	}
	r.body, err = unline(body)
	return r, err
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

func TestRequestsAsText(t *testing.T) {
	for _, r := range []wireRequest{
		{as: "guest", method: "GET", path: "/users/me"},
		{as: "owner", method: "POST", path: "/folders?fields=a b", header: [][2]string{{"If-Match", `"3"`}, {"X", ""}}, body: `{"name":"as x"}`},
		{as: "other", method: "PUT", path: "/files/\x00 as", header: [][2]string{{"A", "1"}, {"A", "2"}}, body: "a\n--\nb\n\n\xff "},
	} {
		back, err := parseRequests(formatRequests([]wireRequest{r, r}))
		must(t, err)
		for _, got := range back {
			if fmt.Sprint(got) != fmt.Sprint(r) {
				t.Errorf("%q was decoded as %q", r, got)
			}
		}
	}
}
