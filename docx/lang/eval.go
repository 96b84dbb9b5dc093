package lang

import (
	"encoding/json"
	"errors"
	"strings"

	"platen/docx/locale"
)

// eval returns the value of n: a value of [Decode], a computed number, or nil if it is missing. The error is a *fault or a *LimitError.
func (e *Env) eval(n Node) (Value, error) {
	if err := e.spend(1, n); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *Path:
		v := e.lookup(n)
		if v == nil && n.folded {
			v, _ = e.lookupFolded(n)
		}
		if v == nil {
			e.missing = append(e.missing, n)
		}
		return v, nil
	case *Literal:
		return n.Value, nil
	case *List:
		return e.itemsIn(n)
	case *Unary:
		return e.unary(n)
	case *Binary:
		return e.binary(n)
	case *Presence:
		known := len(e.missing)
		v, err := e.eval(n.X)
		e.excuse(known)
		return (v == nil) == n.Not, err
	case *Call:
		return e.call(n)
	case *Index:
		return e.index(n)
	case *Filtered:
		return e.filteredOperand(n)
	}
	return nil, &fault{node: n, message: "is not an expression"}
}

// itemsIn returns the values of a list that is written out.
func (e *Env) itemsIn(n *List) (Value, error) {
	values := make([]any, len(n.Items))
	for i, item := range n.Items {
		var err error
		if values[i], err = e.eval(item); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// index returns the value at a key or position that is computed.
func (e *Env) index(n *Index) (Value, error) {
	base, err := e.eval(n.Base)
	if base == nil || err != nil {
		return nil, err
	}
	key, err := e.eval(n.Key)
	if key == nil || err != nil {
		return nil, err
	}
	text, ok := scalarText(key)
	if !ok {
		return nil, &fault{node: n.Key, message: "is " + kindOf(key) + ", not a key or a position"}
	}
	if err := e.checkParallel(n, base); err != nil {
		return nil, err
	}
	var v Value
	switch base := base.(type) {
	case *Object:
		v = base.Get(text)
	case []any:
		if _, isNumber := asNumber(key); isNumber {
			at, err := wholeNumber(n.Key, key, -maxWhole, maxWhole)
			if err != nil {
				return nil, err
			}
			if at >= 0 { // a computed position below the first one does not count from the end
				v = itemAt(base, at)
			}
		} else {
			v = e.descend(base, []Step{{Key: text}})
		}
	}
	if v = e.descend(v, n.Steps); v == nil {
		e.missing = append(e.missing, n.name)
	}
	return v, e.spend(len(text)/bytesPerStep, n)
}

// filteredOperand returns the value of an operand with its filters.
func (e *Env) filteredOperand(n *Filtered) (Value, error) {
	subject, handled := e.subject, e.handled
	e.subject, e.handled = n.X, len(e.missing)
	defer func() { e.subject, e.handled = subject, handled }()
	v, err := e.eval(n.X)
	for i := range n.Filters {
		if err != nil {
			return nil, err
		}
		f := &n.Filters[i]
		v, err = f.fn.apply(e, f, v)
	}
	return v, err
}

func (e *Env) unary(n *Unary) (Value, error) {
	v, err := e.eval(n.X)
	if err != nil {
		return nil, err
	}
	if n.Op == "not" {
		return !e.isTrue(n.X, v), nil
	}
	if v == nil {
		return nil, nil
	}
	x, err := operand(n.X, v)
	return number{x.Neg(), x.rounded}, err
}

func (e *Env) binary(n *Binary) (Value, error) {
	known := len(e.missing)
	l, err := e.eval(n.L)
	if err != nil {
		return nil, err
	}
	if n.printed {
		e.doubtPrinted(l)
	}
	if n.Op == "and" && !e.isTrue(n.L, l) || n.Op == "or" && e.isTrue(n.L, l) {
		return n.Op == "or", nil
	}
	r, err := e.eval(n.R)
	if err != nil {
		return nil, err
	}
	switch n.strength() {
	case strengthOr, strengthAnd:
		if n.printed {
			e.doubtPrinted(r)
		}
		return e.isTrue(n.R, r), nil
	case strengthCompare:
		if isNull(n.L) || isNull(n.R) { // asks whether the other one is missing
			e.excuse(known)
		}
		return e.compare(n, l, r)
	}
	return e.arithmetic(n, l, r)
}

// markPrinted marks the operators and, or in an expression whose value is printed.
func markPrinted(n Node) {
	if b, ok := n.(*Binary); ok && b.strength() <= strengthAnd {
		b.printed = true
		markPrinted(b.L)
		markPrinted(b.R)
	}
}

// doubtPrinted warns about the operators and, or that are printed if v, the value of an operand, is a string or a number: other languages
// would return it.
func (e *Env) doubtPrinted(v Value) {
	switch v.(type) {
	case string, json.Number, number:
	default:
		return
	}
	hint := "to choose a value, write $if(condition, value, otherwise)"
	if n, ok := e.tag.Expr.(*Binary); ok && n.Op == "or" {
		l, r := "a", "b"
		if isPath(n.L) && isPath(n.R) {
			l, r = n.L.String(), n.R.String()
		}
		hint = "for the first value that is not missing, write " + l + " :: default(" + r + "); for one that is not empty either, write $if(" +
			l + ", " + l + ", " + r + ")"
	}
	e.doubt("'" + e.tag.Expr.String() + "' prints true or false; " + hint + ".")
}

// arithmetic returns l op r, missing if either is.
func (e *Env) arithmetic(n *Binary, l, r Value) (Value, error) {
	if l == nil || r == nil {
		return nil, nil
	}
	if x, ok := asSmall(l); ok {
		if y, ok := asSmall(r); ok {
			if z, ok := x.calculate(n.Op, y); ok {
				return z.number(), nil
			}
		}
	}
	x, err := operand(n.L, l)
	if err != nil {
		return nil, joining(n, err)
	}
	y, err := operand(n.R, r)
	if err != nil {
		return nil, joining(n, err)
	}
	if y.IsZero() && (n.Op == "/" || n.Op == "%") {
		return nil, &fault{node: n, message: "divides by zero"}
	}
	z := calculate(n.Op, x, y)
	if !z.fits() {
		return nil, &fault{node: n, message: "is a number with too many digits"}
	}
	return z, nil
}

// joining adds to the fault of an operand of + what joins strings.
func joining(n *Binary, err error) error {
	if f, ok := errors.AsType[*fault](err); ok && n.Op == "+" {
		return &fault{node: f.node, message: f.message + "; $string joins strings"}
	}
	return err
}

func calculate(op string, x, y number) number {
	rounded := x.rounded || y.rounded
	switch op {
	case "+":
		return number{x.Add(y.Decimal), rounded}
	case "-":
		return number{x.Sub(y.Decimal), rounded}
	case "*":
		return number{x.Mul(y.Decimal), rounded}
	case "%":
		return number{x.Mod(y.Decimal), rounded}
	}
	return x.over(y)
}

// operand returns v, the value of n, as a number.
func operand(n Node, v Value) (number, error) {
	if l, ok := n.(*Literal); ok {
		if _, ok := l.Value.(json.Number); ok {
			return l.num, nil
		}
	}
	if x, ok := asNumber(v); ok {
		return x, nil
	}
	if _, ok := v.(json.Number); ok {
		return number{}, &fault{node: n, message: "is " + kindOf(v)}
	}
	return number{}, &fault{node: n, message: notNumber(v)}
}

// maxReadable is the maximum length of a text in which a report looks for a number.
const maxReadable = 100

// notNumber completes a sentence about a value that is not a number, with the function that reads the number in a text such as "$1,234.50".
func notNumber(v Value) string {
	message := "is " + kindOf(v) + ", not a number"
	if s, ok := v.(string); ok && len(s) <= maxReadable {
		if _, _, isRead := locale.Default().ReadNumber(s); isRead {
			message += "; the function $value reads the number in it"
		}
	}
	return message
}

// kindOf names the kind of v, which cannot be printed if it is a number; values themselves are not repeated in reports.
func kindOf(v Value) string {
	switch v := v.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case *Object:
		return "an object"
	case moment:
		return "a date"
	case nil:
		return "missing"
	case *entry:
		return kindName(v.value)
	}
	return "a number with too many digits"
}

// Truth reports whether a value counts as true: all do but nil, false, 0, "", and the empty list.
func Truth(v Value) bool { return truth(v) }

// truth is Truth, of computed values too.
func truth(v Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		return !isZero(string(v))
	case number:
		return !v.IsZero()
	case []any:
		return len(v) > 0
	}
	return true
}

// isTrue is truth for the value of n in a condition. It warns about strings that mean false, but count as true.
func (e *Env) isTrue(n Node, v Value) bool {
	if s, ok := v.(string); ok && MeansFalse(s) {
		e.doubtAbout(n, "The value of '"+n.String()+"' is the string \""+s+"\", which counts as true.")
	}
	return truth(v)
}

// MeansFalse reports whether a string is how programs write false: false, no, off, or the number 0.
func MeansFalse(s string) bool {
	if len(s) > len("false") || s == "" {
		return false
	}
	if s[0] == '0' {
		x, ok := parseNumber(s)
		return ok && x.IsZero()
	}
	return strings.EqualFold(s, "false") || strings.EqualFold(s, "no") || strings.EqualFold(s, "off")
}

// isZero reports whether a JSON number is 0, however written.
func isZero(s string) bool {
	for i := range len(s) {
		if '1' <= s[i] && s[i] <= '9' {
			return false
		}
		if s[i]|0x20 == 'e' {
			break
		}
	}
	return true
}
