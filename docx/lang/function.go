package lang

import (
	"maps"
	"slices"
)

// function is the definition of a function, whose name begins with $.
type function struct {
	arity
	usage string   // how it is written, for hints
	also  []string // what other tools call it

	takes []takes // the uses of its arguments; the last one is for all further arguments
	byKey bool    // reads the keys that its arguments name instead: see collector.lookUp

	// apply returns the result for arguments, none of which is missing. A function of a missing argument is missing.
	apply func(e *Env, c *Call, args []Value) (Value, error)
	// choose returns the result of a function that does not need all its arguments. It has no apply.
	choose func(e *Env, c *Call) (Value, error)
	// perItem means that the second argument is computed for each item of the first, with the item's keys as innermost
	// names; apply then gets the list of what that gave.
	perItem bool
	counts  bool // depends only on the number of items
	text    bool // gives no number
	blanks  bool // missing arguments are empty texts
}

// functionTable holds every function by its name.
var functionTable = functionTables(aggregates, choices, numberFunctions, dateFunctions, textFunctions, wordFunctions)

func functionTables(tables ...map[string]*function) map[string]*function {
	all := map[string]*function{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// Functions returns the names of all functions, with their $, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(functionTable)) }

// isBare reports whether a name belongs to a function that is written without parentheses.
func isBare(name string) bool { return bareFunctions[name] }

// bareFunctions are the functions that take no arguments.
var bareFunctions = map[string]bool{"$now": true, "$today": true}

func (e *Env) call(c *Call) (Value, error) {
	if c.fn.choose != nil {
		return c.fn.choose(e, c)
	}
	args := make([]Value, 0, len(c.Args))
	known := len(e.missing)
	for i, arg := range c.Args {
		if c.fn.perItem && i == 1 {
			list, err := e.perItem(c, args[0])
			if list == nil || err != nil {
				return nil, err
			}
			return c.fn.apply(e, c, []Value{list})
		}
		v, err := e.eval(arg)
		if v == nil && c.fn.blanks {
			e.overlooked(known)
			v = ""
		}
		if v == nil || err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return c.fn.apply(e, c, args)
}

// perItem returns the values of the second argument of c for the items of the first one, or nil if all are missing.
func (e *Env) perItem(c *Call, list Value) (Value, error) {
	items, err := e.listOf(list)
	if err != nil {
		return nil, err
	}
	values, err := e.itemValues(c.Args[1], items)
	if err != nil || len(items) > 0 && len(present(values)) == 0 {
		return nil, err
	}
	if len(items) > 0 && e.isOutside(c.Args[1], items) {
		return nil, &fault{node: c.Args[1], message: "is the same for all items; for the values themselves, write " + c.ofList()}
	}
	return values, nil
}

// isOutside reports whether all that an expression for items reads is outside of them.
func (e *Env) isOutside(n Node, items []Value) bool {
	e.enter(items)
	defer e.leave()
	outside := true
	reads(n, true, func(p *Path, _ bool) {
		_, isItem := e.inItems(p)
		outside = outside && !isItem && e.lookup(p) != nil
	})
	return outside
}

// present returns the values that are not missing.
func present(values []Value) []Value {
	kept := make([]Value, 0, len(values))
	for _, v := range values {
		if v != nil {
			kept = append(kept, v)
		}
	}
	return kept
}
