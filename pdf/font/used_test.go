package font

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"platen/docx/fonts"
	"platen/docx/style/styletest"
)

func TestUsed(t *testing.T) {
	filler := strings.Repeat("stream of bytes /Base ", scanBuffer/11)
	pdf := "%PDF-1.7\n1 0 obj<</Type/Font/BaseFont/BAAAAA+LiberationSans-Bold/X 1>>\n2 0 obj<</BaseFont /Arial,Bold>> " +
		"/BaseFont\n/Caf#C3#A9>>" + filler + "/BaseFont/CAAAAA+Carlito " + filler[:scanBuffer-7] +
		"/BaseFont/DAAAAA+Carlito>>/BaseFont(none)/BaseFont/lower+Case /BaseFont/#4 /BaseFont/Last"
	want := []string{"#4", "Arial,Bold", "Café", "Carlito", "Last", "LiberationSans-Bold", "lower+Case"}
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(pdf), "in pieces": iotest.OneByteReader(strings.NewReader(pdf))} {
		got, err := Used(r)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q (%v)", name, got, want, err)
		}
	}
	for _, pdf := range []string{"", "/BaseFont", "/BaseFont/", "/BaseFont " + strings.Repeat("x", 2*scanBuffer)} {
		if got, err := Used(strings.NewReader(pdf)); err != nil || len(got) > 0 {
			t.Errorf("%.20q: %q, %v", pdf, got, err)
		}
	}
	if _, err := Used(iotest.ErrReader(errors.New("the disk is gone"))); err == nil {
		t.Error("no error from a reader that fails")
	}
}

// TestUsedInObjectStreams finds dictionaries in object streams, as newer programs write them.
func TestUsedInObjectStreams(t *testing.T) {
	pack := func(text string) string {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	object := func(data string) string {
		return "3 0 obj<</Type /ObjStm/N 1/First 4/Filter/FlateDecode/Length 9>>\r\nstream\r\n" + data + "\nendstream endobj\n"
	}
	one := pack("1 0 <</Type/Font/BaseFont/ABCDEF+One>>")
	two := pack(strings.Repeat("x", 3*scanBuffer) + "/BaseFont/Two /Type/ObjStm stream /BaseFont/Three")
	pdf := "%PDF-1.7 " + object(one) + strings.Repeat("/Filler ", scanBuffer/5) + object(two) + object(one[:9]) + object("not packed") +
		"/BaseFont/Four /ObjStm stream"
	want := []string{"Four", "One", "Two"}
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(pdf), "in pieces": iotest.OneByteReader(strings.NewReader(pdf))} {
		got, err := Used(r)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q (%v)", name, got, want, err)
		}
	}
}

// FuzzUsed checks that any PDF is scanned to its end.
func FuzzUsed(f *testing.F) {
	f.Add([]byte("<</BaseFont/ABCDEF+One#20Two>>"))
	f.Add([]byte("/Type/ObjStm>>stream\nx\x9cK\xcc\x04\x00\x01\x8d\x00\xca"))
	f.Fuzz(func(t *testing.T, pdf []byte) {
		names, err := Used(bytes.NewReader(pdf))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if name == "" || len(name) > maxNamePDF {
				t.Errorf("the name %q", name)
			}
		}
	})
}

// office converts documents with a separate LibreOffice, which has the configuration of a library and a temporary profile. It returns the
// PDF files by the names of the documents.
func office(t *testing.T, l *Library, documents map[string][]byte) map[string][]byte {
	t.Helper()
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed: soffice is not on the PATH")
	}
	config := configure(t, l)
	dir := t.TempDir()
	args := []string{"-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--headless", "--convert-to", "pdf", "--outdir", dir}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		file := filepath.Join(dir, name+".docx")
		if err := os.WriteFile(file, documents[name], 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, soffice, args...)
	cmd.Env = append(os.Environ(), "FONTCONFIG_FILE="+config.file, "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pdfs := map[string][]byte{}
	for name := range documents {
		b, err := os.ReadFile(filepath.Join(dir, name+".pdf"))
		if err == nil {
			pdfs[name] = b
		}
	}
	return pdfs
}

