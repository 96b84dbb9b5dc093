package docgen

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"platen/fair"
	"platen/store"
)

// rememberedPasswords is the number of passwords of shared links that were right and need not be hashed again: clients send the password
// with every request.
const rememberedPasswords = 10_000

// linkPasswords remembers which passwords of shared links were right. The zero value is ready to use, and safe for concurrent use.
type linkPasswords struct {
	mu    sync.Mutex
	right map[[sha256.Size]byte]bool // digests of a stored hash and its password
}

func (l *linkPasswords) key(hash, password string) [sha256.Size]byte {
	return sha256.Sum256([]byte(hash + "\x00" + password))
}

func (l *linkPasswords) has(key [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.right[key]
}

func (l *linkPasswords) note(key [sha256.Size]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.right == nil || len(l.right) >= rememberedPasswords {
		l.right = map[[sha256.Size]byte]bool{}
	}
	l.right[key] = true
}

// checkLinkPassword reports whether a password has the hash of a shared link. It calls attempt before it hashes the password, which it
// does not for one that was right before. An error of attempt ends the check.
func (s *Service) checkLinkPassword(ctx context.Context, hash, password string, attempt func() error) (bool, error) {
	key := s.linkPasswords.key(hash, password)
	if s.linkPasswords.has(key) {
		return true, nil
	}
	if err := attempt(); err != nil {
		return false, err
	}
	right, err := s.passwords.matches(ctx, fair.ClaimantOf(ctx), password, hash)
	if right {
		s.linkPasswords.note(key)
	}
	return right, err
}

// passwordMark identifies a password by its hash, without revealing either; 0 stands for none.
func passwordMark(hash string) int64 {
	if hash == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(hash))
	return int64(binary.BigEndian.Uint64(sum[:])) //nolint:gosec // the bits of the number
}

// hashLinkPassword hashes the new password of a shared link before the transaction of the change, because it takes long. It first checks
// that the caller may change the link.
func (s *Service) hashLinkPassword(ctx context.Context, c *Caller, kind Kind, id int64, change *ItemChange) error {
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
	link.hash, err = s.passwords.hash(ctx, fair.ClaimantOf(ctx), *link.Password)
	change.Link = &link
	return err
}
