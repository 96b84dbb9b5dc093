package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// carbone has tags in single braces that begin with the data (d), its complement (c), or an alias ($). A loop is an example of its first
// two items: what is between the tags with [i] and those with [i+1] repeats, and the second example disappears.
var carbone = &dialect{
	name: "carbone", title: "Carbone", grammar: &javascript, findAll: findCarbone, prepare: findExamples, resolve: resolveCarbone,
	filters: carboneFormatters, properties: scriptProperties, invents: true,
	signs: []sign{{regexp.MustCompile(`\{[dc][.\[][^{}]*\}`), 8}, {regexp.MustCompile(`\{\$\w+[^{}]*\}`), 3}},
	notes: []string{
		"Carbone prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and " +
			"the filter optional.",
		"Carbone prints dates in its time zone, which is Europe/Paris unless the application changes that. Set the option time_zone.",
		"Tags with {d.…} read the input itself. If the data is an array, send {\"d\": […]}. Send the complement as the key c.",
	},
}

var carboneFormatters = map[string]rule{
	"upperCase": filter("uppercase"), "lowerCase": filter("lowercase"), "ucFirst": filter("capitalize"), "ucWords": initials,
	"formatD": carboneDate, "formatN": carboneNumber, "toFixed": fixed, "arrayJoin": filterWith("join", 0, `", "`),
	"len":    length,
	"substr": filterWith("slice", 1), "padl": filterWith("pad", 1), "abs": function("$abs"), "ceil": function("$ceil"),
	"floor": function("$floor"), "convCRLF": same, "ifEmpty": carboneEmpty, "html": filter("html"),
	"add": calculated("+"), "sub": calculated("-"), "mul": calculated("*"), "div": calculated("/"),
	"prepend": joined(true), "append": joined(false), "round": carboneRound, "\x00contains": comparing("contains"),
	"addD": movedDate("+%s %s"), "subD": movedDate("-%s %s"), "startOfD": movedDate("start of %s"), "endOfD": movedDate("end of %s"),
	"\x00now": theTime,
}

// calculated returns a rule for an operator with a number.
func calculated(operator string) rule {
	return func(w *writer, o operand, args []*expr) (operand, error) {
		if len(args) != 1 || len(o.filters) > 0 {
			return operand{}, errArguments
		}
		own := binaries[operator]
		x, err := w.value(args[0], own+1)
		return operand{text: within(o.text, o.strength, own) + " " + operator + " " + x, strength: own}, err
	}
}

// joined returns a rule for text before or after a value.
func joined(before bool) rule {
	return func(w *writer, o operand, args []*expr) (operand, error) {
		if len(args) != 1 {
			return operand{}, errArguments
		}
		x, err := w.value(args[0], weakOr)
		if err != nil {
			return operand{}, err
		}
		if before {
			return operand{text: x}.in("$string", strings.Join(append([]string{o.text}, o.filters...), " :: "))
		}
		return o.in("$string", x)
	}
}

// theTime refuses to print the time of the run, which Carbone prints in a form of its own.
func theTime(w *writer, o operand, _ []*expr) (operand, error) {
	if w.data != nil && o.text == "$now" {
		return operand{}, &cannot{"it prints the time in a form of its own", "write {{$now :: date(\"yyyy-MM-dd HH:mm\")}}"}
	}
	return o, nil
}

var dateUnits = regexp.MustCompile(`^(?:second|minute|hour|day|month|year)s?$`)

// movedDate returns a rule for a date that is moved. Carbone prints such a date in a form of its own if no format follows.
func movedDate(form string) rule {
	return func(_ *writer, o operand, args []*expr) (operand, error) {
		words := make([]any, 0, len(args))
		for _, a := range args {
			if a.op == opLiteral {
				words = append(words, literalText(a.val))
			}
		}
		if len(words) != len(args) || len(args) != strings.Count(form, "%s") || !dateUnits.MatchString(words[len(words)-1].(string)) {
			return operand{}, errArguments
		}
		return o.with("add(" + quote(fmt.Sprintf(form, words...)) + ")"), nil
	}
}

// literalText returns a literal as text.
func literalText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return literal(v)
}

// carboneEmpty is the value, or another one if the value is missing or has no characters or items.
func carboneEmpty(w *writer, o operand, args []*expr) (operand, error) {
	if len(args) != 1 || o.kinds.has(anObject) {
		return operand{}, errArguments
	}
	return w.choice(notEmpty(o.from), o.from, args[0])
}

func carboneRound(_ *writer, o operand, args []*expr) (operand, error) {
	n, ok := literalArgument(args)
	if !ok {
		return operand{}, errArguments
	}
	return o.in("$round", strconv.Itoa(n))
}

// carboneNumber writes a number format with a fixed number of decimals.
func carboneNumber(_ *writer, o operand, args []*expr) (operand, error) {
	n, ok := literalArgument(args)
	if !ok {
		return operand{}, &cannot{"the number of decimals depends on the language", "write {{x :: format(\"#,##0.00\")}}"}
	}
	return o.with("format(" + quote(strings.TrimSuffix("#,##0."+strings.Repeat("0", n), ".")) + ")"), nil
}