// pdffonts returns the fonts that poppler finds in a PDF.
func pdffonts(t *testing.T, pdf []byte) []string {
	t.Helper()
	program, err := exec.LookPath("pdffonts")
	if err != nil {
		t.Skip("poppler-utils is not installed: pdffonts is not on the PATH")
	}
	file := filepath.Join(t.TempDir(), "x.pdf")
	if err := os.WriteFile(file, pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	lines := slices.Collect(strings.Lines(string(out)))
	for _, line := range lines[min(2, len(lines)):] {
		name, _, _ := strings.Cut(line, " ")
		if _, after, ok := strings.Cut(name, "+"); ok {
			name = after
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// predicted returns the families that a PDF should have according to a report.
func predicted(r *Report) []string {
	var families []string
	for _, f := range r.Fonts {
		families = append(families, f.Used)
	}
	for _, g := range r.Fallback {
		families = append(families, g.DrawnIn)
	}
	slices.Sort(families)
	return slices.Compact(families)
}

// TestOfficeUsesWhatIsPredicted checks that LibreOffice, with the configuration of a library, uses the fonts that the report names.
func TestOfficeUsesWhatIsPredicted(t *testing.T) {
	all := installed(t)
	own := t.TempDir()
	rename(t, regular(all.Family("Carlito")), "Georgia", own) // like a font that the operator bought
	l := open(t, Folders{Operator: own, System: SystemFolders})
	font := func(name string) []byte {
		b, err := os.ReadFile(rename(t, regular(all.Family("DejaVu Serif")), name, t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	documents := map[string][]byte{}
	paragraph := func(runs string) []byte {
		return styletest.Parts{"document": styletest.Paragraph("", runs)}.Docx(t, nil)
	}
	for _, name := range []string{
		"Arial", "Times New Roman", "Courier New", "Calibri", "Cambria", "Calibri Light", "Georgia", "Helvetica", "Aptos", "Verdana",
		"Consolas", "Garamond", "Segoe UI", "Nobody's Own", "MS Mincho", "Liberation Sans Narrow", "Arial Narrow",
	} {
		documents["of "+name] = paragraph(styletest.Run(styletest.Face(name), "Hello, world"))
	}
	documents["embedded"] = styletest.Parts{
		"document":  styletest.Paragraph("", styletest.Run(styletest.Face("House Style!"), "Hello, world")),
		"settings":  `<w:embedTrueTypeFonts/>`,
		"fontTable": `<w:font w:name="House Style!"><w:embedRegular r:id="1.odttf" w:fontKey="` + fontKey + `"/></w:font>`,
	}.Docx(t, map[string][]byte{"1.odttf": garble(font("House Style!"))})
	// LibreOffice ignores a font that may only be viewed, because it could also edit the document.
	documents["restricted"] = styletest.Parts{
		"document":  styletest.Paragraph("", styletest.Run(styletest.Face("Kept to View"), "Hello, world")),
		"fontTable": `<w:font w:name="Kept to View"><w:embedRegular r:id="1.odttf" w:fontKey="` + fontKey + `"/></w:font>`,
	}.Docx(t, map[string][]byte{"1.odttf": garble(restrict(t, font("Kept to View")))})
	documents["fallback"] = paragraph(styletest.Run(styletest.Face("Calibri"), "snow ☃"))
	documents["bullets"] = paragraph(`<w:r><w:sym w:font="Symbol" w:char="F0B7"/></w:r>` +
		styletest.Run(styletest.Face("Wingdings"), "ü§"))
	documents["sign"] = paragraph(`<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>`)
	pdfs := office(t, l, documents)
	for name, docx := range documents {
		if embeds := read(t, docx).Embeds(); embeds != (name == "embedded" || name == "restricted") {
			t.Errorf("%s embeds fonts: %v", name, embeds)
		}
		report := l.Report(read(t, docx))
		want := predicted(report)
		if name == "embedded" {
			if report.Fonts[0].Status != Embedded {
				t.Errorf("the embedded font is %+v", report.Fonts[0])
			}
			want = []string{"HouseStyle!"} // its name in the PDF
		}
		names, err := Used(bytes.NewReader(pdfs[name]))
		if err != nil {
			t.Fatal(err)
		}
		if poppler := pdffonts(t, pdfs[name]); !slices.Equal(names, poppler) {
			t.Errorf("%s: Used finds %q, pdffonts %q", name, names, poppler)
		}
		if got := l.UsedIn(names); !slices.Equal(got, want) {
			t.Errorf("%s: LibreOffice used %q, predicted were %q", name, got, want)
		}
	}
}

// restrict returns a font that may be embedded only for viewing and printing.
func restrict(t *testing.T, font []byte) []byte {
	t.Helper()
	file, err := readSFNT(io.NewSectionReader(bytes.NewReader(font), 0, int64(len(font))))
	if err != nil {
		t.Fatal(err)
	}
	const viewAndPrint = 4
	font = slices.Clone(font)
	be.PutUint16(font[file.faces[0]["OS/2"].offset+8:], viewAndPrint)
	return font
}

const (
	// corpusShare is the number of real documents of which one is converted. Some of them may use other fonts than predicted, for charts
	// and for content that LibreOffice formats in its own way.
	corpusShare  = 24
	maxSurprises = 3
)

func TestOfficeOnCorpus(t *testing.T) {
	l := installed(t)
	files, documents := corpusFiles(t), map[string][]byte{}
	for name, b := range files {
		if _, err := fonts.Read(bytes.NewReader(b), int64(len(b))); err == nil && len(b)%corpusShare == 0 {
			documents[strings.NewReplacer("/", "-", ".docx", "").Replace(name)] = b
		}
	}
	surprises, pdfs := 0, office(t, l, documents)
	for name, pdf := range pdfs {
		names, err := Used(bytes.NewReader(pdf))
		if err != nil {
			t.Fatal(err)
		}
		if poppler := pdffonts(t, pdf); !slices.Equal(names, poppler) {
			t.Errorf("%s: Used finds %q, pdffonts %q", name, names, poppler)
		}
		got, want := l.UsedIn(names), predicted(l.Report(read(t, documents[name])))
		if !slices.Equal(got, want) {
			t.Logf("%s: LibreOffice used %q, predicted were %q", name, got, want)
			surprises++
		}
	}
	t.Logf("%d of %d PDF files have other fonts than predicted", surprises, len(pdfs))
	if surprises > maxSurprises || len(pdfs) < 8 {
		t.Errorf("%d of %d PDF files have other fonts than predicted", surprises, len(pdfs))
	}
}
