package finish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"platen/pdf"
)

// merge merges PDFs, with numbered names.
func merge(t testing.TB, pdfs ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Merge(&out, documents(pdfs...), nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func documents(pdfs ...[]byte) []Document {
	var list []Document
	for i, pdf := range pdfs {
		list = append(list, Document{
			Name: fmt.Sprintf("Dokument № %d", i+1),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(pdf)), nil },
		})
	}
	return list
}

func TestMergedPagesAreThoseOfTheDocuments(t *testing.T) {
	options := pdf.Options{Tagged: true, Bookmarks: true}
	a, b, c := tagged(t), convert(t, contract(4), options), convert(t, letter("Mr Babbage"), options)
	for name, singles := range map[string][][]byte{
		"one":      {b},
		"some":     {a, b, c, b, a},
		"streams":  {packedAway(t, a), packedAway(t, b)},
		"archives": {archived(t), convert(t, contract(4), pdf.Options{})},
	} {
		t.Run(name, func(t *testing.T) {
			merged := merge(t, singles...)
			path := saved(t, merged)
			tool(t, "qpdf", "--check", path)
			page := 0
			for i, single := range singles {
				n, err := Pages(single)
				if err != nil {
					t.Fatal(err)
				}
				for k := 1; k <= n; k++ {
					page++
					samePage(t, fmt.Sprintf("page %d of document %d", k, i+1), saved(t, single), k, path, page)
				}
			}
			if n, err := Pages(merged); n != page || err != nil {
				t.Errorf("%d pages, %v; want %d", n, err, page)
			}
		})
	}
}

// samePage checks that a page of one file and a page of another look the same and have the same text.
func samePage(t *testing.T, what, want string, k int, got string, n int) {
	t.Helper()
	for _, command := range [][]string{{"pdftotext", "-layout"}, {"pdftoppm", "-r", "60"}} {
		show := func(path string, page int) string {
			at := fmt.Sprint(page)
			arguments := slices.Concat(command[1:], []string{"-f", at, "-l", at, path})
			if command[0] == "pdftotext" {
				arguments = append(arguments, "-")
			}
			return tool(t, command[0], arguments...)
		}
		if show(want, k) != show(got, n) {
			t.Errorf("%s differs according to %s", what, command[0])
		}
	}
}

