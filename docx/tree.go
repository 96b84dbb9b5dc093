package docx

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/xml"

	"platen/docx/opc"
)

// maxElements bounds the elements of one part, and so the memory that compiling a template takes.
const maxElements = 2 << 20

// node is an element of a part. Its bytes are src[start:end], its content src[openEnd:closeStart].
type node struct {
	name                            string // canonical, as in "w:p" whatever the prefix in the file; "" in namespaces we do not read
	parent                          *node
	children                        []*node
	attrs                           []attr // only of the elements in withAttributes
	start, openEnd, closeStart, end int
}

// attr is an attribute. Its bytes are src[start:end], with the blanks before it; its value src[valueStart:valueEnd].
type attr struct {
	name                             string
	start, valueStart, valueEnd, end int
}

// namespaces gives each namespace we read one prefix; transitional and strict (ISO 29500-4 and -1) are the same to us.
var namespaces = map[string]string{
	"http://schemas.openxmlformats.org/wordprocessingml/2006/main":           "w",
	"http://purl.oclc.org/ooxml/wordprocessingml/main":                       "w",
	"http://schemas.openxmlformats.org/markup-compatibility/2006":            "mc",
	"http://schemas.microsoft.com/office/word/2010/wordml":                   "w14",
	"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing": "wp",
	"http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing":             "wp",
	"http://schemas.openxmlformats.org/officeDocument/2006/math":             "m",
	"http://purl.oclc.org/ooxml/officeDocument/math":                         "m",
	"http://schemas.openxmlformats.org/officeDocument/2006/relationships":    "r",
	"http://purl.oclc.org/ooxml/officeDocument/relationships":                "r",
	"http://schemas.openxmlformats.org/drawingml/2006/main":                  "a",
	"http://purl.oclc.org/ooxml/drawingml/main":                              "a",
	"http://schemas.openxmlformats.org/drawingml/2006/picture":               "pic",
	"http://purl.oclc.org/ooxml/drawingml/picture":                           "pic",
	"http://schemas.openxmlformats.org/drawingml/2006/chart":                 "c",
	"http://purl.oclc.org/ooxml/drawingml/chart":                             "c",
	"urn:schemas-microsoft-com:vml":                                          "v",
	"http://www.w3.org/XML/1998/namespace":                                   "xml",
}

// withAttributes are the elements whose attributes the compiler looks at.
var withAttributes = map[string]bool{
	"w:ins": true, "w:del": true, "w:moveFrom": true, "w:moveTo": true, "w:cellIns": true, "w:cellDel": true, "w:cellMerge": true,
	"w:rPrChange": true, "w:pPrChange": true, "w:sectPrChange": true, "w:tblPrChange": true, "w:tblPrExChange": true,
	"w:tblGridChange": true, "w:trPrChange": true, "w:tcPrChange": true, "w:numberingChange": true,
	"w:moveFromRangeStart": true, "w:moveToRangeStart": true, "w:permStart": true, "w:permEnd": true,
	"w:p": true, "w:tr": true, "w:t": true, "w:br": true, "wp:docPr": true, "w:bookmarkStart": true, "w:bookmarkEnd": true,
	"w:commentRangeStart": true, "w:commentRangeEnd": true, "w:commentReference": true, "w:comment": true, "w:pStyle": true, "w:outlineLvl": true,
	"w:style": true, "w:name": true, "w:basedOn": true, "w:num": true, "w:numId": true, "w:abstractNum": true, "w:abstractNumId": true, "w:ilvl": true, "w:lvl": true, "w:lvlOverride": true,
	"w:hyperlink": true, "w:fldSimple": true, "w:tag": true, "w:alias": true, "w:date": true, "w:dateFormat": true, "w:lid": true, "w:listItem": true,
	"w14:checked": true, "w14:checkedState": true, "w14:uncheckedState": true,
	"c:chart": true, "w:footnoteReference": true, "w:endnoteReference": true, "w:footnote": true, "w:endnote": true, "wp:extent": true, "pic:cNvPr": true, "a:ext": true, "a:off": true, "v:shape": true, "a:blip": true, "a:xfrm": true, "w:fldChar": true, "w:gridCol": true, "w:gridSpan": true, "w:gridBefore": true, "w:tcW": true, "w:pgSz": true, "w:pgMar": true, "w:numFmt": true, "w:start": true, "w:startOverride": true,
}

// parseTree reads a part that opc.CheckXML has accepted.
func parseTree(part string, src []byte) (*node, error) { return parseOutline(part, src, nil) }

// parseOutline is parseTree without the content of some elements.
func parseOutline(part string, src []byte, hollow map[string]bool) (*node, error) {
	b := &treeBuilder{src: src, scope: []binding{{"xml", "xml"}}, names: map[string]*name{}, hollow: hollow}
	root, err := b.build()
	if err != nil {
		return nil, &opc.Error{Code: opc.CodeBadXML, Part: part, Message: err.Error(), Remedy: "open it in Word and save it again as .docx"}
	}
	return root, nil
}

// attr returns the attribute of that canonical name, or nil.
func (n *node) attr(name string) *attr {
	i := slices.IndexFunc(n.attrs, func(a attr) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	return &n.attrs[i]
}

// child returns the first child of that name, or nil.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.children, func(c *node) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return n.children[i]
}

// ancestor returns the nearest node at or above n that ok accepts, or nil.
func (n *node) ancestor(ok func(*node) bool) *node {
	for n != nil && !ok(n) {
		n = n.parent
	}
	return n
}

func named(name string) func(*node) bool { return func(n *node) bool { return n.name == name } }

// under returns the ancestor of n, or n, that is a child of top; nil if top is not above n.
func (n *node) under(top *node) *node {
	for n != nil && n.parent != top {
		n = n.parent
	}
	return n
}

func (n *node) depth() int {
	d := 0
	for ; n.parent != nil; n = n.parent {
		d++
	}
	return d
}

// commonAncestor returns the lowest node that holds both.
func commonAncestor(a, b *node) *node {
	if a == nil {
		return b
	}
	da, db := a.depth(), b.depth()
	for ; da > db; da-- {
		a = a.parent
	}
	for ; db > da; db-- {
		b = b.parent
	}
	for a != b {
		a, b = a.parent, b.parent
	}
	return a
}

func (n *node) void() bool { return n.openEnd == n.end }

// rawName is the element's name as written in the file.
func (n *node) rawName(src []byte) string {
	tag := src[n.start+1 : n.openEnd]
	return string(tag[:bytes.IndexAny(tag, " \t\r\n/>")])
}

// prefix is what stands before the name as written, with its colon.
func (n *node) prefix(src []byte) string {
	name := n.rawName(src)
	return name[:strings.IndexByte(name, ':')+1]
}

// expandCDATA writes CDATA sections as ordinary text, so that text has one form only.
func expandCDATA(src []byte) []byte {
	if !bytes.Contains(src, []byte("<![CDATA[")) {
		return src
	}
	input := parse.NewInputBytes(src)
	defer input.Restore()
	lexer := xml.NewLexer(input)
	var out []byte
	for {
		switch kind, data := lexer.Next(); kind {
		case xml.ErrorToken:
			return out
		case xml.CDATAToken:
			out = appendEscaped(out, string(data[len("<![CDATA["):len(data)-len("]]>")]))
		default:
			out = append(out, data...)
		}
	}
}
