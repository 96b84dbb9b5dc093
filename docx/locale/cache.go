package locale

import (
	"sync"
	"sync/atomic"
)

// maxCached is the number of compiled patterns in a cache. A template has a few. A full cache is emptied, so that values that are used as
// patterns cannot make it grow.
const maxCached = 512

// cache keeps the results of compiling texts. Its zero value is empty.
type cache[T any] struct {
	entries sync.Map // string → *T
	size    atomic.Int64
}

// get returns the result for key, and compiles it if it is missing. Errors are not kept.
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
