package names

import (
	"archive/zip"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEachNameIsThereOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range namespaces {
		for _, name := range []string{n.prefix, n.transitional, n.strict} {
			if name != "" && seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
}

// ISO/IEC 29500-1 Annex A derives the strict names of its namespaces from the transitional ones.
func TestStrictNames(t *testing.T) {
	rule := regexp.MustCompile(`^http://schemas\.openxmlformats\.org/(\w+)/2006/(\w+)$`)
	for _, n := range namespaces {
		want := n.transitional
		if n.strict != "" {
			want = rule.ReplaceAllString(n.transitional, "http://purl.oclc.org/ooxml/$1/$2")
		}
		if got := Namespace(n.prefix, true); got != want {
			t.Errorf("the strict namespace of %s is %q, want %q", n.prefix, got, want)
		}
		if got := Namespace(n.prefix, false); got != n.transitional {
			t.Errorf("the transitional namespace of %s is %q, want %q", n.prefix, got, n.transitional)
		}
		if Prefix(n.transitional) != n.prefix || Prefix(want) != n.prefix {
			t.Errorf("the namespace of %s has another prefix", n.prefix)
		}
	}
	if got := Prefix("http://example.com/") + Namespace("no", true) + Namespace("no", false); got != "" {
		t.Errorf("an unknown name gives %q", got)
	}
}

func TestRelationshipTypes(t *testing.T) {
	const strict = "http://purl.oclc.org/ooxml/officeDocument/relationships/header"
	for _, relType := range []string{RelHeader, RelCoreProperties, RelChartStyle, "http://purl.oclc.org/ooxml/officeDocument/relationshipsX"} {
		if got := Transitional(relType); got != relType {
			t.Errorf("Transitional(%q) = %q", relType, got)
		}
	}
	if got := Strict(RelHeader); got != strict {
		t.Errorf("Strict(RelHeader) = %q", got)
	}
	if got := Transitional(strict); got != RelHeader {
		t.Errorf("Transitional(%q) = %q", strict, got)
	}
	const byLibreOffice = "http://schemas.openxmlformats.org/officedocument/2006/relationships/metadata/core-properties"
	if got := Transitional(byLibreOffice); got != RelCoreProperties {
		t.Errorf("Transitional(%q) = %q", byLibreOffice, got)
	}
	if got := Strict(RelCoreProperties); got != RelCoreProperties {
		t.Errorf("Strict(RelCoreProperties) = %q", got)
	}
}

// Documents that Word wrote declare the namespaces of the list by its prefixes.
func TestPrefixesAreThoseOfWord(t *testing.T) {
	documents, err := filepath.Glob("../../../shared/corpus/word-pdfs/*/*.docx")
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) == 0 {
		t.Skip("the shared corpus is not there")
	}
	declaration := regexp.MustCompile(`xmlns:(\w+)="([^"]*)"`)
	found := map[string]bool{}
	for _, document := range documents {
		for _, d := range declaration.FindAllStringSubmatch(mainPart(t, document), -1) {
			if prefix := Prefix(d[2]); prefix != "" {
				found[prefix] = true
				if prefix != d[1] && !strings.HasPrefix(d[1], "ns") { // ns0 and so on are the work of other programs
					t.Errorf("%s: %s is the prefix of %s, which the list calls %s", document, d[1], d[2], prefix)
				}
			} else if Namespace(d[1], false) != "" {
				t.Errorf("%s: the prefix %s has the namespace %s", document, d[1], d[2])
			}
		}
	}
	for _, prefix := range []string{"w", "r", "m", "a", "pic", "wp", "w14", "wp14", "v", "o", "mc"} {
		if !found[prefix] {
			t.Errorf("no document declares the namespace of %s", prefix)
		}
	}
}

func mainPart(t *testing.T, document string) string {
	t.Helper()
	z, err := zip.OpenReader(document)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var text strings.Builder
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".xml") || !strings.HasPrefix(f.Name, "word/document") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&text, r); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}
