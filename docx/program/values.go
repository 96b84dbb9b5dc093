package program

import (
	"fmt"
	"strings"

	"platen/docx/lang"
)

// values is the state of values in an execution.
type values struct {
	missing bool  // the last value was missing
	pending shown // the next value, if it has been evaluated
}

// shown is a value in its form in the document.
type shown struct {
	text    string
	present *lang.Present // nil for text
	doc     markup        // nil without markup
	ok      bool          // false if it is missing, so that its tag stays
	done    bool          // it has been evaluated
}

// Breaks has the XML for line breaks and tabs in values, with the prefix of the part.
type Breaks struct {
	Line, Tab []byte
	Plain     bool // only text can be there
	Code      CodeForm
}

// CodeForm is the form of a value in the code of a field; 0 for other values.
type CodeForm uint8

// The forms of values in codes. They can be combined.
const (
	InCode CodeForm = 1 << iota
	Bare            // outside of quotes: the value is a whole argument
	InLink          // part of a URL
)

// Value writes the value of a tag.
type Value struct {
	Tag    *lang.Tag
	Source []byte // the tag in the template, which stays if the value is missing
	Breaks *Breaks
	Place  *Place // nil if only text is possible
	Merge  int    // 1 + the slot of the merging cells that its cell belongs to; 0 for none
}

func (o *Value) run(x *execution) error {
	v, err := x.show(o.Tag)
	if err != nil {
		return err
	}
	x.yield()
	x.values.missing = !v.ok
	if !v.ok {
		x.out.buf = append(x.out.buf, o.Source...)
		return nil
	}
	if x.tables.continues(o.Merge) {
		return nil // the cell above shows the value
	}
	switch {
	case o.Place == nil && v.doc != nil: // only text is possible
		if v.isWordML() {
			x.faultNoPlace(o)
			return nil
		}
		v.text = v.doc.Text()
	case o.Place == nil:
	case v.doc != nil:
		return x.writeRich(o, v)
	case v.present != nil:
		return x.present(o, v)
	}
	return x.plain(o, v.text)
}

func (o *Value) sketch(s *sketcher) { s.Fresh() }

// Tail writes the rest of a tag that is split over several elements, if the value before it was missing.
type Tail struct{ Text []byte }

func (t *Tail) run(x *execution) error {
	if x.values.missing {
		x.out.buf = append(x.out.buf, t.Text...)
	}
	return nil
}

// show evaluates the tag of a value, unless it has been evaluated.
func (x *execution) show(tag *lang.Tag) (v shown, err error) {
	if x.values.pending.done {
		v, x.values.pending = x.values.pending, shown{}
		return v, nil
	}
	v.done = true
	if v.text, v.present, v.ok, err = x.env.Show(tag); err != nil {
		return v, err
	}
	v.doc, err = x.readMarkup(tag, &v)
	return v, err
}

// text writes a value as text.
func (x *execution) text(o *Value, s string) {
	if o.Breaks.Code&InLink != 0 && hasScheme(s) {
		address, err := linkAddress(s)
		if err != nil {
			x.fault(o.Tag, badAddress, err)
			return
		}
		s = address
	}
	if strings.HasPrefix(s, "data:image/") {
		x.warn(o.Tag, fmt.Sprintf("The value of '%[1]s' is the data of an image, printed as text. Write {{%[1]s :: image(\"4cm\")}}.",
			o.Tag.Expr))
	}
	if o.Breaks.Plain {
		x.out.buf = appendPlain(x.out.buf, s, o.Breaks)
		return
	}
	var clean bool
	if x.out.buf, clean = appendValue(x.out.buf, s, o.Breaks); !clean {
		x.warn(o.Tag, fmt.Sprintf("The value of '%s' contained control characters, which are not allowed in a document; they were removed.",
			o.Tag.Expr))
	}
}
