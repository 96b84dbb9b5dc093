package docgen

import (
	"context"
	"slices"
	"sync"
	"time"

	"platen/store"
)

// The last use of a token is stored to the minute. It is written in the background, so that no request writes it or
// waits for it.

// Limits of the uses that are recorded between two calls of RecordUses.
const (
	usePrecision   = time.Minute // a use is recorded if the last recorded one is older
	maxNotedTokens = 10_000      // other tokens are recorded with their next request after RecordUses
	usesPerWrite   = 500         // rows of one transaction
)

// uses are the tokens used since the last RecordUses. It is safe for concurrent use.
type uses struct {
	mu    sync.Mutex
	noted map[int64]int64 // time in microseconds, by token
}

// note records that a token is used now, unless a use within usePrecision is already stored.
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
	slices.Sort(ids) // in a fixed order, so that two servers do not deadlock
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
