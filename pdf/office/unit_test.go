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

// unitFile is the systemd unit that is shipped. Its filter of system calls holds for the server and for all that it starts.
const unitFile = "../../packaging/platen.service"

// filterSetting is the environment variable by which TestUnderFilter is told to be the child that has the filter.
const filterSetting = "PLATEN_TEST_FILTER_WITHOUT"

// sandboxCalls are the system calls that make the sandbox.
var sandboxCalls = []string{"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"}

// syscallGroups reads what systemd has in its groups.
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

// expand returns the system calls of a word of a filter: those of a group, or the one that it names.
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

// unitFilter returns the system calls that the unit allows: its settings count in order, and those with ~ take away.
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
		t.Fatalf("%d system calls are read from %s: %v", len(allowed), unitFile, err)
	}
	var calls []string
	for call, is := range allowed {
		if is {
			calls = append(calls, call)
		}
	}
	return calls
}

// The kernel ends a process of LibreOffice first when memory runs out. systemd must not stop the server for it.
func TestUnitOutlivesItsWorkers(t *testing.T) {
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(unit), "\nOOMPolicy=continue\n") {
		t.Errorf("%s lacks OOMPolicy=continue: systemd would stop the unit", unitFile)
	}
}

// loadFilter has this process and its children make no system calls but some, as systemd does with SystemCallErrorNumber=EPERM.
func loadFilter(t *testing.T, calls []string) {
	t.Helper()
	machine, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	calls = slices.DeleteFunc(calls, func(call string) bool { // those of other machines
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

// underFilter runs TestUnderFilter in a process that has the filter of the unit without some of its calls, and returns what it says.
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

// TestUnderFilter is the child: it converts a document and says what its sandbox lacks.
func TestUnderFilter(t *testing.T) {
	without, isChild := os.LookupEnv(filterSetting)
	if !isChild {
		t.Skip("TestUnit and TestFilteredSandbox run it")
	}
	loadFilter(t, slices.DeleteFunc(unitFilter(t), func(call string) bool { return slices.Contains(strings.Split(without, ","), call) }))
	engine := newOffice(t, office.Config{})
	result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: pdftest.Letter("made under the filter")})
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
		t.Errorf("with the sandbox required: %v", err)
	}
}

// complete skips a test of the filter where there is no LibreOffice, or where this machine has no sandbox even without it.
func complete(t *testing.T) {
	t.Helper()
	newOffice(t, office.Config{})
	if missing := office.MissingSandbox(); len(missing) > 0 {
		t.Skip("this machine has no sandbox:", missing)
	}
}

// TestUnit makes a PDF in a process that has the filter of the systemd unit.
func TestUnit(t *testing.T) {
	complete(t)
	if said := underFilter(t); !strings.Contains(said, "worker lacks 0: []\nserver lacks 0\n") {
		t.Errorf("under the unit's filter the sandbox is incomplete:\n%s", said)
	}
}

// TestFilteredSandbox takes the sandbox away as a filter of systemd or of a container does: the cause is named, PDFs are made as
// far as that is enough, and with RequireSandbox none are.
func TestFilteredSandbox(t *testing.T) {
	complete(t)
	said := underFilter(t, sandboxCalls...)
	for _, want := range []string{
		"worker lacks 2: ", "server lacks 2\n",
		"forbids the system call seccomp, which seccomp needs", "forbids the system call landlock_create_ruleset, which Landlock needs",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

// TestRequiredSandbox makes a PDF where the sandbox is required and complete.
func TestRequiredSandbox(t *testing.T) {
	complete(t)
	engine := newOffice(t, office.Config{RequireSandbox: true})
	_, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous("execute /bin/true")})
	if refused, ok := errors.AsType[*pdf.DocumentError](err); !ok || refused.Reason != "forbidden" {
		t.Errorf("a program was started: %v", err)
	}
}
