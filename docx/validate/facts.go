package validate

import (
	"bytes"
	"strings"
)

// fact is an id, or a reference to one, in an attribute.
type fact struct {
	elements  string // names of the elements with the attribute
	attribute string // its name, with Platen's prefix
	within    string // the parent, if it matters
	space     string // the kind of id, such as "drawing" or "style"; ids are unique within it
	does      factKind
}

type factKind uint8

const (
	defines  factKind = iota // a unique id
	unique                   // a unique id that nothing refers to
	refers                   // a reference to an id that must exist
	mentions                 // a reference to an id that should exist
)

// facts lists the ids that must be unique in a document, and the references to them. ISO 29500-1 defines those of drawings (§20.4.2.5),
// bookmarks (§17.13.6.2), comments (§17.13.4), notes (§17.11), content controls (§17.5.2.18), lists (§17.9), and styles (§17.7). [MS-DOCX]
// 2.6.2.3 defines w14:paraId.
var facts = []fact{
	{"wp:docPr", "id", "", "drawing", unique},
	{"w:bookmarkStart", "w:id", "", "bookmark", defines},
	{"w:bookmarkStart", "w:name", "", "bookmark name", unique},
	{"w:bookmarkEnd", "w:id", "", "bookmark end", unique},
	{"w:bookmarkEnd", "w:id", "", "bookmark", mentions},
	{"w:p w:tr", "w14:paraId", "", "paragraph", unique},
	{"w:commentRangeStart", "w:id", "", "start of a comment", unique},
	{"w:commentRangeEnd", "w:id", "", "end of a comment", unique},
	{"w:commentRangeStart", "w:id", "", "end of a comment", mentions},
	{"w:commentRangeEnd", "w:id", "", "start of a comment", mentions},
	{"w:commentReference", "w:id", "", "reference to a comment", unique},
	{"w:comment", "w:id", "", "comment", defines},
	{"w:commentReference", "w:id", "", "comment", refers},
	{"w:footnote", "w:id", "", "footnote", defines},
	{"w:footnoteReference", "w:id", "", "footnote", refers},
	{"w:endnote", "w:id", "", "endnote", defines},
	{"w:endnoteReference", "w:id", "", "endnote", refers},
	{"w:id", "w:val", "w:sdtPr", "content control", unique},
	{"w:num", "w:numId", "", "list", defines},
	{"w:numId", "w:val", "", "list", mentions},
	{"w:abstractNum", "w:abstractNumId", "", "kind of list", defines},
	{"w:abstractNumId", "w:val", "w:num", "kind of list", refers},
	{"w:style", "w:styleId", "", "style", defines},
	{"w:pStyle w:rStyle w:tblStyle w:basedOn w:link w:next", "w:val", "", "style", mentions},
}

// value returns the value of the attribute of a fact, if the element at p has it.
func (f *fact) value(p *point, t *tag) (string, bool) {
	if f.within != "" && p.parent.elem.name != f.within {
		return "", false
	}
	wantPrefix, wantLocal, ok := strings.Cut(f.attribute, ":")
	if !ok {
		wantPrefix, wantLocal = "", f.attribute
	}
	for _, a := range t.attrs {
		if !bytes.HasSuffix(a.name, []byte(wantLocal)) {
			continue
		}
		if prefix, local, _ := p.scope.attribute(a.name); string(local) == wantLocal && prefix == wantPrefix {
			return string(a.value), true
		}
	}
	return "", false
}

// required lists attributes that elements must have: the relationships of links (ISO 29500-1 §20.1.2.2.23 and §21.1.2.3.5). Their values
// may be empty.
var required = map[string]string{"a:hlinkClick": "r:id", "a:hlinkHover": "r:id", "a:hlinkMouseOver": "r:id"}

// lacks returns the fault of an element without a required attribute, or nil.
func (t *tag) lacks(p *point) *fault {
	prefix, local, _ := strings.Cut(p.elem.required, ":")
	for _, a := range t.attrs {
		if has, name, _ := p.scope.attribute(a.name); has == prefix && string(name) == local {
			return nil
		}
	}
	return &fault{CodeMissing, p.elem.name + " has no " + p.elem.required, false}
}

// twice returns the fault of a duplicate id.
func (f *fact) twice(id string) *fault {
	return &fault{CodeDuplicate, "the id " + id + " of a " + f.space + " is used twice", false}
}

func noRelationship(id string) *fault {
	return &fault{CodeRelationship, "the relationship " + id + " is used but not defined", false}
}
