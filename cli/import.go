package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"platen/docx/importer"
)

type importCmd struct {
	Template   string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template of another product."`
	Output     string `short:"o" required:"" placeholder:"OUT.docx" help:"File for the converted template. An existing file is replaced."`
	From       string `placeholder:"LANGUAGE" help:"Language of the tags: ${import_languages} (default: detected)."`
	Delimiters string `placeholder:"'OPEN END'" help:"What tags begin and end with: '[[ ]]'. With the marks of blocks: '{ } >> <<'."`
	Data       string `placeholder:"DATA.json" help:"Sample data (an object or an array of objects), to decide what the tags leave open."`
	JSON       bool   `name:"json" help:"Print the report as JSON."`
}

// Help is the additional text of platen import --help.
func (*importCmd) Help() string {
	return "Examples:\n\n  platen import letter.docx -o platen-letter.docx\n" +
		"  platen import invoice.docx -o invoice-platen.docx --from carbone --data sample.json\n\n" +
		"A tag without an exact equivalent stays in the document, with a Word comment that says what to write. " +
		"The exit code is 0 if all tags were converted, 3 if some were not, and 1 if no template was written."
}

// importReport is the output with --json.
type importReport struct {
	Template string `json:"template"`
	Output   string `json:"output"`
	*importer.Report
}

// Run converts the template, and prints what became of its tags.
func (c *importCmd) Run(s *streams) error {
	template, err := os.ReadFile(c.Template)
	if err != nil {
		return err
	}
	if err := c.checkOutput(); err != nil {
		return err
	}
	options := importer.Options{From: c.From}
	if c.Delimiters != "" {
		delimiters := strings.Fields(c.Delimiters)
		if len(delimiters) != 2 && len(delimiters) != 4 || c.From == "" {
			return errors.New("--delimiters takes two, separated by a space, such as '[[ ]]', and needs --from")
		}
		options.Open, options.End = delimiters[0], delimiters[1]
		if len(delimiters) > 2 {
			options.BlockOpen, options.BlockEnd = delimiters[2], delimiters[3]
		}
	}
	if c.Data != "" {
		if options.Data, err = samples(c.Data, s.in); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	report, err := importer.Convert(&out, bytes.NewReader(template), int64(len(template)), options)
	if unknown, ok := errors.AsType[*importer.LanguageError](err); ok {
		return fmt.Errorf("%s: %s %s", c.Template, unknown.Message, unknown.Hint)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Template, err)
	}
	err = writeAtomically(c.Output, func(w io.Writer) error {
		_, err := w.Write(out.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	full := importReport{c.Template, c.Output, report}
	if c.JSON {
		err = printJSON(s.out, full)
	} else {
		err = full.print(s.out)
	}
	if err == nil && report.Commented+report.Elsewhere > 0 {
		return errIncomplete
	}
	return err
}

// checkOutput reports an output that is the template itself, or that is named as a file of another type.
func (c *importCmd) checkOutput() error {
	if extension := filepath.Ext(c.Template); !hasExtension(c.Output, extension) {
		return fmt.Errorf("%s: the converted template is of the same type as %s: name a file that ends in %s", c.Output, c.Template, extension)
	}
	template, err := os.Stat(c.Template)
	if err != nil {
		return err
	}
	if output, err := os.Stat(c.Output); err == nil && os.SameFile(template, output) {
		return fmt.Errorf("%s is the template: name another file with -o, so that the template stays as it is", c.Output)
	}
	return nil
}

// samples reads sample data: the object in a file, or the objects in its array.
func samples(path string, stdin io.Reader) ([]any, error) {
	text, err := readText(path, stdin)
	if err != nil {
		return nil, err
	}
	if _, _, err := parseData(path, text); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	decoder.UseNumber()
	var data any
	if err := decoder.Decode(&data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if list, ok := data.([]any); ok {
		return list, nil
	}
	return []any{data}, nil
}

// print prints the report for people: first the tags that need work.
func (r *importReport) print(w io.Writer) error {
	var b strings.Builder
	for i := range r.Results {
		if t := &r.Results[i]; t.Reason != "" {
			fmt.Fprintf(&b, "%s: %s was not converted: %s\n", importLocation(t), t.Original, t.Reason)
			if t.Advice != "" {
				fmt.Fprintf(&b, "  %s\n", t.Advice)
			}
		}
	}
	for i := range r.Results {
		t := &r.Results[i]
		switch {
		case t.Reason != "":
		case t.Removed:
			fmt.Fprintf(&b, "%s: %s was removed%s\n", importLocation(t), t.Original, remarks(t))
		default:
			fmt.Fprintf(&b, "%s: %s → %s%s\n", importLocation(t), t.Original, t.Converted, remarks(t))
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	fmt.Fprintf(&b, "%s: %d %s of %s: %d converted, %d not\n", r.Output, r.Tags, plural(r.Tags, "tag"), r.From, r.Converted,
		r.Commented+r.Elsewhere)
	_, err := io.WriteString(w, b.String())
	return err
}

// remarks are the notes on a tag, in parentheses.
func remarks(t *importer.Result) string {
	if len(t.Notes) == 0 {
		return ""
	}
	return " (" + strings.Join(t.Notes, "; ") + ")"
}

// importLocation is where a tag is, as messages of other commands say it.
func importLocation(t *importer.Result) string {
	if t.Heading != "" {
		return fmt.Sprintf("%s, %s, under %q", t.Part, t.Place, t.Heading)
	}
	return t.Part + ", " + t.Place
}
