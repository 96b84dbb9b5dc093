package webhook

import (
	"crypto/hmac"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Report says of a request whether it is signed well and, if it is not, why: for a developer whose own check fails.
type Report struct {
	Good    bool           `json:"good"` // there is a signature, and nothing is wrong with any
	Message string         `json:"message"`
	Remedy  string         `json:"remedy,omitempty"`
	Schemes []SchemeReport `json:"schemes"` // of the headers of the hosted service, and of those of Standard Webhooks
}

// A SchemeReport is what is right and wrong with the headers of one way to sign.
type SchemeReport struct {
	Scheme   string    `json:"scheme"` // box or standard-webhooks
	Signed   bool      `json:"signed"`
	Good     bool      `json:"good"`
	Findings []Finding `json:"findings"`
}

// A Finding is one thing that was looked at.
type Finding struct {
	Level   Level  `json:"level"`
	Code    string `json:"code"` // stays the same where the message becomes better
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"` // of what is wrong
}

// A Level says what a finding means.
type Level string

// The levels. A note is neither right nor wrong by itself.
const (
	Right Level = "right"
	Wrong Level = "wrong"
	Note  Level = "note"
)

// A signatureScheme is one way to sign.
type signatureScheme struct {
	name       string
	constants  [][2]string // headers that have one value
	id         string      // header of what is signed besides time and body, if there is any
	timestamp  string      // header
	read       func(timestamp string) (time.Time, error)
	write      func(time.Time) string
	headers    string // with signatures, to be named
	signatures func(http.Header) []signature
	sign       func(signed) (string, bool)
}

// signature is one of a request, with the header it stands in.
type signature struct{ header, value string }

// signed is what a signature is made of, or may have been.
type signed struct {
	key, id, timestamp string
	body               []byte
}

var boxScheme = signatureScheme{
	name:      "box",
	constants: [][2]string{{headerVersion, signatureVersion}, {headerAlgorithm, signatureAlgorithm}},
	timestamp: headerSent,
	read:      func(text string) (time.Time, error) { return time.Parse(time.RFC3339, text) },
	write:     func(t time.Time) string { return t.UTC().Format(sentLayout) },
	headers:   headerPrimary + " and no " + headerSecondary,
	signatures: func(header http.Header) []signature {
		all := []signature{{headerPrimary, header.Get(headerPrimary)}, {headerSecondary, header.Get(headerSecondary)}}
		return slices.DeleteFunc(all, func(s signature) bool { return s.value == "" })
	},
	sign: func(s signed) (string, bool) { return signBox(s.key, s.timestamp, s.body), true },
}

var standardScheme = signatureScheme{
	name:      "standard-webhooks",
	id:        headerID,
	timestamp: headerTimestamp,
	read: func(text string) (time.Time, error) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		return time.Unix(seconds, 0).UTC(), err
	},
	write:   func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	headers: headerSignature,
	signatures: func(header http.Header) []signature {
		var all []signature
		for value := range strings.FieldsSeq(header.Get(headerSignature)) {
			all = append(all, signature{headerSignature, value})
		}
		return all
	},
	sign: func(s signed) (string, bool) { return signStandard(s.key, s.id, s.timestamp, s.body) },
}

// Verify checks all signatures of a request, both those of the hosted service and those of Standard Webhooks, by the keys that the
// receiver has: the primary one first if it knows. A timestamp must be no older than maxAge, and not in the future, where the
// SDKs of the hosted service refuse it. Where a signature is not good, Verify tries what usually happens to keys and bodies on the way.
func Verify(header http.Header, body []byte, keys []string, now time.Time, maxAge time.Duration) Report {
	v := verifier{header, body, keys, now, maxAge}
	r := Report{Schemes: []SchemeReport{v.check(&boxScheme, &standardScheme), v.check(&standardScheme, &boxScheme)}}
	var wrong []Finding
	signatures := false
	for _, check := range r.Schemes {
		signatures = signatures || check.Signed
		for _, finding := range check.Findings {
			if finding.Level == Wrong {
				wrong = append(wrong, finding)
			}
		}
	}
	switch {
	case !signatures:
		r.Message, r.Remedy = v.unsigned()
	case len(wrong) == 0:
		r.Good, r.Message = true, "The signature is good."
	default:
		cause := mostTelling(wrong)
		r.Message, r.Remedy = cause.Message, cause.Remedy
	}
	return r
}

// mostTelling returns the first of what is wrong that is sure, or else the first guess. How old a request is comes last: a capture
// is mostly looked at later.
func mostTelling(wrong []Finding) Finding {
	rank := func(f Finding) int {
		switch {
		case f.aged():
			return 2
		case f.guessed():
			return 1
		}
		return 0
	}
	return slices.MinFunc(wrong, func(a, b Finding) int { return rank(a) - rank(b) })
}

type verifier struct {
	header http.Header
	body   []byte
	keys   []string
	now    time.Time
	maxAge time.Duration
}

// unsigned says why there may be no signatures.
func (v *verifier) unsigned() (message, remedy string) {
	of := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return v.header.Get(name) != "" })
	}
	switch {
	case of(headerVersion, headerAlgorithm):
		return "The request was signed, but its signatures have been lost on the way.",
			"See whether a proxy, or what wrote the capture, leaves out headers that begin with box-signature- and webhook-."
	case of(headerDelivery, headerSent, headerID, headerTimestamp):
		return "The request is not signed: its application has no keys.", "Make keys for the application. What was sent before stays unsigned."
	}
	return "The request has no headers of a webhook.",
		"See whether it comes from a webhook at all, and whether a proxy, or what wrote the capture, leaves out headers that begin with box- and webhook-."
}

