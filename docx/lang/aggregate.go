package lang

import "strconv"

// aggregates make one value of the items of a list, or of what their second argument is for each item.
var aggregates = map[string]*function{
	"$sum": {
		usage: "$sum(items.price) or $sum(items, quantity * price)", arity: arity{1, 2},
		takes: []takes{{want: maybeList | aNumber}}, perItem: true, apply: sumItems,
	},
	"$average": {
		usage: "$average(items.price) or $average(items, quantity * price)", arity: arity{1, 2}, also: []string{"$avg", "$mean"},
		takes: []takes{{want: maybeList | aNumber}}, perItem: true, apply: fold(average),
	},
	"$min": {
		usage: "$min(items.price) or $min(items, quantity * price)", arity: arity{1, 2},
		takes: []takes{{want: maybeList | aNumber}}, perItem: true, apply: fold(least),
	},
	"$max": {
		usage: "$max(items.price) or $max(items, quantity * price)", arity: arity{1, 2},
		takes: []takes{{want: maybeList | aNumber}}, perItem: true, apply: fold(greatest),
	},
	"$count": {
		usage: "$count(items) or $count(items, price > 10)", arity: arity{1, 2},
		takes: []takes{{want: maybeList}, {}}, perItem: true, counts: true, apply: count,
	},
}

// itemsOf returns the items of a list that are not null, or v as a list of one.
func (e *Env) itemsOf(c *Call, v Value) ([]any, error) {
	list, ok := v.([]any)
	if !ok {
		return []any{v}, nil
	}
	return present(list), e.spend(len(list), c)
}

// fold returns a function over the numbers of a list.
func fold(f func([]number) Value) func(*Env, *Call, []Value) (Value, error) {
	return func(e *Env, c *Call, args []Value) (Value, error) {
		list, ok := args[0].([]any)
		if !ok {
			list = []any{args[0]}
		}
		if err := e.spend(len(list), c); err != nil {
			return nil, err
		}
		numbers := make([]number, 0, len(list))
		for i, item := range list {
			if item == nil {
				continue
			}
			x, ok := asNumber(item)
			if !ok {
				return nil, e.notNumber(c, i, item)
			}
			numbers = append(numbers, x)
		}
		return f(numbers), nil
	}
}

// notNumber returns the fault of an item of the list that c is computed of.
func (e *Env) notNumber(c *Call, i int, item Value) error {
	list, isPath := c.Args[0].(*Path)
	of, ofPath := c.Args[len(c.Args)-1].(*Path)
	if isPath && ofPath {
		at, ok := e.origin(list)
		if ok {
			at, _ = at.item(e, i)
		}
		if of != list {
			at.steps = of.itemSteps()
		}
		if at.path != "" && at.follow(e, false) {
			return &fault{node: of, message: notNumber(item), datum: at.path}
		}
	}
	return &fault{node: c, message: "needs numbers, but item " + strconv.Itoa(i+1) + " is " + kindOf(item)}
}

// sumItems is fold(sum), quickly where the numbers allow it.
func sumItems(e *Env, c *Call, args []Value) (Value, error) {
	items, err := e.itemsOf(c, args[0])
	if err != nil {
		return nil, err
	}
	if total, ok := smallSum(items); ok {
		return total.number(), nil
	}
	return fold(sum)(e, c, args)
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
	return sum(numbers).(number).over(wholeOf(len(numbers)))
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

// count returns the number of items that are not null, or for which the second argument is true; of anything but a list, 1.
func count(e *Env, c *Call, args []Value) (Value, error) {
	items, err := e.itemsOf(c, args[0])
	if len(c.Args) == 1 {
		return wholeValue(len(items)), err
	}
	n := 0
	for _, v := range items {
		if truth(v) {
			n++
		}
	}
	return wholeValue(n), err
}
