package importer

import (
	"encoding/json"
	"regexp"
	"strings"
)

// carboneConditions are the formatters that compare, with the operator; "" for those on whether there is a value.
var carboneConditions = map[string]string{
	"ifEQ": "==", "ifNE": "!=", "ifGT": ">", "ifGTE": ">=", "ifLT": "<", "ifLTE": "<=", "ifEM": "empty", "ifNEM": "some", "ifIN": "in",
}

// formatters reads the formatters of a tag, which are a chain: conditions, and what is shown if they are true.
type formatters struct {
	value, subject, condition *expr
	joint                     string // of the next condition with the one before it
	shown                     []*expr
	other                     *expr
	kind                      kind
}

func readFormatters(value *expr, pieces []string) command {
	f := formatters{value: value, subject: value}
	for _, piece := range pieces {
		name, arguments, _ := strings.Cut(strings.TrimSpace(piece), "(")
		args, err := carboneArguments(strings.TrimSuffix(strings.TrimSpace(arguments), ")"))
		if err == nil {
			err = f.add(strings.TrimSpace(name), args)
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

// compare adds a condition.
func (f *formatters) compare(operator string, args []*expr) error {
	var c *expr
	switch {
	case operator == "empty" || operator == "some":
		c = notEmpty(f.subject)
		if operator == "empty" {
			c = &expr{op: opNot, args: []*expr{c}}
		}
	case len(args) != 1 || operator == "in":
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
func carboneArguments(text string) ([]*expr, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var args []*expr
	for _, a := range splitOutside(text, ',') {
		a = strings.TrimSpace(a)
		switch {
		case strings.HasPrefix(a, ".") || strings.HasPrefix(a, "d.") || strings.HasPrefix(a, "c."):
			if a[0] == '.' {
				return nil, &cannot{"an argument is a path from the item", "write the condition in {{if …}}"}
			}
			e, err := carbonePath(a)
			if err != nil {
				return nil, err
			}
			args = append(args, e)
		case carboneNumberForm.MatchString(a):
			args = append(args, &expr{op: opLiteral, val: json.Number(a)})
		case a == "true" || a == "false":
			args = append(args, &expr{op: opLiteral, val: a == "true"})
		case strings.Trim(a, `'"‘’“”`) == a: // without quotes, blanks do not count
			args = append(args, &expr{op: opLiteral, val: strings.Join(strings.Fields(a), "")})
		default:
			args = append(args, &expr{op: opLiteral, val: strings.Trim(a, `'"‘’“”`)})
		}
	}
	return args, nil
}
