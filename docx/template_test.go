package docx_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/ooxml"
	"platen/ooxml/names"
)

// invoiceDocument has a table row per item.
var invoiceDocument = map[string]string{"document.xml": `<w:p><w:r><w:t>{{name}}</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p>` +
	`<w:bookmarkStart w:id="1" w:name="b"/><w:bookmarkEnd w:id="1"/><w:r><w:t>{{tablerow i in items}}{{i}} ` +
	`{{missing}}{{endtablerow}}</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>`}

func mustParse(t testing.TB, parts map[string]string) *docx.Template {
	t.Helper()
	tpl, err := parse(build(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func TestSameInputGivesSameBytes(t *testing.T) {
	file := build(t, invoiceDocument)
	data := decode(t, `{"name":"N","items":[1,2,3]}`)
	var outputs [2][]byte
	for i := range outputs {
		tpl, err := parse(file)
		if err != nil {
			t.Fatal(err)
		}
		outputs[i], _ = execute(t, tpl, data)
	}
	if !bytes.Equal(outputs[0], outputs[1]) {
		t.Error("two templates of one file gave different bytes")
	}
}

func TestExecutionsDoNotDisturbEachOther(t *testing.T) {
	tpl := mustParse(t, invoiceDocument)
	want := make([][]byte, 8)
	report := make([]docx.Report, len(want))
	for i := range want {
		want[i], report[i] = execute(t, tpl, decode(t, dataOf(i)))
	}
	var wg sync.WaitGroup
	for i := range want {
		wg.Go(func() {
			for range 5 {
				var out bytes.Buffer
				got, err := tpl.Execute(t.Context(), &out, decode(t, dataOf(i)), docx.Options{})
				if err != nil || !bytes.Equal(out.Bytes(), want[i]) || !cmp.Equal(got, report[i], cmp.AllowUnexported(docx.Error{})) {
					t.Errorf("execution %d came out otherwise beside others: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func dataOf(i int) string {
	return fmt.Sprintf(`{"name":"N%d","items":[%s0],"extra%d":1}`, i, strings.Repeat("1,", i*100), i)
}

func TestLongTablesTakeNoMemory(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>{{tablerow i in ` +
		`items}}{{i}}{{endtablerow}}</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>`})
	allocs := func(rows int) float64 {
		data := decode(t, `{"items":[`+strings.Repeat(`"value",`, rows)+`"last"]}`)
		return testing.AllocsPerRun(5, func() {
			if _, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := allocs(10), allocs(20_000); long > short+50 {
		t.Errorf("20,000 rows allocate %v times, 10 rows %v times", long, short)
	}
}

type failingWriter struct{ after int }

var errFull = errors.New("the disk is full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestExecuteReportsTheWriter(t *testing.T) {
	tpl := mustParse(t, invoiceDocument)
	data := decode(t, dataOf(20))
	for _, after := range []int{0, 500, 1500} {
		if _, err := tpl.Execute(t.Context(), &failingWriter{after}, data, docx.Options{}); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: error = %v, want that of the writer", after, err)
		}
	}
}

func TestParseRefusesWhatIsNoTemplate(t *testing.T) {
	for name, tt := range map[string]struct {
		file []byte
		code ooxml.Code
	}{
		"empty":       {nil, ooxml.CodeEmpty},
		"encrypted":   {[]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), ooxml.CodeEncrypted},
		"text":        {[]byte("Dear {{name}}"), ooxml.CodeNotZip},
		"zip":         {compiletest.Pack(t, map[string]string{"a.txt": "a"}), ooxml.CodeNotWord},
		"broken XML":  {build(t, map[string]string{"document.xml": "<w:p>"}), ooxml.CodeBadXML},
		"no prefix":   {build(t, map[string]string{"document.xml": "<x:p>{{a}}</x:p>"}), ooxml.CodeBadXML},
		"entity bomb": {build(t, map[string]string{"document.xml": "<w:p>&bomb;</w:p>"}), ooxml.CodeBadXML},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tt.file)
			if e, ok := errors.AsType[*ooxml.Error](err); !ok || e.Code != tt.code {
				t.Errorf("error = %v, want code %s", err, tt.code)
			}
		})
	}
}

func TestStrictDocumentsAreFilled(t *testing.T) {
	files := unpack(t, build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{a}}</w:t></w:r></w:p>`,
		"header1.xml": `<w:p><w:r><w:t>{{a}}</w:t></w:r></w:p>`}))
	for name, content := range files {
		content = strings.ReplaceAll(content, "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
			"http://purl.oclc.org/ooxml/wordprocessingml/main")
		files[name] = strings.ReplaceAll(content, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/",
			"http://purl.oclc.org/ooxml/officeDocument/relationships/")
	}
	tpl, err := parse(compiletest.Pack(t, files))
	if err != nil {
		t.Fatal(err)
	}
	out, _ := execute(t, tpl, decode(t, `{"a":"A"}`))
	for _, part := range []string{"word/document.xml", "word/header1.xml"} {
		if got := strings.TrimSpace(textOf(unpack(t, out)[part])); got != "A" {
			t.Errorf("%s says %q, want A", part, got)
		}
	}
}

// Documents have the content type of their extension, and macros only as .docm.
func TestMacros(t *testing.T) {
	files := unpack(t, build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{a}}</w:t></w:r></w:p>`}))
	const macros = `<Override PartName="/word/vbaProject.bin" ContentType="application/vnd.ms-office.vbaProject"/>` +
		`<Override PartName="/word/vbaData.xml" ContentType="application/vnd.ms-word.vbaData+xml"/>`
	const rel = `<Relationship Id="m%d" Type="http://schemas.microsoft.com/office/2006/relationships/%s" Target="%s"/>`
	const rels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	files["word/vbaProject.bin"], files["word/vbaData.xml"] = "VBA", `<wne:vbaSuppData xmlns:wne="x"/>`
	files["word/_rels/vbaProject.bin.rels"] = rels + fmt.Sprintf(rel, 1, "wordVbaData", "vbaData.xml") + `</Relationships>`
	files["word/_rels/document.xml.rels"] = strings.Replace(files["word/_rels/document.xml.rels"], "</Relationships>",
		fmt.Sprintf(rel, 2, "vbaProject", "vbaProject.bin")+"</Relationships>", 1)
	for _, kind := range []string{names.TypeDocument, names.TypeTemplate, names.TypeMacroTemplate, names.TypeMacroDocument} {
		for _, keep := range []bool{false, true} {
			template := maps.Clone(files)
			template["[Content_Types].xml"] = strings.ReplaceAll(
				strings.Replace(files["[Content_Types].xml"], "</Types>", macros+"</Types>", 1), names.TypeDocument, kind)
			tpl, err := parse(compiletest.Pack(t, template))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if _, err := tpl.Execute(t.Context(), &out, decode(t, `{"a": "A"}`), docx.Options{Macros: keep}); err != nil {
				t.Fatal(err)
			}
			got := unpack(t, out.Bytes())
			all, want := strings.Join(slices.Collect(maps.Values(got)), "\n"), names.TypeDocument
			if keep {
				want = names.TypeMacroDocument
			}
			if types := got["[Content_Types].xml"]; strings.Count(types, ".main+xml") != 1 || !strings.Contains(types, `"`+want+`"`) {
				t.Errorf("a template of type %s gave\n%s\nwant the type %s", kind, types, want)
			}
			hasMacros := strings.Contains(strings.ToLower(all+strings.Join(slices.Collect(maps.Keys(got)), " ")), "vba")
			if hasMacros != keep {
				t.Errorf("macros of a document from a template of type %s: %v, want %v", kind, hasMacros, keep)
			}
		}
	}
}

func TestErrorsNameTheHeadingByItsStyle(t *testing.T) {
	files := unpack(t, build(t, map[string]string{"document.xml": `<w:p><w:pPr><w:pStyle ` +
		`w:val="berschrift1"/></w:pPr><w:r><w:t>Preise</w:t></w:r></w:p><w:p><w:pPr><w:pStyle w:val="Text"/></w:pPr><w:r><w:t>not a ` +
		`heading</w:t></w:r></w:p><w:p><w:r><w:t>{{endif}}</w:t></w:r></w:p>`}))
	files["word/styles.xml"] = `<w:styles ` + compiletest.Namespaces +
		`><w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Text"><w:name ` +
		`w:val="Body Text"/></w:style></w:styles>`
	files["word/_rels/document.xml.rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>` +
		`</Relationships>`
	_, err := parse(compiletest.Pack(t, files))
	problems, ok := errors.AsType[docx.Errors](err)
	if !ok || len(problems) != 1 || problems[0].Heading != "Preise" {
		t.Errorf("error = %v, want one under the heading Preise", err)
	}
}

// The template cache relies on Size: it must be near what templates really hold, once they have been executed.
func TestSizeIsNearTheHeap(t *testing.T) {
	for name, file := range map[string][]byte{"letter": exampleTemplate(t, "letter"), "invoice": exampleTemplate(t, "invoice"),
		"contract": exampleTemplate(t, "contract")} {
		const copies = 50
		templates := make([]*docx.Template, copies)
		size := 0
		before := liveBytes()
		for i := range templates {
			tpl, err := parse(bytes.Clone(file))
			if err != nil {
				t.Fatal(err)
			}
			sample, err := tpl.Sample()
			if err != nil {
				t.Fatal(err)
			}
			execute(t, tpl, decode(t, string(sample)))
			templates[i], size = tpl, size+tpl.Size()
		}
		held := liveBytes() - before
		runtime.KeepAlive(templates)
		t.Logf("%s: %d bytes accounted, %d held", name, size/copies, held/copies)
		if ratio := float64(held) / float64(size); ratio > 1.5 || ratio < 0.5 {
			t.Errorf("%s: %d templates hold %d bytes, and Size says %d", name, copies, held, size)
		}
	}
}

func exampleTemplate(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.ReadFile("../examples/" + name + "/template.docx")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSizeCoversTheFileAndTheProgram(t *testing.T) {
	small, large := mustParse(t, map[string]string{"document.xml": `<w:p/>`}),
		mustParse(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{a}}` + strings.Repeat("text ", 100_000) + `</w:t></w:r></w:p>`})
	if small.Size() < 500 || large.Size() < 500_000 {
		t.Errorf("sizes are %d and %d bytes", small.Size(), large.Size())
	}
}
