package locale

import "strings"

// meantLocales are the languages by what people write instead of their tags: the English name, or the code of a country.
var meantLocales = map[string]string{
	"arabic": "ar", "czech": "cs", "cz": "cs", "danish": "da", "dk": "da", "german": "de", "deutsch": "de", "at": "de-AT", "ch": "de-CH",
	"greek": "el", "gr": "el", "english": "en", "us": "en", "usa": "en", "gb": "en-GB", "au": "en-AU", "ca": "en-CA", "spanish": "es",
	"mx": "es-MX", "finnish": "fi", "french": "fr", "hebrew": "he", "il": "he", "hindi": "hi", "in": "hi", "hungarian": "hu",
	"italian": "it", "japanese": "ja", "jp": "ja", "korean": "ko", "kr": "ko", "norwegian": "nb", "nn": "nb", "dutch": "nl",
	"polish": "pl", "portuguese": "pt", "br": "pt", "romanian": "ro", "russian": "ru", "swedish": "sv", "se": "sv",
	"turkish": "tr", "ukrainian": "uk", "ua": "uk", "chinese": "zh", "cn": "zh", "tw": "zh-Hant",
}

// Meant returns the tag of the locale that an unknown tag probably means, or "": cs for cz, de for german.
func Meant(tag string) string {
	name := strings.ReplaceAll(strings.ToLower(tag), "_", "-")
	language, _, _ := strings.Cut(name, "-")
	return meantLocales[language]
}

// MeantCurrency returns the code of the currency that a text probably means by its symbol or its English name, or "": EUR for € and euros.
func MeantCurrency(text string) string {
	if text == "" || strings.ContainsAny(text, "|\n") {
		return ""
	}
	for row := range strings.SplitSeq(currencyRows("en"), "\n") {
		parts := strings.Split(row, "|")
		for i, part := range parts[1:] {
			if i > 0 {
				_, part, _ = strings.Cut(part, " ")
			}
			if strings.EqualFold(part, text) {
				return parts[0]
			}
		}
	}
	return ""
}

// Currencies returns the codes of all currencies, sorted.
func Currencies() []string { return strings.Fields(currencyCodes) }
