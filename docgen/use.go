package docgen

import (
	"context"
	"slices"
	"sync"
	"time"

	"platen/store"
)

// When a token was used last is kept to the minute, and written in the background: no request waits for it, and none writes.

// Limits of the uses that are recorded between two calls of RecordUses.
const (
	usePrecision   = time.Minute // a use is recorded if the last recorded one is older
	maxNotedTokens = 10_000      // other tokens are recorded with their next request after RecordUses
	usesPerWrite   = 500         // rows of one transaction
)

// uses are the tokens that were used since the last RecordUses. Its methods may be called from many goroutines.
type uses struct {
	mu    sync.Mutex
	noted map[int64]int64 // time in microseconds, by token
}

// note remembers that a token is used now, unless a use within usePrecision is kept.
func (u *uses) note(token, kept, now int64) {
	if now-kept < usePrecision.Microseconds() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.noted[token]; !known && len(u.noted) >= maxNotedTokens {
		return
	}
	if u.noted == nil {
		u.noted = map[int64]int64{}
	}
	u.noted[token] = now
}

// take returns the recorded uses, and forgets them.
func (u *uses) take() map[int64]int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	noted := u.noted
	u.noted = nil
	return noted
}

// RecordUses writes the uses of tokens since the last call. Call it about twice a minute, and when the server stops. Uses that cannot be
// written are lost, which changes "last used" by no more than a minute.
func (s *Service) RecordUses(ctx context.Context) error {
	noted := s.uses.take()
	ids := make([]int64, 0, len(noted))
	for id := range noted {
		ids = append(ids, id)
	}
	slices.Sort(ids) // in one order, so that two servers do not wait for each other
	for portion := range slices.Chunk(ids, usesPerWrite) {
		err := s.db.WriteAsync(ctx, func(tx *store.Tx) error {
			for _, id := range portion {
				if err := tx.SetTokenUsed(ctx, id, noted[id]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
