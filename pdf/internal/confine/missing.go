package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Missing returns the parts of the sandbox that this process and its children cannot have: one sentence each, with
// the cause. It is empty if the sandbox is complete.
func Missing() []string {
	var missing []string
	if err := networkFilter(); err != nil {
		missing = append(missing, fmt.Sprintf("it can reach the network and start programs: %s", cause(err, "seccomp", "seccomp", "Linux 3.17")))
	}
	if _, err := landlockVersion(); err != nil {
		missing = append(missing, fmt.Sprintf("it can read what this user can: %s", cause(err, "Landlock", "landlock_create_ruleset",
			"Linux 5.13")))
	}
	return missing
}

// networkFilter returns nil if system calls can be filtered, and the error otherwise.
func networkFilter() error {
	const strict, wrongFlag = unix.SECCOMP_SET_MODE_STRICT, 1 // invalid on purpose: EINVAL means that the call is allowed
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, strict, wrongFlag, 0); errno != unix.EINVAL {
		return errno
	}
	return nil
}

// cause explains why a protection is missing, based on the error of its system call.
func cause(err error, name, call, since string) string {
	switch {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		return fmt.Sprintf("systemd or the container blocks the system call %s, which %s needs. Allow it in "+
			"SystemCallFilter= of the unit, or in the seccomp profile of the container", call, name)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Sprintf("the kernel has %s, but it is disabled. Add it to the boot parameter lsm=", name)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Sprintf("the kernel lacks %s, or the container hides it. Use %s or later", name, since)
	}
	return fmt.Sprintf("%s does not work: %v", name, err)
}
