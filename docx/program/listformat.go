package program

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"platen/docx/locale"
	"platen/docx/richtext"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// The formats of numbers in lists (ISO 29500-1 §17.18.59).

// maxRepeats is the largest number of times that a letter is repeated, when a list has more items than its format has letters.
const maxRepeats = 10

// plainFormats are the formats that lists of rich text have too.
var plainFormats = map[string]bool{"decimal": true, "decimalHalfWidth": true, "decimalZero": true, "lowerLetter": true, "upperLetter": true,
	"lowerRoman": true, "upperRoman": true, "none": true}

// digitFormats have a sign for each digit.
var digitFormats = map[string]string{
	"decimalFullWidth": "０１２３４５６７８９", "decimalFullWidth2": "０１２３４５６７８９", "hindiNumbers": "०१२३४५६७८९", "thaiNumbers": "๐๑๒๓๔๕๖๗๘๙",
	"ideographDigital": "〇一二三四五六七八九", "japaneseDigitalTenThousand": "〇一二三四五六七八九", "taiwaneseDigital": "○一二三四五六七八九",
	"koreanDigital": "영일이삼사오육칠팔구", "koreanDigital2": "零一二三四五六七八九",
}

// signFormats have a sign for each number from 1. Larger numbers are in digits.
var signFormats = map[string]string{
	"decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳", "decimalEnclosedCircleChinese": "①②③④⑤⑥⑦⑧⑨⑩",
	"decimalEnclosedFullstop": "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛", "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
	"ideographEnclosedCircle": "㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉", "ideographTraditional": "甲乙丙丁戊己庚辛壬癸", "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
}

// letterFormats are alphabets, which begin again after the last letter.
var letterFormats = map[string]string{
	"aiueo":          "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ",
	"aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
	"iroha":          "ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽﾝ",
	"irohaFullWidth": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン",
	"ganada":         "가나다라마바사아자차카타파하", "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
}

// repeatedFormats are alphabets whose letters are repeated after the last one: aa, bb.
var repeatedFormats = map[string]string{
	"chicago": "*†‡§", "russianLower": "абвгдежзиклмнопрстуфхцчшщыэюя", "russianUpper": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
}

// counting is a way to count in characters for the numbers up to 9999.
type counting struct {
	digits, powers string // the digits from 0, and ten, a hundred, and a thousand
	one            bool   // one precedes powers other than ten, and ten after them
	oneTen         bool   // one precedes ten at the beginning too
	zero           bool   // a zero stands for powers that are left out
	most           int    // larger numbers have a sign for each digit
}

var countings = map[string]counting{
	"chineseCounting":           {digits: "○一二三四五六七八九", powers: "十百千", most: 99},
	"taiwaneseCounting":         {digits: "○一二三四五六七八九", powers: "十百千", most: 99},
	"japaneseCounting":          {digits: "〇一二三四五六七八九", powers: "十百千", most: 9999},
	"chineseCountingThousand":   {digits: "零一二三四五六七八九", powers: "十百千", one: true, zero: true, most: 9999},
	"taiwaneseCountingThousand": {digits: "零一二三四五六七八九", powers: "十百千", one: true, zero: true, most: 9999},
	"chineseLegalSimplified":    {digits: "零壹贰叁肆伍陆柒捌玖", powers: "拾佰仟", one: true, oneTen: true, zero: true, most: 9999},
	"ideographLegalTraditional": {digits: "零壹貳參肆伍陸柒捌玖", powers: "拾佰仟", one: true, oneTen: true, zero: true, most: 9999},
	"koreanCounting":            {digits: "영일이삼사오육칠팔구", powers: "십백천", most: 9999},
}

// spelledFormats are numbers in words or with the ending of an ordinal, in the language of the document.
var spelledFormats = map[string]func(l *locale.Locale, n int) (string, error){
	"cardinalText": func(l *locale.Locale, n int) (string, error) { return l.Words(decimal.NewFromInt(int64(n))) },
	"ordinal":      func(l *locale.Locale, n int) (string, error) { return l.Ordinal(int64(n)) },
	"ordinalText":  ordinalWords,
}

// usesWords reports whether the XML of lists names a format of numbers in words.
func usesWords(numbering []byte) bool {
	return bytes.Contains(numbering, []byte("cardinalText")) || bytes.Contains(numbering, []byte("ordinal"))
}

