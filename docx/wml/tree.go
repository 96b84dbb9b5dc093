// Package wml reads WordprocessingML (ISO 29500-1 §17) where it stands: elements and attributes by their places in the source,
// the text that they hold. It knows nothing of tags.
package wml

import (
	"slices"
	"strings"

	"platen/ooxml"
	"platen/ooxml/scan"
)

// maxElements bounds the elements of one part, and so the memory that compiling a template takes.
const maxElements = 2 << 20

// Node is an element of a part. Its bytes are src[Start:End], its content src[OpenEnd:CloseStart].
type Node struct {
	Name                            string // canonical, as in "w:p" whatever the prefix in the file; "" in namespaces we do not read
	Parent                          *Node
	Children                        []*Node
	attrs                           []Attr // only of the elements in withAttributes
	traits                          traits
	Start, OpenEnd, CloseStart, End int
}

// traits are what tables say of an element by its name, looked up once for each name in a part.
type traits uint8

const (
	hasAttributes   traits = 1 << iota // it is in withAttributes
	isTextless                         // in textless
	isCharacter                        // in Characters
	isRangeMarkup                      // in rangeMarkup
	holdsAParagraph                    // in needsParagraph
)

func traitsOf(name string) (t traits) {
	if withAttributes[name] {
		t |= hasAttributes
	}
	if textless[name] {
		t |= isTextless
	}
	if Characters[name] != 0 {
		t |= isCharacter
	}
	if rangeMarkup[name] {
		t |= isRangeMarkup
	}
	if needsParagraph[name] {
		t |= holdsAParagraph
	}
	return t
}

// IsTextless tells whether the content of n is no text of the paragraph it is in: properties, and what tracked changes have deleted.
func (n *Node) IsTextless() bool { return n.traits&isTextless != 0 }

// IsCharacter tells whether n counts as one character of the text; see [Characters].
func (n *Node) IsCharacter() bool { return n.traits&isCharacter != 0 }

// IsRangeMarkup tells whether n begins or ends a range, as a bookmark: it may stand between paragraphs as well as in them, and its
// other half may be elsewhere.
func (n *Node) IsRangeMarkup() bool { return n.traits&isRangeMarkup != 0 }

// NeedsParagraph tells whether n must hold a paragraph, and end with one.
func (n *Node) NeedsParagraph() bool { return n.traits&holdsAParagraph != 0 }

// Attr is an attribute. Its bytes are src[Start:End], with the blanks before it; its value src[ValueStart:ValueEnd].
type Attr struct {
	name                             string
	Start, ValueStart, ValueEnd, End int
}

// withAttributes are the elements whose attributes the compiler looks at.
var withAttributes = map[string]bool{
	"w:ins": true, "w:del": true, "w:moveFrom": true, "w:moveTo": true, "w:cellIns": true, "w:cellDel": true, "w:cellMerge": true,
	"w:rPrChange": true, "w:pPrChange": true, "w:sectPrChange": true, "w:tblPrChange": true, "w:tblPrExChange": true,
	"w:tblGridChange": true, "w:trPrChange": true, "w:tcPrChange": true, "w:numberingChange": true,
	"w:moveFromRangeStart": true, "w:moveFromRangeEnd": true, "w:moveToRangeStart": true, "w:moveToRangeEnd": true, "w:permStart": true, "w:permEnd": true,
	"w:p": true, "w:tr": true, "w:t": true, "w:br": true, "wp:docPr": true, "w:bookmarkStart": true, "w:bookmarkEnd": true,
	"w:commentRangeStart": true, "w:commentRangeEnd": true, "w:commentReference": true, "w:comment": true, "w:pStyle": true, "w:outlineLvl": true,
	"w:style": true, "w:name": true, "w:basedOn": true, "w:num": true, "w:numId": true, "w:abstractNum": true, "w:abstractNumId": true, "w:ilvl": true, "w:lvl": true, "w:lvlOverride": true,
	"w:hyperlink": true, "w:fldSimple": true, "w:tag": true, "w:alias": true, "w:date": true, "w:dateFormat": true, "w:lid": true, "w:listItem": true,
	"w14:checked": true, "w14:checkedState": true, "w14:uncheckedState": true,
	"c:chart": true, "w:footnoteReference": true, "w:headerReference": true, "w:footerReference": true, "w:endnoteReference": true, "w:footnote": true, "w:endnote": true, "wp:extent": true, "pic:cNvPr": true, "a:ext": true, "a:off": true, "v:shape": true, "a:blip": true, "a:xfrm": true, "w:fldChar": true, "w:gridCol": true, "w:gridSpan": true, "w:gridBefore": true, "w:gridAfter": true, "w:wBefore": true, "w:wAfter": true, "w:tcW": true, "w:pgSz": true, "w:pgMar": true, "w:numFmt": true, "w:start": true, "w:startOverride": true,
}

