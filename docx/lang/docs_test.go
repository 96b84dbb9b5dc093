package lang_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"platen/docx/lang"
	"platen/docx/locale"
)

const page = "../../docs/templates.md"

var (
	jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")
	codeSpan  = regexp.MustCompile("``(.+?)``|`([^`]+)`")
	plainly   = strings.NewReplacer("\u00a0", " ", "\u202f", " ")
)

// TestDocumentedResults runs the tags of the tables in the user documentation that show what a tag leaves: those whose second
// column is called result, or whose columns are called by locales.
func TestDocumentedResults(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	data, err := lang.Decode(jsonBlock.FindSubmatch(text)[1])
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	shown := 0
	for line := range strings.Lines(string(text)) {
		row, ok := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !ok {
			if !strings.HasPrefix(line, "|--") {
				columns = nil
			}
			continue
		}
		cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
		if columns == nil {
			columns = cells
			continue
		}
		for i, head := range columns[1:] {
			if head == "result" || isLocale(head) {
				shown++
				checkDocumented(t, data, head, cells[0], cells[i+1])
			}
		}
	}
	if shown < 90 {
		t.Errorf("only %d results are shown", shown)
	}
}

func isLocale(name string) bool { return name == "en" || name == "de" || name == "fr" }

func checkDocumented(t *testing.T, data lang.Value, head, tags, want string) {
	t.Helper()
	opt := lang.Options{Now: time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)}
	if isLocale(head) {
		opt.Locale, _ = locale.Find(head)
	}
	var use lang.Use
	r := rendering{t: t, env: lang.NewEnv(data, opt), use: &use}
	if err := r.parse(codeSpan.ReplaceAllString(tags, "$1$2")); err != nil {
		t.Error(err)
		return
	}
	r.run(0, len(r.pieces))
	got := plainly.Replace(strings.TrimSpace(r.out.String()))
	if strings.HasPrefix(want, "nothing") {
		want = ""
	}
	if want = codeSpan.ReplaceAllString(want, "$1$2"); got != want {
		t.Errorf("%s leaves %q in %s, not %q", tags, got, head, want)
	}
}
