package docx_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/validate"
)

// including returns a template that includes a file between two paragraphs.
func including(t testing.TB, file []byte) (*docx.Template, error) {
	t.Helper()
	return includingBy(t, `{{include "it.docx"}}`, file)
}

// includingBy is including with another tag.
func includingBy(t testing.TB, tag string, file []byte) (*docx.Template, error) {
	t.Helper()
	whole := build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>before</w:t></w:r></w:p><w:p><w:r><w:t>` + tag +
		`</w:t></w:r></w:p><w:sectPr/>`})
	return docx.ParseWith(t.Context(), bytes.NewReader(whole), int64(len(whole)),
		docx.ParseOptions{Include: func(name string) ([]byte, error) {
			if name != "it.docx" {
				return nil, fs.ErrNotExist
			}
			return file, nil
		}})
}

// Pictures, links and the headers of inner sections come along with the parts that they need.
func TestIncludeBringsParts(t *testing.T) {
	parts := unpack(t, withPictures(t, "{{logo}}"))
	body := parts["word/document.xml"]
	inner := `<w:p><w:pPr><w:sectPr><w:headerReference w:type="default" r:id="rIdHead"/></w:sectPr></w:pPr></w:p><w:p><w:hyperlink ` +
		`r:id="rIdLink"><w:r><w:t>site</w:t></w:r></w:hyperlink></w:p>`
	parts["word/document.xml"] = strings.Replace(body, "</w:body>", inner+"</w:body>", 1)
	parts["word/header9.xml"] = `<w:hdr ` + compiletest.Namespaces + `><w:p><w:r><w:t>Head of {{name}}</w:t></w:r></w:p></w:hdr>`
	const base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	parts["word/_rels/document.xml.rels"] = strings.Replace(parts["word/_rels/document.xml.rels"], "</Relationships>",
		`<Relationship Id="rIdHead" Type="`+base+`header" Target="header9.xml"/><Relationship Id="rIdLink" Type="`+base+
			`hyperlink" Target="https://example.com/{{name}}" TargetMode="External"/></Relationships>`, 1)
	parts["[Content_Types].xml"] = strings.Replace(parts["[Content_Types].xml"], "</Types>",
		`<Override PartName="/word/header9.xml" `+
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml"/></Types>`, 1)
	tpl, err := including(t, compiletest.Pack(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	file, report := execute(t, tpl, decode(t, `{"logo":"`+pictureOf(t, 3, 3)+`","name":"ada"}`))
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Error(report)
	}
	out := unpack(t, file)
	doc, rels := out["word/document.xml"], out["word/_rels/document.xml.rels"]
	id := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(doc)
		if found == nil {
			t.Fatalf("no %s in %s", pattern, doc)
		}
		return found[1]
	}
	if header := out[target(t, rels, id(`<w:headerReference [^>]*r:id="([^"]*)"`))]; !strings.Contains(header, "Head of ada") {
		t.Errorf("the header is %s", header)
	}
	if picture := out[target(t, rels, id(`<a:blip [^>]*r:embed="([^"]*)"`))]; !strings.Contains(picture, "PNG") {
		t.Errorf("the picture is %.40q", picture)
	}
	if link := id(`<w:hyperlink [^>]*r:id="([^"]*)"`); !regexp.MustCompile(`Id="` + link +
		`"[^>]*Target="https://example.com/ada"`).MatchString(rels) {
		t.Errorf("the link %s leads elsewhere: %s", link, rels)
	}
}

