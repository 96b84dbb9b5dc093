package finish

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/pdf"
)

var attachments = []File{
	{Name: "data.json", MIMEType: "application/json", Description: "Data of the letter", Modified: time.Date(2026, 3, 1, 10, 0, 0, 0,
		time.UTC),
		Relationship: Data, Content: []byte(`{"to":"Ms Ada Byron"}`)},
	{Name: "Übersicht (März) 数据.xml", MIMEType: "text/xml", Description: "Rechnung — als XML",
		Modified:     time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600)),
		Relationship: Alternative, Content: bytes.Repeat([]byte("<a>ü</a>\n"), 10000)},
	{Name: "nothing", MIMEType: "application/octet-stream", Modified: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Relationship: Source},
}

func attach(t testing.TB, pdf []byte, files ...File) []byte {
	t.Helper()
	made, err := Attach(pdf, files)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestAttachedFilesComeBack(t *testing.T) {
	for name, plain := range map[string][]byte{"archive": archived(t), "stream": packedAway(t, archived(t)), "not an archive": tagged(t)} {
		t.Run(name, func(t *testing.T) {
			made := attach(t, plain, attachments...)
			path := saved(t, made)
			tool(t, "qpdf", "--check", path)
			listed := tool(t, "pdfdetach", "-list", path)
			folder := t.TempDir()
			tool(t, "pdfdetach", "-saveall", "-o", folder, path)
			for _, file := range attachments {
				got, err := os.ReadFile(filepath.Join(folder, file.Name))
				if err != nil || !bytes.Equal(got, file.Content) {
					t.Errorf("%s is extracted as %d bytes, %v; want %d", file.Name, len(got), err, len(file.Content))
				}
				if !strings.Contains(listed, ": "+file.Name+"\n") {
					t.Errorf("%s is not listed:\n%s", file.Name, listed)
				}
			}
			sameContent(t, plain, made)
			if !bytes.HasPrefix(made, plain) {
				t.Error("LibreOffice's bytes changed")
			}
		})
	}
}

// TestAttachedAsArchivesAsk checks what ISO 19005-3 requires of a file with attachments (6.1.2 to 6.1.13 and 6.8),
// with another program than the one that wrote it. The rest is in the bytes of the engine, which do not change.
func TestAttachedAsArchivesAsk(t *testing.T) {
	for name, plain := range map[string][]byte{"table": archived(t), "stream": packedAway(t, archived(t))} {
		t.Run(name, func(t *testing.T) {
			made := attach(t, plain, attachments...)
			before, after := objects(t, plain), objects(t, made)
			checkAttachments(t, after)
			for _, key := range []string{"/Metadata", "/OutputIntents", "/StructTreeRoot", "/MarkInfo", "/Lang", "/Pages"} {
				want, got := before.at(before.catalog(), key), after.at(after.catalog(), key)
				if diff := cmp.Diff(want, got); diff != "" || want == nil && key != "/Lang" {
					t.Errorf("%s changed: %v %s", key, want, diff)
				}
			}
			old, now := strs(before.trailer["/ID"]), strs(after.trailer["/ID"])
			if len(now) != 2 || now[0] != old[0] || now[1] == old[1] {
				t.Errorf("the identifier is %q, was %q", now, old) // 6.1.3
			}
			if after.trailer["/Encrypt"] != nil {
				t.Error("the PDF is encrypted")
			}
			if part := regexp.MustCompile(`<pdfaid:part>3</pdfaid:part>`); len(part.FindAll(made, -1)) != 1 {
				t.Error("the PDF does not claim to be PDF/A-3")
			}
			ascii := func(c byte) bool { return c < 128 }
			if !bytes.HasPrefix(made, []byte("%PDF-1.")) || string(made[8:10]) != "\n%" || slices.ContainsFunc(made[10:14], ascii) {
				t.Errorf("the PDF starts with %q", made[:20]) // 6.1.2
			}
			if !bytes.HasSuffix(made, []byte("%%EOF\n")) {
				t.Error("there is data after the end") // 6.1.3
			}
			checkSpacing(t, made[len(plain):])
		})
	}
}

// checkSpacing checks the white space in the appended bytes (6.1.4, 6.1.7.1, and 6.1.9), and the length of strings
// and names (6.1.13).
func checkSpacing(t *testing.T, added []byte) {
	t.Helper()
	object := regexp.MustCompile(`(?s)^\d+ \d+ obj\n<<.*?>>(\nstream\n.*?\nendstream)?\nendobj\n`)
	for object.Match(added) {
		one := object.Find(added)
		for _, literal := range regexp.MustCompile(`<[0-9a-f]*>`).FindAll(one, -1) {
			if len(literal)%2 != 0 || len(literal) > 2*32767 {
				t.Errorf("found a string %.80q", literal)
			}
		}
		added = added[len(one):]
	}
	const end = `startxref\n\d+\n%%EOF\n$`
	if !regexp.MustCompile(`^(xref\n(\d+ \d+\n(\d{10} \d{5} n \n)+)+trailer\n<<.*>>\n)?` + end).Match(added) {
		t.Errorf("the PDF ends with %q", added)
	}
}

func checkAttachments(t *testing.T, made document) {
	catalog := made.catalog()
	associated := made.at(catalog, "/AF").([]any)
	names := made.at(made.at(made.at(catalog, "/Names"), "/EmbeddedFiles"), "/Names").([]any)
	if len(associated) != len(attachments) || len(names) != 2*len(attachments) {
		t.Fatalf("%d associated files and %d names", len(associated), len(names)/2)
	}
	var listed []any
	var keys []string
	for pair := range slices.Chunk(names, 2) {
		keys, listed = append(keys, pair[0].(string)), append(listed, pair[1])
	}
	if !slices.IsSorted(keys) {
		t.Errorf("the names are not sorted: %q", keys)
	}
	for i, file := range attachments {
		if !slices.Contains(listed, associated[i]) { // every embedded file is associated, 6.8
			t.Errorf("%s is not in the name tree", file.Name)
		}
		specification := made.resolve(associated[i]).(map[string]any)
		want := map[string]any{"/Type": "/Filespec", "/UF": "u:" + file.Name, "/AFRelationship": "/" + string(file.Relationship)}
		for key, value := range want {
			if specification[key] != value {
				t.Errorf("%s: %s is %v, want %v", file.Name, key, specification[key], value)
			}
		}
		if f, _ := specification["/F"].(string); f == "" {
			t.Errorf("%s has no ASCII name", file.Name)
		}
		if d, _ := specification["/Desc"].(string); file.Description != "" && d != "u:"+file.Description {
			t.Errorf("%s is described as %q", file.Name, d)
		}
		content := specification["/EF"].(map[string]any)
		if content["/F"] != content["/UF"] {
			t.Errorf("%s is embedded twice", file.Name)
		}
		embedded := made.at(content, "/F").(map[string]any)
		parameters := made.at(embedded, "/Params").(map[string]any)
		if embedded["/Subtype"] != "/"+file.MIMEType || embedded["/Type"] != "/EmbeddedFile" {
			t.Errorf("%s has the type %v", file.Name, embedded["/Subtype"])
		}
		sum := md5.Sum(file.Content)
		if parameters["/ModDate"] != "u:"+file.Modified.UTC().Format("D:20060102150405Z") || parameters["/Size"] != float64(len(file.Content)) ||
			parameters["/CheckSum"] != asBytes(sum[:]) {
			t.Errorf("%s has the parameters %v", file.Name, parameters)
		}
	}
}

// document is a PDF as JSON from qpdf.
type document struct {
	all     map[string]any
	trailer map[string]any
}

func objects(t testing.TB, pdf []byte) document {
	t.Helper()
	var shown struct {
		Objects []json.RawMessage `json:"qpdf"`
	}
	if err := json.Unmarshal([]byte(tool(t, "qpdf", "--json", "--json-key=qpdf", saved(t, pdf))), &shown); err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(shown.Objects[1], &d.all); err != nil {
		t.Fatal(err)
	}
	d.trailer = d.resolve(d.all["trailer"]).(map[string]any)
	return d
}

// resolve returns the object that a reference points to. For a stream, it is the dictionary.
func (d document) resolve(o any) any {
	if s, ok := o.(string); ok && strings.HasSuffix(s, " R") {
		o = d.all["obj:"+s]
	}
	m, ok := o.(map[string]any)
	if !ok {
		return o
	}
	if inner, ok := m["stream"].(map[string]any); ok {
		return inner["dict"]
	}
	if inner, ok := m["value"]; ok {
		return inner
	}
	return o
}

func (d document) at(o any, key string) any {
	m, _ := d.resolve(o).(map[string]any)
	return d.resolve(m[key])
}

func (d document) catalog() any { return d.resolve(d.trailer["/Root"]) }

func strs(o any) []string {
	var found []string
	for _, element := range o.([]any) {
		found = append(found, element.(string))
	}
	return found
}

// asBytes returns bytes in the form in which qpdf prints binary strings.
func asBytes(b []byte) string { return "b:" + hex.EncodeToString(b) }

func TestAttachTwice(t *testing.T) {
	once := attach(t, archived(t), attachments[0])
	twice := attach(t, once, attachments[1], attachments[2])
	checkAttachments(t, objects(t, twice))
	if _, err := Attach(twice, attachments[:1]); err == nil {
		t.Error("attached two files with the same name")
	}
}

func TestAttachThenEncrypt(t *testing.T) {
	path := saved(t, encrypt(t, attach(t, tagged(t), attachments...), Protection{UserPassword: "s3cret"}))
	folder := t.TempDir()
	tool(t, "pdfdetach", "-upw", "s3cret", "-saveall", "-o", folder, path)
	for _, file := range attachments {
		if got, err := os.ReadFile(filepath.Join(folder, file.Name)); err != nil || !bytes.Equal(got, file.Content) {
			t.Errorf("%s is extracted as %d bytes, %v", file.Name, len(got), err)
		}
	}
}

func TestAttachNothing(t *testing.T) {
	if made := attach(t, archived(t)); !bytes.Equal(made, archived(t)) {
		t.Error("the PDF changed")
	}
}

func TestSomeArchivesTakeNoFiles(t *testing.T) {
	second := convert(t, letter("Ms Ada Byron"), pdf.Options{Archive: pdf.PDFA2b})
	if _, err := Attach(second, attachments[:1]); !errors.Is(err, ErrArchive) {
		t.Errorf("error: %v", err)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	for name, change := range map[string]func(*File){
		"no name":        func(f *File) { f.Name = "" },
		"a path":         func(f *File) { f.Name = "../data.json" },
		"a long name":    func(f *File) { f.Name = strings.Repeat("x", 256) },
		"a line":         func(f *File) { f.Name = "a\nb" },
		"no text":        func(f *File) { f.Description = "\xff" },
		"a story":        func(f *File) { f.Description = strings.Repeat("x", 4097) },
		"no type":        func(f *File) { f.MIMEType = "" },
		"a long type":    func(f *File) { f.MIMEType = "text/" + strings.Repeat("x", 123) },
		"half a type":    func(f *File) { f.MIMEType = "xml" },
		"a charset":      func(f *File) { f.MIMEType = "text/xml; charset=utf-8" },
		"no time":        func(f *File) { f.Modified = time.Time{} },
		"no relation":    func(f *File) { f.Relationship = "" },
		"other relation": func(f *File) { f.Relationship = "Data /Evil" },
	} {
		t.Run(name, func(t *testing.T) {
			file := attachments[0]
			change(&file)
			if _, err := Attach(archived(t), []File{file}); err == nil || !strings.Contains(err.Error(), "attachment") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func BenchmarkAttach(b *testing.B) {
	for name, document := range map[string][]byte{"letter": letter("Ms Ada Byron"), "contract": contract(50)} {
		plain := convert(b, document, pdf.Options{Archive: pdf.PDFA3b})
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				attach(b, plain, attachments[0])
			}
		})
	}
}
