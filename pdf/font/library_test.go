package font

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	xsfnt "golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	xfont "golang.org/x/image/font"
)

func TestOperatorsFontsAreUsed(t *testing.T) {
	own, system, other := t.TempDir(), t.TempDir(), t.TempDir()
	mine := (&made{family: "Invoice", version: "1.0", revision: 1 << 16, chars: "a"}).write(t, own, "deep/er/mine.ttf")
	(&made{family: "Invoice", version: "2.0", revision: 2 << 16, chars: "a"}).write(t, system, "theirs.ttf")
	bold := (&made{family: "Invoice", version: "2.0", weight: 700, chars: "a"}).write(t, system, "bold.ttf")
	l := open(t, Folders{Operator: own, System: []string{system, other, filepath.Join(other, "gone")}})
	var got []string
	for _, face := range l.Family("invoice") {
		got = append(got, fmt.Sprint(face.File, " ", face.Version, " ", face.Weight))
	}
	want := []string{mine + " 1.0 400", bold + " 2.0 700"}
	if !slices.Equal(got, want) {
		t.Errorf("the family has %q, want %q", got, want)
	}
	if want := []string{filepath.Join(system, "theirs.ttf")}; !slices.Equal(l.rejected, want) {
		t.Errorf("rejected are %q, want %q", l.rejected, want)
	}
}

func TestHigherVersionIsUsed(t *testing.T) {
	for _, tt := range []struct{ low, high made }{
		{made{version: "1.07.4", revision: 70123}, made{version: "2.1.5", revision: 137625}},
		{made{version: "2.1.4", revision: 137625}, made{version: "2.1.5", revision: 137625}},
		{made{version: "2.9"}, made{version: "2.10"}},
		{made{version: "draft"}, made{version: "1"}},
	} {
		for _, first := range []string{"a.ttf", "z.ttf"} { // the result does not depend on the order
			dir := t.TempDir()
			for _, m := range []*made{&tt.low, &tt.high} {
				m.family, m.chars = "Versions", "a"
			}
			tt.high.write(t, dir, "m.ttf")
			tt.low.write(t, dir, first)
			if got := open(t, Folders{System: []string{dir}}).Family("Versions"); len(got) != 1 || got[0].Version != versionIn(tt.high.version) {
				t.Errorf("of %q and %q in %s: %+v", tt.low.version, tt.high.version, first, got)
			}
		}
	}
}

// TestLiberation2IsReported uses fonts of Debian 12, which has Liberation 1.07 and 2.1.5 under the same names.
func TestLiberation2IsReported(t *testing.T) {
	l := installed(t)
	face := regular(l.Family("Liberation Sans"))
	if major, _, _ := strings.Cut(face.Version, "."); major != "2" {
		t.Errorf("%s has version %s; scripts/test-deps installs 2", face.File, face.Version)
	}
	for _, file := range l.rejected {
		faces, err := readFaces(onDisk(file))
		if err != nil || len(faces) == 0 {
			t.Fatalf("%s: %v", file, err)
		}
		for _, best := range l.Family(faces[0].Families[0]) {
			if best.key == faces[0].key && compareVersion(best, faces[0]) < 0 {
				t.Errorf("%s %s is used, and not %s", best.File, best.Version, faces[0].Version)
			}
		}
	}
}

func TestNamesOfFamilies(t *testing.T) {
	dir := t.TempDir()
	(&made{family: "MS Mincho", local: "ＭＳ 明朝", chars: "中"}).write(t, dir, "msmincho.ttf")
	l := open(t, Folders{System: []string{dir}})
	for _, name := range []string{"MS Mincho", "ms mincho", "MSMincho", "ＭＳ 明朝", "ＭＳ明朝"} {
		if m := l.Match(name); m.Status != Installed {
			t.Errorf("%q: %+v", name, m)
		}
	}
	if got := l.Match("ＭＳ 明朝").Used; got != "ＭＳ 明朝" {
		t.Errorf("used is %q", got)
	}
	if got := l.FamilyOf("MSMincho-Regular"); got != "MS Mincho" {
		t.Errorf("the family of MSMincho-Regular is %q", got)
	}
}

