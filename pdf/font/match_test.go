package font

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestStandIns(t *testing.T) {
	l := installed(t)
	for asked, want := range map[string]Match{
		"Liberation Serif":   {Status: Installed, Used: "Liberation Serif"},
		"liberationserif":    {Status: Installed, Used: "Liberation Serif"},
		"Arial":              {Status: MetricCompatible, Used: "Liberation Sans"},
		"Helvetica":          {Status: MetricCompatible, Used: "Liberation Sans"},
		"Times New Roman":    {Status: MetricCompatible, Used: "Liberation Serif"},
		"Courier New":        {Status: MetricCompatible, Used: "Liberation Mono"},
		"CALIBRI":            {Status: MetricCompatible, Used: "Carlito"},
		"Cambria":            {Status: MetricCompatible, Used: "Caladea"},
		"Calibri Light":      {Status: Substituted, Used: "Carlito"},
		"Consolas":           {Status: Substituted, Used: "Liberation Mono"},
		"Garamond":           {Status: Substituted, Used: "Liberation Serif"},
		"Aptos":              {Status: Substituted, Used: "Liberation Sans"},
		"Nobody's Own":       {Status: Substituted, Used: "Liberation Sans"},
		"":                   {Status: Substituted, Used: "Liberation Sans"},
		"Wingdings":          {Status: Substituted, Used: "OpenSymbol"},
		"Palatino Linotype":  {Status: Substituted, Used: "Liberation Serif"},
		"Century Schoolbook": {Status: Substituted, Used: "Liberation Serif"},
	} {
		if asked == "Wingdings" && len(l.Family(openSymbol)) == 0 {
			continue
		}
		if got := l.Match(asked); got.Status != want.Status || got.Used != want.Used {
			t.Errorf("%q: %s %q, want %s %q", asked, got.Status, got.Used, want.Status, want.Used)
		}
	}
}

// TestOneFontServesAll checks that every font has a substitute, whatever is installed.
func TestOneFontServesAll(t *testing.T) {
	dir := t.TempDir()
	(&made{family: "Only One", chars: "a"}).write(t, dir, "one.ttf")
	l := open(t, Folders{System: []string{dir}})
	for _, s := range knownStandIns() {
		if m := l.Match(s.name); m.Used != "Only One" || m.Status != Substituted {
			t.Errorf("%s: %+v", s.name, m)
		}
	}
}

// TestWidths checks fonts with the widths of Word's fonts, and Debian's Caladea, whose widths differ.
func TestWidths(t *testing.T) {
	l := installed(t)
	for asked, used := range map[string]string{"Arial": "Liberation Sans", "Times New Roman": "Liberation Serif",
		"Courier New": "Liberation Mono", "Calibri": "Carlito"} {
		if w := compareWidths(asked, regular(l.Family(used))); w != nil {
			t.Errorf("%s for %s: %+v", used, asked, w)
		}
	}
	caladea := regular(l.Family("Caladea"))
	if width, _ := caladea.Advance('a'); width > 480 {
		t.Skipf("this is a Caladea with Cambria's widths: %s", caladea.File)
	}
	want := WidthMismatch{Character: "a", Width: 0.47, Expected: 0.488, Percent: -4.3}
	if w := compareWidths("Cambria", caladea); w == nil || *w != want {
		t.Errorf("Caladea for Cambria: %+v, want %+v", w, want)
	}
	// Without a similar font, the difference is large.
	if w := compareWidths("Calibri", regular(l.Family("Liberation Sans"))); w == nil || w.Percent < 5 {
		t.Errorf("Liberation Sans for Calibri: %+v", w)
	}
	if w := compareWidths("Garamond", caladea); w != nil {
		t.Errorf("Garamond's widths are not known here, but: %+v", w)
	}
}

// fontconfig is a fontconfig with the configuration of a library.
type fontconfig struct{ file string }

func configure(t *testing.T, l *Library) fontconfig {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	if err := l.WriteConfig(&out, filepath.Join(dir, "cache")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "fonts.conf")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return fontconfig{file}
}

// run runs one of fontconfig's programs.
func (f fontconfig) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("fontconfig is not installed: %s is not on the PATH", name)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "FONTCONFIG_FILE="+f.file, "HOME="+filepath.Dir(f.file))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s %q: %v\n%s", name, args, err, stderr.String())
	}
	return string(out)
}

