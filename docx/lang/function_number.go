package lang

import "strings"

// maxPlaces is the largest number of decimals that $round rounds to.
const maxPlaces = 999

// numberFunctions compute with a number.
var numberFunctions = map[string]*function{
	"$round":  {usage: "$round(x) or $round(x, 2)", arity: arity{1, 2}, takes: []takes{{want: aNumber}}, apply: round},
	"$floor":  {usage: "$floor(x)", arity: arity{1, 1}, takes: []takes{{want: aNumber}}, apply: single(floor)},
	"$ceil":   {usage: "$ceil(x)", arity: arity{1, 1}, also: []string{"$ceiling"}, takes: []takes{{want: aNumber}}, apply: single(ceil)},
	"$abs":    {usage: "$abs(x)", arity: arity{1, 1}, takes: []takes{{want: aNumber}}, apply: single(abs)},
	"$number": {usage: "$number(x)", arity: arity{1, 1}, takes: []takes{{want: aNumber}}, apply: single(same)},
}

// single returns a function of one number.
func single(f func(number) number) func(*Env, *Call, []Value) (Value, error) {
	return func(_ *Env, c *Call, args []Value) (Value, error) {
		x, err := operand(c.Args[0], args[0])
		if err != nil {
			return nil, err
		}
		return f(x), nil
	}
}

func floor(x number) number { return number{Decimal: x.shown().Floor()} }

func ceil(x number) number { return number{Decimal: x.shown().Ceil()} }

func abs(x number) number { return number{x.Abs(), x.rounded} }

func same(x number) number { return x }

// round returns the first argument with as many decimals as the second says, none by default; halves go away from
// zero. Fewer than none rounds to tens, hundreds and so on.
func round(_ *Env, c *Call, args []Value) (Value, error) {
	x, err := operand(c.Args[0], args[0])
	if err != nil || len(args) < 2 {
		return number{Decimal: x.shown().Round(0)}, err
	}
	if s, ok := args[1].(string); ok && strings.Trim(s, "#0,.") == "" && len(s) > 1 {
		return nil, &fault{node: c.Args[1],
			message: "is a number format, not a number of decimals, such as 2; write value :: format(" + quote(s) + ")"}
	}
	places, err := wholeNumber(c.Args[1], args[1], -maxPlaces, maxPlaces)
	if err != nil {
		return nil, err
	}
	return number{Decimal: x.shown().Round(int32(places))}, nil
}
