package importer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kinds is a set of kinds of values.
type kinds uint8

const (
	aNull kinds = 1 << iota
	aBool
	aNumber
	aText
	aList
	anObject
)

func (k kinds) has(some kinds) bool { return k&some != 0 }

// kindsOf returns what an expression can be, as far as it or the sample data says; 0 if they say nothing.
func (w *writer) kindsOf(e *expr) kinds {
	switch e.op {
	case opLiteral:
		return kindsOfValues([]any{e.val})
	case opList:
		return aList
	case opObject:
		return anObject
	case opNot, opTest:
		return aBool
	case opNegate:
		return aNumber
	case opChoice:
		return w.kindsOf(e.args[1]) | w.kindsOf(e.args[2])
	case opBinary:
		return w.kindsOfBinary(e)
	case opFilter:
		return w.kindsOfResult(e.name, e.args[0])
	case opCall:
		if e.args[0].op == opMember {
			return w.kindsOfResult(e.args[0].name, e.args[0].args[0])
		}
	}
	return kindsOfValues(w.samplesOf(e))
}

func (w *writer) kindsOfBinary(e *expr) kinds {
	switch {
	case e.isLogical():
		return aBool
	case e.name == "~" || e.name == "+" && w.joins(e):
		return aText
	case binaries[e.name] >= sum:
		return aNumber
	}
	return w.kindsOf(e.args[0]) | w.kindsOf(e.args[1])
}

// kindsOfResult returns what a filter or a method returns.
func (w *writer) kindsOfResult(name string, value *expr) kinds {
	switch name {
	case "list", "map", "split", "filter", "unique", "sort":
		return aList
	case "default", "d":
		return w.kindsOf(value) | aText
	case "slice", "reverse":
		return w.kindsOf(value)
	}
	return 0
}

func kindsOfValues(values []any) kinds {
	var k kinds
	for _, v := range values {
		switch v.(type) {
		case nil:
			k |= aNull
		case bool:
			k |= aBool
		case json.Number:
			k |= aNumber
		case string:
			k |= aText
		case []any:
			k |= aList
		case map[string]any:
			k |= anObject
		}
	}
	return k
}

// strict marks the operators of JavaScript that compare values of one kind only.
const strict = "strict"

// loose marks comparisons of a string or a boolean with true or false.
const loose = "loose"

// comparable returns an error if Platen compares two values in another way.
func (w *writer) comparable(e *expr) error {
	a, b := w.kindsOf(e.args[0]), w.kindsOf(e.args[1])
	exact := w.grammar.words != nil || e.val == strict
	ordered := e.name != "=="
	switch {
	case e.name == "in" && w.looksForOther(e.args[0], e.args[1]):
		return errOtherKind
	case e.name == "in":
		return nil
	case exact && w.isOtherNothing(e):
		return &cannot{"it distinguishes null from a missing value", "write {{if x isNotPresent}}, which is true for both"}
	case a.has(aNull) && b.has(aNull) && e.args[1].op != opLiteral:
		return &cannot{"both values can be null", "write {{if a isNotPresent and b isNotPresent or a == b}}"}
	case (a | b).has(aList | anObject):
		return &cannot{"it compares lists or objects", "compare single values, such as $length(list)"}
	case a == 0 || b == 0:
		return nil
	case (a | b).has(aNull) && ordered && w.grammar.words == nil:
		return &cannot{"null counts as 0 in JavaScript", "write {{if x isPresent and x < 3}}, or send a number"}
	}
	a, b = a&^aNull, b&^aNull
	switch {
	case a == aText && b == aText && ordered && w.allNumeric(e.args[0]) && w.allNumeric(e.args[1]):
		return &cannot{"it compares two strings with digits, character by character", "send numbers"}
	case a == aText && b == aText && (w.isOddNumber(e.args[0]) || w.isOddNumber(e.args[1])):
		return &cannot{"it compares strings that write a number in another way, such as 12.0 for 12", "send numbers"}
	case e.val == loose && a&^(aText|aBool) == 0:
		return nil
	case a == b || a == 0 || b == 0 || !exact && a|b == aNumber|aText && !w.hasEmpty(e):
		return nil
	}
	return &cannot{"it compares values of different kinds", "send values of the same kind, or write the condition in Platen"}
}

