package locale

import (
	"sync"
	"sync/atomic"
)

// maxCached is how many compiled patterns one cache holds. A template has a few; a cache that is full is emptied, so
// that values used as patterns cannot grow it.
const maxCached = 512

// cache keeps what was compiled from a text. Its zero value is empty.
type cache[T any] struct {
	entries sync.Map // string → *T
	size    atomic.Int64
}

// get returns what was compiled from key, compiling it when it is missing. What cannot be compiled is not kept.
func (c *cache[T]) get(key string, compile func(string) (*T, error)) (*T, error) {
	if v, ok := c.entries.Load(key); ok {
		return v.(*T), nil
	}
	v, err := compile(key)
	if err != nil {
		return nil, err
	}
	if c.size.Add(1) > maxCached {
		c.entries.Clear()
		c.size.Store(1)
	}
	c.entries.Store(key, v)
	return v, nil
}
