package docgen

import (
	"errors"
	"time"

	"platen/blob"
	"platen/store"
)

// Callers are asked to wait for busyRetryAfter if the database is busy, and for fullRetryAfter if the disk is full.
const (
	busyRetryAfter = 5 * time.Second
	fullRetryAfter = time.Minute
)

// PublicError returns the Error to show for an error: the Error in its chain, or that for a full disk or a busy
// database. It returns nil for all other errors, which are internal. All code that reports or retries failures uses
// this function, so that a full disk has the same code on every route and in every job.
func PublicError(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	switch {
	case errors.Is(err, blob.ErrNoSpace), store.IsFull(err):
		return &Error{
			Code: CodeStorageFull, RetryAfter: fullRetryAfter,
			Message: "The server has no disk space left. Nothing was saved. Contact the operator of the server.",
		}
	case store.IsBusy(err):
		return &Error{
			Code: CodeUnavailable, RetryAfter: busyRetryAfter,
			Message: "The database is busy or cannot be reached. Nothing was changed. Send the request again later.",
		}
	}
	return nil
}

// Shortage is a resource that the server lacks temporarily. The document itself is not the reason, and can be generated later.
type Shortage string

// The shortages.
const (
	NoShortage       Shortage = ""
	ShortOfDiskSpace Shortage = "disk_space"
	ShortOfDatabase  Shortage = "database" // it is busy or cannot be reached
)

// Shortages are all shortages.
func Shortages() []Shortage { return []Shortage{ShortOfDiskSpace, ShortOfDatabase} }

// ShortageOf returns the shortage that caused an error, or NoShortage if the cause is something else, such as the quota
// of a user.
func ShortageOf(err error) Shortage {
	known := PublicError(err)
	switch {
	case errors.Is(err, store.ErrDisconnected):
		return ShortOfDatabase
	case known == nil || known.RetryAfter == 0:
		return NoShortage
	case known.Code == CodeStorageFull:
		return ShortOfDiskSpace
	case known.Code == CodeUnavailable:
		return ShortOfDatabase
	}
	return NoShortage
}

// IsCrash reports whether an error of the queue means only that servers crashed while they worked on a task.
func IsCrash(err error) bool { return errors.Is(err, store.ErrLost) }

// longestPause is the maximum time that documents wait before they are tried again.
const longestPause = time.Minute

// shortagePause returns how long documents wait after the given number of consecutive pauses because of a shortage.
func (s *Service) shortagePause(pauses int64) time.Duration {
	pause := s.firstPause
	for ; pauses > 0 && pause < longestPause; pauses-- {
		pause *= 2
	}
	return min(pause, longestPause)
}
