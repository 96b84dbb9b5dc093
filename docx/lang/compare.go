package lang

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// compare returns the result of l op r. It is false if an operand is missing, except that the literal null equals a missing value.
func (e *Env) compare(n *Binary, l, r Value) (Value, error) {
	if isNull(n.L) || isNull(n.R) {
		return (l == nil && r == nil) == (n.Op == "==") && (n.Op == "==" || n.Op == "!="), nil
	}
	if l == nil || r == nil {
		return false, nil
	}
	if (n.Op == "==" || n.Op == "!=") && !(isSingle(l) && isSingle(r)) {
		return nil, wholeCompared(n, l, r)
	}
	if n.Op == "==" || n.Op == "!=" {
		if isBool(l) != isBool(r) {
			return e.compareBool(n, l, r)
		}
	}
	if isMoment(l) || isMoment(r) {
		if !ofText[n.Op] {
			return e.compareDates(n, l, r)
		}
	}
	if !ofText[n.Op] && needDates(n, l, r) {
		return e.compareWritten(n, l, r)
	}
	switch n.Op {
	case "==":
		return equal(l, r), nil
	case "!=":
		return !equal(l, r), nil
	case "in":
		return e.contains(n, r, l)
	case "contains":
		return e.contains(n, l, r)
	case startsWith, endsWith, matches:
		return e.matchText(n, l, r)
	}
	return e.order(n, l, r)
}

// wholeCompared returns the fault of a comparison with a list or an object.
func wholeCompared(n *Binary, l, r Value) error {
	hint := ""
	switch {
	case isEmpty(n.R):
		hint = emptyHint(n.L)
	case isEmpty(n.L):
		hint = emptyHint(n.R)
	case isSingle(l) || isSingle(r):
	default:
		hint = "; compare single values, or lists as texts, as in (a :: join) == (b :: join)"
	}
	return &fault{node: n, message: "compares " + kindName(l) + " with " + kindName(r) + hint}
}

// isEmpty reports whether n is [] or "".
func isEmpty(n Node) bool {
	switch n := n.(type) {
	case *List:
		return len(n.Items) == 0
	case *Literal:
		return n.Value == ""
	}
	return false
}

// emptyHint says how to ask whether a list is empty.
func emptyHint(list Node) string {
	return "; write {{if " + list.String() + "}} for a list with items, or $count(" + list.String() + ") == 0 for an empty one"
}

func isBool(v Value) bool {
	_, ok := v.(bool)
	return ok
}

// compareBool compares true or false with a value of another kind. It can be equal to its own text. The empty string is different
// from both: exports write it for no value, and conditions ask for it. With any other value, the comparison has no meaning.
func (e *Env) compareBool(n *Binary, l, r Value) (Value, error) {
	other, node := r, n.R
	if isBool(r) {
		other, node = l, n.L
	}
	_, isLiteral := node.(*Literal)
	if !isTruthText(other) && other != "" {
		hint := ""
		if isLiteral {
			hint = "; compare it with true or false, without quotes"
		}
		return nil, &fault{node: n, message: "compares " + kindName(l) + " with " + kindName(r) + hint}
	}
	return equal(l, r) == (n.Op == "=="), nil
}

// isTruthText reports whether a value is the text true or false, in any case.
func isTruthText(v Value) bool {
	s, ok := v.(string)
	return ok && (strings.EqualFold(s, "true") || strings.EqualFold(s, "false"))
}

// isSingle reports whether a value is neither a list nor an object.
func isSingle(v Value) bool {
	switch v.(type) {
	case []any, *Object:
		return false
	}
	return true
}

// ofText are the operators that do not compare values.
var ofText = map[string]bool{"in": true, "contains": true, startsWith: true, endsWith: true, matches: true}

