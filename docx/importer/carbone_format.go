package importer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// carboneConditions are the formatters that compare, with the operator; "" for those on whether there is a value.
var carboneConditions = map[string]string{
	"ifEQ": "==", "ifNE": "!=", "ifGT": ">", "ifGTE": ">=", "ifLT": "<", "ifLTE": "<=", "ifEM": "empty", "ifNEM": "some", "ifIN": "in",
	"ifNIN": "not in",
}

// formatters reads the formatters of a tag, which are a chain: conditions, and what is shown if they are true.
type formatters struct {
	path, value, subject, condition *expr
	joint                           string // of the next condition with the one before it
	shown                           []*expr
	other                           *expr
	kind                            kind
}

func readFormatters(value *expr, pieces []string) command {
	f := formatters{path: value, value: value, subject: value}
	if path, ok := value.steps(); ok && len(pieces) == 0 && len(path) == 2 && path[0].key == "c" && path[1].key == "now" {
		f.value = &expr{op: opFilter, name: "\x00now", args: []*expr{value}}
	}
	for _, piece := range pieces {
		name, arguments, _ := strings.Cut(strings.TrimSpace(piece), "(")
		args, err := carboneArguments(value, strings.TrimSuffix(strings.TrimSpace(arguments), ")"))
		if err == nil {
			err = f.add(squeeze(name), args)
		}
		if err != nil {
			return command{kind: f.kind, err: err}
		}
	}
	switch {
	case f.kind == kEnd:
		return command{kind: kEnd}
	case f.kind != kPrint:
		return command{kind: f.kind, expr: f.condition}
	case f.value.op == opFilter && strings.HasSuffix(f.value.name, "D") && f.value.name != "formatD":
		return command{err: &cannot{"it prints a date in a form of its own", "write {{x :: add(\"+1 day\") :: date(\"long\")}}"}}
	case f.value.isUnrounded():
		return command{err: &cannot{"it prints up to 17 digits of a quotient, and Infinity for a division by zero",
			"write {{a / b :: format(\"0.00\")}}"}}
	case len(f.shown) == 0 && f.condition != nil:
		return command{err: &cannot{"the condition shows nothing", "write {{if condition}} … {{endif}}"}}
	}
	result := f.value
	if f.other != nil {
		result = f.other
	}
	for i := len(f.shown) - 2; i >= 0; i -= 2 {
		result = &expr{op: opChoice, args: []*expr{f.shown[i], f.shown[i+1], result}}
	}
	return command{kind: kPrint, expr: result}
}

var rounding = []string{"formatN", "toFixed", "round", "ceil", "floor"}

// isUnrounded reports whether a value is a quotient that can have more digits than Carbone prints.
func (e *expr) isUnrounded() bool {
	switch {
	case e.op == opFilter && slices.Contains(rounding, e.name):
		return false
	case (e.op == opFilter && e.name == "div" || e.op == opBinary && e.name == "/") && len(e.args) > 1 && !isFactorOfTen(e.args[1]):
		return true
	}
	return slices.ContainsFunc(e.args, (*expr).isUnrounded)
}

// isFactorOfTen reports whether a divisor is written out as a number that a power of ten is a multiple of.
func isFactorOfTen(e *expr) bool {
	n, ok := e.val.(json.Number)
	if !ok {
		return false
	}
	x, err := n.Int64()
	for _, factor := range []int64{2, 5} {
		for x != 0 && x%factor == 0 {
			x /= factor
		}
	}
	return err == nil && (x == 1 || x == -1)
}

// add reads one formatter.
func (f *formatters) add(name string, args []*expr) error {
	operator, isCondition := carboneConditions[name]
	switch {
	case isCondition:
		return f.compare(operator, args)
	case name == "and" || name == "or":
		if f.joint, f.subject = name, f.value; len(args) > 0 {
			f.subject = args[0]
		}
	case name == "show" && len(args) == 1 && f.condition != nil:
		f.shown = append(f.shown, f.condition, args[0])
		f.condition, f.subject = nil, f.value
	case name == "ifEqual" && len(args) == 2 && f.condition == nil:
		f.shown = append(f.shown, &expr{op: opBinary, name: "==", args: []*expr{f.subject, args[0]}}, args[1])
	case name == "print" && len(args) == 1 && f.condition == nil:
		f.other = args[0]
	case name == "count" && len(args) <= 1 && f.value == f.path && len(f.shown) == 0:
		return f.count(args)
	case name == "elseShow" && len(args) == 1:
		f.other = args[0]
	case name == "showBegin" || name == "hideBegin":
		if f.kind = kIf; name == "hideBegin" {
			f.kind = kUnless
		}
		if f.condition == nil {
			f.condition = f.value
		}
	case name == "showEnd" || name == "hideEnd":
		f.kind = kEnd
	case len(f.shown) > 0 || f.condition != nil:
		return &cannot{"the formatter " + name + " applies to the result of a condition", "write {{if condition}} … {{else}} … {{endif}}"}
	default:
		f.value = &expr{op: opFilter, name: name, args: append([]*expr{f.value}, args...)}
		f.subject = f.value
	}
	return nil
}

