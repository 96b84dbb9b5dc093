package locale

import (
	"cmp"
	"strings"
)

// gender is the grammatical gender of what is counted.
type gender byte

const (
	masculine gender = 'm' // also the common gender of Danish and Swedish
	feminine  gender = 'f'
	neuter    gender = 'n'
)

// nouns are the genders of the names of currencies in a language: the usual one, and the words, or endings after a hyphen, that the
// names of another gender contain. CLDR does not have them.
type nouns struct {
	usual            gender
	feminine, neuter string
}

var nounsOf = map[string]nouns{
	"ar": {masculine, "كرونة روبية ليرة هريفنيا هللة", ""},
	"cs": {masculine, "-á pence", "euro -é"},
	"da": {masculine, "", "pund"},
	"de": {masculine, "krone rupie rupiah lira mark hrywnja", "pfund"},
	"el": {neuter, "λίρα κορόνα ρουπία γρίβνα λεμπίρα νάιρα κίνα πατάκα χρυσή κουάνζα κουάτσα πένα στοτίνκα", ""},
	"es": {masculine, "corona libra lira rupia grivna pataca uguiya rufiya kina leona paisa", ""},
	"fr": {masculine, "couronne livre roupie hryvnia", ""},
	"he": {masculine, "קורונה לירה רופיה הריבנה אגורה", ""},
	"it": {masculine, "corona sterlina rupia lira grivnia", ""},
	"nb": {masculine, "", "pund falklandspund øre"},
	"pl": {masculine, "korona rupia lira hrywna marka naira kopiejka", "euro peso escudo"},
	"pt": {masculine, "coroa libra lira rupia hryvnia pataca", ""},
	"ro": {masculine, "liră rublă coroană marcă grivnă lempiră rupie copeică", ""},
	"ru": {masculine, "-ая копейка", ""},
	"sv": {masculine, "", "pund falklandspund öre"},
	"uk": {masculine, "крона гривня ліра єна рупія марка вона копійка", "євро -ьке"},
}

// genderOf returns the gender of the name of a currency, in the singular.
func (l *Locale) genderOf(name string) gender {
	n := nounsOf[l.language]
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '-' }) {
		switch {
		case contains(n.feminine, word):
			return feminine
		case contains(n.neuter, word):
			return neuter
		}
	}
	return cmp.Or(n.usual, masculine)
}

// contains reports whether a list of words has a word, or its ending.
func contains(list, word string) bool {
	for item := range strings.FieldsSeq(list) {
		if ending, ok := strings.CutPrefix(item, "-"); ok && strings.HasSuffix(word, ending) || item == word {
			return true
		}
	}
	return false
}
