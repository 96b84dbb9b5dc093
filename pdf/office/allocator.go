package office

import (
	"os"
	"path/filepath"
	"runtime"
)

// Allocator returns the path of jemalloc, or "" if it is not installed. With jemalloc instead of the malloc of libc,
// LibreOffice converts documents of several pages up to a quarter faster, because it allocates many small objects.
func Allocator() string {
	const name = "libjemalloc.so.2"
	folders := []string{"/usr/lib64", "/usr/lib"} // Fedora and openSUSE, and distributions without multiarch
	if debian, ok := map[string]string{"amd64": "/usr/lib/x86_64-linux-gnu", "arm64": "/usr/lib/aarch64-linux-gnu"}[runtime.GOARCH]; ok {
		folders = append([]string{debian}, folders...)
	}
	for _, folder := range folders {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// advice returns a sentence on how to make LibreOffice faster, or "" if there is nothing to do.
func advice() string {
	if Allocator() != "" {
		return ""
	}
	return "It is faster with jemalloc (Debian and Ubuntu: apt-get install libjemalloc2)."
}