var dateCodes = regexp.MustCompile(`\[[^\]]*\]|YYYY|YY|MMMM|MMM|MM|M|DD|D|dddd|ddd|HH|H|hh|h|mm|m|ss|s|A|a|[A-Za-z]+|[^A-Za-z\[]+`)

// dateLetters are the codes of Carbone's dates in the letters of Platen.
var dateLetters = map[string]string{
	"YYYY": "yyyy", "YY": "yy", "MMMM": "MMMM", "MMM": "MMM", "MM": "MM", "M": "M", "DD": "dd", "D": "d", "dddd": "EEEE", "ddd": "EEE",
	"HH": "HH", "H": "H", "hh": "hh", "h": "h", "mm": "mm", "m": "m", "ss": "ss", "s": "s", "A": "a", "a": "a",
}

func carboneDate(w *writer, o operand, args []*expr) (operand, error) {
	if len(args) != 1 || args[0].op != opLiteral {
		return operand{}, errArguments
	}
	if err := w.checkZone(o.from); err != nil {
		return operand{}, err
	}
	pattern, _ := args[0].val.(string)
	var b strings.Builder
	for _, code := range dateCodes.FindAllString(pattern, -1) {
		letters := dateLetters[code]
		switch {
		case letters != "":
			b.WriteString(letters)
		case code[0] == '[':
			b.WriteString("'" + strings.Trim(code, "[]") + "'")
		case code[0] >= 'A' && code[0] <= 'Z' || code[0] >= 'a' && code[0] <= 'z':
			return operand{}, &cannot{"the date format " + code + " has no exact equivalent",
				"write {{x :: date(\"short\")}}, \"medium\", or \"long\""}
		default:
			b.WriteString(code)
		}
	}
	return dated(w, o, b.String())
}

var zoneless = regexp.MustCompile(`\d[T ]\d{1,2}:\d{2}[^Z+]*$`)

// checkZone returns an error if Carbone prints a date in its time zone that Platen prints without one.
func (w *writer) checkZone(date *expr) error {
	for date.op == opFilter {
		if date.name == "endOfD" {
			return &cannot{"the end of a day in UTC can be the next day in the time zone of Carbone",
				"write {{x :: add(\"end of month\") :: date(\"long\")}}"}
		}
		date = date.args[0]
	}
	if slices.ContainsFunc(w.textsOf(date), zoneless.MatchString) {
		return &cannot{"Carbone reads a time without a zone as UTC, and prints it in its own time zone",
			"send times with their zone, such as 2026-03-05T14:30:00Z, and import again"}
	}
	return nil
}

var (
	carboneStart = regexp.MustCompile(`^(?:[dc][.\[:]|\$\w|#\w|t\(|o\.|bind\w+\()`)
	carboneOpen  = regexp.MustCompile(`\{\s*[dc]\s*[.\[][^{}]*$`)
)

// findCarbone reads the tags of a part. Aliases can be used before they are defined.
func findCarbone(pars []*paragraph) []*tag {
	var tags []*tag
	var aliases []alias
	for _, par := range pars {
		for _, s := range braced(par.text, "{", "}") {
			if a, ok := readAlias(strings.TrimSpace(par.text[s.from+1 : s.to-1])); ok {
				aliases = append(aliases, a)
			}
		}
	}
	for _, par := range pars {
		for _, s := range braced(par.text, "{", "}") {
			content := strings.TrimSpace(par.text[s.from+1 : s.to-1])
			if carboneStart.MatchString(content) {
				tags = append(tags, &tag{par: par, span: s, command: readCarbone(expand(content, aliases))})
			}
		}
		if m := carboneOpen.FindStringIndex(par.text); m != nil {
			tags = append(tags, &tag{par: par, span: span{m[0], len(par.text)}, command: command{
				err: &cannot{"it does not end in its paragraph", "write the whole tag in one paragraph"},
			}})
		}
	}
	return tags
}

// readCarbone reads the content of a tag: a path, and formatters after colons.
func readCarbone(content string) command {
	if _, ok := readAlias(content); ok {
		return command{kind: kNothing, note: "the alias is written out where it is used"}
	}
	if content[0] != 'd' && content[0] != 'c' || len(content) > 1 && content[1] != '.' && content[1] != '[' && content[1] != ':' {
		return command{err: &cannot{"unknown aliases, options, and translations have no equivalent",
			"write {{let x = …}} for an alias, and {{x}}"}}
	}
	pieces := splitOutside(content, ':')
	e, err := carbonePath(pieces[0])
	if err != nil {
		return command{err: err}
	}
	return readFormatters(e, pieces[1:])
}

// splitOutside splits a text at a character outside quotes and parentheses.
func splitOutside(text string, at byte) []string {
	var all []string
	from, depth := 0, 0
	var quoted byte
	for i := range len(text) {
		switch c := text[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '\'' || c == '"':
			quoted = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == at && depth == 0:
			all = append(all, text[from:i])
			from = i + 1
		}
	}
	return append(all, text[from:])
}
