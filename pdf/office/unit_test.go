package office_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
)

// unitFile is the systemd unit that Platen ships. Its system call filter applies to the server and its children.
const unitFile = "../../packaging/platen.service"

// filterSetting is the environment variable that makes TestUnderFilter the child process with the filter.
const filterSetting = "PLATEN_TEST_FILTER_WITHOUT"

// sandboxCalls are the system calls that set up the sandbox.
var sandboxCalls = []string{"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"}

// syscallGroups returns systemd's groups of system calls.
func syscallGroups(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/syscall-groups.txt")
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); strings.HasPrefix(line, "@") {
			groups[words[0]] = words[1:]
		}
	}
	return groups
}

// expand returns the system calls of one word of a filter: a group or a single call.
func expand(t *testing.T, groups map[string][]string, word string) []string {
	t.Helper()
	if !strings.HasPrefix(word, "@") {
		return []string{word}
	}
	members, known := groups[word]
	if !known {
		t.Fatalf("testdata/syscall-groups.txt lacks the group %s", word)
	}
	var calls []string
	for _, member := range members {
		calls = append(calls, expand(t, groups, member)...)
	}
	return calls
}

// unitFilter returns the system calls that the unit allows. Its settings apply in order, and those with ~ remove
// calls.
func unitFilter(t *testing.T) []string {
	t.Helper()
	file, err := os.Open(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	groups, allowed := syscallGroups(t), map[string]bool{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), "SystemCallFilter=")
		if !ok {
			continue
		}
		value, denied := strings.CutPrefix(value, "~")
		for word := range strings.FieldsSeq(value) {
			for _, call := range expand(t, groups, word) {
				allowed[call] = !denied
			}
		}
	}
	if err := lines.Err(); err != nil || len(allowed) < 200 {
		t.Fatalf("read %d system calls from %s: %v", len(allowed), unitFile, err)
	}
	var calls []string
	for call, is := range allowed {
		if is {
			calls = append(calls, call)
		}
	}
	return calls
}

// When memory runs out, the kernel kills a LibreOffice process first. systemd must then not stop the server.
func TestUnitOutlivesItsWorkers(t *testing.T) {
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(unit), "\nOOMPolicy=continue\n") {
		t.Errorf("%s lacks OOMPolicy=continue: systemd would stop the unit", unitFile)
	}
}

// loadFilter limits this process and its children to the given system calls, like systemd with
// SystemCallErrorNumber=EPERM.
func loadFilter(t *testing.T, calls []string) {
	t.Helper()
	machine, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	calls = slices.DeleteFunc(calls, func(call string) bool { // not on this architecture
		_, known := machine.SyscallNames[call]
		return !known
	})
	err = seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionErrno, // EPERM
		Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionAllow, Names: calls}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// underFilter runs TestUnderFilter in a process with the unit's filter, except for the given calls, and returns its
// output.
func underFilter(t *testing.T, without ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run=^TestUnderFilter$", "-test.v")
	child.Env = append(os.Environ(), filterSetting+"="+strings.Join(without, ","), "TMPDIR="+t.TempDir())
	said, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return string(said)
}

// TestUnderFilter is the child process: it converts a document and prints what its sandbox lacks.
func TestUnderFilter(t *testing.T) {
	without, isChild := os.LookupEnv(filterSetting)
	if !isChild {
		t.Skip("TestUnit and TestFilteredSandbox run it")
	}
	loadFilter(t, slices.DeleteFunc(unitFilter(t), func(call string) bool { return slices.Contains(strings.Split(without, ","), call) }))
	engine := newOffice(t, office.Config{})
	result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: pdftest.Letter("Amara Okafor")})
	if err != nil {
		t.Fatal(err)
	}
	missing := result.Maker.Missing
	fmt.Printf("worker lacks %d: %q\nserver lacks %d\n", len(missing), missing, len(office.MissingSandbox()))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, err = office.New(office.Config{Worker: self, Folder: t.TempDir(), RequireSandbox: true})
	if _, unconfined := errors.AsType[*office.UnconfinedError](err); unconfined != (len(missing) > 0) {
		t.Errorf("with a required sandbox: %v", err)
	}
}

// complete skips a test of the filter if LibreOffice is not installed, or if this machine has no complete sandbox
// even without the filter.
func complete(t *testing.T) {
	t.Helper()
	newOffice(t, office.Config{})
	if missing := office.MissingSandbox(); len(missing) > 0 {
		t.Skip("this machine has no sandbox:", missing)
	}
}

// TestUnit generates a PDF in a process with the filter of the systemd unit.
func TestUnit(t *testing.T) {
	complete(t)
	if said := underFilter(t); !strings.Contains(said, "worker lacks 0: []\nserver lacks 0\n") {
		t.Errorf("the sandbox is incomplete under the unit's filter:\n%s", said)
	}
}

// TestFilteredSandbox removes the sandbox like a filter of systemd or a container: the error names the cause, and
// PDFs are still generated, unless RequireSandbox is set.
func TestFilteredSandbox(t *testing.T) {
	complete(t)
	said := underFilter(t, sandboxCalls...)
	for _, want := range []string{
		"worker lacks 2: ", "server lacks 2\n",
		"blocks the system call seccomp, which seccomp needs", "blocks the system call landlock_create_ruleset, which Landlock needs",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the output lacks %q:\n%s", want, said)
		}
	}
}

// TestRequiredSandbox generates a PDF where the sandbox is required and complete.
func TestRequiredSandbox(t *testing.T) {
	complete(t)
	engine := newOffice(t, office.Config{RequireSandbox: true})
	_, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous("execute /bin/true")})
	if refused, ok := errors.AsType[*pdf.DocumentError](err); !ok || refused.Reason != "forbidden" {
		t.Errorf("started a program: %v", err)
	}
}
