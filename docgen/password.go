package docgen

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"platen/fair"
)

// Passwords are stored as hashes by Argon2id (RFC 9106), in the PHC string format. A hash takes memory and processor time on purpose, so
// only a few are computed at once.

// The parameters of new hashes are the recommendation of OWASP for Argon2id with the least memory
// (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html).
const (
	passwordMemory  = 19 << 10 // KiB
	passwordTime    = 2        // passes
	passwordThreads = 1
	passwordSalt    = 16 // size in bytes
	passwordKey     = 32 // in bytes too
)

// Limits of passwords. There are no rules about characters, which make people choose worse ones (NIST SP 800-63B).
const (
	minPassword       = 12  // characters
	maxPasswordLength = 256 // also characters
	maxPasswordBytes  = 1024
)

// maxHashes is the number of passwords that are hashed at once, each with 19 MiB. Others wait for up to hashPatience.
const (
	maxHashes    = 2
	hashPatience = 10 * time.Second
)

// Limits of the parameters of a stored hash, which come from the database.
const (
	maxStoredMemory = 1 << 20 // KiB
	maxStoredTime   = 100
)

// passwordHasher hashes passwords, a few at once. It is safe for concurrent use.
type passwordHasher struct {
	slots *fair.Slots
	seed  maphash.Seed
	decoy func() string // returns the hash of a password that nobody knows, to compare with if there is none
}

func newPasswordHasher() *passwordHasher {
	decoy := sync.OnceValue(func() string { return hashPassword(newToken(), randomBytes(passwordSalt)) })
	return &passwordHasher{slots: fair.New(fair.Config{Slots: maxHashes, Most: 1}), seed: maphash.MakeSeed(), decoy: decoy}
}

// address returns the claimant of everyone at an address of the network.
func (h *passwordHasher) address(address string) fair.Claimant {
	return fair.Claimant{User: int64(maphash.String(h.seed, address) >> 1), Weight: 1} //nolint:gosec // 63 bits
}

// hold waits for the turn of a claimant, who has one password hashed at a time. The caller must call release.
func (h *passwordHasher) hold(ctx context.Context, by fair.Claimant) (release func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, hashPatience)
	defer cancel()
	slot, err := h.slots.Acquire(waiting, by)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, failf(CodeUnavailable, "Too many passwords are being checked at the moment. Try again in a few seconds.")
	}
	return slot.Release, nil
}

// hash returns the stored form of a password.
func (h *passwordHasher) hash(ctx context.Context, by fair.Claimant, password string) (string, error) {
	release, err := h.hold(ctx, by)
	if err != nil {
		return "", err
	}
	defer release()
	return hashPassword(password, randomBytes(passwordSalt)), nil
}

// matches reports whether a password has a stored hash. If the hash is empty, it takes as long, and the result is false.
func (h *passwordHasher) matches(ctx context.Context, by fair.Claimant, password, stored string) (bool, error) {
	release, err := h.hold(ctx, by)
	if err != nil {
		return false, err
	}
	defer release()
	decoy, against := h.decoy(), stored
	if stored == "" {
		against = decoy
	}
	good, err := comparePassword(password, against)
	return good && stored != "", err
}

func hashPassword(password string, salt []byte) string {
	key := argon2.IDKey([]byte(norm.NFKC.String(password)), salt, passwordTime, passwordMemory, passwordThreads, passwordKey)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, passwordMemory, passwordTime, passwordThreads, b64(salt),
		b64(key))
}

// errStoredPassword is the error for a stored hash that cannot be read. It does not contain the hash.
var errStoredPassword = errors.New("the stored hash of a password cannot be read")

// comparePassword compares a password with a hash, whose parameters may be those of another release.
func comparePassword(password, stored string) (bool, error) {
	fields := strings.Split(stored, "$")
	if len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" || fields[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, errStoredPassword
	}
	var memory, passes uint32
	var threads uint8
	if _, err := fmt.Sscanf(fields[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil || memory > maxStoredMemory || passes < 1 ||
		passes > maxStoredTime || threads < 1 {
		return false, errStoredPassword
	}
	salt, err := base64.RawStdEncoding.DecodeString(fields[4])
	key, failure := base64.RawStdEncoding.DecodeString(fields[5])
	if err != nil || failure != nil || len(key) == 0 || len(key) > math.MaxUint8 {
		return false, errStoredPassword
	}
	got := argon2.IDKey([]byte(norm.NFKC.String(password)), salt, passes, memory, threads, uint32(len(key))) //nolint:gosec // at most 255
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}

// passwordProblems returns the problems of a new password of a user. They do not contain it.
func passwordProblems(field, password, login string) []Problem {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password) || n < minPassword || n > maxPasswordLength:
		return []Problem{invalidField(field, "the password must have %d to %d characters, in UTF-8", minPassword, maxPasswordLength)}
	case foldKey(password) == foldKey(login):
		return []Problem{invalidField(field, "the password must not be the login")}
	case strings.Trim(password, password[:1]) == "":
		return []Problem{invalidField(field, "the password must not repeat a single character")}
	}
	return nil
}
