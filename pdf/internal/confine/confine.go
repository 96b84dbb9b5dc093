// Package confine takes privileges from a process that opens untrusted documents with a large C++ library. The
// process and its children cannot regain them.
//
// A process that uses a library first calls [Restart], which limits the files and resources that it may use, and
// executes the program again under these limits. After it has loaded what it needs, it calls [Isolate], which blocks
// the network and other programs. A process that becomes another program calls [Execute], which does everything at
// once.
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
	Read  []string // files and folders that it may read, and execute; missing ones are ignored
	Write []string // folders that it may change, and devices

	Memory   uint64 // private memory, in bytes
	FileSize uint64 // maximum size of a file that it writes, in bytes
	CPU      uint64 // processor time, in seconds; 0 for no limit
	Files    uint64 // open files at once; 0 for no other limit than before
	Require  bool   // whether a missing part of the sandbox is an error
	Nice     int    // nice value, 0 to 19
}

// Restart sets the bounds and executes the program again, which starts with them. It returns only on error.
//
// Landlock restricts the calling thread and the threads and processes that it starts
// (https://docs.kernel.org/userspace-api/landlock.html). Go starts several threads before main, so the process must
// execute a program again.
func Restart(bounds Bounds, program string, args, env []string) error {
	if err := bounds.apply(); err != nil {
		return err
	}
	return execute(program, args, env)
}

// Execute sets the bounds, blocks the network and other processes, and executes a program, which starts with all of
// this. It returns only on error.
//
// The program can still execute others in its place, because a filter of system calls that permits the first call of
// execve permits later ones. It gains nothing: the bounds and the filter survive, set-user-ID programs get no
// privileges, and it cannot start processes next to itself.
func Execute(bounds Bounds, program string, args, env []string) error {
	if err := bounds.apply(); err != nil {
		return err
	}
	isolated, err := filter(unneeded())
	if err != nil {
		return err
	}
	if bounds.Require && !isolated {
		return errors.New("the kernel cannot filter system calls")
	}
	return execute(program, args, env)
}

// execute replaces the program of this process. The calling thread keeps its restrictions.
func execute(program string, args, env []string) error {
	if err := unix.Exec(program, args, env); err != nil {
		return fmt.Errorf("execute %s: %w", program, err)
	}
	return nil
}

// apply sets the bounds for this thread, which it locks the goroutine to, and for what the thread starts.
func (b Bounds) apply() error {
	runtime.LockOSThread()
	if err := b.set(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if err := restrictFiles(b); err != nil && (b.Require || !unsupported(err)) {
		return fmt.Errorf("restrict files: %w", err)
	}
	return nil
}

// set sets the resource limits and the priority, which every kernel supports.
func (b Bounds) set() error {
	type limit struct {
		resource int
		value    uint64
	}
	limits := []limit{
		{unix.RLIMIT_DATA, b.Memory},
		{unix.RLIMIT_FSIZE, b.FileSize},
		{unix.RLIMIT_CORE, 0},
	}
	if b.CPU > 0 {
		limits = append(limits, limit{unix.RLIMIT_CPU, b.CPU})
	}
	if b.Files > 0 {
		limits = append(limits, limit{unix.RLIMIT_NOFILE, b.Files})
	}
	for _, limit := range limits {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("set resource limit %d to %d: %w", limit.resource, limit.value, err)
		}
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, b.Nice); err != nil {
		return fmt.Errorf("set priority %d: %w", b.Nice, err)
	}
	// When memory runs out, the kernel must kill this process first. Some containers deny this setting.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil && !errors.Is(err, os.ErrPermission) &&
		!errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("set oom_score_adj: %w", err)
	}
	return nil
}

// Isolate denies all threads of this process what a converter never needs: sockets, other programs, other processes,
// and rarely used kernel services. It returns false if the kernel cannot filter system calls.
func Isolate() (bool, error) { return filter(append(unneeded(), "execve", "execveat")) }

// filter denies all threads the given system calls, and those that start processes.
func filter(calls []string) (bool, error) {
	if !seccomp.Supported() {
		return false, nil
	}
	filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{{
			// Allow threads but no processes. A filter cannot see the flags of clone3; if it fails, libc falls back
			// to clone.
			Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"},
		}, {
			Action: seccomp.ActionErrno, NamesWithCondtions: []seccomp.NameWithConditions{{
				Name:       "clone",
				Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_THREAD}},
			}},
		}, {Action: seccomp.ActionErrno, Names: calls}},
	}}
	if err := seccomp.LoadFilter(filter); err != nil {
		return false, fmt.Errorf("filter system calls: %w", err)
	}
	return true, nil
}

// unneeded returns the system calls that no confined process needs, with any arguments, except those that execute a program.
func unneeded() []string {
	calls := []string{
		"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "sendmmsg",
		"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_getfd", "kcmp",
		"mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_by_handle_at", "name_to_handle_at",
		"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
		"keyctl", "add_key", "request_key", "init_module", "finit_module", "kexec_load",
	}
	if runtime.GOARCH == "amd64" {
		calls = append(calls, "fork", "vfork") // superseded by clone, on amd64 only
	}
	return calls
}
