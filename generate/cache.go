package generate

import (
	"container/list"
	"context"
	"errors"
	"strconv"
	"sync"

	"golang.org/x/sync/singleflight"

	"platen/docx"
	"platen/generate/internal/fair"
)

// defaultTemplateCache is how much memory compiled templates may take when the configuration does not say.
const defaultTemplateCache = 256 << 20

// templateCache keeps compiled templates by version, the most recently used as far as memory allows. A version never
// changes, so neither does what is kept, also that a version cannot be compiled, unless it includes files that change.
type templateCache struct {
	compile func(ctx context.Context, claimant fair.Claimant, versionID int64) (*docx.Template, inclusions, error)
	current func(ctx context.Context, versionID int64, files inclusions) (bool, error) // whether the files are as they were
	limit   int64
	flights singleflight.Group // many workers that need the same template compile it once

	mu      sync.Mutex
	size    int64
	recent  *list.List // of *cachedTemplate, the most recently used first
	entries map[int64]*list.Element
}

// inclusions are the versions of the files that a template includes, by their names; 0 of those that could not be had.
type inclusions map[string]int64

type cachedTemplate struct {
	versionID int64
	template  *docx.Template
	files     inclusions
	broken    error // a *templateError, in place of a template
	size      int64
}

// brokenSize is what the knowledge that a template is broken is counted for.
const brokenSize = 4 << 10

func newTemplateCache(g *Generator, limit int64) *templateCache {
	if limit <= 0 {
		limit = defaultTemplateCache
	}
	return &templateCache{compile: g.compile, current: g.current, limit: limit, recent: list.New(), entries: map[int64]*list.Element{}}
}

// get returns the compiled template of a version, which is compiled on behalf of a claimant if it must be.
func (c *templateCache) get(ctx context.Context, claimant fair.Claimant, versionID int64) (*docx.Template, error) {
	if entry, err := c.lookup(ctx, versionID); entry != nil || err != nil {
		return entry.result(err)
	}
	flight := c.flights.DoChan(strconv.FormatInt(versionID, 10), func() (any, error) {
		return c.load(context.WithoutCancel(ctx), claimant, versionID) // others may wait for it
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case done := <-flight:
		if done.Err != nil {
			return nil, done.Err
		}
		return done.Val.(*cachedTemplate).result(nil)
	}
}

// result is what is known of a template; err is why nothing is.
func (t *cachedTemplate) result(err error) (*docx.Template, error) {
	if err != nil {
		return nil, err
	}
	return t.template, t.broken
}

func (c *templateCache) load(ctx context.Context, claimant fair.Claimant, versionID int64) (*cachedTemplate, error) {
	if entry, err := c.lookup(ctx, versionID); entry != nil || err != nil { // another flight has landed since
		return entry, err
	}
	template, files, err := c.compile(ctx, claimant, versionID)
	entry := &cachedTemplate{versionID: versionID, template: template, files: files, size: brokenSize}
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

// lookup returns what is kept of a version, nil if it is nothing that still holds.
func (c *templateCache) lookup(ctx context.Context, versionID int64) (*cachedTemplate, error) {
	entry := c.kept(versionID)
	if entry == nil || len(entry.files) == 0 {
		return entry, nil
	}
	if current, err := c.current(ctx, versionID, entry.files); !current || err != nil {
		return nil, err
	}
	return entry, nil
}

func (c *templateCache) kept(versionID int64) *cachedTemplate {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[versionID]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(element)
	return element.Value.(*cachedTemplate)
}

// keep keeps what was learnt of a version, instead of what was known.
func (c *templateCache) keep(entry *cachedTemplate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.entries[entry.versionID]; ok {
		c.drop(known)
	}
	c.entries[entry.versionID] = c.recent.PushFront(entry)
	c.size += entry.size
	for c.size > c.limit {
		c.drop(c.recent.Back())
	}
}

func (c *templateCache) drop(element *list.Element) {
	old := c.recent.Remove(element).(*cachedTemplate)
	delete(c.entries, old.versionID)
	c.size -= old.size
}
