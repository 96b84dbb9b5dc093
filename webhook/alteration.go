package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"platen/docgen"
)

// An alteration is something that often happens to a key or a request in transit. If undoing it makes a signature valid, it has
// happened.
type alteration struct {
	code, message, remedy string
	undo                  func(signed) signed
}

const (
	rawBody   = "Use the bytes of the body as received, before anything decodes them or parses them as JSON."
	keepBytes = "Check whether an editor, or the tool that captured the request, did this. If not, use the bytes of the body as " +
		"received, before anything decodes them or parses them as JSON."
	asShown = "Use the key exactly as it was shown: for signatures in headers that begin with box-, the whole string is the key, " +
		"and the Standard Webhooks libraries decode it themselves."
)

var keyAlterations = []alteration{
	{"key_blanks", "The key has whitespace, a line break, or quotes around it. The signature is valid without them.",
		"Trim the key where the program reads it.", undoKey(trimKey)},
	{"key_prefix", "The key lacks the prefix " + docgen.SecretPrefix + ". The signature is valid with it.", asShown, undoKey(addPrefix)},
	{"key_encoded", "The key has been encoded in base64 again, as in Kubernetes secrets.",
		"Decode it once: it then begins with " + docgen.SecretPrefix + ".", undoKey(decodeKey)},
	{"key_decoded", "The key has been decoded once too often.", asShown, undoKey(encodeKey)},
}

var bodyAlterations = []alteration{
	{"body_newline_added", "A line break has been added to the end of the body.", keepBytes, undoBody(trimEnd)},
	{"body_newline_removed", "The line break at the end of the body has been removed.", keepBytes, undoBody(addEnd("\n"))},
	{"body_newline_removed", "The line break at the end of the body has been removed.", keepBytes, undoBody(addEnd("\r\n"))},
	{"body_line_ends", "The line endings of the body have changed from LF to CR LF.", keepBytes, undoBody(replaceAll("\r\n", "\n"))},
	{"body_line_ends", "The line endings of the body have changed from CR LF to LF.", keepBytes, undoBody(replaceAll("\n", "\r\n"))},
	{"body_bom", "A byte order mark (BOM) has been added to the start of the body.", keepBytes, undoBody(trimMark)},
	{"body_unescaped", `The \uXXXX escapes in the body have been decoded.`, rawBody, undoBody(escapeCharacters)},
	{"body_unescaped", `The \/ escapes in the body have been decoded.`, rawBody, undoBody(escapeSlashes)},
	{"body_unescaped", `The \uXXXX and \/ escapes in the body have been decoded.`, rawBody, undoBody(escapeBoth)},
	{"body_printed", "The body has been reformatted: whitespace or line breaks have been added.", rawBody, undoBody(compactJSON)},
	{"body_rewritten", "The body has been parsed as JSON and serialized again.", rawBody, undoBody(writeJSON)},
	{"body_rewritten", "The body has been parsed as JSON and serialized again.", rawBody, undoBody(unescapeMarkup)},
}

func undoKey(undo func(string) string) func(signed) signed {
	return func(s signed) signed {
		s.key = undo(s.key)
		return s
	}
}

func undoBody(undo func([]byte) []byte) func(signed) signed {
	return func(s signed) signed {
		s.body = undo(s.body)
		return s
	}
}

func trimKey(key string) string   { return strings.Trim(key, " \t\r\n\"'") }
func addPrefix(key string) string { return docgen.SecretPrefix + key }

func decodeKey(key string) string {
	decoded, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return key
	}
	return strings.TrimSpace(string(decoded))
}

// encodeKey returns the key with these bytes, given as they are or in hexadecimal.
func encodeKey(key string) string {
	raw, err := hex.DecodeString(key)
	if err != nil {
		raw = []byte(key)
	}
	return docgen.SecretPrefix + base64.StdEncoding.EncodeToString(raw)
}

const byteOrderMark = "\ufeff"

func trimMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte(byteOrderMark)) }

func trimEnd(body []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(body, []byte("\n")), []byte("\r"))
}

func addEnd(end string) func([]byte) []byte {
	return func(body []byte) []byte { return append(slices.Clip(body), end...) }
}

func replaceAll(now, was string) func([]byte) []byte {
	return func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(now), []byte(was)) }
}

// compactJSON removes insignificant whitespace from JSON. It returns other bodies unchanged.
func compactJSON(body []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, trimMark(body)) != nil {
		return body
	}
	return out.Bytes()
}

// writeJSON formats JSON the way this server formats the bodies of events: without whitespace, in ASCII, with escaped slashes.
func writeJSON(body []byte) []byte { return escapeBoth(compactJSON(body)) }

// markup undoes the additional escapes of encoders such as encoding/json.
var markup = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

func unescapeMarkup(body []byte) []byte { return []byte(markup.Replace(string(writeJSON(body)))) }

func escapeCharacters(body []byte) []byte { return escapeJSON(body, false, true) }
func escapeSlashes(body []byte) []byte    { return escapeJSON(body, true, false) }
func escapeBoth(body []byte) []byte       { return escapeJSON(body, true, true) }

// escapeJSON replaces slashes with \/, or non-ASCII characters with \uXXXX, or both, in the strings of JSON.
func escapeJSON(b []byte, slashes, characters bool) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == '\\':
			size = min(2, len(b)-i) // keep existing escapes
			out = append(out, b[i:i+size]...)
		case r == '/' && slashes:
			out = append(out, `\/`...)
		case r > '~' && characters:
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		default:
			out = append(out, b[i:i+size]...)
		}
		i += size
	}
	return out
}