// matchText returns whether a text begins or ends with another one, or matches a pattern. No text begins or ends with the empty one.
func (e *Env) matchText(n *Binary, l, r Value) (Value, error) {
	text, ok := scalarText(l)
	if !ok {
		return nil, &fault{node: n.L, message: "is " + kindOf(l) + ", not text"}
	}
	part, ok := scalarText(r)
	if !ok {
		return nil, &fault{node: n.R, message: "is " + kindOf(r) + ", not text"}
	}
	switch n.Op {
	case startsWith:
		return part != "" && strings.HasPrefix(text, part), e.spend(len(part)/bytesPerStep, n)
	case endsWith:
		return part != "" && strings.HasSuffix(text, part), e.spend(len(part)/bytesPerStep, n)
	}
	re := n.pattern
	if re == nil {
		var err error
		if re, err = e.pattern(n.R, part); err != nil {
			return nil, err
		}
	}
	// A match takes time in proportion to the product of the text and the instructions.
	if err := e.spend(len(text)*re.size/instructionsPerStep, n); err != nil {
		return nil, err
	}
	if re.inSlashes && !strings.Contains(text, "/") {
		e.doubt("The pattern " + quote(re.String()) + " begins and ends with a slash, which the text must have too. Write " +
			quote(strings.Trim(re.String(), "/")) + ".")
	}
	return re.MatchString(text), nil
}

func isMoment(v Value) bool {
	_, ok := v.(moment)
	return ok
}

func isNull(n Node) bool {
	l, ok := n.(*Literal)
	return ok && l.Value == nil
}

// equal reports whether two values are equal. Numbers, and texts that are numbers, are compared by value (see comparable); true and
// false also with their text, in any case; and other texts letter by letter.
func equal(l, r Value) bool {
	switch l := l.(type) {
	case string:
		switch r := r.(type) {
		case string:
			if l == r {
				return true
			}
		case bool:
			return strings.EqualFold(l, strconv.FormatBool(r))
		}
	case bool:
		switch r := r.(type) {
		case bool:
			return l == r
		case string:
			return strings.EqualFold(r, strconv.FormatBool(l))
		}
		return false
	}
	order, ok := compareByValue(l, r)
	return ok && order == 0
}

// compareByValue compares two values that are numbers, or texts with numbers. Two texts must both be written as numbers are in JSON:
// texts such as 007 and +1 are codes, and only count as numbers in a comparison with a number.
func compareByValue(l, r Value) (order int, ok bool) {
	s, lok := l.(string)
	t, rok := r.(string)
	if lok && rok && !(isWritten(s) && isWritten(t)) {
		return 0, false
	}
	return compareNumbers(l, r)
}

// isWritten reports whether a text begins as a number in JSON does.
func isWritten(s string) bool {
	s = strings.TrimPrefix(strings.TrimSpace(s), "-")
	return s != "" && '0' <= s[0] && s[0] <= '9' && (len(s) == 1 || s[0] != '0' || !isDigit(rune(s[1])))
}

// order reports whether l op r holds for < <= > >=: by number if both are or spell one, by date if both are dates in words, or else by the
// letters of two texts.
func (e *Env) order(n *Binary, l, r Value) (Value, error) {
	if order, ok := compareByValue(l, r); ok {
		return holds(n.Op, order), nil
	}
	s, lok := l.(string)
	t, rok := r.(string)
	if lok && rok {
		if hasSeparators(s) && hasDigit(t) || hasSeparators(t) && hasDigit(s) {
			return nil, &fault{node: n, message: "compares numbers with separators, such as 1,234; they must be numbers, such as 1234.50"}
		}
		return holds(n.Op, e.compareTexts(s, t)), e.spend(1, n)
	}
	return nil, &fault{node: n, message: "compares " + kindName(l) + " with " + kindName(r)}
}

// hasSeparators reports whether a text is a number with separators of thousands, or with a comma before its decimals. Such texts are not in
// the order of their numbers.
func hasSeparators(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && isDigit(rune(digits[0])) && strings.ContainsAny(digits, ", '") && strings.Trim(digits, "0123456789,.' ") == ""
}

// compareTexts compares two texts by their dates if both are dates in words, or else by their letters.
func (e *Env) compareTexts(s, t string) int {
	if hasDigit(s) && hasDigit(t) {
		a, ok := e.asMoment(s)
		b, both := e.asMoment(t)
		if ok && both {
			return compareMoments(a, b)
		}
	}
	return cmp.Compare(s, t)
}

