package style

import (
	"iter"
	"slices"
	"strings"

	"platen/docx/wml"
)

// Level is a level of the hierarchy of styles (ISO/IEC 29500-1 §17.7.2). Higher levels override lower ones, apart from NumberingLevel:
// a list that the paragraph names itself overrides the paragraph style, and a list that a style names does not.
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

// Origin identifies the definition that states a value.
type Origin struct {
	Level     Level
	Style     string    // ID of the style, which may be one that the named style is based on
	Condition Condition // conditional format of the table style; 0 for the whole table
	List      string    // for NumberingLevel, such as "abstractNum/7/0" for level 0 of w:abstractNum 7, or "num/3/0" for an override
}

// Properties are the values of properties, each with its origin.
//
// A property is named like its element, such as "w:sz", which means the attribute w:val. Other attributes are named like "w:ind/@w:left",
// elements in others like "w:pBdr/w:top/@w:sz", tab stops like "w:tabs/w:tab[720]". The value of a property that is only on or off is
// "true" or "false". An element without attributes has the value "".
type Properties struct{ list []property } // sorted by unit

// maxProperties is the number of properties that one element states, or that apply to one element. Others are ignored.
const maxProperties = 400

// property is one value. A level overrides a unit as a whole: all of w:shd, but each attribute of w:ind separately.
type property struct {
	unit, name, value string
	origin            Origin
}

// Get returns the value of a property and its origin. The Level of a property that nothing states is Unset.
func (p Properties) Get(name string) (string, Origin) {
	for i := range p.list {
		if p.list[i].name == name {
			return p.list[i].value, p.list[i].origin
		}
	}
	return "", Origin{}
}

// On reports whether an on/off property is on.
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

// All returns the properties that something states.
func (p Properties) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := range p.list {
			if v := &p.list[i]; !yield(v.name, Value{v.value, v.origin}) {
				return
			}
		}
	}
}

func (p Properties) states(unit string) bool {
	_, found := slices.BinarySearchFunc(p.list, unit, func(v property, unit string) int { return strings.Compare(v.unit, unit) })
	return found
}

// over returns the properties of p, and those of base that p does not state.
func (p Properties) over(base Properties) Properties {
	if len(base.list) == 0 {
		return p
	}
	if len(p.list) == 0 {
		return base
	}
	own, below := p.list, base.list
	merged := make([]property, 0, len(own)+len(below))
	for len(own) > 0 && len(below) > 0 {
		switch order := strings.Compare(own[0].unit, below[0].unit); {
		case order == 0:
			below = below[1:]
		case order < 0:
			merged, own = append(merged, own[0]), own[1:]
		default:
			merged, below = append(merged, below[0]), below[1:]
		}
	}
	merged = append(append(merged, own...), below...)
	return Properties{merged[:min(len(merged), maxProperties)]}
}

// without returns the properties that drop does not accept.
func (p Properties) without(drop func(*property) bool) Properties {
	kept := make([]property, 0, len(p.list))
	for i := range p.list {
		if !drop(&p.list[i]) {
			kept = append(kept, p.list[i])
		}
	}
	return Properties{kept}
}

// toggles are the properties that styles turn on and off (§17.7.3).
var toggles = wml.SetOf("w:b w:bCs w:caps w:emboss w:i w:iCs w:imprint w:outline w:shadow w:smallCaps w:strike w:vanish")

// cascade combines the levels of styles, from the lowest. A toggle property is on if the defaults turn it on, or if an odd number of the
// levels do (§17.7.3).
func cascade(defaults Properties, levels ...Properties) Properties {
	result := defaults
	for _, level := range levels {
		result = level.toggled(result, defaults).over(result)
	}
	return result
}

// toggled returns p with the toggle properties that it changes in the levels below it, which result in below.
func (p Properties) toggled(below, defaults Properties) Properties {
	if !slices.ContainsFunc(p.list, func(v property) bool { return toggles[v.name] }) {
		return p
	}
	list := make([]property, 0, len(p.list))
	for _, v := range p.list {
		if toggles[v.name] {
			value, origin := below.Get(v.name)
			if origin.Level != Unset && (v.value == "false" || defaults.On(v.name)) {
				continue
			}
			if value == "true" {
				v.value = "false"
			}
		}
		list = append(list, v)
	}
	return Properties{list}
}

func onOff(on bool) string {
	if on {
		return "true"
	}
	return "false"
}
