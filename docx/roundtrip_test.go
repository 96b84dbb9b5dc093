package docx_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOfficeKeepsDocuments has LibreOffice open the generated documents and save them: their text, tables, rows, images, and
// sections must be unchanged.
func TestOfficeKeepsDocuments(t *testing.T) {
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed: soffice is not on the PATH")
	}
	t.Parallel()
	others := slices.Concat(valueDocuments(t), corpusDocuments(t, 40), someRandomDocuments(t, 24))
	if testing.Short() {
		others = everyNth(others, 6)
	}
	documents := slices.Concat(goldenDocuments(t), exampleDocuments(t), others)
	dir := t.TempDir()
	var files []string
	for _, d := range documents {
		path := filepath.Join(dir, d.name+".docx")
		writeFile(t, path, d.output)
		files = append(files, path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	var printed []byte
	for some := range slices.Chunk(files, 200) { // it ignores what is beyond 255 arguments
		args := append([]string{"--headless", "-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--convert-to",
			"docx:Office Open XML Text", "--outdir", filepath.Join(dir, "again")}, some...)
		out, err := exec.CommandContext(ctx, office, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("soffice: %v\n%s", err, out)
		}
		printed = append(printed, out...)
	}
	for _, d := range documents {
		again := []byte(readFile(t, filepath.Join(dir, "again", d.name+".docx")))
		if len(again) == 0 { // which readFile has reported
			t.Fatalf("soffice printed\n%s", printed)
		}
		if want, got := outlineOf(unpack(t, d.output)["word/document.xml"]),
			outlineOf(unpack(t, again)["word/document.xml"]); want != got && changedByOffice[d.name] == "" {
			t.Errorf("%s: LibreOffice wrote\n%s\nof\n%s", d.name, got, want)
		}
	}
}

// changedByOffice are documents that LibreOffice changes of itself, and why.
var changedByOffice = map[string]string{
	"golden-chart-funnel":                "a chart of Word 2016, which it drops",
	"golden-chart-treemap":               "charts of Word 2016, which it drops",
	"golden-containers-keep-a-paragraph": "a picture without a shape",
	"golden-ids-in-loops":                "a shape without a form",
	"golden-within-containers":           "pictures without shapes",
	"value-linktext":                     "a link in a content control, which it writes as text",
	"golden-braces-elsewhere":            "equations and WordArt, whose text it writes in other elements",
	"golden-plain-contents":              "equations and WordArt, whose text it writes in other elements",
	"golden-word-fields-inside":          "fields in the instructions of others, whose results it drops",
	"golden-field-codes-computed":        "fields that stay, which it computes",
	"golden-field-formulas-cells":        "fields that stay, which it computes",
	"golden-word-fields-if":              "fields that stay, which it computes",
	"golden-word-fields-set":             "fields that stay, which it computes",
	"golden-field-nested":                "a field in the instruction of another, whose result it drops",
	"random-apache-poi-FieldCodes":       "the author of the document, in a field",
	"poi-tl-iterable_hyperlink":          "the date of today",
	"poi-tl-sdt_cell":                    "content controls in others, whose text it writes several times",
	"poi-tl-sdt_core":                    "the same",
	"golden-tablecolumn-left-out":        "columns that rows leave out, which it fills with cells",
	"golden-split-over-hyperlink":        "a field for the title of a document that has none",
}

// outlineOf returns what of a document's body must survive a program that opens and writes it: its text without blanks,
// and how much there is of what else a reader sees.
func outlineOf(document string) string {
	d := xml.NewDecoder(strings.NewReader(document))
	var text strings.Builder
	count := map[string]int{}
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return fmt.Sprintf("%d tables, %d rows, %d cells, %d pictures, %d sections: %s", count["tbl"], count["tr"], count["tc"],
				count["drawing"]+count["pict"], max(count["sectPr"], 1), strings.Join(strings.Fields(text.String()), ""))
		}
		if err != nil {
			return err.Error()
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "Fallback" { // the same again for old programs
				if err := d.Skip(); err != nil {
					return err.Error()
				}
				continue
			}
			count[token.Name.Local]++
			inText = token.Name.Local == "t"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				text.WriteString(strings.Map(noSymbol, string(token)))
			}
		}
	}
}

// noSymbol drops the signs of symbol fonts, which are a w:sym or as well a letter.
func noSymbol(r rune) rune {
	if 0xF000 <= r && r <= 0xF0FF {
		return -1
	}
	return r
}
