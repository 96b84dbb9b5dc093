package style_test

import (
	"encoding/xml"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// look is how a word is set: the family without blanks and in lower case, the size in points, and whether it is bold and italic.
type look struct {
	family       string
	size         float64
	bold, italic bool
}

// agreement counts the words of documents that Word sets as the resolver says.
type agreement struct{ words, family, size, bold, italic int }

// TestWordSetsTextAsResolved compares how words look by the resolver with how Word set them in its PDFs. Words count that the
// PDF has as often as the document, each time against that in the document. The PDFs were made on machines that lacked
// some fonts: families count where the PDF has the font.
func TestWordSetsTextAsResolved(t *testing.T) {
	documents, err := filepath.Glob("../../../shared/corpus/word-pdfs/*/*.docx")
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) == 0 {
		t.Skip("the shared corpus is missing")
	}
	if _, err := exec.LookPath("pdftohtml"); err != nil {
		t.Skip("pdftohtml is missing (Debian: poppler-utils)")
	}
	var all agreement
	compared, families := 0, 0
	for _, document := range documents {
		expected := looksOf(t, document)
		drawn, fonts := drawnLooks(t, document)
		var a agreement
		known := 0
		for _, word := range sortedKeys(expected) {
			if len(drawn[word]) != len(expected[word]) { // Word repeats headers, and updates tables of contents
				continue
			}
			for i, got := range drawn[word] {
				want := expected[word][i]
				a.words++
				if fonts[want.family] {
					known++
					count(&a.family, want.family == got.family, t, document, word, want, got)
				}
				count(&a.size, math.Abs(want.size-got.size) <= 0.34, t, document, word, want, got)
				count(&a.bold, want.bold == got.bold, t, document, word, want, got)
				count(&a.italic, want.italic == got.italic, t, document, word, want, got)
			}
		}
		if a.words > 0 {
			compared++
		}
		families += known
		all = agreement{all.words + a.words, all.family + a.family, all.size + a.size, all.bold + a.bold, all.italic + a.italic}
	}
	share := func(part, whole int) float64 { return 100 * float64(part) / float64(whole) }
	t.Logf("%d words of %d documents: size %.2f %%, bold %.2f %%, italic %.2f %%; of %d in fonts that Word had: family %.2f %%",
		all.words, compared,
		share(all.size, all.words), share(all.bold, all.words), share(all.italic, all.words), families, share(all.family, families))
	for name, got := range map[string]float64{
		"size": share(all.size, all.words), "bold": share(all.bold, all.words), "italic": share(all.italic, all.words),
		"family": share(all.family, families),
	} {
		if got < 99 {
			t.Errorf("%s agrees for %.2f %% of the words", name, got)
		}
	}
}

func count(n *int, ok bool, t *testing.T, document, word string, want, got look) {
	t.Helper()
	if ok {
		*n++
	} else if testing.Verbose() {
		t.Logf("%s: %q is %v, by the resolver %v", filepath.Base(document), word, got, want)
	}
}

// looksOf returns how the words of a document look, each time that they are there.
func looksOf(t *testing.T, document string) map[string][]look {
	t.Helper()
	pkg, main := open(t, document)
	sheet, err := style.Read(pkg, main)
	if err != nil {
		t.Fatal(err)
	}
	looks := map[string][]look{}
	for _, part := range pkg.Parts() {
		if !hasText.MatchString(part.Name) {
			continue
		}
		src, err := pkg.ReadXML(part)
		if err != nil {
			t.Fatal(err)
		}
		src = scan.ExpandCDATA(src)
		root, err := wml.ParseTree(part.Name, src)
		if err != nil {
			t.Fatal(err)
		}
		resolver := sheet.In(src)
		for _, par := range root.All("w:p") {
			for _, word := range wordsOf(sheet, resolver, par, src) {
				looks[word.text] = append(looks[word.text], word.look)
			}
		}
	}
	return looks
}

// hasText accepts the parts whose text Word prints.
var hasText = regexp.MustCompile(`/word/(document|header|footer|footnotes|endnotes)\d*\.xml$`)

