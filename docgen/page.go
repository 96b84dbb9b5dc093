package docgen

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// Limits of pages.
const (
	DefaultPageLimit = 100
	MaxPageLimit     = 1000
	// MaxPageBytes is the approximate limit of a page, in bytes of JSON. A page that would be larger has fewer entries than requested, but
	// at least one, and the marker of the next page. One portion of entries may exceed the limit.
	MaxPageBytes = 8 << 20

	pagePortion    = 50        // entries read from the database at once
	maxPageLookups = 5_000     // rows that are looked up to show the entries of a page, besides their own
	freePageBytes  = 512 << 10 // bytes of a page that need no memory request
	pageCost       = 2         // memory of a page, as a multiple of its bytes
)

// PageRequest requests one page of a list by marker. ParsePage parses one.
type PageRequest struct {
	Limit  int    // 0 means DefaultPageLimit
	Marker string // a Next or Prev of an earlier Page; empty for the first page
}

// Page is one page of a list, in the list's order.
type Page[T any] struct {
	Entries []T
	Limit   int    // the limit used
	Next    string // marker of the next page; empty if this is the last page
	Prev    string // marker of the previous page; empty if this is the first page
}

// ParsePage parses the query parameters of a page by marker. An absent limit is empty, and a marker that is empty or 0
// means the first page. A limit above MaxPageLimit is reduced to MaxPageLimit.
func ParsePage(limit, marker string) (PageRequest, error) {
	n, err := parseLimit(limit)
	if marker == "0" {
		marker = ""
	}
	return PageRequest{Limit: n, Marker: marker}, err
}

