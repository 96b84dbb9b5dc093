package cli

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"platen/client"
	"platen/generate"
	"platen/store/storetest"
)

// patience is how long a test waits for an event that must occur.
const patience = 10 * time.Minute

// TestMain lets the test binary act as the program platen: every test has a copy of it in the PATH under that name, and
// it is also its own worker.
func TestMain(m *testing.M) {
	generate.Worker(os.Args)
	workAsEngine()
	testscript.Main(suite{m}, map[string]func(){"platen": Main})
}

type suite struct{ *testing.M }

func (s suite) Run() int {
	code := s.M.Run()
	if err := storetest.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// child is a server in a separate process.
type child struct {
	url    string
	cmd    *exec.Cmd
	ended  chan struct{} // closed when it has ended and its complete log is in log
	mu     sync.Mutex
	log    bytes.Buffer
	result error
}

// startServer runs platen serve on a free port until it listens. The caller stops it.
func startServer(ctx context.Context, dir string, env []string, args ...string) (*child, error) {
	c := &child{ended: make(chan struct{})}
	args = append([]string{"serve", "--listen=127.0.0.1:0", "--log-format=json"}, args...)
	c.cmd = exec.CommandContext(ctx, "platen", args...)
	c.cmd.Dir, c.cmd.Env = dir, env
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	go c.follow(stderr, listening)
	select {
	case c.url = <-listening:
		return c, nil
	case <-c.ended:
		return nil, fmt.Errorf("the server ended (%w):\n%s", c.result, c.logged())
	case <-time.After(patience):
		return nil, errors.Join(errors.New("the server does not listen"), c.kill())
	}
}

// follow reads the log to its end.
func (c *child) follow(stderr io.Reader, listening chan<- string) {
	defer close(c.ended)
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadBytes('\n')
		c.mu.Lock()
		c.log.Write(line)
		c.mu.Unlock()
		var entry struct{ Msg, URL string }
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
			listening <- entry.URL
		}
		if err != nil {
			break
		}
	}
	c.result = c.cmd.Wait()
}

func (c *child) logged() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// stop signals the server to stop, and waits until it has. It must exit without an error.
func (c *child) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-c.ended:
	case <-time.After(patience):
		return errors.Join(errors.New("the server does not stop"), c.kill())
	}
	if c.result != nil {
		return fmt.Errorf("the server ended with %w:\n%s", c.result, c.logged())
	}
	return nil
}

// kill ends the server as a power failure would.
func (c *child) kill() error {
	err := c.cmd.Process.Kill()
	<-c.ended
	return err
}

// newServer runs a server for a test, with a data folder and optional additional arguments.
func newServer(t *testing.T, data string, args ...string) *child {
	t.Helper()
	return runServer(t, append(args, "--data="+data)...)
}

// runServer runs a server for a test, on the data that its arguments select.
func runServer(t *testing.T, args ...string) *child {
	t.Helper()
	c, err := startServer(context.WithoutCancel(t.Context()), t.TempDir(), os.Environ(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-c.ended: // the test has stopped it
			return
		default:
		}
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// platen runs a command that must succeed, and returns its output.
func platen(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "platen", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("platen %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// TestScripts runs the scripts in testdata/script, which test the promises of the commands.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			return os.Symlink(filepath.Join(root, "examples"), filepath.Join(env.WorkDir, "examples"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": scriptServe,
			"exits": scriptExits,
			"get":   scriptGet,
			"count": scriptCount,
			"docx":  scriptDocx,
			"load":  scriptLoad,
		},
	})
}

// scriptServe starts a server, and stops it after the script: serve [ARGUMENT...]. Its address is $URL.
func scriptServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [ARGUMENT...]")
	}
	env := append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	c, err := startServer(context.Background(), ts.MkAbs("."), env, args...)
	ts.Check(err)
	ts.Setenv("URL", c.url)
	ts.Defer(func() { ts.Check(c.stop()) })
}

// scriptExits runs a program that must end with an exit code: exits CODE PROGRAM [ARGUMENT...].
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// scriptGet sends a request to $URL with the token in a file: get STATUS TOKENFILE PATH. It writes the response to the
// file body.
func scriptGet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: get STATUS TOKENFILE PATH")
	}
	request, err := http.NewRequest(http.MethodGet, ts.Getenv("URL")+args[2], http.NoBody)
	ts.Check(err)
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(args[1])))
	request.Header.Set("svc-version", client.Version)
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("body"), body, 0o600))
	if strconv.Itoa(response.StatusCode) != args[0] {
		ts.Fatalf("GET %s: status %d, want %s:\n%s", args[2], response.StatusCode, args[0], body)
	}
}

// scriptLoad sets an environment variable to the text of a file: load NAME FILE.
func scriptLoad(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: load NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// scriptCount counts the files that match a pattern: count N PATTERN.
func scriptCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: count N PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if strconv.Itoa(len(found)) != args[0] {
		ts.Fatalf("%d files match %s, want %s", len(found), args[1], args[0])
	}
}

// scriptDocx creates a Word document with a paragraph for each line of a text, or the line itself if it is XML: docx FILE TEXT.
func scriptDocx(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: docx FILE TEXT")
	}
	const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	var body strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.HasPrefix(line, "<w:") {
			body.WriteString(line)
			continue
		}
		body.WriteString(`<w:p><w:r><w:t xml:space="preserve">`)
		ts.Check(xml.EscapeText(&body, []byte(strings.TrimSpace(line))))
		body.WriteString(`</w:t></w:r></w:p>`)
	}
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
			body.String() + `</w:body></w:document>`},
	} {
		w, err := archive.Create(part[0])
		ts.Check(err)
		_, err = io.WriteString(w, head+part[1])
		ts.Check(err)
	}
	ts.Check(archive.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), file.Bytes(), 0o600))
}
