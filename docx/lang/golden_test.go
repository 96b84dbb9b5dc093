package lang_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"platen/docx/lang"
	"platen/docx/locale"
)

// TestGolden runs the cases in testdata: data, and sections of templates with their outcomes. A template is on a separate line, and its
// outcome is indented below it: the text (quoted if it has line breaks or blanks around it), its presentation, and the
// reported problems, or the reason why the template is invalid. The name of a section may have settings, as in
// "cases locale=de zone=Europe/Paris now=2026-11-21T15:04:05Z missing=blank".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		golden, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(golden.Files) > 0 && golden.Files[0].Name == "data.json" {
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { runGolden(t, name, golden) })
		}
	}
}

func runGolden(t *testing.T, name string, golden *txtar.Archive) {
	data, err := lang.Decode(golden.Files[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range golden.Files[1:] {
		section := &golden.Files[i+1]
		got := runSection(t, data, settings(t, section.Name), string(section.Data))
		if *update {
			section.Data = []byte(got)
		} else if diff := cmp.Diff(string(section.Data), got); diff != "" {
			t.Errorf("%s: %s", section.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(golden), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// settings reads the name of a section.
func settings(t *testing.T, name string) lang.Options {
	t.Helper()
	var opt lang.Options
	for field := range strings.FieldsSeq(name) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			continue
		}
		var err error
		switch key {
		case "locale":
			var ok bool
			if opt.Locale, ok = locale.Find(value); !ok {
				err = errors.New("there is no such locale")
			}
		case "zone":
			opt.Location, err = time.LoadLocation(value)
		case "now":
			opt.Now, err = time.Parse(time.RFC3339, value)
		case "missing":
			opt.Missing = map[string]lang.Missing{"tag": lang.MissingTag, "blank": lang.MissingBlank, "error": lang.MissingError}[value]
		default:
			err = errors.New("there is no such setting")
		}
		if err != nil {
			t.Fatalf("%s: %v", field, err)
		}
	}
	return opt
}

func runSection(t *testing.T, data lang.Value, opt lang.Options, section string) string {
	var out strings.Builder
	for line := range strings.Lines(section) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "\t"): // of the last run
		case line == "" || strings.HasPrefix(line, "#"):
			out.WriteString(line + "\n")
		default:
			var use lang.Use
			opt.Use = &use
			out.WriteString(line + "\n" + indent(outcome(t, lang.NewEnv(data, opt), &use, line)))
		}
	}
	return out.String()
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(s, "\n", "\n\t") + "\n"
}

// outcome runs a template, and returns its output and problems.
func outcome(t *testing.T, e *lang.Env, use *lang.Use, template string) string {
	t.Helper()
	program := rendering{t: t, env: e, use: use}
	if err := program.parse(template); err != nil {
		if syntax, ok := errors.AsType[*lang.SyntaxError](err); ok {
			text := syntax.Picture() + "\n" + syntax.Message
			if syntax.Hint != "" {
				text += "\nhint: " + syntax.Hint
			}
			return text
		}
		t.Fatal(err)
	}
	program.run(0, len(program.pieces))
	lines := []string{quoted(program.out.String())}
	lines = append(lines, program.shown...)
	for _, s := range e.Errors() {
		lines = append(lines, "error: "+s)
	}
	for _, s := range e.Warnings() {
		if !strings.Contains(s, "was provided but not used") {
			lines = append(lines, "warning: "+s)
		}
	}
	if err := e.Err(); err != nil {
		lines = append(lines, "no document: "+err.Error())
	}
	return strings.Join(lines, "\n")
}

// quoted returns s, in quotes if it would not be read off a line.
func quoted(s string) string {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s, "\n\t") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// rendering executes a template as an engine does: pieces of text and tags.
type rendering struct {
	t      *testing.T
	env    *lang.Env
	use    *lang.Use
	pieces []piece
	out    strings.Builder
	shown  []string
}

type piece struct {
	text string
	tag  *lang.Tag // nil: text
	end  int       // of a tag that opens or parts a block: the piece that ends the part
}

func (r *rendering) parse(template string) error {
	var open []int
	var scope lang.Scope
	at := 0
	spans, _ := lang.Find(template)
	for _, span := range spans {
		r.pieces = append(r.pieces, piece{text: template[at:span.Start]})
		at = span.End
		tag, err := lang.ParseTag(template[span.Start:span.End])
		if err != nil {
			return err
		}
		here := len(r.pieces)
		switch tag.Kind {
		case lang.EndFor, lang.EndTableRow, lang.EndTableColumn, lang.EndIf, lang.Else, lang.ElseIf:
			if len(open) == 0 {
				return fmt.Errorf("%s closes nothing", tag.Text)
			}
			opener := open[len(open)-1]
			r.pieces[opener].end, open = here, open[:len(open)-1]
			if r.pieces[opener].tag.Kind.IsLoop() {
				scope.Close()
			}
		}
		r.use.Add(tag, &scope)
		switch tag.Kind {
		case lang.Let:
			scope.Let(tag)
		case lang.For, lang.TableRow, lang.TableColumn:
			scope.Open(tag)
			open = append(open, here)
		case lang.If, lang.Else, lang.ElseIf:
			open = append(open, here)
		}
		r.pieces = append(r.pieces, piece{tag: tag})
	}
	r.pieces = append(r.pieces, piece{text: template[at:]})
	if len(open) > 0 {
		return fmt.Errorf("%s is not closed", r.pieces[open[0]].tag.Text)
	}
	return nil
}

// run executes the pieces from one to before another.
func (r *rendering) run(from, to int) {
	for i := from; i < to; i++ {
		p := r.pieces[i]
		if p.tag == nil {
			r.out.WriteString(p.text)
			continue
		}
		switch p.tag.Kind {
		case lang.Print:
			r.value(p.tag)
		case lang.For, lang.TableRow, lang.TableColumn:
			items, err := r.env.List(p.tag)
			r.check(err)
			for n, item := range items {
				r.env.Push(p.tag, item, n, len(items))
				r.run(i+1, p.end)
				r.env.Pop()
			}
			i = p.end
		case lang.If:
			depth := r.env.Depth()
			i = r.condition(i)
			r.env.Restore(depth)
		case lang.Let:
			r.check(r.env.Let(p.tag))
		}
	}
}

// condition runs the part of an if that holds and returns its last piece.
func (r *rendering) condition(i int) int {
	done := false
	for {
		p := r.pieces[i]
		if p.tag.Kind == lang.EndIf {
			return i
		}
		holds := !done && p.tag.Kind == lang.Else
		if !done && !holds {
			var err error
			holds, err = r.env.Test(p.tag)
			r.check(err)
		}
		if holds {
			r.run(i+1, p.end)
			done = true
		}
		i = p.end
	}
}

func (r *rendering) value(tag *lang.Tag) {
	s, p, ok, err := r.env.Show(tag)
	r.check(err)
	if !ok {
		s = tag.Text
	}
	r.out.WriteString(s)
	if p != nil && ok {
		r.shown = append(r.shown, "shown: "+describe(*p))
	}
	if tag.Filter("chart") != nil && ok {
		c, _, err := r.env.Chart(tag)
		r.check(err)
		if c != nil {
			r.shown = append(r.shown, fmt.Sprintf("chart: %v %v", c.Categories, c.Series))
			if c.Errors != nil {
				r.shown = append(r.shown, fmt.Sprintf("error bars: %v", c.Errors))
			}
		}
	}
}

func (r *rendering) check(err error) {
	if err != nil {
		r.t.Fatal(err)
	}
}

// describe says what is set in p.
func describe(p lang.Present) string {
	var set []string
	names := [...]string{"", "literal", "html", "markdown", "wordml", "image", "qrcode", "barcode", "checkbox", "pagebreak", "chart"}
	if p.As != 0 {
		set = append(set, names[p.As])
	}
	flag := func(name string, on bool) {
		if on {
			set = append(set, name)
		}
	}
	value := func(name string, v any, zero any) {
		if v != zero {
			set = append(set, fmt.Sprintf("%s=%v", name, v))
		}
	}
	flag("checked", p.Checked)
	flag("bold", p.Bold)
	flag("italic", p.Italic)
	flag("underline", p.Underline)
	flag("strike", p.Strike)
	value("color", p.Color, "")
	value("style", p.Style, "")
	value("link", p.Link, "")
	value("width", p.Width, lang.Length(0))
	value("height", p.Height, lang.Length(0))
	value("fit", p.Fit, "")
	value("symbology", p.Symbology, "")
	flag("merge", p.Merge)
	value("span", p.Span, 0)
	value("shade", p.Shade, "")
	value("rotation", p.Rotation, 0)
	for _, entry := range p.Entries {
		value("entry", entry.Text+"/"+entry.Value, "")
	}
	if len(set) == 0 {
		return "as it is"
	}
	return strings.Join(set, " ")
}
