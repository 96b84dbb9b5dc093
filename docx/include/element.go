package include

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/beevik/etree"

	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

type element = etree.Element

func emptyParagraph(strict bool) string {
	return `<w:p xmlns:w="` + names.Namespace("w", strict) + `"/>`
}

// textParagraph returns a paragraph with a text that needs no escaping, or "" without one.
func textParagraph(text string, strict bool) string {
	if text == "" {
		return ""
	}
	return `<w:p xmlns:w="` + names.Namespace("w", strict) + `"><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

// nameOf is the name of an element as "w:p" whatever its prefix; "" in namespaces that do not count.
func nameOf(e *element) string { return qualified(e.NamespaceURI(), e.Tag) }

// attrName is nameOf for an attribute; one without a namespace has its plain name.
func attrName(a *etree.Attr) string {
	if a.Space == "" {
		return a.Key
	}
	return qualified(a.NamespaceURI(), a.Key)
}

func qualified(namespace, name string) string {
	prefix := names.Prefix(namespace)
	if prefix == "" {
		return ""
	}
	return prefix + ":" + name
}

func isTable(e *element) bool { return nameOf(e) == "w:tbl" }

// attr returns an attribute, nil if the element, which may be nil, has none of that name.
func attr(e *element, name string) *etree.Attr {
	if e == nil {
		return nil
	}
	for i := range e.Attr {
		if attrName(&e.Attr[i]) == name {
			return &e.Attr[i]
		}
	}
	return nil
}

// value returns the value of an attribute, "" if it is missing.
func value(e *element, name string) string {
	if a := attr(e, name); a != nil {
		return a.Value
	}
	return ""
}

// child returns the first child of a name; nil if the element, which may be nil, has none.
func child(e *element, name string) *element {
	if e == nil {
		return nil
	}
	for _, c := range e.ChildElements() {
		if nameOf(c) == name {
			return c
		}
	}
	return nil
}

// readElement returns the root of a part.
func readElement(pkg *ooxml.Package, part *ooxml.Part) (*element, error) {
	src, err := pkg.ReadXML(part)
	if err != nil {
		return nil, err
	}
	return parseElement(src)
}

// parseElement returns the root of XML with all that is in it, but for comments and processing instructions.
func parseElement(src []byte) (*element, error) {
	var root, open *element
	for r := scan.New(src); ; {
		more := r.Next()
		if open != nil {
			if text := r.Text(); len(text) > 0 {
				open.CreateText(string(text))
			}
		}
		switch {
		case r.Err() != nil:
			return nil, fmt.Errorf("cannot be read: %w", r.Err())
		case !more && root == nil:
			return nil, fmt.Errorf("cannot be read: %w", io.ErrUnexpectedEOF)
		case !more:
			return root, nil
		case r.Kind == scan.Close:
			open = open.Parent()
			continue
		}
		e := etree.NewElement(r.RawName())
		for i := range r.Attributes() {
			a := &r.Attributes()[i]
			e.CreateAttr(string(src[a.NameStart:a.NameEnd]), scan.Value(r.Value(a)))
		}
		if open != nil {
			open.AddChild(e)
		}
		if root == nil {
			root = e
		}
		if r.Kind == scan.Open {
			open = e
		}
	}
}

// writeElement writes an element with all that is in it.
func writeElement(w io.Writer, e *element) error {
	doc := etree.NewDocument()
	doc.WriteSettings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true}
	doc.SetRoot(e)
	_, err := doc.WriteTo(w)
	return err
}

// declarations are the namespaces that are declared at a place, by prefix, and the prefixes that may be ignored there.
type declarations struct {
	prefixes  map[string]string
	ignorable []string
}

// declarationsOf returns the declarations of the root element of a part.
func declarationsOf(src []byte) (declarations, error) {
	d := declarations{prefixes: map[string]string{"xml": names.Namespace("xml", false)}}
	r := scan.New(src)
	if !r.Next() {
		return d, fmt.Errorf("cannot be read: %w", cmp.Or(r.Err(), io.ErrUnexpectedEOF))
	}
	for i := range r.Attributes() {
		a := &r.Attributes()[i]
		prefix, ok := strings.CutPrefix(string(src[a.NameStart:a.NameEnd]), "xmlns")
		if ok && (prefix == "" || prefix[0] == ':') {
			d.prefixes[strings.TrimPrefix(prefix, ":")] = scan.Value(r.Value(a))
		}
	}
	d.ignorable = strings.Fields(r.Attr("mc:Ignorable"))
	return d, nil
}

// declarationsAt returns the declarations in effect in an element.
func declarationsAt(e *element) declarations {
	d := declarations{prefixes: map[string]string{}}
	for ; e != nil; e = e.Parent() {
		for i := range e.Attr {
			a := &e.Attr[i]
			if a.Space == "xmlns" && d.prefixes[a.Key] == "" {
				d.prefixes[a.Key] = a.Value
			}
			if a.Space == "" && a.Key == "xmlns" && d.prefixes[""] == "" {
				d.prefixes[""] = a.Value
			}
			if attrName(a) == "mc:Ignorable" {
				d.ignorable = append(d.ignorable, strings.Fields(a.Value)...)
			}
		}
	}
	return d
}

// declare adds declarations to an element that moves from a place with the declarations from to one with the declarations there.
func declare(e *element, from, there declarations) {
	used := map[string]bool{}
	usedPrefixes(e, used)
	var ignorable, missing []string
	for prefix := range used {
		if uri := from.prefixes[prefix]; uri != "" && uri != there.prefixes[prefix] && own(e, prefix) == nil {
			missing = append(missing, prefix)
		}
		if prefix != "" && slices.Contains(from.ignorable, prefix) && !(slices.Contains(there.ignorable, prefix) &&
			there.prefixes[prefix] == from.prefixes[prefix]) {
			ignorable = append(ignorable, prefix)
		}
	}
	slices.Sort(missing)
	for _, prefix := range missing {
		if prefix == "" {
			e.CreateAttr("xmlns", from.prefixes[""])
		} else {
			e.CreateAttr("xmlns:"+prefix, from.prefixes[prefix])
		}
	}
	if slices.Sort(ignorable); len(ignorable) > 0 {
		e.CreateAttr("xmlns:mc", names.Namespace("mc", false))
		e.CreateAttr("mc:Ignorable", strings.Join(ignorable, " "))
	}
}

// detached returns a copy of an element in a place that declares the same.
func detached(e *element, from declarations) *element {
	holder := etree.NewElement("holder")
	for prefix, uri := range from.prefixes {
		if prefix == "" {
			holder.CreateAttr("xmlns", uri)
		} else {
			holder.CreateAttr("xmlns:"+prefix, uri)
		}
	}
	c := e.Copy()
	holder.AddChild(c)
	return c
}

// parseWithin returns the elements of XML that is in a place with declarations.
func parseWithin(there declarations, xml []byte) ([]*element, error) {
	holder := etree.NewElement("holder")
	for prefix, uri := range there.prefixes {
		if prefix != "" && prefix != "xml" {
			holder.CreateAttr("xmlns:"+prefix, uri)
		}
	}
	var text strings.Builder
	if err := writeElement(&text, holder); err != nil {
		return nil, err
	}
	root, err := parseElement([]byte(strings.TrimSuffix(text.String(), "/>") + ">" + string(xml) + "</holder>"))
	if err != nil {
		return nil, err
	}
	return root.ChildElements(), nil
}

// lastParagraph returns the last paragraph of the text in an element, which may be one itself, or nil.
func lastParagraph(e *element) *element {
	switch nameOf(e) {
	case "w:p":
		return e
	case "w:tbl", "w:tr", "w:tc", "w:sdt", "w:sdtContent", "w:customXml":
		for _, child := range slices.Backward(e.ChildElements()) {
			if p := lastParagraph(child); p != nil {
				return p
			}
		}
	}
	return nil
}

// own returns the attribute by which the element itself declares a prefix.
func own(e *element, prefix string) *etree.Attr {
	if prefix == "" {
		return e.SelectAttr("xmlns")
	}
	return e.SelectAttr("xmlns:" + prefix)
}

// usedPrefixes records the prefixes of the names in an element, and those in attributes of markup compatibility.
func usedPrefixes(e *element, used map[string]bool) {
	used[e.Space] = true
	for i := range e.Attr {
		a := &e.Attr[i]
		if a.Space != "xmlns" && a.Space != "" && a.Space != "xml" {
			used[a.Space] = true
		}
		if a.Key == "Requires" || a.Key == "Ignorable" || a.Key == "MustUnderstand" || a.Key == "ProcessContent" {
			for word := range strings.FieldsSeq(a.Value) {
				prefix, _, _ := strings.Cut(word, ":")
				used[prefix] = true
			}
		}
	}
	for _, c := range e.ChildElements() {
		usedPrefixes(c, used)
	}
}

// beforePageBreak are the properties of a paragraph that precede w:pageBreakBefore (ISO 29500-1 Annex A, CT_PPr).
var beforePageBreak = []string{"w:pStyle", "w:keepNext", "w:keepLines"}

// breakPage has a page begin with the first paragraph of a block.
func breakPage(b *element) {
	p := firstParagraph(b)
	if p == nil {
		return
	}
	props := child(p, "w:pPr")
	if props == nil {
		props = etree.NewElement("pPr")
		props.Space = p.Space
		p.InsertChildAt(0, props)
	}
	if own := child(props, "w:pageBreakBefore"); own != nil {
		props.RemoveChild(own)
	}
	at := 0
	for _, c := range props.ChildElements() {
		if slices.Contains(beforePageBreak, nameOf(c)) {
			at = c.Index() + 1
		}
	}
	page := etree.NewElement("pageBreakBefore")
	page.Space = p.Space
	props.InsertChildAt(at, page)
}

// firstParagraph returns the first paragraph in an element, which may be one itself, or nil.
func firstParagraph(e *element) *element {
	if nameOf(e) == "w:p" {
		return e
	}
	for _, c := range e.ChildElements() {
		if p := firstParagraph(c); p != nil {
			return p
		}
	}
	return nil
}
