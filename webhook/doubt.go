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

// A doubt is something that often happens to a key or a request. Where undoing it makes a signature good, it has happened.
type doubt struct {
	code, message, remedy string
	undo                  func(signed) signed
}

const (
	rawBody   = "Take the body as the bytes that came, before anything decodes it or parses it as JSON."
	keepBytes = "See whether an editor, or what wrote the capture, has done so. If not: " + rawBody
	asShown   = "Give the key as it was shown: for signatures in headers that begin with box-, its whole text is the key, " +
		"and the libraries of Standard Webhooks decode it themselves."
)

var keyDoubts = []doubt{
	{"key_blanks", "The key has blanks, a line break or quotes around it, without which the signature is good.", "Trim the key where the program reads it.", undoKey(trimKey)},
	{"key_prefix", "The key lacks " + docgen.SecretPrefix + " in front, with which the signature is good.", asShown, undoKey(addPrefix)},
	{"key_encoded", "The key is in base64 once more than it was shown, as secrets of Kubernetes are.", "Decode it once: it then begins with " + docgen.SecretPrefix + ".", undoKey(decodeKey)},
	{"key_decoded", "The key has been decoded once too often.", asShown, undoKey(encodeKey)},
}

var bodyDoubts = []doubt{
	{"body_newline_added", "A line break has been added at the end of the body.", keepBytes, undoBody(trimEnd)},
	{"body_newline_removed", "The line break at the end of the body has been taken away.", keepBytes, undoBody(addEnd("\n"))},
	{"body_newline_removed", "The line break at the end of the body has been taken away.", keepBytes, undoBody(addEnd("\r\n"))},
	{"body_line_ends", "The line ends of the body, LF, have become CR LF.", keepBytes, undoBody(replaceAll("\r\n", "\n"))},
	{"body_line_ends", "The line ends of the body, CR LF, have become LF.", keepBytes, undoBody(replaceAll("\n", "\r\n"))},
	{"body_bom", "A byte order mark (BOM) has been put in front of the body.", keepBytes, undoBody(trimMark)},
	{"body_unescaped", `The escapes \uXXXX of the body have become characters.`, rawBody, undoBody(escapeCharacters)},
	{"body_unescaped", `The escapes \/ of the body have become slashes.`, rawBody, undoBody(escapeSlashes)},
	{"body_unescaped", `The escapes \uXXXX and \/ of the body have become characters.`, rawBody, undoBody(escapeBoth)},
	{"body_printed", "Blanks or line breaks have been put into the body, to make it readable.", rawBody, undoBody(compactJSON)},
	{"body_rewritten", "The body has been parsed as JSON and written again.", rawBody, undoBody(writeJSON)},
	{"body_rewritten", "The body has been parsed as JSON and written again.", rawBody, undoBody(unescapeMarkup)},
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

// encodeKey makes a key of its bytes, or of their hexadecimal digits.
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

// compactJSON takes the blanks out of JSON; what is no JSON stays as it is.
func compactJSON(body []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, trimMark(body)) != nil {
		return body
	}
	return out.Bytes()
}

// writeJSON writes JSON as this server writes the bodies of events: without blanks, in ASCII, and with slashes escaped.
func writeJSON(body []byte) []byte { return escapeBoth(compactJSON(body)) }

// markup is what encoders such as Go's escape besides.
var markup = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

func unescapeMarkup(body []byte) []byte { return []byte(markup.Replace(string(writeJSON(body)))) }

func escapeCharacters(body []byte) []byte { return escapeJSON(body, false, true) }
func escapeSlashes(body []byte) []byte    { return escapeJSON(body, true, false) }
func escapeBoth(body []byte) []byte       { return escapeJSON(body, true, true) }

// escapeJSON writes slashes as \/, or characters beyond ASCII as \uXXXX, or both, in the strings of JSON.
func escapeJSON(b []byte, slashes, characters bool) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == '\\':
			size = min(2, len(b)-i) // an escape stays
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

