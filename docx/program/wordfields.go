package program

import "platen/docx/lang"

// Field writes the value of a tag in place of a field of Word.
type Field struct {
	Tag         *lang.Tag
	Open, Close []byte // a run around the value
	Source      []byte // the field, which stays if the value is missing
	MayStay     bool   // the field also stays, without an error, for an empty value
	Breaks      *Breaks
}

func (o *Field) run(x *execution) error {
	v, err := x.show(o.Tag)
	if err != nil {
		return err
	}
	x.yield()
	if !v.ok || o.MayStay && v.text == "" {
		x.out.buf = append(x.out.buf, o.Source...)
		return nil
	}
	if v.doc != nil {
		v.text = v.doc.Text()
	}
	if v.text == "" {
		return nil
	}
	x.out.buf = append(x.out.buf, o.Open...)
	x.text(&Value{Tag: o.Tag, Breaks: o.Breaks}, v.text)
	x.out.buf = append(x.out.buf, o.Close...)
	return nil
}

func (o *Field) sketch(s *sketcher) { s.Fresh() }
