package docx_test

import (
	"os/exec"
	"testing"
)

// otherPrograms returns how to run some programs that are not ours: it gives what they print. The test is skipped if one of them
// is not installed.
func otherPrograms(t *testing.T, names ...string) func(program string, args ...string) string {
	t.Helper()
	programs := map[string]string{}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed: it is not on the PATH", name)
		}
		programs[name] = path
	}
	return func(program string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), programs[program], args...).Output()
		if err != nil {
			t.Fatalf("%s: %v", program, err)
		}
		return string(out)
	}
}
