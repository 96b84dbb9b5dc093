package locale

import "strings"

var (
	frenchOnes = strings.Fields("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze " +
		"seize dix-sept dix-huit dix-neuf")
	frenchTens   = strings.Fields("- - vingt trente quarante cinquante soixante septante huitante nonante")
	frenchScales = strings.Fields("- - million milliard billion billiard")

	italianOnes = strings.Fields("zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici " +
		"quattordici quindici sedici diciassette diciotto diciannove")
	italianTens   = strings.Fields("- - venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
	italianScales = strings.Fields("- - milione miliardo bilione biliardo")

	portugueseOnes = strings.Fields("zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze " +
		"dezesseis dezessete dezoito dezenove")
	portugueseTens     = strings.Fields("- - vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")
	portugueseHundreds = strings.Fields("- cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos " +
		"oitocentos novecentos")
	brazilianScales = strings.Fields("- - milhão bilhão trilhão quatrilhão")
)

// french gives vingt and cent their s only at the end or before a noun, which million is and mille is not.
func french(l *Locale, n uint64, g gender) string {
	if n == 0 {
		return frenchOnes[0]
	}
	var parts []string
	for _, g := range groupsOf(n, 1000) {
		switch {
		case g.power == 1 && g.n == 1:
			parts = append(parts, "mille")
		case g.power == 1:
			parts = append(parts, l.frenchHundreds(g.n, false)+" mille")
		case g.power > 1:
			parts = append(parts, l.frenchHundreds(g.n, true)+" "+plural(frenchScales[g.power], g.n))
		default:
			parts = append(parts, l.frenchHundreds(g.n, true))
		}
	}
	text := strings.Join(parts, " ")
	if g == feminine && strings.HasSuffix(text, "un") {
		text += "e"
	}
	return text
}

func plural(noun string, n int) string {
	if n > 1 {
		return noun + "s"
	}
	return noun
}

// frenchHundreds spells out a number below a thousand. last means that vingt and cent may have an s.
func (l *Locale) frenchHundreds(n int, last bool) string {
	if n < 100 {
		return l.frenchTens(n, last)
	}
	text := "cent"
	if n >= 200 {
		text = frenchOnes[n/100] + " cent"
		if n%100 == 0 && last {
			text += "s"
		}
	}
	if n%100 > 0 {
		text += " " + l.frenchTens(n%100, last)
	}
	return text
}

func (l *Locale) frenchTens(n int, last bool) string {
	septante := l.tag == "fr-BE" || l.tag == "fr-CH"
	huitante := l.tag == "fr-CH"
	if n < 20 {
		return frenchOnes[n]
	}
	tens, ones := n/10, n%10
	if !septante && (tens == 7 || tens == 9) {
		tens, ones = tens-1, ones+10
	}
	text := frenchTens[tens]
	if tens == 8 && !huitante {
		text = "quatre-vingt"
		if ones == 0 && last {
			text += "s"
		}
	}
	switch {
	case ones == 0:
		return text
	case ones%10 == 1 && text != "quatre-vingt":
		return text + " et " + frenchOnes[ones]
	}
	return text + "-" + frenchOnes[ones]
}

// italian writes up to mila as one word; a three at its end has an accent. Only one itself follows the gender of what it counts.
func italian(_ *Locale, n uint64, g gender) string {
	switch {
	case n == 0:
		return italianOnes[0]
	case n == 1 && g == feminine:
		return "una"
	case n == 1 && g != alone:
		return "un"
	}
	var parts []string
	for _, g := range groupsOf(n/1_000_000*1000, 1000) {
		if g.n == 1 {
			parts = append(parts, "un "+italianScales[g.power+1])
			continue
		}
		scale := italianScales[g.power+1]
		parts = append(parts, accent(italianHundreds(g.n))+" "+scale[:len(scale)-1]+"i")
	}
	if rest := int(n % 1_000_000); rest > 0 {
		parts = append(parts, accent(italianThousands(rest)))
	}
	return strings.Join(parts, " ")
}

func italianThousands(n int) string {
	switch {
	case n < 1000:
		return italianHundreds(n)
	case n < 2000:
		return "mille" + italianHundreds(n%1000)
	}
	return italianHundreds(n/1000) + "mila" + italianHundreds(n%1000)
}

// italianHundreds says a number below a thousand, and nothing for 0; a vowel is dropped before uno and otto.
func italianHundreds(n int) string {
	switch {
	case n == 0:
		return ""
	case n < 20:
		return italianOnes[n]
	case n < 100:
		tens := italianTens[n/10]
		if n%10 == 1 || n%10 == 8 {
			tens = tens[:len(tens)-1]
		}
		return tens + italianHundreds(n%10)
	}
	text := "cento"
	if n >= 200 {
		text = italianOnes[n/100] + text
	}
	if n%100 == 8 || n%100/10 == 8 {
		text = strings.TrimSuffix(text, "o")
	}
	return text + italianHundreds(n%100)
}

func accent(text string) string {
	if before, ok := strings.CutSuffix(text, "tre"); ok && before != "" {
		return before + "tré"
	}
	return text
}

// portuguese counts by thousands in Brazil (um bilhão), by millions in Portugal (mil milhões, um bilião).
func portuguese(l *Locale, n uint64, g gender) string {
	if n == 0 {
		return portugueseOnes[0]
	}
	if g == feminine {
		high := portugueseFeminine.Replace(" " + l.portugueseBelowMillion(int(n%1_000_000)) + " ")
		if text := portuguese(l, n, masculine); n%1_000_000 > 0 {
			return strings.TrimSuffix(text, l.portugueseBelowMillion(int(n%1_000_000))) + strings.TrimSpace(high)
		}
	}
	if !l.inherits("pt-PT") {
		return l.portugueseGroups(n, 1000, func(g group) string {
			return portugueseCount(l.portugueseHundreds(g.n), g.n, brazilianScales[g.power])
		})
	}
	return l.portugueseGroups(n, 1_000_000, func(g group) string {
		return portugueseCount(l.portugueseBelowMillion(g.n), g.n, [...]string{"", "milhão", "bilião"}[g.power])
	})
}

// portugueseFeminine gives the numbers below a million the feminine gender.
var portugueseFeminine = strings.NewReplacer(" um ", " uma ", " dois ", " duas ", "entos ", "entas ", "quinhentos ", "quinhentas ")

// portugueseGroups joins the groups; the last one gets an "e" when it is below a hundred or full hundreds.
func (l *Locale) portugueseGroups(n, size uint64, say func(group) string) string {
	groups := groupsOf(n, size)
	var text strings.Builder
	for i, g := range groups {
		var part string
		switch {
		case g.power == 0:
			part = l.portugueseBelowMillion(g.n)
		case size == 1000 && g.power == 1:
			part = l.portugueseBelowMillion(g.n * 1000)
		default:
			part = say(g)
		}
		if i > 0 {
			text.WriteString(" ")
			if i == len(groups)-1 && portugueseJoins(g.n) {
				text.WriteString("e ")
			}
		}
		text.WriteString(part)
	}
	return text.String()
}

// portugueseJoins reports whether an "e" precedes the last group.
func portugueseJoins(n int) bool {
	if n >= 1000 && n%1000 == 0 {
		n /= 1000
	}
	return n < 100 || n < 1000 && n%100 == 0
}

func portugueseCount(text string, n int, scale string) string {
	if n > 1 {
		scale = strings.TrimSuffix(scale, "ão") + "ões"
	}
	return text + " " + scale
}

func (l *Locale) portugueseBelowMillion(n int) string {
	if n < 1000 {
		return l.portugueseHundreds(n)
	}
	text := "mil"
	if n >= 2000 {
		text = l.portugueseHundreds(n/1000) + " mil"
	}
	switch rest := n % 1000; {
	case rest == 0:
		return text
	case portugueseJoins(rest):
		return text + " e " + l.portugueseHundreds(rest)
	default:
		return text + " " + l.portugueseHundreds(rest)
	}
}

func (l *Locale) portugueseHundreds(n int) string {
	switch {
	case n < 20 && l.inherits("pt-PT") && n >= 16 && n != 18:
		return strings.Replace(portugueseOnes[n], "deze", "deza", 1)
	case n < 20:
		return portugueseOnes[n]
	case n == 100:
		return "cem"
	}
	text, rest := portugueseTens[n/10%10], n%10
	if n > 100 {
		text, rest = portugueseHundreds[n/100], n%100
	}
	if rest == 0 {
		return text
	}
	return text + " e " + l.portugueseHundreds(rest)
}

var (
	romanianOnes = strings.Fields("zero unu doi trei patru cinci șase șapte opt nouă zece unsprezece doisprezece treisprezece " +
		"paisprezece cincisprezece șaisprezece șaptesprezece optsprezece nouăsprezece")
	romanianTens = strings.Fields("- - douăzeci treizeci patruzeci cincizeci șaizeci șaptezeci optzeci nouăzeci")
	// romanianScales are one and several of each, with their genders.
	romanianScales = [...]struct {
		one, several string
		gender       gender
	}{
		{}, {"o mie", "mii", feminine}, {"un milion", "milioane", neuter}, {"un miliard", "miliarde", neuter},
		{"un bilion", "bilioane", neuter}, {"un biliard", "biliarde", neuter},
	}
)

// romanian writes "de" before a scale that is counted by twenty or more.
func romanian(_ *Locale, n uint64, gen gender) string {
	switch {
	case n == 0:
		return romanianOnes[0]
	case n == 1 && gen == feminine:
		return "o"
	case n == 1 && gen != alone:
		return "un"
	}
	var parts []string
	for _, g := range groupsOf(n, 1000) {
		scale := romanianScales[g.power]
		switch {
		case g.power == 0:
			parts = append(parts, romanianHundreds(g.n, gen))
		case g.n == 1:
			parts = append(parts, scale.one)
		case g.n%100 == 0 || g.n%100 >= 20:
			parts = append(parts, romanianHundreds(g.n, scale.gender), "de", scale.several)
		default:
			parts = append(parts, romanianHundreds(g.n, scale.gender), scale.several)
		}
	}
	return strings.Join(parts, " ")
}

func romanianHundreds(n int, g gender) string {
	var parts []string
	switch hundreds := n / 100; {
	case hundreds == 1:
		parts = append(parts, "o sută")
	case hundreds > 1:
		parts = append(parts, romanianBelow20(hundreds, feminine), "sute")
	}
	n %= 100
	if n >= 20 {
		parts = append(parts, romanianTens[n/10])
		if n %= 10; n > 0 {
			parts = append(parts, "și")
		}
	}
	if n > 0 {
		parts = append(parts, romanianBelow20(n, g))
	}
	return strings.Join(parts, " ")
}

// romanianBelow20 says one, two, and twelve by the gender of what they count.
func romanianBelow20(n int, g gender) string {
	switch {
	case n == 1 && g == feminine:
		return "una"
	case n == 2 && (g == feminine || g == neuter):
		return "două"
	case n == 12 && (g == feminine || g == neuter):
		return "douăsprezece"
	}
	return romanianOnes[n]
}
