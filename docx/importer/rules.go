package importer

import (
	"encoding/json"
	"strconv"
	"strings"

	"platen/docx/lang"
)

// errArguments is the reason for arguments that a filter of Platen does not have.
var errArguments = &cannot{"its arguments have no equivalent", "write the filter of Platen for it (docs/templates.md#filters)"}

// filter returns a rule for a filter of Platen without arguments.
func filter(names ...string) rule {
	return func(_ *writer, o operand, args []*expr) (operand, error) {
		if len(args) > 0 {
			return operand{}, errArguments
		}
		return o.with(names...), nil
	}
}

// with returns the operand with more filters.
func (o operand) with(filters ...string) operand {
	o.filters = append(append([]string{}, o.filters...), filters...)
	return o
}

// filterWith returns a rule for a filter of Platen that takes the same arguments, at least as many as said. If there are none, it gets
// the literals.
func filterWith(name string, least int, literals ...string) rule {
	return func(w *writer, o operand, args []*expr) (operand, error) {
		if len(args) == 0 && len(literals) > 0 {
			return o.with(name + "(" + strings.Join(literals, ", ") + ")"), nil
		}
		if len(args) < least || len(args) > 2 || hasNamed(args) {
			return operand{}, errArguments
		}
		text, err := w.list(args)
		if len(args) > 0 {
			name := name + "(" + text + ")"
			return o.with(name), err
		}
		return o.with(name), err
	}
}

func hasNamed(args []*expr) bool {
	for _, a := range args {
		if a.op == opTest && strings.HasSuffix(a.name, "=") {
			return true
		}
	}
	return false
}

// initials is the rule for words that begin with a capital, and have the other letters as they are.
var initials = filter(`capitalize("words")`)

// length is the rule for the number of characters or items.
func length(_ *writer, o operand, args []*expr) (operand, error) {
	switch {
	case len(args) > 0:
		return operand{}, errArguments
	case o.kinds.has(anObject):
		return operand{}, &cannot{"it counts the keys of an object", "add a key with the number to the data"}
	}
	return o.in("$length")
}

// function returns a rule for a function of Platen with the value as its argument.
func function(name string) rule {
	return func(_ *writer, o operand, args []*expr) (operand, error) {
		if len(args) > 0 {
			return operand{}, errArguments
		}
		return o.in(name)
	}
}

// in returns the operand as the arguments of a function.
func (o operand) in(name string, more ...string) (operand, error) {
	value := strings.Join(append([]string{o.text}, o.filters...), " :: ")
	return operand{text: name + "(" + strings.Join(append([]string{value}, more...), ", ") + ")", strength: primary}, nil
}

// literalArgument returns the whole number that the first argument is.
func literalArgument(args []*expr) (int, bool) {
	if len(args) == 0 || args[0].op != opLiteral {
		return 0, false
	}
	n, ok := args[0].val.(json.Number)
	if !ok {
		return 0, false
	}
	v, err := strconv.Atoi(n.String())
	return v, err == nil && v >= 0 && v <= 20
}

// fixed is the rule for numbers with a fixed number of decimals.
func fixed(w *writer, o operand, args []*expr) (operand, error) {
	n := 0
	if len(args) > 0 {
		var ok bool
		if n, ok = literalArgument(args); !ok {
			return operand{}, errArguments
		}
	}
	pattern := "0"
	if n > 0 {
		pattern = "0." + strings.Repeat("0", n)
		w.note("the decimal separator follows the language of the batch")
	}
	return o.with("format(" + quote(pattern) + ")"), nil
}

// same is the rule for what changes nothing that is printed.
func same(_ *writer, o operand, args []*expr) (operand, error) {
	if len(args) > 0 {
		return operand{}, errArguments
	}
	return o, nil
}

// comparing returns a rule for an operator of Platen.
func comparing(operator string) rule {
	return func(w *writer, o operand, args []*expr) (operand, error) {
		if len(args) != 1 || len(o.filters) > 0 {
			return operand{}, errArguments
		}
		x, err := w.value(args[0], sum)
		return operand{text: within(o.text, o.strength, sum) + " " + operator + " " + x, strength: comparison}, err
	}
}

// canBeBelowZero reports whether an index is negative, or a difference whose first operand is no length.
func canBeBelowZero(index *expr) bool {
	if index.op != opBinary || index.name != "-" {
		return index.op == opNegate
	}
	return index.args[0].op != opMember || index.args[0].name != "length"
}

// joined writes the operands of an operator that joins strings. Null is the word that the language has for it.
func (w *writer) joined(all []*expr) (string, error) {
	texts := make([]string, len(all))
	for i, e := range all {
		text, err := w.value(e, weakOr)
		if err != nil {
			return "", err
		}
		switch texts[i] = text; {
		case w.grammar.words != nil && w.kindsOf(e) == aBool:
			texts[i] = "$if(" + text + ", \"True\", \"False\")"
		case e.op != opLiteral && w.kindsOf(e).has(aNull):
			texts[i] = "$if(" + text + " isPresent, " + text + ", " + quote(w.grammar.null) + ")"
		}
	}
	return strings.Join(texts, ", "), nil
}

// printPython returns the tags that print a value as Python does: True, False, and None.
func (w *writer) printPython(e *expr, o operand, text string) string {
	k := w.kindsOf(e)
	_, isPath := e.steps()
	switch {
	case k == aBool && e.op == opMember && anyLacks(w.samplesOf(e.args[0]), e.name):
		return "{{if " + text + "}}True{{elseif " + text + " isPresent}}False{{endif}}"
	case o.strength == comparison || k == aBool:
		return "{{if " + text + "}}True{{else}}False{{endif}}"
	case k&^aNull == aBool && isPath:
		return "{{if " + text + "}}True{{elseif " + text + " isPresent}}False{{else}}None{{endif}}"
	case k.has(aNull) && isPath:
		return "{{if " + text + " isPresent}}{{" + text + "}}{{else}}None{{endif}}"
	}
	return "{{" + text + "}}"
}

// hasTags reports whether Platen would read a tag in a text.
func hasTags(text string) bool {
	tags, orphans := lang.Find(text)
	return len(tags)+len(orphans) > 0
}

// key returns the written form of a key.
func key(name string, first bool) (string, error) {
	if strings.Contains(name, "`") {
		return "", &cannot{"the key has a backquote", "rename the key"}
	}
	if !first && isWord(name) || isWord(name) && isPath(name) {
		return name, nil
	}
	return "`" + name + "`", nil
}

func isWord(name string) bool {
	for i, r := range name {
		if r == '@' || !isNameStart(r) && (i == 0 || !strings.ContainsRune("0123456789", r)) {
			return false
		}
	}
	return name != ""
}

// isPath reports whether Platen reads a word as a key.
func isPath(name string) bool {
	tag, err := lang.ParseTag("{{" + name + "}}")
	if err != nil || tag.Kind != lang.Print {
		return false
	}
	path, ok := tag.Expr.(*lang.Path)
	return ok && path.String() == name && !strings.HasPrefix(name, "$")
}

// pathText returns steps in Platen's language, after a prefix that may be empty.
func pathText(prefix string, steps []step) (string, error) {
	var b strings.Builder
	b.WriteString(prefix)
	for _, s := range steps {
		if s.isIndex {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		text, err := key(s.key, b.Len() == 0)
		if err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
