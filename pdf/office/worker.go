package office

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"platen/pdf/internal/confine"
	"platen/pdf/office/internal/kit"
)

// WorkerCommand is the first argument of a worker process. The second is its instructions, as JSON.
const WorkerCommand = "libreoffice-worker"

// instructions configure a worker at startup.
type instructions struct {
	Program string         `json:"program"` // folder of LibreOffice
	Folder  string         `json:"folder"`  // of the worker
	Bounds  confine.Bounds `json:"bounds"`
	Starts  int            `json:"starts"` // number of starts; from the second one on, it runs within its bounds
}

// mostStarts is the number of starts after which a worker continues on whatever thread it has.
const mostStarts = 5

// onMainThread reports whether the calling goroutine runs on the main thread of the process, whose memory glibc
// manages better than that of other threads. A program starts there, but Go may move the goroutine. It locks the
// goroutine to its thread.
func onMainThread() bool {
	runtime.LockOSThread()
	return syscall.Gettid() == syscall.Getpid()
}

// Worker runs this process as a worker if its arguments ask for it, and then does not return. A program that uses an
// Office must call it first in main, while the main goroutine is still on the main thread.
func Worker(args []string) {
	if len(args) != 3 || args[1] != WorkerCommand {
		return
	}
	if err := work(args); err != nil {
		fmt.Fprintln(os.Stderr, "platen "+WorkerCommand+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func work(args []string) error {
	var in instructions
	if err := json.Unmarshal([]byte(args[2]), &in); err != nil {
		return fmt.Errorf("this command is internal to the server: %w", err)
	}
	if in.Starts++; in.Starts == 1 || !onMainThread() && in.Starts < mostStarts {
		again, err := json.Marshal(in)
		if err != nil {
			return err
		}
		return confine.Restart(in.Bounds, "/proc/self/exe", []string{args[0], args[1], string(again)}, os.Environ())
	}
	signal.Ignore(syscall.SIGPIPE) // no one may be reading its output
	orders, answers := os.NewFile(ordersFD, "orders"), json.NewEncoder(os.NewFile(answersFD, "answers"))
	started := make(chan struct{})
	taken := receive(orders, started, in.Folder)
	return kit.Run(in.Program, fileURL(filepath.Join(in.Folder, profileFolder)), func(o *kit.Office) {
		missing := confine.Missing()
		if _, err := confine.Isolate(); err != nil {
			fail(err)
		}
		if in.Bounds.Require && len(missing) > 0 {
			fail(&UnconfinedError{missing})
		}
		close(started)
		ready := answer{Version: o.Version(), Missing: missing}
		for next := ready; ; next = carryOut(o, in.Folder, <-taken) {
			if err := answers.Encode(next); err != nil {
				select {} // the server is gone; receive ends the process
			}
		}
	})
}

// receive reads orders in the background, even while LibreOffice starts or works. When the server is gone, it removes
// the contents of the folder and ends the process.
func receive(orders io.Reader, started <-chan struct{}, folder string) <-chan order {
	taken := make(chan order)
	go func() {
		decoder := json.NewDecoder(orders)
		for {
			var next order
			if err := decoder.Decode(&next); err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Fprintln(os.Stderr, "orders:", err)
				}
				select {
				case <-started:
				case <-time.After(startTime):
				}
				leaveNothing(folder)
				// Do not use os.Exit: exit handlers of libraries would run, and LibreOffice's would write files.
				syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0) //nolint:errcheck // it does not return
			}
			taken <- next
		}
	}()
	return taken
}

// leaveNothing removes the contents of a folder, after LibreOffice has started: if it were still starting, it would
// create more files. LibreOffice may write its settings at the same time, so leaveNothing repeats until the folder
// stays empty. It leaves the folder itself, whose parent the worker may not change.
func leaveNothing(folder string) {
	const looks, pause = 50, 100 * time.Millisecond
	for range looks {
		entries, err := os.ReadDir(folder)
		if err != nil {
			fail(err)
		}
		if len(entries) == 0 {
			return
		}
		for _, entry := range entries {
			// Files that are being written can be removed the next time. There is no one to report an error to.
			os.RemoveAll(filepath.Join(folder, entry.Name())) //nolint:errcheck // see above
		}
		<-time.After(pause)
	}
}

// misbehave runs in a worker before each document, with the folder of the document. Tests set it to do what a
// malicious document might make LibreOffice do.
var misbehave = func(_ string) error { return nil }

func carryOut(o *kit.Office, folder string, next order) answer {
	documents := filepath.Join(folder, documentsFolder)
	if err := misbehave(documents); err != nil {
		return answer{Error: err.Error()}
	}
	err := o.Convert(fileURL(filepath.Join(documents, inputFile)), fileURL(filepath.Join(documents, outputFile)), next.Filter)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{}
}

// fail ends the process with an error.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
