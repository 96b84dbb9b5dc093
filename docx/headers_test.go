package docx_test

import (
	"fmt"
	"path/filepath"
	"platen/docx/compile/compiletest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each section of a loop has the header of its round, with separate pictures and links, and without duplicate ids.
func TestHeadersOfSectionsInLoops(t *testing.T) {
	tpl, err := parse(build(t, map[string]string{
		"document.xml": `<w:p><w:r><w:t>Before the first section ends</w:t></w:r></w:p>` +
			`<w:p><w:r><w:t>{{for c in customers}}</w:t></w:r></w:p><w:p><w:pPr><w:sectPr><w:headerReference w:type="default" ` +
			`r:id="rId1"/></w:sectPr></w:pPr></w:p>` +
			`<w:p><w:r><w:t>{{endfor}}</w:t></w:r></w:p><w:p/>`,
		"header1.xml": `<w:p><w:bookmarkStart w:id="1" w:name="Who"/><w:r><w:t>To {{c.name}} {{c.logo :: image}} {{c.site :: ` +
			`link}}</w:t></w:r><w:bookmarkEnd w:id="1"/></w:p>`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	var customers []string
	for i := range 3 {
		customers = append(customers, fmt.Sprintf(`{"name":"N%d","logo":%q,"site":"https://example.com/%[1]d"}`, i, pictureOf(t, 10+i, 10)))
	}
	file, report := execute(t, tpl, decode(t, `{"customers":[`+strings.Join(customers, ",")+`]}`))
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Errorf("report %+v", report)
	}
	parts := unpack(t, file)
	var ids []string
	for i, ref := range regexp.MustCompile(`headerReference w:type="default" `+
		`r:id="(\w+)"`).FindAllStringSubmatch(parts["word/document.xml"], -1) {
		name := regexp.MustCompile(`Id="` + ref[1] +
			`" [^>]*Target="/?(?:word/)?([^"]+)"`).FindStringSubmatch(parts["word/_rels/document.xml.rels"])[1]
		header, rels := parts["word/"+name], parts["word/_rels/"+name+".rels"]
		if !strings.Contains(header, fmt.Sprintf("To N%d", i)) {
			t.Errorf("section %d has the header %s", i, header)
		}
		for _, id := range regexp.MustCompile(`r:(?:id|embed)="(\w+)"`).FindAllStringSubmatch(header, -1) {
			if !strings.Contains(rels, `Id="`+id[1]+`"`) {
				t.Errorf("%s refers to %s, and has the relationships %s", name, id[1], rels)
			}
		}
		if strings.Count(rels, "<Relationship ") != 2 || !strings.Contains(rels, fmt.Sprintf("https://example.com/%d", i)) {
			t.Errorf("%s has the relationships %s", name, rels)
		}
		for _, id := range regexp.MustCompile(`<(w:bookmarkStart|wp:docPr) (?:w:)?id="\d+"|w:name="\w+"`).FindAllString(header, -1) {
			if slices.Contains(ids, id) {
				t.Errorf("%s is there twice", id)
			}
			ids = append(ids, id)
		}
	}
	if len(ids) != 9 {
		t.Errorf("found %q", ids)
	}
}

// Without items there is no section, and what its header would have said is missing nowhere.
func TestHeadersOfNoSections(t *testing.T) {
	tpl, err := parse(build(t, map[string]string{
		"document.xml": `<w:p><w:r><w:t>{{for c in customers}}</w:t></w:r></w:p><w:p><w:pPr><w:sectPr><w:headerReference ` +
			`w:type="default" r:id="rId1"/></w:sectPr></w:pPr></w:p>` +
			`<w:p><w:r><w:t>{{endfor}}</w:t></w:r></w:p><w:p/>`,
		"header1.xml": `<w:p><w:r><w:t>To {{c.name}}</w:t></w:r></w:p>`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	file, report := execute(t, tpl, decode(t, `{"customers":[]}`))
	if body := unpack(t, file)["word/document.xml"]; strings.Contains(body, "headerReference") || len(report.Errors) > 0 {
		t.Errorf("errors %q in %s", report.Errors, body)
	}
}

// A chart in the header of a section in a loop has the values and the title of its round.
func TestChartsInHeadersOfSectionsInLoops(t *testing.T) {
	parts := chartInput(t, "chart-in-loop")
	loop := regexp.MustCompile(`(?s)^(.*?</w:p>)(.*)(<w:p>.*)$`).FindStringSubmatch(strings.TrimSpace(parts["document.xml"]))
	parts["document.xml"] = loop[1] + `<w:p><w:pPr><w:sectPr><w:headerReference w:type="default" ` +
		`r:id="rId1"/></w:sectPr></w:pPr></w:p>` + loop[3] + "<w:p/>"
	parts["header1.xml"] = loop[2]
	files := unpack(t, build(t, parts))
	relationship := regexp.MustCompile(`<Relationship [^>]*Target="chart1.xml"[^>]*>`)
	id := regexp.MustCompile(`r:id="(\w+)"`)
	files["word/header1.xml"] = id.ReplaceAllString(files["word/header1.xml"], `r:id="rIdChart"`)
	files["word/_rels/header1.xml.rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		regexp.MustCompile(`Id="\w+"`).ReplaceAllString(relationship.FindString(files["word/_rels/document.xml.rels"]), `Id="rIdChart"`) +
		`</Relationships>`
	files["word/_rels/document.xml.rels"] = relationship.ReplaceAllString(files["word/_rels/document.xml.rels"], "")
	relationship = regexp.MustCompile(`<Relationship Id="(\w+)"[^>]*Target="header1.xml"`)
	header := relationship.FindStringSubmatch(files["word/_rels/document.xml.rels"])[1]
	files["word/document.xml"] = strings.Replace(files["word/document.xml"], `r:id="rId1"`, `r:id="`+header+`"`, 1)
	tpl, err := parse(compiletest.Pack(t, files))
	if err != nil {
		t.Fatal(err)
	}
	file, report := execute(t, tpl, decode(t,
		`{"regions":[{"name":"North","sales":[{"month":"Jan","gain":1}]},{"name":"South","sales":[{"month":"Feb","gain":2}]}]}`))
	if len(report.Errors) > 0 {
		t.Errorf("errors %q", report.Errors)
	}
	out := unpack(t, file)
	references := regexp.MustCompile(`headerReference w:type="default" r:id="(\w+)"`).FindAllStringSubmatch(out["word/document.xml"], -1)
	for i, want := range [][]string{{"North", "Jan"}, {"South", "Feb"}} {
		name := filepath.Base(target(t, out["word/_rels/document.xml.rels"], references[i][1]))
		shown := id.FindStringSubmatch(out["word/"+name])[1]
		chart := out[target(t, out["word/_rels/"+name+".rels"], shown)]
		for _, text := range want {
			if !strings.Contains(chart, ">"+text+"<") {
				t.Errorf("the chart of %s has no %s:\n%s", name, text, chart)
			}
		}
	}
}
