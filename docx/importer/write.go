package importer

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
)

// writer writes expressions in Platen's language.
type writer struct {
	*dialect
	scopes []*scope // of the loops and conditions around the tag, from outside inward
	data   []any    // samples of the input; nil for none
	taken  map[string]bool
	notes  []string // on the current tag
	tag    *tag     // the current one

	references map[string][]*scope // the scopes around the references to notes, by their kind and id
}

// operand is a value in Platen's language, with the filters that follow it.
type operand struct {
	text     string
	strength int
	filters  []string
	kinds    kinds // of the value that a rule applies to
	from     *expr // the value that a rule applies to
}

// The strengths of the operators, from weak to strong.
const (
	weakOr = iota + 1
	weakAnd
	weakNot
	comparison
	sum
	product
	negation
	primary
)

var binaries = map[string]int{
	"or": weakOr, "and": weakAnd, "==": comparison, "<": comparison, "<=": comparison, ">": comparison, ">=": comparison,
	"in": comparison, "+": sum, "-": sum, "*": product, "/": product, "%": product,
}

func (w *writer) note(text string) { w.notes = append(w.notes, text) }

// quote returns a string literal.
func quote(s string) string { return (&lang.Literal{Value: s}).String() }

// print returns the tags that print an expression.
func (w *writer) print(e *expr) (string, error) {
	switch {
	case e.op == opChoice:
		return w.printChoice(e.args[0], e.args[1], e.args[2])
	case e.op == opBinary && e.name == "or":
		return w.printChoice(e.args[0], e.args[0], e.args[1])
	case w.grammar.words != nil && e.isLogical(): // as Python prints it
		c, err := w.condition(e)
		return "{{if " + c + "}}True{{else}}False{{endif}}", err
	case e.op == opBinary && e.name == "and":
		return "", &cannot{"it prints one of two values", "write {{if a}}{{b}}{{endif}}"}
	case e.op == opLiteral:
		if s, ok := e.val.(string); ok && !hasTags(s) && !strings.ContainsAny(s, "\n\t") {
			return s, nil
		}
	}
	o, err := w.operand(e)
	if err == nil {
		o, err = w.asPrinted(e, o)
	}
	if err != nil {
		return "", err
	}
	text := strings.Join(append([]string{o.text}, o.filters...), " :: ")
	if w.grammar.words != nil {
		return w.printPython(e, o, text), nil
	}
	return "{{" + text + "}}", nil
}

// printChoice prints one of two expressions.
func (w *writer) printChoice(condition, then, other *expr) (string, error) {
	c, err := w.condition(condition)
	if err != nil {
		return "", err
	}
	a, err := w.print(then)
	if err != nil {
		return "", err
	}
	b, err := w.print(other)
	if err != nil {
		return "", err
	}
	if b != "" {
		b = "{{else}}" + b
	}
	return "{{if " + c + "}}" + a + b + "{{endif}}", nil
}

// condition returns an expression whose truth counts.
func (w *writer) condition(e *expr) (string, error) { return w.logical(e, weakOr) }

// logical is condition as an operand of an operator with this strength.
func (w *writer) logical(e *expr, strength int) (string, error) {
	switch {
	case e.op == opNot:
		x, err := w.logical(e.args[0], weakNot)
		return within("not "+x, weakNot, strength), err
	case e.op == opBinary && (e.name == "and" || e.name == "or"):
		own := binaries[e.name]
		l, err := w.logical(e.args[0], own)
		if err != nil {
			return "", err
		}
		r, err := w.logical(e.args[1], own+1)
		return within(l+" "+e.name+" "+r, own, strength), err
	case e.op == opBinary && e.name == "!=":
		return w.logical(&expr{op: opNot, args: []*expr{{op: opBinary, name: "==", val: e.val, args: e.args}}}, strength)
	case e.op == opTest:
		return w.test(e, strength)
	}
	return w.truth(e, strength)
}

// value returns an operand of an operator with this strength.
func (w *writer) value(e *expr, strength int) (string, error) {
	o, err := w.operand(e)
	if err != nil {
		return "", err
	}
	if len(o.filters) > 0 {
		return "(" + strings.Join(append([]string{o.text}, o.filters...), " :: ") + ")", nil
	}
	return within(o.text, o.strength, strength), nil
}

func within(text string, own, needed int) string {
	if own < needed {
		return "(" + text + ")"
	}
	return text
}

