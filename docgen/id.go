package docgen

import (
	"math/rand/v2"
	"sync"
	"time"
)

// idRandomBits is the number of bits in an id that are not its second. With 31 bits of seconds, an id has 53 bits, so that it is exact in
// clients that read numbers as floating point.
const idRandomBits = 22

// idEpoch is the time from which ids count seconds. With 31 bits, they last until 2093.
var idEpoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// idSource creates increasing ids: positive numbers whose upper part is the time. The lower part begins at random, so that several servers
// on one database create different ids. The zero value is ready to use.
type idSource struct {
	mu   sync.Mutex
	last int64
}

// next reserves n consecutive ids and returns the first.
func (s *idSource) next(now time.Time, n int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.last + 1
	if second := int64(now.Sub(idEpoch) / time.Second); second > s.last>>idRandomBits {
		// Draw only once per second: drawing for every id would soon move all servers to the end of the second's range.
		first = second<<idRandomBits | rand.Int64N(1<<idRandomBits)
	}
	s.last = first + int64(n) - 1
	return first
}
