package lang

import (
	"encoding/json"
	"slices"
)

// sampleKey is the key of an object in examples that other input names.
const sampleKey = "first"

// maxMerged is the maximum number of keys that an object in examples gets from several tags.
const maxMerged = 50

// index records the values that a key or position in brackets reads.
func (c *collector) index(n *Index, w takes, optional bool) {
	base, ok := n.Base.(*Path)
	switch {
	case !ok:
		c.expr(n.Base, takes{}, optional)
		c.expr(n.Key, takes{want: aScalar}, optional)
	case isPosition(n.Key):
		p := *base
		p.Steps = slices.Concat(base.Steps, []Step{{IsIndex: true}}, n.Steps)
		c.path(&p, w, optional)
		reads(n.Key, true, func(p *Path, _ bool) { c.path(p, likeNumber("1"), optional) })
	default:
		c.path(base, like(0, NewObject([]string{sampleKey}, []Value{sampleBelow(n.Steps, w)})), optional)
		c.expr(n.Key, like(aScalar, sampleKey), optional)
	}
}

// isPosition reports whether what is in brackets is a position in a list: it can only be a number, or has the name of one.
func isPosition(key Node) bool {
	p, ok := key.(*Path)
	if !ok {
		return isNumeric(key)
	}
	if p.Steps[0].Key == "loop" && len(p.Steps) == 2 {
		return true
	}
	return positionNames.suits(keyWords(p.Steps[len(p.Steps)-1].Key))
}

var positionNames = nameSample{words: "i,idx,index,pos,position,row"}

// sampleBelow returns a value that has a path to text or, if its use needs one, a number.
func sampleBelow(steps []Step, w takes) Value {
	switch {
	case len(steps) > 0 && steps[0].IsIndex:
		return []any{sampleBelow(steps[1:], w)}
	case len(steps) > 0:
		return NewObject([]string{steps[0].Key}, []Value{sampleBelow(steps[1:], w)})
	case w.want&aNumber != 0:
		return json.Number("12")
	}
	return "Text"
}

// merged returns a value that has the paths of both. Of two that cannot be merged it returns the first.
func merged(v, w Value) Value {
	a, isA := v.(*Object)
	b, isB := w.(*Object)
	if !isB {
		return v
	}
	if !isA {
		if _, isNumber := v.(json.Number); isNumber {
			return w
		}
		return v
	}
	var keys []string
	var values []Value
	for key, value := range a.All() {
		if b.Has(key) {
			value = merged(value, b.Get(key))
		}
		keys, values = append(keys, key), append(values, value)
	}
	for key, value := range b.All() {
		if !a.Has(key) && len(keys) < maxMerged {
			keys, values = append(keys, key), append(values, value)
		}
	}
	return NewObject(keys, values)
}
