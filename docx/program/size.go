package program

import (
	"reflect"
)

// planBytes is about how much memory the plan of the compressor takes for a literal, besides its text.
const planBytes = 600

// sizeOf returns about how many bytes of memory the program of a part holds: its steps with all that they alone refer to. What belongs to
// other packages, such as the tags, is not included.
func sizeOf(p *Part) int {
	m := measurer{seen: map[uintptr]bool{}}
	m.measure(reflect.ValueOf(p))
	return m.bytes
}

type measurer struct {
	bytes int
	seen  map[uintptr]bool // pointers that are counted
}

var (
	thisPackage = reflect.TypeFor[Part]().PkgPath()
	literalType = reflect.TypeFor[Literal]()
)

// measure adds what a value refers to. The value itself is part of what refers to it.
func (m *measurer) measure(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != thisPackage || m.seen[v.Pointer()] {
			return
		}
		m.seen[v.Pointer()] = true
		m.bytes += int(v.Type().Elem().Size())
		m.measure(v.Elem())
	case reflect.Interface:
		if !v.IsNil() {
			m.measure(v.Elem())
		}
	case reflect.Slice:
		m.bytes += v.Cap() * int(v.Type().Elem().Size())
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				m.measure(v.Index(i))
			}
		}
	case reflect.String:
		m.bytes += v.Len()
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			m.bytes += int(it.Key().Type().Size() + it.Value().Type().Size())
			m.measure(it.Key())
			m.measure(it.Value())
		}
	case reflect.Array:
		for i := range v.Len() {
			m.measure(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == literalType {
			m.bytes += planBytes + len(v.Field(0).Bytes())
		}
		if v.Type().PkgPath() == thisPackage {
			for i := range v.NumField() {
				m.measure(v.Field(i))
			}
		}
	}
}