// TestFontconfigAgrees checks that fontconfig chooses the same family and file as Match, for the names that Platen knows and for others.
func TestFontconfigAgrees(t *testing.T) {
	l := installed(t)
	f := configure(t, l)
	names := []string{"Nobody's Own", "Liberation Serif", "DejaVu Sans Mono"}
	for _, s := range knownStandIns() {
		names = append(names, s.name)
	}
	slices.Sort(names)
	for _, name := range names {
		m := l.Match(name)
		want := regular(m.faces).File
		escaped := strings.NewReplacer(`\`, `\\`, "-", `\-`, ":", `\:`, ",", `\,`).Replace(name)
		if got := f.run(t, "fc-match", "--format", "%{file}", escaped); got != want {
			t.Errorf("fontconfig gives %s for %q, and Match %s of %s", got, name, want, m.Used)
		}
	}
	bold := f.run(t, "fc-match", "--format", "%{file}", "Calibri:bold:italic")
	if !strings.HasSuffix(bold, "BoldItalic.ttf") || !strings.Contains(bold, "Carlito") {
		t.Errorf("bold Calibri in italics is %s", bold)
	}
}

// TestLanguagesOfEastAsia checks that the language of the text decides between fonts for East Asian characters, and the language of a Word
// font between its substitutes.
func TestLanguagesOfEastAsia(t *testing.T) {
	all, dir := installed(t), t.TempDir()
	rename(t, regular(all.Family("Liberation Sans")), "Liberation Sans", dir)
	for _, name := range []string{"Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK TC"} {
		rename(t, regular(all.Family("DejaVu Sans Mono")), name, dir)
	}
	l := open(t, Folders{System: []string{dir}})
	f := configure(t, l)
	const onlyInThose = 0x531 // an Armenian letter
	for tag, want := range map[string]string{"ja": "JP", "zh-cn": "SC", "zh-tw": "TC", "en": "SC", "ko": "SC"} {
		want = "Noto Sans CJK " + want
		if got := l.drawing(textRune{onlyInThose, eastAsianIndex(tag)}); got != want {
			t.Errorf("in %s a character is drawn in %s, want %s", tag, got, want)
		}
		if got := f.run(t, "fc-match", "--format", "%{family}", fmt.Sprintf("Calibri:lang=%s:charset=%x", tag, onlyInThose)); got != want {
			t.Errorf("in %s fontconfig has %s, want %s", tag, got, want)
		}
		if got := f.run(t, "fc-match", "--format", "%{family}", "Calibri:lang="+tag); got != "Liberation Sans" {
			t.Errorf("in %s fontconfig has %s for Calibri", tag, got)
		}
	}
	for asked, want := range map[string]string{
		"MS Mincho": "Noto Sans CJK JP", "ＭＳ ゴシック": "Noto Sans CJK JP", "宋体": "Noto Sans CJK SC", "新細明體": "Noto Sans CJK TC",
		"Malgun Gothic": "Liberation Sans",
	} {
		m := l.Match(asked)
		if got := f.run(t, "fc-match", "--format", "%{family}", asked); got != want || m.Used != want {
			t.Errorf("for %s fontconfig has %s and Match %s, want %s", asked, got, m.Used, want)
		}
	}
}

// TestFontconfigSeesTheLibrary checks that fontconfig sees only the fonts of the library, wherever the operator's folder is.
func TestFontconfigSeesTheLibrary(t *testing.T) {
	all := installed(t)
	own := filepath.Join(t.TempDir(), `fonts & <more>`)
	mine := rename(t, regular(all.Family("Carlito")), "Calibri", own)
	rename(t, regular(all.Family("Liberation Sans")), "Liberation Sans", own)
	if err := os.Symlink(own, filepath.Join(own, "again")); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(own, "bad.ttf")
	if err := os.WriteFile(bad, []byte("bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Folders{Operator: own, System: SystemFolders})
	f := configure(t, l)
	// The fonts of the user who runs the server do not count.
	for _, folder := range []string{".fonts", ".local/share/fonts"} {
		rename(t, regular(all.Family("Carlito")), "Private", filepath.Join(filepath.Dir(f.file), folder))
	}
	want := map[string]bool{}
	for _, face := range l.Faces() {
		want[face.File] = true
	}
	got := map[string]bool{}
	for line := range strings.Lines(f.run(t, "fc-list", "--format", "%{file}\n")) {
		got[strings.TrimSpace(line)] = true
	}
	if !maps.Equal(got, want) {
		t.Errorf("fontconfig sees %d files, the library %d:\n%q\n%q", len(got), len(want), slices.Sorted(maps.Keys(got)),
			slices.Sorted(maps.Keys(want)))
	}
	if m := l.Match("Calibri"); m.Status != Installed || m.faces[0].File != mine {
		t.Errorf("Calibri: %+v", m)
	}
	if used := regular(l.Family("Liberation Sans")); filepath.Dir(used.File) != own {
		t.Errorf("Liberation Sans is %s, and not the operator's", used.File)
	}
	if entries, err := os.ReadDir(filepath.Join(filepath.Dir(f.file), "cache")); err != nil || len(entries) == 0 {
		t.Errorf("the cache has %d files: %v", len(entries), err)
	}
}

// rename writes a font to a folder under another name, which must have the same length as its own.
func rename(t *testing.T, face *Face, name, folder string) string {
	t.Helper()
	b, err := os.ReadFile(face.File)
	if err != nil {
		t.Fatal(err)
	}
	wide := func(s string) []byte { return u16s(utf16.Encode([]rune(s))...) }
	b = bytes.ReplaceAll(b, wide(face.Families[0]), wide(name))
	b = bytes.ReplaceAll(b, []byte(face.Families[0]), []byte(name))
	b = bytes.ReplaceAll(b, wide(strings.ReplaceAll(face.Families[0], " ", "")), wide(strings.ReplaceAll(name, " ", "")))
	if len(name) != len(face.Families[0]) {
		t.Fatalf("%q is not as long as %q", name, face.Families[0])
	}
	file := filepath.Join(folder, strings.ReplaceAll(name, " ", "")+".ttf")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestConfigIsXML(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a&b")
	(&made{family: `Ampers & "Sand"`, chars: "a"}).write(t, dir, "x.ttf")
	var out bytes.Buffer
	if err := open(t, Folders{System: []string{dir}}).WriteConfig(&out, "/cache & more"); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(&out); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
