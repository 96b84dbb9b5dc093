package importer

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/scan"
)

// maxAsides limits the tags outside the text that a report lists.
const maxAsides = 1000

// elsewhere lists the tags that are not in text, such as those in properties, charts, and links. They stay as they are.
func (i *importer) elsewhere() ([]Result, error) {
	if i.dialect == box || i.dialect == mailMerge {
		return nil, nil
	}
	var all []Result
	add := func(part, place, text string) {
		for _, t := range i.tagsOf(&paragraph{text: text}) {
			if len(all) < maxAsides {
				all = append(all, Result{
					Part: part, Place: place, Text: shorten(text), Original: t.original(), Reason: "it is not in the text of the document",
					Advice: "write the tag of Platen there (docs/templates.md#tags-in-other-places)",
				})
			}
		}
	}
	for _, p := range i.parts {
		for _, n := range p.root.All("m:oMath") {
			add(p.name, "an equation", textOf(p.src, n))
		}
		if err := i.attributesOf(p.src, func(place, text string) { add(p.name, place, text) }); err != nil {
			return nil, err
		}
	}
	for _, opc := range i.pkg.Parts() {
		if err := i.aside(opc, add); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// aside adds the texts of a part that is no text of the document, and its links.
func (i *importer) aside(opc *ooxml.Part, add func(part, place, text string)) error {
	rels, err := i.pkg.Rels(opc.Name)
	if err != nil {
		return err
	}
	for _, rel := range rels {
		if rel.External && !i.links[opc.Name+" "+rel.ID] {
			target, err := url.PathUnescape(rel.Target)
			if err != nil {
				target = rel.Target
			}
			add(opc.Name, "the URL of a link", target)
		}
	}
	place := map[string]string{
		"/docProps": "the document properties", "/word/charts": "a chart", "/word/diagrams": "a diagram",
	}[path.Dir(opc.Name)]
	isShown := slices.ContainsFunc(i.others, func(p *part) bool { return p.name == opc.Name })
	if place == "" || path.Ext(opc.Name) != ".xml" || isShown {
		return nil
	}
	src, err := i.pkg.ReadXML(opc)
	if err != nil {
		return err
	}
	r := scan.New(src)
	var text strings.Builder // of a paragraph of a chart
	for r.Next() {
		text.Write(r.Text())
		if r.Name() != "a:r" && r.Name() != "a:t" && r.Name() != "a:rPr" {
			add(opc.Name, place, text.String())
			text.Reset()
		}
	}
	return r.Err()
}

// textOf returns the text of an equation.
func textOf(src []byte, n *wml.Node) string {
	var b strings.Builder
	for _, t := range n.All("m:t") {
		b.WriteString(scan.Text(src[t.OpenEnd:t.CloseStart]))
	}
	return b.String()
}

// attributesOf calls a function for the texts in the attributes of a part that are not filled.
func (i *importer) attributesOf(src []byte, add func(place, text string)) error {
	r := scan.New(src)
	for range r.All {
		for name, at := range placesOf[r.Name()] {
			if text := r.Attr(name); text != "" && i.dialect.places&at == 0 {
				add(titles[at], text)
			}
		}
	}
	return r.Err()
}

// tagsOf returns the tags of a paragraph.
func (i *importer) tagsOf(par *paragraph) []*tag {
	var tags []*tag
	if i.dialect.findAll != nil {
		tags = i.dialect.findAll([]*paragraph{par})
	}
	return append(tags, i.dialect.tagsIn(par)...)
}
