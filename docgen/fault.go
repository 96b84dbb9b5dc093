package docgen

import (
	"errors"
	"time"

	"platen/blob"
	"platen/store"
)

// busyRetryAfter is how long a caller is asked to wait when the database is busy; fullRetryAfter, when the disk is full.
const (
	busyRetryAfter = 5 * time.Second
	fullRetryAfter = time.Minute
)

// Known returns the Error to show for an error: the Error in its chain, or the one that stands for a full disk or a busy
// database. It returns nil for any other error, which is internal. All code that reports or retries failures asks this function,
// so that a full disk has the same code on every route and in every job.
func Known(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	switch {
	case errors.Is(err, blob.ErrNoSpace), store.IsFull(err):
		return &Error{
			Code: CodeStorageFull, RetryAfter: fullRetryAfter,
			Message: "The server has no disk space left. Nothing was saved. Tell the operator of the server.",
		}
	case store.IsBusy(err):
		return &Error{
			Code: CodeUnavailable, RetryAfter: busyRetryAfter,
			Message: "The database is busy or cannot be reached. Nothing was changed. Send the request again later.",
		}
	}
	return nil
}
