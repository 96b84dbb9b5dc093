// Package wml reads a part of a Word document (WordprocessingML, ISO 29500-1 §17) into a tree of elements with their positions in the
// source, and defines which elements are text. It does not know tags.
package wml

import (
	"slices"
	"strings"

	"platen/ooxml"
	"platen/ooxml/scan"
)

// maxElements is the number of elements of one part. It limits the memory that compiling a template takes.
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

// traits are the tables that have the name of an element. They are looked up once for each name in a part.
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

// IsTextless reports whether the content of n is not part of the text of its paragraph: properties, and text deleted by tracked changes.
func (n *Node) IsTextless() bool { return n.traits&isTextless != 0 }

// IsCharacter reports whether n counts as one character of the text; see [Characters].
func (n *Node) IsCharacter() bool { return n.traits&isCharacter != 0 }

// IsRangeMarkup reports whether n begins or ends a range, such as a bookmark. It may be between paragraphs or in them, and its other half
// may be elsewhere.
func (n *Node) IsRangeMarkup() bool { return n.traits&isRangeMarkup != 0 }

// NeedsParagraph reports whether n must contain a paragraph, and end with one.
func (n *Node) NeedsParagraph() bool { return n.traits&holdsAParagraph != 0 }

// Attr is an attribute. Its bytes are src[Start:End], including the blanks before it, and its value src[ValueStart:ValueEnd].
type Attr struct {
	name                             string
	Start, ValueStart, ValueEnd, End int
}

// withAttributes are the elements whose attributes the tree keeps.
var withAttributes = SetOf("w:ins w:del w:moveFrom w:moveTo w:cellIns w:cellDel w:cellMerge w:rPrChange w:pPrChange " +
	"w:sectPrChange w:tblPrChange w:tblPrExChange w:tblGridChange w:trPrChange w:tcPrChange w:numberingChange " +
	"w:moveFromRangeStart w:moveFromRangeEnd w:moveToRangeStart w:moveToRangeEnd w:permStart w:permEnd w:p w:tr w:t w:br " +
	"wp:docPr w:bookmarkStart w:bookmarkEnd w:commentRangeStart w:commentRangeEnd w:commentReference w:comment w:pStyle " +
	"wps:txbx wps:linkedTxbx " +
	"w:outlineLvl w:num w:numId w:abstractNum w:abstractNumId w:ilvl w:lvl w:lvlOverride w:hyperlink w:fldSimple w:tag " +
	"w:alias w:date w:dateFormat w:lid w:listItem w14:checked w14:checkedState w14:uncheckedState c:chart cx:chart " +
	"w:footnoteReference w:headerReference w:footerReference w:endnoteReference w:footnote w:endnote wp:extent pic:cNvPr " +
	"a:ext a:off a:hlinkClick v:shape a:blip a:xfrm w:fldChar w:gridCol w:gridSpan w:gridBefore w:gridAfter w:wBefore w:wAfter w:tcW " +
	"w:pgSz w:pgMar w:numFmt w:start w:startOverride w:tab w:lvlText w:suff w:isLgl w:lvlRestart w:numStyleLink " +
	"v:rect v:roundrect v:oval v:line v:polyline v:curve v:arc v:image v:group v:shapetype v:textbox v:textpath o:OLEObject " +
	"o:proxy o:r w:control w:pageBreakBefore w:name w:checked w:listEntry w:maxLength w:format w:type")

// SetOf returns the set of the names in a list, which are separated by spaces.
func SetOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
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

// AttrValue returns the value of an attribute as written; "" if e is nil or lacks it.
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

// Index returns the position of n among the children of its parent.
func (n *Node) Index() int {
	i, _ := slices.BinarySearchFunc(n.Parent.Children, n.Start, func(c *Node, at int) int { return c.Start - at })
	return i
}

// Depth returns the number of ancestors of n.
func (n *Node) Depth() int {
	d := 0
	for ; n.Parent != nil; n = n.Parent {
		d++
	}
	return d
}

// CommonAncestor returns the lowest node that contains both.
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

// Void reports whether n is an empty-element tag.
func (n *Node) Void() bool { return n.OpenEnd == n.End }

// RawName returns the name of the element as written.
func (n *Node) RawName(src []byte) string {
	tag := string(src[n.Start+1 : n.OpenEnd])
	return tag[:strings.IndexAny(tag, " \t\r\n/>")]
}

// Prefix returns the prefix of the name as written, with its colon.
func (n *Node) Prefix(src []byte) string {
	name := n.RawName(src)
	return name[:strings.IndexByte(name, ':')+1]
}