// errOtherKind is the reason for a value that is looked for in a list of other values.
var errOtherKind = &cannot{"it looks for a value of another kind than those of the list", "send values of the same kind"}

// looksForOther reports whether a list has values of other kinds than a value that is looked for in it.
func (w *writer) looksForOther(value, list *expr) bool {
	if w.kindsOf(list) != aList {
		return false
	}
	of, in := w.kindsOf(value), kindsOfValues(items(w.samplesOf(list)))
	return of != 0 && in != 0 && of != in
}

var numeric = regexp.MustCompile(`^-?\d+(?:\.\d+)?$`)

// textsOf returns the strings that an expression is, as far as it or the sample data says.
func (w *writer) textsOf(e *expr) []string {
	values := w.samplesOf(e)
	if e.op == opLiteral {
		values = []any{e.val}
	}
	var all []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

func (w *writer) allNumeric(e *expr) bool {
	texts := w.textsOf(e)
	return len(texts) > 0 && !slices.ContainsFunc(texts, func(s string) bool { return !numeric.MatchString(s) })
}

var (
	simpleNumber  = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$`)
	leadingZeroes = regexp.MustCompile(`^-?0\d`)
)

// isOddNumber reports whether an operand can be a string that Platen reads as a number with another simpler form.
func (w *writer) isOddNumber(e *expr) bool {
	return slices.ContainsFunc(w.textsOf(e), func(s string) bool {
		return numeric.MatchString(s) && !simpleNumber.MatchString(s) && !leadingZeroes.MatchString(s)
	})
}

// isOtherNothing reports whether a strict comparison is with null and the value can be missing, or with undefined and it can be null.
func (w *writer) isOtherNothing(e *expr) bool {
	nothing := e.args[1]
	if nothing.op != opLiteral || nothing.val != nil || w.data == nil {
		return false
	}
	k := w.kindsOf(e.args[0])
	return nothing.name == "undefined" && k.has(aNull) || nothing.name != "undefined" && k == 0
}

// hasEmpty reports whether an operand can be an empty string, which counts as 0 in JavaScript.
func (w *writer) hasEmpty(e *expr) bool {
	return slices.Contains(w.textsOf(e.args[0]), "") || slices.Contains(w.textsOf(e.args[1]), "")
}

var likeHTML = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)

// asPrinted returns the operand with the filters that make Platen print it as the other product does.
func (w *writer) asPrinted(e *expr, o operand) (operand, error) {
	k := w.kindsOf(e)
	isScript := w.grammar.words == nil
	switch {
	case k == anObject && isScript && len(o.filters) == 0 && o.strength == primary && w.sections && !w.records:
		return w.typed(e, o)
	case k.has(anObject):
		return o, &cannot{"it prints an object", "print the keys of the object"}
	case k.has(aBool) && k&^(aBool|aNull) != 0 && !isScript:
		return o, &cannot{"it prints True, False, or another value",
			"write {{if x isPresent}}{{if x}}True{{else}}False{{endif}}{{else}}…{{endif}}"}
	case k.has(aList) && !isScript:
		return o, &cannot{"it prints a list as Python writes it", "write {{list :: join(\", \")}}"}
	case k.has(aList) && w.records:
		return o, &cannot{"it repeats its table row for a program that fills the mail merge", "write {{tablerow x in list}} … {{endtablerow}}"}
	case k.has(aList) && kindsOfValues(items(w.samplesOf(e))).has(aList|anObject):
		return o, &cannot{"it prints a list of lists or objects", "write {{for x in list}} … {{endfor}}"}
	case w.sticky && slices.ContainsFunc(w.textsOf(e), literalXML.MatchString):
		return o, &cannot{"the text has XML between two bars, ||", "send the XML of whole runs, and write {{x :: wordml}}"}
	case k.has(aList) && w.hasNullItem(e):
		return o, errNullItem
	case k.has(aList):
		return o.with("join(" + quote(",") + ")"), nil
	case len(w.textsOf(e)) > 0 && k == aText && len(o.filters) == 0 && !slices.ContainsFunc(w.textsOf(e), isNoImage):
		return o.with("image"), nil
	case isScript && len(o.filters) == 0 && slices.ContainsFunc(w.textsOf(e), likeHTML.MatchString):
		return o.with("raw"), nil
	case !isScript && isArithmetic(e) && w.isFloat(e):
		return o, &cannot{"Python prints a decimal point in the result", "write {{x :: format(\"0.0#\")}}"}
	}
	return o, nil
}

// literalXML finds the XML in the values of docx-templates.
var literalXML = regexp.MustCompile(`(?s)\|\|.*<.*\|\|`)

func isNoImage(s string) bool { return !strings.HasPrefix(s, "data:image/") }

func isArithmetic(e *expr) bool { return e.op == opBinary && binaries[e.name] >= sum }

// isFloat reports whether the result of a calculation in Python is a number with a decimal point.
func (w *writer) isFloat(e *expr) bool {
	switch {
	case isArithmetic(e):
		return e.name == "/" || w.isFloat(e.args[0]) || w.isFloat(e.args[1])
	case e.op == opNegate:
		return w.isFloat(e.args[0])
	}
	values := w.samplesOf(e)
	if e.op == opLiteral {
		values = []any{e.val}
	}
	return slices.ContainsFunc(values, func(v any) bool {
		n, ok := v.(json.Number)
		_, err := strconv.ParseInt(n.String(), 10, 64)
		return ok && err != nil
	})
}

// truth writes a value whose truth counts.
func (w *writer) truth(e *expr, strength int) (string, error) {
	k := w.kindsOf(e)
	_, isPath := e.steps()
	switch {
	case w.emptyIsTrue && k.has(aList) && isPath:
		x, err := w.value(e, sum)
		return within(x+" isPresent", comparison, strength), err
	case w.grammar.words != nil && k.has(anObject):
		if slices.ContainsFunc(w.samplesOf(e), func(v any) bool { m, ok := v.(map[string]any); return ok && len(m) == 0 }) {
			return "", &cannot{"an empty object is false in Python", "send null instead of an empty object, and write {{if x}}"}
		}
		w.note("an empty object is false in Python, and true in Platen")
	}
	return w.value(e, strength)
}

// character writes a character of a string, which other languages write as an index; ok is false for anything else.
func (w *writer) character(e *expr) (o operand, ok bool, err error) {
	if e.op != opIndex || w.kindsOf(e.args[0]) != aText {
		return operand{}, false, nil
	}
	n, _, isIndex := literalIndex(e.args[1])
	if e.args[1].op == opNegate && w.grammar.words != nil {
		n, _, isIndex = literalIndex(e.args[1].args[0])
		n = -n
	}
	if !isIndex {
		return operand{}, false, nil
	}
	o, err = w.operand(e.args[0])
	if n == -1 {
		return o.with("slice(-1)"), true, err
	}
	return o.with("slice(" + strconv.Itoa(n) + ", " + strconv.Itoa(n+1) + ")"), true, err
}

// keysOf adds to a loop what the other language does with the keys of an object, if the sample data says that it loops over one.
func (w *writer) keysOf(t *tag) error {
	k := w.kindsOf(t.expr)
	switch {
	case k == aText && w.grammar.words != nil:
		return &cannot{"it goes through the characters of a string", "send a list"}
	case k == anObject && w.grammar.words != nil && t.value == "" && t.where == nil:
		t.value = invented + "value"
	case w.invents && k == anObject && len(t.sorts) == 0 && t.where == nil:
		t.keyed = true
	case t.command.key != "", w.strict && t.kind == kLoop && t.command.name == "" && (k == anObject || t.usesKey):
		t.keyed = true
	}
	return nil
}

// canBeNegative reports whether the sample data has a negative number for an expression.
func (w *writer) canBeNegative(e *expr) bool {
	return e.op == opNegate || slices.ContainsFunc(w.samplesOf(e), func(v any) bool {
		n, ok := v.(json.Number)
		return ok && strings.HasPrefix(n.String(), "-")
	})
}