func TestBadFilesAreSkipped(t *testing.T) {
	dir := t.TempDir()
	good := (&made{family: "Good", chars: "a"})
	good.write(t, dir, "good.ttf")
	bad := map[string][]byte{
		"empty.ttf": nil, "text.otf": []byte("this is not a font"), "short.ttf": good.bytes()[:100],
		"many.ttc": []byte("ttcf\x00\x01\x00\x00\xff\xff\xff\xff"),
	}
	for name, b := range bad {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte("no font"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The folder contains itself, and a dangling link.
	for link, target := range map[string]string{"loop": dir, "gone.ttf": filepath.Join(dir, "nowhere")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, Folders{System: []string{dir}})
	if len(l.Faces()) != 1 || len(l.Skipped()) != len(bad) {
		t.Errorf("faces: %v, skipped: %v", l.Faces(), l.Skipped())
	}
	for _, s := range l.Skipped() {
		if _, ok := bad[filepath.Base(s.File)]; !ok || s.Reason == "" {
			t.Errorf("skipped: %+v", s)
		}
	}
}

func TestNoFonts(t *testing.T) {
	if _, err := Open(Folders{System: []string{t.TempDir()}}); err == nil {
		t.Error("no error without fonts")
	}
	if _, err := Open(Folders{Operator: filepath.Join(t.TempDir(), "gone"), System: SystemFolders}); err == nil {
		t.Error("no error without the operator's folder")
	}
}

// TestCollections checks that a collection, a file with several faces, is rejected only if better versions of all its faces exist.
func TestCollections(t *testing.T) {
	dir := t.TempDir()
	one, two := &made{family: "One", chars: "a"}, &made{family: "Two", chars: "b", advance: 700}
	file := collect(one, two)
	if err := os.WriteFile(filepath.Join(dir, "both.ttc"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	(&made{family: "One", version: "3", revision: 3 << 16, chars: "ac"}).write(t, dir, "newer.ttf")
	l := open(t, Folders{System: []string{dir}})
	if len(l.rejected) > 0 {
		t.Errorf("rejected: %q", l.rejected)
	}
	face := regular(l.Family("Two"))
	if width, _ := face.Advance('b'); face.Index != 1 || width != 700 || face.Has('a') || !regular(l.Family("One")).Has('c') {
		t.Errorf("face %+v, %v wide", face, width)
	}
}

// collect puts fonts into one file. Their tables have offsets from the beginning of the file.
func collect(fonts ...*made) []byte {
	file := be.AppendUint32([]byte("ttcf\x00\x01\x00\x00"), uint32(len(fonts)))
	at := len(file) + 4*len(fonts)
	var bodies []byte
	for _, m := range fonts {
		start := uint32(at + len(bodies))
		file = be.AppendUint32(file, start)
		b := m.bytes()
		for record := 12; record < 12+16*6; record += 16 {
			be.PutUint32(b[record+8:], be.Uint32(b[record+8:])+start)
		}
		bodies = append(bodies, b...)
	}
	return append(file, bodies...)
}

// TestFacesAgreeWithSFNT compares the properties of real fonts with those that golang.org/x/image reads.
func TestFacesAgreeWithSFNT(t *testing.T) {
	for _, face := range installed(t).Faces() {
		b, err := os.ReadFile(face.File)
		if err != nil {
			t.Fatal(err)
		}
		all, err := xsfnt.ParseCollection(b)
		if err != nil {
			t.Fatal(err)
		}
		other, err := all.Font(face.Index)
		if err != nil {
			t.Fatal(err)
		}
		checkNames(t, face, other)
		var buf xsfnt.Buffer
		g := face.glyphs()
		for r := rune(0x20); r < 0x20000; r++ {
			want, err := other.GlyphIndex(&buf, r)
			if err != nil {
				t.Fatal(err)
			}
			if got := g.cmap.glyph(r); got != uint32(want) {
				t.Fatalf("%s: U+%04X is glyph %d, want %d", face.File, r, got, want)
			}
			if r > 0x250 || want == 0 {
				continue
			}
			width, err := other.GlyphAdvance(&buf, want, fixed.I(1000), xfont.HintingNone)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := face.Advance(r); !ok || math.Abs(got-float64(width)/64) > 0.5 {
				t.Fatalf("%s: U+%04X is %v wide, want %v", face.File, r, got, width)
			}
		}
	}
}

func checkNames(t *testing.T, face *Face, other *xsfnt.Font) {
	t.Helper()
	family, err := other.Name(nil, xsfnt.NameIDFamily)
	if err != nil || !slices.Contains(face.Families, family) {
		t.Errorf("%s: families %q, want %q (%v)", face.File, face.Families, family, err)
	}
	if name, err := other.Name(nil, xsfnt.NameIDPostScript); err != nil || name != face.PostScript {
		t.Errorf("%s: PostScript name %q, want %q (%v)", face.File, face.PostScript, name, err)
	}
	style, err := other.Name(nil, xsfnt.NameIDSubfamily)
	if bold := strings.Contains(style, "Bold"); err != nil || bold != (face.Weight >= 600) {
		t.Errorf("%s: weight %d of %q (%v)", face.File, face.Weight, style, err)
	}
	if italic := strings.Contains(style, "Italic") || strings.Contains(style, "Oblique"); italic != face.Italic {
		t.Errorf("%s: italic %v of %q", face.File, face.Italic, style)
	}
}

func TestHas(t *testing.T) {
	faces, err := readFaces(inMemory((&made{family: "X", chars: "a\u0308-"}).bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[rune]bool{'a': true, 'ä': true, 'ö': false, '\u2011': true, 'b': false} {
		if got := faces[0].Has(r); got != want {
			t.Errorf("Has(%q) = %v", r, got)
		}
	}
	signs, err := readFaces(inMemory((&made{family: "X", chars: "\uF041", symbol: true}).bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !signs[0].Has('\uF041') || !signs[0].Has('A') || signs[0].Has('B') {
		t.Error("a font of signs has them at U+F000")
	}
}

// FuzzFace checks that fonts with truncated tables and wrong lengths cause an error, or have fewer properties.
func FuzzFace(f *testing.F) {
	m := &made{family: "Fuzz", local: "ファズ", chars: "aé中\U0001F600", advance: 500}
	f.Add(m.bytes())
	f.Add(collect(m, m))
	for _, format := range [][]byte{
		u16s(4, 40, 0, 4, 4, 1, 0, 'b', 0xFFFF, 0, 'a', 0xFFFF, 1, 1, 0, 0, 1, 2),
		u16s(6, 14, 0, 'a', 2, 1, 2), u16s(0, 262, 0), slices.Concat(u16s(10, 0, 0, 24, 0, 0, 0, 'a', 0, 2), u16s(1, 2)),
		slices.Concat(u16s(13, 0, 0, 28, 0, 0, 0, 1), u16s(0, 'a', 0, 'z', 0, 1)),
	} {
		b := m.bytes()
		at := bytes.Index(b, []byte("cmap"))
		be.PutUint32(b[at+8:], uint32(len(b)))
		be.PutUint32(b[at+12:], uint32(12+len(format)))
		f.Add(slices.Concat(b, u16s(0, 1, 3, 1, 0, 12), format))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		faces, err := readFaces(inMemory(b))
		if err != nil {
			return
		}
		for _, face := range faces {
			if len(face.Families) == 0 || len(face.Families) > maxFamilies {
				t.Errorf("families: %q", face.Families)
			}
			for _, r := range "aé中\U0001F600\uF041" {
				if width, ok := face.Advance(r); ok && (!face.Has(r) || width < 0) {
					t.Errorf("%q is %v wide", r, width)
				}
			}
		}
	})
}

// TestCmapFormats looks up characters in every format of cmap.
func TestCmapFormats(t *testing.T) {
	for name, sub := range map[string][]byte{
		"4":                 u16s(4, 40, 0, 4, 4, 1, 0, 'b', 0xFFFF, 0, 'a', 0xFFFF, 0x10000-'a'+5, 1, 0, 0),
		"4 with an array":   u16s(4, 40, 0, 4, 4, 1, 0, 'b', 0xFFFF, 0, 'a', 0xFFFF, 0, 1, 4, 0, 5, 6),
		"6":                 u16s(6, 14, 0, 'a', 2, 5, 6),
		"10":                u16s(10, 0, 0, 24, 0, 0, 0, 'a', 0, 2, 5, 6),
		"12":                u16s(12, 0, 0, 28, 0, 0, 0, 1, 0, 'a', 0, 'b', 0, 5),
		"0":                 append(append(u16s(0, 262, 0), make([]byte, 'a')...), 5, 6),
		"13, one for all":   u16s(13, 0, 0, 28, 0, 0, 0, 1, 0, 'a', 0, 'a', 0, 5),
		"with a lying size": u16s(12, 0, 0xFFFF, 0xFFFF, 0, 0, 0xFFFF, 0xFFFF, 0, 'a', 0, 'b', 0, 5),
	} {
		c := readCmap(slices.Concat(u16s(0, 1, 3, 10, 0, 12), sub))
		if got := c.glyph('a'); got != 5 {
			t.Errorf("%s: a is glyph %d", name, got)
		}
		if b := c.glyph('b'); b != 6 && name != "13, one for all" || c.glyph('c') != 0 || c.glyph('A') != 0 || c.glyph(0x1F600) != 0 {
			t.Errorf("%s: b is glyph %d", name, b)
		}
	}
}
