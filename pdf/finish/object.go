package finish

import (
	"encoding/hex"
	"slices"
	"strconv"
)

// object is an object of ISO 32000-1, 7.3; nil is null. Names, numbers, and keywords are stored as written.
type object any

type (
	name    string // without the slash
	number  string
	keyword string // true or false
	str     string // decoded
	array   []object
	dict    []entry
	entry   struct {
		key   name
		value object
	}
	ref    struct{ number, generation int }
	stream struct {
		dict dict
		raw  []byte // encoded as the dictionary specifies
	}
)

// get returns the value of a key, or nil.
func (d dict) get(key name) object {
	for _, e := range d {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// with returns a copy of the dictionary with another value for a key, at the same position. A nil value removes the
// key.
func (d dict) with(key name, value object) dict {
	d = slices.Clone(d)
	at := slices.IndexFunc(d, func(e entry) bool { return e.key == key })
	switch {
	case at < 0 && value == nil:
	case at < 0:
		d = append(d, entry{key, value})
	case value == nil:
		d = slices.Delete(d, at, at+1)
	default:
		d[at].value = value
	}
	return d
}

func integer(o object) (int, bool) {
	digits, ok := o.(number)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(digits))
	return n, err == nil
}

func number64(n int64) number { return number(strconv.FormatInt(n, 10)) }

func integerOf(n int) number { return number64(int64(n)) }

// appendObject appends the encoding of an object. If seal is not nil, it is applied to strings and the contents of
// streams.
func appendObject(b []byte, o object, seal func([]byte) []byte) []byte {
	switch o := o.(type) {
	case nil:
		return append(b, "null"...)
	case name:
		return append(append(b, '/'), o...)
	case number:
		return append(b, o...)
	case keyword:
		return append(b, o...)
	case str:
		return appendString(b, o, seal)
	case ref:
		b = strconv.AppendInt(b, int64(o.number), 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(o.generation), 10)
		return append(b, " R"...)
	case array:
		b = append(b, '[')
		for i, element := range o {
			if i > 0 {
				b = append(b, ' ')
			}
			b = appendObject(b, element, seal)
		}
		return append(b, ']')
	case dict:
		return appendDict(b, o, seal)
	case stream:
		return appendStream(b, o, seal)
	}
	panic("finish: not an object")
}

func appendString(b []byte, s str, seal func([]byte) []byte) []byte {
	value := []byte(s)
	if seal != nil {
		value = seal(value)
	}
	b = append(b, '<')
	b = hex.AppendEncode(b, value)
	return append(b, '>')
}

func appendDict(b []byte, d dict, seal func([]byte) []byte) []byte {
	b = append(b, "<<"...)
	for _, e := range d {
		b = append(append(b, '/'), e.key...)
		b = append(b, ' ')
		b = appendObject(b, e.value, seal)
	}
	return append(b, ">>"...)
}

func appendStream(b []byte, s stream, seal func([]byte) []byte) []byte {
	raw := s.raw
	if seal != nil {
		raw = seal(raw)
	}
	b = appendDict(b, s.dict.with("Length", integerOf(len(raw))), seal)
	b = append(b, "\nstream\n"...)
	b = append(b, raw...)
	return append(b, "\nendstream"...)
}
