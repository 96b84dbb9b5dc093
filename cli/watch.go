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
	defer func() { err = errors.Join(err, w.runner.close()) }()
	if w.upload != nil {
		if err := w.upload.check(ctx, s.out); err != nil {
			return err
		}
	}
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
	poll   time.Duration // between two looks
	now    func() time.Time

	known      map[string]*watched // by the paths of the templates
	unreadable int                 // for how many looks some cannot be read
	reported   bool                // that they cannot be read
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
		out: &documentsFolder{root: c.Dir, out: c.Out}, print: out, poll: c.Poll, now: time.Now, known: map[string]*watched{},
	}
	if c.Folder != "" {
		w.upload = &uploader{api: c.client(), folder: c.Folder, longest: uploadTime, now: w.now, done: make(chan string)}
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
	found, err := w.templates()
	if err != nil {
		return err
	}
	for _, path := range found.templates {
		saved := w.read(path)
		w.known[path] = &watched{handled: saved.state, last: saved.state, includes: saved.includes}
	}
	where := ""
	if w.upload != nil {
		where = ", and uploading to folder " + w.upload.folder
	}
	n := len(found.templates)
	fmt.Fprintf(w.print, "Watching %d %s in %s%s. Press Ctrl-C to stop.\n", n, plural(n, "template"), w.dir, where)
	return nil
}

// run handles changes at each tick, until ctx ends.
func (w *watcher) run(ctx context.Context, ticks <-chan time.Time) error {
	var uploaded chan string // never receives anything without a server
	if w.upload != nil {
		uploaded = w.upload.done
	}
	for {
		select {
		case <-ctx.Done(): // Ctrl-C is the normal way to stop
			if w.upload != nil && w.upload.current != "" {
				w.upload.end(ctx, w.print, <-uploaded)
			}
			return nil
		case result := <-uploaded:
			w.upload.end(ctx, w.print, result)
		case <-ticks:
			w.look(ctx)
		}
	}
}

// templates returns the templates, and the folders that cannot be read.
func (w *watcher) templates() (*templateFolder, error) {
	info, err := os.Stat(w.dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return &templateFolder{templates: []string{w.dir}}, nil
	}
	return templateFiles(w.dir)
}

const (
	// stableLooks is the number of looks for which a file must be unchanged until it is read. Programs write files in several steps.
	stableLooks = 1
	// patientLooks is that number for a file that cannot be opened yet, and for a folder that cannot be read until that is reported.
	patientLooks = 6
	// patientTime is the time after which fewer looks are enough.
	patientTime = 3 * time.Second
)

// isPatient reports whether a file or folder that cannot be read is looked at again before that is reported.
func (w *watcher) isPatient(looks int) bool {
	return looks < patientLooks && time.Duration(looks)*w.poll < patientTime
}

// look handles the templates that have changed and are complete.
func (w *watcher) look(ctx context.Context) {
	found, err := w.templates()
	if err == nil && len(found.closed) > 0 {
		w.noteUnreadable(found.closed[0].err)
	} else if w.noteUnreadable(err); err != nil {
		return
	}
	exists := map[string]bool{}
	for _, path := range found.templates {
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
		if t.looks++; t.looks < stableLooks || w.isPatient(t.looks) && !isComplete(path) {
			continue
		}
		saved := w.read(path)
		t.includes, t.last, t.handled = saved.includes, saved.state, saved.state
		if w.handle(ctx, saved); ctx.Err() != nil {
			return
		}
	}
	for path := range w.known {
		if !exists[path] && !found.isClosed(path) {
			delete(w.known, path)
		}
	}
}

// noteUnreadable reports that the templates cannot be read, and that they can again. The error may pass at once: a file is being renamed.
func (w *watcher) noteUnreadable(err error) {
	if err == nil {
		if w.reported {
			fmt.Fprintf(w.print, "%s can be read again.\n", w.dir)
		}
		w.unreadable, w.reported = 0, false
		return
	}
	if w.unreadable++; !w.reported && !w.isPatient(w.unreadable) {
		w.reported = true
		fmt.Fprintf(w.print, "The templates cannot be read: %s. Watching continues.\n", err)
	}
}