// headerAlterations returns changes that the rest of the request reveals: to the headers of s, or to the length of the body.
func (v *verifier) headerAlterations(s, other *signatureScheme) []alteration {
	return []alteration{
		{"body_longer", "The body is longer than its content-length: something has been added to its end.", keepBytes,
			undoBody(func(body []byte) []byte { return body[:min(v.length(), len(body))] })},
		{"id_changed", s.id + " differs from the id in the body. The signature is valid with the latter.", keepHeaders,
			func(was signed) signed {
				was.id = v.eventID()
				return was
			}},
		{"timestamp_changed", s.timestamp + " differs from " + other.timestamp +
			" in its time or its format. The signature is valid with the latter.",
			"Use the timestamp exactly as received, and check whether a proxy, or the tool that captured the request, changes it.",
			func(was signed) signed {
				if sent, problem := v.sent(other); problem == nil {
					was.timestamp = s.write(sent)
				}
				return was
			}},
	}
}

// length returns the content-length of the request, or the length of the body if the request does not state one.
func (v *verifier) length() int {
	length, err := strconv.ParseUint(v.header.Get("content-length"), 10, 32)
	if err != nil {
		return len(v.body)
	}
	return int(length)
}

// eventID returns the id in the body, or "" if it has none.
func (v *verifier) eventID() string {
	var event struct{ ID string }
	if json.Unmarshal(v.body, &event) != nil {
		return ""
	}
	return event.ID
}

// explain returns the most likely reason why no signature is valid.
func (v *verifier) explain(s, other *signatureScheme, signatures []signature) Finding {
	for _, a := range slices.Concat(keyAlterations, bodyAlterations, v.headerAlterations(s, other)) {
		for _, key := range v.keys {
			was := a.undo(v.signed(s, key))
			if slices.ContainsFunc(signatures, func(sig signature) bool { return s.accepts(was, sig) }) {
				return Finding{Wrong, a.code, a.message, a.remedy}
			}
		}
	}
	return v.guess(s, other, signatures)
}

// Codes of findings that are guesses.
const (
	codeKind   = "signature_unknown"
	codeHeader = "header_changed"
	codeKeyCut = "key_cut"
	codeCut    = "body_cut"
	codeBody   = "body_changed"
	codeKey    = "wrong_key"
)

// guessed reports whether a finding is only a guess.
func (f Finding) guessed() bool {
	return slices.Contains([]string{codeKind, codeHeader, codeKeyCut, codeCut, codeBody, codeKey}, f.Code)
}

// guess returns the most likely problem if undoing no known alteration makes a signature valid.
func (v *verifier) guess(s, other *signatureScheme, signatures []signature) Finding {
	_, problem := v.sent(s)
	switch {
	case problem != nil || s.id != "" && v.header.Get(s.id) == "":
		return Finding{Note, "signature_not_checked", "The signatures cannot be checked without that header.", ""}
	case !slices.ContainsFunc(signatures, func(sig signature) bool { return !sig.foreign() }):
		message := "No signature in " + headerSignature + " begins with " + standardVersion + ", as signatures with a shared key do."
		return Finding{Wrong, codeKind, message, keepHeaders}
	case v.accepted(other):
		return Finding{Wrong, codeHeader, "According to the other headers, the key and the body are correct. " +
			"A signature, an ID, or a timestamp in these headers has been changed.", keepHeaders}
	case slices.ContainsFunc(v.keys, cutKey):
		return Finding{Wrong, codeKeyCut, fmt.Sprintf("No signature matches the key, which is incomplete: %s must be followed by %d base64 "+
			"characters.",
			docgen.SecretPrefix, base64.StdEncoding.EncodedLen(docgen.SecretBytes)), "Use the key exactly as it was shown, quoted if a shell " +
			"reads it."}
	case v.length() > len(v.body):
		message := fmt.Sprintf("The body is truncated: it has %d bytes, but its content-length is %d.", len(v.body), v.length())
		return Finding{Wrong, codeCut, message, rawBody}
	case !json.Valid(v.body) || !bytes.Equal(writeJSON(v.body), bytes.TrimSpace(v.body)):
		return Finding{Wrong, codeBody, "No signature matches the keys and this body, which is not formatted as this server formats bodies. " +
			"It has probably been parsed and serialized again.", rawBody}
	}
	return Finding{Wrong, codeKey, "No signature matches any of the keys; the body looks unchanged.",
		"Check that the key belongs to the application of the webhook, and that it has not been replaced since."}
}

// accepted reports whether any signature is valid with any key.
func (v *verifier) accepted(s *signatureScheme) bool {
	return slices.ContainsFunc(s.signatures(v.header), func(sig signature) bool {
		return slices.ContainsFunc(v.keys, func(key string) bool { return s.accepts(v.signed(s, key), sig) })
	})
}

// cutKey reports whether a key begins like those of docgen.NewSecret but has another length.
func cutKey(text string) bool {
	rest, ours := strings.CutPrefix(text, docgen.SecretPrefix)
	raw, err := base64.StdEncoding.DecodeString(rest)
	return ours && (err != nil || len(raw) != docgen.SecretBytes)
}
