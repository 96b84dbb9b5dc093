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

// centNames returns the names of the units that currencies are divided into, by plural category, in the notation of currencyRows.
// CLDR does not have them. Amounts in other currencies have a fraction instead, such as 05/100.
func centNames(language string) string {
	switch language {
	case "ar":
		return "EUR USD CAD AUD|one سنت|two سنتان|few سنتات|other سنتًا\nGBP|one بنس|two بنسان|few بنسات|other بنسًا\n" +
			"SAR|one هللة|two هللتان|few هللات|other هللة\nEGP SDG|one قرش|two قرشان|few قروش|other قرشًا\n" +
			"AED BHD IQD JOD KWD|one فلس|two فلسان|few فلوس|other فلسًا\nQAR|one درهم|two درهمان|few دراهم|other درهمًا"
	case "cs":
		return "EUR USD CAD AUD|one cent|few centy|other centů\nCZK|one haléř|few haléře|other haléřů\n" +
			"GBP|one pence|other pencí\nPLN|one groš|few groše|other grošů\nCHF|other centimů|one centim|few centimy"
	case "da":
		return "EUR USD CAD AUD|other cent\nDKK NOK SEK|other øre\nGBP|other pence|one penny\nCHF|other rappen"
	case "de":
		return "EUR USD CAD AUD|other Cent\nCHF|other Rappen\nGBP|one Penny|other Pence\nDKK NOK|other Øre\nSEK|other Öre\n" +
			"PLN|other Groschen\nCZK|other Heller"
	case "el":
		return "EUR|one λεπτό|other λεπτά\nUSD CAD AUD|other σεντ\nGBP|one πένα|other πένες"
	case "en":
		return "EUR USD CAD AUD NZD SGD HKD ZAR|one cent|other cents\nGBP|one penny|other pence\nINR|one paisa|other paise\n" +
			"CHF|one centime|other centimes\nPLN|one grosz|other groszy\nCZK|one haler|other halers\nDKK NOK|other øre\nSEK|other öre\n" +
			"AED BHD IQD JOD KWD|other fils\nILS|one agora|other agorot\nTRY|other kurus\nRUB|one kopeck|other kopecks\n" +
			"UAH|one kopiyka|other kopiykas\nRON|one ban|other bani\nBRL MXN|one centavo|other centavos\nEGP|one piastre|other piastres"
	case "es":
		return "EUR|one céntimo|other céntimos\nUSD MXN ARS COP BRL CUP DOP GTQ HNL NIO BOB|one centavo|other centavos\n" +
			"CLP PYG|other céntimos\nPEN CRC VES|one céntimo|other céntimos\nUYU|one centésimo|other centésimos\n" +
			"GBP|one penique|other peniques\nCHF|one céntimo|other céntimos\nCAD AUD|one centavo|other centavos"
	}
	return moreCentNames(language)
}

func moreCentNames(language string) string {
	switch language {
	case "fi":
		return "EUR USD CAD AUD|one sentti|other senttiä\nDKK NOK SEK|one äyri|other äyriä\nGBP|one penny|other pennyä"
	case "fr":
		return "EUR CHF|one centime|other centimes\nUSD CAD AUD|one cent|other cents\nGBP|one penny|other pence"
	case "he":
		return "EUR USD CAD AUD|other סנט\nILS|one אגורה|other אגורות\nGBP|one פני|other פנס"
	case "hi":
		return "EUR USD CAD AUD|other सेंट\nINR|one पैसा|other पैसे\nGBP|one पेनी|other पेंस"
	case "hu":
		return "EUR USD CAD AUD|other cent\nHUF|other fillér\nGBP|other penny"
	case "it":
		return "EUR USD CHF CAD AUD|one centesimo|other centesimi\nGBP|one penny|other pence"
	case "ja":
		return "EUR USD CAD AUD|other セント\nGBP|other ペンス"
	case "ko":
		return "EUR USD CAD AUD|other 센트\nGBP|other 펜스"
	case "nb":
		return "EUR USD CAD AUD|other cent\nDKK NOK SEK|other øre\nGBP|one penny|other pence"
	case "nl":
		return "EUR USD CAD AUD|other cent\nGBP|one penny|other pence\nCHF|other rappen"
	case "pl":
		return "EUR USD CAD AUD|one cent|few centy|other centów\nPLN|one grosz|few grosze|other groszy\nGBP|one pens|few pensy|other pensów\n" +
			"CHF|one rapp|few rappy|other rappów\nCZK|one halerz|few halerze|other halerzy"
	case "pt":
		return "EUR|one cêntimo|other cêntimos\nBRL USD CAD AUD MXN CVE|one centavo|other centavos\nGBP|one penny|other pence"
	case "ro":
		return "EUR USD CAD AUD|one cent|other cenți\nRON MDL|one ban|other bani\nGBP|one penny|other penny"
	case "ru":
		return "EUR USD CAD AUD|one цент|few цента|other центов\nRUB UAH BYN|one копейка|few копейки|other копеек\n" +
			"GBP|one пенс|few пенса|other пенсов\nKZT|one тиын|few тиына|other тиынов"
	case "sv":
		return "EUR USD CAD AUD|other cent\nSEK|other öre\nDKK NOK|other öre\nGBP|one penny|other pence"
	case "tr":
		return "EUR USD CAD AUD|other sent\nTRY|other kuruş\nGBP|other peni"
	case "uk":
		return "EUR USD CAD AUD|one цент|few центи|other центів\nUAH RUB|one копійка|few копійки|other копійок\n" +
			"GBP|one пенс|few пенси|other пенсів\nPLN|one грош|few гроші|other грошів"
	case "zh":
		return "EUR USD CAD AUD|other 分"
	}
	return ""
}

// centsOf returns the names of the unit that a currency is divided into, or nil.
func (l *Locale) centsOf(code string) []string {
	for line := range strings.SplitSeq(centNames(l.language), "\n") {
		if codes, names, _ := strings.Cut(line, "|"); contains(codes, code) {
			return strings.Split(names, "|")
		}
	}
	return nil
}