// count is the position in the loop of the path, from 1 or another number.
func (f *formatters) count(args []*expr) error {
	loops := 0
	path, _ := f.path.steps()
	for _, s := range path {
		if s.isLoop() {
			loops++
		}
	}
	position := &expr{op: opName, name: positionKey, args: []*expr{f.path}}
	switch first, ok := literalArgument(args); {
	case loops != 1:
		return &cannot{"it counts the items of several loops, or of none", "write {{loop.number}}"}
	case len(args) == 0 || ok && first == 1:
	case ok && first == 0:
		position.name = indexKey
	default:
		return &cannot{"the count does not begin with 0 or 1", "write {{loop.index + 5}}"}
	}
	f.value, f.subject = position, position
	return nil
}

// The keys of the position in a loop, from 1 and from 0.
const (
	positionKey = "\x00number"
	indexKey    = "\x00index"
)

// compare adds a condition.
func (f *formatters) compare(operator string, args []*expr) error {
	var c *expr
	switch {
	case operator == "empty" || operator == "some":
		c = notEmpty(f.subject)
		if operator == "empty" {
			c = &expr{op: opNot, args: []*expr{c}}
		}
	case (operator == "in" || operator == "not in") && len(args) == 1:
		c = &expr{op: opFilter, name: "\x00contains", args: []*expr{f.subject, args[0]}}
		if operator == "not in" {
			c = &expr{op: opBinary, name: "and", args: []*expr{
				{op: opTest, name: "defined", args: []*expr{f.subject}}, {op: opNot, args: []*expr{c}},
			}}
		}
	case len(args) != 1 || args[0].op == opLiteral && (args[0].val == "null" || args[0].val == "undefined"):
		return &cannot{"the condition has no exact equivalent", "write {{if condition}} … {{endif}}"}
	default:
		c = &expr{op: opBinary, name: operator, args: []*expr{f.subject, args[0]}}
	}
	if f.condition != nil {
		joint := f.joint
		if joint == "" {
			joint = "and"
		}
		c = &expr{op: opBinary, name: joint, args: []*expr{f.condition, c}}
	}
	f.condition, f.joint = c, ""
	return nil
}

var carboneNumberForm = regexp.MustCompile(`^-?\d+(?:\.\d+)?$`)

// carboneArguments reads the arguments of a formatter. Text needs no quotes.
func carboneArguments(value *expr, text string) ([]*expr, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	pieces := splitOutside(text, ',')
	args := make([]*expr, len(pieces))
	for i, a := range pieces {
		var err error
		if args[i], err = carboneArgument(value, strings.TrimSpace(a)); err != nil {
			return nil, err
		}
	}
	return args, nil
}

var (
	calculation  = regexp.MustCompile(`^[-\s]*[\w.\p{L}]+(?:\s*[-+*/]\s*[\w.\p{L}]+)+$`)
	relativePath = regexp.MustCompile(`\.+[\pL_][\pL\w]*(?:\.[\pL_][\pL\w]*)*`)
)

func carboneArgument(value *expr, a string) (*expr, error) {
	switch {
	case calculation.MatchString(a) && relativePath.MatchString(a):
		return carboneCalculation(value, a)
	case strings.HasPrefix(a, "."):
		return relative(value, squeeze(a))
	case strings.HasPrefix(a, "d.") || strings.HasPrefix(a, "c."):
		return carbonePath(a)
	case carboneNumberForm.MatchString(squeeze(a)):
		return carboneLiteral(squeeze(a)), nil
	case strings.Trim(a, `'"‘’“”`) == a: // without quotes, blanks do not count
		return carboneLiteral(strings.Join(strings.Fields(a), "")), nil
	}
	return &expr{op: opLiteral, val: strings.Trim(a, `'"‘’“”`)}, nil
}

// carboneCalculation reads a calculation with paths from the value.
func carboneCalculation(value *expr, a string) (*expr, error) {
	var paths []*expr
	var failed error
	text := relativePath.ReplaceAllStringFunc(squeeze(a), func(p string) string {
		e, err := relative(value, p)
		if err != nil {
			failed = err
		}
		paths = append(paths, e)
		return "$" + strings.Repeat("p", len(paths))
	})
	if failed != nil {
		return nil, failed
	}
	e, err := javascript.parse(text)
	if err != nil {
		return nil, err
	}
	return e.with(func(name string) *expr {
		if n := len(strings.TrimPrefix(name, "$")); strings.HasPrefix(name, "$p") && n <= len(paths) {
			return paths[n-1]
		}
		return nil
	}), nil
}
