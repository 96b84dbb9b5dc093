package server

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// parameters are the query parameters and headers of an operation, as the OpenAPI document lists them.
type parameters struct {
	query   []queryParameter
	headers []string // canonical names of the headers that must not be repeated
}

type queryParameter struct {
	name    string
	boolean bool
	filled  bool // must not be empty
}

// parametersOf returns the parameters of a documented operation, without the version header and As-User. admit checks those and has its
// own errors for them.
func parametersOf(op *huma.Operation) *parameters {
	known := &parameters{headers: []string{"Content-Encoding", "Content-Type", "If-Modified-Since", "If-Unmodified-Since"}}
	for _, p := range op.Parameters {
		switch {
		case p.In == "query":
			known.query = append(known.query, queryParameterOf(p))
		case p.In == "header" && p.Name != versionHeader && p.Name != asUserHeader:
			known.headers = append(known.headers, http.CanonicalHeaderKey(p.Name))
		}
	}
	return known
}

// queryParameterOf returns the rules for a query parameter. One with an enumeration or a minimum length selects something, so an empty
// value is a mistake.
func queryParameterOf(p *huma.Param) queryParameter {
	if p.Schema == nil {
		return queryParameter{name: p.Name}
	}
	return queryParameter{name: p.Name, boolean: p.Schema.Type == huma.TypeBoolean,
		filled: len(p.Schema.Enum) > 0 || p.Schema.MinLength != nil && *p.Schema.MinLength > 0}
}

// check returns an Error that lists every query parameter that is malformed, repeated, or unknown, every boolean that is neither true nor
// false, every empty selection, and every repeated header. If passUnknown is set, unknown query parameters and empty selections are
// accepted.
func (p *parameters) check(r *http.Request, passUnknown bool) error {
	problems := p.queryProblems(r.URL.RawQuery, passUnknown)
	for _, name := range p.headers {
		if len(r.Header[name]) > 1 {
			problems = append(problems, parameterProblem(name, "the header "+name+" must be sent once"))
		}
	}
	return docgen.Invalid(problems[:min(len(problems), maxProblems)]...)
}

func (p *parameters) queryProblems(query string, passUnknown bool) []docgen.Problem {
	var problems []docgen.Problem
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, problem := decodePair(pair)
		if problem == "" {
			problem = p.pairProblem(name, value, seen[name], passUnknown)
		}
		if seen[name] = true; problem != "" && len(problems) < maxProblems {
			problems = append(problems, parameterProblem(name, problem))
		}
	}
	return problems
}

// pairProblem returns what is wrong with one decoded pair of a query, or an empty string.
func (p *parameters) pairProblem(name, value string, repeated, passUnknown bool) string {
	i := slices.IndexFunc(p.query, func(known queryParameter) bool { return known.name == name })
	switch {
	case i < 0 && passUnknown:
		return ""
	case i < 0:
		return quoteParameter(name) + " is not a query parameter of this operation; " + p.names()
	case repeated:
		return quoteParameter(name) + " must be sent once"
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return quoteParameter(name) + " must be UTF-8 without NUL"
	case p.query[i].filled && value == "" && !passUnknown:
		return quoteParameter(name) + " must not be empty: omit it, or send a value"
	case p.query[i].boolean && value != "":
		if _, err := strconv.ParseBool(value); err != nil {
			return quoteParameter(name) + " must be true or false"
		}
	}
	return ""
}

// decodePair decodes the name and the value of a pair like net/url, which would silently drop a malformed pair. A name that cannot be
// decoded is returned as it was sent.
func decodePair(pair string) (name, value, problem string) {
	rawName, rawValue, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(rawName)
	if err != nil {
		return rawName, "", quoteParameter(rawName) + " is not percent-encoded correctly: " + err.Error()
	}
	if value, err = url.QueryUnescape(rawValue); err != nil {
		return name, "", quoteParameter(name) + " is not percent-encoded correctly: " + err.Error()
	}
	if strings.Contains(pair, ";") {
		return name, value, quoteParameter(name) + " contains a semicolon; separate parameters with &, and write ; as %3B"
	}
	return name, value, ""
}

// names lists the query parameters of the operation, to help with misspelled ones.
func (p *parameters) names() string {
	if len(p.query) == 0 {
		return "it has none"
	}
	names := make([]string, len(p.query))
	for i, known := range p.query {
		names[i] = known.name
	}
	return "it has " + strings.Join(names, ", ")
}

func parameterProblem(name, message string) docgen.Problem {
	return docgen.Problem{Reason: docgen.ReasonInvalid, Name: printable(name), Message: message}
}

func quoteParameter(name string) string { return "'" + printable(name) + "'" }

// printable makes text of a client safe to quote in a response: UTF-8, without control characters, and truncated.
func printable(text string) string {
	return shorten(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError))))
}
