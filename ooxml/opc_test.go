package ooxml_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platen/ooxml"
)

const (
	contentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ` +
		`ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="XML" ` +
		`ContentType="application/xml"/><Override PartName="/word/Document.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	rootRels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" ` +
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`
	document = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body/></w:document>`
)

// minimal is a small sound document; extra entries come after its own, and replace those of the same name.
func minimal(extra ...string) []string {
	base := []string{"[Content_Types].xml", contentTypes, "_rels/.rels", rootRels, "word/document.xml", document}
	for i := 0; i < len(extra); i += 2 {
		replaced := false
		for j := 0; j < len(base); j += 2 {
			if base[j] == extra[i] {
				base[j+1], replaced = extra[i+1], true
			}
		}
		if !replaced {
			base = append(base, extra[i], extra[i+1])
		}
	}
	return base
}

// pack makes a zip of name, content pairs, with data descriptors as archive/zip writes them.
func pack(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for i := 0; i < len(pairs); i += 2 {
		w, err := zw.CreateHeader(&zip.FileHeader{Name: pairs[i], Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func open(b []byte, lim ooxml.Limits) (*ooxml.Package, error) {
	return ooxml.Open(bytes.NewReader(b), int64(len(b)), lim)
}

func TestOpenFindsMainPart(t *testing.T) {
	strict := strings.ReplaceAll(rootRels, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/",
		"http://purl.oclc.org/ooxml/officeDocument/relationships/")
	dotm := strings.ReplaceAll(contentTypes, "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
		"application/vnd.ms-word.template.macroEnabledTemplate.main+xml")
	for name, extra := range map[string][]string{
		"transitional":    nil,
		"strict":          {"_rels/.rels", strict},
		"dotm":            {"[Content_Types].xml", dotm},
		"absolute target": {"_rels/.rels", strings.ReplaceAll(rootRels, `"word/`, `"/word/`)},
		"dotted target":   {"_rels/.rels", strings.ReplaceAll(rootRels, `"word/`, `"x/../../../word/`)},
		"byte order mark": {"_rels/.rels", "\uFEFF<?xml version=\"1.0\" encoding=\"utf-8\"?>" + rootRels},
		"nested zip":      {"word/embeddings/book.xlsx", string(pack(t, "a", "b"))},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := open(pack(t, minimal(extra...)...), ooxml.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			main, err := p.WordMain()
			if err != nil || main.Name != "/word/document.xml" {
				t.Fatalf("WordMain = %v, %v", main, err)
			}
			src, err := p.ReadXML(main)
			if err != nil || string(src) != document {
				t.Fatalf("ReadXML = %q, %v", src, err)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	bomb := strings.Repeat("0", 5<<20)
	entities := `<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>` + document
	sheet := strings.ReplaceAll(contentTypes, "wordprocessingml.document", "spreadsheetml.sheet")
	good := pack(t, minimal()...)
	flipped := bytes.Clone(good)
	flipped[bytes.Index(flipped, []byte("[Content_Types].xml"))+40] ^= 0x55
	for _, tt := range []struct {
		name string
		file []byte
		lim  ooxml.Limits
		code ooxml.Code
	}{
		{"empty file", nil, ooxml.Limits{}, ooxml.CodeEmpty},
		{"compound file", append([]byte{0xD0, 0xCF, 0x11, 0xE0}, make([]byte, 600)...), ooxml.Limits{}, ooxml.CodeEncrypted},
		{"text", []byte("hello"), ooxml.Limits{}, ooxml.CodeNotZip},
		{"truncated zip", good[:len(good)-30], ooxml.Limits{}, ooxml.CodeNotZip},
		{"wrong checksum", flipped, ooxml.Limits{}, ooxml.CodeDamaged},
		{"lying size", lyingSize(t), ooxml.Limits{}, ooxml.CodeDamaged},
		{"file too large", good, ooxml.Limits{PackageBytes: 100}, ooxml.CodeTooLarge},
		{"bomb by ratio", pack(t, minimal("word/x.xml", bomb)...), ooxml.Limits{}, ooxml.CodeBomb},
		{"bomb by part size", pack(t, minimal("word/x.xml", bomb)...), ooxml.Limits{PartBytes: 1 << 20}, ooxml.CodeTooLarge},
		{"bomb by total size", pack(t, minimal("word/x.xml", bomb)...), ooxml.Limits{TotalBytes: 1 << 20, Ratio: 5000}, ooxml.CodeTooLarge},
		{"too many entries", pack(t, minimal()...), ooxml.Limits{Entries: 2}, ooxml.CodeTooMany},
		{"directory larger than the budget", manyEntries(t, 12000), ooxml.Limits{Entries: 10}, ooxml.CodeTooMany},
		{"climbing name", pack(t, minimal("../../etc/passwd", "")...), ooxml.Limits{}, ooxml.CodeBadName},
		{"absolute name", pack(t, minimal("/etc/passwd", "")...), ooxml.Limits{}, ooxml.CodeBadName},
		{"drive letter", pack(t, minimal("c:/x", "")...), ooxml.Limits{}, ooxml.CodeBadName},
		{"backslash", pack(t, minimal(`word\x.xml`, "")...), ooxml.Limits{}, ooxml.CodeBadName},
		{"control character", pack(t, minimal("word/a\x00b", "")...), ooxml.Limits{}, ooxml.CodeBadName},
		{"long name", pack(t, minimal(strings.Repeat("x", 600), "")...), ooxml.Limits{}, ooxml.CodeBadName},
		{"duplicate", pack(t, append(minimal(), "word/document.xml", "x")...), ooxml.Limits{}, ooxml.CodeDuplicate},
		{"duplicate but for case", pack(t, minimal("word/DOCUMENT.xml", "x")...), ooxml.Limits{}, ooxml.CodeDuplicate},
		{"no content types", pack(t, "word/document.xml", document), ooxml.Limits{}, ooxml.CodeNotWord},
		{"no relationships", pack(t, "[Content_Types].xml", contentTypes), ooxml.Limits{}, ooxml.CodeNoMain},
		{"main part missing", pack(t, "[Content_Types].xml", contentTypes, "_rels/.rels", rootRels), ooxml.Limits{}, ooxml.CodeNoMain},
		{"workbook", pack(t, minimal("[Content_Types].xml", sheet)...), ooxml.Limits{}, ooxml.CodeNotWord},
		{"entity bomb", pack(t, minimal("word/document.xml", entities)...), ooxml.Limits{}, ooxml.CodeDoctype},
		{"entity in relationships", pack(t, minimal("_rels/.rels", `<!DOCTYPE x>`+rootRels)...), ooxml.Limits{}, ooxml.CodeDoctype},
		{"tags crossed", pack(t, minimal("word/document.xml", "<a><b></a></b>")...), ooxml.Limits{}, ooxml.CodeBadXML},
		{"two roots", pack(t, minimal("word/document.xml", "<a/><b/>")...), ooxml.Limits{}, ooxml.CodeBadXML},
		{"no root", pack(t, minimal("word/document.xml", " ")...), ooxml.Limits{}, ooxml.CodeBadXML},
		{"text after the root", pack(t, minimal("word/document.xml", "<a/>x")...), ooxml.Limits{}, ooxml.CodeBadXML},
		{"attribute twice", pack(t, minimal("word/document.xml", `<a x="1" x="2"/>`)...), ooxml.Limits{}, ooxml.CodeBadXML},
		{"unknown entity", pack(t, minimal("word/document.xml", `<a>&nbsp;</a>`)...), ooxml.Limits{}, ooxml.CodeBadXML},
		{"other encoding", pack(t, minimal("word/document.xml", `<?xml version="1.0" encoding="utf-16"?><a/>`)...), ooxml.Limits{},
			ooxml.CodeBadXML},
		{"deep nesting", pack(t, minimal("word/document.xml", strings.Repeat("<a>", 600)+strings.Repeat("</a>", 600))...), ooxml.Limits{},
			ooxml.CodeBadXML},
		{"too much XML", pack(t, minimal()...), ooxml.Limits{XMLBytes: 20}, ooxml.CodeTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := readMain(tt.file, tt.lim)
			var e *ooxml.Error
			if !errors.As(err, &e) {
				t.Fatalf("error = %v, want an *ooxml.Error", err)
			}
			if e.Code != tt.code || e.Message == "" || e.Remedy == "" {
				t.Errorf("error = %+v, want code %s, a message and a remedy", e, tt.code)
			}
		})
	}
}

func readMain(file []byte, lim ooxml.Limits) error {
	p, err := open(file, lim)
	if err != nil {
		return err
	}
	main, err := p.WordMain()
	if err != nil {
		return err
	}
	_, err = p.ReadXML(main)
	return err
}

// lyingSize has an entry that unpacks to more than the directory says.
func lyingSize(t *testing.T) []byte {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	content := []byte("more than four bytes")
	w, err := zw.CreateRaw(&zip.FileHeader{
		Name: "a", Method: zip.Store, CRC32: crc32.ChecksumIEEE(content), CompressedSize64: uint64(len(content)), UncompressedSize64: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func manyEntries(t *testing.T, n int) []byte {
	pairs := minimal()
	for i := range n {
		pairs = append(pairs, fmt.Sprintf("p%d", i), "")
	}
	return pack(t, pairs...)
}

func TestWriterCopiesRawAndIsDeterministic(t *testing.T) {
	in := pack(t, minimal("word/media/picture.png", strings.Repeat("pixels", 1000))...)
	write := func() []byte {
		p, err := open(in, ooxml.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var buf bytes.Buffer
		w := ooxml.NewWriter(&buf)
		for _, part := range p.Parts() {
			if part.Name != "/word/document.xml" {
				if err := w.Copy(part); err != nil {
					t.Fatal(err)
				}
				continue
			}
			dst, err := w.Create(part.Name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(dst, "<new/>"); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	out := write()
	if !bytes.Equal(out, write()) {
		t.Error("two runs gave different bytes")
	}
	before, after := entries(t, in), entries(t, out)
	for i, f := range after {
		if f.Name != before[i].Name {
			t.Errorf("entry %d is %s, want %s", i, f.Name, before[i].Name)
		}
		if f.Name != "word/document.xml" && !bytes.Equal(raw(t, f), raw(t, before[i])) {
			t.Errorf("%s was compressed again", f.Name)
		}
	}
}

func entries(t *testing.T, b []byte) []*zip.File {
	zr, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return zr.File
}

func raw(t *testing.T, f *zip.File) []byte {
	r, err := f.OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCheck(t *testing.T) {
	dangling := `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" ` +
		`Type="t" Target="gone.xml"/><Relationship Id="r1" Type="t" Target="http://example.com" TargetMode="External"/></Relationships>`
	p, err := open(pack(t, minimal("word/_rels/document.xml.rels", dangling, "word/bad.xml", "<a>", "word/picture.png", "")...),
		ooxml.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(errors.Join(p.Check()...))
	for _, want := range []string{
		`"r1" points to /word/gone.xml`, `"r1" is defined twice`, "/word/bad.xml: the XML is not well formed",
		"/word/picture.png: the part has no content type",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("Check does not say %q:\n%s", want, got)
		}
	}
}

func TestCorpusOpensOrSaysWhy(t *testing.T) {
	files, opened := 0, 0
	err := filepath.WalkDir("../../../shared/corpus", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".docx") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if err := readMain(b, ooxml.Limits{}); err == nil {
			opened++
		} else if e, ok := errors.AsType[*ooxml.Error](err); !ok {
			t.Errorf("%s: %v", path, err)
		} else {
			t.Logf("%s: %s: %v", path, e.Code, e)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the corpus of real files is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if opened*10 < files*9 {
		t.Errorf("only %d of %d real files open", opened, files)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(pack(f, minimal()...))
	f.Add(pack(f, minimal("word/document.xml", "<a>")...))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := open(b, ooxml.Limits{PackageBytes: 1 << 20, TotalBytes: 1 << 20, Entries: 50})
		if err != nil {
			return
		}
		p.Check()
		if main, err := p.WordMain(); err == nil {
			if _, err := p.Rels(main.Name); err == nil {
				w := ooxml.NewWriter(io.Discard)
				if err := w.Copy(main); err != nil {
					t.Errorf("a part that opened cannot be copied: %v", err)
				}
			}
		}
	})
}
