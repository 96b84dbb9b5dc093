package lang

import (
	"encoding/json"
	"strconv"
	"strings"
)

// print returns the text of a value of the current tag, with the separators its delimiter filters ask for.
func (e *Env) print(v Value) (string, error) {
	t := e.tag
	if e.present.As == AsChart {
		return "", nil
	}
	if list, ok := v.([]any); ok && isSole(e.present.As) {
		return "", &fault{node: t.Expr, message: "is a list, but an image or a code shows one value"}
	} else if ok {
		return e.printList(t.Expr, list, e.list.between, e.list.last)
	}
	s, ok := scalarText(v)
	if !ok {
		return "", &fault{node: t.Expr, message: "is " + kindOf(v) + " and cannot be printed"}
	}
	s += e.separator(s)
	if len(s) > MaxText {
		return "", e.tooLong(t.Expr)
	}
	return s, nil
}

// separator returns the separator after the text of this item of the loop. It is "" after the last item, and after an empty text.
func (e *Env) separator(s string) string {
	if e.list == (separators{}) || s == "" {
		return ""
	}
	f := e.loopOf(e.tag)
	switch {
	case f == nil || f.index >= f.count-1:
		return ""
	case e.list.last != nil && f.index == f.count-2:
		return *e.list.last
	case e.list.between != nil:
		return *e.list.between
	}
	return ""
}

// printList returns the items of a list that are not null, separated: the last two by last, the others by between. Without
// between it is ", ", without last it is between.
func (e *Env) printList(n Node, list []any, between, last *string) (string, error) {
	texts, err := e.itemTexts(n, list)
	if err != nil {
		return "", err
	}
	size := 0
	for _, s := range texts {
		size += len(s)
	}
	sep, end := orElse(between, ", "), orElse(last, orElse(between, ", "))
	if size += len(texts) * max(len(sep), len(end)); size > MaxText {
		return "", e.tooLong(n)
	}
	if err := e.grow(size); err != nil {
		return "", err
	}
	if len(texts) < 2 {
		return strings.Join(texts, ""), nil
	}
	at := len(texts) - 1
	return strings.Join(texts[:at], sep) + end + texts[at], nil
}

// itemTexts returns the texts of the items of a list that are not null.
func (e *Env) itemTexts(n Node, list []any) ([]string, error) {
	if err := e.makeItems(len(list), n); err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(list))
	size := 0
	for _, item := range list {
		if item == nil {
			continue
		}
		s, ok := scalarText(item)
		if !ok {
			return nil, &fault{node: n, message: "is a list that contains " + kindOf(item) + " and cannot be printed"}
		}
		if size += len(s); size > MaxText {
			return nil, e.tooLong(n)
		}
		texts = append(texts, s)
	}
	return texts, nil
}

func orElse(s *string, other string) string {
	if s == nil {
		return other
	}
	return *s
}

// Text returns the text of a value that is neither a list nor an object, as a tag would print it; ok is false for those and for nil.
func Text(v Value) (s string, ok bool) { return scalarText(v) }

// scalarText returns the text of a value that is neither a list nor an object; ok is false for those, for nil, and for a
// number whose exponent is out of bounds.
func scalarText(v Value) (s string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return numberText(v)
	case number:
		return v.text(), true
	case bool:
		return strconv.FormatBool(v), true
	case moment:
		return v.text(), true
	}
	return "", false
}
