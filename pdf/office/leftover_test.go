package office_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
)

// A closed Office leaves nothing behind.
func TestClose(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	engine, err := office.New(office.Config{Worker: self, Folder: folder, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Available(); err != nil {
		t.Skip(err)
	}
	if found := workers(t); len(found) > 0 {
		t.Errorf("workers before the first document: %v", found)
	}
	convertText(t, engine, "somebody")
	if found := workers(t); len(found) != 1 {
		t.Errorf("workers: %v", found)
	}
	busy := make(chan error)
	go func() {
		_, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous("spin")})
		busy <- err
	}()
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	if err := <-busy; !errors.Is(err, pdf.ErrClosed) {
		t.Errorf("the running conversion ended with %v", err)
	}
	if _, err := engine.Convert(t.Context(), pdf.Request{Document: pdftest.Letter("nobody")}); !errors.Is(err, pdf.ErrClosed) {
		t.Errorf("a conversion after Close: %v", err)
	}
	if left := append(files(t, folder), workers(t)...); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

const (
	parentFolder = "PLATEN_TEST_PARENT" // the folder of a process that the test kills
	parentReady  = "ready"
)

// beParent is a server in its own process: one of its workers is idle, and one hangs.
func beParent(folder string) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	engine, err := office.New(office.Config{Worker: self, Folder: folder, Workers: 2})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := engine.Convert(ctx, pdf.Request{Document: pdftest.Letter("nobody")}); err != nil {
		panic(err)
	}
	go engine.Convert(ctx, pdf.Request{Document: poisonous("spin")})               //nolint:errcheck // it never ends
	go engine.Convert(ctx, pdf.Request{Document: poisonous("sleep"), Again: true}) //nolint:errcheck // it never ends
	for {
		if found, err := workersOf(os.Getpid()); err == nil && len(found) == 3 {
			break
		}
	}
	fmt.Println(parentReady)
	select {}
}

// When the server is killed, its workers exit by themselves, whatever they are doing, and leave no files. The next
// server removes the empty folder.
func TestParentKilled(t *testing.T) {
	if _, err := office.Find(""); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), parentFolder+"="+folder)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != parentReady+"\n" {
		t.Fatalf("output of the parent: %q, %v", line, err)
	}
	found, err := workersOf(parent.Process.Pid)
	if err != nil || len(found) != 3 {
		t.Fatalf("workers of the parent: %v, %v", found, err)
	}
	var handles []unix.PollFd
	for _, pid := range found {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) }) //nolint:errcheck // read only
		handles = append(handles, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait() //nolint:errcheck // it was killed
	for i := range handles {
		n, err := unix.Poll(handles[i:i+1], 20_000)
		for err == unix.EINTR { // interrupted by a signal of the Go runtime
			n, err = unix.Poll(handles[i:i+1], 20_000)
		}
		if n != 1 || err != nil {
			t.Errorf("worker %d still runs: %v", found[i], err)
		}
	}
	for _, left := range files(t, folder) {
		if info, err := os.Lstat(left); err != nil || !info.IsDir() {
			t.Errorf("left over: %s", left)
		}
	}
	newOfficeIn(t, folder)
	if left, err := filepath.Glob(folder + "/*"); err != nil || len(left) != 1 {
		t.Errorf("after the next start: %v, %v", left, err)
	}
}

// A worker may still be writing when the next server removes leftovers. Its folder is removed when that server
// closes.
func TestLeftoverIsWritten(t *testing.T) {
	base := t.TempDir()
	left := filepath.Join(base, "platen-pdf-1")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	for i := range 4 { // often enough that the folder is hardly ever empty
		writing.Go(func() {
			for ctx.Err() == nil {
				if err := os.Mkdir(filepath.Join(left, fmt.Sprint(i)), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
					return // removed
				}
			}
		})
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := office.New(office.Config{Worker: self, Folder: base})
	stop()
	writing.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	if left := files(t, base); len(left) > 0 && engine.Available() == nil {
		t.Errorf("left over: %v", left)
	}
}

// workers returns the child processes that run or have not been waited for.
func workers(t *testing.T) []string {
	t.Helper()
	pids, err := workersOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pid := range pids {
		names = append(names, fmt.Sprint("process ", pid))
	}
	return names
}

// workersOf returns the child processes of a process.
func workersOf(parent int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has exited
		}
		// Fields of /proc/PID/stat: pid (name) state parent …
		after := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(after) > 1 && after[1] == strconv.Itoa(parent) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				return nil, err
			}
			found = append(found, pid)
		}
	}
	return found, nil
}
