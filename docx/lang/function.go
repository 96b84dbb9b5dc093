package lang

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// function is what a name with a $ does: apply gives its value for the values of the arguments, of which the first is
// never missing; a function of something missing is missing.
type function struct {
	arity
	apply  func(e *Env, c *Call, args []Value) (Value, error)
	counts bool // looks only at how many there are
}

// functionTable holds every function by its name.
var functionTable = map[string]*function{
	"$sum":     {arity: arity{1, 1}, apply: fold(sum)},
	"$average": {arity: arity{1, 1}, apply: fold(average)},
	"$min":     {arity: arity{1, 1}, apply: fold(least)},
	"$max":     {arity: arity{1, 1}, apply: fold(greatest)},
	"$count":   {arity: arity{1, 1}, apply: count, counts: true},
	"$length":  {arity: arity{1, 1}, apply: length, counts: true},
	"$round":   {arity: arity{1, 2}, apply: round},
	"$floor":   {arity: arity{1, 1}, apply: single(floor)},
	"$ceil":    {arity: arity{1, 1}, apply: single(ceil)},
	"$abs":     {arity: arity{1, 1}, apply: single(abs)},
	"$join":    {arity: arity{1, 2}, apply: joinItems},
}

func (e *Env) call(c *Call) (Value, error) {
	args := make([]Value, len(c.Args))
	for i, arg := range c.Args {
		v, err := e.eval(arg)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, nil
		}
		args[i] = v
	}
	return c.fn.apply(e, c, args)
}

// items returns the items of a list that are not null, or v as a list of one.
func (e *Env) items(c *Call, v Value) ([]any, error) {
	list, ok := v.([]any)
	if !ok {
		return []any{v}, nil
	}
	items := make([]any, 0, len(list))
	for _, item := range list {
		if item != nil {
			items = append(items, item)
		}
	}
	return items, e.spend(len(list), c)
}

// fold returns a function over the numbers of a list.
func fold(f func([]number) Value) func(*Env, *Call, []Value) (Value, error) {
	return func(e *Env, c *Call, args []Value) (Value, error) {
		items, err := e.items(c, args[0])
		if err != nil {
			return nil, err
		}
		numbers := make([]number, len(items))
		for i, item := range items {
			x, ok := asNumber(item)
			if !ok {
				return nil, &fault{c, "needs numbers, but item " + strconv.Itoa(i+1) + " is " + kindOf(item)}
			}
			numbers[i] = x
		}
		return f(numbers), nil
	}
}

func sum(numbers []number) Value {
	var total number
	for _, x := range numbers {
		total = calculate("+", total, x)
	}
	return total
}

func average(numbers []number) Value {
	if len(numbers) == 0 {
		return nil
	}
	n, _ := parseNumber(strconv.Itoa(len(numbers)))
	return sum(numbers).(number).over(n)
}

func least(numbers []number) Value { return best(numbers, -1) }

func greatest(numbers []number) Value { return best(numbers, 1) }

// best returns the number that compares to all others as sign says, the first of equals; nil of none.
func best(numbers []number, sign int) Value {
	if len(numbers) == 0 {
		return nil
	}
	found := numbers[0]
	for _, x := range numbers[1:] {
		if x.compare(found) == sign {
			found = x
		}
	}
	return found
}

// count returns the number of items that are not null; of anything but a list, 1.
func count(e *Env, c *Call, args []Value) (Value, error) {
	items, err := e.items(c, args[0])
	return json.Number(strconv.Itoa(len(items))), err
}

// length returns the number of characters of a text, else of items.
func length(e *Env, c *Call, args []Value) (Value, error) {
	if _, list := args[0].([]any); list {
		return count(e, c, args)
	}
	s, ok := scalarText(args[0])
	if !ok {
		return nil, &fault{c.Args[0], "is " + kindOf(args[0]) + ", not text or a list"}
	}
	return json.Number(strconv.Itoa(utf8.RuneCountInString(s))), nil
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

// round returns the first argument with as many decimals as the second says, none by default; halves go away from
// zero. Fewer than none rounds to tens, hundreds and so on.
func round(_ *Env, c *Call, args []Value) (Value, error) {
	x, err := operand(c.Args[0], args[0])
	if err != nil || len(args) < 2 {
		return number{Decimal: x.shown().Round(0)}, err
	}
	places, err := operand(c.Args[1], args[1])
	if err != nil {
		return nil, err
	}
	if !places.IsInteger() || !places.fits() || places.magnitude() > 3 {
		return nil, &fault{c.Args[1], "is not a number of decimals between -999 and 999"}
	}
	return number{Decimal: x.shown().Round(int32(places.IntPart()))}, nil
}

// joinItems returns the items of a list as one text with the second argument, or ", ", between them.
func joinItems(e *Env, c *Call, args []Value) (Value, error) {
	list, ok := args[0].([]any)
	if !ok {
		list = []any{args[0]}
	}
	if len(args) == 1 {
		return e.printList(c, list, nil, nil)
	}
	sep, ok := scalarText(args[1])
	if !ok {
		return nil, &fault{c.Args[1], "is " + kindOf(args[1]) + ", not text"}
	}
	return e.printList(c, list, &sep, nil)
}
