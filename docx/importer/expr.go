package importer

import "errors"

// expr is an expression of another language.
type expr struct {
	op   operation
	name string  // of a key, function, filter, or test, or the operator
	val  any     // of a literal: string, json.Number, bool, or nil
	args []*expr // the operands; of members, calls, filters, and tests, the first is what they are applied to
}

type operation int

const (
	opName    operation = iota // a key or variable
	opMember                   // args[0].name
	opIndex                    // args[0][args[1]]
	opLiteral                  // val
	opList                     // [args…]
	opObject                   // {name: value, …}: the names are the literals at even positions of args
	opNot                      // not args[0]
	opNegate                   // -args[0]
	opBinary                   // args[0] name args[1]
	opChoice                   // args[0] ? args[1] : args[2]
	opCall                     // args[0](args[1:]…)
	opFilter                   // args[0] | name(args[1:]…)
	opTest                     // args[0] is name
	opArrow                    // a function with the result args[0]; its parameter is name
)

// cannot is the reason why a tag has no equivalent, with the advice what to write instead.
type cannot struct{ reason, advice string }

func (c *cannot) Error() string { return c.reason }

// asCannot returns the reason and the advice of an error.
func asCannot(err error) *cannot {
	if c, ok := errors.AsType[*cannot](err); ok {
		return c
	}
	return &cannot{reason: err.Error()}
}

// step is one step of a path.
type step struct {
	key     string
	index   int
	isIndex bool
}

// steps returns the path that an expression is; ok is false if it is something else.
func (e *expr) steps() (path []step, ok bool) {
	switch e.op {
	case opName:
		return []step{{key: e.name}}, true
	case opMember:
		path, ok = e.args[0].steps()
		return append(path, step{key: e.name}), ok
	case opIndex:
		path, ok = e.args[0].steps()
		n, key, isIndex := literalIndex(e.args[1])
		if !isIndex && key == "" {
			return nil, false
		}
		return append(path, step{key: key, index: n, isIndex: isIndex}), ok
	}
	return nil, false
}

// isLogical reports whether an expression is certainly true or false.
func (e *expr) isLogical() bool {
	_, isBool := e.val.(bool)
	return e.op == opNot || e.op == opTest || isBool || e.op == opBinary && (binaries[e.name] == comparison || e.name == "!=")
}

// isText reports whether an expression is certainly a string.
func (e *expr) isText() bool {
	switch e.op {
	case opLiteral:
		_, ok := e.val.(string)
		return ok
	case opBinary:
		return e.name == "+" && (e.args[0].isText() || e.args[1].isText()) || e.name == "~"
	}
	return false
}

// rename changes the names in an expression.
func (e *expr) rename(to func(string) string) {
	if e == nil {
		return
	}
	if e.op == opName {
		e.name = to(e.name)
	}
	for _, a := range e.args {
		a.rename(to)
	}
}

// with returns an expression with other expressions in place of names; nil leaves a name as it is.
func (e *expr) with(instead func(name string) *expr) *expr {
	if e.op == opName {
		if other := instead(e.name); other != nil {
			return other
		}
	}
	c := *e
	c.args = nil
	for _, a := range e.args {
		c.args = append(c.args, a.with(instead))
	}
	return &c
}
