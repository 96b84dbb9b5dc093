package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"platen/docx"
)

type watchCmd struct {
	Dir    string        `arg:"" placeholder:"DIR" help:"Folder with templates, watched with all folders below it; or one template."`
	Out    string        `short:"o" placeholder:"OUT" help:"Folder for the documents of the samples, outside of DIR (default: the folder out next to the samples of each template)."`
	Poll   time.Duration `default:"500ms" placeholder:"TIME" help:"Time between two looks at the files (default 500ms)."`
	Folder string        `placeholder:"ID" group:"Server" help:"Folder on the server to upload templates to that have no mistakes and whose samples pass (default: upload nothing)."`
	remote
	contentsFlags
	engineFlags
	pdfConfig
}

// Help is the additional text of platen watch --help.
func (*watchCmd) Help() string {
	return "Waits for templates to be saved. Then it checks the template as platen check does, runs its samples as platen test does, and " +
		"writes their documents. With --folder, it then uploads the template as the new version of the file of the same name, or as a new " +
		"file, and marks it as a template. A template is also checked when its samples or the files that it includes change. Looking " +
		"at files regularly also works on network drives. Press Ctrl-C to stop."
}

// minPoll is the least time between two looks.
const minPoll = 50 * time.Millisecond

// kong calls Validate after parsing.
func (c *watchCmd) Validate() error {
	var problems []error
	if c.Poll < minPoll || c.Poll > time.Minute {
		problems = append(problems, fmt.Errorf("--poll must be from %v to 1m, not %v", minPoll, c.Poll))
	}
	if c.Folder != "" {
		problems = append(problems, c.remote.Validate())
	}
	return errors.Join(problems...)
}

// Run watches until it is interrupted.
func (c *watchCmd) Run(ctx context.Context, s *streams) (err error) {
	w, err := c.watcher(s.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.begin(); err != nil {
		return err
	}
	ticker := time.NewTicker(c.Poll)
	defer ticker.Stop()
	return w.run(ctx, ticker.C)
}

// watcher handles the changes of templates.
type watcher struct {
	dir    string
	runner *sampleRunner
	pdf    *pdfConfig
	out    *documentsFolder
	upload *uploader // nil: nothing is uploaded
	print  io.Writer
	now    func() time.Time

	known      map[string]*watched // by the paths of the templates
	unreadable int                 // for how many looks they cannot be read
}

// watched is a template as the watcher has seen it.
type watched struct {
	handled  string // the state that was handled last
	last     string // the state at the last look
	looks    int    // for how many looks the state is the same
	includes map[string]bool
}

func (c *watchCmd) watcher(out io.Writer) (*watcher, error) {
	w := &watcher{
		dir: c.Dir, runner: &sampleRunner{flags: c.engineFlags, contents: c.contents(), keep: true}, pdf: &c.pdfConfig,
		out: &documentsFolder{root: c.Dir, out: c.Out}, print: out, now: time.Now, known: map[string]*watched{},
	}
	if c.Folder != "" {
		w.upload = &uploader{api: c.client(), folder: c.Folder}
	}
	if _, err := w.runner.options(sampleOptions{}); err != nil {
		return nil, err
	}
	if err := w.out.check(); err != nil {
		return nil, err
	}
	return w, nil
}

// begin remembers the states of all templates. Later changes are handled.
func (w *watcher) begin() error {
	tests, problems, err := findTests(w.dir)
	if err != nil {
		return err
	}
	for i := range tests {
		if tests[i].wrong != nil {
			problems = append(problems, tests[i].wrong.Error())
		}
	}
	for _, problem := range problems {
		fmt.Fprintf(w.print, "%s\n", problem)
	}
	templates, err := w.templates()
	if err != nil {
		return err
	}
	for _, path := range templates {
		includes := w.includes(path)
		state := stateOf(path, includes)
		w.known[path] = &watched{handled: state, last: state, includes: includes}
	}
	where := ""
	if w.upload != nil {
		where = ", and uploading to folder " + w.upload.folder
	}
	fmt.Fprintf(w.print, "Watching %d %s in %s%s. Press Ctrl-C to stop.\n", len(templates), plural(len(templates), "template"), w.dir, where)
	return nil
}

// run handles changes at each tick, until ctx ends.
func (w *watcher) run(ctx context.Context, ticks <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is the normal way to stop
		case <-ticks:
			w.look(ctx)
		}
	}
}

func (w *watcher) close() error {
	if w.runner.converter == nil {
		return nil
	}
	return w.runner.converter.engine.Close()
}

// templates returns the paths of the templates.
func (w *watcher) templates() ([]string, error) {
	info, err := os.Stat(w.dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{w.dir}, nil
	}
	found, err := templateFiles(w.dir)
	if err != nil {
		return nil, err
	}
	return found.templates, nil
}

const (
	// stableLooks is the number of looks for which a file must be unchanged until it is read. Programs write files in several steps.
	stableLooks = 1
	// patientLooks is that number for a file that cannot be opened yet.
	patientLooks = 6
)

