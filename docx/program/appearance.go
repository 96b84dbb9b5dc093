package program

import (
	"fmt"
	"strings"

	"platen/docx/lang"
)

// The appearance of what is around a tag: the shading of its cell, row, or paragraph, and the style of its paragraph.

// Shading writes the shading of a cell or paragraph. The last of its tags that sets a color determines it.
type Shading struct {
	Tags     []*lang.Tag
	Prefix   string
	Original []byte // the shading in the template, which applies if no tag sets a color
}

func (o *Shading) sketch(s *sketcher) { s.Fresh() }

func (o *Shading) run(x *execution) error {
	color := ""
	for _, tag := range o.Tags {
		_, present, _, err := x.env.Show(tag)
		if err != nil {
			return err
		}
		if present != nil && present.Shade != "" {
			color = present.Shade
		}
	}
	if color == "" {
		x.out.buf = append(x.out.buf, o.Original...)
		return nil
	}
	x.out.buf = fmt.Appendf(x.out.buf, `<%[1]sshd %[1]sval="clear" %[1]scolor="auto" %[1]sfill="%[2]s"/>`, o.Prefix, color)
	return nil
}

// ParagraphStyle writes the style of a paragraph. The last of its tags that names a paragraph style of the template determines it.
type ParagraphStyle struct {
	Tags     []*lang.Tag
	Prefix   string
	Original []byte // the style in the template
}

func (o *ParagraphStyle) sketch(s *sketcher) { s.Fresh() }

func (o *ParagraphStyle) run(x *execution) error {
	style := ""
	for _, tag := range o.Tags {
		_, present, _, err := x.env.Show(tag)
		if err != nil {
			return err
		}
		if present == nil || !x.d.stylesParagraph(present.Style) {
			continue
		}
		style = present.Style
		if x.d.HasTOC && !x.toc.now.styleIsOpen() && strings.HasPrefix(strings.ToLower(style), "heading ") {
			x.warn(tag, "The paragraph of '"+tag.Expr.String()+"' has the style '"+style+
				"' of a heading, but tables of contents do not list it.")
		}
	}
	if style == "" {
		x.out.buf = append(x.out.buf, o.Original...)
		return nil
	}
	id := x.d.styleID("paragraph", style)
	if x.toc.now.styleIsOpen() {
		x.toc.now.style = id
	}
	x.out.buf = fmt.Appendf(x.out.buf, `<%[1]spStyle %[1]sval="%[2]s"/>`, o.Prefix, id)
	return nil
}

// stylesParagraph reports whether a name is that of a paragraph style. A character style of the same name comes first.
func (d *Document) stylesParagraph(name string) bool {
	return name != "" && d.styleID("character", name) == "" && d.styleID("paragraph", name) != ""
}
