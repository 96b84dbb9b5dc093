package locale_test

import (
	"slices"
	"strings"
	"testing"

	"platen/docx/locale"
)

func TestFind(t *testing.T) {
	for tag, want := range map[string]string{
		"en": "en", "EN_us": "en", "en-GB": "en-GB", "de-DE": "de", "de_ch": "de-CH", "pt-BR": "pt", "pt_PT": "pt-PT",
		"fr-LU": "fr-LU", "fr-MC": "fr",
		"es-419": "es-419", "es-US": "es-US", "zh-CN": "zh", "zh-Hans-SG": "zh-Hans-SG", "zh-SG": "zh-Hans-SG",
		"zh-TW": "zh-Hant", "zh_Hant_HK": "zh-Hant-HK",
		"zh-HK": "zh-Hant-HK", "ar-SA": "ar-SA", "ar-TN": "ar-TN", "de-CH-1996": "de-CH",
		"no": "nb", "no-NO": "nb", "iw": "he", "en-NZ": "en-NZ", "hi-IN": "hi", "ko-KR": "ko",
	} {
		if l := find(t, tag); l.Tag() != want {
			t.Errorf("Find(%q) is %s, want %s", tag, l.Tag(), want)
		}
	}
	for _, tag := range []string{"", "-", "xx", "english", strings.Repeat("de-", 50), "\xff"} {
		if l, ok := locale.Find(tag); ok {
			t.Errorf("Find(%q) is %s", tag, l.Tag())
		}
	}
	names := locale.Names()
	for _, tag := range []string{"en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "ja", "zh", "ar",
		"cs", "da", "nb", "fi", "tr", "ru", "uk", "el", "hu", "ro", "he", "hi", "ko"} {
		if !slices.Contains(names, tag) {
			t.Errorf("%s is not among %v", tag, names)
		}
	}
}

func TestList(t *testing.T) {
	for _, tt := range []struct{ tag, items, want string }{
		{"en", "", ""}, {"en", "a", "a"}, {"en", "a b", "a and b"}, {"en", "a b c", "a, b, and c"},
		{"en-GB", "a b c", "a, b and c"}, {"de", "a b c", "a, b und c"}, {"fr", "a b c", "a, b et c"},
		{"es", "a b c", "a, b y c"}, {"es", "a igual", "a e igual"}, {"es", "a hijos", "a e hijos"}, {"es", "a hielo", "a y hielo"},
		{"it", "a b c", "a, b e c"}, {"pt", "a b c", "a, b e c"}, {"nl", "a b c", "a, b en c"}, {"pl", "a b c", "a, b i c"},
		{"sv", "a b c", "a, b och c"}, {"ja", "a b c", "a、b、c"}, {"zh", "a b c", "a、b和c"}, {"zh-HK", "a b c", "a、b及c"},
		{"ar", "a b c", "a وb وc"},
	} {
		if got := find(t, tt.tag).List(strings.Fields(tt.items)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.tag, got, tt.want)
		}
	}
}

func TestCase(t *testing.T) {
	en, nl := find(t, "en"), find(t, "nl")
	for _, tt := range [][2]string{
		{en.Upper("straße île"), "STRASSE ÎLE"}, {en.Lower("ÎLE"), "île"}, {en.Title("the king's ring"), "The King's Ring"},
		{nl.Title("ijsland"), "IJsland"},
	} {
		if tt[0] != tt[1] {
			t.Errorf("%q, want %q", tt[0], tt[1])
		}
	}
}

func TestCompare(t *testing.T) {
	for tag, want := range map[string]string{
		"en": "Äpfel apple Zebra zoo",
		"de": "Apfel äpfeln Öl zoo",
		"sv": "apple zoo ångest äpple öl",
		"pl": "lato łódka mama",
		"es": "nube ñandú oso",
	} {
		words := strings.Fields(want)
		l := find(t, tag)
		shuffled := slices.Clone(words)
		slices.Reverse(shuffled)
		slices.SortFunc(shuffled, l.Compare)
		if !slices.Equal(shuffled, words) {
			t.Errorf("%s sorts %v, want %v", tag, shuffled, words)
		}
	}
	if en := find(t, "en"); en.Compare("a", "a") != 0 || en.Compare("e\u0301", "é") == 0 {
		t.Error("only equal texts are equal")
	}
}

func TestRightToLeft(t *testing.T) {
	if !find(t, "ar-EG").RightToLeft() || !find(t, "he").RightToLeft() || find(t, "en").RightToLeft() {
		t.Error("Arabic and Hebrew, and only these, are written from right to left")
	}
}