// handle checks a template, runs its samples, writes their documents, and uploads the template.
func (w *watcher) handle(ctx context.Context, saved *savedTemplate) {
	began := w.now()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", began.Format(time.TimeOnly), saved.path)
	passed := w.check(&b, saved)
	if passed {
		passed = w.runSamples(ctx, &b, saved)
	} else {
		w.writeDocuments(&b, &testedTemplate{Template: saved.path})
	}
	if w.upload != nil {
		w.uploadIf(ctx, &b, saved, passed)
	}
	fmt.Fprintf(&b, "    done in %.1f s\n", w.now().Sub(began).Seconds())
	_, _ = w.print.Write(b.Bytes()) // without a terminal, the results are in the files
}

// uploadIf uploads a template if it passed.
func (w *watcher) uploadIf(ctx context.Context, b *bytes.Buffer, saved *savedTemplate, passed bool) {
	switch {
	case !passed || ctx.Err() != nil:
		b.WriteString("    not uploaded\n")
	case w.namesake(saved.path) != "":
		fmt.Fprintf(b, "    not uploaded: %s has the same name, and the folder of the server can have only one: rename one of them\n",
			w.namesake(saved.path))
	case saved.samplesChanged():
		b.WriteString("    not uploaded: the files of its samples were saved during the check, so it is checked again\n")
	default:
		w.upload.add(ctx, b, upload{saved.path, saved.content})
	}
}

// namesake returns another template with the same file name, or "".
func (w *watcher) namesake(path string) string {
	for _, other := range sortedKeys(w.known) {
		if other != path && strings.EqualFold(filepath.Base(other), filepath.Base(path)) {
			return other
		}
	}
	return ""
}

// check prints the mistakes and warnings of a template, and reports whether it has no mistakes.
func (w *watcher) check(b *bytes.Buffer, saved *savedTemplate) bool {
	report := checkReport{Template: saved.path}
	if mistaken, ok := errors.AsType[*templateError](saved.err); ok {
		report.Problems, report.Warnings = mistaken.problems.Mistakes(), mistaken.problems.Warnings()
	} else if saved.err != nil {
		fmt.Fprintf(b, "%s\n", indent(plainPaths(saved.err)))
		return false
	} else {
		report.Warnings = saved.template.Warnings()
	}
	var own bytes.Buffer
	if err := report.print(&own); err != nil {
		fmt.Fprintf(b, "%s\n", indent(plainPaths(err)))
	}
	b.WriteString(indent(strings.TrimSpace(own.String())) + "\n")
	return len(report.Problems) == 0
}

// runSamples runs the samples of a template, and writes their documents. It reports whether all passed.
func (w *watcher) runSamples(ctx context.Context, b *bytes.Buffer, saved *savedTemplate) bool {
	t := testsOf(saved.path)
	if documents := w.runner.needsPages([]templateTests{t}); documents > 0 && w.runner.converter == nil {
		if err := w.runner.countPages(w.pdf, w.pdf.workers()); err != nil {
			fmt.Fprintf(b, "%s\n", indent("pages cannot be counted: "+err.Error()))
		}
	}
	result := w.runner.run(ctx, &t, func() (*docx.Template, error) { return saved.template, saved.err })
	if len(result.Samples) > 0 || result.Failure != "" {
		var own bytes.Buffer
		result.print(&own)
		b.WriteString(indent(strings.TrimSpace(own.String())) + "\n")
	}
	w.writeDocuments(b, &result)
	return newTestReport([]testedTemplate{result}).Failed == 0
}

// writeDocuments writes the documents of samples, and prints where they are.
func (w *watcher) writeDocuments(b *bytes.Buffer, result *testedTemplate) {
	written, removed, err := w.out.write(result)
	if err != nil {
		fmt.Fprintf(b, "%s\n", indent(plainPaths(err)))
	}
	if written != "" {
		fmt.Fprintf(b, "    documents in %s\n", written)
	}
	if len(removed) > 0 {
		fmt.Fprintf(b, "    removed the earlier %s of %s\n", plural(len(removed), "document"), strings.Join(removed, ", "))
	}
}
