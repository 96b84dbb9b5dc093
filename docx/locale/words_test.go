package locale_test

import (
	"strings"
	"testing"
	"unicode/utf8"

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
		"en-IN": {"12345678": "one crore twenty-three lakh forty-five thousand six hundred and seventy-eight"},
		"cs":    {"1000": "jeden tisíc", "21000": "dvacet jeden tisíc", "22022": "dvacet dva tisíc dvacet dva", "1.5": "jeden čárka pět"},
		"da":    {"101": "hundrede og et", "1000000": "en million", "99": "nioghalvfems"},
		"nb":    {"21": "tjueén", "1234": "tusen to hundre og trettifire"},
		"fi":    {"12": "kaksitoista", "1234": "tuhatkaksisataakolmekymmentäneljä"},
		"tr":    {"1234": "bin iki yüz otuz dört", "-2": "eksi iki"},
		"ru":    {"1": "один", "21000": "двадцать одна тысяча", "2000001": "два миллиона один", "1.05": "один запятая ноль пять"},
		"uk":    {"22022": "двадцять дві тисячі двадцять два"},
		"el":    {"1": "ένα", "200": "διακόσια", "3000": "τρεις χιλιάδες", "200000": "διακόσιες χιλιάδες"},
		"hu": {"2": "kettő", "200": "kétszáz", "1999": "ezerkilencszázkilencvenkilenc", "2000": "kétezer", "2001": "kétezer-egy",
			"1234567": "egymillió-kétszázharmincnégyezer-ötszázhatvanhét"},
		"ro": {"1": "unu", "21": "douăzeci și unu", "100": "o sută", "1000": "o mie", "2000": "două mii", "12000": "douăsprezece mii",
			"21000": "douăzeci și una de mii", "100000": "o sută de mii", "1000000": "un milion", "2000000": "două milioane",
			"20000000": "douăzeci de milioane"},
		"he": {"1": "אחת", "12": "שתים עשרה", "2000": "אלפיים", "1000000000000": "טריליון"},
		"hi": {"1234567": "बारह लाख चौंतीस हज़ार पाँच सौ सड़सठ"},
		"ko": {"0": "영", "12345": "만 이천삼백사십오", "1.05": "일점영오"},
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

// FuzzWords checks the rules that spell out numbers: every amount within the limits has words in every language, without digits except in
// the fraction of a currency, and no two amounts of a currency are said the same way.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"de", "fr-CH", "hi", "hu", "ro", "he", "ko", "zh", "ar-EG", "pt", "cs"} {
		f.Add(seed, int64(1_000_221), int64(21_000_001), uint8(2), "GBP")
	}
	f.Fuzz(func(t *testing.T, tag string, a, b int64, places uint8, iso string) {
		l, ok := locale.Find(tag)
		if !ok {
			l = locale.Default()
		}
		exponent := -int32(places % 20)
		if x, y := fuzzWords(t, l, decimal.New(a, exponent)), fuzzWords(t, l, decimal.New(b, exponent)); x != "" && (x == y) != (a == b) {
			t.Errorf("%s: %de%d is %q and %de%d is %q", l.Tag(), a, exponent, x, b, exponent, y)
		}
		money, err := l.CurrencyWords(decimal.New(a, exponent), iso)
		if err == nil && (!utf8.ValidString(money) || money != strings.TrimSpace(money) || strings.ContainsAny(money, "#<>%=←→")) {
			t.Errorf("%s: %de%d %s is %q", l.Tag(), a, exponent, iso, money)
		}
	})
}

// fuzzWords returns the words of a number, or "" if it is too large.
func fuzzWords(t *testing.T, l *locale.Locale, d decimal.Decimal) string {
	words, err := l.Words(d)
	if large := d.Abs().GreaterThanOrEqual(decimal.New(1, 18)); large || err != nil {
		if !large || err == nil {
			t.Errorf("%s: %s is %q, %v", l.Tag(), d, words, err)
		}
		return ""
	}
	if words == "" || words != strings.TrimSpace(words) || !utf8.ValidString(words) || strings.ContainsAny(words, "0123456789#<>%=←→") {
		t.Errorf("%s: %s is %q", l.Tag(), d, words)
	}
	return words
}

func TestOrdinal(t *testing.T) {
	for tag, ordinals := range map[string]map[int64]string{
		"en": {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 111: "111th", 102: "102nd", 0: "0th",
			-1: "-1st"},
		"de": {3: "3."}, "fr": {1: "1er", 2: "2e", 21: "21e"}, "es": {3: "3.º"}, "it": {3: "3º"}, "pt": {3: "3º"}, "nl": {1: "1e"},
		"pl": {3: "3."},
		"sv": {1: "1:a", 2: "2:a", 3: "3:e", 11: "11:e", 12: "12:e", 22: "22:a"}, "ja": {3: "第3"}, "zh": {3: "第3"}, "ar": {3: "3."},
		"ar-EG": {3: "٣."}, "cs": {3: "3."}, "el": {3: "3ος"}, "ru": {3: "3-й"}, "uk": {1: "1-й"}, "ro": {1: "primul", 2: "al 2-lea"},
		"hi": {1: "1ला", 2: "2रा", 4: "4था", 6: "6ठा", 11: "11वाँ"}, "ko": {3: "3번째", -3: "-3번째"}, "es-MX": {3: "3º."},
	} {
		for n, want := range ordinals {
			if got, err := find(t, tag).Ordinal(n); got != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", tag, got, err, want)
			}
		}
	}
}