// needDates reports whether two texts are compared as dates: both are written like dates, and their letters are in another order than the
// dates, or one is a date and the other may be one in words.
func needDates(n *Binary, l, r Value) bool {
	s, ok := l.(string)
	t, both := r.(string)
	if !ok || !both {
		return false
	}
	isDay := func(s string) bool { return len(s) == len(time.DateOnly) && s[4] == '-' } // days of ISO 8601 are in the order of their letters
	first, second := isWrittenDate(s), isWrittenDate(t)
	if first && second {
		return !isDay(s) || !isDay(t)
	}
	return (first || second) && (n.Op != "==" && n.Op != "!=" || hasDigit(s) && hasDigit(t))
}

// hasDigit reports whether a text contains a digit, as all dates do.
func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// isWrittenDate reports whether a text begins like 2026-03-05 or 5.3.2026.
func isWrittenDate(s string) bool {
	digits := func(i int) (n int) {
		for ; i+n < len(s) && '0' <= s[i+n] && s[i+n] <= '9'; n++ {
		}
		return n
	}
	if len(s) < len("5.3.2026") || strings.IndexByte("0123456789", s[0]) < 0 {
		return false
	}
	first := digits(0)
	second := digits(first + 1)
	at := first + second + 1
	if at >= len(s) || second < 1 || second > 2 || s[at] != s[first] || strings.IndexByte("-./", s[at]) < 0 {
		return false
	}
	third := digits(at + 1)
	return first == 4 && second == 2 && third == 2 && s[at] == '-' || first <= 2 && third == 4
}

// compareWritten compares two texts that are written like dates.
func (e *Env) compareWritten(n *Binary, l, r Value) (Value, error) {
	_, ok := e.asMoment(l)
	_, both := e.asMoment(r)
	switch {
	case ok && both:
		return e.compareDates(n, l, r)
	case n.Op == "==" || n.Op == "!=":
		return equal(l, r) == (n.Op == "=="), nil
	case ok:
		return nil, &fault{node: n.R, message: "is not a date like 2026-03-05"}
	}
	return nil, &fault{node: n.L, message: "is not a date like 2026-03-05"}
}

func holds(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// contains reports whether x is an item of a list, a part of a text, or a key of an object. The empty text is not part of any.
func (e *Env) contains(n Node, in, x Value) (Value, error) {
	if !isSingle(x) {
		return nil, &fault{node: n, message: "looks for " + kindName(x) + " in " + kindName(in) + "; look for single values"}
	}
	switch in := in.(type) {
	case []any:
		return e.containsItem(n, in, x)
	case string:
		part, ok := scalarText(x)
		return ok && part != "" && strings.Contains(in, part), e.spend(len(in)/bytesPerStep, n)
	case *Object:
		key, ok := scalarText(x)
		return ok && in.Get(key) != nil, nil
	}
	return nil, &fault{node: n, message: "looks into " + kindName(in) + ", which contains nothing"}
}

// containsItem reports whether x is an item of a list. A list of which no item can be equal to x is a mistake.
func (e *Env) containsItem(n Node, in []any, x Value) (Value, error) {
	objects, lists, alike := 0, 0, false
	for _, item := range in {
		if item != nil && equal(item, x) {
			return true, nil
		}
		switch item.(type) {
		case *Object:
			objects++
		case []any:
			lists++
		}
		alike = alike || item == nil || item == "" || isBool(item) == isBool(x) || isTruthText(item) || isTruthText(x)
	}
	if _, ok := scalarText(x); ok && len(in) > 0 {
		switch {
		case objects == len(in):
			return nil, &fault{node: n, message: "looks for a value in a list of objects; name their key, as in items.name"}
		case lists == len(in):
			return nil, &fault{node: n, message: "looks for a value in a list of lists; write a in list, without brackets around the list"}
		case !alike && x != "":
			return nil, &fault{node: n, message: "looks for " + kindName(x) + " in a list of other values"}
		}
	}
	return false, e.spend(len(in), n)
}

// kindName is kindOf, knowing numbers.
func kindName(v Value) string {
	switch v.(type) {
	case json.Number, number:
		return "a number"
	}
	return kindOf(v)
}