// A chart of an included file takes data as in a template.
// The content of a file with variables always appears, so the template requires the data that it reads.
func TestIncludedVariablesKeepDataRequired(t *testing.T) {
	file := build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{let x = net}}{{x}} {{total}}</w:t></w:r></w:p>`})
	tpl, err := including(t, file)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := tpl.Schema().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if want := `"required":["net","total"]`; !strings.Contains(string(schema), want) {
		t.Errorf("the schema is %s, without %s", schema, want)
	}
}

func TestIncludeBringsCharts(t *testing.T) {
	parts := chartInput(t, "chart")
	tpl, err := including(t, build(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := execute(t, tpl, decode(t, `{"year":2026,"sales":[{"month":"Jan","gain":1,"cost":2}]}`))
	out := unpack(t, file)
	found := false
	for name, part := range out {
		found = found || strings.Contains(name, "chart") && strings.Contains(part, ">Jan<")
	}
	if !found {
		t.Errorf("no chart has the data: %v", slices.Sorted(maps.Keys(out)))
	}
}

// The documents of other projects are included soundly or refused with a reason.
func TestIncludeCorpus(t *testing.T) {
	files, included := someCorpusFiles(t), 0
	for _, name := range sortedNames(files) {
		file := files[name]
		tpl, err := including(t, file)
		if _, ok := errors.AsType[docx.Errors](err); ok {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var out bytes.Buffer
		if _, err := tpl.Execute(t.Context(), &out, decode(t, `{}`), docx.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, problem := range newProblems(file, out.Bytes()) {
			t.Errorf("%s: the output has a problem that neither file had: %v", name, &problem)
		}
		included++
	}
	t.Logf("%d documents were included", included)
	if !raceEnabled && included < len(files)*9/10 {
		t.Errorf("only %d of %d documents were included", included, len(files))
	}
}

// A document is as sound if the data chooses the documents of other projects, or none of them.
func TestChosenCorpus(t *testing.T) {
	files := someCorpusFiles(t)
	names := sortedNames(files)
	whole := build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>before</w:t></w:r></w:p><w:p><w:r><w:t>{{include x :: ` +
		`oneof("0.docx", "1.docx")}}</w:t></w:r></w:p><w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc><w:p/></w:tc></w:tr>` +
		`</w:tbl><w:sectPr/>`})
	executed := 0
	for i := 0; i+1 < len(names); i += 6 {
		two := map[string][]byte{"0.docx": files[names[i]], "1.docx": files[names[i+1]]}
		tpl, err := docx.ParseWith(t.Context(), bytes.NewReader(whole), int64(len(whole)),
			docx.ParseOptions{Include: func(name string) ([]byte, error) { return two[name], nil }})
		if _, ok := errors.AsType[docx.Errors](err); ok {
			continue
		}
		if err != nil {
			t.Errorf("%s, %s: %v", names[i], names[i+1], err)
			continue
		}
		known := map[string]bool{}
		for _, file := range two {
			for _, problem := range check(file) {
				known[problem.Key()] = true
			}
		}
		for _, data := range []string{`{"x": "0"}`, `{"x": "1.docx"}`, `{"x": ""}`, `{}`} {
			var out bytes.Buffer
			if _, err := tpl.Execute(t.Context(), &out, decode(t, data), docx.Options{}); err != nil {
				t.Errorf("%s, %s: %v", names[i], names[i+1], err)
				continue
			}
			for _, problem := range check(out.Bytes()) {
				if !known[problem.Key()] {
					t.Errorf("%s, %s with %s: the output has a problem that no file had: %v", names[i], names[i+1], data, &problem)
				}
			}
			executed++
		}
	}
	t.Logf("%d documents", executed)
	if !raceEnabled && !testing.Short() && executed < len(names)/6*3 {
		t.Errorf("only %d documents of %d files were executed", executed, len(names))
	}
}

func TestIncludeLimits(t *testing.T) {
	many := strings.Repeat(`<w:p><w:r><w:t>{{include "it.docx"}}</w:t></w:r></w:p>`, docx.MaxIncludes+1)
	whole := build(t, map[string]string{"document.xml": many})
	file := build(t, map[string]string{"document.xml": `<w:p/>`})
	open := func(string) ([]byte, error) { return file, nil }
	_, err := docx.ParseWith(t.Context(), bytes.NewReader(whole), int64(len(whole)), docx.ParseOptions{Include: open})
	if err == nil || !strings.Contains(err.Error(), "more than 100") {
		t.Errorf("many: %v", err)
	}
	deep := 0
	open = func(name string) ([]byte, error) {
		deep++
		return build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{include "` + name + `x"}}</w:t></w:r></w:p>`}), nil
	}
	whole = build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{include "x"}}</w:t></w:r></w:p>`})
	_, err = docx.ParseWith(t.Context(), bytes.NewReader(whole), int64(len(whole)), docx.ParseOptions{Include: open})
	if err == nil || !strings.Contains(err.Error(), "nested in more than") || deep != docx.MaxIncludeDepth {
		t.Errorf("deep (%d): %v", deep, err)
	}
}

