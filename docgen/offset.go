package docgen

import (
	"reflect"
	"strconv"
)

// MaxOffset is the maximum offset of a page. Beyond it, lists are paged by marker.
const MaxOffset = 300_000

// OffsetRequest requests one page of a list by offset. ParseOffset parses one.
type OffsetRequest struct {
	Offset int
	Limit  int
}

// OffsetPage is one page of a list by offset. The next page begins at Offset + Limit, if that is less than Total.
type OffsetPage[T any] struct {
	Entries []T // may be fewer than Limit if the caller may not see all entries
	Total   int // one more than the offset of the list's last item
	OffsetRequest
}

// ParseOffset parses the query parameters of a page by offset, empty if absent: limit as in ParsePage, and offset from
// 0 to MaxOffset.
func ParseOffset(limit, offset string) (OffsetRequest, error) {
	var r OffsetRequest
	var err error
	if r.Limit, err = parseLimit(limit); err != nil || offset == "" {
		return r, err
	}
	n, err := strconv.ParseUint(offset, 10, 64)
	if err != nil || n > MaxOffset {
		return r, &Error{Code: CodeInvalidOffset, Message: "Offset is not a valid number", Problems: []Problem{
			invalidField("offset", "offset must be an integer from 0 to %d; beyond that, page by marker (usemarker=true)", MaxOffset),
		}}
	}
	r.Offset = int(n)
	return r, nil
}

// pageAt reads one page by offset of a list with count items. read returns up to limit items from an offset, without those that the caller
// may not see. A page above MaxPageBytes is an Error: a shorter page would hide entries from clients that continue with the limit that they
// requested.
func pageAt[T any](c *Caller, r OffsetRequest, count func() (int64, error),
	read func(limit, offset int32) ([]T, error)) (OffsetPage[T], error) {
	page := OffsetPage[T]{OffsetRequest: r}
	total, err := count()
	if err != nil {
		return page, err
	}
	page.Total = int(total)
	if page.Entries, err = read(int32(r.Limit), int32(r.Offset)); err != nil {
		return page, err
	}
	bytes := 0
	for i := range page.Entries {
		bytes += weight(reflect.ValueOf(&page.Entries[i]).Elem())
	}
	if bytes > MaxPageBytes && len(page.Entries) > 1 {
		return OffsetPage[T]{}, &Error{Code: CodeInvalidLimit, Message: "The page is too large", Problems: []Problem{
			invalidField("limit", "the entries from offset %d exceed %d bytes in total; send a limit below %d", r.Offset, MaxPageBytes,
				len(page.Entries)),
		}}
	}
	var held pageRoom
	return page, held.add(c, bytes)
}