// test writes a test on whether there is a value.
func (w *writer) test(e *expr, strength int) (string, error) {
	x, err := w.value(e.args[0], sum)
	k := w.kindsOf(e.args[0])
	switch {
	case e.name == "defined" && k.has(aNull):
		return "", &cannot{"null counts as defined", "write {{if x isPresent}}, which is false for null"}
	case (e.name == "none" || e.name == "None") && k == 0 && w.data != nil:
		return "", &cannot{"a missing value is not none", "write {{if x isNotPresent}}, which is true for a missing value"}
	}
	switch e.name {
	case "defined":
		return within(x+" isPresent", comparison, strength), err
	case "none", "undefined", "None":
		return within(x+" isNotPresent", comparison, strength), err
	case "true", "false":
		if k == aBool {
			return within(x+" == "+e.name, comparison, strength), err
		}
	}
	return "", &cannot{"the test " + strconv.Quote(e.name) + " has no equivalent", "add a key with the answer to the data"}
}

// operand writes an expression without the tag around it.
func (w *writer) operand(e *expr) (operand, error) {
	if o, ok, err := w.character(e); ok {
		return o, err
	}
	if path, ok := e.steps(); ok {
		if n := len(path) - 1; n > 0 && w.properties[path[n].key] != nil && !path[n].isIndex && !w.hasKey(path) {
			base, err := w.operand(e.args[0])
			if err != nil {
				return operand{}, err
			}
			return w.properties[path[n].key](w, base, nil)
		}
		text, err := w.resolve(w, path)
		return operand{text: text, strength: primary}, err
	}
	switch e.op {
	case opLiteral:
		return operand{text: literal(e.val), strength: primary}, nil
	case opList:
		text, err := w.list(e.args)
		return operand{text: "[" + text + "]", strength: primary}, err
	case opNegate:
		x, err := w.value(e.args[0], negation)
		return operand{text: "-" + x, strength: negation}, err
	case opNot, opTest:
		x, err := w.logical(e, weakOr)
		return operand{text: x, strength: weakNot}, err
	case opBinary:
		return w.binary(e)
	case opCall:
		return w.call(e)
	case opChoice:
		return w.choice(e.args[0], e.args[1], e.args[2])
	case opIndex:
		return w.index(e)
	case opFilter:
		return w.apply(w.filters[e.name], "filter", e.name, e.args)
	case opMember:
		if r := w.properties[e.name]; r != nil {
			return w.apply(r, "property", e.name, e.args)
		}
	}
	return operand{}, &cannot{"a part of the expression has no equivalent", "add a key with the result to the data"}
}

// choice writes one of two values.
func (w *writer) choice(condition, then, other *expr) (operand, error) {
	c, err := w.condition(condition)
	if err != nil {
		return operand{}, err
	}
	text, err := w.list([]*expr{then, other})
	return operand{text: "$if(" + c + ", " + text + ")", strength: primary}, err
}

// index writes an index or a key that is computed.
func (w *writer) index(e *expr) (operand, error) {
	if _, ok := e.args[0].steps(); !ok {
		return operand{}, &cannot{"an index applies to a part of an expression", "write {{let x = …}} and {{x[0]}}"}
	}
	if w.grammar.words == nil && canBeBelowZero(e.args[1]) {
		return operand{}, &cannot{"an index below 0 has no item in JavaScript, and counts from the end in Platen",
			"write {{list[-1]}} for the last item, or {{if not loop.first}}{{list[loop.index - 1]}}{{endif}} for the item before"}
	}
	list, err := w.value(e.args[0], primary)
	if err != nil {
		return operand{}, err
	}
	i, err := w.value(e.args[1], weakOr)
	return operand{text: list + "[" + i + "]", strength: primary}, err
}

func literal(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		return strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", "").Replace(quote(v))
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}

func (w *writer) list(items []*expr) (string, error) {
	texts := make([]string, len(items))
	for i, item := range items {
		var err error
		if texts[i], err = w.value(item, weakOr); err != nil {
			return "", err
		}
	}
	return strings.Join(texts, ", "), nil
}

