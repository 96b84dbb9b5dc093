package locale

import (
	"strconv"
	"strings"
)

// spellout spells out whole numbers by the rules of CLDR's rule-based number formats (Unicode Technical Standard 35, part 3). Every set of
// rules is a way to count: masculine, feminine, or ordinal in digits.
type spellout struct {
	locale *Locale
	sets   map[string][]spellRule
}

// spellRule says the numbers from base up to the next rule.
type spellRule struct {
	base, divisor uint64 // divisor is 1 if the rule does not divide
	parts         []spellPart
}

// spellPart is a part of what a rule says.
type spellPart struct {
	kind     byte // see the constants
	text     string
	set      string // "" is the set of the rule
	plural   func(language string, n uint64) string
	forms    map[string]string
	optional []spellPart
}

const (
	partText      = 't' // the text
	partQuotient  = '<' // the number divided by the divisor
	partRemainder = '>' // the remainder
	partPrevious  = 'p' // the remainder, by the rule before this one
	partSame      = '=' // the number itself
	partPlural    = '$' // a form for the plural category of the quotient
	partOptional  = '[' // parts that are left out if nothing remains
)

// parseSpellout reads the rules of a locale. Rules for negative numbers and decimals have names instead of a base, and are returned as
// text, by set and name.
func parseSpellout(l *Locale, rules string) (*spellout, map[string]string) {
	s := &spellout{locale: l, sets: map[string][]spellRule{}}
	special := map[string]string{}
	set := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(rules, "\n"), "\n") {
		name, text, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "%") {
			set = line
			delete(s.sets, set) // a region replaces the set of its language
			continue
		}
		base, radix, _ := strings.Cut(name, "/")
		from, err := strconv.ParseUint(base, 10, 64)
		if err != nil {
			special[set+" "+name] = text
			continue
		}
		r := spellRule{base: from, divisor: divisorOf(from, radix)}
		r.parts, _ = parseParts(strings.TrimPrefix(text, "'"), "")
		s.sets[set] = append(s.sets[set], r)
	}
	return s, special
}

// divisorOf returns the largest power of the radix, which is 10 if it is empty, that is not greater than base.
func divisorOf(base uint64, radix string) uint64 {
	factor := uint64(10)
	if radix != "" {
		factor, _ = strconv.ParseUint(radix, 10, 64) // the table has digits, as its test checks
	}
	divisor := uint64(1)
	for base/divisor >= factor {
		divisor *= factor
	}
	return divisor
}

// arrows are what CLDR writes for quotients and remainders.
var arrows = map[string]byte{"←": partQuotient, "→": partRemainder, "=": partSame}

// parseParts reads the parts of a rule up to the end mark, and returns the rest after it.
func parseParts(text, end string) (parts []spellPart, rest string) {
	literal := func(s string) {
		if n := len(parts); n > 0 && parts[n-1].kind == partText {
			parts[n-1].text += s
			return
		}
		parts = append(parts, spellPart{kind: partText, text: s})
	}
	for text != "" {
		if end != "" && strings.HasPrefix(text, end) {
			return parts, text[len(end):]
		}
		switch {
		case strings.HasPrefix(text, "→→→"):
			parts, text = append(parts, spellPart{kind: partPrevious}), text[len("→→→"):]
		case strings.HasPrefix(text, "["):
			optional, after := parseParts(text[1:], "]")
			parts, text = append(parts, spellPart{kind: partOptional, optional: optional}), after
		case strings.HasPrefix(text, "$("):
			form, after, _ := strings.Cut(text[2:], ")$")
			parts, text = append(parts, parsePlural(form)), after
		default:
			size := len(text[:1])
			for mark, kind := range arrows {
				if body, ok := strings.CutPrefix(text, mark); ok {
					set, after, _ := strings.Cut(body, mark)
					parts, text, size = append(parts, spellPart{kind: kind, set: set}), after, 0
					break
				}
			}
			if size > 0 {
				literal(text[:size])
				text = text[size:]
			}
		}
	}
	return parts, ""
}

// parsePlural reads forms such as "cardinal,one{тысяча}other{тысяч}".
func parsePlural(text string) spellPart {
	kind, forms, _ := strings.Cut(text, ",")
	p := spellPart{kind: partPlural, plural: pluralOf, forms: map[string]string{}}
	if kind == "ordinal" {
		p.plural = ordinalOf
	}
	for forms != "" {
		category, rest, _ := strings.Cut(forms, "{")
		form, after, _ := strings.Cut(rest, "}")
		p.forms[category], forms = form, after
	}
	return p
}

// has reports whether there is a set of rules of that name.
func (s *spellout) has(set string) bool { return len(s.sets[set]) > 0 }

// say spells out n by a set of rules.
func (s *spellout) say(set string, n uint64) string {
	var b strings.Builder
	s.append(&b, set, n)
	return b.String()
}

func (s *spellout) append(b *strings.Builder, set string, n uint64) {
	if !strings.HasPrefix(set, "%") { // a format of digits
		b.Write(s.locale.appendWhole(nil, n))
		return
	}
	rules := s.sets[set]
	i := 0
	for i+1 < len(rules) && rules[i+1].base <= n {
		i++
	}
	// A rule that begins within a hundred, such as 1100, does not say the full ones.
	if r := &rules[i]; i > 0 && r.base%r.divisor != 0 && n%r.divisor == 0 && r.saysRest(r.parts) {
		i--
	}
	s.appendRule(b, set, i, n)
}

// saysRest reports whether one of the parts says the remainder.
func (r *spellRule) saysRest(parts []spellPart) bool {
	for i := range parts {
		switch parts[i].kind {
		case partRemainder, partPrevious:
			return true
		case partOptional:
			if r.saysRest(parts[i].optional) {
				return true
			}
		}
	}
	return false
}

func (s *spellout) appendRule(b *strings.Builder, set string, i int, n uint64) {
	s.appendParts(b, set, i, n, s.sets[set][i].parts)
}

func (s *spellout) appendParts(b *strings.Builder, set string, i int, n uint64, parts []spellPart) {
	r := &s.sets[set][i]
	for at := range parts {
		p := &parts[at]
		in := p.set
		if in == "" {
			in = set
		}
		switch p.kind {
		case partText:
			b.WriteString(p.text)
		case partQuotient:
			s.append(b, in, n/r.divisor)
		case partRemainder:
			s.append(b, in, n%r.divisor)
		case partPrevious:
			s.appendRule(b, set, i-1, n%r.divisor)
		case partSame:
			s.append(b, in, n)
		case partPlural:
			s.appendForm(b, p, n/r.divisor)
		case partOptional:
			if n%r.divisor != 0 {
				s.appendParts(b, set, i, n, p.optional)
			}
		}
	}
}

func (s *spellout) appendForm(b *strings.Builder, p *spellPart, n uint64) {
	form, ok := p.forms[p.plural(s.locale.language, n)]
	if !ok {
		form = p.forms["other"]
	}
	b.WriteString(form)
}
