package generate

import (
	"container/list"
	"context"
	"errors"
	"strconv"
	"sync"

	"golang.org/x/sync/singleflight"

	"platen/docx"
)

// defaultTemplateCache is how much memory compiled templates may take when the configuration does not say.
const defaultTemplateCache = 256 << 20

// templateCache keeps compiled templates by version, the most recently used as far as memory allows. A version never
// changes, so neither does what is kept, also that a version cannot be compiled.
type templateCache struct {
	compile func(ctx context.Context, versionID int64) (*docx.Template, error)
	limit   int64
	flights singleflight.Group // many workers that need the same template compile it once

	mu      sync.Mutex
	size    int64
	recent  *list.List // of *cachedTemplate, the most recently used first
	entries map[int64]*list.Element
}

type cachedTemplate struct {
	versionID int64
	template  *docx.Template
	broken    error // a *templateError, in place of a template
	size      int64
}

// brokenSize is what the knowledge that a template is broken is counted for.
const brokenSize = 4 << 10

func newTemplateCache(limit int64, compile func(context.Context, int64) (*docx.Template, error)) *templateCache {
	if limit <= 0 {
		limit = defaultTemplateCache
	}
	return &templateCache{compile: compile, limit: limit, recent: list.New(), entries: map[int64]*list.Element{}}
}

// get returns the compiled template of a version.
func (c *templateCache) get(ctx context.Context, versionID int64) (*docx.Template, error) {
	if entry := c.lookup(versionID); entry != nil {
		return entry.template, entry.broken
	}
	flight := c.flights.DoChan(strconv.FormatInt(versionID, 10), func() (any, error) {
		return c.load(context.WithoutCancel(ctx), versionID) // others may wait for it
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case done := <-flight:
		if done.Err != nil {
			return nil, done.Err
		}
		entry := done.Val.(*cachedTemplate)
		return entry.template, entry.broken
	}
}

func (c *templateCache) load(ctx context.Context, versionID int64) (*cachedTemplate, error) {
	if entry := c.lookup(versionID); entry != nil { // another flight has landed since
		return entry, nil
	}
	template, err := c.compile(ctx, versionID)
	entry := &cachedTemplate{versionID: versionID, template: template, size: brokenSize}
	var broken *templateError
	switch {
	case errors.As(err, &broken):
		entry.broken = broken
	case err != nil:
		return nil, err
	default:
		entry.size = int64(template.Size())
	}
	c.keep(entry)
	return entry, nil
}

func (c *templateCache) lookup(versionID int64) *cachedTemplate {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[versionID]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(element)
	return element.Value.(*cachedTemplate)
}

func (c *templateCache) keep(entry *cachedTemplate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[entry.versionID]; ok {
		return
	}
	c.entries[entry.versionID] = c.recent.PushFront(entry)
	c.size += entry.size
	for c.size > c.limit {
		oldest := c.recent.Back()
		old := c.recent.Remove(oldest).(*cachedTemplate)
		delete(c.entries, old.versionID)
		c.size -= old.size
	}
}
