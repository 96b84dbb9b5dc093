package locale

import "strings"

var (
	englishOnes = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen " +
		"fifteen sixteen seventeen eighteen nineteen")
	englishTens   = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
	englishScales = strings.Fields("- thousand million billion trillion quadrillion")

	germanOnes = strings.Fields("null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn " +
		"fünfzehn sechzehn siebzehn achtzehn neunzehn")
	germanTens   = strings.Fields("- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
	germanScales = strings.Fields("- - Million Milliarde Billion Billiarde")

	dutchOnes = strings.Fields("nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien " +
		"vijftien zestien zeventien achttien negentien")
	dutchTens   = strings.Fields("- - twintig dertig veertig vijftig zestig zeventig tachtig negentig")
	dutchScales = strings.Fields("- duizend miljoen miljard biljoen biljard")

	swedishOnes = strings.Fields("noll ett två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton " +
		"femton sexton sjutton arton nitton")
	swedishTens   = strings.Fields("- - tjugo trettio fyrtio femtio sextio sjuttio åttio nittio")
	swedishScales = strings.Fields("- tusen miljon miljard biljon biljard")
)

// english has "and" before the part below a hundred, except in North America.
func english(l *Locale, n uint64) string {
	if n == 0 {
		return englishOnes[0]
	}
	and := ""
	if l.tag != "en" && l.tag != "en-CA" {
		and = "and "
	}
	var parts []string
	for _, g := range groupsOf(n, 1000) {
		text := englishHundreds(g.n, and)
		if g.power > 0 {
			text += " " + englishScales[g.power]
		} else if len(parts) > 0 && g.n < 100 {
			text = and + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func englishHundreds(n int, and string) string {
	switch {
	case n < 20:
		return englishOnes[n]
	case n < 100 && n%10 == 0:
		return englishTens[n/10]
	case n < 100:
		return englishTens[n/10] + "-" + englishOnes[n%10]
	}
	text := englishOnes[n/100] + " hundred"
	if n%100 > 0 {
		text += " " + and + englishHundreds(n%100, and)
	}
	return text
}

// german writes everything below a million as one word. Its one is eins at the end, ein before hundert and tausend,
// and eine before Million.
func german(l *Locale, n uint64) string {
	var parts []string
	for _, g := range groupsOf(n/1_000_000*1000, 1000) {
		text := germanHundreds(g.n)
		scale := germanScales[g.power+1]
		if strings.HasSuffix(text, "ein") {
			text += "e"
		}
		if g.n > 1 {
			scale = strings.TrimSuffix(scale, "e") + "en"
		}
		parts = append(parts, text+" "+scale)
	}
	rest := int(n % 1_000_000)
	if rest > 0 || n == 0 {
		text := ""
		if rest >= 1000 {
			text = germanHundreds(rest/1000) + "tausend"
		}
		if rest%1000 > 0 || n == 0 {
			text += germanHundreds(rest % 1000)
		}
		if strings.HasSuffix(text, "ein") {
			text += "s"
		}
		parts = append(parts, text)
	}
	words := strings.Join(parts, " ")
	if l.tag == "de-CH" {
		words = strings.ReplaceAll(words, "ß", "ss")
	}
	return words
}

func germanHundreds(n int) string {
	switch {
	case n < 20:
		return germanOnes[n]
	case n < 100 && n%10 == 0:
		return germanTens[n/10]
	case n < 100:
		return germanOnes[n%10] + "und" + germanTens[n/10]
	case n%100 == 0:
		return germanOnes[n/100] + "hundert"
	}
	return germanOnes[n/100] + "hundert" + germanHundreds(n%100)
}

// dutch writes up to duizend as one word and puts a blank after it, as the Taalunie has it.
func dutch(_ *Locale, n uint64) string {
	if n == 0 {
		return dutchOnes[0]
	}
	var parts []string
	for _, g := range groupsOf(n, 1000) {
		text := dutchHundreds(g.n)
		switch {
		case g.power == 1 && g.n == 1:
			text = dutchScales[1]
		case g.power == 1:
			text += dutchScales[1]
		case g.power > 1:
			text += " " + dutchScales[g.power]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// dutchHundreds sets the diaeresis where two e would be read as one: tweeëntwintig.
func dutchHundreds(n int) string {
	switch {
	case n < 20:
		return dutchOnes[n]
	case n < 100 && n%10 == 0:
		return dutchTens[n/10]
	case n < 100:
		and := "en"
		if strings.HasSuffix(dutchOnes[n%10], "e") {
			and = "ën"
		}
		return dutchOnes[n%10] + and + dutchTens[n/10]
	}
	text := "honderd"
	if n >= 200 {
		text = dutchOnes[n/100] + text
	}
	if n%100 > 0 {
		text += dutchHundreds(n % 100)
	}
	return text
}

// swedish counts thousands with ett, which loses a t before tusen, and millions with en.
func swedish(_ *Locale, n uint64) string {
	if n == 0 {
		return swedishOnes[0]
	}
	var parts []string
	for _, g := range groupsOf(n, 1000) {
		text := swedishHundreds(g.n)
		one := strings.HasSuffix(text, "ett")
		switch {
		case g.power == 1 && one:
			text = strings.TrimSuffix(text, "t") + swedishScales[1]
		case g.power == 1:
			text += swedishScales[1]
		case g.power > 1:
			if one {
				text = strings.TrimSuffix(text, "ett") + "en"
			}
			text += " " + swedishScales[g.power]
			if g.n > 1 {
				text += "er"
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func swedishHundreds(n int) string {
	switch {
	case n < 20:
		return swedishOnes[n]
	case n < 100 && n%10 == 0:
		return swedishTens[n/10]
	case n < 100:
		return swedishTens[n/10] + swedishOnes[n%10]
	case n%100 == 0:
		return swedishOnes[n/100] + "hundra"
	}
	return swedishOnes[n/100] + "hundra" + swedishHundreds(n%100)
}
