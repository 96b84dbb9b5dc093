package program

import (
	"fmt"

	"platen/docx/lang"
	"platen/docx/richtext"
)

// values is what an execution knows about the values that it has written.
type values struct {
	missing bool  // the last value was
	pending shown // the next value, if it has been evaluated already
}

// shown is a value as it is to appear in the document.
type shown struct {
	text    string
	present *lang.Present // nil: as text
	doc     *richtext.Doc // nil: it has no markup
	ok      bool          // false: it is missing, and its tag stays
	done    bool          // it is evaluated
}

// Breaks is the XML that line breaks and tabs in a value become, with the prefix of the part.
type Breaks struct {
	Line, Tab   []byte
	Plain, Code bool // the text is that of an attribute, or of a field code
}

// Value writes the value of a tag.
type Value struct {
	Tag    *lang.Tag
	Source []byte // the tag in the template, which stays if the value is missing
	Breaks *Breaks
	Place  *Place // nil where only text can be
	Merge  int    // 1 + the slot of merging cells that its cell belongs to; 0: none
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
		return nil // the cell above shows it
	}
	switch {
	case o.Place == nil && v.doc != nil: // where only text can be
		v.text = v.doc.Text()
	case o.Place == nil:
	case v.doc != nil:
		return x.writeRich(o, v)
	case v.present != nil:
		return x.present(o, v)
	}
	x.text(o, v.text)
	return nil
}

func (o *Value) sketch(s *sketcher) { s.Fresh() }

// Tail writes the rest of a tag that is spread over several elements, if the value before it was missing.
type Tail struct{ Text []byte }

func (t *Tail) run(x *execution) error {
	if x.values.missing {
		x.out.buf = append(x.out.buf, t.Text...)
	}
	return nil
}

// show evaluates a value's tag, unless that has been done.
func (x *execution) show(tag *lang.Tag) (v shown, err error) {
	if x.values.pending.done {
		v, x.values.pending = x.values.pending, shown{}
		return v, nil
	}
	v.done = true
	if v.text, v.present, v.ok, err = x.env.Show(tag); err != nil {
		return v, err
	}
	v.doc, err = x.readMarkup(tag, v)
	return v, err
}

// text writes a value as text.
func (x *execution) text(o *Value, s string) {
	if o.Breaks.Code && hasScheme(s) {
		address, err := linkAddress(s)
		if err != nil {
			x.fault(o.Tag, badAddress, err)
			return
		}
		s = address
	}
	if o.Breaks.Plain {
		x.out.buf = appendPlain(x.out.buf, s, o.Breaks.Code)
		return
	}
	var clean bool
	if x.out.buf, clean = appendValue(x.out.buf, s, o.Breaks); !clean {
		x.warn(o.Tag, fmt.Sprintf("The value of '%s' held control characters, which a document cannot hold; they were left out.", o.Tag.Expr))
	}
}
