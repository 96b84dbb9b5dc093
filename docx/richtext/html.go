package richtext

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"platen/budget"
)

const (
	// maxNodes is the largest number of elements and texts in the tree of a fragment. The parser repeats unclosed elements such as b in
	// every following paragraph, so they are counted before parsing.
	maxNodes = 200_000
	// maxAttributes is the largest number of attributes of an element.
	maxAttributes = 100
)

// parseHTML parses a fragment as browsers do (WHATWG HTML §13.4). ok is false if it is nested too deeply.
func parseHTML(m *budget.Meter, s string) (nodes []*html.Node, ok bool) {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragmentWithOptions(m.Reader(strings.NewReader(s)), body, html.ParseOptionEnableScripting(false))
	return nodes, err == nil // nested deeper than 512 elements
}

// formatting are the elements that the parser begins again where they were not closed.
var formatting = []string{"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}

// countNodes returns the number of nodes in the tree of a fragment. ok is false if the fragment is beyond the limits.
func countNodes(s string) (nodes int, ok bool) {
	if len(s) > MaxHTML {
		return 0, false
	}
	open := map[string]int{}
	active := 0
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return nodes, true // the end
		case html.StartTagToken:
			tag := z.Token()
			if len(tag.Attr) > maxAttributes {
				return nodes, false
			}
			if slices.Contains(formatting, tag.Data) {
				open[tag.Data]++
				active++
			}
		case html.EndTagToken:
			if tag := z.Token(); open[tag.Data] > 0 {
				open[tag.Data]--
				active--
			}
		default:
		}
		if nodes += 1 + active; nodes > maxNodes {
			return nodes, false
		}
	}
}

// stripTags returns the text of a fragment, with line breaks for what would begin a line.
func stripTags(s string) string {
	var b strings.Builder
	hidden := ""
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if hidden == "" {
				b.Write(z.Text())
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			if hidden == "" && vanishing[string(name)] {
				hidden = string(name)
			}
			if string(name) == "br" {
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if hidden == string(name) {
				hidden = ""
			}
			if endsLine[string(name)] {
				b.WriteByte('\n')
			}
		default: // comments
		}
	}
}

var endsLine = setOf("p div h1 h2 h3 h4 h5 h6 li tr pre blockquote")

// vanishing are the elements whose content is not for readers.
var vanishing = setOf("script style head title template iframe noframes noembed object embed applet video audio canvas svg select datalist")

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Namespace == "" && a.Key == name })
}
