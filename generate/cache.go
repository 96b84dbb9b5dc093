package generate

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"

	"platen/docgen"
	"platen/docx"
	"platen/fair"
)

// defaultTemplateCache is the default memory for compiled templates.
const defaultTemplateCache = 256 << 20

// A templateUse is a version of a template and its requester, who must be allowed to download the files that it includes.
type templateUse struct {
	versionID int64
	requester docgen.Requester
}

func (u templateUse) String() string {
	return fmt.Sprintf("%d/%d/%t", u.versionID, u.requester.UserID, u.requester.GlobalContent)
}

// templateCache caches compiled templates by version, least recently used last. A version never changes, so its result is cached too if
// it cannot be compiled, unless it includes files. Such a version is cached once for each set of files that it was compiled with, up to
// maxVariants. Every use checks with the permissions of its requester which variant applies, so that no one gets a file through the
// variant of another user.
type templateCache struct {
	compile func(ctx context.Context, claimant fair.Claimant, of templateUse) (*docx.Template, inclusions, error)
	current func(ctx context.Context, of templateUse, files inclusions) (bool, error) // whether the files are unchanged
	limit   int64
	flights singleflight.Group // concurrent workers that need the same template compile it once

	mu      sync.Mutex
	size    int64
	recent  *list.List                // of *cachedTemplate, the most recently used first
	entries map[int64][]*list.Element // the variants of a version, the oldest first
}

// maxVariants is the maximum number of cached variants of a version.
const maxVariants = 4

// inclusions are the files that a template includes, without duplicates, in the order of the requests.
type inclusions []docgen.Inclusion

// add adds a file.
func (in *inclusions) add(name string, versionID int64) {
	if !slices.ContainsFunc(*in, func(known docgen.Inclusion) bool { return known.Name == name }) {
		*in = append(*in, docgen.Inclusion{Name: name, VersionID: versionID})
	}
}

type cachedTemplate struct {
	versionID int64
	template  *docx.Template
	files     inclusions
	broken    *templateError // instead of a template
	size      int64
}

// brokenSize is the accounted size of an invalid template.
const brokenSize = 4 << 10

func newTemplateCache(g *Generator, limit int64) *templateCache {
	if limit <= 0 {
		limit = defaultTemplateCache
	}
	return &templateCache{compile: g.compile, current: g.current, limit: limit, recent: list.New(), entries: map[int64][]*list.Element{}}
}

// get returns the compiled template of a version for a requester. It compiles the template on behalf of a claimant if
// necessary. If that fails, the entry says why.
func (c *templateCache) get(ctx context.Context, claimant fair.Claimant, of templateUse) (*cachedTemplate, error) {
	if entry, err := c.lookup(ctx, of); entry != nil || err != nil {
		return entry, err
	}
	flight := c.flights.DoChan(of.String(), func() (any, error) {
		return c.load(context.WithoutCancel(ctx), claimant, of) // other callers may wait for it
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case done := <-flight:
		if done.Err != nil {
			return nil, done.Err
		}
		return done.Val.(*cachedTemplate), nil
	}
}

func (c *templateCache) load(ctx context.Context, claimant fair.Claimant, of templateUse) (*cachedTemplate, error) {
	if entry, err := c.lookup(ctx, of); entry != nil || err != nil { // another flight has finished since
		return entry, err
	}
	template, files, err := c.compile(ctx, claimant, of)
	entry := &cachedTemplate{versionID: of.versionID, template: template, files: files, size: brokenSize}
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

// lookup returns the variant of a version that is valid for a requester, or nil.
func (c *templateCache) lookup(ctx context.Context, of templateUse) (*cachedTemplate, error) {
	for _, entry := range c.variants(of.versionID) {
		if current, err := c.current(ctx, of, entry.files); err != nil {
			return nil, err
		} else if current {
			c.use(entry)
			return entry, nil
		}
	}
	return nil, nil
}

// variants returns the cached variants of a version, the newest first.
func (c *templateCache) variants(versionID int64) []*cachedTemplate {
	c.mu.Lock()
	defer c.mu.Unlock()
	var kept []*cachedTemplate
	for _, element := range slices.Backward(c.entries[versionID]) {
		kept = append(kept, element.Value.(*cachedTemplate))
	}
	return kept
}

// use marks an entry as used, if it is still cached.
func (c *templateCache) use(entry *cachedTemplate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, element := range c.entries[entry.versionID] {
		if element.Value == entry {
			c.recent.MoveToFront(element)
		}
	}
}

// keep caches the result for a version. It replaces a result for the same files.
func (c *templateCache) keep(entry *cachedTemplate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, element := range slices.Clone(c.entries[entry.versionID]) {
		if slices.Equal(element.Value.(*cachedTemplate).files, entry.files) {
			c.drop(element)
		}
	}
	if known := c.entries[entry.versionID]; len(known) == maxVariants {
		c.drop(known[0])
	}
	c.entries[entry.versionID] = append(c.entries[entry.versionID], c.recent.PushFront(entry))
	c.size += entry.size
	for c.size > c.limit {
		c.drop(c.recent.Back())
	}
}

func (c *templateCache) drop(element *list.Element) {
	old := c.recent.Remove(element).(*cachedTemplate)
	left := slices.DeleteFunc(slices.Clone(c.entries[old.versionID]), func(e *list.Element) bool { return e == element })
	if c.entries[old.versionID] = left; len(left) == 0 {
		delete(c.entries, old.versionID)
	}
	c.size -= old.size
}
