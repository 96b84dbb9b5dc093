package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	outFolder        = "out" // where platen watch writes documents

	maxSamples    = 10_000   // of all templates
	maxSampleFile = 64 << 20 // bytes
)

// templateTests are a template and its samples.
type templateTests struct {
	path    string // of the template
	samples []sample
	options sampleOptions
	wrong   error // mistakes in the files of its samples, of which none can then run
}

// sample is one sample of a template.
type sample struct {
	name    string // "paid"
	data    string // path
	golden  string // path; it may not exist
	exists  bool   // the golden document exists
	expects *expect.Expectations
}

// isTemplateFile reports whether a file is a Word document and not a temporary file of Word or another program.
func isTemplateFile(name string) bool {
	return !isTemporary(name) && (isWord(name) || hasExtension(name, macroExtension) || isWordTemplate(name))
}

// isTemporary reports whether a program creates a file of this name while another one is open or being written, or Windows creates it to
// show a folder.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") || strings.HasSuffix(name, "~") ||
		strings.EqualFold(filepath.Ext(name), ".tmp") || strings.EqualFold(name, "Thumbs.db") || strings.EqualFold(name, "desktop.ini")
}

// findTests returns the templates in a folder and the folders below it, in the order of their paths, with their samples. The path may also
// be that of one template. The problems are mistakes in the layout that belong to no template.
func findTests(path string) (tests []templateTests, problems []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		if !isTemplateFile(filepath.Base(path)) {
			return nil, nil, usagef("%s is not a Word template: use a folder, or a file that ends in .docx, .docm, .dotx, or .dotm", path)
		}
		return []templateTests{testsOf(path)}, nil, nil
	}
	found, err := templateFiles(path)
	if err != nil {
		return nil, nil, err
	}
	owners, total := map[string]string{}, 0
	for _, template := range found.templates {
		folder := samplesFolder(template)
		t := templateTests{path: template}
		if other := owners[folder]; other != "" && slices.Contains(found.folders, folder) {
			t.wrong = fmt.Errorf("%s belongs to both %s and %s: rename one of the templates", folder, other, template)
		} else {
			owners[folder] = template
			t = testsOf(template)
		}
		tests = append(tests, t)
		if total += len(t.samples); total > maxSamples {
			return nil, nil, fmt.Errorf("%s has more than %d samples", path, maxSamples)
		}
	}
	return tests, found.problems(owners), nil
}

// samplesFolder returns the folder for the samples of a template.
func samplesFolder(template string) string {
	return strings.TrimSuffix(template, filepath.Ext(template)) + samplesExtension
}

// templateFolder is what is below a folder of templates. Hidden folders are left out.
type templateFolder struct {
	templates []string
	folders   []string // of samples
	misnamed  []string // folders whose names are almost those of folders of samples
	links     []string // to folders, which are not followed
	closed    []closedFolder
}

// closedFolder is a folder that cannot be read.
type closedFolder struct {
	path string
	err  error
}

// isClosed reports whether a path is below a folder that cannot be read.
func (f *templateFolder) isClosed(path string) bool {
	return slices.ContainsFunc(f.closed, func(folder closedFolder) bool {
		return strings.HasPrefix(path, folder.path+string(filepath.Separator))
	})
}

func templateFiles(root string) (*templateFolder, error) {
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // the folder, and not the link to it
	}
	found := &templateFolder{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path != root:
			found.closed = append(found.closed, closedFolder{path, err})
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() && strings.HasSuffix(entry.Name(), samplesExtension):
			if path == root {
				return usagef("%s has samples of a template: use the folder that contains it, or the template", root)
			}
			found.folders = append(found.folders, path)
			return fs.SkipDir
		case entry.IsDir() && almostSamples.MatchString(entry.Name()):
			found.misnamed = append(found.misnamed, path)
		case entry.Type()&fs.ModeSymlink != 0 && isFolder(path):
			found.links = append(found.links, path)
		case !entry.IsDir() && isTemplateFile(entry.Name()):
			found.templates = append(found.templates, path)
		}
		return nil
	})
	return found, err
}

// almostSamples matches names that people write instead of that of a folder of samples.
var almostSamples = regexp.MustCompile(`(?i)\.tests?$`)

