package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"platen/docx"
)

// savedTemplate is a template that was read once. It is checked, tested, and uploaded with this content, even if the file is saved again in
// the meantime.
type savedTemplate struct {
	path     string
	content  []byte
	template *docx.Template
	err      error           // why there is no template
	includes map[string]bool // paths of the files that it includes
	state    string          // of all files that determine its results, each from before it was read
	samples  string          // the part of state about the samples
}

// read reads a template with the files that it includes.
func (w *watcher) read(path string) *savedTemplate {
	s := &savedTemplate{path: path, includes: map[string]bool{}, samples: stateOfSamples(path)}
	own, includes := stateOfFile(path), map[string]string{}
	s.content, s.err = readTemplate(path)
	if s.err == nil {
		s.template, s.err = compileTemplate(path, bytes.NewReader(s.content), int64(len(s.content)), w.runner.contents, func(name string) {
			included := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
			if !s.includes[included] {
				s.includes[included], includes[included] = true, stateOfFile(included)
			}
		})
	}
	s.state = joinStates(own, s.includes, func(path string) string { return includes[path] }, s.samples)
	return s
}

// readTemplate reads a file, up to a size at which it is rejected as too large.
func readTemplate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, docx.MaxFile+1))
}

// samplesChanged reports whether the samples of the template are no longer those from before it was read.
func (s *savedTemplate) samplesChanged() bool { return stateOfSamples(s.path) != s.samples }

// isComplete reports whether a file can be opened as a Word document.
func isComplete(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && docx.Identify(f, info.Size()) == nil
}

// stateOf describes the files that determine the results of a template: itself, the files that it includes, and its samples.
func stateOf(path string, includes map[string]bool) string {
	return joinStates(stateOfFile(path), includes, stateOfFile, stateOfSamples(path))
}

func joinStates(own string, includes map[string]bool, stateOf func(path string) string, samples string) string {
	var b strings.Builder
	b.WriteString(own)
	for _, path := range sortedKeys(includes) {
		b.WriteString(stateOf(path))
	}
	b.WriteString(samples)
	return b.String()
}

// stateOfFile describes the size and time of a file. It is empty if there is none.
func stateOfFile(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
}

// stateOfSamples describes the files of the samples of a template.
func stateOfSamples(template string) string {
	folder := samplesFolder(template)
	entries, err := os.ReadDir(folder)
	if err != nil { // usually, there are no samples
		return ""
	}
	var b strings.Builder
	for _, entry := range entries {
		if !entry.IsDir() && !isTemporary(entry.Name()) {
			b.WriteString(stateOfFile(filepath.Join(folder, entry.Name())))
		}
	}
	return b.String()
}
