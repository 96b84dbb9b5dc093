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

// parseCapture parses a captured request: headers, an empty line, and the body, which is returned unchanged.
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
	return nil, "", errors.New("no empty line after the headers, so the body is missing")
}

// parseHeaders parses headers, one per line: as on the wire, after the > of curl -v, or with quotes as frameworks print them. It also
// accepts a JSON object.
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
			return nil, fmt.Errorf("line %d is not a header: want a name, a colon, and a value", number)
		}
		value = strings.TrimSpace(value)
		if bare != name {
			value = strings.Trim(value, `"',[] `)
		}
		header.Add(bare, value)
	}
	return header, nil
}

// noHeader reports whether a line is other output around headers: curl's messages, the braces of a framework, or the pseudo-headers that
// HTTP/2 has instead of a request line.
func noHeader(line string) bool {
	return line == "" || strings.ContainsAny(line[:1], "*<{}:")
}

// headersOfJSON parses an object of strings, or of lists of strings.
func headersOfJSON(text string) (http.Header, bool) {
	var members map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // to keep every digit of a timestamp
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