func parseLimit(text string) (int, error) {
	if text == "" {
		return DefaultPageLimit, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && !isRange(text) || n == 0 {
		return 0, &Error{Code: CodeInvalidLimit, Message: "Limit is not a valid number", Problems: []Problem{
			invalidField("limit", "limit must be a positive integer; values above %d count as %d", MaxPageLimit, MaxPageLimit),
		}}
	}
	return int(min(n, MaxPageLimit)), nil
}

// isRange reports whether a text is a number that does not fit into 64 bits.
func isRange(text string) bool {
	return !slices.ContainsFunc([]byte(text), func(b byte) bool { return b < '0' || b > '9' })
}

// list is a list that is paged by marker. It has one order, given by one or more increasing numbers of each entry.
type list[T any] struct {
	name   string                                       // the list and its arguments: a marker is valid only for these
	keys   int                                          // the number of numbers in a place
	key    func(T) []int64                              // the position of an entry; no number is negative
	after  func(from []int64, limit int32) ([]T, error) // the entries after a position
	before func(from []int64, limit int32) ([]T, error) // the entries before a position, nearest first

	portion int // entries read from the database at once; 0 for pagePortion

	lookups func(T) int // number of additional rows that are read to show an entry; nil for none
}

// page reads one page of a list for a caller. A marker is the place of an entry and not a count, so that entries that are added or deleted
// between two pages neither repeat nor hide others.
func page[T any](s *Service, c *Caller, r PageRequest, l list[T]) (Page[T], error) {
	binding := l.name + "/" + strconv.FormatInt(c.User.ID, 10)
	from, err := s.parseMarker(r.Marker, binding, l.keys)
	if err != nil {
		return Page[T]{}, err
	}
	p := Page[T]{Limit: positive(min(r.Limit, MaxPageLimit), DefaultPageLimit)}
	read := l.after
	if from.backward {
		read = l.before
	}
	var more bool
	if p.Entries, more, err = l.read(c, read, from.key, p.Limit); err != nil {
		return p, err
	}
	if from.backward {
		slices.Reverse(p.Entries)
	}
	first, last := from.edges()
	if n := len(p.Entries); n > 0 {
		first, last = l.key(p.Entries[0]), l.key(p.Entries[n-1])
	}
	if more || from.backward {
		p.Next = s.marker(position{key: last}, binding)
	}
	if more && from.backward || !from.backward && r.Marker != "" {
		p.Prev = s.marker(position{key: first, backward: true}, binding)
	}
	return p, nil
}

// read reads entries from a place on, in portions, within limit, MaxPageBytes, and maxPageLookups. more reports whether others follow.
func (l list[T]) read(c *Caller, read func(from []int64, limit int32) ([]T, error), from []int64,
	limit int) (entries []T, more bool, err error) {
	entries = []T{}
	var held pageRoom
	for bytes, lookups := 0, 0; ; {
		want := min(cmp.Or(l.portion, pagePortion), limit-len(entries)) + 1 // one more, to see whether others follow
		portion, err := read(from, int32(want))
		if err != nil {
			return nil, false, err
		}
		more = len(portion) == want
		portion = portion[:min(len(portion), want-1)]
		for i := range portion {
			bytes += weight(reflect.ValueOf(&portion[i]).Elem())
			if l.lookups != nil {
				lookups += l.lookups(portion[i])
			}
			if (bytes > MaxPageBytes || lookups > maxPageLookups) && len(entries) > 0 {
				return entries, true, nil
			}
			entries = append(entries, portion[i])
		}
		if err := held.add(c, bytes); err != nil {
			return nil, false, err
		}
		if !more || len(entries) == limit {
			return entries, more, nil
		}
		from = l.key(entries[len(entries)-1])
	}
}

// pageRoom is the number of bytes that are reserved for a page of a caller.
type pageRoom int

// add requests memory for a page that now has the given number of bytes. The first freePageBytes are free.
func (r *pageRoom) add(c *Caller, bytes int) error {
	over := bytes - max(int(*r), freePageBytes)
	if over <= 0 {
		return nil
	}
	*r = pageRoom(bytes)
	return c.room(pageCost * over)
}

// entryBytes is the weight of an entry without its texts: names of fields, numbers, punctuation.
const entryBytes = 500

// weight returns the approximate size of an entry in bytes of JSON: the escaped size of all its texts.
func weight(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		n = escapedSize(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = weight(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return len(time.RFC3339)
		}
		n = entryBytes
		for _, field := range v.Fields() {
			n += weight(field)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		for i := range v.Len() {
			n += 4 + weight(v.Index(i))
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			n += 8 + weight(entry.Key()) + weight(entry.Value())
		}
	default:
		n = 8
	}
	return n
}

// escapedSize returns the size of a text in JSON.
func escapedSize(text string) int {
	n := len(text)
	for _, b := range []byte(text) {
		switch {
		case b < ' ':
			n += len(`\u0000`) - 1
		case b == '"' || b == '\\':
			n++
		}
	}
	return n
}

// position is the meaning of a marker: a place, and the side on which the page is.
type position struct {
	backward bool
	key      []int64
}

// edges returns the positions between which an empty page lies. The pages around it begin there.
func (p position) edges() (first, last []int64) {
	next := slices.Clone(p.key)
	if p.backward {
		next[len(next)-1]--
		return p.key, next
	}
	next[len(next)-1]++
	return next, p.key
}

// A marker is the base64 form of a version, a direction, the numbers of a place, and a digest of these, the list, and the caller with a
// secret key. Markers that were cut, changed, invented, or taken from another list are rejected.
const (
	markerVersion = 1
	digestSize    = 16
)

func (s *Service) marker(p position, binding string) string {
	b := []byte{markerVersion, 0}
	if p.backward {
		b[1] = 1
	}
	for _, n := range p.key {
		b = binary.AppendVarint(b, n)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, s.digest(b, binding)...))
}

func (s *Service) digest(b []byte, binding string) []byte {
	mac := hmac.New(sha256.New, s.markerKey)
	mac.Write(b)
	mac.Write([]byte(binding))
	return mac.Sum(nil)[:digestSize]
}

func (s *Service) parseMarker(marker, binding string, keys int) (position, error) {
	p := position{key: make([]int64, keys)}
	if marker == "" {
		return p, nil
	}
	bad := Invalid(invalidField("marker", "the marker does not belong to this list; start again without a marker"))
	b, err := base64.RawURLEncoding.DecodeString(marker)
	if err != nil || len(b) < 2+digestSize {
		return p, bad
	}
	p.backward = b[1] == 1
	b = b[2 : len(b)-digestSize]
	for i := range p.key {
		n, size := binary.Varint(b)
		if size <= 0 {
			return p, bad
		}
		p.key[i], b = n, b[size:]
	}
	// The whole text is compared, because decoding ignores line ends and spare bits.
	if !hmac.Equal([]byte(marker), []byte(s.marker(p, binding))) {
		return p, bad
	}
	return p, nil
}
