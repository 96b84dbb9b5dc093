package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// ruleSet is a named list of rules of CLDR's rule-based number formats (RBNF).
type ruleSet struct {
	name  string
	rules [][2]string
}

// The rule sets that docx/locale begins with: for numbers in words, and for ordinals in digits.
var (
	spelled = regexp.MustCompile(`^%spellout-(numbering|cardinal(-(masculine|feminine|neuter|common|reale|sinokorean|verbose))?)$`)
	ordinal = regexp.MustCompile(`^%digits-ordinal(-masculine)?$`)
)

// ownWords are the languages that docx/locale spells out with code of its own, because the rules of CLDR have mistakes (un
// billiard neuf cent millions, una sută, duizendeen) or leave out what is customary.
var ownWords = []string{"ar", "fr", "it", "ja", "nl", "pt", "ro", "zh"}

// corrections replace what is wrong in the rules of a language.
var corrections = map[string]*strings.Replacer{
	"cs": strings.NewReplacer("←%spellout-cardinal-feminine← tisíc", "←%spellout-cardinal-masculine← tisíc"), // tisíc is masculine
	"el": strings.NewReplacer("χίλιάδες", "χιλιάδες"),
	"he": strings.NewReplacer("ביליון", "טריליון", "טריליון", "קוודריליון"), // as in CLDR's own compact formats
}

// mention finds the names of rule sets in a rule.
var mention = regexp.MustCompile(`%%?[a-z0-9-]+`)

// softHyphen is an optional hyphenation point, which a document that is searched and compared should not have.
const softHyphen = "\u00ad"

func writeSpellout(d *data) (string, error) {
	tags, _, err := d.tags()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("// spelloutRules returns the rules by which a locale spells out numbers, in the notation of CLDR's rule-based\n" +
		"// number formats: a line with the name of a rule set, and the lines of its rules.\n")
	b.WriteString("func spelloutRules(tag string) string {\nswitch tag {\n")
	for _, tag := range tags {
		rules, err := d.ownSpellout(tag)
		if err != nil {
			return "", err
		}
		if rules != "" {
			fmt.Fprintf(&b, "case %q:\nreturn %s\n", tag, lines(rules))
		}
	}
	b.WriteString("}\nreturn \"\"\n}\n")
	return b.String(), nil
}

// ownSpellout returns the rules of a locale, or "" if it has those of its parent.
func (d *data) ownSpellout(tag string) (string, error) {
	language, _, _ := strings.Cut(tag, "-")
	if tag == "nb" {
		tag = "no"
	}
	sets, err := d.spellout(tag)
	if err != nil || len(sets) == 0 {
		return "", err
	}
	byName := map[string]ruleSet{}
	for _, s := range sets {
		byName[s.name] = s
	}
	used := map[string]bool{}
	var use func(name string)
	use = func(name string) {
		if used[name] {
			return
		}
		used[name] = true
		for _, r := range byName[name].rules {
			for _, other := range mention.FindAllString(r[1], -1) {
				use(other)
			}
		}
	}
	for _, s := range sets {
		if ordinal.MatchString(s.name) || spelled.MatchString(s.name) && !slices.Contains(ownWords, language) {
			use(s.name)
		}
	}
	var b strings.Builder
	for _, s := range sets {
		if !used[s.name] {
			continue
		}
		b.WriteString(s.name + "\n")
		for _, r := range s.rules {
			text := strings.TrimSuffix(strings.ReplaceAll(r[1], softHyphen, ""), ";")
			if r[0] == "Inf" || r[0] == "NaN" {
				continue
			}
			b.WriteString(r[0] + " " + text + "\n")
		}
	}
	if c := corrections[language]; c != nil {
		return c.Replace(b.String()), nil
	}
	return b.String(), nil
}

// spellout reads the rule sets of a locale, in the order of the file.
func (d *data) spellout(tag string) ([]ruleSet, error) {
	var v struct {
		RBNF struct {
			RBNF map[string]orderedSets
		}
	}
	err := d.read(&v, "cldr-rbnf", "rbnf", tag+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return append(v.RBNF.RBNF["SpelloutRules"], v.RBNF.RBNF["OrdinalRules"]...), err
}
