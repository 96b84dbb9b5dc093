package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

var (
	requestLine = regexp.MustCompile(`^[A-Z]+ \S+( HTTP/[0-9.]+)?$`)
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// parseCapture reads a request as tools write it down: headers, an empty line and the body, which stays as it is.
func parseCapture(text string) (http.Header, string, error) {
	text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), "\r\n")
	end := 0
	for line := range strings.Lines(text) {
		end += len(line)
		if strings.TrimRight(strings.TrimPrefix(line, ">"), " \r\n") == "" {
			header, err := parseHeaders(text[:end])
			return header, text[end:], err
		}
	}
	return nil, "", errors.New("there is no empty line after the headers, and so no body")
}

// parseHeaders reads headers one a line, as on the wire, or behind the > of curl -v, or with quotes as frameworks print them; or a
// JSON object of them.
func parseHeaders(text string) (http.Header, error) {
	if header, ok := headersOfJSON(text); ok {
		return header, nil
	}
	header := http.Header{}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimSpace(strings.TrimPrefix(line, ">"))
		if noHeader(line) || len(header) == 0 && requestLine.MatchString(line) {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		bare := strings.Trim(name, `"' `)
		if !found || !headerName.MatchString(bare) {
			return nil, fmt.Errorf("line %d is no header: a name, a colon and a value", number)
		}
		value = strings.TrimSpace(value)
		if bare != name {
			value = strings.Trim(value, `"',[] `)
		}
		header.Add(bare, value)
	}
	return header, nil
}

// noHeader reports whether a line is one of what stands around headers: what curl says and receives, the braces of a framework, and
// what HTTP/2 has in place of the request line.
func noHeader(line string) bool {
	return line == "" || strings.ContainsAny(line[:1], "*<{}:")
}

// headersOfJSON reads an object of texts, or of lists of them.
func headersOfJSON(text string) (http.Header, bool) {
	var members map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // of a timestamp, every digit counts
	if decoder.Decode(&members) != nil {
		return nil, false
	}
	header := http.Header{}
	for name, member := range members {
		values, ok := member.([]any)
		if !ok {
			values = []any{member}
		}
		for _, value := range values {
			header.Add(name, fmt.Sprint(value))
		}
	}
	return header, true
}
