package picture

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// IsAddress reports whether a value is the address of a picture and not the picture itself.
func IsAddress(value string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(value), "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// Decode returns the file in a value: base64 (RFC 4648, in either alphabet, with or without padding, and with blanks
// and line ends anywhere), a data URI (RFC 2397), or the text of an SVG file.
func Decode(value string) ([]byte, error) {
	if len(value) > 2*MaxBytes {
		return nil, tooLarge()
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return nil, errors.New("is empty, not an image")
	}
	if strings.HasPrefix(value, "<") {
		return []byte(value), nil
	}
	if len(value) < len("data:") || !strings.EqualFold(value[:len("data:")], "data:") {
		return decodeBase64(value)
	}
	head, content, ok := strings.Cut(value, ",")
	if !ok {
		return nil, errors.New("is a data URI without data: the comma is missing")
	}
	content, err := url.PathUnescape(content)
	if err != nil {
		return nil, errors.New("is a data URI that cannot be read: a % is not followed by two hexadecimal digits")
	}
	if strings.HasSuffix(strings.ToLower(strings.TrimSpace(head)), ";base64") {
		return decodeBase64(content)
	}
	return []byte(content), nil
}

// alphabet brings the URL alphabet to the standard one and drops what does not count.
var alphabet = strings.NewReplacer("-", "+", "_", "/", " ", "", "\t", "", "\r", "", "\n", "", "=", "")

func decodeBase64(s string) ([]byte, error) {
	data, err := base64.RawStdEncoding.DecodeString(alphabet.Replace(s))
	if at, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return nil, fmt.Errorf("is neither base64 nor a data URI: character %d is invalid", int64(at)+1)
	}
	if err == nil && len(data) > MaxBytes {
		err = tooLarge()
	}
	return data, err
}

func tooLarge() error { return fmt.Errorf("is larger than %d MB", MaxBytes>>20) }
