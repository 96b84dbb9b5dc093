package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
	"platen/docx/lang"
)

// The convention of the documentation: this test runs fenced blocks marked sh, unchanged. The blocks of a page run in
// order in one shell, in a folder with only examples/. Lines that begin with make do not run, but their targets must be
// in the Makefile. "platen serve" and "platen quickstart" return once the server responds, as if they had their own
// terminal. Blocks that must not run are marked text or console.
var documented = []string{
	"README.md", "docs/quickstart.md", "docs/cli.md", "docs/operations.md", "docs/templates.md", "docs/api.md", "docs/compatibility.md",
	"docs/performance.md", "docs/sharing.md", "docs/testing.md",
	"docs/authentication.md", "docs/webhooks.md", "docs/pdf.md", "docs/documents.md", "docs/mcp.md",
	"examples/invoice/README.md", "examples/letter/README.md", "examples/contract/README.md",
}

var (
	shellBlock   = regexp.MustCompile("(?ms)^```sh\n(.*?\n)```$")
	programBlock = regexp.MustCompile("(?ms)^```(python|javascript|go|java|php)\n(.*?\n)```$")
	makeLine     = regexp.MustCompile(`(?m)^make\b(.*)$`)
	makeWord     = regexp.MustCompile(`^[a-z-]+$`)
)

// documentationTime is the maximum time for the commands of a page. Some pages have many.
const documentationTime = 15 * time.Minute

// documentationAddress is the address of the servers in the documentation.
const documentationAddress = "127.0.0.1:8080"

// prologue makes commands return that would occupy the terminal, and ends the servers with the shell.
const prologue = `set -euo pipefail
servers=()
trap 'code=$?; for server in "${servers[@]}"; do kill "$server"; done; wait; exit $code' EXIT
platen() {
	if [[ $1 != @(serve|quickstart) || $* = *--@(once|help)* ]]; then command platen "$@"; return; fi
	if curl -so /dev/null "http://$ADDRESS/healthz"; then echo "something listens on $ADDRESS already" >&2; return 1; fi
	command platen "$@" &
	servers+=($!)
	until curl -sfo /dev/null "http://$ADDRESS/healthz"; do kill -0 "${servers[-1]}"; sleep 0.1; done
}
`

func TestDocumentedCommands(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq", "openssl", "soffice"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands of the documentation use %s, which is not installed", tool)
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range documented {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(root, page))
			if err != nil {
				t.Fatal(err)
			}
			script := ""
			for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
				script += block[1]
			}
			if page == "docs/documents.md" {
				script += programsOf(t, string(text))
			}
			for _, line := range makeLine.FindAllStringSubmatch(script, -1) {
				checkTargets(t, string(makefile), line[1])
			}
			runDocumented(t, root, makeLine.ReplaceAllString(script, ""))
		})
	}
}

// The first command in the README is one of those that TestDocumentedCommands runs.
func TestFirstCommandOfReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile("(?ms)^```console\n(.*?\n)```$").FindSubmatch(text)
	if first == nil {
		t.Fatal("the README does not begin with a command")
	}
	for _, block := range shellBlock.FindAllSubmatch(text, -1) {
		if bytes.Contains(block[1], first[1]) {
			return
		}
	}
	t.Errorf("no test runs this command:\n%s", first[1])
}

// runners are the commands that run the programs in docs/documents.md, by language.
var runners = map[string]struct{ command, file string }{
	"python": {"python3", "offer.py"}, "javascript": {"node", "offer.js"}, "go": {"go run", "offer.go"}, "java": {"java", "Offer.java"},
	"php": {"php", "offer.php"},
}

// programsOf returns commands that run the programs of a page in the languages that are installed. Each must store a PDF and say that it is
// complete.
func programsOf(t *testing.T, page string) string {
	t.Helper()
	var script strings.Builder
	for _, block := range programBlock.FindAllStringSubmatch(page, -1) {
		runner := runners[block[1]]
		tool, _, _ := strings.Cut(runner.command, " ")
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("the program in %s does not run: %s is not installed", block[1], tool)
			continue
		}
		fmt.Fprintf(&script, "rm -f Offer.pdf\ncat > %s <<'END OF PROGRAM'\n%sEND OF PROGRAM\n", runner.file, block[2])
		fmt.Fprintf(&script, "%s %s | grep -x completed\nhead -c 5 Offer.pdf | grep -q %%PDF-\n", runner.command, runner.file)
	}
	if script.Len() == 0 {
		t.Error("no program of the page runs")
	}
	return script.String()
}

