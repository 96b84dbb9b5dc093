// Package confine takes from a process what it needs not: it is for one that opens hostile documents with a large library
// in C++. What it takes cannot be had back, by no child either.
//
// A process first calls [Restart], which limits the files it may see and what it may use up, and begins the program anew
// under these limits; then, when it has loaded what it needs, [Isolate], which takes the network and other programs away.
package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// Bounds are what a process may use.
type Bounds struct {
	Read  []string // folders and files that it may read, and programs and libraries in them that it may run; some may not exist
	Write []string // folders it may change, and devices

	Memory   uint64 // private memory, in bytes
	FileSize uint64 // of a file that it writes, in bytes
	Require  bool   // whether a part of the sandbox that is missing is an error
	Nice     int    // how much less of the processor it gets than others, 0 to 19
}

// Restart bounds this process and executes the program anew, which starts with the bounds. It returns only if that fails.
//
// Landlock bounds the thread that asks for it and what that thread starts (https://docs.kernel.org/userspace-api/landlock.html),
// and Go has several threads before main: hence the new start.
func Restart(bounds Bounds, program string, args, env []string) error {
	runtime.LockOSThread()
	if err := bounds.set(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if err := restrictFiles(bounds); err != nil && (bounds.Require || !unsupported(err)) {
		return fmt.Errorf("restrict files: %w", err)
	}
	if err := unix.Exec(program, args, env); err != nil {
		return fmt.Errorf("execute %s: %w", program, err)
	}
	return nil
}

// set sets the limits that every kernel has.
func (b Bounds) set() error {
	for _, limit := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_DATA, b.Memory},
		{unix.RLIMIT_FSIZE, b.FileSize},
		{unix.RLIMIT_CORE, 0},
	} {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("set resource limit %d to %d: %w", limit.resource, limit.value, err)
		}
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, b.Nice); err != nil {
		return fmt.Errorf("set priority %d: %w", b.Nice, err)
	}
	// When memory runs out, this process is the one to end. Not every container lets it say so.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("be the first to end when memory runs out: %w", err)
	}
	return nil
}

// Isolate takes from this process, with all its threads, what a converter never needs: sockets, other programs, other
// processes and the kernel's rarer services. It reports false where the kernel has no filter for system calls.
func Isolate() (bool, error) {
	if !seccomp.Supported() {
		return false, nil
	}
	filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{{
			// No processes, only threads. What clone3 is asked for a filter cannot see; without it libc takes clone.
			Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"},
		}, {
			Action: seccomp.ActionErrno, NamesWithCondtions: []seccomp.NameWithConditions{{
				Name:       "clone",
				Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_THREAD}},
			}},
		}, {Action: seccomp.ActionErrno, Names: refused()}},
	}}
	if err := seccomp.LoadFilter(filter); err != nil {
		return false, fmt.Errorf("filter system calls: %w", err)
	}
	return true, nil
}

// refused are the system calls that get no permission, whatever they ask for.
func refused() []string {
	calls := []string{
		"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "sendmmsg",
		"execve", "execveat",
		"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_getfd", "kcmp",
		"mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_by_handle_at", "name_to_handle_at",
		"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
		"keyctl", "add_key", "request_key", "init_module", "finit_module", "kexec_load",
	}
	if runtime.GOARCH == "amd64" {
		calls = append(calls, "fork", "vfork") // older than clone, and only there
	}
	return calls
}
