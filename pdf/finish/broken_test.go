package finish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// small has the objects of a small PDF with structure, bookmarks, and metadata. Their numbers start at 1.
var small = []string{
	`<</Type/Catalog/Pages 2 0 R/StructTreeRoot 4 0 R/Outlines 7 0 R/Metadata 9 0 R/Names 10 0 R/Lang(en)>>`,
	`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 99 99]>>`,
	`<</Type/Page/Parent 2 0 R/Contents 6 0 R/StructParents 0/Resources<<>>>>`,
	`<</Type/StructTreeRoot/K[5 0 R]/ParentTree 11 0 R/RoleMap<</A/P>>>>`,
	`<</Type/StructElem/S/P/P 4 0 R/Pg 3 0 R/K 0>>`,
	"<</Length 12 0 R>>\nstream\n0 0 m 9 9 l S\nendstream",
	`<</Type/Outlines/First 8 0 R/Last 8 0 R/Count 1>>`,
	`<</Title(One \(\061\)\n)/Parent 7 0 R/Dest[3 0 R/Fit]>>`,
	"<</Length 1>>\nstream\n \nendstream",
	`<</EmbeddedFiles<</Names[]>>>>`,
	`<</Nums[0[5 0 R]]>>`,
	`13`,
}

// written returns a PDF with the given objects and a cross-reference table.
func written(objects ...string) []byte {
	b := []byte("%PDF-1.7\n")
	var table strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	return fmt.Appendf(b, "xref\n0 %[1]d\n0000000000 65535 f \n%[2]strailer\n<</Size %[1]d/Root 1 0 R>>\nstartxref\n%[3]d\n%%%%EOF\n",
		len(objects)+1, table.String(), len(b))
}

// streamed returns a PDF that contains only a cross-reference stream, with the given content and entries.
func streamed(entries string, content []byte) []byte {
	b := []byte("%PDF-1.7\n")
	start := len(b)
	b = fmt.Appendf(b, "1 0 obj\n<</Type/XRef/Root 1 0 R %s/Length %d>>\nstream\n%s\nendstream\nendobj\n", entries, len(content), content)
	return fmt.Appendf(b, "startxref\n%d\n%%%%EOF\n", start)
}

// changed returns the small PDF with object n replaced.
func changed(n int, o string) []byte {
	objects := slices.Clone(small)
	objects[n-1] = o
	return written(objects...)
}

// finishAll applies every operation to a PDF, and returns all errors.
func finishAll(pdf []byte, keys *keys) error {
	_, err := Pages(pdf)
	_, failed := Sizes(pdf)
	err = errors.Join(err, failed)
	_, failed = Marks(pdf, "mark:")
	err = errors.Join(err, failed)
	attached, failed := Attach(pdf, attachments[:1])
	if failed == nil {
		_, failed = open(attached)
	}
	err = errors.Join(err, failed)
	if f, failed := open(pdf); failed == nil {
		w, failed := newWriter(io.Discard, "%PDF-1.7")
		if failed == nil {
			_, failed = carryAll(f, w, keys)
		}
		err = errors.Join(err, failed)
	}
	var out bytes.Buffer
	if failed := Merge(&out, documents(pdf, pdf), nil); failed != nil {
		return errors.Join(err, failed)
	}
	n, failed := Pages(out.Bytes())
	if n%2 != 0 {
		err = errors.Join(err, fmt.Errorf("merged with itself, it has %d pages", n))
	}
	return errors.Join(err, failed)
}

