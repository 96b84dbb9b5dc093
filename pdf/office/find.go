package office

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"platen/pdf"
	"platen/pdf/office/internal/kit"
)

// Install explains how to install LibreOffice.
const Install = "Install LibreOffice Writer (Debian and Ubuntu: apt-get install libreoffice-writer-nogui), " +
	"or set its location with --libreoffice."

// usual returns the program folders of the LibreOffice packages of Debian, Ubuntu, Fedora, and openSUSE, and then
// those from libreoffice.org, newest first.
func usual() []string {
	downloaded, err := filepath.Glob("/opt/libreoffice*/program")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	slices.Sort(downloaded)
	slices.Reverse(downloaded)
	return append([]string{"/usr/lib/libreoffice/program", "/usr/lib64/libreoffice/program"}, downloaded...)
}

// Find returns the program folder of LibreOffice: the given one, or one of the usual ones if folder is empty. If
// there is none, the error is a *[pdf.UnavailableError].
func Find(folder string) (string, error) {
	candidates := usual()
	if folder != "" {
		candidates = []string{folder, filepath.Join(folder, "program")}
	}
	for _, program := range candidates {
		if _, err := os.Stat(kit.Library(program)); err == nil {
			// On Debian, the folder is a symbolic link. The sandbox of the worker must allow its target.
			return filepath.EvalSymlinks(program)
		}
	}
	if folder != "" {
		return "", &pdf.UnavailableError{Reason: fmt.Sprintf("Cannot generate PDFs: no LibreOffice in %s (no %s). %s",
			folder, filepath.Base(kit.Library("")), Install)}
	}
	return "", &pdf.UnavailableError{Reason: "Cannot generate PDFs: LibreOffice is not installed. " + Install}
}
