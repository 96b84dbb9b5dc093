package office

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"platen/pdf"
	"platen/pdf/office/internal/confine"
	"platen/pdf/office/internal/kit"
)

const (
	startTime   = 60 * time.Second // for a worker to be ready; a second usually suffices
	maxSaid     = 4 << 10          // of what a worker says of a document, what is kept for a report
	maxDocument = 1 << 30          // of a document that is made, in bytes
)

//go:embed first.docx
var firstDocument []byte

// process is a worker as the server sees it: one process with LibreOffice in it, that converts one document after the other.
type process struct {
	command   *exec.Cmd
	root      *os.Root // of the folder: what a worker puts there leads nowhere else
	orders    *os.File
	answers   *json.Decoder
	said      *words
	ended     chan struct{} // closed when the process was waited for
	state     *os.ProcessState
	documents int // that it has converted
	maker     pdf.Maker
}

// start starts a worker in its folder, which is made if it is not there, and waits until it is ready.
func (w *worker) start(ctx context.Context) (*process, error) {
	root, err := w.prepareFolder()
	if err != nil {
		return nil, err
	}
	p := &process{root: root, said: &words{}, ended: make(chan struct{})}
	if err := p.execute(ctx, w); err != nil {
		return nil, errors.Join(fmt.Errorf("start a LibreOffice worker: %w", err), root.Close())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("it was not ready after %v", startTime))
	defer cancel()
	ready, err := p.answer(ctx)
	if err == nil {
		p.maker = pdf.Maker{Version: versionOf(ready.Version), Missing: ready.Missing, Advice: advice()}
		err = p.warm(ctx)
	}
	if err != nil {
		err = fmt.Errorf("start a LibreOffice worker: %w%s", err, p.said.quoted())
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// warm has a document converted that is nobody's: LibreOffice loads most of itself with its first document, which takes several
// times as long as the next ones.
func (p *process) warm(ctx context.Context) error {
	options, err := filter(pdf.Options{Tagged: true, Bookmarks: true})
	if err != nil {
		return err
	}
	_, err = p.convert(ctx, firstDocument, options)
	p.documents = 0
	return err
}

// execute starts the process, with its ends of two pipes.
func (p *process) execute(ctx context.Context, w *worker) error {
	told, err := json.Marshal(instructions{Program: w.office.program, Folder: w.folder, Bounds: w.bounds()})
	if err != nil {
		return err
	}
	ordersRead, ordersWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ordersRead.Close()
	answersRead, answersWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, ordersWrite.Close())
	}
	defer answersWrite.Close()
	p.command = exec.CommandContext(context.WithoutCancel(ctx), w.office.cfg.Worker, WorkerCommand, string(told))
	p.command.Dir = w.folder
	p.command.Env = w.environment()
	p.command.Stdout, p.command.Stderr = p.said, p.said
	p.command.ExtraFiles = []*os.File{ordersRead, answersWrite} // become ordersFD and answersFD
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // killed with all that it has started
	if err := p.command.Start(); err != nil {
		return errors.Join(err, ordersWrite.Close(), answersRead.Close())
	}
	p.orders, p.answers = ordersWrite, json.NewDecoder(io.LimitReader(answersRead, 1<<30))
	go func() {
		defer close(p.ended)
		p.command.Wait() //nolint:errcheck // how it ended is in its state
		p.state = p.command.ProcessState
		answersRead.Close() //nolint:errcheck // nothing was written
	}()
	return nil
}

// environment is all that a worker's environment has.
func (w *worker) environment() []string {
	home := filepath.Join(w.folder, homeFolder)
	env := append(kit.Environment(), "HOME="+home, "TMPDIR="+home, "XDG_CACHE_HOME="+home, "LANG=C.UTF-8", "PATH=/usr/bin:/bin",
		"FONTCONFIG_FILE="+filepath.Join(w.folder, fontsFile))
	if zone := w.office.cfg.TimeZone; zone != "" {
		env = append(env, "TZ="+zone)
	}
	if allocator := Allocator(); allocator != "" {
		env = append(env, "LD_PRELOAD="+allocator)
	}
	return env
}

// bounds are what a worker may see and use. It must not see the files of the server: a document can ask to have a file
// put into it.
func (w *worker) bounds() confine.Bounds {
	cfg := w.office.cfg
	read := []string{
		cfg.Worker, filepath.Dir(w.office.program), // programs and libraries
		"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
		"/etc/libreoffice", "/var/lib/libreoffice", "/var/spool/libreoffice", // Debian has parts of it there
		"/etc/fonts", "/etc/localtime",
		"/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
	}
	if cfg.Fonts != "" {
		read = append(read, cfg.Fonts)
	}
	return confine.Bounds{
		Read:   read,
		Write:  []string{w.folder, "/dev/null", "/dev/urandom", "/dev/random", "/dev/zero"},
		Memory: uint64(cfg.MaxMemory) + uint64(cfg.MaxMemory)/2, FileSize: maxDocument, Nice: w.nice, Require: cfg.RequireSandbox,
	}
}