func TestMergedBookmarks(t *testing.T) {
	options := pdf.Options{Tagged: true, Bookmarks: true}
	merged := merge(t, tagged(t), convert(t, contract(3), options), convert(t, contract(2), pdf.Options{}))
	want := []string{"1 Dokument № 1", "1 - Offer to Ms Ada Byron", "2 Dokument № 2", "2 - Clause 1", "3 - Clause 2", "4 - Clause 3",
		"5 Dokument № 3"}
	if got := bookmarks(t, merged); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the bookmarks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A link points to the page of its own document.
// The result has no layers, so a document whose hidden ones would appear is not merged.
func TestMergeRefusesHiddenLayers(t *testing.T) {
	pdf := tagged(t)
	for state, refused := range map[string]dict{
		"off":       {{"OFF", array{number("1")}}},
		"off first": {{"BaseState", name("OFF")}},
		"shown":     {{"OFF", array{}}, {"ON", array{number("1")}}},
		"none":      nil,
	} {
		f, err := open(pdf)
		if err != nil {
			t.Fatal(err)
		}
		root, err1 := f.root()
		catalog, err2 := f.catalog()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		u := newUpdate(f)
		properties := dict{{"OCGs", array{}}}
		if refused != nil {
			properties = properties.with("D", refused)
		}
		u.put(root, catalog.with("OCProperties", properties))
		err = Merge(io.Discard, documents(tagged(t), u.finish()), nil)
		if want := strings.HasPrefix(state, "off"); want != (err != nil && strings.Contains(err.Error(), "hidden layers")) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestMergedLinks(t *testing.T) {
	d := objects(t, merge(t, linked(t, convert(t, contract(3), pdf.Options{}), 2), linked(t, convert(t, contract(4), pdf.Options{}), 3)))
	if got := linkTargets(d); fmt.Sprint(got) != "[3 7]" {
		t.Errorf("the links point to pages %v, want 3 and 7", got)
	}
}

// linked returns a PDF with a link from its first page to another one, counted from 0.
func linked(t *testing.T, pdf []byte, to int) []byte {
	t.Helper()
	f, err := open(pdf)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err1 := f.catalog()
	pages, err2 := f.dict(catalog.get("Pages"))
	kids, err3 := f.array(pages.get("Kids"))
	first, err4 := f.dict(kids[0])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	u := newUpdate(f)
	box := array{number("50"), number("50"), number("90"), number("90")}
	link := u.add(dict{{"Type", name("Annot")}, {"Subtype", name("Link")}, {"Rect", box}, {"Dest", array{kids[to], name("Fit")}}})
	u.put(kids[0].(ref), first.with("Annots", array{link}))
	return u.finish()
}

// bookmarks returns the bookmarks of a PDF with their page numbers.
func bookmarks(t *testing.T, pdf []byte) []string {
	t.Helper()
	d := objects(t, pdf)
	numbers := pageNumbers(d)
	var found []string
	var walk func(item any, prefix string)
	walk = func(first any, prefix string) {
		for item := first; item != nil; item = d.at(item, "/Next") {
			title := d.at(item, "/Title").(string)
			target := d.at(item, "/Dest").([]any)[0]
			found = append(found, fmt.Sprintf("%d %s%s", numbers[target], prefix, strings.TrimPrefix(title, "u:")))
			walk(d.at(item, "/First"), prefix+"- ")
		}
	}
	walk(d.at(d.at(d.catalog(), "/Outlines"), "/First"), "")
	return found
}

// pageNumbers returns the page numbers by reference.
func pageNumbers(d document) map[any]int {
	numbers := map[any]int{}
	var walk func(node any)
	walk = func(node any) {
		if d.at(node, "/Type") == "/Page" {
			numbers[node] = len(numbers) + 1
			return
		}
		for _, kid := range d.at(node, "/Kids").([]any) {
			walk(kid)
		}
	}
	walk(d.at(d.catalog(), "/Pages"))
	return numbers
}

// linkTargets returns the pages that links point to, in the order of the pages that contain the links.
func linkTargets(d document) []int {
	numbers := pageNumbers(d)
	on := make([][]int, len(numbers)+1)
	for page, n := range numbers {
		list, _ := d.at(page, "/Annots").([]any)
		for _, annotation := range list {
			target := d.at(annotation, "/Dest").([]any)[0]
			on[n] = append(on[n], numbers[target])
		}
	}
	var targets []int
	for _, list := range on {
		targets = append(targets, list...)
	}
	return targets
}

// The merged structure consists of the documents' structures in order, and content refers to it.
func TestMergedStructure(t *testing.T) {
	options := pdf.Options{Tagged: true, Bookmarks: true}
	a, b := tagged(t), convert(t, contract(3), options)
	show := func(pdf []byte) string { return outcome(t, []string{"pdfinfo", "-struct-text"}, pdf) }
	for _, singles := range [][][]byte{{a, b, a}, {packedAway(t, b), b}} {
		want := "Document\n"
		for _, single := range singles {
			for line := range strings.Lines(show(single)) {
				want += "  " + line
			}
		}
		if got := show(merge(t, singles...)); got != want {
			t.Errorf("the structure is\n%s\nwant\n%s", got, want)
		}
	}
	d := objects(t, merge(t, a, b, a))
	checkParents(t, d)
	if d.at(d.at(d.catalog(), "/MarkInfo"), "/Marked") != true {
		t.Error("the PDF is not tagged")
	}
	mixed := objects(t, merge(t, a, convert(t, contract(2), pdf.Options{}), b))
	checkParents(t, mixed)
	if mixed.at(mixed.catalog(), "/MarkInfo") != nil {
		t.Error("the PDF is tagged, but one document has no structure")
	}
	for _, element := range d.at(d.at(d.at(d.catalog(), "/StructTreeRoot"), "/K"), "/K").([]any) {
		if language, _ := d.at(element, "/Lang").(string); language == "" {
			t.Error("a document has lost its language")
		}
	}
}

// checkParents checks that each page has a unique key, which leads to elements on that page.
func checkParents(t *testing.T, d document) {
	t.Helper()
	parents := map[float64]any{}
	tree := d.at(d.at(d.catalog(), "/StructTreeRoot"), "/ParentTree")
	for _, leaf := range d.at(tree, "/Kids").([]any) {
		list := d.at(leaf, "/Nums").([]any)
		limits := d.at(leaf, "/Limits").([]any)
		if limits[0] != list[0] || limits[1] != list[len(list)-2] {
			t.Errorf("the limits are %v", limits)
		}
		for i := 0; i < len(list); i += 2 {
			key := list[i].(float64)
			if parents[key] != nil {
				t.Errorf("duplicate key %v", key)
			}
			parents[key] = d.resolve(list[i+1])
		}
	}
	used := map[float64]bool{}
	for page := range pageNumbers(d) {
		key, ok := d.at(page, "/StructParents").(float64)
		if !ok {
			continue
		}
		if used[key] {
			t.Errorf("two pages have key %v", key)
		}
		used[key] = true
		for _, element := range parents[key].([]any) {
			if element != nil && d.resolve(element).(map[string]any)["/Pg"] != page {
				t.Errorf("content of %v belongs to an element on %v", page, d.at(element, "/Pg"))
			}
		}
	}
	if len(used) == 0 {
		t.Error("no page has structure")
	}
}

// Identical objects are written once: here the logo, and all fonts of the same letter.
func TestMergedShare(t *testing.T) {
	one := tagged(t)
	two := merge(t, one, one)
	if more := len(two) - len(one); more > len(one)/2 {
		t.Errorf("the second letter adds %d bytes to the %d of the first", more, len(one))
	}
	other := convert(t, letter("Mr Charles Babbage"), pdf.Options{Tagged: true, Bookmarks: true})
	d := objects(t, merge(t, one, other))
	pictures := 0
	for key := range d.all {
		if d.at(strings.TrimPrefix(key, "obj:"), "/Subtype") == "/Image" {
			pictures++
		}
	}
	if pictures != 2 { // the logo and its mask
		t.Errorf("%d images, want 2", pictures)
	}
}

func TestMergeIsTheSameEachTime(t *testing.T) {
	if !bytes.Equal(merge(t, tagged(t), archived(t)), merge(t, tagged(t), archived(t))) {
		t.Error("the results differ")
	}
}

func TestMergeNamesWhatIsBroken(t *testing.T) {
	list := documents(tagged(t), tagged(t)[:5000], tagged(t))
	var unreadable *BrokenError
	err := Merge(io.Discard, list, nil)
	if !errors.As(err, &unreadable) || !strings.Contains(err.Error(), "Dokument № 2") {
		t.Errorf("error: %v", err)
	}
	broken := tagged(t)[:5000]
	many := documents(slices.Concat([][]byte{tagged(t), broken, tagged(t)}, slices.Repeat([][]byte{broken}, 12))...)
	err = Merge(io.Discard, many, nil)
	if text := fmt.Sprint(err); strings.Count(text, "Dokument №") != 10 || !strings.Contains(text, "Dokument № 12\"") ||
		strings.Contains(text, "Dokument № 3\"") || strings.Contains(text, "Dokument № 13\"") {
		t.Errorf("error: %v", err)
	}
	lost := errors.New("lost")
	many[3].Open = func() (io.ReadCloser, error) { return nil, lost }
	if err := Merge(io.Discard, many, nil); errors.Is(err, lost) || strings.Count(fmt.Sprint(err), "Dokument №") != 1 {
		t.Errorf("error: %v", err)
	}
	list[1].Open = func() (io.ReadCloser, error) { return nil, lost }
	if err := Merge(io.Discard, list, nil); !errors.Is(err, lost) || !strings.Contains(err.Error(), "Dokument № 2") {
		t.Errorf("error: %v", err)
	}
	list[1].Open = func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(lost)), nil }
	if err := Merge(io.Discard, list, nil); !errors.Is(err, lost) {
		t.Errorf("error: %v", err)
	}
	if err := Merge(io.Discard, nil, nil); err == nil {
		t.Error("merged no documents")
	}
	full := errors.New("full")
	if err := Merge(failing{full}, documents(tagged(t)), nil); !errors.Is(err, full) {
		t.Errorf("error: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// counted counts written bytes.
type counted struct{ n int64 }

func (c *counted) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// watch records the memory in use when every 50th document is opened.
func watch(list []Document, most *uint64) []Document {
	watched := slices.Clone(list)
	for i := 49; i < len(list); i += 50 {
		watched[i].Open = func() (io.ReadCloser, error) {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			*most = max(*most, now.HeapInuse)
			return list[i].Open()
		}
	}
	return watched
}

func BenchmarkMerge(b *testing.B) {
	options := pdf.Options{Tagged: true, Bookmarks: true}
	for _, test := range []struct {
		name     string
		document []byte
		count    int
	}{
		{"1000 letters", letter("Ms Ada Byron"), 1000},
		{"200 contracts of 50 pages", contract(50), 200},
	} {
		list := documents(slices.Repeat([][]byte{convert(b, test.document, options)}, test.count)...)
		b.Run(test.name, func(b *testing.B) {
			var out counted
			most := new(uint64)
			watched := watch(list, most)
			for b.Loop() {
				out = counted{}
				if err := Merge(&out, watched, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.n)/1e6, "MB")
			b.ReportMetric(float64(*most)/1e6, "MB-heap")
		})
	}
}
