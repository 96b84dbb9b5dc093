package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// limitMemory sets a hard limit on the memory of a process and returns the kind of limit. If the process needs more,
// the system kills it or denies it memory.
//
// The limit is a memory control group of version 2 if this process may create one. Otherwise it is RLIMIT_DATA, which
// counts private writable memory, used or not, including memory that the Go runtime has returned to the system while
// keeping its addresses. That limit is therefore larger by a quarter. Addresses that the runtime only reserves do not
// count.
func limitMemory(t *testing.T, pid int, bytes int64) string {
	t.Helper()
	if group, ok := memoryGroup(t, bytes); ok {
		if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("a control group of %d MiB", bytes>>20)
	}
	bytes += bytes / 4
	limit := unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)} //nolint:gosec // sizes are positive
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, &limit, nil); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("RLIMIT_DATA of %d MiB", bytes>>20)
}

// memoryGroup creates a control group next to that of this process, for the duration of the test. ok is false if this
// is not permitted.
func memoryGroup(t *testing.T, bytes int64) (group string, ok bool) {
	t.Helper()
	const root = "/sys/fs/cgroup"
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false
	}
	_, own, found := strings.Cut("\n"+string(text), "\n0::")
	own, _, _ = strings.Cut(own, "\n")
	beside := filepath.Join(root, filepath.Dir(own))
	controllers, err := os.ReadFile(filepath.Join(beside, "cgroup.subtree_control"))
	if !found || err != nil || !slices.Contains(strings.Fields(string(controllers)), "memory") {
		return "", false
	}
	if group, err = os.MkdirTemp(beside, "platen-test-*"); err != nil { //nolint:usetesting // a control group is no folder of files
		return "", false
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Errorf("remove the control group: %v", err)
		}
	})
	for name, value := range map[string]int64{"memory.max": bytes, "memory.swap.max": 0} {
		err := os.WriteFile(filepath.Join(group, name), []byte(strconv.FormatInt(value, 10)), 0)
		if err != nil && (name == "memory.max" || !os.IsNotExist(err)) { // without swap there is no limit of it
			return "", false
		}
	}
	return group, true
}

// memoryOf returns a value from /proc about the memory of a process, in bytes: VmHWM is its peak resident memory,
// VmData is what RLIMIT_DATA limits.
func memoryOf(t *testing.T, pid int, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), name+":")
	if !found {
		t.Fatalf("process %d has ended", pid)
	}
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
