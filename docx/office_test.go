package docx_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platen/docx/compile/compiletest"
	"platen/ooxml/ooxmltest"
)

// LibreOffice reads what we wrote, and reads in it what should be there.
func TestOfficeReadsOutputs(t *testing.T) {
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed: soffice is not on the PATH")
	}
	dir := t.TempDir()
	want := map[string]string{}
	for _, d := range officeDocuments() {
		tpl, err := parse(build(t, d.parts))
		if err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		out, _ := execute(t, tpl, decode(t, d.data))
		writeFile(t, filepath.Join(dir, d.name+".docx"), out)
		want[d.name] = d.want
	}
	golden := goldenOutputs(t, dir)
	convert(t, office, dir)
	for name, text := range want {
		got := readFile(t, filepath.Join(dir, name+".txt"))
		if words(got) != words(text) {
			t.Errorf("%s reads\n%s\nwant\n%s", name, words(got), words(text))
		}
	}
	for _, name := range golden {
		if _, err := os.Stat(filepath.Join(dir, name+".txt")); err != nil {
			t.Errorf("LibreOffice could not read the output of %s", name)
		}
	}
}

type officeDocument struct {
	name  string
	parts map[string]string
	data  string
	want  string // the text, blanks and line ends aside
}

func officeDocuments() []officeDocument {
	paragraph := func(text string) string { return `<w:p><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>` }
	cell := func(text string) string {
		return `<w:tc><w:tcPr><w:tcW w:w="2000" w:type="dxa"/></w:tcPr>` + paragraph(text) + `</w:tc>`
	}
	return []officeDocument{{
		name: "invoice",
		parts: map[string]string{"document.xml": paragraph("Dear {{customer}},") +
			`<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="2000"/><w:gridCol w:w="2000"/></w:tblGrid><w:tr>` + cell("Item") + cell("Total") +
			`</w:tr>` +
			`<w:tr>` + cell("{{tablerow i in items}}{{i.name}}") + cell("{{i.qty * i.price}}{{endtablerow}}") + `</w:tr></w:tbl>` +
			paragraph("{{if paid}}") + paragraph("Paid.") + paragraph("{{else}}") + paragraph("Sum: {{$sum(items.price)}}") +
			paragraph("{{endif}}") + paragraph("Goodbye")},
		data: `{"customer":"Müller & Söhne ` +
			`<GmbH>","items":[{"name":"Apples","qty":2,"price":0.1},{"name":"Pears","qty":3,"price":0.2}],"paid":false}`,
		want: "Dear Müller & Söhne <GmbH>, Item Total Apples 0.2 Pears 0.6 Sum: 0.3 Goodbye",
	}, {
		name: "lists",
		parts: map[string]string{"document.xml": paragraph("{{for g in groups}}") +
			paragraph("{{g.name}}: {{for m in g.members}}{{m :: delimiter(\", \")}}{{endfor}}") +
			paragraph("{{if g.note}}") + paragraph("Note {{g.note}}") + paragraph("{{endif}}") + paragraph("{{endfor}}") +
			paragraph("End, {{missing}}")},
		data: `{"groups":[{"name":"A","members":["x","y"],"note":"one\ntwo"},{"name":"B","members":[]}]}`,
		want: "A: x, y Note one two B: End, {{missing}}",
	}, {
		name: "rich",
		parts: map[string]string{"document.xml": paragraph("{{html}}") + paragraph("Remark: {{html}}.") + paragraph("{{text :: markdown}}") +
			`<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="4000"/></w:tblGrid><w:tr>` + cell("{{html}}") + `</w:tr></w:tbl>` + paragraph("End")},
		data: `{"html":"<h1>Title</h1><p>A <b>bold</b> <a href='https://example.com'>link</a></p><ol ` +
			`start=3><li>three<ul><li>dot</ul><li>four</ol>` +
			`<table><tr><th rowspan=2>tall<th colspan=2>wide<tr><td>x<td>y</table>","text":"**Mark** | \n- a\n\n| h | i |\n|---|---|\n| j | k |"}`,
		want: "Title A bold link 3. three ◦ dot 4. four tall wide x y " +
			"Remark: Title A bold link 3. three ◦ dot 4. four tall wide x y . Mark | • a h i j k Title A bold link 3. three ◦ dot 4. " +
			"four tall wide x y End",
	}}
}

// goldenOutputs writes the outputs of the golden tests and returns their names.
func goldenOutputs(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for file, archive := range ooxmltest.Archives(t, "testdata") {
		parts, data := compiletest.Input(archive)
		tpl, err := parse(build(t, parts))
		if err != nil {
			continue
		}
		name := "golden-" + strings.TrimSuffix(filepath.Base(file), ".txtar")
		out, _ := execute(t, tpl, decode(t, data))
		writeFile(t, filepath.Join(dir, name+".docx"), out)
		names = append(names, name)
	}
	return names
}

// convert converts every document in the folder to a text file in the same folder.
func convert(t *testing.T, office, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	files, err := filepath.Glob(filepath.Join(dir, "*.docx"))
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--headless", "-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--convert-to",
		"txt:Text (encoded):UTF8", "--outdir", dir}, files...)
	if out, err := exec.CommandContext(ctx, office, args...).CombinedOutput(); err != nil {
		t.Fatalf("soffice: %v\n%s", err, out)
	}
}

func words(s string) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(s, "\uFEFF")), " ")
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
