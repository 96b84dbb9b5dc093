package wml

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

const wordNamespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

var treeSeeds = []string{
	`<w:p xmlns:w="` + wordNamespace + `" w:rsid='>"/'><w:r w:a = "1"><w:t xml:space="preserve">a > b</w:t ><w:br/></w:r></w:p>`,
	`<?xml version="1.0"?><!-- <a> --><p xmlns="` + wordNamespace +
		`" a="1"><?x <y> ?><![CDATA[<z>]]><t w='1' xmlns:w="urn:w"><w:t/></t><w/></p>`,
	`<x:p xmlns:x="` + wordNamespace + `"><x:rPr><x:b y:c="/>"/><x:i></x:i></x:rPr><x:rPr/><y:p xmlns:y="urn:y" y:a="1" x:b="2"/></x:p>`,
	`<x:p xmlns:x="` + wordNamespace + `"><x:p xmlns:x="urn:x" x:a=""/><x:p x:id="a&#10;b` + "\n" + `"/><x:q y:a="1"/></x:p>`,
}

// halfName finds names of a prefix or a local name alone, which encoding/xml takes as they are.
var halfName = regexp.MustCompile(`[\s<"']:|:[\s=/>]`)

// FuzzTree compares the tree with what encoding/xml reads.
func FuzzTree(f *testing.F) {
	for _, seed := range treeSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := []byte(text)
		if ooxml.CheckXML("/a.xml", src, 64) != nil || halfName.Match(src) {
			return
		}
		root, err := ParseTree("/a.xml", bytes.Clone(src))
		want, ok := readTree(src)
		if ok != (err == nil) {
			t.Fatalf("ParseTree: %v", err)
		}
		if !ok {
			return
		}
		if got := treeText(src, root); got != want {
			t.Errorf("the tree is\n%swant\n%s", got, want)
		}
	})
}

// treeText writes each element's name, places and attributes, in the order in which they end.
func treeText(src []byte, n *Node) string {
	var b strings.Builder
	for _, child := range n.Children {
		b.WriteString(treeText(src, child))
	}
	fmt.Fprintf(&b, "%s %d %d %d %d", n.Name, n.Start, n.OpenEnd, n.CloseStart, n.End)
	for _, a := range n.attrs {
		value := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(src[a.ValueStart:a.ValueEnd]))
		fmt.Fprintf(&b, " %s=%q", a.name, scan.Text([]byte(value)))
	}
	return b.String() + "\n"
}

// treeReader makes the text of treeText from the tokens of encoding/xml.
type treeReader struct {
	text   strings.Builder
	scopes []map[string]string
	open   []string // what is known of the elements
}

// readTree is false if a prefix is not declared.
func readTree(src []byte) (string, bool) {
	r := treeReader{scopes: []map[string]string{{"xml": "xml"}}}
	d := xml.NewDecoder(bytes.NewReader(src))
	for {
		start := int(d.InputOffset())
		token, err := d.RawToken()
		if err != nil {
			return r.text.String(), true
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !r.start(token, start, int(d.InputOffset())) {
				return "", false
			}
		case xml.EndElement:
			last := len(r.open) - 1
			fmt.Fprintf(&r.text, r.open[last], start, d.InputOffset())
			r.open, r.scopes = r.open[:last], r.scopes[:last+1]
		default:
		}
	}
}

func (r *treeReader) start(e xml.StartElement, start, end int) bool {
	scope := maps.Clone(r.scopes[len(r.scopes)-1])
	for _, a := range e.Attr {
		switch {
		case a.Name.Space == "xmlns":
			scope[a.Name.Local] = names.Prefix(a.Value)
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			scope[""] = names.Prefix(a.Value)
		}
	}
	name, ok := canonicalIn(scope, e.Name)
	attrs := ""
	for _, a := range e.Attr {
		known, declared := canonicalIn(scope, a.Name)
		switch a.Name.Space {
		case "xmlns":
			known, declared = "", true
		case "":
			known, declared = a.Name.Local, true
		}
		ok = ok && declared
		attrs += fmt.Sprintf(" %s=%q", known, a.Value)
	}
	if !withAttributes[name] {
		attrs = ""
	}
	r.scopes = append(r.scopes, scope)
	r.open = append(r.open, fmt.Sprintf("%s %d %d ", name, start, end)+"%d %d"+strings.ReplaceAll(attrs, "%", "%%")+"\n")
	return ok
}

func canonicalIn(scope map[string]string, n xml.Name) (string, bool) {
	canonical, ok := scope[n.Space]
	if canonical == "" {
		return "", ok || n.Space == ""
	}
	return canonical + ":" + n.Local, true
}