// look handles the templates that have changed and are complete.
func (w *watcher) look(ctx context.Context) {
	templates, err := w.templates()
	if w.noteUnreadable(err); err != nil {
		return
	}
	exists := map[string]bool{}
	for _, path := range templates {
		exists[path] = true
		t := w.known[path]
		if t == nil {
			t = &watched{}
			w.known[path] = t
		}
		state := stateOf(path, t.includes)
		if state != t.last {
			t.last, t.looks = state, 0
			continue
		}
		if state == t.handled {
			continue
		}
		if t.looks++; t.looks < stableLooks || t.looks < patientLooks && !isComplete(path) {
			continue
		}
		t.includes = w.includes(path)
		t.last = stateOf(path, t.includes)
		t.handled = t.last
		if w.handle(ctx, path); ctx.Err() != nil {
			return
		}
	}
	for path := range w.known {
		if !exists[path] {
			delete(w.known, path)
		}
	}
}

// noteUnreadable reports that the templates cannot be read, and that they can again. The error may pass at once: a file is being renamed.
func (w *watcher) noteUnreadable(err error) {
	if err == nil {
		if w.unreadable >= patientLooks {
			fmt.Fprintf(w.print, "%s can be read again.\n", w.dir)
		}
		w.unreadable = 0
		return
	}
	if w.unreadable++; w.unreadable == patientLooks {
		fmt.Fprintf(w.print, "The templates cannot be read: %s. Watching goes on.\n", err)
	}
}

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

// stateOf describes the sizes and times of the files that determine the results of a template: itself, the files that it includes, and its
// samples.
func stateOf(path string, includes map[string]bool) string {
	var b strings.Builder
	note := func(path string) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	note(path)
	for _, included := range sortedKeys(includes) {
		note(included)
	}
	folder := samplesFolder(path)
	entries, err := os.ReadDir(folder)
	if err != nil { // usually, there are no samples
		return b.String()
	}
	for _, entry := range entries {
		if !entry.IsDir() && !isTemporary(entry.Name()) {
			note(filepath.Join(folder, entry.Name()))
		}
	}
	return b.String()
}

// includes returns the paths of the files that a template includes. Mistakes are reported when the template is handled.
func (w *watcher) includes(path string) map[string]bool {
	files := map[string]bool{}
	_, err := openTemplate(path, w.runner.contents, func(name string) {
		files[filepath.Join(filepath.Dir(path), filepath.FromSlash(name))] = true
	})
	if err != nil && len(files) == 0 {
		return nil
	}
	return files
}

// handle checks a template, runs its samples, writes their documents, and uploads the template.
func (w *watcher) handle(ctx context.Context, path string) {
	began := w.now()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", began.Format(time.TimeOnly), path)
	passed := w.check(&b, path) && w.runSamples(ctx, &b, path)
	if w.upload != nil && passed && ctx.Err() == nil {
		if err := w.upload.template(ctx, &b, path); err != nil {
			fmt.Fprintf(&b, "    not uploaded: %s. The next save tries again.\n", err)
		}
	} else if w.upload != nil {
		b.WriteString("    not uploaded\n")
	}
	fmt.Fprintf(&b, "    done in %.1f s\n", w.now().Sub(began).Seconds())
	_, _ = w.print.Write(b.Bytes()) // without a terminal, the results are in the files
}

// check prints the mistakes and warnings of a template, and reports whether it has no mistakes.
func (w *watcher) check(b *bytes.Buffer, path string) bool {
	report := checkReport{Template: path}
	template, err := parseTemplateWith(path, w.runner.contents)
	if mistaken, ok := errors.AsType[*templateError](err); ok {
		report.Problems, report.Warnings = mistaken.problems.Mistakes(), mistaken.problems.Warnings()
	} else if err != nil {
		fmt.Fprintf(b, "%s\n", indent(err.Error()))
		return false
	} else {
		report.Warnings = template.Warnings()
	}
	var own bytes.Buffer
	if err := report.print(&own); err != nil {
		fmt.Fprintf(b, "%s\n", indent(err.Error()))
	}
	b.WriteString(indent(strings.TrimSpace(own.String())) + "\n")
	return len(report.Problems) == 0
}

// runSamples runs the samples of a template, and writes their documents. It reports whether all passed.
func (w *watcher) runSamples(ctx context.Context, b *bytes.Buffer, path string) bool {
	t := testsOf(path)
	if documents := w.runner.needsPages([]templateTests{t}); documents > 0 && w.runner.converter == nil {
		flags := defaultPDFFlags
		var err error
		if w.runner.converter, err = newConverter(w.pdf, &flags, "", w.pdf.workers()); err != nil {
			w.runner.converter = nil
			fmt.Fprintf(b, "%s\n", indent("pages cannot be counted: "+err.Error()))
		}
	}
	result := w.runner.run(ctx, &t)
	if len(result.Samples) > 0 || result.Failure != "" {
		var own bytes.Buffer
		result.print(&own)
		b.WriteString(indent(strings.TrimSpace(own.String())) + "\n")
	}
	written, err := w.out.write(&result)
	if err != nil {
		fmt.Fprintf(b, "%s\n", indent(err.Error()))
	}
	if written != "" {
		fmt.Fprintf(b, "    documents in %s\n", written)
	}
	return newTestReport([]testedTemplate{result}).Failed == 0
}
