// Package kit calls LibreOfficeKit, the C interface of LibreOffice, without cgo. The process should do nothing else:
// LibreOffice takes over the main thread and the signal handlers, and a damaged document can crash it.
//
// The functions are members of tables in LibreOfficeKit.h, whose layout is stable since LibreOffice 6.0. The package
// finds them by index.
package kit

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Indexes in struct _LibreOfficeKitClass and struct _LibreOfficeKitDocumentClass, whose first member is their size.
const (
	officeGetError                = 3
	officeDocumentLoadWithOptions = 4
	officeFreeError               = 5
	officeGetVersionInfo          = 10
	officeRunLoop                 = 13

	documentDestroy = 1
	documentSaveAs  = 2
)

// unipoll is the environment variable that makes LibreOffice run only in the caller's thread.
//
// Without it, LibreOffice runs its event loop in a thread of its own, which takes the lock between two calls and lays
// out the open document for a screen. In three of ten runs, that made a contract of 50 pages take three times as
// long.
const unipoll = "SAL_LOK_OPTIONS=unipoll"

// Environment returns the variables that the environment of a process that calls [Run] must contain. They keep Go
// from interrupting long-running code with signals (asyncpreemptoff), and let LibreOffice draw without a display.
func Environment() []string {
	return []string{unipoll, "GODEBUG=asyncpreemptoff=1", "SAL_USE_VCLPLUGIN=svp"}
}

// Library returns the path of the library with LibreOfficeKit, for a program folder of LibreOffice.
func Library(program string) string { return program + "/libmergedlo.so" }

// Office is LibreOffice in this process. Only the function that Run calls may use it, in the same goroutine.
type Office struct{ this uintptr }

// Run starts the LibreOffice in a program folder with the profile at a URL, calls work, and returns after work has
// returned. Call it only once per process.
func Run(program, profileURL string, work func(*Office)) error {
	runtime.LockOSThread()
	library, err := purego.Dlopen(Library(program), purego.RTLD_LAZY|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load LibreOffice: %w", err)
	}
	hook, err := purego.Dlsym(library, "libreofficekit_hook_2")
	if err != nil {
		return fmt.Errorf("load LibreOffice: %w", err)
	}
	handlers := signalHandlers()
	this := call(hook, text(program), text(profileURL))
	if this == 0 {
		return errors.New("LibreOffice did not start")
	}
	o := &Office{this}
	worked := false
	poll := purego.NewCallback(func(uintptr, int32) int32 {
		if !worked { // called whenever LibreOffice is idle
			worked = true
			handlers.restore()
			work(o)
		}
		return -1 // ends the loop
	})
	wake := purego.NewCallback(func(uintptr) {})
	// LibreOffice passes the last argument to the callbacks, and calls them only if it is not null.
	o.member(officeRunLoop)(pointer(this), pointer(poll), pointer(wake), pointer(this))
	if !worked {
		return errors.New("LibreOffice exited at startup")
	}
	return nil
}

// Version returns LibreOffice's version information, as JSON.
func (o *Office) Version() string {
	return o.take(o.member(officeGetVersionInfo)(pointer(o.this)))
}

// Convert loads a document and saves it as a PDF. The filter options are a JSON object in the form of `soffice
// --convert-to 'pdf:writer_pdf_Export:{…}'`.
func (o *Office) Convert(documentURL, pdfURL, filter string) error {
	// Batch: do not ask questions, such as for a password.
	document := o.member(officeDocumentLoadWithOptions)(pointer(o.this), text(documentURL), text("Batch=true"))
	if document == 0 {
		return o.failure("LibreOffice cannot open the document")
	}
	defer member(document, documentDestroy)(pointer(document))
	if member(document, documentSaveAs)(pointer(document), text(pdfURL), text("pdf"), text(filter)) == 0 {
		return o.failure("LibreOffice cannot save the document as a PDF")
	}
	return nil
}

// failure returns an error with LibreOffice's message, if it has one.
func (o *Office) failure(what string) error {
	if words := strings.TrimSpace(o.take(o.member(officeGetError)(pointer(o.this)))); words != "" {
		return fmt.Errorf("%s: %s", what, words)
	}
	return errors.New(what)
}

// take copies a C string returned by LibreOfficeKit, and frees it.
func (o *Office) take(s uintptr) string {
	if s == 0 {
		return ""
	}
	defer o.member(officeFreeError)(pointer(s))
	start := *(**byte)(unsafe.Pointer(&s))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(start, n))
}

func (o *Office) member(place int) func(...argument) uintptr { return member(o.this, place) }

// member returns the function at an index of an object's table. The first word of the object points to the table.
func member(object uintptr, place int) func(...argument) uintptr {
	table := **(***[16]uintptr)(unsafe.Pointer(&object))
	function := table[place]
	return func(arguments ...argument) uintptr { return call(function, arguments...) }
}

// argument is a C argument: a word, or a string that must stay alive until the call returns.
type argument struct {
	word   uintptr
	string *byte
}

func pointer(word uintptr) argument { return argument{word: word} }

func text(s string) argument {
	zeroEnded := append([]byte(s), 0)
	return argument{string: &zeroEnded[0]}
}

func call(function uintptr, arguments ...argument) uintptr {
	words := make([]uintptr, len(arguments))
	for i, a := range arguments {
		words[i] = a.word
		if a.string != nil {
			words[i] = uintptr(unsafe.Pointer(a.string))
		}
	}
	result, _, _ := purego.SyscallN(function, words...)
	runtime.KeepAlive(arguments)
	return result
}
