package raster_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"platen/pdf"
	"platen/pdf/raster"
)

// A PDF that ends with an order makes a worker that has become this binary carry it out, like a PDF that has taken over
// pdftoppm.
func poisonous(order string) []byte { return append(letters(100, 100, 1), "% "+order+"\n"...) }

// misbehave carries out the order of the PDF on standard input, and ends the process.
func misbehave() {
	document, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	order := string(bytes.TrimSpace(document[bytes.LastIndexByte(document, '%')+1:]))
	fmt.Fprintln(os.Stderr, carryOut(order))
	os.Exit(1)
}

func carryOut(order string) string {
	what, argument, _ := strings.Cut(order, " ")
	switch what {
	case "dial":
		return allowed(net.Dial("tcp", argument))
	case "read":
		return allowed(os.ReadFile(argument))
	case "list":
		return allowed(os.ReadDir(argument))
	case "write":
		return allowed(os.Create(argument))
	case "start":
		return allowed(exec.Command(argument).Output())
	case "become":
		return allowed(0, syscall.Exec(argument, []string{argument}, nil))
	case "signal":
		var pid int
		fmt.Sscan(argument, &pid) //nolint:errcheck // an invalid number is no process
		return allowed(0, syscall.Kill(pid, 0))
	case "sleep":
		select {}
	case "devour":
		var all [][]byte
		for {
			all = append(all, make([]byte, 16<<20))
			for i := 0; i < 16<<20; i += 4096 {
				all[len(all)-1][i] = 1
			}
		}
	case "chatter": // endless images
		for {
			fmt.Print(image(134, 134))
		}
	case "inflate": // an image that never ends
		fmt.Print("P6\n134 134\n255\n")
		select {}
	case "exaggerate":
		fmt.Print("P6\n1000000 1000000\n255\n")
		select {}
	case "overflow":
		fmt.Print("P6\n99999999999999999999 -1\n255\n")
		select {}
	case "number":
		fmt.Print("P6\n" + strings.Repeat("1", 1<<20))
		select {}
	case "babble":
		fmt.Print(strings.Repeat("hello ", 1000))
		return ""
	}
	return "unknown order " + order
}

// image returns an image in black.
func image(width, height int) string {
	return fmt.Sprintf("P6\n%d %d\n255\n%s", width, height, make([]byte, 3*width*height))
}

// allowed returns whether an operation succeeded.
func allowed[T any](_ T, err error) string {
	switch {
	case err == nil:
		return "allowed"
	case errors.Is(err, fs.ErrPermission):
		return "forbidden"
	}
	return err.Error()
}

// The sandbox stops a PDF that has taken over pdftoppm.
func TestConfined(t *testing.T) {
	if missing := raster.MissingSandbox(); len(missing) > 0 {
		t.Skip(missing)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := newRasterizer(t, raster.Config{Program: self, RequireSandbox: true})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("TOP SECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	for order, want := range map[string]string{
		"dial " + listener.Addr().String():                        "forbidden",
		"dial [::1]:53":                                           "forbidden",
		"read " + secret:                                          "forbidden",
		"read /etc/passwd":                                        "forbidden",
		"read /usr/share/common-licenses/Apache-2.0":              "forbidden",
		fmt.Sprintf("read /proc/%d/environ", os.Getpid()):         "forbidden",
		"read /etc/ld.so.cache":                                   "allowed",
		"list " + filepath.Dir(secret):                            "forbidden",
		"write " + filepath.Join(filepath.Dir(secret), "new.txt"): "forbidden",
		"write /var/cache/fontconfig/new.txt":                     "forbidden",
		"start /bin/true":                                         "forbidden",
		"start " + self:                                           "forbidden",
		"become /usr/bin/true":                                    "forbidden",
		fmt.Sprintf("signal %d", os.Getpid()):                     "forbidden",
	} {
		t.Run(order, func(t *testing.T) {
			_, err := draw(t, r, poisonous(order), raster.Options{})
			if refused, ok := errors.AsType[*pdf.DocumentError](err); !ok || !strings.Contains(refused.Reason, "("+want+")") {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// Whatever a taken-over pdftoppm writes, the call ends, within its limits.
func TestHostileOutput(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := newRasterizer(t, raster.Config{Program: self, Deadline: 5 * time.Second, MaxBytes: 1 << 20, Memory: 300 << 20})
	orders := map[string]string{
		"sleep":      "Drawing the pages took longer than 5s.",
		"devour":     "Page 1 of the PDF cannot be drawn, or needs too much memory",
		"chatter":    "Page 1 of the PDF cannot be drawn",
		"inflate":    "Drawing the pages took longer than 5s.",
		"exaggerate": "Page 1 of the PDF cannot be drawn",
		"overflow":   "Page 1 of the PDF cannot be drawn",
		"number":     "Page 1 of the PDF cannot be drawn",
		"babble":     "Page 1 of the PDF cannot be drawn",
	}
	t.Run("orders", func(t *testing.T) {
		for order, want := range orders {
			t.Run(order, func(t *testing.T) {
				t.Parallel()
				if _, err := draw(t, r, poisonous(order), raster.Options{}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
			})
		}
	})
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("wait: process %d, %v; want no child", pid, err)
	}
}
