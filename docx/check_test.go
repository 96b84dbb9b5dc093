package docx

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"platen/docx/lang"
	"platen/docx/program"
)

// An execution that would write a damaged document returns an error with the place. Later executions of the template succeed.
func TestDamagedDocumentIsRefused(t *testing.T) {
	file, err := os.ReadFile("../examples/letter/template.docx")
	if err != nil {
		t.Fatal(err)
	}
	template, err := Parse(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	damage(template.compiled.Document.Parts[template.compiled.Document.Main].Steps) // a fault of the engine, such as there should be none
	execute := func(value string) error {
		sample, err := template.Sample()
		if err != nil {
			t.Fatal(err)
		}
		data, err := lang.Decode(bytes.ReplaceAll(sample, []byte(`": "`), []byte(`": "`+value)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = template.Execute(t.Context(), new(bytes.Buffer), data, Options{})
		return err
	}
	for range 2 {
		if err := execute("one line "); err != nil {
			t.Fatalf("a good document is refused: %v", err)
		}
		problems, ok := errors.AsType[Errors](execute(`two\nlines `))
		if !ok || len(problems) != 1 {
			t.Fatalf("the error is %v, want one problem", problems)
		}
		p := problems[0]
		if p.Part != "/word/document.xml" || !strings.HasPrefix(p.Place, "w:document/w:body/") ||
			!strings.Contains(p.Message, "w:p is not allowed in w:t") {
			t.Errorf("the problem is %+v", p)
		}
	}
}

// damage has line breaks of values become paragraphs inside the text.
func damage(steps []program.Step) {
	for _, step := range steps {
		switch step := step.(type) {
		case *program.Value:
			step.Breaks = &program.Breaks{Line: []byte("<w:p/>"), Tab: step.Breaks.Tab}
		case *program.LoneValue:
			damage(step.Body)
		case *program.Guard:
			damage(step.Body)
		case *program.Loop:
			damage(step.Body)
		case *program.If:
			for _, branch := range step.Branches {
				damage(branch.Body)
			}
		}
	}
}
