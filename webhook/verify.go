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

// A Report shows whether a request is signed correctly and, if not, the most likely reason. It is for developers of receivers
// whose own check fails.
type Report struct {
	Good    bool           `json:"good"` // whether there is a signature, and no finding is Wrong
	Message string         `json:"message"`
	Remedy  string         `json:"remedy,omitempty"`
	Schemes []SchemeReport `json:"schemes"` // Box's headers first, then those of Standard Webhooks
}

// A SchemeReport lists the findings about the headers of one signature scheme.
type SchemeReport struct {
	Scheme   string    `json:"scheme"` // box or standard-webhooks
	Signed   bool      `json:"signed"`
	Good     bool      `json:"good"`
	Findings []Finding `json:"findings"`
}

// A Finding is the result of one check.
type Finding struct {
	Level   Level  `json:"level"`
	Code    string `json:"code"` // stable, unlike the message
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"` // set if Level is Wrong
}

// A Level is the severity of a finding.
type Level string

// The levels. A Note alone is neither right nor wrong.
const (
	Right Level = "right"
	Wrong Level = "wrong"
	Note  Level = "note"
)

// A signatureScheme is one way to sign requests.
type signatureScheme struct {
	name       string
	constants  [][2]string // headers with only one valid value, and that value
	id         string      // header with a signed ID; "" if there is none
	timestamp  string      // header with the signed timestamp
	read       func(timestamp string) (time.Time, error)
	write      func(time.Time) string
	headers    string // names of the signature headers, for messages
	signatures func(http.Header) []signature
	sign       func(signed) (string, bool)
}

// signature is a signature in a request, and the header that contains it.
type signature struct{ header, value string }

// signed holds the input of a signature.
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

// Verify checks the Box signatures and the Standard Webhooks signatures of a request with the keys of the receiver, the primary one
// first if that is known. A timestamp must be no older than maxAge, and not in the future, because Box's SDKs reject that. If no
// signature is valid, Verify looks for the reason by undoing what often happens to keys and bodies in transit.
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
		r.Good, r.Message = true, "The signature is valid."
	default:
		cause := mostSpecific(wrong)
		r.Message, r.Remedy = cause.Message, cause.Remedy
	}
	return r
}

// mostSpecific returns the first finding that is certain, or else the first guess. Findings about the age of the request come
// last, because captures are usually checked later.
func mostSpecific(wrong []Finding) Finding {
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

// unsigned describes why the request may have no signatures.
func (v *verifier) unsigned() (message, remedy string) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return v.header.Get(name) != "" })
	}
	switch {
	case has(headerVersion, headerAlgorithm):
		return "The request was signed, but its signatures were lost in transit.",
			"Check whether a proxy, or the tool that captured the request, removes headers that begin with box-signature- and webhook-."
	case has(headerDelivery, headerSent, headerID, headerTimestamp):
		return "The request is not signed: its application has no keys.",
			"Create keys for the application. Requests sent before that stay unsigned."
	}
	return "The request has no webhook headers.",
		"Check that it comes from a webhook, and whether a proxy, or the tool that captured it, removes headers that begin with box- and " +
			"webhook-."
}

// check checks the headers of scheme s. Those of the other scheme help to find out what was changed.
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
		c.add(Finding{Wrong, "id_missing", "The header " + s.id + " is missing; its value is part of the signature.", keepHeaders})
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

const keepHeaders = "Check whether a proxy, or the tool that captured the request, removes or changes it."

// constant checks a header with only one valid value.
func (v *verifier) constant(name, want string) Finding {
	switch got := v.header.Get(name); got {
	case want:
		return Finding{Right, "constant", name + " is " + want + ".", ""}
	case "":
		return Finding{Wrong, "constant_missing", "The header " + name + " is missing; it must be " + want + ".", keepHeaders}
	default:
		return Finding{Wrong, "constant_unknown", fmt.Sprintf("%s is %q; it must be %s.", name, got, want), keepHeaders}
	}
}