// What is included is as hostile as a template.
func FuzzInclude(f *testing.F) {
	f.Add(`<w:p><w:pPr><w:pStyle w:val="A"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>{{a}}</w:t></w:r></w:p>`,
		`<w:style w:type="paragraph" w:styleId="A"><w:name w:val="a"/><w:basedOn w:val="B"/><w:pPr><w:numPr><w:numId `+
			`w:val="1"/></w:numPr></w:pPr></w:style><w:style w:type="paragraph" w:styleId="B"><w:name w:val="b"/><w:basedOn w:val="A"/></w:style>`,
		`<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:pStyle w:val="A"/></w:lvl></w:abstractNum><w:num `+
			`w:numId="1"><w:abstractNumId w:val="0"/></w:num>`)
	f.Add(`<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>`, ``, ``)
	f.Add(`<w:p><w:bookmarkStart w:id="1" w:name="x"/><w:r><w:footnoteReference w:id="2"/></w:r><w:bookmarkEnd w:id="1"/></w:p>`,
		`<w:style/>`, `<w:num/><w:abstractNum/>`)
	f.Fuzz(func(t *testing.T, body, styles, numbering string) {
		file := build(t, map[string]string{"document.xml": body, "styles.xml": styles, "numbering.xml": numbering})
		if _, err := parse(file); err != nil {
			return
		}
		for _, tag := range []string{`{{include "it.docx"}}`, `{{include a :: oneof("it.docx")}}`} {
			tpl, err := includingBy(t, tag, file)
			if err != nil {
				if _, ok := errors.AsType[docx.Errors](err); !ok {
					t.Errorf("%v is no problem with a place", err)
				}
				continue
			}
			var out bytes.Buffer
			_, err = tpl.Execute(t.Context(), &out, decode(t, `{"a":"it"}`), docx.Options{})
			if _, ok := errors.AsType[docx.Errors](err); err != nil && !ok {
				t.Error(err)
			}
		}
	})
}

// A picture that links to a place in its own document keeps the link, and a comment around paragraphs leaves nothing.
func TestIncludeLinksToItsOwnPlacesAndComments(t *testing.T) {
	parts := unpack(t, withPictures(t, "photo"))
	const click = `<a:hlinkClick xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" r:id="rIdOwn"/>`
	body := regexp.MustCompile(`(<wp:docPr [^>]*)/>`).ReplaceAllString(parts["word/document.xml"], "$1>"+click+
		strings.Replace(strings.Replace(click, "rIdOwn", "rIdGone", 1), "hlinkClick", "hlinkHover", 1)+"</wp:docPr>")
	parts["word/document.xml"] = strings.Replace(body, "<w:body>", `<w:body><w:commentRangeStart w:id="7"/><w:p><w:bookmarkStart w:id="3" `+
		`w:name="top"/><w:bookmarkEnd w:id="3"/><w:commentRangeEnd w:id="7"/></w:p>`, 1)
	parts["word/_rels/document.xml.rels"] = strings.Replace(parts["word/_rels/document.xml.rels"], "</Relationships>",
		`<Relationship Id="rIdOwn" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="#top"/>`+
			`</Relationships>`, 1)
	tpl, err := including(t, compiletest.Pack(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := execute(t, tpl, decode(t, `{}`))
	out := unpack(t, file)
	doc := out["word/document.xml"]
	link := regexp.MustCompile(`hlinkClick [^>]*r:id="([^"]*)"`).FindStringSubmatch(doc)
	if link == nil || !strings.Contains(out["word/_rels/document.xml.rels"], `Id="`+link[1]+`"`) ||
		!strings.Contains(out["word/_rels/document.xml.rels"], `Target="#top"`) {
		t.Errorf("the picture has lost its link:\n%s\n%s", doc, out["word/_rels/document.xml.rels"])
	}
	if strings.Contains(doc, "hlinkHover") || strings.Contains(doc, "commentRange") {
		t.Errorf("links without a target, or comments, remain:\n%s", doc)
	}
	for _, problem := range validate.Package(bytes.NewReader(file), int64(len(file))) {
		if problem.Part != "/word/media/old.png" { // which is not an image
			t.Error(problem)
		}
	}
}
