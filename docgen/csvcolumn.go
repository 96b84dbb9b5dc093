package docgen

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"platen/docx/lang"
)

const (
	maxHeadingItems = 1000 // maximum number of items of a list that headings name by position
	maxHeadingDepth = 20   // maximum number of steps of a heading
)

// A column is a column of a CSV.
type column struct {
	head   string
	listed bool // each line adds an item to a list
}

// A headingStep is a key of an object, a position in a list, or the next item of a list.
type headingStep struct {
	key    string
	index  int
	isItem bool
	each   bool // the item of the current line
}

// parseHeading parses a heading such as customer.name, items[0].price, items[].price, or terms["due in"], or says what is wrong with it.
func parseHeading(head string) (steps []headingStep, why string) {
	rest := head
	for first := true; rest != "" || first; first = false {
		if len(steps) == maxHeadingDepth {
			return nil, fmt.Sprintf("%q has more than %d steps", head, maxHeadingDepth)
		}
		var step headingStep
		switch {
		case strings.HasPrefix(rest, "["):
			var ok bool
			if step, rest, ok = parseBrackets(rest); !ok {
				return nil, fmt.Sprintf("%q is not a path: brackets must have a position below %d, a key in quotes, or nothing", head,
					maxHeadingItems)
			}
		default:
			if !first {
				rest = strings.TrimPrefix(rest, ".")
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			step, rest = headingStep{key: rest[:end]}, rest[end:]
			if step.key == "" || strings.ContainsAny(step.key, `]"`) {
				return nil, fmt.Sprintf("%q is not a path such as customer.name or items[0].price", head)
			}
		}
		steps = append(steps, step)
		if rest == "." || rest != "" && rest[0] != '.' && rest[0] != '[' {
			return nil, fmt.Sprintf("%q is not a path such as customer.name or items[0].price", head)
		}
	}
	if steps[0].isItem {
		return nil, fmt.Sprintf("%q must begin with a key, because the data of a document is an object", head)
	}
	return steps, ""
}

// parseBrackets parses a step in brackets.
func parseBrackets(text string) (step headingStep, rest string, ok bool) {
	if strings.HasPrefix(text, `["`) {
		end := strings.Index(text, `"]`)
		if end < 3 {
			return step, "", false
		}
		return headingStep{key: text[2:end]}, text[end+2:], true
	}
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return step, "", false
	}
	step, rest = headingStep{isItem: true}, text[end+1:]
	if end == 1 {
		step.each = true
		return step, rest, true
	}
	digits := text[1:end]
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n >= maxHeadingItems || strconv.Itoa(int(n)) != digits {
		return step, "", false
	}
	step.index = int(n)
	return step, rest, true
}

// A csvNode is a location in the data of the documents: an object, a list, or the value of a column.
type csvNode struct {
	step     headingStep
	children []*csvNode // of an object in the order of the headings, of a list in the order of positions
	isList   bool
	column   int // -1 for objects and lists
	head     string
	schema   *lang.Schema
	items    []byte // of a list with an item for each line: its items so far
}

// add adds a column below n, or says why its heading is impossible.
func (n *csvNode) add(steps []headingStep, index int, col *column, schema *lang.Schema) string {
	n.schema = schema
	if len(steps) == 0 {
		if n.column >= 0 || len(n.children) > 0 {
			return fmt.Sprintf("%q is repeated, or is also the beginning of another heading", col.head)
		}
		n.column, n.head = index, col.head
		return ""
	}
	step := steps[0]
	if n.column >= 0 || len(n.children) > 0 && n.isList != step.isItem {
		return fmt.Sprintf("%q is a value, a list, or an object in another heading", col.head)
	}
	n.isList = step.isItem
	if step.each && slices.ContainsFunc(steps[1:], func(s headingStep) bool { return s.each }) {
		return fmt.Sprintf("%q has a list in a list; only one [] is possible", col.head)
	}
	i := slices.IndexFunc(n.children, func(child *csvNode) bool { return child.step == step })
	if i < 0 {
		if n.isList && len(n.children) > 0 && n.children[0].step.each != step.each {
			return fmt.Sprintf("%q: a list has either [] or positions", col.head)
		}
		i = len(n.children)
		n.children = append(n.children, &csvNode{step: step, column: -1})
	}
	child := n.children[i]
	if n.isList {
		slices.SortStableFunc(n.children, func(a, b *csvNode) int { return a.step.index - b.step.index })
		schema = schema.Items()
	} else {
		schema = schema.Property(step.key)
	}
	return child.add(steps[1:], index, col, schema)
}

// each reports whether n is a list that gets an item from each line.
func (n *csvNode) each() bool { return n.isList && n.children[0].step.each }

