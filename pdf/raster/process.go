package raster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"platen/pdf"
	"platen/pdf/internal/confine"
	"platen/pdf/pages"
)

// WorkerCommand is the first argument of a process that becomes pdftoppm. The second is its instructions, as JSON.
const WorkerCommand = "pdftoppm-worker"

const (
	maxSaid   = 1 << 10         // bytes of pdftoppm's messages that are kept
	waitTime  = 5 * time.Second // for a killed process to exit
	openFiles = 32              // at once: pipes, libraries, and fonts
)

// instructions configure a worker.
type instructions struct {
	Program string         `json:"program"`
	Args    []string       `json:"args"`
	Bounds  confine.Bounds `json:"bounds"`
}

// Worker turns this process into pdftoppm, if its arguments ask for it, and then does not return. A program that uses a
// Rasterizer must call it first in main.
func Worker(args []string) {
	if len(args) != 3 || args[1] != WorkerCommand {
		return
	}
	fmt.Fprintln(os.Stderr, "platen "+WorkerCommand+":", become(args[2]))
	os.Exit(notStarted)
}

// become executes the program of the instructions in this process. It returns only on error.
func become(told string) error {
	var in instructions
	if err := json.Unmarshal([]byte(told), &in); err != nil {
		return fmt.Errorf("this command is internal to the server: %w", err)
	}
	return confine.Execute(in.Bounds, in.Program, append([]string{in.Program}, in.Args...), environment())
}

// notStarted is the exit status of a worker that cannot become pdftoppm, which itself uses 0 to 99.
const notStarted = 120

// environment is the complete environment of pdftoppm.
func environment() []string {
	return []string{"HOME=/nonexistent", "LANG=C.UTF-8", "PATH=/usr/bin:/bin"}
}

// bounds returns the sandbox of a process that draws a document.
func (r *Rasterizer) bounds(document []byte) confine.Bounds {
	return confine.Bounds{
		Read: []string{
			r.program, "/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache",
			"/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/poppler", "/etc/fonts", "/usr/share/fontconfig",
			"/var/cache/fontconfig", "/usr/share/ghostscript", "/usr/share/color", "/dev/null", "/dev/urandom",
		},
		Memory: r.cfg.Memory + uint64(len(document)), CPU: uint64(math.Ceil(r.cfg.Deadline.Seconds())),
		Files: openFiles, Require: r.cfg.RequireSandbox,
	}
}

// draw draws consecutive pages with one process.
func (d *drawing) draw(ctx context.Context, drawn pages.Range) error {
	told, err := json.Marshal(instructions{Program: d.program, Bounds: d.bounds(d.document), Args: []string{
		"-q", "-cropbox", "-r", strconv.Itoa(d.dpi), "-f", strconv.Itoa(drawn.First), "-l", strconv.Itoa(drawn.Last), "-",
	}})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	said := &beginning{}
	cmd := exec.CommandContext(running, d.cfg.Worker, WorkerCommand, string(told)) //nolint:gosec // it is this program
	cmd.Dir, cmd.Env, cmd.WaitDelay = filepath.Dir(d.program), environment(), waitTime
	cmd.Stdin, cmd.Stderr = bytes.NewReader(d.document), said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", WorkerCommand, err)
	}
	number, err := d.readPages(bufio.NewReaderSize(out, 64<<10), drawn)
	if err != nil {
		stop() // it may be blocked on writing
	}
	ended := cmd.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return outcome(number, err, ended, said.String())
}

// readPages passes the images in a stream to each. On error, number is that of the page, and the error is a
// *[streamError] if its image is missing or damaged.
func (d *drawing) readPages(in *bufio.Reader, drawn pages.Range) (number int, err error) {
	for number = drawn.First; number <= drawn.Last; number++ {
		page, err := readImage(in, d.dpi, d.room, func(width, height int) error { return d.expect(number, width, height) })
		switch {
		case errors.Is(err, errTooLarge):
			return number, &LimitError{fmt.Sprintf("The image of page %d is too large. Choose a lower resolution, or fewer pages.", number)}
		case err != nil:
			return number, &streamError{err}
		}
		page.Number = number
		d.room -= len(page.PNG)
		if err := d.each(page); err != nil {
			return number, err
		}
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return drawn.Last, &streamError{errors.New("more pages than expected")}
	}
	return drawn.Last, nil
}

// streamError reports that the output of pdftoppm is not what was expected.
type streamError struct{ err error }

func (e *streamError) Error() string { return e.err.Error() }
func (e *streamError) Unwrap() error { return e.err }

// outcome returns why a page could not be drawn, or nil. A process that failed by itself explains a damaged stream.
func outcome(number int, read, ended error, said string) error {
	exit, failed := errors.AsType[*exec.ExitError](ended)
	_, damaged := errors.AsType[*streamError](read)
	switch {
	case read != nil && !damaged:
		return read
	case failed && exit.ExitCode() == notStarted:
		return fmt.Errorf("start pdftoppm: %s", said)
	case damaged, failed:
		why := said
		if failed && exit.ExitCode() < 0 && said == "" {
			why = "pdftoppm ended with " + exit.String()
		}
		return &pdf.DocumentError{Reason: fmt.Sprintf("Page %d of the PDF cannot be drawn, or needs too much memory%s.", number, because(why))}
	}
	return ended
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// beginning keeps the first bytes that are written to it.
type beginning struct{ text []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), maxSaid-len(b.text))]...)
	return len(p), nil
}

func (b *beginning) String() string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b.text), []byte("\n"))
	return string(bytes.ToValidUTF8(line, []byte("?")))
}