type word struct {
	text string
	look look
}

// wordsOf returns the words of the runs of a paragraph. Words that are drawn otherwise than they are written are left out, and so are
// those in several runs.
func wordsOf(sheet *style.Sheet, resolver *style.Resolver, par *wml.Node, src []byte) []word {
	var all []word
	for _, run := range par.All("w:r") {
		if run.Ancestor(wml.Named("w:p")) != par || run.Ancestor(unseen) != nil {
			continue
		}
		p := resolver.Run(run)
		raised, _ := p.Get("w:vertAlign")
		if p.On("w:vanish") || p.On("w:caps") || p.On("w:smallCaps") || p.On("w:rtl") || p.On("w:cs") || raised != "" && raised != "baseline" {
			continue
		}
		family, _ := sheet.Font(p, style.ASCII)
		size, _ := p.Get("w:sz")
		halves, err := strconv.ParseFloat(size, 64)
		if err != nil {
			halves = 20 // what Word has without any (§17.3.2.38)
		}
		l := look{fold(family), halves / 2, p.On("w:b"), p.On("w:i")}
		for _, n := range run.All("w:t") {
			for _, text := range splitWords(scan.Text(src[n.OpenEnd:n.CloseStart])) {
				all = append(all, word{text, l})
			}
		}
	}
	return all
}

// unseen accepts what is not drawn, or not as text of the document.
func unseen(n *wml.Node) bool {
	return n.Name == "w:del" || n.Name == "mc:Fallback" || n.Name == "w:ruby"
}

// splitWords returns words of ASCII letters and digits that have no others around them.
func splitWords(text string) []string {
	const least = 4
	var words []string
	for field := range strings.FieldsSeq(text) {
		plain := len(field) >= least && utf8.RuneCountInString(field) == len(field)
		if plain {
			words = append(words, field)
		}
	}
	return words
}

// drawnLooks returns how the words of the PDF look that Word made of a document, and the families that it has.
func drawnLooks(t *testing.T, document string) (words map[string][]look, families map[string]bool) {
	t.Helper()
	const zoom = 3 // the most that pdftohtml takes; sizes are whole numbers of its pixels
	pdf := strings.TrimSuffix(document, ".docx") + ".ref.pdf"
	out, err := exec.CommandContext(t.Context(), "pdftohtml", "-xml", "-i", "-stdout", "-zoom", strconv.Itoa(zoom), pdf).Output()
	if err != nil {
		t.Fatalf("%s: %v", pdf, err)
	}
	words, families = map[string][]look{}, map[string]bool{}
	fonts := map[string]look{}
	d := xml.NewDecoder(strings.NewReader(string(out)))
	d.Strict = false
	var current look
	for {
		token, err := d.Token()
		if err != nil {
			return words, families
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "fontspec":
				size, err := strconv.ParseFloat(attr(token, "size"), 64)
				if err != nil {
					t.Fatal(err)
				}
				l := look{family: familyOf(attr(token, "family")), size: size / zoom}
				fonts[attr(token, "id")], families[l.family] = l, true
			case "text":
				current = fonts[attr(token, "font")]
			case "b":
				current.bold = true
			case "i":
				current.italic = true
			}
		case xml.EndElement:
			switch token.Name.Local {
			case "b":
				current.bold = false
			case "i":
				current.italic = false
			}
		case xml.CharData:
			for _, text := range splitWords(string(token)) {
				words[text] = append(words[text], current)
			}
		}
	}
}

func attr(e xml.StartElement, name string) string {
	i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return e.Attr[i].Value
}

// familyOf returns the family of a PostScript name such as "BCDEEE+TimesNewRomanPS-BoldMT".
func familyOf(name string) string {
	if _, plain, ok := strings.Cut(name, "+"); ok {
		name = plain
	}
	name, _, _ = strings.Cut(name, "-")
	name, _, _ = strings.Cut(name, ",")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "MT"), "PS")
	return fold(name)
}

func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
