package office

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"platen/pdf"
	"platen/pdf/office/internal/kit"
)

// Install says how to get what an engine needs.
const Install = "Install LibreOffice Writer (Debian and Ubuntu: apt-get install libreoffice-writer-nogui), or say where it is with --libreoffice."

// usual are the program folders of LibreOffice's packages: Debian's and Ubuntu's, Fedora's, openSUSE's, and those of
// libreoffice.org, newest first.
func usual() []string {
	downloaded, err := filepath.Glob("/opt/libreoffice*/program")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	slices.Sort(downloaded)
	slices.Reverse(downloaded)
	return append([]string{"/usr/lib/libreoffice/program", "/usr/lib64/libreoffice/program"}, downloaded...)
}

// Find returns the program folder of LibreOffice: the one given, or a usual one if it is empty. A *[pdf.UnavailableError]
// says that there is none.
func Find(folder string) (string, error) {
	candidates := usual()
	if folder != "" {
		candidates = []string{folder, filepath.Join(folder, "program")}
	}
	for _, program := range candidates {
		if _, err := os.Stat(kit.Library(program)); err == nil {
			// Debian's folder is a link into another; the worker may see where it leads.
			return filepath.EvalSymlinks(program)
		}
	}
	if folder != "" {
		return "", &pdf.UnavailableError{Reason: fmt.Sprintf("PDFs cannot be made: there is no LibreOffice in %s (no %s). %s",
			folder, filepath.Base(kit.Library("")), Install)}
	}
	return "", &pdf.UnavailableError{Reason: "PDFs cannot be made: LibreOffice is not installed. " + Install}
}
