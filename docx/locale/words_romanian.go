package locale

import "strings"

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
