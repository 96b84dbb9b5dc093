package office_test

import (
	"archive/zip"
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
	"time"

	"platen/pdf/pdftest"
)

// orderPart is a part of a document. A worker of this binary does what the part says, like a document that exploits a bug in
// LibreOffice.
const orderPart = "word/misbehave.txt"

// cueFile exists while a document holds its worker. Removing the file releases the worker.
const cueFile = "cue"

func poisonous(order string) []byte { return poisonousLetter("nobody", order) }

func poisonousLetter(to, order string) []byte {
	return new(pdftest.Document).Paragraph("To "+to).Part("poison", "poison", filepath.Base(orderPart), order).Bytes()
}

func misbehave(documents string) error {
	order, err := orderOf(filepath.Join(documents, "document.docx"))
	if err != nil || order == "" {
		return err
	}
	what, argument, _ := strings.Cut(order, " ")
	switch what {
	case "crash":
		return syscall.Kill(os.Getpid(), syscall.SIGSEGV)
	case "spin":
		for {
			syscall.Getppid() // uses the processor, but lets other threads of the Go runtime run, as C code would
		}
	case "sleep":
		select {}
	case "hold": // until the test releases it
		cue := filepath.Join(documents, cueFile)
		if err := os.WriteFile(cue, nil, 0o600); err != nil {
			return err
		}
		looks := time.NewTicker(10 * time.Millisecond)
		for range looks.C {
			if _, err := os.Lstat(cue); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
	case "exit":
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0) //nolint:errcheck // it does not return
	case "devour":
		var all [][]byte
		for {
			all = append(all, make([]byte, 64<<20))
			for i := 0; i < 64<<20; i += 4096 {
				all[len(all)-1][i] = 1
			}
		}
	case "link": // replaces the PDF with a link to another file
		return os.Symlink(argument, filepath.Join(documents, "document.pdf"))
	case "dial":
		return allowed(net.Dial("tcp", argument))
	case "read":
		return allowed(os.ReadFile(argument))
	case "list":
		return allowed(os.ReadDir(argument))
	case "write":
		return allowed(os.Create(argument))
	case "execute":
		return allowed(exec.Command(argument).Output())
	case "signal":
		var pid int
		fmt.Sscan(argument, &pid) //nolint:errcheck // an invalid number is no process
		return allowed(0, syscall.Kill(pid, 0))
	}
	return fmt.Errorf("unknown order %q", order)
}

// allowed returns whether an operation succeeded, as the document's error.
func allowed[T any](_ T, err error) error {
	if err == nil {
		return errors.New("allowed")
	}
	if errors.Is(err, fs.ErrPermission) {
		return errors.New("forbidden")
	}
	return err
}

func orderOf(document string) (string, error) {
	archive, err := zip.OpenReader(document)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	part, err := archive.Open(orderPart)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer part.Close()
	order, err := io.ReadAll(part)
	return string(order), err
}