// clear forgets the items of lists.
func (n *csvNode) clear() {
	n.items = n.items[:0]
	for _, child := range n.children {
		child.clear()
	}
}

// size returns the number of bytes of the items of lists.
func (n *csvNode) size() int {
	size := len(n.items)
	for _, child := range n.children {
		size += child.size()
	}
	return size
}

// addItems adds the items of a line to the lists.
func (n *csvNode) addItems(cells []string, r *row) {
	if n.column >= 0 {
		return
	}
	if !n.each() {
		for _, child := range n.children {
			child.addItems(cells, r)
		}
		return
	}
	begin := len(n.items)
	if begin > 0 {
		n.items = append(n.items, ',')
	}
	var filled bool
	if n.items, filled = n.children[0].append(n.items, cells, r); !filled {
		n.items = n.items[:begin]
	}
}

// append appends the JSON of n for a line, and reports whether any of its cells has a value.
func (n *csvNode) append(b []byte, cells []string, r *row) (text []byte, filled bool) {
	switch {
	case n.column >= 0:
		return n.appendValue(b, cells[n.column], r)
	case n.isList && n.each():
		b = append(b, '[')
		return append(append(b, n.items...), ']'), len(n.items) > 0
	case n.isList:
		return n.appendList(b, cells, r)
	}
	b = append(b, '{')
	comma := false
	for _, child := range n.children {
		before := len(b)
		if comma {
			b = append(b, ',')
		}
		b = append(appendText(b, child.step.key), ':')
		start := len(b)
		var has bool
		if b, has = child.append(b, cells, r); len(b) == start { // no value
			b = b[:before]
			continue
		}
		comma, filled = true, filled || has
	}
	return append(b, '}'), filled
}

// appendList appends a list without the items at its end that have no value. An empty item before another one would change the positions
// of those after it.
func (n *csvNode) appendList(b []byte, cells []string, r *row) (text []byte, filled bool) {
	b = append(b, '[')
	var empty *csvNode // before child
	for _, child := range n.children {
		before := len(b)
		if filled {
			b = append(b, ',')
		}
		var has bool
		if b, has = child.append(b, cells, r); !has {
			b = b[:before]
			empty = child
			continue
		}
		if empty != nil {
			r.fail(child.firstHead(), "%s has a value, but the item at position %d, %s, is empty: fill items from the first one on",
				child.firstHead(), empty.step.index, empty.firstHead())
			empty = nil
		}
		filled = true
	}
	return append(b, ']'), filled
}

// firstHead returns the heading of the first column of n.
func (n *csvNode) firstHead() string {
	for n.column < 0 {
		n = n.children[0]
	}
	return n.head
}

// gap returns a problem of a list whose headings skip a position.
func (n *csvNode) gap() string {
	for i, child := range n.children {
		if n.isList && !child.step.each && child.step.index != i {
			return fmt.Sprintf("%q is position %d of its list, but no heading has position %d", child.firstHead(), child.step.index, i)
		}
		if why := child.gap(); why != "" {
			return why
		}
	}
	return ""
}

var csvNumber = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// appendValue appends the value of a cell. An empty cell of a number, or of true and false, has none.
func (n *csvNode) appendValue(b []byte, cell string, r *row) (text []byte, filled bool) {
	trimmed := strings.TrimSpace(cell)
	switch {
	case n.schema.IsNumber():
		if trimmed == "" {
			return b, false
		}
		if !csvNumber.MatchString(trimmed) {
			r.fail(n.head, "%s must be a number such as -1234.5, not %s", n.head, quoteCell(cell))
			return b, false
		}
		return append(b, withoutZeros(trimmed)...), true
	case n.schema.IsFlag(), n.schema.IsOpen():
		return n.appendFlag(b, cell, r)
	}
	return appendText(b, cell), cell != ""
}

// appendFlag appends true or false. Where the template only tests the value, any text but a negative one counts as true.
func (n *csvNode) appendFlag(b []byte, cell string, r *row) (text []byte, filled bool) {
	switch flag := strings.ToLower(strings.TrimSpace(cell)); {
	case flag == "":
		return b, false
	case flag == "true" || flag == "false":
		return append(b, flag...), true
	case n.schema.IsOpen() && !lang.MeansFalse(flag):
		return appendText(b, cell), true
	}
	r.fail(n.head, "%s must be true or false, not %s", n.head, quoteCell(cell))
	return b, false
}

// withoutZeros removes the leading zeros of a number, which JSON does not allow.
func withoutZeros(number string) string {
	digits, negative := strings.CutPrefix(number, "-")
	for len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		digits = digits[1:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// quoteCell quotes the beginning of a cell for people.
func quoteCell(cell string) string { return strconv.Quote(shortened(cell, 50)) }

// appendText appends a text as JSON.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range s { // valid UTF-8
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}
