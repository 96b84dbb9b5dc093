package compile

import (
	"net/url"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml/names"
)

// Links whose URL, in the relationships of the part, contains tags.

// links are the links of one part.
type links struct {
	*compiler
	bound []*boundLink
}

// boundLink is a link whose URL contains tags.
type boundLink struct {
	id   *wml.Attr // of its relationship
	step *program.Link
}

// find finds the links.
func (c *links) find() {
	for _, r := range c.rels {
		target := r.Target
		if decoded, err := url.PathUnescape(target); err == nil && strings.Contains(decoded, "{{") {
			target = decoded
		}
		spans, _ := lang.Find(target)
		if r.Type != names.RelHyperlink || !r.External || len(spans) == 0 {
			continue
		}
		for _, n := range c.root.All("w:hyperlink") {
			if wml.AttrValue(c.src, n, "r:id") == r.ID {
				c.findLink(n, target, spans)
			}
		}
	}
}

func (c *links) findLink(n *wml.Node, target string, spans []lang.Span) {
	link := new(program.Link)
	at := 0
	for _, span := range spans {
		a := c.asideIn(n, target[span.Start:span.End], "address of a link")
		if a == nil {
			return
		}
		if target[:span.Start] == "" {
			a.reads = (*lang.Use).AddAddress
		}
		c.asides = append(c.asides, a)
		link.Texts = append(link.Texts, target[at:span.Start])
		link.Tags = append(link.Tags, a.mark.tag)
		at = span.End
	}
	link.Texts = append(link.Texts, target[at:])
	c.bound = append(c.bound, &boundLink{n.Attr("r:id"), link})
}

// edit writes the edits of the links.
func (c *links) edit() {
	for _, link := range c.bound {
		link.step.ID = c.copy(link.id.ValueStart, link.id.ValueEnd)
		c.replace(link.id.ValueStart, link.id.ValueEnd, link.step)
	}
}
