package lang

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// MaxDepth is the maximum depth of objects and lists in the input.
const MaxDepth = 200

// Sizes of the blocks in which memory for values is taken: the first is small, since most inputs are.
const (
	firstBlock = 32
	lastBlock  = 2048
)

// Decode reads the input of one execution: a JSON text (RFC 8259) with an object at the top, nested up to [MaxDepth].
// Numbers keep their digits. As in I-JSON (RFC 7493 §2), no object may have a key twice, and strings may contain neither invalid UTF-8 nor
// half a surrogate pair. A byte order mark is skipped. The result does not refer to data. Every error is a [*DataError].
func Decode(data []byte) (Value, error) { return DecodeText(string(data)) }

// DecodeText is Decode for a string. The result refers to it.
func DecodeText(text string) (Value, error) {
	d := decoder{text: strings.TrimPrefix(text, "\uFEFF")}
	d.blanks()
	if d.ahead() != '{' {
		return nil, d.noObject()
	}
	v, err := d.object()
	if err != nil {
		return nil, err
	}
	d.blanks()
	if d.at < len(d.text) {
		return nil, d.fault(d.at, "unexpected text after the end of the object")
	}
	return v, nil
}

// decoder reads one JSON text. Strings without escapes share the memory of the text, and objects and their values are allocated
// in blocks, so decoding needs little more memory than the result.
//
// It finds the tokens itself: with those of jsontext, decoding took 30 to 50 % longer, and a document with a table 7 % (ADR 30). jsontext
// handles strings with escapes, and mistakes in strings.
type decoder struct {
	text    string
	at      int
	depth   int
	root    layout  // of the empty object
	open    []Value // of the objects and lists that have not ended, in the order they came
	objects []Object
	values  []Value
	scalars []string          // texts and numbers
	keys    []map[string]bool // of a large object that has not ended, by depth; see has
}

// value reads a value, which may be preceded by blanks, in the form in which objects hold it.
func (d *decoder) value() (Value, error) {
	d.blanks()
	switch c := d.ahead(); c {
	case '"':
		s, _, err := d.string()
		return d.scalar(s), err
	case '{':
		return d.object()
	case '[':
		return d.list()
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		s, err := d.number()
		return (*json.Number)(d.scalar(s)), err
	}
	return nil, d.noValue()
}

// object reads an object. The offset is at its brace.
func (d *decoder) object() (*Object, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	start, keys := len(d.open), &d.root
	more := d.skip('}')
	for first := true; more; first = false {
		longer, err := d.key(keys, first)
		if err != nil {
			return nil, err
		}
		if d.blanks(); d.ahead() != ':' {
			return nil, d.unexpected("a colon is needed between a key and its value")
		}
		d.at++
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.open, keys = append(d.open, v), longer
		if more, err = d.comma('}', "object"); err != nil {
			return nil, err
		}
	}
	d.leave()
	keys.seal()
	o := d.newObject()
	*o = Object{keys, d.close(start)}
	return o, nil
}

// key reads a key, which is of an object that has had others; it returns these together with it.
func (d *decoder) key(others *layout, first bool) (*layout, error) {
	d.blanks()
	if d.ahead() != '"' {
		return nil, d.noKey(first)
	}
	if next := others.next; next != nil && next.plain { // as in the row before
		end := d.at + 1 + len(next.key)
		if end < len(d.text) && d.text[end] == '"' && d.text[d.at+1:end] == next.key {
			d.at = end + 1
			return next, nil
		}
	}
	start := d.at
	key, plain, err := d.string()
	if err != nil {
		return nil, err
	}
	if longer := others.extension(key); longer != nil {
		return longer, nil
	}
	if d.has(others, key) {
		return nil, d.fault(start, "the object has the key "+strconv.Quote(shortened(key))+" twice")
	}
	return others.extend(key, plain), nil
}

// maxShownKey is the number of characters of a key that an error shows.
const maxShownKey = 60

// shortened returns a key as an error shows it.
func shortened(key string) string {
	if chars := []rune(key); len(chars) > maxShownKey {
		return string(chars[:maxShownKey]) + "…"
	}
	return key
}

// has reports whether the object has had a key.
func (d *decoder) has(keys *layout, key string) bool {
	if keys.size <= maxScanned {
		for ; keys.base != nil; keys = keys.base {
			if keys.key == key {
				return true
			}
		}
		return false
	}
	for len(d.keys) < d.depth {
		d.keys = append(d.keys, nil)
	}
	known := d.keys[d.depth-1]
	if known == nil {
		known = make(map[string]bool, 2*keys.size)
		d.keys[d.depth-1] = known
	}
	for s := keys; len(known) < keys.size; s = s.base { // those since the last time
		known[s.key] = true
	}
	return known[key]
}

// list reads a list. The offset is at its bracket.
func (d *decoder) list() ([]any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	start := len(d.open)
	for more := d.skip(']'); more; {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.open = append(d.open, held(v))
		if more, err = d.comma(']', "list"); err != nil {
			return nil, err
		}
	}
	d.leave()
	return d.close(start), nil
}

// enter passes over the bracket of an object or a list.
func (d *decoder) enter() error {
	if d.depth == MaxDepth {
		return d.fault(d.at, fmt.Sprintf("objects and lists nest more than %d deep", MaxDepth))
	}
	d.depth++
	d.at++
	return nil
}

func (d *decoder) leave() {
	if len(d.keys) >= d.depth {
		d.keys[d.depth-1] = nil
	}
	d.depth--
}

// skip reports whether the object or list that was entered has anything in it; if not, it passes over its end.
func (d *decoder) skip(end byte) (more bool) {
	d.blanks()
	if d.ahead() == end {
		d.at++
		return false
	}
	return true
}

// comma skips the comma after a value, or the end.
func (d *decoder) comma(end byte, where string) (more bool, err error) {
	d.blanks()
	switch d.ahead() {
	case ',':
		d.at++
		return true, nil
	case end:
		d.at++
		return false, nil
	}
	return false, d.unexpected(fmt.Sprintf("a comma or %c is needed after a value of the %s", end, where))
}

// close returns the values that were opened since start.
func (d *decoder) close(start int) []Value {
	n := len(d.open) - start
	if n > cap(d.values)-len(d.values) {
		if n >= lastBlock/4 {
			own := append(make([]Value, 0, n), d.open[start:]...)
			d.open = d.open[:start]
			return own
		}
		d.values = make([]Value, 0, max(min(2*cap(d.values), lastBlock), firstBlock, n))
	}
	from := len(d.values)
	d.values = append(d.values, d.open[start:]...)
	d.open = d.open[:start]
	return d.values[from:len(d.values):len(d.values)]
}

func (d *decoder) newObject() *Object {
	if len(d.objects) == cap(d.objects) {
		d.objects = make([]Object, 0, max(min(2*cap(d.objects), lastBlock), firstBlock/4))
	}
	d.objects = d.objects[:len(d.objects)+1]
	return &d.objects[len(d.objects)-1]
}

// scalar returns where a text or number is kept.
func (d *decoder) scalar(s string) *string {
	if len(d.scalars) == cap(d.scalars) {
		d.scalars = make([]string, 0, max(min(2*cap(d.scalars), lastBlock), firstBlock))
	}
	d.scalars = append(d.scalars, s)
	return &d.scalars[len(d.scalars)-1]
}

// blanks passes over white space.
func (d *decoder) blanks() {
	for d.at < len(d.text) {
		if c := d.text[d.at]; c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return
		}
		d.at++
	}
}

// ahead returns the next byte, 0 at the end.
func (d *decoder) ahead() byte {
	if d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}
