package main_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/lang"
	"platen/examples"
)

// TestExamples generates every example with its own data, without problems, and with changes that its README describes.
func TestExamples(t *testing.T) {
	type object = map[string]any
	tests := []struct {
		name, folder string
		change       func(data object)
		want, not    string // in the text of the document
	}{
		{"invoice", "invoice", nil, "Total due\n€12,976.50\n", "Paid in full"},
		{"invoice, paid", "invoice", func(data object) {
			maps.Copy(data["invoice"].(object), object{"paid": true, "paidOn": "2026-11-20"})
		}, "Paid in full on 20 November 2026.", "How to pay"},
		{"invoice without reference", "invoice", func(data object) {
			delete(data["invoice"].(object), "reference")
		}, "Your reference", "PO 55310"},
		{"letter", "letter", nil, "Dear Dr Sørensen,", "fixed term"},
		{"letter without salutation", "letter", func(data object) {
			delete(data["candidate"].(object), "salutation")
		}, "Dear Sir or Madam,", "Dear Dr"},
		{"contract", "contract", nil, "tests, and a runbook.", "Personal data"},
		{"contract on personal data", "contract", func(data object) {
			data["options"].(object)["personalData"] = true
		}, "Personal data", "{{"},
	}
	tested := map[string]bool{}
	for _, tt := range tests {
		tested[tt.folder] = true
		t.Run(tt.name, func(t *testing.T) {
			template := exampleFile(t, tt.folder+"/template.docx")
			input := exampleFile(t, tt.folder+"/data.json")
			if tt.change != nil {
				input = changed(t, input, tt.change)
			}
			text := fill(t, template, input)
			if !strings.Contains(text, tt.want) {
				t.Errorf("the document lacks %q:\n%s", tt.want, text)
			}
			if tt.not != "" && strings.Contains(text, tt.not) {
				t.Errorf("the document contains %q:\n%s", tt.not, text)
			}
		})
	}
	folders, err := fs.ReadDir(examples.Files, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !tested[folder.Name()] {
			t.Errorf("examples/%s has no test", folder.Name())
		}
	}
}

func exampleFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := examples.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// changed returns the input with a change to its data.
func changed(t *testing.T, input []byte, change func(map[string]any)) []byte {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal(input, &data); err != nil {
		t.Fatal(err)
	}
	change(data)
	input, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return input
}

// fill generates a document and returns the text of its body. The input must have all values that the template uses, and no others.
func fill(t *testing.T, template, input []byte) string {
	t.Helper()
	compiled, err := docx.Parse(bytes.NewReader(template), int64(len(template)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := lang.Decode(input)
	if err != nil {
		t.Fatal(err)
	}
	var document bytes.Buffer
	report, err := compiled.Execute(t.Context(), &document, data, docx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if problems := slices.Concat(compiled.Warnings().Messages(), report.Errors, report.Warnings); len(problems) > 0 {
		t.Errorf("the document is not complete:\n%s", strings.Join(problems, "\n"))
	}
	return bodyText(t, document.Bytes())
}

var markup = regexp.MustCompile(`<[^>]*>`)

// bodyText returns the text of a document's body, one line a paragraph.
func bodyText(t *testing.T, document []byte) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		t.Fatal(err)
	}
	part, err := archive.Open("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	xml, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return markup.ReplaceAllString(strings.ReplaceAll(string(xml), "</w:p>", "</w:p>\n"), "")
}

// TestReadmeImages checks that the images in the README show the current example. After you change it, run scripts/readme-images.
func TestReadmeImages(t *testing.T) {
	hash := sha256.New()
	for _, name := range []string{"invoice/template.docx", "invoice/data.json"} {
		hash.Write(exampleFile(t, name))
	}
	recorded, err := os.ReadFile("docs/images/invoice.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(recorded)), hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("docs/images show an older examples/invoice: run scripts/readme-images")
	}
}
