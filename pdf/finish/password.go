package finish

import (
	"errors"
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
)

// maxPassword is the number of significant bytes of a password (ISO 32000-2, 7.6.4.3.3). Longer passwords are
// rejected, because readers that skip SASLprep would truncate them at a different position.
const maxPassword = 127

// preparePassword returns a password prepared for hashing: SASLprep (RFC 4013) in UTF-8. Readers do the same, so the
// result does not depend on how the password was typed.
func preparePassword(password string) ([]byte, error) {
	if !utf8.ValidString(password) {
		return nil, errors.New("the password is not valid UTF-8")
	}
	prepared, err := stringprep.SASLprep.Prepare(password)
	if err != nil {
		return nil, errors.New("the password has prohibited characters, or mixes left-to-right and right-to-left text")
	}
	if len(prepared) > maxPassword {
		return nil, errors.New("the password is longer than 127 bytes")
	}
	return []byte(prepared), nil
}
