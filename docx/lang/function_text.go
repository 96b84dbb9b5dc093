package lang

import (
	"strings"
	"unicode/utf8"
)

// textFunctions make texts, or look values up.
var textFunctions = map[string]*function{
	"$string": {
		usage: `$string(first, " ", last)`, arity: arity{1, many}, also: []string{"$concat", "$text"},
		takes: []takes{{want: aScalar}}, text: true, apply: concatenate,
	},
	"$join": {
		usage: `$join(names), $join(names, "; ") or $join(names, ", ", " and ")`, arity: arity{1, 3},
		takes: []takes{{want: maybeList | aScalar}, {want: aScalar}}, text: true, apply: joinItems,
	},
	"$length": {
		usage: "$length(text) or $length(list)", arity: arity{1, 1}, also: []string{"$len"},
		takes: []takes{{examples: []Value{"text"}}}, counts: true, apply: length,
	},
	"$lookup": {
		usage: `$lookup(object, "key"), $lookup(list, "key", value) or $lookup(list, "key", value, "other")`, arity: arity{2, 4},
		also: []string{"$vlookup", "$xlookup"}, byKey: true, text: true, apply: lookUp,
	},
}

// concatenate returns its arguments as one text.
func concatenate(e *Env, c *Call, args []Value) (Value, error) {
	var b strings.Builder
	for i, arg := range args {
		s, ok := scalarText(arg)
		if !ok {
			return nil, &fault{node: c.Args[i], message: "is " + kindOf(arg) + ", not text"}
		}
		if err := e.grow(len(s)); err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	return e.made(b.String())
}

// length returns the number of characters of a text, else of items.
func length(e *Env, c *Call, args []Value) (Value, error) {
	if list, ok := args[0].([]any); ok {
		return wholeValue(len(present(list))), e.spend(len(list), c)
	}
	s, ok := scalarText(args[0])
	if !ok {
		return nil, &fault{node: c.Args[0], message: "is " + kindOf(args[0]) + ", not text or a list"}
	}
	return wholeValue(utf8.RuneCountInString(s)), e.spend(len(s)/bytesPerStep, c)
}

// joinItems returns the items of a list as one text with the second argument, or ", ", between them, and the third, if there
// is one, between the last two.
func joinItems(e *Env, c *Call, args []Value) (Value, error) {
	list, ok := args[0].([]any)
	if !ok {
		list = []any{args[0]}
	}
	separators := make([]*string, 2)
	for i, arg := range args[1:] {
		s, ok := scalarText(arg)
		if !ok {
			return nil, &fault{node: c.Args[i+1], message: "is " + kindOf(arg) + ", not text"}
		}
		separators[i] = &s
	}
	return e.printList(c, list, separators[0], separators[1])
}

// lookUp returns, with two arguments, the value of an object at the key in the second argument, or the values of all
// objects in a list, as in JSONata. With three arguments, it returns the first item of the list whose value at the key
// equals the third argument, and with four arguments that item's value at the fourth. Keys may be paths with dots.
func lookUp(e *Env, c *Call, args []Value) (Value, error) {
	key, err := lookupSteps(c.Args[1], args[1])
	if err != nil {
		return nil, err
	}
	if len(args) == 2 {
		return e.descend(args[0], key), nil
	}
	items, err := e.listOf(args[0])
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if v := e.descend(item, key); v == nil || !equal(v, args[2]) {
			continue
		}
		if len(args) == 3 {
			return item, nil
		}
		field, err := lookupSteps(c.Args[3], args[3])
		v := e.descend(item, field)
		if v == nil {
			e.suspectKey(c, items, field)
		}
		return v, err
	}
	e.suspectKey(c, items, key)
	return nil, nil
}

// suspectKey warns about a key of $lookup that no item has.
func (e *Env) suspectKey(c *Call, items []Value, key []Step) {
	if !e.mayHave(items, stepKeys(key)) {
		e.doubt("No item of '" + c.Args[0].String() + "' has the key '" + pathText(key) + "'.")
	}
}

// lookupSteps returns the steps of a path that is spelled in a value.
func lookupSteps(n Node, v Value) ([]Step, error) {
	s, ok := scalarText(v)
	if !ok {
		return nil, &fault{node: n, message: "is " + kindOf(v) + ", not the name of a key"}
	}
	keys := strings.SplitN(s, ".", MaxPath+1)
	if len(keys) > MaxPath {
		return nil, &fault{node: n, message: "names too many keys"}
	}
	steps := make([]Step, len(keys))
	for i, key := range keys {
		steps[i] = Step{Key: key}
	}
	return steps, nil
}