// TestCurrencyWords checks the gender of numbers, the plural of names, and what joins them.
func TestCurrencyWords(t *testing.T) {
	for _, tt := range []struct{ tag, amount, iso, want string }{
		{"en", "12.05", "EUR", "twelve euros and five cents"},
		{"en", "-0.01", "gbp", "minus zero British pounds and one penny"},
		{"en", "0.004", "EUR", "zero euros"},
		{"en", "-0.004", "EUR", "zero euros"},
		{"en", "1.005", "KWD", "one Kuwaiti dinar and five fils"},
		{"en", "1.5", "JPY", "two Japanese yen"},
		{"en", "999.995", "USD", "one thousand US dollars"},
		{"en", "7.5", "THB", "seven Thai baht and 50/100"},
		{"de", "1", "EUR", "ein Euro"}, {"de", "1", "SEK", "eine schwedische Krone"}, {"de", "1", "GBP", "ein britisches Pfund"},
		{"fr", "21", "GBP", "vingt et une livres sterling"}, {"fr", "1000000", "EUR", "un million d’euros"},
		{"fr", "3000000", "CHF", "trois millions de francs suisses"}, {"fr", "1000001", "EUR", "un million un euros"},
		{"es", "21", "EUR", "veintiún euros"}, {"es", "21", "GBP", "veintiuna libras esterlinas"},
		{"es", "200", "SEK", "doscientas coronas suecas"}, {"es", "1000000", "EUR", "un millón de euros"},
		{"it", "1", "EUR", "un euro"}, {"it", "1", "GBP", "una sterlina britannica"},
		{"pt", "2", "GBP", "duas libras esterlinas"}, {"pt", "1000221", "GBP", "um milhão duzentas e vinte e uma libras esterlinas"},
		{"ro", "19", "RON", "nouăsprezece lei românești"}, {"ro", "20", "RON", "douăzeci de lei românești"},
		{"ro", "2", "GBP", "două lire sterline"},
		{"sv", "31001", "SEK", "trettioettusen en svenska kronor"}, {"sv", "1", "GBP", "ett brittiskt pund"},
		{"da", "1.01", "DKK", "en dansk krone og en øre"}, {"nb", "1.01", "NOK", "én norsk krone og ett øre"},
		{"pl", "2", "EUR", "dwa euro"}, {"pl", "22.02", "PLN", "dwadzieścia dwa złote polskie i dwa grosze"},
		{"cs", "2", "EUR", "dvě eura"}, {"cs", "2.05", "CZK", "dvě české koruny a pět haléřů"},
		{"ru", "21.02", "RUB", "двадцать один российский рубль две копейки"}, {"ru", "2", "SEK", "две шведские кроны"},
		{"uk", "2.01", "UAH", "дві українські гривні одна копійка"}, {"uk", "1", "EUR", "одне євро"},
		{"el", "1", "EUR", "ένα ευρώ"}, {"el", "200", "GBP", "διακόσιες λίρες στερλίνες Βρετανίας"},
		{"hu", "2.02", "HUF", "két magyar forint és két fillér"},
		{"he", "1.01", "ILS", "שקל חדש אחד ואגורה אחת"}, {"he", "2", "ILS", "שני שקלים חדשים"},
		{"ar", "1", "EUR", "يورو واحد"}, {"ar", "3", "SYP", "ثلاث ليرة سورية"}, {"ar", "2.02", "SAR", "ريال سعودي اثنان وهللتان"},
		{"ko", "12.05", "USD", "십이 미국 달러 오 센트"}, {"ja", "12", "JPY", "十二円"}, {"zh", "12.35", "CNY", "十二元三角五分"},
		{"zh-TW", "12.05", "EUR", "十二歐元五分"},
	} {
		if got, err := find(t, tt.tag).CurrencyWords(dec(tt.amount), tt.iso); got != tt.want || err != nil {
			t.Errorf("%s: %s %s is %q, %v; want %q", tt.tag, tt.amount, tt.iso, got, err, tt.want)
		}
	}
	for iso, want := range map[string]string{"EURO": "ISO 4217", "CLF": "no name"} {
		if got, err := locale.Default().CurrencyWords(dec("1"), iso); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want an error with %q", iso, got, err, want)
		}
	}
	for _, amount := range []string{"1e18", "999999999999999999.995", "1e400"} {
		if got, err := locale.Default().CurrencyWords(dec(amount), "EUR"); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%s is %q, %v; want an error", amount, got, err)
		}
	}
}

func TestMeant(t *testing.T) {
	for tag, want := range map[string]string{"cz": "cs", "german": "de", "JP": "ja", "se_SE": "sv", "tlh": ""} {
		if got := locale.Meant(tag); got != want {
			t.Errorf("%s probably means %q; want %q", tag, got, want)
		}
	}
	for text, want := range map[string]string{"€": "EUR", "euros": "EUR", "$": "USD", "British pound": "GBP", "": "", "gold": "", "|": ""} {
		if got := locale.MeantCurrency(text); got != want {
			t.Errorf("%s probably means %q; want %q", text, got, want)
		}
	}
}
