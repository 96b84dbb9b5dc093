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

	"platen/pdf/office/internal/confine"
	"platen/pdf/office/internal/kit"
)

// WorkerCommand is the first argument of a process that is to be a worker. The second is what it is to know.
const WorkerCommand = "libreoffice-worker"

// instructions are what a worker is told when it starts.
type instructions struct {
	Program string         `json:"program"` // folder of LibreOffice
	Folder  string         `json:"folder"`  // its own
	Bounds  confine.Bounds `json:"bounds"`
	Starts  int            `json:"starts"` // how often it has started; from the second on it has its bounds
}

// mostStarts is how often a worker starts before it goes on with whatever thread it has.
const mostStarts = 5

// onMainThread tells whether the calling goroutine is on the main thread of the process, whose memory glibc manages better
// than that of others. A program begins there, but Go may have moved the goroutine on.
func onMainThread() bool {
	runtime.LockOSThread()
	return syscall.Gettid() == syscall.Getpid()
}

// Worker makes this process a worker if its arguments ask for it, and then does not return. A program that uses an Office
// calls it first in main, before the main goroutine has left the main thread.
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
	var told instructions
	if err := json.Unmarshal([]byte(args[2]), &told); err != nil {
		return fmt.Errorf("the server starts this process, it is not for people: %w", err)
	}
	if told.Starts++; told.Starts == 1 || !onMainThread() && told.Starts < mostStarts {
		again, err := json.Marshal(told)
		if err != nil {
			return err
		}
		return confine.Restart(told.Bounds, "/proc/self/exe", []string{args[0], args[1], string(again)}, os.Environ())
	}
	signal.Ignore(syscall.SIGPIPE) // what it says may have nobody who hears it
	orders, answers := os.NewFile(ordersFD, "orders"), json.NewEncoder(os.NewFile(answersFD, "answers"))
	started := make(chan struct{})
	taken := receive(orders, started, told.Folder)
	return kit.Run(told.Program, fileURL(filepath.Join(told.Folder, profileFolder)), func(o *kit.Office) {
		missing := confine.Missing()
		if _, err := confine.Isolate(); err != nil {
			fail(err)
		}
		if told.Bounds.Require && len(missing) > 0 {
			fail(&UnconfinedError{missing})
		}
		close(started)
		ready := answer{Version: o.Version(), Missing: missing}
		for next := ready; ; next = carryOut(o, told.Folder, <-taken) {
			if err := answers.Encode(next); err != nil {
				select {} // nobody is there any more: receive ends the process
			}
		}
	})
}

// receive reads orders while LibreOffice starts and works, so that the worker ends when nobody is there any more to give one, whatever
// LibreOffice does at that moment. It leaves no file behind.
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
				// Not os.Exit: libraries may have what they do at the end, and LibreOffice writes files then.
				syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0) //nolint:errcheck // it does not return
			}
			taken <- next
		}
	}()
	return taken
}

// leaveNothing removes what a folder holds, once LibreOffice has started: it would end in the middle, and leave files. It may write its
// settings at this very moment; so it is looked again until nothing comes any more. The folder itself belongs to a folder that the worker may not change.
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
			// What cannot be removed because it is being written can be the next time; and nobody is there to be told.
			os.RemoveAll(filepath.Join(folder, entry.Name())) //nolint:errcheck // see above
		}
		<-time.After(pause)
	}
}

// misbehave is what a worker does before each document, with the folder that it lies in. Tests let it do what a document might make LibreOffice do.
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

// fail ends the process: what it cannot do now it could not do later.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
