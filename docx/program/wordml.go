package program

import (
	"errors"
	"fmt"

	"platen/docx/lang"
	"platen/docx/wordml"
)

// isWordML reports whether a value is a fragment of WordprocessingML, or would be if that were allowed.
func (v *shown) isWordML() bool { return v.present != nil && v.present.As == lang.AsWordML }

// errWordML is why the filter wordml is not applied.
var errWordML = errors.New("WordprocessingML from the data is not allowed; the operator can allow it with --allow-wordml")

// readWordML returns the fragment of a value with the filter wordml. If it is not valid, or not allowed, the value counts as missing.
func (x *execution) readWordML(tag *lang.Tag, v *shown) (markup, error) {
	reject := func(err error) (markup, error) {
		x.fault(tag, "The value of '%s' cannot be inserted: %s.", err)
		v.ok = false
		return nil, nil
	}
	if !x.opt.WordML {
		return reject(errWordML)
	}
	doc, err := wordml.Parse(x.meter, v.text)
	if spent := x.fatal(err); spent != nil {
		return nil, spent
	}
	if err != nil {
		return reject(err)
	}
	for _, style := range doc.Styles() {
		if x.d.styleID(style.Kind, style.Name) == "" && !x.d.hasStyleID(style.Kind, style.Name) {
			x.warn(tag, fmt.Sprintf("The template has no %s style '%s'; the value of '%s' is shown without it.", style.Kind, style.Name, tag.Expr))
		}
	}
	return doc, nil
}

// faultNoPlace reports a fragment that cannot be where its tag is. The tag stays.
func (x *execution) faultNoPlace(o *Value) {
	x.values.missing = true
	x.out.buf = append(x.out.buf, o.Source...)
	x.fault(o.Tag, "The value of '%s' cannot be inserted: %s.", errors.New("paragraphs and tables are not possible in this place; "+
		"put the tag into a paragraph of its own"))
}
