package generate

import (
	"container/list"
	"context"
	"crypto/sha256"
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

// inlineShare is the part of the cache that the inline templates of one user can take: one eighth.
const inlineShare = 8

// A templateUse is a template and its requester, who must be allowed to download the files that it includes. The template is a version of
// a stored one, or comes with a request.
type templateUse struct {
	versionID int64
	inline    *inlineTemplate // instead of a version
	requester docgen.Requester
}

// An inlineTemplate is a template that comes with a request.
type inlineTemplate struct {
	content []byte
	hash    [sha256.Size]byte
}

func newInlineTemplate(content []byte) *inlineTemplate {
	return &inlineTemplate{content: content, hash: sha256.Sum256(content)}
}

func (u templateUse) String() string {
	return fmt.Sprintf("%v/%d/%t", u.key(), u.requester.UserID, u.requester.GlobalContent)
}

// key identifies the template. An inline template belongs to its user: nobody can find out whether another user has it.
func (u templateUse) key() templateKey {
	if u.inline == nil {
		return templateKey{versionID: u.versionID}
	}
	return templateKey{userID: u.requester.UserID, hash: u.inline.hash}
}

// A templateKey identifies a template in the cache: the version of a stored one, or the user and the hash of an inline one.
type templateKey struct {
	versionID int64
	userID    int64 // 0 for a stored template
	hash      [sha256.Size]byte
}

// templateCache caches compiled templates, least recently used last. A version never changes, and neither does an inline template, so the
// result is cached too if it cannot be compiled, unless it includes files. Such a version is cached once for each set of files that it was
// compiled with, up to maxVariants. Every use checks with the permissions of its requester which variant applies, so that no one gets a
// file through the variant of another user. The inline templates of one user replace each other from a share of the cache on.
type templateCache struct {
	compile func(ctx context.Context, claimant fair.Claimant, of templateUse) (*docx.Template, inclusions, error)
	current func(ctx context.Context, of templateUse, files inclusions) (bool, error) // whether the files are unchanged
	limit   int64
	flights singleflight.Group // concurrent workers that need the same template compile it once

	mu      sync.Mutex
	size    int64
	inline  map[int64]int64                 // size of the inline templates of each user
	recent  *list.List                      // of *cachedTemplate, the most recently used first
	entries map[templateKey][]*list.Element // the variants of a template, the oldest first
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
	key      templateKey
	template *docx.Template
	files    inclusions
	broken   *templateError // instead of a template
	size     int64
}

// brokenSize is the accounted size of an invalid template.
const brokenSize = 4 << 10

func newTemplateCache(g *Generator, limit int64) *templateCache {
	if limit <= 0 {
		limit = defaultTemplateCache
	}
	return &templateCache{
		compile: g.compile, current: g.current, limit: limit, inline: map[int64]int64{}, recent: list.New(),
		entries: map[templateKey][]*list.Element{},
	}
}

// get returns a compiled template for a requester. It compiles the template on behalf of a claimant if
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
	entry := &cachedTemplate{key: of.key(), template: template, files: files, size: brokenSize}
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

// lookup returns the variant of a template that is valid for a requester, or nil.
func (c *templateCache) lookup(ctx context.Context, of templateUse) (*cachedTemplate, error) {
	for _, entry := range c.variants(of.key()) {
		if current, err := c.current(ctx, of, entry.files); err != nil {
			return nil, err
		} else if current {
			c.use(entry)
			return entry, nil
		}
	}
	return nil, nil
}

// variants returns the cached variants of a template, the newest first.
func (c *templateCache) variants(key templateKey) []*cachedTemplate {
	c.mu.Lock()
	defer c.mu.Unlock()
	var kept []*cachedTemplate
	for _, element := range slices.Backward(c.entries[key]) {
		kept = append(kept, element.Value.(*cachedTemplate))
	}
	return kept
}

// use marks an entry as used, if it is still cached.
func (c *templateCache) use(entry *cachedTemplate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, element := range c.entries[entry.key] {
		if element.Value == entry {
			c.recent.MoveToFront(element)
		}
	}
}

// keep caches the result for a template. It replaces a result for the same files.
func (c *templateCache) keep(entry *cachedTemplate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, element := range slices.Clone(c.entries[entry.key]) {
		if slices.Equal(element.Value.(*cachedTemplate).files, entry.files) {
			c.drop(element)
		}
	}
	if known := c.entries[entry.key]; len(known) == maxVariants {
		c.drop(known[0])
	}
	c.entries[entry.key] = append(c.entries[entry.key], c.recent.PushFront(entry))
	c.size += entry.size
	if user := entry.key.userID; user != 0 {
		c.inline[user] += entry.size
		c.limitInline(user)
	}
	for c.size > c.limit {
		c.drop(c.recent.Back())
	}
}

// limitInline drops the least recently used inline templates of a user that exceed the user's share.
func (c *templateCache) limitInline(user int64) {
	for element := c.recent.Back(); element != nil && c.inline[user] > c.limit/inlineShare; {
		next := element.Prev()
		if element.Value.(*cachedTemplate).key.userID == user {
			c.drop(element)
		}
		element = next
	}
}

func (c *templateCache) drop(element *list.Element) {
	old := c.recent.Remove(element).(*cachedTemplate)
	left := slices.DeleteFunc(slices.Clone(c.entries[old.key]), func(e *list.Element) bool { return e == element })
	if c.entries[old.key] = left; len(left) == 0 {
		delete(c.entries, old.key)
	}
	c.size -= old.size
	if user := old.key.userID; user != 0 {
		if c.inline[user] -= old.size; c.inline[user] == 0 {
			delete(c.inline, user)
		}
	}
}
