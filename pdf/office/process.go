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
	"platen/pdf/internal/confine"
	"platen/pdf/office/internal/kit"
)

const (
	startTime   = 60 * time.Second // for a worker to become ready; usually takes a second
	maxSaid     = 4 << 10          // bytes of a worker's output that are kept for a report
	maxDocument = 1 << 30          // of a generated PDF, in bytes
)

//go:embed first.docx
var firstDocument []byte

// process is the server's side of a worker process, which runs LibreOffice and converts one document at a time.
type process struct {
	command   *exec.Cmd
	root      *os.Root // the worker's folder; symbolic links cannot lead out of it
	orders    *os.File
	answers   *json.Decoder
	said      *words
	ended     chan struct{} // closed after the process has exited
	state     *os.ProcessState
	documents int // number converted
	maker     pdf.Maker
}

// start starts a worker process in its folder, which it creates if needed, and waits until it is ready.
func (w *worker) start(ctx context.Context) (*process, error) {
	root, err := w.prepareFolder()
	if err != nil {
		return nil, err
	}
	p := &process{root: root, said: &words{}, ended: make(chan struct{})}
	if err := p.execute(ctx, w); err != nil {
		return nil, errors.Join(fmt.Errorf("start a LibreOffice worker: %w", err), root.Close())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("not ready after %v", startTime))
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

// warm converts a small document. LibreOffice loads most of its code with the first document, which takes several
// times as long as later ones.
func (p *process) warm(ctx context.Context) error {
	options, err := filter(pdf.Options{Tagged: true, Bookmarks: true})
	if err != nil {
		return err
	}
	_, err = p.convert(ctx, firstDocument, options)
	p.documents = 0
	return err
}

// execute starts the process, connected by two pipes.
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
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that kill also reaches its children
	if err := p.command.Start(); err != nil {
		return errors.Join(err, ordersWrite.Close(), answersRead.Close())
	}
	p.orders, p.answers = ordersWrite, json.NewDecoder(io.LimitReader(answersRead, 1<<30))
	go func() {
		defer close(p.ended)
		p.command.Wait() //nolint:errcheck // p.state has the result
		p.state = p.command.ProcessState
		answersRead.Close() //nolint:errcheck // read only
	}()
	return nil
}

// environment returns the complete environment of a worker.
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

// bounds returns the sandbox of a worker. It must hide the server's files, because a document can include files by
// name.
func (w *worker) bounds() confine.Bounds {
	cfg := w.office.cfg
	read := []string{
		cfg.Worker, filepath.Dir(w.office.program), // programs and libraries
		"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
		"/etc/libreoffice", "/var/lib/libreoffice", "/var/spool/libreoffice", // parts of Debian's package
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

// convert converts a document and returns the PDF. The error is an *[endedError] if the process exited, and the cause
// of ctx if it was killed. Either way, the process is gone.
func (p *process) convert(ctx context.Context, document []byte, options string) (made []byte, err error) {
	p.said.forget()
	input, output := filepath.Join(documentsFolder, inputFile), filepath.Join(documentsFolder, outputFile)
	if err := p.root.WriteFile(input, document, 0o600); err != nil {
		return nil, p.give(fmt.Errorf("pass a document to LibreOffice: %w", err))
	}
	order, err := json.Marshal(order{Filter: options})
	if err != nil {
		return nil, err
	}
	// The pipe buffers an order of this size. If the worker no longer reads it, the answer fails.
	if _, err := p.orders.Write(order); err != nil && !errors.Is(err, syscall.EPIPE) {
		return nil, p.give(fmt.Errorf("pass a document to LibreOffice: %w", err))
	}
	answer, err := p.answer(ctx)
	if err != nil {
		return nil, err
	}
	p.documents++
	if answer.Error == "" {
		if made, err = readRegular(p.root, output); err != nil {
			return nil, p.give(fmt.Errorf("read the PDF from LibreOffice: %w", err))
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

// give kills the process because of an error that is not the document's fault, and returns the error.
func (p *process) give(err error) error {
	p.kill()
	return err
}

// clear removes the documents and all files that LibreOffice has created next to them.
func (p *process) clear() error {
	return errors.Join(p.root.RemoveAll(documentsFolder), p.root.Mkdir(documentsFolder, 0o700))
}

// answer waits for the worker's next answer. On error, the process has exited or was killed.
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

// kill kills the process and its children. The returned channel is closed when the process has exited.
func (p *process) kill() <-chan struct{} {
	select {
	case <-p.ended:
	default:
		// It may exit at this moment. Its process group ID is not reused before Wait returns.
		syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it has already exited
	}
	return p.ended
}

// close kills the process and releases its folder.
func (p *process) close() error {
	<-p.kill()
	return errors.Join(p.orders.Close(), p.root.Close())
}

// resident returns the resident memory of the process, in bytes.
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

// refusedError is LibreOffice's error for a document that it cannot convert.
type refusedError struct{ words string }

func (e *refusedError) Error() string { return e.words }

// room returns the free disk space, in bytes, that is needed to trust the error. If a write failed with enough space
// for the largest PDF, the PDF is too large.
func (e *refusedError) room() int64 {
	if strings.Contains(e.words, "Class:Write") {
		return maxDocument
	}
	return leastRoom
}

// endedError reports a process that exited during a conversion.
type endedError struct {
	state *os.ProcessState
	said  string
}

func (e *endedError) Error() string { return "LibreOffice exited: " + e.how() }

// how returns why the process exited: the signal that the Go runtime reported, such as "SIGSEGV: segmentation
// violation", or its exit status.
func (e *endedError) how() string {
	for line := range strings.Lines(e.said) {
		if strings.HasPrefix(line, "SIG") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return e.state.String()
}

// readRegular reads a regular file. It rejects links, pipes, and other files that might never end.
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

// fileURL returns the file URL of a path.
func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// words keeps the start of a process's output, because a crash report starts with the reason.
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

// forget discards the output before the next document.
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

// quoted returns the output as a suffix for an error message.
func (w *words) quoted() string {
	if said := strings.TrimSpace(w.String()); said != "" {
		return "; output: " + said
	}
	return ""
}
