package importer

import (
	"regexp"
	"strconv"
	"strings"
)

// jinja is docxtpl, which has tags of Jinja. Its loops have variables.
var jinja = &dialect{
	name: "docxtpl", title: "docxtpl (Jinja)", grammar: &python, find: findJinja, prepare: joinParagraphs, resolve: resolveJinja,
	filters: jinjaFilters, methods: pythonMethods,
	signs: []sign{
		{regexp.MustCompile(`\{%[^{}]*%\}`), 6}, {regexp.MustCompile(`\{\{[rp]? [^{}]*\}\}`), 1},
		{regexp.MustCompile(`\{\{[^{}]*[^|]\|[^{}|]*\}\}`), 3},
	},
	notes: []string{
		"docxtpl prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and " +
			"the filter optional.",
		"Values that Python builds must become data: RichText and Listing become HTML, InlineImage becomes an image in base64 " +
			"({{photo :: image(\"4cm\")}}), and Subdoc becomes {{include \"name.docx\"}} or HTML.",
	},
}

var jinjaFilters = map[string]rule{
	"upper": filter("uppercase"), "lower": filter("lowercase"), "title": filter("lowercase", "titlecase"),
	"capitalize": filter("lowercase", "capitalize"), "trim": filter("trim"), "default": jinjaDefault,
	"d":    jinjaDefault,
	"join": filterWith("join", 0, `""`), "first": end("first", "slice(0, 1)"), "last": end("last", "slice(-1)"), "sort": filter("sort"),
	"reverse": jinjaReverse, "replace": filterWith("replace", 2), "length": length, "count": length,
	"abs": function("$abs"), "sum": jinjaSum, "e": filter("raw"), "escape": filter("raw"), "safe": same, "string": same,
	"list": same, "map": jinjaMap, "round": jinjaRound, "format": pythonFormat, "\x00shade": filter("shade"),
	"\x00document": jinjaDocument, "\x00merge": jinjaMerge,
}

var pythonMethods = map[string]rule{
	"upper": filter("uppercase"), "lower": filter("lowercase"), "title": filter("lowercase", "titlecase"),
	"capitalize": filter("lowercase", "capitalize"), "strip": filter("trim"), "replace": filterWith("replace", 2),
	"startswith": comparing("startsWith"), "endswith": comparing("endsWith"), "strftime": strftime,
}

// jinjaDocument is a document or paragraphs that Python builds, which become HTML in the data.
func jinjaDocument(_ *writer, o operand, _ []*expr) (operand, error) {
	if o.kinds != aText {
		return operand{}, &cannot{"it prints a document or a paragraph that Python builds",
			"write {{include \"name.docx\"}} for a document, or send HTML and write {{x :: html}}"}
	}
	return o.with("html"), nil
}

// jinjaDefault is the value or another one. With true as its second argument, that is a choice.
func jinjaDefault(w *writer, o operand, args []*expr) (operand, error) {
	switch {
	case len(args) == 2 && args[1].op == opLiteral && args[1].val == true:
		return w.choice(o.from, o.from, args[0])
	case len(args) != 1 || hasNamed(args):
		return operand{}, errArguments
	case o.kinds.has(aNull):
		return operand{}, &cannot{"null is not a missing value in Jinja", "write {{x :: default(\"…\")}}, which replaces null too"}
	}
	return filterWith("default", 1)(w, o, args)
}

// end returns a rule for the first or the last item of a list, or character of a string.
func end(ofList, ofText string) rule {
	return func(w *writer, o operand, args []*expr) (operand, error) {
		if o.kinds == aText && len(args) == 0 {
			return o.with(ofText), nil
		}
		return filter(ofList)(w, o, args)
	}
}

func jinjaReverse(w *writer, o operand, args []*expr) (operand, error) {
	if o.kinds.has(aText) {
		return operand{}, &cannot{"it reverses the characters of a string", "add a key with the result to the data"}
	}
	return filter("reverse")(w, o, args)
}

// jinjaSum is the sum of a list, or of one key of its items.
func jinjaSum(_ *writer, o operand, args []*expr) (operand, error) {
	if len(args) == 0 {
		return o.in("$sum")
	}
	name, ok := attribute(args)
	if !ok || len(o.filters) > 0 {
		return operand{}, errArguments
	}
	text, err := pathText(o.text, []step{{key: name}})
	return operand{text: "$sum(" + text + ")", strength: primary}, err
}

// jinjaMap is the list of one key of the items of a list.
func jinjaMap(w *writer, o operand, args []*expr) (operand, error) {
	name, ok := attribute(args)
	if !ok || len(o.filters) > 0 {
		return operand{}, errArguments
	}
	if anyLacks(items(w.samplesOf(o.from)), name) {
		return operand{}, errLacking
	}
	text, err := pathText(o.text, []step{{key: name}})
	return operand{text: text, strength: primary}, err
}

