package ooxml_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"platen/ooxml"
	"platen/ooxml/names"
)

func TestAdditionsAreListed(t *testing.T) {
	for name, c := range map[string]struct{ types, rels string }{
		"plain": {`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ` +
			`ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="` +
			names.TypeDocument + `"/></Types>`, ""},
		"prefixed": {`<t:Types xmlns:t="http://schemas.openxmlformats.org/package/2006/content-types"><t:Default Extension="rels" ` +
			`ContentType="application/vnd.openxmlformats-package.relationships+xml"/><t:Override PartName="/word/document.xml" ContentType="` +
			names.TypeDocument + `"/></t:Types>`, `<p:Relationships xmlns:p="http://schemas.openxmlformats.org/package/2006/relationships"/>`},
	} {
		t.Run(name, func(t *testing.T) {
			parts := []string{
				"[Content_Types].xml", c.types,
				"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship ` +
					`Id="rIdV1" Type="` + names.RelOfficeDocument + `" Target="word/document.xml"/></Relationships>`,
				"word/document.xml", `<d/>`,
			}
			if c.rels != "" {
				parts = append(parts, "word/_rels/document.xml.rels", c.rels)
			}
			pkg, err := open(pack(t, parts...), ooxml.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			a := ooxml.NewAdditions(pkg, nil)
			picture, _, err := a.Media([]byte("\x89PNG"), "png", "image/png")
			if err != nil {
				t.Fatal(err)
			}
			again, _, err := a.Media([]byte("\x89PNG"), "png", "image/png")
			if err != nil || again != picture {
				t.Errorf("the same bytes became %s and %s (%v)", picture, again, err)
			}
			if name, err := a.Add("/word/numbering", "xml", "application/x+xml", []byte("<n/>")); err != nil || name != "/word/numbering.xml" {
				t.Fatalf("the numbering is %s (%v)", name, err)
			}
			const address = "https://example.com/?a=1&b=\"2\""
			first, err := a.Relate("/word/document.xml", names.RelHyperlink, address, true)
			if err != nil {
				t.Fatal(err)
			}
			second, err := a.Relate("/word/document.xml", names.RelImage, picture, false)
			if err != nil || first == second {
				t.Fatalf("ids %s and %s (%v)", first, second, err)
			}
			var out bytes.Buffer
			w := ooxml.NewWriter(&out)
			for _, part := range pkg.Parts() {
				if !a.Deferred(part) {
					if err := w.Copy(part); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := a.WriteTo(w); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := ooxml.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), ooxml.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range got.Check() {
				t.Error(problem)
			}
			rels, err := got.Rels("/word/document.xml")
			if err != nil || len(rels) != 2 || rels[0].Target != address || rels[1].Target != picture {
				t.Errorf("relationships %v (%v)", rels, err)
			}
			if part := got.Part(picture); part == nil || part.ContentType != "image/png" {
				t.Errorf("the picture is %v", part)
			}
			if part := got.Part("/word/numbering.xml"); part == nil || part.ContentType != "application/x+xml" {
				t.Errorf("the numbering is %v", part)
			}
			if strings.HasPrefix(first, "rIdV1") {
				t.Errorf("the id %s begins like one that was there", first)
			}
		})
	}
}

func TestContentTypesComeFirst(t *testing.T) {
	for name, c := range map[string]struct {
		size  int
		first bool
	}{"small": {10, true}, "large": {3 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			pkg, err := open(pack(t, minimal()...), ooxml.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			noise := make([]byte, c.size)
			random := rand.NewPCG(1, 2)
			for i := range noise {
				noise[i] = byte(random.Uint64())
			}
			a := ooxml.NewAdditions(pkg, nil)
			if _, _, err := a.Media(noise, "png", "image/png"); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			w := ooxml.NewWriter(&out)
			for _, part := range pkg.Parts() {
				if !a.Deferred(part) {
					if err := w.Copy(part); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := a.WriteTo(w); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := open(out.Bytes(), ooxml.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if first := got.Parts()[0].Name == ooxml.ContentTypesName; first != c.first {
				t.Errorf("first is %s", got.Parts()[0].Name)
			}
			if len(got.Parts()) != len(pkg.Parts())+1 {
				t.Errorf("%d parts, want %d", len(got.Parts()), len(pkg.Parts())+1)
			}
		})
	}
}