// isFolder reports whether a path leads to a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// problems returns the mistakes in the layout, given the templates of the folders of samples.
func (f *templateFolder) problems(owners map[string]string) []string {
	var all []string
	for _, folder := range f.folders {
		if owners[folder] == "" {
			all = append(all, fmt.Sprintf("%s has no template: there is no %s.docx next to it", folder,
				strings.TrimSuffix(filepath.Base(folder), samplesExtension)))
		}
	}
	for _, folder := range f.misnamed {
		meant := almostSamples.ReplaceAllString(folder, samplesExtension)
		if owner := owners[meant]; owner != "" {
			all = append(all, fmt.Sprintf("%s is not read: rename it to %s, if it has the samples of %s", folder, meant, owner))
		}
	}
	for _, folder := range f.closed {
		all = append(all, plainPaths(folder.err))
	}
	for _, link := range f.links {
		all = append(all, link+" links to a folder, which is not read: run the command with this folder itself, and delete the link")
	}
	return all
}

// testsOf returns a template with its samples. There may be none.
func testsOf(template string) templateTests {
	t := templateTests{path: template}
	folder := samplesFolder(template)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return t
	}
	if err != nil {
		t.wrong = err
		return t
	}
	files := map[string]bool{}
	for _, entry := range entries {
		files[entry.Name()] = true
	}
	var wrong []error
	for _, entry := range entries {
		wrong = append(wrong, t.addFile(folder, entry, files))
	}
	for i := range t.samples {
		wrong = append(wrong, t.samples[i].complete(folder, files))
	}
	if err := errors.Join(append(wrong, withoutSample(folder, files), t.checkSome(folder))...); err != nil {
		return templateTests{path: template, wrong: err}
	}
	return t
}

// sampleNames returns the names of the samples of a template, even if there are mistakes in their files.
func sampleNames(template string) map[string]bool {
	names := map[string]bool{}
	entries, err := os.ReadDir(samplesFolder(template))
	if err != nil { // reported with the results of the samples
		return names
	}
	for _, entry := range entries {
		name, isData := strings.CutSuffix(entry.Name(), dataExtension)
		if isData && entry.Name() != optionsFile && !strings.HasSuffix(entry.Name(), expectExtension) {
			names[name] = true
		}
	}
	return names
}

// addFile adds what a file in the folder of samples is. The files are all names in the folder.
func (t *templateTests) addFile(folder string, entry fs.DirEntry, files map[string]bool) error {
	name := entry.Name()
	path := filepath.Join(folder, name)
	switch {
	case isTemporary(name), entry.IsDir() && name == outFolder, strings.EqualFold(filepath.Ext(name), ".md"):
	case entry.IsDir():
		return fmt.Errorf("%s is a folder, but samples are files", path)
	case !entry.Type().IsRegular() && entry.Type()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is not a file", path)
	case name == optionsFile:
		var err error
		t.options, err = readSampleOptions(path)
		return err
	case strings.EqualFold(name, optionsFile):
		return fmt.Errorf("%s is not read: rename it to %s", path, optionsFile)
	case strings.HasSuffix(name, expectExtension), filepath.Ext(name) == wordExtension:
	case isAlmostExpectations(name, files):
		return fmt.Errorf("%s is not read: the name of expectations is NAME%s", path, expectExtension)
	case filepath.Ext(name) == dataExtension:
		t.samples = append(t.samples, sample{name: strings.TrimSuffix(name, dataExtension), data: path})
	default:
		return fmt.Errorf("%s is not part of a sample: use NAME.json, NAME.expect.json, or NAME.docx", path)
	}
	return nil
}

// almostExpectations matches names that people write instead of NAME.expect.json.
var almostExpectations = regexp.MustCompile(`(?i)^(.+)([._-])(expect[a-z]*)\.json$`)

// isAlmostExpectations reports whether a file looks like the expectations of a sample with another name. One such as as-expected.json may
// be a sample, unless there is one called as.json.
func isAlmostExpectations(name string, files map[string]bool) bool {
	parts := almostExpectations.FindStringSubmatch(name)
	return parts != nil && (parts[2] == "." || files[parts[1]+dataExtension])
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
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		if _, err := lang.Decode(text); err != nil { // whose errors have a line
			return inFile(path, err)
		}
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