// check looks at the headers of one scheme. What the other says helps to tell what has changed.
func (v *verifier) check(s, other *signatureScheme) SchemeReport {
	c := SchemeReport{Scheme: s.name, Findings: []Finding{}}
	signatures := s.signatures(v.header)
	if len(signatures) == 0 {
		c.add(Finding{Note, "unsigned", "There is no " + s.headers + ".", ""})
		return c
	}
	c.Signed = true
	for _, constant := range s.constants {
		c.add(v.constant(constant[0], constant[1]))
	}
	if s.id != "" && v.header.Get(s.id) == "" {
		c.add(Finding{Wrong, "id_missing", "The header " + s.id + " is missing, which is signed.", keepHeaders})
	}
	sent, problem := v.sent(s)
	if problem != nil {
		c.add(*problem)
	}
	c.add(v.judge(s, other, signatures)...)
	if problem == nil {
		c.add(v.age(s, sent))
	}
	c.Good = !slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Level == Wrong })
	return c
}

func (c *SchemeReport) add(findings ...Finding) { c.Findings = append(c.Findings, findings...) }

const keepHeaders = "See whether a proxy, or what wrote the capture, leaves it out or changes it."

func (v *verifier) constant(name, want string) Finding {
	switch got := v.header.Get(name); got {
	case want:
		return Finding{Right, "constant", name + " is " + want + ".", ""}
	case "":
		return Finding{Wrong, "constant_missing", "The header " + name + " is missing; it is " + want + ".", keepHeaders}
	default:
		return Finding{Wrong, "constant_unknown", fmt.Sprintf("%s is %q; only %s is known.", name, got, want), keepHeaders}
	}
}

// sent reads the timestamp.
func (v *verifier) sent(s *signatureScheme) (time.Time, *Finding) {
	text := v.header.Get(s.timestamp)
	if text == "" {
		return time.Time{}, &Finding{Wrong, "timestamp_missing", "The header " + s.timestamp + " is missing, which is signed.", keepHeaders}
	}
	sent, err := s.read(text)
	if err != nil {
		return sent, &Finding{Wrong, "timestamp_unreadable", fmt.Sprintf("%s is %q, which is no time such as %s.", s.timestamp, text, s.write(v.now)), keepHeaders}
	}
	return sent, nil
}

// TimestampOld is the code of a request that is older than allowed, as captures are.
const TimestampOld = "timestamp_old"

const codeFuture = "timestamp_future"

func (f Finding) aged() bool { return f.Code == TimestampOld || f.Code == codeFuture }

// libraryMaxAge is how old a timestamp may be for the libraries of Standard Webhooks.
const libraryMaxAge = 5 * time.Minute

// age judges a timestamp.
func (v *verifier) age(s *signatureScheme, sent time.Time) Finding {
	switch age := v.now.Truncate(time.Second).Sub(sent); {
	case age < 0:
		return Finding{Wrong, codeFuture, fmt.Sprintf("%s is %s in the future.", s.timestamp, -age), "Set the clock of this machine, or of the one that sends, by NTP."}
	case age > v.maxAge:
		return Finding{Wrong, TimestampOld, fmt.Sprintf("%s is %s old, more than the %s allowed.", s.timestamp, age, v.maxAge),
			"Refuse such a request: it may be an old one that somebody sends again. If it has just arrived, set the clocks by NTP."}
	case age > libraryMaxAge && s == &standardScheme:
		return Finding{Note, "timestamp_old_for_libraries",
			fmt.Sprintf("%s is %s old; the libraries of Standard Webhooks refuse what is older than %s.", s.timestamp, age, libraryMaxAge), ""}
	default:
		return Finding{Right, "timestamp", fmt.Sprintf("%s is %s old.", s.timestamp, age), ""}
	}
}

// judge compares signatures with those of the keys.
func (v *verifier) judge(s, other *signatureScheme, signatures []signature) []Finding {
	var findings, others []Finding
	for _, signature := range signatures {
		key := slices.IndexFunc(v.keys, func(key string) bool { return s.accepts(v.signed(s, key), signature) })
		switch {
		case key < 0:
			others = append(others, signature.unknown())
			continue
		case len(v.keys) == 1:
			findings = append(findings, Finding{Right, "signature", signature.header + " is of this key.", ""})
		default:
			findings = append(findings, Finding{Right, "signature", fmt.Sprintf("%s is of key %d.", signature.header, key+1), ""})
		}
		if signature.header == headerSecondary && key == 0 {
			findings = append(findings, Finding{Note, "secondary_key",
				"The key is the secondary one: the SDKs compare it with " + headerSecondary + " alone, so give it to them as secondaryKey.", ""})
		}
	}
	if len(findings) == 0 {
		return []Finding{v.explain(s, other, signatures)}
	}
	return append(findings, others...)
}

// unknown is what can be said of a signature beside a good one.
func (s signature) unknown() Finding {
	if s.foreign() {
		return Finding{Note, "signature_of_another_kind", s.header + " has one that is not made with a shared key.", ""}
	}
	return Finding{Note, "signature_of_another_key", s.header + " has one of another key.", ""}
}

// foreign reports whether a signature of Standard Webhooks is of a kind that is not checked here.
func (s signature) foreign() bool {
	return s.header == headerSignature && !strings.HasPrefix(s.value, standardVersion)
}

// accepts compares in constant time, as a receiver must.
func (s *signatureScheme) accepts(content signed, signature signature) bool {
	want, ok := s.sign(content)
	return ok && hmac.Equal([]byte(want), []byte(signature.value))
}

func (v *verifier) signed(s *signatureScheme, key string) signed {
	content := signed{key: key, timestamp: v.header.Get(s.timestamp), body: v.body}
	if s.id != "" {
		content.id = v.header.Get(s.id)
	}
	return content
}
