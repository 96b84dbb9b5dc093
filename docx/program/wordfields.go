package program

import "platen/docx/lang"

// Field writes the value of a tag in place of a field of Word.
type Field struct {
	Tag         *lang.Tag
	Open, Close []byte // a run around the value
	Source      []byte // the field, which stays if the value is missing
	MayStay     bool   // the field also stays, without an error, for an empty value
	Breaks      *Breaks
	Place       *Place // for its mark; nil in the code of another field
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
	id, err := x.mark(o.Tag, o.Place)
	if err != nil {
		return err
	}
	open := o.Open
	if id != "" {
		open = x.markedRun(open, o.Place.Prefix)
		x.beginLink(o.Place.Prefix, id)
	}
	x.out.buf = append(x.out.buf, open...)
	x.text(&Value{Tag: o.Tag, Breaks: o.Breaks}, v.text)
	x.out.buf = append(x.out.buf, o.Close...)
	if id != "" {
		x.endLink(o.Place.Prefix)
	}
	return nil
}

func (o *Field) sketch(s *sketcher) { s.Fresh() }
