package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Missing returns what of the sandbox this process, and those that it starts, cannot have: a sentence each, with the cause. It is
// empty where the sandbox is complete.
func Missing() []string {
	var missing []string
	if err := networkFilter(); err != nil {
		missing = append(missing, fmt.Sprintf("it can reach the network and start programs: %s", cause(err, "seccomp", "seccomp", "Linux 3.17")))
	}
	if _, err := landlockVersion(); err != nil {
		missing = append(missing, fmt.Sprintf("it can read what this user can: %s", cause(err, "Landlock", "landlock_create_ruleset", "Linux 5.13")))
	}
	return missing
}

// networkFilter tells why system calls cannot be filtered; nil where they can.
func networkFilter() error {
	const strict, wrongFlag = unix.SECCOMP_SET_MODE_STRICT, 1 // refused as invalid by whoever gets as far as looking at it
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, strict, wrongFlag, 0); errno != unix.EINVAL {
		return errno
	}
	return nil
}

// cause says why a protection is not there, by the error of the system call that asks for it.
func cause(err error, name, call, since string) string {
	switch {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		return fmt.Sprintf("a filter of systemd or of the container forbids the system call %s, which %s needs. Allow it (SystemCallFilter= of the unit, "+
			"or the seccomp profile of the container)", call, name)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Sprintf("the kernel has %s and it is switched off. Add it to the boot parameter lsm=", name)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Sprintf("the kernel has no %s, or the container hides it. Run %s or later", name, since)
	}
	return fmt.Sprintf("%s does not work: %v", name, err)
}
