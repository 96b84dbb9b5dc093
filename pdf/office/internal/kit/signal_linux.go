package kit

import (
	"syscall"
	"unsafe"
)

// LibreOffice sets handlers for signals, which run on the stack of whatever thread gets the signal. Go needs its own
// (https://pkg.go.dev/os/signal, "Go programs that use cgo or SWIG"): its threads have small stacks, so a handler that
// does not ask for another one (SA_ONSTACK) writes over memory. Go's handlers also end a process with a report at once where
// LibreOffice's would first try to rescue the document that broke it.
//
// So Go's handlers are put back.

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

// restore makes the handlers those they were when they were read.
func (a *actions) restore() {
	for signal := 1; signal <= signals; signal++ {
		var now action
		sigaction(signal, nil, &now)
		if now != a[signal] {
			sigaction(signal, &a[signal], nil)
		}
	}
}

// sigaction reads or sets the handler of a signal. It cannot fail but for SIGKILL, SIGSTOP and signals that libc keeps for itself,
// whose handlers nobody changes.
func sigaction(signal int, set, get *action) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0) //nolint:errcheck // see above
}
