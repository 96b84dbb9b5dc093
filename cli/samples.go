package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"platen/docx/expect"
	"platen/docx/lang"
)

// The samples of the template invoice.docx are in the folder invoice.tests: paid.json is the data of the sample "paid", paid.expect.json
// what its author expects, and paid.docx the golden document. The file options.json has options for all of them.
const (
	samplesExtension = ".tests"
	dataExtension    = ".json"
	expectExtension  = ".expect.json"
	optionsFile      = "options.json"
	outFolder        = "out" // where platen watch writes documents

	maxSamples    = 10_000   // of all templates
	maxSampleFile = 64 << 20 // bytes
)

// templateTests are a template and its samples.
type templateTests struct {
	path    string // of the template
	samples []sample
	options sampleOptions
}

// sample is one sample of a template.
type sample struct {
	name    string // "paid"
	data    string // path
	golden  string // path; it may not exist
	exists  bool   // the golden document exists
	expects *expect.Expectations
}

// sampleOptions are the options in a folder of samples, with the names that the options of a batch have.
type sampleOptions struct {
	Locale, TimeZone, Missing, Now string
	Strict                         bool
}

// isTemplateFile reports whether a file is a Word document and not a temporary file of Word or another program.
func isTemplateFile(name string) bool {
	return !isTemporary(name) && (isWord(name) || hasExtension(name, macroExtension) || isWordTemplate(name))
}

// isTemporary reports whether a program creates a file of this name while another one is open or being written.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") || strings.HasSuffix(name, "~") ||
		strings.EqualFold(filepath.Ext(name), ".tmp")
}

// findTests returns the templates in a folder and the folders below it, in the order of their paths, with their samples. The path may also
// be that of one template. The error lists all mistakes in the layout.
func findTests(path string) ([]templateTests, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if !isTemplateFile(filepath.Base(path)) {
			return nil, usagef("%s is not a Word template: use a folder, or a file that ends in .docx, .docm, .dotx, or .dotm", path)
		}
		t, err := testsOf(path)
		return []templateTests{t}, err
	}
	templates, folders, err := templateFiles(path)
	if err != nil {
		return nil, err
	}
	var tests []templateTests
	var wrong []error
	owners, total := map[string]string{}, 0
	for _, template := range templates {
		folder := samplesFolder(template)
		if other := owners[folder]; other != "" && slices.Contains(folders, folder) {
			wrong = append(wrong, fmt.Errorf("%s belongs to both %s and %s: rename one of the templates", folder, other, template))
			continue
		}
		owners[folder] = template
		t, err := testsOf(template)
		tests, wrong = append(tests, t), append(wrong, err)
		if total += len(t.samples); total > maxSamples {
			return nil, fmt.Errorf("%s has more than %d samples", path, maxSamples)
		}
	}
	for _, folder := range folders {
		if owners[folder] == "" {
			wrong = append(wrong, fmt.Errorf("%s has no template: there is no %s.docx next to it", folder,
				strings.TrimSuffix(filepath.Base(folder), samplesExtension)))
		}
	}
	return tests, errors.Join(wrong...)
}

// samplesFolder returns the folder for the samples of a template.
func samplesFolder(template string) string {
	return strings.TrimSuffix(template, filepath.Ext(template)) + samplesExtension
}

// templateFiles returns the templates and the folders of samples below a folder. Hidden folders are left out.
func templateFiles(root string) (templates, folders []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() && strings.HasSuffix(entry.Name(), samplesExtension):
			if path == root {
				return usagef("%s has samples of a template: use the folder that contains it, or the template", root)
			}
			folders = append(folders, path)
			return fs.SkipDir
		case !entry.IsDir() && isTemplateFile(entry.Name()):
			templates = append(templates, path)
		}
		return nil
	})
	return templates, folders, err
}

