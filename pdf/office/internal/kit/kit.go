// Package kit calls LibreOfficeKit, LibreOffice's C interface, without cgo. It is for a process that does nothing else:
// LibreOffice takes the main thread and the signal handlers of a process, and a damaged document may end it.
//
// The functions are members of tables (LibreOfficeKit.h, stable since LibreOffice 6.0), found by their places.
package kit

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Places in struct _LibreOfficeKitClass and struct _LibreOfficeKitDocumentClass, whose first member is their size.
const (
	officeGetError                = 3
	officeDocumentLoadWithOptions = 4
	officeFreeError               = 5
	officeGetVersionInfo          = 10
	officeRunLoop                 = 13

	documentDestroy = 1
	documentSaveAs  = 2
)

// Unipoll is the environment, besides that of [Environment], that makes LibreOffice run in the caller's thread alone.
//
// Without it LibreOffice starts a thread of its own with its event loop, which takes the lock between two of our calls
// and lays the open document out for a screen that nobody sees: in three of ten runs a contract of 50 pages took three
// times as long.
const unipoll = "SAL_LOK_OPTIONS=unipoll"

// Environment is what a process that calls [Run] must have in its environment: Go must not send signals to interrupt
// long-running code (asyncpreemptoff), and LibreOffice draws without a screen.
func Environment() []string {
	return []string{unipoll, "GODEBUG=asyncpreemptoff=1", "SAL_USE_VCLPLUGIN=svp"}
}

// Library returns the path of the library that holds LibreOfficeKit in a program folder of LibreOffice.
func Library(program string) string { return program + "/libmergedlo.so" }

// Office is LibreOffice in this process. Its methods are for the function that Run calls, in the same goroutine.
type Office struct{ this uintptr }

// Run starts the LibreOffice of a program folder with the profile at a URL, calls work, and returns when work has
// returned. It is called once in a process.
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
		if !worked { // it is called whenever there is nothing to do
			worked = true
			handlers.restore()
			work(o)
		}
		return -1 // ends the loop
	})
	wake := purego.NewCallback(func(uintptr) {})
	// The last argument is handed to the callbacks, and they are only called if it is not null.
	o.member(officeRunLoop)(pointer(this), pointer(poll), pointer(wake), pointer(this))
	if !worked {
		return errors.New("LibreOffice ended before it was asked for anything")
	}
	return nil
}

// Version is what LibreOffice says of its version, as JSON.
func (o *Office) Version() string {
	return o.take(o.member(officeGetVersionInfo)(pointer(o.this)))
}

// Convert loads a document and saves it as a PDF. The filter's options are a JSON object as `soffice --convert-to
// 'pdf:writer_pdf_Export:{…}'` takes them.
func (o *Office) Convert(documentURL, pdfURL, filter string) error {
	// Batch: nobody is there to answer a question, such as for a password.
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

// failure is what went wrong, with LibreOffice's own words if it has any.
func (o *Office) failure(what string) error {
	if words := strings.TrimSpace(o.take(o.member(officeGetError)(pointer(o.this)))); words != "" {
		return fmt.Errorf("%s: %s", what, words)
	}
	return errors.New(what)
}

// take copies a C string that the kit gave, and frees it.
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

// member returns the function at a place of the table of an object, whose first word points to the table.
func member(object uintptr, place int) func(...argument) uintptr {
	table := **(***[16]uintptr)(unsafe.Pointer(&object))
	function := table[place]
	return func(arguments ...argument) uintptr { return call(function, arguments...) }
}

// argument is a C argument: a word, or a string that must live until the call has returned.
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
