package locale

import "strings"

var (
	dutchOnes = strings.Fields("nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien " +
		"vijftien zestien zeventien achttien negentien")
	dutchTens   = strings.Fields("- - twintig dertig veertig vijftig zestig zeventig tachtig negentig")
	dutchScales = strings.Fields("- duizend miljoen miljard biljoen biljard")
)

// dutch writes up to duizend as one word and puts a blank after it, as the Taalunie has it.
func dutch(_ *Locale, n uint64, _ gender) string {
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
