package kit

import (
	"syscall"
	"unsafe"
)

// LibreOffice installs signal handlers that run on the stack of whatever thread receives the signal. Go requires its
// own (https://pkg.go.dev/os/signal, "Go programs that use cgo or SWIG"): its threads have small stacks, so a handler
// without SA_ONSTACK overwrites memory. Also, Go's handlers end the process at once with a report, while
// LibreOffice's would first try to recover the document that caused the crash.
//
// So this file restores Go's handlers.

// action is struct kernel_sigaction of x86-64 and arm64 (the kernel's, not libc's).
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const signals = 64

type actions [signals + 1]action

func signalHandlers() *actions {
	var all actions
	for signal := 1; signal <= signals; signal++ {
		sigaction(signal, nil, &all[signal])
	}
	return &all
}

// restore sets the handlers that were active when they were saved.
func (a *actions) restore() {
	for signal := 1; signal <= signals; signal++ {
		var now action
		sigaction(signal, nil, &now)
		if now != a[signal] {
			sigaction(signal, &a[signal], nil)
		}
	}
}

// sigaction reads or sets the handler of a signal. It fails only for SIGKILL, SIGSTOP, and the signals that libc
// reserves, whose handlers never change.
func sigaction(signal int, set, get *action) {
	//nolint:errcheck // see above
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0)
}
