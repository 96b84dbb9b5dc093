package docgen

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"

	"platen/fair"
	"platen/store"
)

// The cost of a hash of a password: the minimum that OWASP recommends for argon2id, about 30 ms and 19 MiB.
const (
	passwordPasses  = 2
	passwordMemory  = 19 * 1024 // KiB
	passwordThreads = 1
	passwordSalt    = 16 // bytes, random for each hash
	passwordHash    = 32
)

const (
	hashingSlots   = 2      // passwords that are hashed at the same time, at most one for a user, and one for all visitors
	knownPasswords = 10_000 // passwords that were right and need not be hashed again
)

const passwordFormat = "$argon2id$v=19$m=%d,t=%d,p=%d$"

// A hasher hashes and compares passwords, a few at a time. It is safe for concurrent use.
type hasher struct {
	slots *fair.Slots

	mu    sync.Mutex
	known map[[sha256.Size]byte]bool
}

func newHasher() *hasher {
	return &hasher{slots: fair.New(fair.Config{Slots: hashingSlots, Most: 1}), known: map[[sha256.Size]byte]bool{}}
}

// hash returns the hash of a password with a new salt, in the PHC format.
func (p *hasher) hash(ctx context.Context, password string) (string, error) {
	return p.hashWith(ctx, password, randomBytes(passwordSalt))
}

func (p *hasher) hashWith(ctx context.Context, password string, salt []byte) (string, error) {
	slot, err := p.slots.Acquire(ctx, fair.ClaimantOf(ctx))
	if err != nil {
		return "", err
	}
	defer slot.Release()
	key := argon2.IDKey([]byte(password), salt, passwordPasses, passwordMemory, passwordThreads, passwordHash)
	return fmt.Sprintf(passwordFormat, passwordMemory, passwordPasses, passwordThreads) + base64.RawStdEncoding.EncodeToString(salt) + "$" +
		base64.RawStdEncoding.EncodeToString(key), nil
}

// check reports whether a password has a hash. It calls attempt before it hashes the password, which it does not for one that was right
// before. An error of attempt ends the check.
func (p *hasher) check(ctx context.Context, hash, password string, attempt func() error) (bool, error) {
	key := sha256.Sum256([]byte(hash + "\x00" + password))
	if p.knows(key) {
		return true, nil
	}
	if err := attempt(); err != nil {
		return false, err
	}
	parts := strings.Split(hash, "$") // "", argon2id, version, cost, salt, key
	if len(parts) != 6 {
		return false, fmt.Errorf("the hash of a password has %d parts, not 6", len(parts))
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("the salt of a password: %w", err)
	}
	got, err := p.hashWith(ctx, password, salt)
	if err != nil || subtle.ConstantTimeCompare([]byte(got), []byte(hash)) != 1 {
		return false, err
	}
	p.note(key)
	return true, nil
}

func (p *hasher) knows(key [sha256.Size]byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[key]
}

func (p *hasher) note(key [sha256.Size]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= knownPasswords {
		clear(p.known)
	}
	p.known[key] = true
}

// passwordMark identifies a password by its hash, without revealing either; 0 stands for none.
func passwordMark(hash string) int64 {
	if hash == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(hash))
	return int64(binary.BigEndian.Uint64(sum[:])) //nolint:gosec // the bits of the number
}

// hashPassword hashes the new password of a shared link before the transaction of the change, because it takes long. It first checks that
// the caller may change the link.
func (s *Service) hashPassword(ctx context.Context, c *Caller, kind Kind, id int64, change *ItemChange) error {
	if change.Link == nil || change.Link.Remove || change.Link.Password == nil || *change.Link.Password == "" {
		return nil
	}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		_, err := s.find(ctx, q, c, kind, id, change.needs())
		return err
	})
	if err != nil {
		return err
	}
	link := *change.Link
	link.hash, err = s.passwords.hash(ctx, *link.Password)
	change.Link = &link
	return err
}