// testsOf returns a template with its samples. There may be none.
func testsOf(template string) (templateTests, error) {
	t := templateTests{path: template}
	folder := samplesFolder(template)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	files := map[string]bool{}
	var wrong []error
	for _, entry := range entries {
		name := entry.Name()
		files[name] = true
		switch {
		case isTemporary(name), entry.IsDir() && name == outFolder, strings.EqualFold(filepath.Ext(name), ".md"):
		case entry.IsDir():
			wrong = append(wrong, fmt.Errorf("%s is a folder, but samples are files", filepath.Join(folder, name)))
		case name == optionsFile:
			wrong = append(wrong, t.readOptions(filepath.Join(folder, name)))
		case strings.HasSuffix(name, expectExtension), filepath.Ext(name) == wordExtension:
		case filepath.Ext(name) == dataExtension:
			t.samples = append(t.samples, sample{name: strings.TrimSuffix(name, dataExtension), data: filepath.Join(folder, name)})
		default:
			wrong = append(wrong, fmt.Errorf("%s is not part of a sample: use NAME.json, NAME.expect.json, or NAME.docx",
				filepath.Join(folder, name)))
		}
	}
	for i := range t.samples {
		wrong = append(wrong, t.samples[i].complete(folder, files))
	}
	wrong = append(wrong, withoutSample(folder, files), t.checkSome(folder))
	return t, errors.Join(wrong...)
}

// checkSome returns an error if a folder of samples has none.
func (t *templateTests) checkSome(folder string) error {
	if len(t.samples) == 0 {
		return fmt.Errorf("%s has no sample: add the data of one, such as %s", folder, filepath.Join(folder, "simple.json"))
	}
	return nil
}

// complete reads the expectations of a sample, and finds its golden document.
func (s *sample) complete(folder string, files map[string]bool) error {
	s.golden, s.exists = filepath.Join(folder, s.name+wordExtension), files[s.name+wordExtension]
	s.expects = new(expect.Expectations)
	if !files[s.name+expectExtension] {
		return nil
	}
	path := filepath.Join(folder, s.name+expectExtension)
	text, err := readSmall(path)
	if err != nil {
		return err
	}
	if s.expects, err = expect.Parse(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if s.expects.Fails != "" && s.exists {
		return fmt.Errorf("%s has \"fails\", so there can be no golden document %s", path, s.golden)
	}
	return nil
}

// withoutSample returns errors for expectations and golden documents without a sample.
func withoutSample(folder string, files map[string]bool) error {
	var wrong []error
	for name := range files {
		owner, found := strings.CutSuffix(name, expectExtension)
		if !found {
			owner, found = strings.CutSuffix(name, wordExtension)
		}
		// The sample x.expect would have its data in x.expect.json, which are the expectations of x.
		isSample := files[owner+dataExtension] && !strings.HasSuffix(owner+dataExtension, expectExtension) && owner+dataExtension != optionsFile
		if found && !isTemporary(name) && !isSample {
			wrong = append(wrong, fmt.Errorf("%s has no sample: there is no data in %s", filepath.Join(folder, name), owner+dataExtension))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

func (t *templateTests) readOptions(path string) error {
	text, err := readSmall(path)
	if err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if _, err := lang.Decode(text); err != nil { // whose errors have a line
		return fmt.Errorf("%s: %w", path, err)
	}
	o := &t.options
	targets := map[string]any{"locale": &o.Locale, "time_zone": &o.TimeZone, "missing": &o.Missing, "strict": &o.Strict, "now": &o.Now}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name, _ := token.(string)
		target := targets[name]
		if target == nil {
			return fmt.Errorf("%s: unknown or repeated option %q. The options are locale, time_zone, missing, strict, and now", path, name)
		}
		if err := decoder.Decode(target); err != nil {
			return fmt.Errorf("%s: %s: %w", path, name, err)
		}
		delete(targets, name)
	}
	return nil
}

// readSmall reads a file that is not too large.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSampleFile+1))
	if err == nil && len(text) > maxSampleFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSampleFile)
	}
	return text, err
}
