package style

import (
	"iter"
	"strings"
)

// Level is where in the hierarchy of styles (ISO/IEC 29500-1 §17.7.2) a value comes from. Higher levels override lower ones.
type Level uint8

// The levels, from the lowest.
const (
	Unset          Level = iota // nothing states the property
	Defaults                    // the defaults of the document
	TableStyle                  // the style of the table, or a conditional format of it
	NumberingLevel              // the level of the list that the paragraph is an item of
	ParagraphStyle
	CharacterStyle
	Direct // the paragraph, run, table, row, or cell itself
)

// Origin is where a value comes from.
type Origin struct {
	Level     Level
	Style     string    // the id of the style that states it; it may be one that the named style is based on
	Condition Condition // the conditional format of the table style that states it; 0 for the whole table
	List      string    // for NumberingLevel, the w:numId and the w:ilvl of the level, as in "3/0"
}

// Properties are the values of properties, each with its origin.
//
// The name of a property is that of its element, as in "w:sz", and means the attribute w:val. Other attributes are named as in
// "w:ind/@w:left", elements in others as in "w:pBdr/w:top/@w:sz". A tab stop is "w:tabs/w:tab[720]". The value of a property that can
// only be on or off is "true" or "false". An element without attributes has the value "".
type Properties struct{ list []property }

// property is one value. What overrides a property overrides all of its unit: w:shd as a whole, but of w:ind each attribute.
type property struct {
	unit, name, value string
	origin            Origin
}

// Get returns the value of a property and where it comes from. The Level of a property that nothing states is Unset.
func (p Properties) Get(name string) (string, Origin) {
	for i := range p.list {
		if p.list[i].name == name {
			return p.list[i].value, p.list[i].origin
		}
	}
	return "", Origin{}
}

// On reports whether a property that can be on or off is on.
func (p Properties) On(name string) bool {
	value, _ := p.Get(name)
	return value == "true"
}

// IsZero reports whether nothing states any property.
func (p Properties) IsZero() bool { return len(p.list) == 0 }

// Value is a value with its origin.
type Value struct {
	Text   string
	Origin Origin
}

// All goes to each property that something states.
func (p Properties) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := range p.list {
			if v := &p.list[i]; !yield(v.name, Value{v.value, v.origin}) {
				return
			}
		}
	}
}

// over returns what p states, and for the rest what base states.
func (p Properties) over(base Properties) Properties {
	if len(base.list) == 0 {
		return p
	}
	if len(p.list) == 0 {
		return base
	}
	merged := make([]property, 0, len(base.list)+len(p.list))
	for i := range base.list {
		if !p.states(base.list[i].unit) {
			merged = append(merged, base.list[i])
		}
	}
	return Properties{append(merged, p.list...)}
}

func (p Properties) states(unit string) bool {
	for i := range p.list {
		if p.list[i].unit == unit {
			return true
		}
	}
	return false
}

// without returns the properties that drop does not accept.
func (p Properties) without(drop func(*property) bool) Properties {
	var kept []property
	for i := range p.list {
		if !drop(&p.list[i]) {
			kept = append(kept, p.list[i])
		}
	}
	return Properties{kept}
}

// toggles are the properties that styles turn on and off (§17.7.3).
var toggles = setOf("w:b w:bCs w:caps w:emboss w:i w:iCs w:imprint w:outline w:shadow w:smallCaps w:strike w:vanish")

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// cascade puts the levels of styles on one another, from the defaults up. A toggle property that the defaults turn on is on. Of the
// others, those that an odd number of the levels above turn on are on (§17.7.3).
func cascade(defaults Properties, levels ...Properties) Properties {
	result := defaults
	for _, level := range levels {
		for i := range level.list {
			if p := &level.list[i]; toggles[p.name] {
				level = level.toggled(result, defaults)
				break
			}
		}
		result = level.over(result)
	}
	return result
}

// toggled returns p with the values that its toggle properties have on what is below.
func (p Properties) toggled(below, defaults Properties) Properties {
	list := make([]property, len(p.list))
	copy(list, p.list)
	for i := range list {
		v := &list[i]
		if !toggles[v.name] {
			continue
		}
		on := v.value == "true"
		switch {
		case defaults.On(v.name):
			on = true
		case below.On(v.name):
			on = !on
		}
		v.value = onOff(on)
	}
	return Properties{list}
}

func onOff(on bool) string {
	if on {
		return "true"
	}
	return "false"
}
