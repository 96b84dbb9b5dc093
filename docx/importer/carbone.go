package importer

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// carbone has tags in single braces that begin with the data (d), its complement (c), or an alias ($). A loop is an example of its first
// two items: what is between the tags with [i] and those with [i+1] repeats, and the second example disappears.
var carbone = &dialect{
	name: "carbone", title: "Carbone", grammar: &javascript, find: findCarbone, prepare: findExamples, resolve: resolveCarbone,
	filters: carboneFormatters, invents: true,
	signs: []sign{{regexp.MustCompile(`\{[dc][.\[][^{}]*\}`), 8}, {regexp.MustCompile(`\{\$\w+[^{}]*\}`), 3}},
	notes: []string{
		"Carbone prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and " +
			"the filter optional.",
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
	"prepend": joined(true), "append": joined(false), "round": carboneRound,
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

var carboneStart = regexp.MustCompile(`^(?:[dc][.\[:]|\$\w|#\w|t\(|o\.|bind\w+\()`)

func findCarbone(par *paragraph) []*tag {
	var tags []*tag
	for _, s := range braced(par.text, "{", "}") {
		content := strings.TrimSpace(par.text[s.from+1 : s.to-1])
		if carboneStart.MatchString(content) {
			tags = append(tags, &tag{par: par, span: s, command: readCarbone(content)})
		}
	}
	return tags
}

// readCarbone reads the content of a tag: a path, and formatters after colons.
func readCarbone(content string) command {
	if content[0] != 'd' && content[0] != 'c' {
		return command{err: &cannot{"aliases, options, and translations have no equivalent", "write {{let x = …}} for an alias, and {{x}}"}}
	}
	pieces := splitOutside(content, ':')
	e, err := carbonePath(pieces[0])
	if err != nil {
		return command{err: err}
	}
	return readFormatters(e, pieces[1:])
}

var carboneStep = regexp.MustCompile(`^(?:\.([\pL\w$]+)|\[\s*(i(?:\s*\+\s*1)?|\d+)\s*\])`)

// carbonePath reads a path. [i] and [i+1] are keys.
func carbonePath(text string) (*expr, error) {
	text = strings.TrimSpace(text)
	e := &expr{op: opName, name: text[:1]}
	for rest := text[1:]; rest != ""; {
		m := carboneStep.FindStringSubmatch(rest)
		if m == nil {
			return nil, &cannot{"conditions and other forms in the path have no exact equivalent",
				"write {{for x in list :: where(…)}}, or :: sort(…)"}
		}
		index := strings.ReplaceAll(m[2], " ", "")
		switch {
		case m[1] != "" && e.op == opName && e.name == "d":
			e = &expr{op: opName, name: m[1]}
		case m[1] != "":
			e = &expr{op: opMember, name: m[1], args: []*expr{e}}
		case index[0] == 'i':
			e = &expr{op: opMember, name: "[" + index + "]", args: []*expr{e}}
		default:
			e = &expr{op: opIndex, args: []*expr{e, {op: opLiteral, val: json.Number(index)}}}
		}
		rest = strings.TrimLeft(rest[len(m[0]):], " ")
	}
	return e, nil
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
