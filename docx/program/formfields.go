package program

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"platen/docx/lang"
)

// FormFieldKind is the kind of a form field.
type FormFieldKind uint8

// The kinds of form fields.
const (
	FormText FormFieldKind = iota
	FormCheckBox
	FormList
)

// FormField writes the value of a tag into a form field of Word: its text, or the element that says what is chosen.
type FormField struct {
	Tag     *lang.Tag
	Kind    FormFieldKind
	Source  []byte // what stays without a value
	Prefix  string // of the elements around it
	Entries []string

	// Of texts:
	Open, Close []byte // a run around the value
	Breaks      *Breaks
	Most        int // largest number of characters; 0 for no limit
	IsDate      bool
}

// maxExample is the largest length of the sample of a text with a limit.
const maxExample = 10

// AddTo records the input that the field reads.
func (o *FormField) AddTo(use *lang.Use, t *lang.Tag, s *lang.Scope) {
	switch {
	case o.Kind == FormCheckBox:
		use.AddBox(t, s)
	case o.Kind == FormList:
		use.AddChoice(t, s, o.Entries, false)
	case o.IsDate:
		use.AddDate(t, s, "")
	case o.Most > 0: // a sample must not be too long
		use.AddChoice(t, s, []string{strings.Repeat("x", min(o.Most, maxExample))}, true)
	default:
		use.Add(t, s)
	}
}

func (o *FormField) sketch(s *sketcher) { s.Fresh() }

func (o *FormField) run(x *execution) error {
	present, err := x.env.Has(o.Tag)
	if err != nil {
		return err
	}
	x.yield()
	if !present {
		x.out.buf = append(x.out.buf, o.Source...)
		return nil
	}
	v, ok, err := x.env.Value(o.Tag)
	if err != nil {
		return err
	}
	if !ok {
		x.out.buf = append(x.out.buf, o.Source...)
		return nil
	}
	if err := o.fill(x, v); err != nil {
		x.fault(o.Tag, "The form field '%s' cannot show its value: %s.", err)
		x.out.buf = append(x.out.buf, o.Source...)
	}
	return nil
}

// fill writes a value. It writes nothing if the field cannot show the value.
func (o *FormField) fill(x *execution, v lang.Value) error {
	if o.Kind == FormCheckBox {
		ticked := "0"
		if x.env.Ticked(v) {
			ticked = "1"
		}
		o.element(x, "checked", ticked)
		return nil
	}
	s, ok := lang.Text(v)
	if !ok {
		return fmt.Errorf("it is a list or an object")
	}
	if o.Kind == FormText {
		if n := len(utf16.Encode([]rune(s))); o.Most > 0 && n > o.Most {
			return fmt.Errorf("it has %d characters, and the field allows %d", n, o.Most)
		}
		if s != "" {
			x.out.buf = append(x.out.buf, o.Open...)
			x.text(&Value{Tag: o.Tag, Breaks: o.Breaks}, s)
			x.out.buf = append(x.out.buf, o.Close...)
		}
		return nil
	}
	for i, entry := range o.Entries {
		if s == entry {
			o.element(x, "result", fmt.Sprint(i))
			return nil
		}
	}
	return notEntry(s, o.Entries)
}

// element writes an empty element with a value.
func (o *FormField) element(x *execution, name, value string) {
	x.out.buf = fmt.Appendf(x.out.buf, "<%s%s %sval=%q/>", o.Prefix, name, o.Prefix, value)
}