// attribute returns the key that the only argument names, as in attribute="price".
func attribute(args []*expr) (string, bool) {
	if len(args) != 1 || args[0].name != "attribute=" || args[0].op != opTest {
		return "", false
	}
	name, ok := args[0].args[0].val.(string)
	return name, ok && !strings.Contains(name, ".")
}

// jinjaRound rounds to decimals. Without decimals, Python prints 3.0, which Platen does not.
func jinjaRound(_ *writer, o operand, args []*expr) (operand, error) {
	n, ok := literalArgument(args)
	if !ok || n == 0 || len(args) > 1 {
		return operand{}, &cannot{"the rounded number has a decimal point in Python", "write {{$round(x)}} or {{x :: format(\"0.0\")}}"}
	}
	return o.in("$round", strconv.Itoa(n))
}

var decimals = regexp.MustCompile(`^%\.(\d)f$`)

// pythonFormat is a format such as "%.2f" that is applied to a number.
func pythonFormat(w *writer, o operand, args []*expr) (operand, error) {
	pattern, err := strconv.Unquote(o.text)
	m := decimals.FindStringSubmatch(pattern)
	if err != nil || m == nil || len(args) != 1 {
		return operand{}, errArguments
	}
	value, err := w.operand(args[0])
	if err != nil {
		return operand{}, err
	}
	n, _ := strconv.Atoi(m[1])
	return value.with("format(" + quote(strings.TrimSuffix("0."+strings.Repeat("0", n), ".")) + ")"), nil
}

// timeLetters are the codes of strftime in the letters of Platen.
var timeLetters = map[byte]string{
	'Y': "yyyy", 'y': "yy", 'm': "MM", 'd': "dd", 'B': "MMMM", 'b': "MMM", 'A': "EEEE", 'a': "EEE", 'H': "HH", 'I': "hh", 'M': "mm",
	'S': "ss",
	'p': "a",
}

func strftime(w *writer, o operand, args []*expr) (operand, error) {
	if len(args) != 1 || args[0].op != opLiteral {
		return operand{}, errArguments
	}
	codes, _ := args[0].val.(string)
	var b strings.Builder
	for i := 0; i < len(codes); i++ {
		switch {
		case codes[i] == '%' && i+1 < len(codes):
			i++
			letters := timeLetters[codes[i]]
			if letters == "" {
				return operand{}, errArguments
			}
			b.WriteString(letters)
		case codes[i] >= 'A' && codes[i] <= 'Z' || codes[i] >= 'a' && codes[i] <= 'z':
			b.WriteString("'" + codes[i:i+1] + "'")
		default:
			b.WriteByte(codes[i])
		}
	}
	w.note("send the date as text, such as 2026-03-05")
	return dated(w, o, b.String())
}

// resolveJinja resolves a path, and the position in a loop.
func resolveJinja(w *writer, path []step) (string, error) {
	if path[0].key == "loop" && len(path) == 2 && w.innermost() != nil {
		if name := map[string]string{"index": "number", "index0": "index", "first": "first", "last": "last",
			"length": "count"}[path[1].key]; name != "" {
			return "loop." + name, nil
		}
		return "", &cannot{"loop." + path[1].key + " has no equivalent", "see docs/templates.md#loops"}
	}
	return named(w, path)
}

// findJinja finds the tags {{ … }}, {% … %}, and {# … #}.
func findJinja(par *paragraph) []*tag {
	tags := findEscapes(par)
	for at := 0; ; {
		from := strings.IndexByte(par.text[at:], '{')
		if from < 0 || at+from+2 > len(par.text) {
			return tags
		}
		from += at
		end := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[par.text[min(from+1, len(par.text)-1)]]
		to := -1
		if end != "" {
			to = strings.Index(par.text[from+2:], end)
		}
		if to < 0 {
			at = from + 1
			continue
		}
		at = from + 2 + to + len(end)
		t := &tag{par: par, span: span{from, at}, command: readJinja(par.text[from+1], par.text[from+2:at-2])}
		tags = append(tags, t)
	}
}

// escapes are what docxtpl prints as the delimiters of its tags.
var escapes = regexp.MustCompile(`\{_[{%]|[%}]_\}`)

func findEscapes(par *paragraph) []*tag {
	var tags []*tag
	for _, m := range escapes.FindAllStringIndex(par.text, -1) {
		text := strings.ReplaceAll(par.text[m[0]:m[1]], "_", "")
		if text == "{{" {
			text = `{{"{"}}{`
		}
		tags = append(tags, &tag{par: par, span: span{m[0], m[1]}, command: command{kind: kText, text: text}})
	}
	return tags
}

