package validate

// fieldStep is what an element says about the complex fields around (ISO 29500-1 §17.16.18): marks among the runs, which
// nothing but their order ties together. No field leads out of a story.
type fieldStep uint8

const (
	noStep fieldStep = iota
	storyBegins
	storyEnds
	fieldBegins
	resultBegins
	fieldEnds
)

// stories are the elements whose fields are their own. Of the two branches of an alternative, one is read.
const stories = "w:body w:hdr w:ftr w:footnote w:endnote w:comment w:txbxContent mc:Choice mc:Fallback"

// fieldRole is what an element has to do with fields.
type fieldRole uint8

const (
	noField fieldRole = iota
	fieldStory
	fieldMark
)

var fieldTypes = map[string]fieldStep{"begin": fieldBegins, "separate": resultBegins, "end": fieldEnds}

// fields are the stories and fields that are open, inner last.
type fields []fieldStep

var (
	faultFieldOpen   = &fault{CodeField, "a field begins and does not end", false}
	faultFieldResult = &fault{CodeField, "the result of a field begins where none can", false}
	faultFieldEnd    = &fault{CodeField, "a field ends that has not begun", false}
)

// openStep is what the start of an element says.
func openStep(p *point, t *tag) fieldStep {
	if p.elem.field == fieldStory {
		return storyBegins
	}
	kind, _ := (&fact{attribute: "w:fldCharType"}).value(p, t)
	return fieldTypes[kind]
}

// take follows a step.
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