// convert has a document converted. An *[endedError] says that the process has ended instead, and the cause of ctx that it
// was ended; in both cases there is no process any more.
func (p *process) convert(ctx context.Context, document []byte, options string) (made []byte, err error) {
	p.said.forget()
	input, output := filepath.Join(documentsFolder, inputFile), filepath.Join(documentsFolder, outputFile)
	if err := p.root.WriteFile(input, document, 0o600); err != nil {
		return nil, p.give(fmt.Errorf("hand a document to LibreOffice: %w", err))
	}
	order, err := json.Marshal(order{Filter: options})
	if err != nil {
		return nil, err
	}
	// A pipe takes an order of this size without waiting; if nobody reads it any more, the answer tells.
	if _, err := p.orders.Write(order); err != nil && !errors.Is(err, syscall.EPIPE) {
		return nil, p.give(fmt.Errorf("hand a document to LibreOffice: %w", err))
	}
	answer, err := p.answer(ctx)
	if err != nil {
		return nil, err
	}
	p.documents++
	if answer.Error == "" {
		if made, err = readRegular(p.root, output); err != nil {
			return nil, p.give(fmt.Errorf("fetch the PDF from LibreOffice: %w", err))
		}
	}
	if err := p.clear(); err != nil {
		return nil, p.give(err)
	}
	if answer.Error != "" {
		return nil, &refusedError{answer.Error}
	}
	return made, nil
}

// give ends the process because of an error that is not the document's, which it returns.
func (p *process) give(err error) error {
	p.kill()
	return err
}

// clear removes all documents, and what LibreOffice has put beside them.
func (p *process) clear() error {
	return errors.Join(p.root.RemoveAll(documentsFolder), p.root.Mkdir(documentsFolder, 0o700))
}

// answer waits for the next answer of the worker. Where none comes, the process has ended, or is ended.
func (p *process) answer(ctx context.Context) (answer, error) {
	type result struct {
		answer answer
		err    error
	}
	got := make(chan result, 1)
	go func() {
		var r result
		r.err = p.answers.Decode(&r.answer)
		got <- r
	}()
	select {
	case r := <-got:
		if r.err != nil {
			<-p.kill()
			return answer{}, &endedError{p.state, p.said.String()}
		}
		return r.answer, nil
	case <-ctx.Done():
		<-p.kill()
		<-got
		return answer{}, context.Cause(ctx)
	}
}

// kill ends the process and all that it has started, at once. What it returns is closed when they have ended.
func (p *process) kill() <-chan struct{} {
	select {
	case <-p.ended:
	default:
		// It may have ended at this moment; the group's id is not used again before it was waited for.
		syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) //nolint:errcheck // then it is not there any more
	}
	return p.ended
}

// close ends the process and lets go of its folder.
func (p *process) close() error {
	<-p.kill()
	return errors.Join(p.orders.Close(), p.root.Close())
}

// resident is the memory that the process holds, in bytes.
func (p *process) resident() (int64, error) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm of a worker is %q", statm)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// refusedError is what LibreOffice said of a document that it could not convert.
type refusedError struct{ words string }

func (e *refusedError) Error() string { return e.words }

// room is the room, in bytes, that the disk must have for the words to be believed. A PDF that could not be written with as much
// room as the largest may take is larger than that.
func (e *refusedError) room() int64 {
	if strings.Contains(e.words, "Class:Write") {
		return maxDocument
	}
	return leastRoom
}

// endedError is a process that has ended while it worked.
type endedError struct {
	state *os.ProcessState
	said  string
}

func (e *endedError) Error() string { return "LibreOffice has ended: " + e.how() }

// how is how the process has ended: the signal that Go caught for it, such as "SIGSEGV: segmentation violation", or its state.
func (e *endedError) how() string {
	for line := range strings.Lines(e.said) {
		if strings.HasPrefix(line, "SIG") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return e.state.String()
}

// readRegular reads a file that must be one: neither a link nor a pipe that would never end.
func readRegular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxDocument {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("is %v with %d bytes", info.Mode(), info.Size())}
	}
	return root.ReadFile(name)
}

// fileURL is the URL of a file.
func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// words keeps the beginning of what a process says: a crash first says what it is.
type words struct {
	mu   sync.Mutex
	text []byte
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b[:min(len(b), maxSaid-len(w.text))]...)
	return len(b), nil
}

// forget makes room for what is said of the next document.
func (w *words) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = w.text[:0]
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(bytes.ToValidUTF8(w.text, []byte("?")))
}

// quoted is what was said, to be put behind an error.
func (w *words) quoted() string {
	if said := strings.TrimSpace(w.String()); said != "" {
		return "; it said: " + said
	}
	return ""
}
