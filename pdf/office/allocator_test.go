package office_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"platen/pdf/office"
)

// Workers, and only workers, use jemalloc if it is installed.
func TestAllocator(t *testing.T) {
	installed := office.Allocator()
	if installed == "" {
		t.Skip("jemalloc is not installed: run make test-deps")
	}
	convertText(t, newOffice(t, office.Config{}), "somebody")
	pids, err := workersOf(os.Getpid())
	if err != nil || len(pids) != 1 {
		t.Fatalf("workers: %v, %v", pids, err)
	}
	for pid, want := range map[int]bool{pids[0]: true, os.Getpid(): false} {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(maps), "libjemalloc"); has != want {
			t.Errorf("process %d has %s: %t", pid, installed, has)
		}
	}
}
