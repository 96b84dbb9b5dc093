package docx

import (
	"bytes"
	"fmt"
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
	input := parse.NewInputBytes(src)
	defer input.Restore()
	b := &treeBuilder{lexer: xml.NewLexer(input), input: input, scope: []binding{{"xml", "xml"}}, names: map[string]string{}, spelled: map[string]string{}, hollow: hollow}
	root, err := b.build()
	if err != nil {
		return nil, &opc.Error{Code: opc.CodeBadXML, Part: part, Message: err.Error(), Remedy: "open it in Word and save it again as .docx"}
	}
	return root, nil
}

// binding is a namespace prefix in force; canonical is "" for a namespace we do not read.
type binding struct{ prefix, canonical string }

type treeBuilder struct {
	lexer    *xml.Lexer
	input    *parse.Input
	scope    []binding
	bound    []int             // for each open element, how long scope was outside it
	names    map[string]string // canonical names by names as written, under the current scope
	spelled  map[string]string // names as written, each once
	nodes    []node            // memory for more
	attrs    []attr            // of the tag that is being read
	kept     []attr            // memory for those of nodes
	hollow   map[string]bool   // elements whose content does not count
	elements int
}

func (b *treeBuilder) build() (*node, error) {
	var root, open *node
	for {
		kind, data := b.lexer.Next()
		end := b.input.Offset()
		switch kind {
		case xml.ErrorToken:
			if root == nil || open != nil {
				return nil, fmt.Errorf("the XML ends inside an element")
			}
			return root, nil
		case xml.StartTagToken:
			n, void, err := b.element(open, end-len(data), b.name())
			if err != nil {
				return nil, err
			}
			if root == nil {
				root = n
			}
			switch {
			case void:
				b.leave()
			case b.hollow[n.name]:
				if err := b.skip(n); err != nil {
					return nil, err
				}
			default:
				open = n
			}
		case xml.EndTagToken:
			if open == nil {
				return nil, fmt.Errorf("the XML closes an element that is not open")
			}
			open.closeStart, open.end = end-len(data), end
			open = open.parent
			b.leave()
		default: // text, comments, instructions: what lies between elements is found by its place
		}
	}
}

// skip reads an element to its end.
func (b *treeBuilder) skip(n *node) error {
	for depth := 1; ; {
		kind, data := b.lexer.Next()
		switch kind {
		case xml.StartTagCloseToken:
			depth++
		case xml.EndTagToken:
			depth--
		case xml.ErrorToken:
			return fmt.Errorf("the XML ends inside an element")
		default: // what does not count
		}
		if depth == 0 {
			n.end = b.input.Offset()
			n.closeStart = n.end - len(data)
			b.leave()
			return nil
		}
	}
}

// element reads a start tag to its end.
func (b *treeBuilder) element(parent *node, start int, raw string) (n *node, void bool, err error) {
	if b.elements++; b.elements > maxElements {
		return nil, false, fmt.Errorf("the part has more than %d elements", maxElements)
	}
	n = b.node()
	n.parent, n.start = parent, start
	b.bound = append(b.bound, len(b.scope))
	b.attrs = b.attrs[:0]
	for {
		kind, data := b.lexer.Next()
		end := b.input.Offset()
		if kind == xml.AttributeToken {
			value := b.lexer.AttrVal()
			a := attr{name: b.name(), start: end - len(data), end: end}
			if len(value) >= 2 {
				a.valueStart, a.valueEnd = end-len(value)+1, end-1
				b.bind(a.name, value[1:len(value)-1])
			}
			b.attrs = append(b.attrs, a)
			continue
		}
		if kind == xml.ErrorToken {
			return nil, false, fmt.Errorf("the XML ends inside a tag")
		}
		n.openEnd, n.closeStart, n.end = end, end, end
		void = kind == xml.StartTagCloseVoidToken
		break
	}
	if n.name, err = b.canonical(raw, true); err != nil {
		return nil, false, err
	}
	if err := b.attributes(n); err != nil {
		return nil, false, err
	}
	if parent != nil {
		parent.children = append(parent.children, n)
	}
	return n, void, nil
}

// node returns memory for a node.
func (b *treeBuilder) node() *node {
	const block = 128
	if len(b.nodes) == 0 {
		b.nodes = make([]node, block)
	}
	n := &b.nodes[0]
	b.nodes = b.nodes[1:]
	return n
}

// name returns the name that the lexer has read.
func (b *treeBuilder) name() string {
	text := b.lexer.Text()
	name, ok := b.spelled[string(text)]
	if !ok {
		name = string(text)
		b.spelled[name] = name
	}
	return name
}

// attributes gives a node its attributes, if they count. Their prefixes must be declared in any case.
func (b *treeBuilder) attributes(n *node) error {
	for i := range b.attrs {
		name, err := b.canonical(b.attrs[i].name, false)
		if err != nil {
			return err
		}
		b.attrs[i].name = name
	}
	if count := len(b.attrs); count > 0 && withAttributes[n.name] {
		const block = 256
		if cap(b.kept)-len(b.kept) < count {
			b.kept = make([]attr, 0, max(block, count))
		}
		from := len(b.kept)
		b.kept = append(b.kept, b.attrs...)
		n.attrs = b.kept[from:len(b.kept):len(b.kept)]
	}
	return nil
}

// bind notes a namespace declaration.
func (b *treeBuilder) bind(attrName string, uri []byte) {
	prefix, ok := strings.CutPrefix(attrName, "xmlns:")
	if !ok {
		if attrName != "xmlns" {
			return
		}
		prefix = ""
	}
	b.scope = append(b.scope, binding{prefix, namespaces[string(uri)]})
	clear(b.names)
}

func (b *treeBuilder) leave() {
	last := len(b.bound) - 1
	if n := b.bound[last]; n < len(b.scope) {
		b.scope = b.scope[:n]
		clear(b.names)
	}
	b.bound = b.bound[:last]
}

// canonical gives the name with our own prefix. An attribute without a prefix is in no namespace and keeps its name.
func (b *treeBuilder) canonical(raw string, element bool) (string, error) {
	if !element && strings.IndexByte(raw, ':') < 0 {
		return raw, nil
	}
	if name, ok := b.names[raw]; ok {
		return name, nil
	}
	prefix, local, prefixed := strings.Cut(raw, ":")
	if !prefixed {
		prefix, local = "", raw
	}
	if !element && prefix == "xmlns" {
		return "", nil
	}
	i := len(b.scope) - 1
	for ; i >= 0 && b.scope[i].prefix != prefix; i-- {
	}
	if i < 0 && prefixed {
		return "", fmt.Errorf("the namespace prefix %q is not declared", prefix)
	}
	name := ""
	if i >= 0 && b.scope[i].canonical != "" {
		name = b.scope[i].canonical + ":" + local
		if name == raw {
			name = raw
		}
	}
	b.names[raw] = name
	return name, nil
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