// The language has every tag in docs/templates.md.
func TestDocumentedTags(t *testing.T) {
	page, err := os.ReadFile("../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	page = bytes.ReplaceAll(page, []byte("text between `{{` and `}}`"), nil)
	tags, _ := lang.Find(string(page))
	if len(tags) < 20 {
		t.Errorf("only %d tags are found", len(tags))
	}
	for _, span := range tags {
		if _, err := lang.ParseTag(string(page[span.Start:span.End])); err != nil {
			t.Errorf("%s: %v", page[span.Start:span.End], err)
		}
	}
	for _, call := range regexp.MustCompile("`(\\$[a-z]+)[`(]").FindAllStringSubmatch(string(page), -1) {
		if _, err := lang.ParseTag("{{" + call[1] + "(items)}}"); err != nil && strings.Contains(err.Error(), "there is no function") {
			t.Errorf("%s: %v", call[1], err)
		}
	}
}

var (
	triggerRow      = regexp.MustCompile("(?m)^\\| `([A-Z_.]+)` \\| (yes)? ?\\| \\w")
	silentTriggers  = regexp.MustCompile(`(?s)accepts these triggers, but never fires them(.*?)\n\n`)
	triggerInSilent = regexp.MustCompile("`([A-Z_.]+)`( \\(folders only\\))?")
)

// docs/webhooks.md lists every trigger, whether it fires, and its valid targets.
func TestDocumentedTriggers(t *testing.T) {
	page, err := os.ReadFile("../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	type rule struct{ files, fired bool }
	documented := map[docgen.Trigger]rule{}
	for _, row := range triggerRow.FindAllStringSubmatch(string(page), -1) {
		documented[docgen.Trigger(row[1])] = rule{files: row[2] != "", fired: true}
	}
	for _, silent := range triggerInSilent.FindAllStringSubmatch(silentTriggers.FindString(string(page)), -1) {
		documented[docgen.Trigger(silent[1])] = rule{files: silent[2] == ""}
	}
	rules := map[docgen.Trigger]rule{}
	for _, r := range docgen.Triggers() {
		rules[r.Trigger] = rule{r.Files, r.Fired}
	}
	if diff := cmp.Diff(rules, documented, cmp.AllowUnexported(rule{})); diff != "" {
		t.Errorf("the triggers, and those that are documented (+):\n%s", diff)
	}
}

// checkTargets checks that the arguments of make, up to a comment, are targets.
func checkTargets(t *testing.T, makefile, arguments string) {
	t.Helper()
	arguments, _, _ = strings.Cut(arguments, "#")
	for word := range strings.FieldsSeq(arguments) {
		if makeWord.MatchString(word) && !strings.Contains(makefile, "\n"+word+":") {
			t.Errorf("make %s: the Makefile has no target %s", arguments, word)
		}
	}
}

func runDocumented(t *testing.T, root, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	address := unusedAddress(t)
	ctx, cancel := context.WithTimeout(t.Context(), documentationTime)
	defer cancel()
	script = prologue + strings.ReplaceAll(script, documentationAddress, address)
	bash := exec.CommandContext(ctx, "bash", "-c", script)
	bash.Dir = dir
	bash.WaitDelay = 5 * time.Second
	bash.Env = append(os.Environ(), "ADDRESS="+address, "PLATEN_LISTEN="+address, "HOME="+dir)
	out, err := bash.CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s\nafter the commands:\n%s", err, out, script)
	}
	t.Logf("%s", out)
}

// unusedAddress returns an address of the loopback network that only this process uses. Otherwise, another process
// could take the port before a server of the test does.
func unusedAddress(t *testing.T) string {
	t.Helper()
	pid := os.Getpid()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+pid>>16&0x7f, pid>>8&0xff, pid&0xff))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
