package locale

import "strings"

var (
	arabicOnes = []string{"صفر", "واحد", "اثنان", "ثلاثة", "أربعة", "خمسة", "ستة", "سبعة", "ثمانية", "تسعة", "عشرة",
		"أحد عشر", "اثنا عشر", "ثلاثة عشر", "أربعة عشر", "خمسة عشر", "ستة عشر", "سبعة عشر", "ثمانية عشر", "تسعة عشر"}
	arabicFeminine = []string{"صفر", "واحدة", "اثنتان", "ثلاث", "أربع", "خمس", "ست", "سبع", "ثمان", "تسع", "عشر",
		"إحدى عشرة", "اثنتا عشرة", "ثلاث عشرة", "أربع عشرة", "خمس عشرة", "ست عشرة", "سبع عشرة", "ثماني عشرة", "تسع عشرة"}
	arabicTens     = []string{"", "", "عشرون", "ثلاثون", "أربعون", "خمسون", "ستون", "سبعون", "ثمانون", "تسعون"}
	arabicHundreds = []string{"", "مائة", "مائتان", "ثلاثمائة", "أربعمائة", "خمسمائة", "ستمائة", "سبعمائة", "ثمانمائة", "تسعمائة"}
	// arabicScales are one, two, three to ten, and eleven to ninety-nine of each.
	arabicScales = [...][4]string{{}, {"ألف", "ألفان", "آلاف", "ألفًا"}, {"مليون", "مليونان", "ملايين", "مليونًا"},
		{"مليار", "ملياران", "مليارات", "مليارًا"}, {"تريليون", "تريليونان", "تريليونات", "تريليونًا"},
		{"كوادريليون", "كوادريليونان", "كوادريليونات", "كوادريليونًا"}}
)

// arabic joins all parts with "and". Ones precede tens. The form of a scale depends on the last two digits of its
// count: dual for two, plural up to ten, accusative up to ninety-nine, and singular otherwise.
func arabic(_ *Locale, n uint64, gen gender) string {
	if n == 0 {
		return arabicOnes[0]
	}
	ones := arabicOnes
	if gen == feminine {
		ones = arabicFeminine
	}
	var parts []string
	for _, g := range groupsOf(n, 1000) {
		if g.power == 0 {
			parts = append(parts, arabicBelow1000(g.n, ones))
			continue
		}
		forms := arabicScales[g.power]
		count := arabicBelow1000(g.n, arabicOnes)
		switch last := g.n % 100; {
		case g.n == 1:
			parts = append(parts, forms[0])
		case g.n == 2:
			parts = append(parts, forms[1])
		case g.n == 200: // the dual loses its n before the counted word
			parts = append(parts, "مائتا "+forms[0])
		case last >= 3 && last <= 10:
			parts = append(parts, count+" "+forms[2])
		case last >= 11:
			parts = append(parts, count+" "+forms[3])
		default:
			parts = append(parts, count+" "+forms[0])
		}
	}
	return strings.Join(parts, " و")
}

func arabicBelow1000(n int, words []string) string {
	var parts []string
	if n >= 100 {
		parts = append(parts, arabicHundreds[n/100])
		n %= 100
	}
	if n > 0 && (n < 20 || n%10 > 0) {
		ones := n
		if n >= 20 {
			ones = n % 10
		}
		parts = append(parts, words[ones])
	}
	if n >= 20 {
		parts = append(parts, arabicTens[n/10])
	}
	return strings.Join(parts, " و")
}

// myriads are how Japanese and Chinese count: by ten thousands.
type myriads struct {
	digits [10]string
	units  [4]string // of one, ten, hundred and thousand
	scales []string
}

var japaneseMyriads = myriads{
	digits: [10]string{"〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"},
	units:  [4]string{"", "十", "百", "千"},
	scales: []string{"", "万", "億", "兆", "京"},
}

// japanese says no one before ten, hundred and thousand, but for a thousand of a larger unit: 一千万.
func japanese(_ *Locale, n uint64, _ gender) string {
	m := &japaneseMyriads
	if n == 0 {
		return m.digits[0]
	}
	var text strings.Builder
	for _, g := range groupsOf(n, 10_000) {
		for place, size := 3, 1000; place >= 0; place, size = place-1, size/10 {
			digit := g.n / size % 10
			if digit == 0 {
				continue
			}
			if digit > 1 || place == 0 || place == 3 && g.power > 0 {
				text.WriteString(m.digits[digit])
			}
			text.WriteString(m.units[place])
		}
		text.WriteString(m.scales[g.power])
	}
	return text.String()
}

// chineseScale is a unit that Chinese counts larger numbers by.
type chineseScale struct {
	size uint64
	name string
}

var (
	simplifiedScales  = []chineseScale{{1e8, "亿"}, {1e4, "万"}}
	traditionalScales = []chineseScale{{1e16, "京"}, {1e12, "兆"}, {1e8, "億"}, {1e4, "萬"}}
)

// chinese counts 万亿 on the mainland where Taiwan and Hong Kong have 兆.
func chinese(l *Locale, n uint64, _ gender) string {
	scales := simplifiedScales
	if strings.HasPrefix(l.tag, "zh-Hant") {
		scales = traditionalScales
	}
	var text strings.Builder
	if n == 0 {
		return "零"
	}
	sayChinese(&text, n, scales)
	return text.String()
}

// sayChinese spells out n, which is not 0: the number of the largest unit, and the rest, with 零 for zeros between them.
func sayChinese(text *strings.Builder, n uint64, scales []chineseScale) {
	for _, scale := range scales {
		if n < scale.size {
			continue
		}
		sayChinese(text, n/scale.size, scales)
		text.WriteString(scale.name)
		if rest := n % scale.size; rest > 0 {
			if rest < scale.size/10 {
				text.WriteString("零")
			}
			sayChinese(text, rest, scales)
		}
		return
	}
	sayChineseThousands(text, int(n))
}

// sayChineseThousands spells out four digits. Ten has no "one" before it only at the beginning.
func sayChineseThousands(text *strings.Builder, n int) {
	zero, said := false, false
	for place, size := 3, 1000; place >= 0; place, size = place-1, size/10 {
		digit := n / size % 10
		if digit == 0 {
			zero = said
			continue
		}
		if zero {
			text.WriteString("零")
			zero = false
		}
		if digit != 1 || place != 1 || text.Len() > 0 {
			text.WriteString(japaneseMyriads.digits[digit])
		}
		text.WriteString(japaneseMyriads.units[place])
		said = true
	}
}