// documentLanguage returns the language that the styles of a document set for its text (ISO 29500-1 §17.3.2.20), nil if it is not known.
// Without one, it is English.
func documentLanguage(pkg *ooxml.Package, main *ooxml.Part) (*locale.Locale, error) {
	part, err := wml.RelatedPart(pkg, main, names.RelStyles)
	if part == nil || err != nil {
		return locale.Default(), err
	}
	src, err := pkg.ReadXML(part)
	if err != nil {
		return nil, err
	}
	r := scan.New(src)
	for range r.All {
		switch tag := string(r.RawAttr("w:val")); r.Name() {
		case "w:lang":
			if tag != "" {
				l, _ := locale.Find(tag)
				return l, nil
			}
		case "w:style": // the defaults of the document precede the styles
			return locale.Default(), nil
		}
	}
	return locale.Default(), nil
}

// knowsFormat reports whether numbers of lists can be written in a format, in a language.
func knowsFormat(format string, language *locale.Locale) bool {
	switch {
	case spelledFormats[format] != nil:
		return language != nil && (format != "ordinalText" || strings.HasPrefix(language.Tag(), "en"))
	case format == "hex", format == "numberInDash", format == "ideographZodiacTraditional", plainFormats[format]:
		return true
	}
	_, counts := countings[format]
	return counts || digitFormats[format]+signFormats[format]+letterFormats[format]+repeatedFormats[format] != ""
}

// formatNumber returns the number of a list item. In a format that is not known, it is in digits.
func formatNumber(n int, format string, language *locale.Locale) string {
	signs := func(s string) []rune { return []rune(s) }
	if spell := spelledFormats[format]; spell != nil && knowsFormat(format, language) {
		if s, err := spell(language, n); err == nil {
			first, size := utf8.DecodeRuneInString(s)
			return string(unicode.ToTitle(first)) + s[size:]
		}
	}
	if c, ok := countings[format]; ok && n > 0 {
		return c.format(n)
	}
	if s := digitFormats[format]; s != "" && n >= 0 {
		return inDigits(n, signs(s))
	}
	if n < 1 || plainFormats[format] {
		return richtext.FormatNumber(n, format)
	}
	switch format {
	case "hex":
		return fmt.Sprintf("%X", n)
	case "numberInDash":
		return "- " + strconv.Itoa(n) + " -"
	case "ideographZodiacTraditional":
		stems, branches := signs(signFormats["ideographTraditional"]), signs(signFormats["ideographZodiac"])
		return string(stems[(n-1)%len(stems)]) + string(branches[(n-1)%len(branches)])
	}
	if s := signs(signFormats[format]); n <= len(s) {
		return string(s[n-1])
	}
	if s := signs(letterFormats[format]); len(s) > 0 {
		return string(s[(n-1)%len(s)])
	}
	if s := signs(repeatedFormats[format]); len(s) > 0 {
		return strings.Repeat(string(s[(n-1)%len(s)]), min((n-1)/len(s)+1, maxRepeats))
	}
	return strconv.Itoa(n)
}

// inDigits writes a number with these signs for its digits.
func inDigits(n int, digits []rune) string {
	return strings.Map(func(digit rune) rune { return digits[digit-'0'] }, strconv.Itoa(n))
}

// format counts in characters.
func (c *counting) format(n int) string {
	digits, powers := []rune(c.digits), []rune(c.powers)
	if n > c.most {
		return inDigits(n, digits)
	}
	var b strings.Builder
	skipped := false
	for power, size := len(powers), 1000; power >= 0; power, size = power-1, size/10 {
		digit := n / size % 10
		if digit == 0 {
			skipped = b.Len() > 0
			continue
		}
		if skipped && c.zero {
			b.WriteRune(digits[0])
		}
		isFirst := b.Len() == 0
		skipped = false
		if digit > 1 || power == 0 || c.one && (power > 1 || !isFirst || c.oneTen) {
			b.WriteRune(digits[digit])
		}
		if power > 0 {
			b.WriteRune(powers[power-1])
		}
	}
	return b.String()
}

// irregularOrdinals are the English ordinal numbers that are not the cardinal number with "th".
var irregularOrdinals = map[string]string{"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
	"nine": "ninth", "twelve": "twelfth"}

// ordinalWords returns an English ordinal number in words.
func ordinalWords(l *locale.Locale, n int) (string, error) {
	cardinal, err := l.Words(decimal.NewFromInt(int64(n)))
	if err != nil {
		return "", err
	}
	at := strings.LastIndexAny(cardinal, " -") + 1
	before, last := cardinal[:at], cardinal[at:]
	if irregular := irregularOrdinals[last]; irregular != "" {
		return before + irregular, nil
	}
	if stem, ok := strings.CutSuffix(last, "y"); ok {
		return before + stem + "ieth", nil
	}
	return before + last + "th", nil
}
