package program

import (
	"fmt"

	"platen/docx/lang"
)

// Records checks the list of records of a template with the field NEXT. It writes nothing.
type Records struct {
	List  *lang.Tag // the list
	At    *lang.Tag // the tag of a field of a record, for the location; nil if there is none
	Shown int       // the number of records for which the template has fields
}

func (o *Records) run(x *execution) error {
	at := o.At
	if at == nil {
		at = o.List
	}
	present, err := x.env.Has(o.List)
	if err != nil {
		return err
	}
	if !present {
		x.faults.add(x, at, needsRecords)
		return nil
	}
	v, _, err := x.env.Value(o.List)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		x.faults.add(x, at, needsRecords)
	case len(list) == 0:
		x.warn(at, "The list 'records' is empty.")
	case len(list) > o.Shown:
		x.warn(at, fmt.Sprintf("The list 'records' has %d records, and the template has fields for %d of them; the others were not used.",
			len(list), o.Shown))
	}
	return nil
}

// needsRecords says what a template with the field NEXT needs.
const needsRecords = `The template has the field NEXT, so the data must have a list of records: {"records": [{…}, {…}]}.`