var errColumns = &cannot{"it repeats or removes table cells",
	"write {{tablecolumn x in list}} … {{endtablecolumn}} around the columns"}

var unitsOfJinja = map[string]unit{"tr": unitRow, "tc": unitCell, "p": unitParagraph, "r": unitRun}

// readJinja reads a tag of docxtpl. The letters after its braces say which element it stands for.
func readJinja(brace byte, content string) command {
	u := unitNone
	for _, letters := range []string{"tr", "tc", "p", "r"} {
		if rest, ok := strings.CutPrefix(content, letters); ok && strings.HasPrefix(rest, " ") {
			u, content = unitsOfJinja[letters], rest
			break
		}
	}
	content = strings.TrimSpace(strings.Trim(content, "-"))
	var c command
	switch brace {
	case '#':
		c = command{kind: kText, text: "{{! " + strings.NewReplacer("{{", "{ {", "}}", "} }").Replace(content) + "}}"}
	case '%':
		c = readStatement(content)
	default:
		c = command{kind: kPrint}
		if c.expr, c.err = python.parse(content); u == unitRun {
			c.note = "send HTML instead of RichText"
		} else if u == unitParagraph && c.err == nil {
			c.expr, c.note = &expr{op: opFilter, name: "\x00document", args: []*expr{c.expr}}, "send HTML instead of the document"
		}
	}
	if c.unit = u; u == unitCell && brace != '#' {
		c.err = errColumns
	}
	return c
}

// readStatement reads what is between {% and %}.
func readStatement(content string) command {
	word, rest, _ := strings.Cut(content, " ")
	rest = strings.TrimSpace(rest)
	var c command
	switch word {
	case "for":
		return readFor(rest)
	case "if":
		c.kind, c.closes = kIf, "if"
	case "elif":
		c.kind = kElseIf
	case "else":
		return command{kind: kElse}
	case "endfor", "endif":
		return command{kind: kEnd, closes: strings.TrimPrefix(word, "end")}
	case "set":
		name, value, ok := strings.Cut(rest, "=")
		if !ok || !isWord(strings.TrimSpace(name)) {
			return command{err: &cannot{"a block or several variables are set", "write {{let x = …}} for each variable"}}
		}
		c.kind, c.name, rest = kLet, strings.TrimSpace(name), value
	case "cellbg": // the value is a color without its #
		color, err := python.parse(rest)
		shade := &expr{op: opBinary, name: "~", args: []*expr{{op: opLiteral, val: "#"}, color}}
		return command{kind: kPrint, expr: &expr{op: opFilter, name: "\x00shade", args: []*expr{shade}}, err: err}
	default:
		advice := map[string]string{
			"colspan": "write the filter span in the cell's tag",
			"vm":      "write the filter merge in the cell's tag", "hm": "write the filter span in the cell's tag",
			"include": "write {{include \"name.docx\"}}",
		}[word]
		if advice == "" {
			advice = "add a key with the result to the data"
		}
		return command{err: &cannot{"{% " + word + " %} has no exact equivalent", advice}}
	}
	c.expr, c.err = python.parse(rest)
	return c
}

// readFor reads a loop: x in list, k, v in object.items(), and a condition after if.
func readFor(text string) command {
	fail := func(reason, advice string) command { return command{kind: kLoop, err: &cannot{reason, advice}} }
	p, err := python.start(text)
	if err != nil {
		return command{kind: kLoop, err: err}
	}
	c := command{kind: kLoop, name: p.next().text, closes: "for"}
	if p.accept(",") {
		c.value = p.next().text
	}
	if !p.accept("in") {
		return fail("the loop has a form that has no equivalent", "write {{for x in list}}")
	}
	c.expr = p.binary(0)
	if p.acceptWord("if") {
		c.where = p.binary(0)
	}
	if p.end(); p.err != nil {
		return command{kind: kLoop, err: p.err}
	}
	if c.expr.op == opCall && c.expr.args[0].name == "iteritems" && len(c.expr.args) == 2 { // as in Python 2
		c.expr = &expr{op: opCall, args: []*expr{{op: opMember, name: "items", args: c.expr.args[1:]}}}
	}
	items := c.expr.op == opCall && c.expr.args[0].op == opMember && c.expr.args[0].name == "items"
	switch {
	case c.value != "" && !items:
		return fail("it has a variable for each part of the items", "write {{for x in list}}, and {{x[0]}} and {{x[1]}} for its parts")
	case items && c.value == "":
		return fail("its items are pairs of a key and a value", "write {{for k, v in object}}")
	case items:
		c.expr = c.expr.args[0].args[0]
	}
	return c
}
