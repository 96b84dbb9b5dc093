package importer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Steps of a path that are no keys. The key continues with the keys that sort the items, a question mark, and the conditions on the items.
// An exclamation mark at its end means that of items with equal values only the first one counts.
const (
	thisItem  = "[i]"
	nextItem  = "[i+1]"
	firstItem = "[?]" // the first item for which the conditions are true
)

// isLoop reports whether a step is an item of a loop.
func (s step) isLoop() bool { return s.isThis() || s.isNext() }

func (s step) isThis() bool { return strings.HasPrefix(s.key, thisItem) }

func (s step) isNext() bool { return strings.HasPrefix(s.key, nextItem) }

// squeeze removes the blanks outside quotes.
func squeeze(text string) string {
	var b strings.Builder
	var quoted rune
	for _, r := range text {
		switch {
		case quoted != 0:
			if r == quoted {
				quoted = 0
			}
		case r == '\'' || r == '"':
			quoted = r
		case strings.ContainsRune(" \t\n\u00A0", r):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

var errPath = &cannot{"the path has a form that has no exact equivalent", "write {{for x in list :: where(…)}}, or :: sort(…)"}

// carbonePath reads a path from d or c. Items of loops are keys.
func carbonePath(text string) (*expr, error) {
	text = squeeze(text)
	return carboneSteps(&expr{op: opName, name: text[:1]}, text[1:])
}

var carboneKey = regexp.MustCompile(`^\.([^.\[\](){}:]+)`)

// carboneSteps adds steps to a path.
func carboneSteps(e *expr, rest string) (*expr, error) {
	for rest != "" {
		if m := carboneKey.FindStringSubmatch(rest); m != nil {
			if e.op == opName && e.name == "d" {
				e = &expr{op: opName, name: m[1]}
			} else {
				e = &expr{op: opMember, name: m[1], args: []*expr{e}}
			}
			rest = rest[len(m[0]):]
			continue
		}
		end := len(splitOutside(rest, ']')[0])
		if rest[0] != '[' || end >= len(rest) {
			return nil, errPath
		}
		key, index, err := readBracket(rest[1:end])
		if err != nil {
			return nil, err
		}
		if index != "" {
			e = &expr{op: opIndex, args: []*expr{e, {op: opLiteral, val: json.Number(index)}}}
		} else {
			e = &expr{op: opMember, name: key, args: []*expr{e}}
		}
		rest = rest[end+1:]
	}
	return e, nil
}

var (
	carboneCondition = regexp.MustCompile(`^([^=<>!]+)(!=|=|<|>)([^=<>!]+)$`)
	carboneSort      = regexp.MustCompile(`^[\pL_][\pL\w.$-]*$`)
	carboneIndex     = regexp.MustCompile(`^-?\d+$`)
)

// readBracket reads what is in the brackets of a path: a number, or an item of a loop, with conditions, and what it is sorted by.
func readBracket(text string) (key, index string, err error) {
	if carboneIndex.MatchString(text) {
		return "", text, nil
	}
	var conditions, sorts []string
	kind, unique := firstItem, "!"
	for _, piece := range splitOutside(text, ',') {
		name, next := strings.CutSuffix(piece, "+1")
		m := carboneCondition.FindStringSubmatch(piece)
		switch {
		case m != nil:
			conditions = append(conditions, piece)
		case name == "i" && next:
			kind, unique = nextItem, ""
		case name == "i" && kind != nextItem:
			kind, unique = thisItem, ""
		case name != "i" && carboneSort.MatchString(name):
			if sorts = append(sorts, name); kind != nextItem {
				if kind = thisItem; next {
					kind = nextItem
				}
			}
		default:
			return "", "", errPath
		}
	}
	if kind == firstItem {
		if number, ok := strings.CutPrefix(text, "i="); ok && carboneIndex.MatchString(number) {
			return "", number, nil
		}
		unique = ""
	}
	if unique != "" && len(sorts) > 1 {
		return "", "", &cannot{"it groups the items by several keys", "write {{for g in list :: group(key)}}"}
	}
	return kind + strings.Join(sorts, ",") + "?" + strings.Join(conditions, "&") + unique, "", nil
}

// selection is which items of a list a step of a path means, and in which order.
type selection struct {
	sorts  []*expr
	where  *expr
	bounds []*expr // the positions from and to
	unique bool    // of items with equal values, only the first one counts
}

// selectionOf reads the key of a step, for items that are a path.
func selectionOf(key string, item *expr) (selection, error) {
	var s selection
	_, rest, _ := strings.Cut(key, "]")
	rest, s.unique = strings.CutSuffix(rest, "!")
	sorts, conditions, _ := strings.Cut(rest, "?")
	for _, name := range strings.FieldsFunc(sorts, func(r rune) bool { return r == ',' }) {
		e, err := carboneSteps(item, "."+name)
		if err != nil {
			return s, err
		}
		s.sorts = append(s.sorts, e)
	}
	from, to := 0, -1
	for _, text := range strings.FieldsFunc(conditions, func(r rune) bool { return r == '&' }) {
		m := carboneCondition.FindStringSubmatch(text)
		if m[1] == "i" {
			if !bound(m[2], m[3], &from, &to) {
				return s, errPath
			}
			continue
		}
		left, err := carboneSteps(item, "."+m[1])
		if err != nil {
			return s, err
		}
		operator := map[string]string{"=": "==", "!=": "!=", "<": "<", ">": ">"}[m[2]]
		c := &expr{op: opBinary, name: operator, args: []*expr{left, carboneLiteral(m[3])}}
		if _, isBool := c.args[1].val.(bool); isBool {
			c.val = loose
		}
		if s.where != nil {
			c = &expr{op: opBinary, name: "and", args: []*expr{s.where, c}}
		}
		s.where = c
	}
	if from > 0 || to >= 0 {
		s.bounds = append(s.bounds, number(from))
	}
	if to >= 0 {
		s.bounds = append(s.bounds, number(max(from, to)))
	}
	return s, nil
}

func number(n int) *expr {
	text, _ := json.Marshal(n)
	return &expr{op: opLiteral, val: json.Number(text)}
}

// bound narrows the positions of items by a condition on i, and reports whether that is possible.
func bound(operator, right string, from, to *int) bool {
	var n int
	if json.Unmarshal([]byte(right), &n) != nil || n < 0 {
		return false
	}
	switch operator {
	case ">":
		*from = max(*from, n+1)
	case "<":
		if *to < 0 || n < *to {
			*to = n
		}
	default:
		return false
	}
	return true
}

// carboneLiteral reads a value, which needs no quotes.
func carboneLiteral(text string) *expr {
	switch {
	case carboneNumberForm.MatchString(text):
		return &expr{op: opLiteral, val: json.Number(text)}
	case text == "true" || text == "false":
		return &expr{op: opLiteral, val: text == "true"}
	}
	return &expr{op: opLiteral, val: strings.Trim(text, `'"‘’“”`)}
}

// relative returns a path that begins with dots: one for what has the last key of base, and one more for each level above.
func relative(base *expr, text string) (*expr, error) {
	path, ok := base.steps()
	dots := len(text) - len(strings.TrimLeft(text, "."))
	if !ok || len(path) == 0 || path[len(path)-1].isLoop() || strings.Contains(text, "[") {
		return nil, errPath
	}
	for range dots {
		if len(path) == 0 {
			return nil, &cannot{"it is a path from above the data", "write the path from the data"}
		}
		last := path[len(path)-1]
		path = path[:len(path)-1]
		if (last.isIndex || last.isLoop()) && len(path) > 0 {
			path = path[:len(path)-1]
		}
	}
	above := &expr{op: opName, name: "d"}
	if len(path) > 0 {
		above = pathExpr(path)
	}
	return carboneSteps(above, text[dots-1:])
}

// alias is a text that stands for a part of a path.
type alias struct {
	use    *regexp.Regexp
	params []string
	text   string
}

var aliasForm = regexp.MustCompile(`(?s)^#\s*([^=(\s]+)\s*(?:\(([^)]*)\))?\s*=(.*)$`)

// readAlias reads the definition of an alias; ok is false for anything else.
func readAlias(content string) (a alias, ok bool) {
	m := aliasForm.FindStringSubmatch(content)
	if m == nil {
		return a, false
	}
	a.use = regexp.MustCompile(`\$` + regexp.QuoteMeta(m[1]) + `\b(?:\(([^)]*)\))?`)
	for p := range strings.SplitSeq(m[2], ",") {
		if p = strings.TrimSpace(p); p != "" {
			a.params = append(a.params, p)
		}
	}
	a.text = squeeze(m[3])
	return a, true
}

// expand replaces the aliases in the content of a tag.
func expand(content string, aliases []alias) string {
	for _, a := range slices.Backward(aliases) {
		content = a.use.ReplaceAllStringFunc(content, func(use string) string {
			text := a.text
			args := strings.Split(a.use.FindStringSubmatch(use)[1], ",")
			for i, p := range a.params {
				if i < len(args) {
					text = regexp.MustCompile(regexp.QuoteMeta(p)+`\b`).ReplaceAllLiteralString(text, strings.TrimSpace(args[i]))
				}
			}
			return text
		})
	}
	return content
}
