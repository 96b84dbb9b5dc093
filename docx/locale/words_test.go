package locale_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"platen/docx/locale"
)

func TestWords(t *testing.T) {
	for tag, words := range map[string]map[string]string{
		"en": {"0": "zero", "13": "thirteen", "21": "twenty-one", "100": "one hundred", "123": "one hundred twenty-three",
			"1001":    "one thousand one",
			"1000000": "one million", "1000000000000000": "one quadrillion", "-1.05": "minus one point zero five", "2.50": "two point five",
			"123456789012345": "one hundred twenty-three trillion four hundred fifty-six billion seven hundred eighty-nine million " +
				"twelve thousand three hundred forty-five"},
		"en-GB": {"101": "one hundred and one", "1001": "one thousand and one", "1100": "one thousand one hundred",
			"101000": "one hundred and one thousand"},
		"de": {"0": "null", "1": "eins", "21": "einundzwanzig", "30": "dreißig", "100": "einhundert", "101": "einhunderteins",
			"1100":   "eintausendeinhundert",
			"101000": "einhunderteintausend", "1000000": "eine Million", "2000001": "zwei Millionen eins", "101000000": "einhunderteine Millionen",
			"1000000000": "eine Milliarde", "2000000000000": "zwei Billionen", "1000000000000000": "eine Billiarde",
			"-0.5": "minus null Komma fünf"},
		"de-CH": {"30": "dreissig"},
		"fr": {"0": "zéro", "21": "vingt et un", "71": "soixante et onze", "77": "soixante-dix-sept", "80": "quatre-vingts",
			"81": "quatre-vingt-un", "91": "quatre-vingt-onze",
			"200": "deux cents", "201": "deux cent un", "280": "deux cent quatre-vingts", "1000": "mille", "2000": "deux mille",
			"80000": "quatre-vingt mille", "200000": "deux cent mille",
			"80000000": "quatre-vingts millions", "1000001": "un million un", "2000000000": "deux milliards",
			"1000000000000000": "un billiard", "1.5": "un virgule cinq"},
		"fr-BE": {"71": "septante et un", "80": "quatre-vingts", "99": "nonante-neuf"},
		"fr-CH": {"71": "septante et un", "80": "huitante", "81": "huitante et un", "95": "nonante-cinq"},
		"es": {"1": "uno", "16": "dieciséis", "21": "veintiuno", "31": "treinta y uno", "100": "cien", "101": "ciento uno",
			"500": "quinientos", "1000": "mil", "1001": "mil uno",
			"21000": "veintiún mil", "31000": "treinta y un mil", "1000000": "un millón", "21000000": "veintiún millones",
			"1000000000": "mil millones", "1000000000000": "un billón",
			"1000000000000000": "mil billones", "100100100": "cien millones cien mil cien", "1.25": "uno coma dos cinco"},
		"it": {"21": "ventuno", "23": "ventitré", "28": "ventotto", "100": "cento", "101": "centouno", "108": "centotto",
			"180": "centottanta", "1000": "mille", "1001": "milleuno", "2000": "duemila",
			"3": "tre", "23000": "ventitremila", "1000000": "un milione", "3000000": "tre milioni", "2000003": "due milioni tre",
			"1000000000": "un miliardo", "1000000000000000": "un biliardo"},
		"pt": {"16": "dezesseis", "21": "vinte e um", "100": "cem", "101": "cento e um", "1000": "mil", "1001": "mil e um",
			"1100": "mil e cem", "1234": "mil duzentos e trinta e quatro",
			"1000100": "um milhão e cem", "2500000": "dois milhões e quinhentos mil", "1000000000": "um bilhão",
			"1000000000000000": "um quatrilhão"},
		"pt-PT": {"16": "dezasseis", "17": "dezassete", "18": "dezoito", "19": "dezanove", "1000000000": "mil milhões",
			"1000000000000": "um bilião", "1000000000000000": "mil biliões"},
		"nl": {"1": "een", "22": "tweeëntwintig", "23": "drieëntwintig", "28": "achtentwintig", "101": "honderdeen", "1000": "duizend",
			"1001": "duizend een", "2300": "tweeduizend driehonderd",
			"1000000": "een miljoen", "2000000000": "twee miljard", "1000000000000000": "een biljard"},
		"pl": {"1": "jeden", "1000": "tysiąc", "2000": "dwa tysiące", "5000": "pięć tysięcy", "12000": "dwanaście tysięcy",
			"21000": "dwadzieścia jeden tysięcy", "22000": "dwadzieścia dwa tysiące",
			"112000": "sto dwanaście tysięcy", "1000000": "milion", "3000000": "trzy miliony", "5000000": "pięć milionów",
			"1000000000000000": "biliard", "1.05": "jeden przecinek zero pięć"},
		"sv": {"1": "ett", "21": "tjugoett", "101": "etthundraett", "1000": "ettusen", "21000": "tjugoettusen",
			"1234": "ettusen tvåhundratrettiofyra", "1000000": "en miljon",
			"21000000": "tjugoen miljoner", "2000000000": "två miljarder", "1000000000000000": "en biljard"},
		"ja": {"0": "〇", "10": "十", "11": "十一", "100": "百", "110": "百十", "1000": "千", "1100": "千百", "10000": "一万", "10000000": "一千万",
			"20260305":  "二千二十六万三百五",
			"100000000": "一億", "1000000000000": "一兆", "10000000000000000": "一京", "-1.05": "マイナス一・〇五"},
		"zh": {"0": "零", "10": "十", "11": "十一", "110": "一百一十", "101": "一百零一", "1001": "一千零一", "1010": "一千零一十", "10001": "一万零一",
			"100010": "十万零一十", "11000": "一万一千",
			"101000000": "一亿零一百万", "100000001": "一亿零一", "1000000000000": "一万亿", "10000000000000000": "一亿亿", "-1.05": "负一点零五"},
		"zh-TW": {"10001": "一萬零一", "1000000000000": "一兆", "-1.5": "負一點五"},
		"ar": {"0": "صفر", "2": "اثنان", "11": "أحد عشر", "12": "اثنا عشر", "21": "واحد وعشرون", "100": "مائة", "300": "ثلاثمائة",
			"1000": "ألف", "2000": "ألفان", "3000": "ثلاثة آلاف", "11000": "أحد عشر ألفًا",
			"100000": "مائة ألف", "200000": "مائتا ألف", "103000": "مائة وثلاثة آلاف", "2000000": "مليونان",
			"1234": "ألف ومائتان وأربعة وثلاثون", "1000000000000000": "كوادريليون", "1.5": "واحد فاصلة خمسة"},
	} {
		for number, want := range words {
			if got, err := find(t, tag).Words(dec(number)); got != want || err != nil {
				t.Errorf("%s: %s is %q, %v; want %q", tag, number, got, err, want)
			}
		}
	}
}

