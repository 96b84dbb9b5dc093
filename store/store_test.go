package store_test

import (
	"fmt"
	"os"
	"testing"

	"platen/store/storetest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimPath); path != "" {
		fmt.Fprintln(os.Stderr, victim(path))
		os.Exit(1)
	}
	storetest.Main(m)
}
