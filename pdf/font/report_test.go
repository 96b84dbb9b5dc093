package font

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"platen/docx/fonts"
	"platen/docx/style/styletest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

// reportLibrary returns the fonts for the tests of reports: Liberation, a Caladea with other widths, and only a few symbols.
func reportLibrary(t testing.TB) *Library {
	t.Helper()
	return open(t, Folders{System: []string{reportFonts(t)}})
}

// reportFonts returns a folder with these fonts.
func reportFonts(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	latin := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-–"
	for _, m := range []*made{
		{family: "Liberation Sans", version: "2.1.5", chars: latin + "éж", advance: 556},
		{family: "Liberation Serif", version: "2.1.5", chars: latin, advance: 500},
		{family: "Caladea", version: "1.001", chars: latin, advance: 470},
		{family: "Carlito", version: "1.104", chars: latin, advance: 500},
		{family: "Georgia", chars: latin, advance: 510},
		{family: "DejaVu Sans", version: "2.37", chars: latin + "①☃", advance: 600},
		{family: "OpenSymbol", version: "102", chars: "•", advance: 600},
	} {
		m.write(t, dir, strings.ReplaceAll(m.family, " ", "")+".ttf")
	}
	return dir
}

func TestReport(t *testing.T) {
	fonts := map[string][]byte{
		"1.odttf": garble((&made{family: "House Style", chars: "hello"}).bytes()),
		"2.odttf": garble((&made{family: "Look Only", chars: "hello", rights: 4}).bytes()),
		"3.odttf": []byte("no font"),
	}
	table := ""
	for i, name := range []string{"House Style", "Look Only", "Broken"} {
		table += fmt.Sprintf(`<w:font w:name="%s"><w:embedRegular r:id="%d.odttf" w:fontKey="%s"/></w:font>`, name, i+1, fontKey)
	}
	text := ""
	for _, f := range [][2]string{
		{"Arial", "Hello, wörld"}, {"Georgia", "hello"}, {"Cambria", "hello"}, {"Calibri", "hello ж"}, {"Aptos", "hello ☃ ☂"},
		{"Gill Sans MT", "hello 你好"},
		{"Segoe UI", "hello"}, {"Wingdings", "\uF0FCü\uF023"}, {"Symbol", "\uF0B7•"}, {"House Style", "hello x"}, {"Look Only", "hello"},
		{"Broken", "hello"},
		{"SimSun", "①"}, {"MS Mincho", "今日は、よい天気ですね。東京から"}, {"Segoe UI Emoji", "😀"}, {"Icons", "\uE001"}, {"Mangal", "नम"},
	} {
		text += styletest.Paragraph("", styletest.Run(`<w:rFonts w:ascii="`+f[0]+`" w:hAnsi="`+f[0]+`" w:eastAsia="`+f[0]+`"/>`, f[1]))
	}
	d := read(t, styletest.Parts{"document": text, "fontTable": table}.Docx(t, fonts))
	report := reportLibrary(t).Report(d)
	if again := reportLibrary(t).Report(d); cmp.Diff(report.Warnings(), again.Warnings()) != "" {
		t.Error("the warnings are in another order the second time")
	}
	b, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", string(b)+"\n")
	golden(t, "warnings.txt", strings.Join(report.Warnings(), "\n")+"\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// fontKey is a key that a font is obfuscated with.
const fontKey = "{00112233-4455-6677-8899-AABBCCDDEEFF}"

// garble obfuscates a font, as Word does when it embeds one.
func garble(b []byte) []byte {
	key, err := hex.DecodeString(strings.Trim(strings.ReplaceAll(fontKey, "-", ""), "{}"))
	if err != nil {
		panic(err)
	}
	b = slices.Clone(b)
	for i := range 32 {
		b[i] ^= key[15-i%16]
	}
	return b
}

// TestNoWarnings checks that an installed font, and a substitute with the same widths, cause no warning.
func TestNoWarnings(t *testing.T) {
	l := installed(t)
	text := ""
	for _, name := range []string{"Arial", "Times New Roman", "Courier New", "Calibri", "Liberation Sans"} {
		text += styletest.Paragraph("", styletest.Run(styletest.Face(name), "Hello, world, déjà vu – 100 €"))
	}
	report := l.Report(read(t, styletest.Parts{"document": text}.Docx(t, nil)))
	if got := report.Warnings(); len(got) > 0 || len(report.Fallback)+len(report.Missing) > 0 {
		t.Errorf("warnings %q, report %+v", got, report)
	}
}

// TestReportsAtOnce creates reports of one library concurrently.
func TestReportsAtOnce(t *testing.T) {
	l, docx := reportLibrary(t), styletest.Parts{"document": styletest.Paragraph("", styletest.Run(styletest.Face("Calibri"),
		"hello ж ☃ 你好"))}.Docx(t, nil)
	want := reportLibrary(t).Report(read(t, docx)).Warnings()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			d, err := fonts.Read(bytes.NewReader(docx), int64(len(docx)))
			if err != nil {
				t.Error(err)
				return
			}
			if diff := cmp.Diff(want, l.Report(d).Warnings()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
	group.Wait()
}

func TestManyMissingCharacters(t *testing.T) {
	var text strings.Builder
	for r := rune(0x4E00); r < 0x4E00+500; r++ {
		text.WriteRune(r)
	}
	report := reportLibrary(t).Report(read(t,
		styletest.Parts{"document": styletest.Paragraph("", styletest.Run(`<w:rFonts w:eastAsia="SimSun"/>`, text.String()))}.Docx(t, nil)))
	if len(report.Missing) != 1 || report.Missing[0].Count != 500 || len(report.Missing[0].Codes) != maxShown ||
		len([]rune(report.Missing[0].Text)) != maxShown {
		t.Errorf("missing: %+v", report.Missing)
	}
	if w := report.Warnings(); len(w) != 1 || len(w[0]) > 600 {
		t.Errorf("warnings: %q", w)
	}
}

func TestManyFonts(t *testing.T) {
	const maxFonts = 500 // maximum number of different fonts that package fonts lists
	var text strings.Builder
	for i := range 2 * maxFonts {
		text.WriteString(styletest.Run(styletest.Face(fmt.Sprintf("Font %03d", i)), "hello"))
	}
	report := reportLibrary(t).Report(read(t, styletest.Parts{"document": styletest.Paragraph("", text.String())}.Docx(t, nil)))
	if len(report.Fonts) != maxFonts {
		t.Errorf("%d fonts are told apart, want %d", len(report.Fonts), maxFonts)
	}
	warnings := report.Warnings()
	last := warnings[len(warnings)-1]
	if len(warnings) != maxFontWarnings+1 ||
		!strings.HasPrefix(last, `480 more fonts are not installed, and others are used instead: "Font 020", `) || len(last) > 400 {
		t.Errorf("%d warnings, the last %q", len(warnings), last)
	}
}

// TestAllCharacters uses a document with every printable character of Unicode.
func TestAllCharacters(t *testing.T) {
	var text strings.Builder
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && unicode.IsPrint(r) {
			text.WriteRune(r)
		}
	}
	report := installed(t).Report(read(t, styletest.Parts{"document": styletest.Paragraph("", styletest.Run("", text.String()))}.Docx(t, nil)))
	if len(report.Missing) < 50 || len(report.Warnings()) != len(report.Missing) {
		t.Errorf("%d scripts are missing, and there are %d warnings", len(report.Missing), len(report.Warnings()))
	}
}

// FuzzContainer checks that any container is read or rejected.
func FuzzContainer(f *testing.F) {
	f.Add(styletest.Parts{"document": styletest.Paragraph("",
		styletest.Run(`<w:rFonts w:ascii="A" w:hAnsi="H" w:eastAsia="E" w:cs="C"/>`, "aé中")),
		"fontTable": `<w:font w:name="X"><w:embedRegular r:id="1.odttf"/></w:font>`}.Docx(f,
		map[string][]byte{"1.odttf": (&made{family: "X", chars: "a"}).bytes()}))
	dir := reportFonts(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := fonts.Read(bytes.NewReader(b), int64(len(b))); err == nil {
			open(t, Folders{System: []string{dir}}).Report(d)
		}
	})
}