func testKeys(t testing.TB) *keys {
	t.Helper()
	k, err := Protection{}.keys()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSmallIsSound(t *testing.T) {
	if err := finishAll(written(small...), testKeys(t)); err != nil {
		t.Error(err)
	}
	tool(t, "qpdf", "--check", saved(t, merge(t, written(small...), written(small...))))
}

// tricky are files that would cause an endless loop, or that are invalid in subtle ways.
var tricky = map[string][]byte{
	"empty":                         {},
	"only a header":                 []byte("%PDF-1.7\n"),
	"a table after the end":         []byte("%PDF-1.7\nstartxref\n999999999999\n%%EOF"),
	"a table without end":           []byte("%PDF-1.7\nxref\n0 4000000\n0000000000 65535 f \ntrailer<<>>\nstartxref\n9\n%%EOF"),
	"a table of itself":             []byte("%PDF-1.7\nxref\n0 0\ntrailer<</Prev 9>>\nstartxref\n9\n%%EOF"),
	"too many objects":              []byte("%PDF-1.7\nxref\n999999999 1\n0000000000 65535 f \ntrailer<<>>\nstartxref\n9\n%%EOF"),
	"a catalog of another type":     changed(1, `(no)`),
	"a catalog without pages":       changed(1, `<<>>`),
	"a reference to itself":         changed(1, `1 0 R`),
	"pages that contain themselves": changed(2, `<</Type/Pages/Kids[2 0 R]/Count 1>>`),
	"the same page twice":           changed(2, `<</Type/Pages/Kids[3 0 R 3 0 R]/Count 2>>`),
	"a wrong page count":            changed(2, `<</Type/Pages/Kids[3 0 R]/Count 4>>`),
	"a length in its own stream":    changed(6, "<</Length 6 0 R>>\nstream\n0 0 m\nendstream"),
	"a length too long":             changed(6, "<</Length 99999999>>\nstream\n0 0 m\nendstream"),
	"a negative length":             changed(6, "<</Length -1>>\nstream\n0 0 m\nendstream"),
	"a number tree in itself":       changed(11, `<</Kids[11 0 R 11 0 R]>>`),
	"an incomplete pair":            changed(11, `<</Nums[0]>>`),
	"a key that is too large":       changed(11, `<</Nums[999999999999 5 0 R]>>`),
	"an object with another number": changed(3, "null\nendobj\n99 0 obj\nnull"),
	"fields without width":          streamed("/W[0 0 0]/Size 99999999", nil),
	"objects in themselves":         streamed("/W[1 1 1]/Index[1 3]", []byte("\x01\x09\x00\x02\x03\x00\x02\x02\x00")),
}

// costly are files that cost much more than their size. They are slow to create.
func costly() map[string][]byte {
	return map[string][]byte{
		"deep":                 changed(5, strings.Repeat("[", 1<<20)),
		"deep dictionaries":    changed(5, strings.Repeat("<</A", 1<<20)),
		"a string without end": changed(5, "("+strings.Repeat("(", 1<<20)),
		"bytes like zeros":     streamed("/W[1 2 1]/Size 1/Filter/FlateDecode", deflate(make([]byte, 256<<20))),
		"objects like zeros":   streamed("/W[0 1 0]/Size 99999999/Filter/FlateDecode", deflate(make([]byte, 16<<20))),
		"overlapping":          overlapping(2000),
	}
}

// overlapping returns a PDF whose streams contain each other, so that their total size is many times the size of the
// file.
func overlapping(n int) []byte {
	const head, end = "%06d 0 obj <</Length %06d>>\nstream\n", "\nendstream endobj\n"
	size := len(fmt.Sprintf(head, 0, 0)) + len(end)
	var contents, table strings.Builder
	streams := []byte{}
	objects := slices.Clone(small)
	for i := range n {
		fmt.Fprintf(&contents, "%d 0 R ", len(objects)+1+i)
	}
	objects[2] = `<</Type/Page/Parent 2 0 R/Contents[` + contents.String() + `]>>`
	b := []byte("%PDF-1.7\n")
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	for i := range n {
		fmt.Fprintf(&table, "%010d 00000 n \n", len(b)+len(streams))
		streams = fmt.Appendf(streams, head, len(objects)+1+i, (n-1-i)*size)
	}
	b = append(append(b, streams...), strings.Repeat(end, n)...)
	return fmt.Appendf(b, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+n+1, table.String(), len(b))
}

func TestTrickyFilesAreErrors(t *testing.T) {
	keys := testKeys(t)
	for name, pdf := range tricky {
		t.Run(name, func(t *testing.T) { refused(t, pdf, keys) })
	}
}

func TestCostlyFilesAreErrors(t *testing.T) {
	keys := testKeys(t)
	for name, pdf := range costly() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			refused(t, pdf, keys)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
				t.Errorf("it used %d MB", used>>20)
			}
		})
	}
}

func refused(t *testing.T, pdf []byte, keys *keys) {
	t.Helper()
	err := finishAll(pdf, keys)
	if _, ok := errors.AsType[*BrokenError](err); !ok {
		t.Errorf("error: %v", err)
	}
}

// A file that is truncated or has a corrupt byte is either read or rejected.
func TestDamagedFilesAreReadOrRefused(t *testing.T) {
	keys := testKeys(t)
	sound := written(small...)
	for i := range sound {
		var unreadable *BrokenError
		if err := finishAll(sound[:i], keys); !errors.As(err, &unreadable) && i < len(sound)-len("\n%%EOF\n") {
			t.Errorf("truncated at %d of %d: %v", i, len(sound), err)
		}
		damaged := bytes.Clone(sound)
		damaged[i] ^= 0x11
		if err := finishAll(damaged, keys); err != nil && !errors.As(err, &unreadable) {
			t.Errorf("damaged at %d: %v", i, err)
		}
	}
}

func FuzzFinish(f *testing.F) {
	f.Add(written(small...))
	for _, pdf := range tricky {
		f.Add(pdf)
	}
	keys := testKeys(f)
	f.Fuzz(func(t *testing.T, pdf []byte) {
		var unreadable *BrokenError
		if err := finishAll(pdf, keys); err != nil && !errors.As(err, &unreadable) && !errors.Is(err, ErrArchive) {
			t.Error(err)
		}
	})
}

// No operation writes any files.
func TestNothingIsWritten(t *testing.T) {
	plain, archive := tagged(t), archived(t)
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"} {
		t.Setenv(name, home)
	}
	t.Chdir(home)
	for range 2 {
		encrypt(t, plain, Protection{UserPassword: "s3cret"})
		attach(t, archive, attachments...)
		merge(t, plain, archive)
		if err := os.Unsetenv("HOME"); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := filepath.Glob(filepath.Join(home, "*")); len(found) > 0 || err != nil {
		t.Errorf("found %q, %v", found, err)
	}
}