func TestWordsHaveALimit(t *testing.T) {
	for number, want := range map[string]string{
		"1000000000000000000":     "too large",
		"-1e500":                  "too large",
		"1e5000":                  "too large",
		"0.123456789012345678901": "21 decimals",
	} {
		for _, name := range locale.Names() {
			if got, err := find(t, name).Words(dec(number)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s is %q, %v; want an error with %q", name, number, got, err, want)
			}
		}
	}
}

// Two different numbers are never said the same way, and no word is missing in what is said.
func TestWordsTellNumbersApart(t *testing.T) {
	names := locale.Names()
	rapid.Check(t, func(t *rapid.T) {
		l, _ := locale.Find(rapid.SampledFrom(names).Draw(t, "locale"))
		number := rapid.Int64Range(0, 999_999_999_999_999_999)
		a := number.Draw(t, "a")
		b := rapid.OneOf(number, rapid.Just(a/10), rapid.Just(a/1000*1000), rapid.Just(a/1_000_000)).Draw(t, "b")
		x, err := l.Words(decimal.NewFromInt(a))
		if err != nil || x == "" || x != strings.TrimSpace(x) || strings.Contains(x, "  ") || strings.ContainsAny(x, "0123456789") {
			t.Fatalf("%s: %d is %q, %v", l.Tag(), a, x, err)
		}
		y, err := l.Words(decimal.NewFromInt(b))
		if err != nil || (x == y) != (a == b) {
			t.Fatalf("%s: %d is %q and %d is %q, %v", l.Tag(), a, x, b, y, err)
		}
	})
}

func TestOrdinal(t *testing.T) {
	for tag, ordinals := range map[string]map[int64]string{
		"en": {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 111: "111th", 102: "102nd", 0: "0th",
			-1: "-1st"},
		"de": {3: "3."}, "fr": {1: "1er", 2: "2e", 21: "21e"}, "es": {3: "3.º"}, "it": {3: "3º"}, "pt": {3: "3º"}, "nl": {1: "1e"},
		"pl": {3: "3."},
		"sv": {1: "1:a", 2: "2:a", 3: "3:e", 11: "11:e", 12: "12:e", 22: "22:a"}, "ja": {3: "第3"}, "zh": {3: "第3"}, "ar": {3: "3."},
		"ar-EG": {3: "٣."},
	} {
		for n, want := range ordinals {
			if got, err := find(t, tag).Ordinal(n); got != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", tag, got, err, want)
			}
		}
	}
}
