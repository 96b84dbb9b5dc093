package validate

// fieldStep is an event in the life of a complex field (ISO 29500-1 §17.16.18). A field consists of marks among the runs, and only their
// order connects them. It must end in the story in which it begins.
type fieldStep uint8

const (
	noStep fieldStep = iota
	storyBegins
	storyEnds
	fieldBegins
	resultBegins
	fieldEnds
)

// stories lists the elements whose boundaries a field cannot cross. The branches of an alternative are among them, because Word reads only
// one of the two.
const stories = "w:body w:hdr w:ftr w:footnote w:endnote w:comment w:txbxContent mc:Choice mc:Fallback"

// fieldRole says whether an element is a story, the mark of a field, or neither.
type fieldRole uint8

const (
	noField fieldRole = iota
	fieldStory
	fieldMark
)

var fieldTypes = map[string]fieldStep{"begin": fieldBegins, "separate": resultBegins, "end": fieldEnds}

// fields are the open stories and fields, from outside inward.
type fields []fieldStep

var (
	faultFieldOpen   = &fault{CodeField, "a field begins but does not end", false}
	faultFieldResult = &fault{CodeField, "the result of a field begins outside a field", false}
	faultFieldEnd    = &fault{CodeField, "a field ends but has not begun", false}
)

// openStep returns the step for the start of an element.
func openStep(p *point, t *tag) fieldStep {
	if p.elem.field == fieldStory {
		return storyBegins
	}
	kind, _ := (&fact{attribute: "w:fldCharType"}).value(p, t)
	return fieldTypes[kind]
}

// take applies a step. It returns the fault in the step, or nil.
func (f *fields) take(step fieldStep) *fault {
	last := len(*f) - 1
	inner := noStep
	if last >= 0 {
		inner = (*f)[last]
	}
	switch step {
	case storyBegins, fieldBegins:
		*f = append(*f, step)
	case resultBegins:
		if inner != fieldBegins {
			return faultFieldResult
		}
		(*f)[last] = resultBegins
	case fieldEnds:
		if inner != fieldBegins && inner != resultBegins {
			return faultFieldEnd
		}
		*f = (*f)[:last]
	case storyEnds:
		for last >= 0 && (*f)[last] != storyBegins {
			last--
		}
		*f = (*f)[:max(last, 0)]
		if inner != storyBegins {
			return faultFieldOpen
		}
	}
	return nil
}