// ParseTree reads a part that ooxml.CheckXML has accepted.
func ParseTree(part string, src []byte) (*Node, error) {
	b := &treeBuilder{r: scan.New(src), src: src}
	b.r.Classify = func(name string) scan.Class { return scan.Class(traitsOf(name)) }
	root, err := b.build()
	if err != nil {
		return nil, &ooxml.Error{Code: ooxml.CodeBadXML, Part: part, Message: err.Error(), Remedy: "open it in Word and save it again as .docx"}
	}
	return root, nil
}

// Attr returns the attribute of that canonical name, or nil; n may be nil.
func (n *Node) Attr(name string) *Attr {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.attrs, func(a Attr) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	return &n.attrs[i]
}

// AttrValue returns the value of an attribute as written, "" if e is nil or has none.
func AttrValue(src []byte, e *Node, name string) string {
	a := e.Attr(name)
	if a == nil {
		return ""
	}
	return string(src[a.ValueStart:a.ValueEnd])
}

// Child returns the first child of that name, or nil.
func (n *Node) Child(name string) *Node {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.Children, func(c *Node) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return n.Children[i]
}

// All returns the nodes of a name in n.
func (n *Node) All(name string) []*Node {
	var found []*Node
	for _, child := range n.Children {
		if child.Name == name {
			found = append(found, child)
		}
		found = append(found, child.All(name)...)
	}
	return found
}

// Ancestor returns the nearest node at or above n that ok accepts, or nil.
func (n *Node) Ancestor(ok func(*Node) bool) *Node {
	for n != nil && !ok(n) {
		n = n.Parent
	}
	return n
}

// Named accepts the nodes of a name.
func Named(name string) func(*Node) bool { return func(n *Node) bool { return n.Name == name } }

// Under returns the ancestor of n, or n, that is a child of top; nil if top is not above n.
func (n *Node) Under(top *Node) *Node {
	for n != nil && n.Parent != top {
		n = n.Parent
	}
	return n
}

// Depth is how many elements are around n.
func (n *Node) Depth() int {
	d := 0
	for ; n.Parent != nil; n = n.Parent {
		d++
	}
	return d
}

// CommonAncestor returns the lowest node that holds both.
func CommonAncestor(a, b *Node) *Node {
	if a == nil {
		return b
	}
	da, db := a.Depth(), b.Depth()
	for ; da > db; da-- {
		a = a.Parent
	}
	for ; db > da; db-- {
		b = b.Parent
	}
	for a != b {
		a, b = a.Parent, b.Parent
	}
	return a
}

// Void tells whether n is one tag.
func (n *Node) Void() bool { return n.OpenEnd == n.End }

// RawName is the element's name as written in the file.
func (n *Node) RawName(src []byte) string {
	tag := string(src[n.Start+1 : n.OpenEnd])
	return tag[:strings.IndexAny(tag, " \t\r\n/>")]
}

// Prefix is what stands before the name as written, with its colon.
func (n *Node) Prefix(src []byte) string {
	name := n.RawName(src)
	return name[:strings.IndexByte(name, ':')+1]
}