// sent parses the timestamp. The finding is nil if that succeeds.
func (v *verifier) sent(s *signatureScheme) (time.Time, *Finding) {
	text := v.header.Get(s.timestamp)
	if text == "" {
		message := "The header " + s.timestamp + " is missing; its value is part of the signature."
		return time.Time{}, &Finding{Wrong, "timestamp_missing", message, keepHeaders}
	}
	sent, err := s.read(text)
	if err != nil {
		message := fmt.Sprintf("%s is %q, which is not a timestamp such as %s.", s.timestamp, text, s.write(v.now))
		return sent, &Finding{Wrong, "timestamp_unreadable", message, keepHeaders}
	}
	return sent, nil
}

// TimestampOld is the code of the finding that a request is older than permitted, as captured requests often are.
const TimestampOld = "timestamp_old"

const codeFuture = "timestamp_future"

func (f Finding) aged() bool { return f.Code == TimestampOld || f.Code == codeFuture }

// libraryMaxAge is the maximum age of a request that the Standard Webhooks libraries accept.
const libraryMaxAge = 5 * time.Minute

// age checks the age of the request.
func (v *verifier) age(s *signatureScheme, sent time.Time) Finding {
	switch age := v.now.Truncate(time.Second).Sub(sent); {
	case age < 0:
		return Finding{Wrong, codeFuture, fmt.Sprintf("%s is %s in the future.", s.timestamp, -age),
			"Synchronize the clocks of this machine and of the sender with NTP."}
	case age > v.maxAge:
		return Finding{Wrong, TimestampOld, fmt.Sprintf("%s is %s old, more than the maximum of %s.", s.timestamp, age, v.maxAge),
			"Reject such requests: someone may have recorded and resent them. If this one has just arrived, synchronize the clocks with NTP."}
	case age > libraryMaxAge && s == &standardScheme:
		return Finding{Note, "timestamp_old_for_libraries",
			fmt.Sprintf("%s is %s old; the Standard Webhooks libraries reject requests older than %s.", s.timestamp, age, libraryMaxAge), ""}
	default:
		return Finding{Right, "timestamp", fmt.Sprintf("%s is %s old.", s.timestamp, age), ""}
	}
}

// judge returns a finding for each signature if one of them is valid, or else the reason why none is.
func (v *verifier) judge(s, other *signatureScheme, signatures []signature) []Finding {
	var findings, others []Finding
	for _, signature := range signatures {
		key := slices.IndexFunc(v.keys, func(key string) bool { return s.accepts(v.signed(s, key), signature) })
		switch {
		case key < 0:
			others = append(others, signature.unknown())
			continue
		case len(v.keys) == 1:
			findings = append(findings, Finding{Right, "signature", signature.header + " matches the key.", ""})
		default:
			findings = append(findings, Finding{Right, "signature", fmt.Sprintf("%s matches key %d.", signature.header, key+1), ""})
		}
		if signature.header == headerSecondary && key == 0 {
			findings = append(findings, Finding{Note, "secondary_key",
				"The key is the secondary one. Pass it to the SDKs as secondaryKey, because they compare it only with " + headerSecondary + ".", ""})
		}
	}
	if len(findings) == 0 {
		return []Finding{v.explain(s, other, signatures)}
	}
	return append(findings, others...)
}

// unknown returns the finding about a signature that is not valid, in a request with a valid one.
func (s signature) unknown() Finding {
	if s.foreign() {
		return Finding{Note, "signature_of_another_kind", s.header + " contains a signature that does not use a shared key.", ""}
	}
	return Finding{Note, "signature_of_another_key", s.header + " contains a signature with another key.", ""}
}

// foreign reports whether s is a Standard Webhooks signature that does not use a shared key. Verify cannot check those.
func (s signature) foreign() bool {
	return s.header == headerSignature && !strings.HasPrefix(s.value, standardVersion)
}

// accepts reports whether a signature is valid. It compares in constant time, as a receiver must.
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