func (w *writer) binary(e *expr) (operand, error) {
	if e.name == "~" || e.name == "+" && w.joins(e) {
		all := slices.DeleteFunc(terms(e, w), func(x *expr) bool { return x.op == opLiteral && x.val == "" })
		if slices.ContainsFunc(all, func(x *expr) bool { return w.kindsOf(x).has(aList | anObject) }) {
			return operand{}, &cannot{"it joins text with a list or an object", "write {{list :: join(\",\")}} next to the text"}
		}
		text, err := w.joined(all)
		return operand{text: "$string(" + text + ")", strength: primary}, err
	}
	own := binaries[e.name]
	if own == comparison {
		if err := w.comparable(e); err != nil {
			return operand{}, err
		}
	}
	switch {
	case e.name == "default": // ??
		o, err := w.operand(e.args[0])
		if err != nil {
			return operand{}, err
		}
		other, err := w.value(e.args[1], weakOr)
		return o.with("default(" + other + ")"), err
	case e.name == "or":
		return w.choice(e.args[0], e.args[0], e.args[1])
	case own == 0 || own == weakOr || own == weakAnd:
		text, err := w.condition(e)
		return operand{text: text, strength: weakOr}, err
	case e.name == "in" && w.grammar.words == nil:
		return operand{}, &cannot{"the operator in looks for keys", "add a key with the answer to the data"}
	case e.name == "==" && e.args[1].op == opLiteral && e.args[1].val == nil:
		x, err := w.value(e.args[0], sum)
		return operand{text: x + " isNotPresent", strength: comparison}, err
	case w.grammar.words != nil && e.name == "*" && (w.kindsOf(e.args[0]) | w.kindsOf(e.args[1])).has(aText|aList):
		return operand{}, &cannot{"it repeats a string or a list", "add a key with the result to the data"}
	case w.grammar.words != nil && e.name == "%" && (w.canBeNegative(e.args[0]) || w.canBeNegative(e.args[1])):
		return operand{}, &cannot{"the remainder of negative numbers has another sign in Python", "write {{((a % b) + b) % b}}"}
	case e.name == "+" && !w.adds(e):
		return operand{}, &cannot{"+ joins strings or adds numbers, depending on the data",
			"write {{a + b}} for numbers, or $string(a, b) for strings, or import with sample data (--data)"}
	}
	left := own
	if own == comparison {
		left++
	}
	l, err := w.value(e.args[0], left)
	if err != nil {
		return operand{}, err
	}
	r, err := w.value(e.args[1], own+1)
	return operand{text: l + " " + e.name + " " + r, strength: own}, err
}

// terms returns what a chain of operators joins.
func terms(e *expr, w *writer) []*expr {
	if e.op == opBinary && (e.name == "~" || e.name == "+" && w.joins(e)) {
		return append(terms(e.args[0], w), terms(e.args[1], w)...)
	}
	return []*expr{e}
}

// joins reports whether + joins strings: because one of them is written out, or by the sample data.
func (w *writer) joins(e *expr) bool {
	if e.isText() {
		return true
	}
	for _, a := range e.args {
		for _, v := range w.samplesOf(a) {
			if _, ok := v.(string); ok {
				return true
			}
		}
		if a.op == opBinary && a.name == "+" && w.joins(a) {
			return true
		}
	}
	return false
}

// adds reports whether + certainly adds numbers.
func (w *writer) adds(e *expr) bool {
	for _, a := range e.args {
		if !w.isNumber(a) {
			return false
		}
	}
	return true
}

func (w *writer) isNumber(e *expr) bool {
	switch {
	case e.op == opLiteral:
		_, ok := e.val.(json.Number)
		return ok
	case e.op == opNegate:
		return true
	case e.op == opBinary && e.name == "+":
		return w.adds(e)
	case e.op == opBinary:
		return binaries[e.name] >= sum
	}
	samples := w.samplesOf(e)
	for _, v := range samples {
		if _, ok := v.(json.Number); !ok {
			return false
		}
	}
	path, isPath := e.steps()
	return len(samples) > 0 || isPath && w.properties[path[len(path)-1].key] != nil || isPath && w.counts(path)
}

// call writes a call of a method or a function.
func (w *writer) call(e *expr) (operand, error) {
	callee := e.args[0]
	if callee.op != opMember {
		name := callee.name
		return w.apply(w.functions[name], "function", name, e.args[1:])
	}
	return w.apply(w.methods[callee.name], "method", callee.name, append([]*expr{callee.args[0]}, e.args[1:]...))
}

// rule writes what another language applies to a value.
type rule func(w *writer, o operand, args []*expr) (operand, error)

func (w *writer) apply(r rule, what, name string, args []*expr) (operand, error) {
	if r == nil || len(args) == 0 {
		return operand{}, &cannot{"the " + what + " " + strconv.Quote(name) + " is code of the application, or has no equivalent",
			"write a filter of Platen (docs/templates.md#filters), or add a key with the result to the data"}
	}
	o, err := w.operand(args[0])
	if err != nil {
		return operand{}, err
	}
	o.kinds, o.from = w.kindsOf(args[0]), args[0]
	return r(w, o, args[1:])
}
