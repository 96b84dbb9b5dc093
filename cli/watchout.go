package cli

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// documentsFolder is where the documents of samples are written.
type documentsFolder struct {
	root string // the folder with the templates, or the template
	out  string // empty: next to the samples of each template

	written map[string]map[string]bool // the samples whose documents were written last, by the paths of the templates
}

// check rejects a folder in which the documents would be taken for templates.
func (d *documentsFolder) check() error {
	if d.out == "" {
		return nil
	}
	return d.outside(d.out)
}

// outside returns an error if a folder is among the templates, perhaps through links.
func (d *documentsFolder) outside(folder string) error {
	root := d.root
	if !isFolder(root) {
		root = samplesFolder(root)
	}
	templates, err := realPath(root)
	if err != nil {
		return err
	}
	resolved, err := realPath(folder)
	if err != nil {
		return err
	}
	if inside, err := filepath.Rel(templates, resolved); err == nil && filepath.IsLocal(inside) {
		return usagef("--out must be outside of %s, because documents in it would count as templates or samples, and %s leads to %s", root,
			folder, resolved)
	}
	return nil
}

// realPath returns the absolute path without links. The last parts need not exist.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		resolved, err = realPath(filepath.Dir(path))
		return filepath.Join(resolved, filepath.Base(path)), err
	}
	return resolved, err
}

// folderOf returns the folder for the documents of a template.
func (d *documentsFolder) folderOf(template string) string {
	if d.out == "" {
		return filepath.Join(samplesFolder(template), outFolder)
	}
	name, err := filepath.Rel(d.root, template)
	if err != nil || name == "." {
		name = filepath.Base(template)
	}
	return filepath.Join(d.out, strings.TrimSuffix(name, filepath.Ext(name)))
}

// write writes the documents of the samples of a template, and returns their folder; "" if there are none. It removes the documents of
// earlier runs from samples that have none now, so that nobody takes them for the result, and returns their names.
func (d *documentsFolder) write(result *testedTemplate) (folder string, removed []string, err error) {
	folder = d.folderOf(result.Template)
	stale := sampleNames(result.Template)
	maps.Copy(stale, d.written[result.Template])
	current := map[string]bool{}
	var wrong []error
	for i := range result.Samples {
		s := &result.Samples[i]
		if s.document == nil {
			continue
		}
		if len(current) == 0 {
			if err := d.create(folder); err != nil {
				return "", nil, err
			}
		}
		current[s.Name] = true
		wrong = append(wrong, writeAtomically(filepath.Join(folder, s.Name+wordExtension), func(w io.Writer) error {
			_, err := w.Write(s.document)
			return err
		}))
	}
	for _, name := range sortedKeys(stale) {
		if current[name] {
			continue
		}
		switch err := os.Remove(filepath.Join(folder, name+wordExtension)); {
		case err == nil:
			removed = append(removed, name)
		case !errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, err)
		}
	}
	if d.written == nil {
		d.written = map[string]map[string]bool{}
	}
	if d.written[result.Template] = current; len(current) == 0 {
		folder = ""
	}
	return folder, removed, errors.Join(wrong...)
}

// create creates the folder for the documents of a template.
func (d *documentsFolder) create(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil || d.out == "" {
		return err
	}
	return d.outside(folder)
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
