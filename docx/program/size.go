package program

import (
	"reflect"
	"unsafe"
)

// planBytes is the approximate memory of the compressor's plan for a literal, besides its text.
const planBytes = 600

// sizeOf returns the approximate memory of a part's program, in bytes: its steps, and the values that only they refer to. Values of other
// packages, such as tags, are not included.
func sizeOf(p *Part) int {
	m := measurer{bytes: int(unsafe.Sizeof(*p)), seen: map[uintptr]bool{}}
	m.steps(p.Steps)
	return m.bytes
}

type measurer struct {
	bytes int
	seen  map[uintptr]bool // shared values that have been counted
}

// steps adds a list of steps. The most frequent ones are measured without reflection.
func (m *measurer) steps(steps []Step) {
	m.bytes += cap(steps) * int(unsafe.Sizeof(Step(nil)))
	for _, step := range steps {
		switch s := step.(type) {
		case *Literal:
			m.bytes += int(unsafe.Sizeof(*s)) + 2*len(s.Text) + planBytes
		case *Tail:
			m.bytes += int(unsafe.Sizeof(*s)) + len(s.Text)
		case *Value:
			m.bytes += int(unsafe.Sizeof(*s)) + len(s.Source)
			m.place(s.Place)
			m.measure(reflect.ValueOf(s.Breaks))
		case *LoneValue:
			m.bytes += int(unsafe.Sizeof(*s))
			m.place(s.Place)
			m.steps(s.Body)
		case *Guard:
			m.bytes += int(unsafe.Sizeof(*s))
			m.steps(s.Body)
		default:
			m.measure(reflect.ValueOf(s))
		}
	}
}

// place adds the place of values once, although several steps may refer to it.
func (m *measurer) place(p *Place) {
	key := uintptr(unsafe.Pointer(p))
	if p != nil && !m.seen[key] {
		m.seen[key] = true
		m.bytes += p.size()
	}
}

var (
	thisPackage = reflect.TypeFor[Part]().PkgPath()
	stepsType   = reflect.TypeFor[[]Step]()
)

// measure adds the memory that a value refers to. The value itself is counted with the value that contains it.
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
		if v.Type() == stepsType {
			m.steps(v.Interface().([]Step))
			return
		}
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
		if v.Type().PkgPath() == thisPackage {
			for _, field := range v.Fields() {
				m.measure(field)
			}
		}
	}
}
