package docx_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
)

// pictureOf is a PNG of that size, as data has it.
func pictureOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// withPictures is a document with a picture for each alt text.
func withPictures(t *testing.T, alts ...string) []byte {
	t.Helper()
	var body strings.Builder
	for i, alt := range alts {
		fmt.Fprintf(&body, `<w:p><w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="900000" `+
			`cy="900000"/><wp:docPr id="%d" name="P" descr="%s"/><wp:cNvGraphicFramePr/>`+
			`<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData `+
			`uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic `+
			`xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture">`+
			`<pic:nvPicPr><pic:cNvPr id="%[1]d" name="P"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip `+
			`r:embed="rIdP"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>`+
			`<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom `+
			`prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`, i+1, alt)
	}
	return withOldPicture(t, build(t, map[string]string{"document.xml": body.String()}))
}

// withOldPicture gives a document a picture that a placeholder can have, as rIdP.
func withOldPicture(t *testing.T, file []byte) []byte {
	t.Helper()
	files := unpack(t, file)
	files["word/media/old.png"] = "the old picture"
	files["[Content_Types].xml"] = strings.Replace(files["[Content_Types].xml"], "<Default",
		`<Default Extension="png" ContentType="image/png"/><Default`, 1)
	files["word/_rels/document.xml.rels"] = strings.Replace(files["word/_rels/document.xml.rels"], "</Relationships>",
		`<Relationship Id="rIdP" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" `+
			`Target="media/old.png"/></Relationships>`, 1)
	return compiletest.Pack(t, files)
}

func TestPlaceholders(t *testing.T) {
	tpl, err := parse(withPictures(t, "{{a}}", "{{a}}", "{{missing}}", "{{none :: optional}}", "{{bad}}", "{{far}}", "{{drawing}}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range tpl.Tags() {
		if tag.Type != "image" {
			t.Errorf("%s is listed as %s", tag.Content, tag.Type)
		}
	}
	data := fmt.Sprintf(`{"a":%q,"bad":"no picture","far":"https://example.com/x.png","drawing":"<svg `+
		`xmlns='http://www.w3.org/2000/svg' width='10' height='10'><rect width='5' height='5'/></svg>"}`, pictureOf(t, 20, 10))
	file, report := execute(t, tpl, decode(t, data))
	out := unpack(t, file)
	body := out["word/document.xml"]
	for want, n := range map[string]int{
		`r:embed="rIdV1"`: 2, `<wp:extent cx="900000" cy="450000"/>`: 2, `r:embed="rIdP"`: 3, "<w:drawing>": 6, "svgBlip": 1,
		"{{missing}}": 1, "{{a}}": 0,
	} {
		if got := strings.Count(body, want); got != n {
			t.Errorf("%s is there %d times, want %d:\n%s", want, got, n, body)
		}
	}
	media := 0
	for name := range out {
		if strings.HasPrefix(name, "word/media/value") {
			media++
		}
	}
	if media != 3 { // the picture once, the drawing and its fallback
		t.Errorf("%d pictures were added, want 3", media)
	}
	if len(report.Errors) != 3 || !strings.Contains(report.Errors[0], "'missing' was not provided") ||
		!strings.Contains(report.Errors[1], "'bad'") || !strings.Contains(report.Errors[2], "does not fetch images") {
		t.Errorf("errors %q", report.Errors)
	}
	if len(report.Details) != 3 || report.Details[1].Tag != "{{bad}}" || !strings.HasSuffix(report.Details[1].Place, "alt text of a picture") {
		t.Errorf("details %+v", report.Details)
	}
}

func TestPicturesAreFetchedByTheCaller(t *testing.T) {
	tpl, err := parse(withPictures(t, "{{far}}"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	asked := ""
	report, err := tpl.Execute(t.Context(), &out, decode(t, `{"far":"https://example.com/x.png"}`),
		docx.Options{Picture: func(_ context.Context, address string) ([]byte, error) {
			asked = address
			return base64.StdEncoding.DecodeString(pictureOf(t, 5, 5))
		}})
	if err != nil || len(report.Errors) > 0 || asked != "https://example.com/x.png" {
		t.Errorf("asked for %q; %v, %v", asked, report, err)
	}
}

// A table of contents takes two executions; a picture is fetched in the first.
func TestPicturesAreFetchedOnceWithATableOfContents(t *testing.T) {
	file := build(t, map[string]string{"document.xml": tocOf("Pictures") +
		`<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>{{title}}</w:t></w:r></w:p><w:p><w:r><w:t>{{far :: image}}</w:t></w:r></w:p>`})
	tpl, err := parse(file)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	var out bytes.Buffer
	report, err := tpl.Execute(t.Context(), &out, decode(t, `{"title":"Far","far":"https://example.com/x.png"}`),
		docx.Options{Picture: func(context.Context, string) ([]byte, error) {
			asked++
			return base64.StdEncoding.DecodeString(pictureOf(t, 5, 5))
		}})
	if err != nil {
		t.Fatal(err)
	}
	if body := unpack(t, out.Bytes())["word/document.xml"]; asked != 1 || len(report.Errors) > 0 ||
		!strings.Contains(body, "<w:drawing>") || strings.Count(body, "Far") != 2 {
		t.Errorf("the picture was fetched %d times; errors %q in\n%s", asked, report.Errors, body)
	}
}

// tocOf is a table of contents with one entry, of all paragraphs with an outline level.
func tocOf(entry string) string {
	field := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
	return `<w:p>` + field("begin") + `<w:r><w:instrText xml:space="preserve"> TOC \o "1-3" \u </w:instrText></w:r>` + field("separate") +
		`<w:r><w:t>` + entry + `</w:t></w:r></w:p><w:p>` + field("end") + `</w:p>`
}

func TestPlaceholderWithAMistake(t *testing.T) {
	_, err := parse(withPictures(t, "{{a :: imag}}"))
	if err == nil || !strings.Contains(err.Error(), "alt text of a picture") || !strings.Contains(err.Error(), "image") {
		t.Errorf("Parse: %v", err)
	}
}

func TestAltTextsOfOtherPictures(t *testing.T) {
	tpl, err := parse(withPictures(t, "The house of {{name}}, {{place}}"))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := execute(t, tpl, decode(t, `{"name":"A \"B\" & 'C'\nD"}`))
	const want = `descr="The house of A &quot;B&quot; &amp; &apos;C&apos; D, {{place}}"`
	if body := unpack(t, file)["word/document.xml"]; !strings.Contains(body, want) {
		t.Errorf("the document lacks %s:\n%s", want, body)
	}
}
