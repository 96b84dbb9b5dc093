package finish

import (
	"errors"
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
)

// maxPassword is how many bytes of a password count (ISO 32000-2, 7.6.4.3.3). A longer one would be cut where a reader that
// does not prepare it cuts elsewhere.
const maxPassword = 127

// preparePassword returns a password as it is hashed: prepared by SASLprep (RFC 4013), in UTF-8. What readers prepare in
// their turn comes to the same whichever way it was typed.
func preparePassword(password string) ([]byte, error) {
	if !utf8.ValidString(password) {
		return nil, errors.New("the password is not text")
	}
	prepared, err := stringprep.SASLprep.Prepare(password)
	if err != nil {
		return nil, errors.New("the password has characters that cannot be typed everywhere, or mixes the directions of writing")
	}
	if len(prepared) > maxPassword {
		return nil, errors.New("the password is longer than 127 bytes")
	}
	return []byte(prepared), nil
}