// headerDoubts are about headers of one request: what they were can be told from the others.
func (v *verifier) headerDoubts(s, other *signatureScheme) []doubt {
	return []doubt{
		{"body_longer", "The body is longer than its content-length: something has been added at its end.", keepBytes, undoBody(func(body []byte) []byte {
			return body[:min(v.length(), len(body))]
		})},
		{"id_changed", s.id + " is not the id in the body, by which the signature is good.", keepHeaders, func(was signed) signed {
			was.id = v.eventID()
			return was
		}},
		{"timestamp_changed", s.timestamp + " tells another time than " + other.timestamp + ", or in another form; by that one the signature is good.",
			"Take the timestamp as the text that came, and see whether a proxy, or what wrote the capture, changes it.", func(was signed) signed {
				if sent, problem := v.sent(other); problem == nil {
					was.timestamp = s.write(sent)
				}
				return was
			}},
	}
}

// length returns how long the body was, or that of the body where that is not known.
func (v *verifier) length() int {
	length, err := strconv.ParseUint(v.header.Get("content-length"), 10, 32)
	if err != nil {
		return len(v.body)
	}
	return int(length)
}

// eventID returns the id in the body, if it has one.
func (v *verifier) eventID() string {
	var event struct{ ID string }
	if json.Unmarshal(v.body, &event) != nil {
		return ""
	}
	return event.ID
}

// explain says why no signature is good.
func (v *verifier) explain(s, other *signatureScheme, signatures []signature) Finding {
	for _, d := range slices.Concat(keyDoubts, bodyDoubts, v.headerDoubts(s, other)) {
		for _, key := range v.keys {
			was := d.undo(v.signed(s, key))
			if slices.ContainsFunc(signatures, func(sig signature) bool { return s.accepts(was, sig) }) {
				return Finding{Wrong, d.code, d.message, d.remedy}
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

// guessed reports whether nothing but the circumstances speak for a finding.
func (f Finding) guessed() bool {
	return slices.Contains([]string{codeKind, codeHeader, codeKeyCut, codeCut, codeBody, codeKey}, f.Code)
}

// guess says what is most likely where nothing that was tried makes a signature good.
func (v *verifier) guess(s, other *signatureScheme, signatures []signature) Finding {
	_, problem := v.sent(s)
	switch {
	case problem != nil || s.id != "" && v.header.Get(s.id) == "":
		return Finding{Note, "signature_not_checked", "No signature can be checked without that header.", ""}
	case !slices.ContainsFunc(signatures, func(sig signature) bool { return !sig.foreign() }):
		return Finding{Wrong, codeKind, "No signature in " + headerSignature + " begins with " + standardVersion + ", as those by a shared key do.", keepHeaders}
	case v.accepted(other):
		return Finding{Wrong, codeHeader, "By the other headers the key and the body are right: a signature, an id or a timestamp among these headers has been changed.", keepHeaders}
	case slices.ContainsFunc(v.keys, cutKey):
		return Finding{Wrong, codeKeyCut, fmt.Sprintf("No signature is of the key, which is not whole: after %s come %d characters of base64.", docgen.SecretPrefix, base64.StdEncoding.EncodedLen(docgen.SecretBytes)),
			"Give the key as it was shown, in quotes where a shell reads it."}
	case v.length() > len(v.body):
		return Finding{Wrong, codeCut, fmt.Sprintf("The body is cut: it has %d bytes, and by its content-length had %d.", len(v.body), v.length()), rawBody}
	case !json.Valid(v.body) || !bytes.Equal(writeJSON(v.body), bytes.TrimSpace(v.body)):
		return Finding{Wrong, codeBody, "No signature is of a key given and this body, which is not written as this server writes bodies: it has probably been parsed and written again.", rawBody}
	}
	return Finding{Wrong, codeKey, "No signature is of a key given; the body looks untouched.",
		"See whether the key is that of the application whose webhook it is, and whether it has been rotated since."}
}

// accepted reports whether a signature is good by any key.
func (v *verifier) accepted(s *signatureScheme) bool {
	return slices.ContainsFunc(s.signatures(v.header), func(sig signature) bool {
		return slices.ContainsFunc(v.keys, func(key string) bool { return s.accepts(v.signed(s, key), sig) })
	})
}

// cutKey reports whether a key begins as NewKey's do, but is another length.
func cutKey(text string) bool {
	rest, ours := strings.CutPrefix(text, docgen.SecretPrefix)
	raw, err := base64.StdEncoding.DecodeString(rest)
	return ours && (err != nil || len(raw) != docgen.SecretBytes)
}
