//go:build !linux

package blob

import (
	"errors"
	"os"
)

func openUnnamed(*os.Root, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(_, _ *os.File, _ string) error { return errors.ErrUnsupported }

func beginFlush(*os.File, int64, int64) error { return nil }

func awaitFlush(*os.File, int64, int64) error { return nil }
