package docgen

import "strconv"

// MaxOffset is the largest offset of a page; beyond it lists are paged by marker.
const MaxOffset = 300_000

// OffsetRequest asks for one page of a list by offset. ParseOffset makes one of what a request says.
type OffsetRequest struct {
	Offset int
	Limit  int
}

// OffsetPage is one page of a list by offset. The next page begins at Offset + Limit; there is none when that is not below
// Total.
type OffsetPage[T any] struct {
	Entries []T // fewer than Limit also where the caller may not see what stands at an offset
	Total   int // one more than the offset of the list's last item
	OffsetRequest
}

// ParseOffset reads the parameters of a page by offset as a request carries them, empty where absent: limit as
// ParsePage does, offset from 0 to MaxOffset.
func ParseOffset(limit, offset string) (OffsetRequest, error) {
	var r OffsetRequest
	var err error
	if r.Limit, err = parseLimit(limit); err != nil || offset == "" {
		return r, err
	}
	n, err := strconv.ParseUint(offset, 10, 64)
	if err != nil || n > MaxOffset {
		return r, &Error{Code: CodeInvalidOffset, Message: "Offset is not a valid number", Problems: []Problem{
			invalidField("offset", "offset must be a whole number from 0 to %d; beyond it, page by marker (usemarker=true)", MaxOffset),
		}}
	}
	r.Offset = int(n)
	return r, nil
}

// pageAt reads one page by offset of a list that has count items; read returns those of them from an offset on that the
// caller may see, at most limit.
func pageAt[T any](r OffsetRequest, count func() (int64, error), read func(limit, offset int32) ([]T, error)) (OffsetPage[T], error) {
	page := OffsetPage[T]{OffsetRequest: r}
	total, err := count()
	if err != nil {
		return page, err
	}
	page.Total = int(total)
	page.Entries, err = read(int32(r.Limit), int32(r.Offset))
	return page, err
}
