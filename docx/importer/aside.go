package importer

import (
	"bytes"
	"net/url"
	"path"
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/scan"
)

// Some products also fill tags outside of paragraphs. Each text there is read as a paragraph that belongs to the element that shows it: its
// tags are in the loops around that element. Only values can be there.

// place is a set of places outside of paragraphs.
type place uint8

const (
	inDescriptions place = 1 << iota // alternative texts of drawings
	inAlternatives                   // others, such as their titles
	inTooltips                       // texts that appear over images with a link
	inControls                       // tags and titles of content controls
	inWatermarks                     // watermarks and WordArt
	inLinks                          // URLs and ScreenTips of links
	inCharts                         // titles and labels of charts
)

// placesOf are the attributes with texts that authors write tags in.
var placesOf = map[string]map[string]place{
	"wp:docPr":     {"descr": inDescriptions, "title": inAlternatives},
	"pic:cNvPr":    {"descr": inDescriptions, "title": inAlternatives},
	"v:shape":      {"alt": inAlternatives},
	"a:hlinkClick": {"tooltip": inTooltips},
	"v:textpath":   {"string": inWatermarks},
	"w:hyperlink":  {"w:tooltip": inLinks},
	"w:tag":        {"w:val": inControls},
	"w:alias":      {"w:val": inControls},
}

// titles are what places are called.
var titles = map[place]string{
	inDescriptions: "an alternative text", inAlternatives: "an alternative text", inTooltips: "the ScreenTip of an image",
	inControls:   "the name of a content control",
	inWatermarks: "a watermark or WordArt", inLinks: "a link", inCharts: "a chart",
}

// aside is where the text of a paragraph is that is not a w:p.
type aside struct {
	place  place
	in     *part // that has the text; nil for the part of the element that shows it
	escape func(string) string
}

// holder is a part whose text is shown by elements of another, such as a chart, or the list of links.
func (i *importer) holder(opc *ooxml.Part) (*part, error) {
	for _, p := range i.others {
		if p.name == opc.Name {
			return p, nil
		}
	}
	src, err := i.pkg.ReadXML(opc)
	if err != nil {
		return nil, err
	}
	p := &part{name: opc.Name, src: scan.ExpandCDATA(src)}
	i.others = append(i.others, p)
	return p, nil
}

// findAsides adds the texts outside of paragraphs that a part shows, if they have tags.
func (i *importer) findAsides(p *part) error {
	if i.dialect.places == 0 {
		return nil
	}
	rels, err := i.pkg.Rels(p.name)
	if err != nil {
		return err
	}
	var walk func(n *wml.Node) error
	walk = func(n *wml.Node) error {
		for name, at := range placesOf[n.Name] {
			if a := n.Attr(name); a != nil && i.dialect.places&at != 0 {
				i.addAside(p, n, &aside{place: at, escape: escapeAttribute}, p.src, span{a.ValueStart, a.ValueEnd})
			}
		}
		if err := i.linkedAsides(p, n, rels); err != nil {
			return err
		}
		for _, c := range n.Children {
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(p.root)
}

// linkedAsides adds the texts of other parts that an element shows.
func (i *importer) linkedAsides(p *part, n *wml.Node, rels []ooxml.Relationship) error {
	at := slices.IndexFunc(rels, func(r ooxml.Relationship) bool { return r.ID == wml.AttrValue(p.src, n, "r:id") })
	switch {
	case at < 0:
	case n.Name == "w:hyperlink" && rels[at].External && i.dialect.places&inLinks != 0:
		return i.addURL(p, n, rels[at].ID)
	case (n.Name == "c:chart" || n.Name == "cx:chart") && i.dialect.places&inCharts != 0:
		if chart := i.pkg.Part(rels[at].Target); chart != nil {
			return i.addChart(p, n, chart)
		}
	}
	return nil
}

// addAside adds one text, if it has tags.
func (i *importer) addAside(p *part, n *wml.Node, a *aside, src []byte, in span) {
	var text bytes.Buffer
	offsets := scan.Decode(&text, src[in.from:in.to], in.from)
	i.addText(p, n, a, text.String(), []piece{{node: n, to: text.Len(), offsets: offsets, plain: true}})
}

func (i *importer) addText(p *part, n *wml.Node, a *aside, text string, pieces []piece) {
	par := &paragraph{
		node: n, text: text, pieces: pieces, aside: a, heading: p.headingAt(n),
		twin: n.Ancestor(wml.Named("mc:Fallback")) != nil || slices.ContainsFunc(p.pars, func(o *paragraph) bool {
			return o.aside != nil && o.aside.in == nil && o.text == text && isSameDrawing(o.node, n)
		}),
	}
	if len(i.tagsOf(par)) > 0 {
		p.pars = append(p.pars, par)
	}
}

// isSameDrawing reports whether two elements describe one drawing. Word writes the descriptions of an image twice.
func isSameDrawing(a, b *wml.Node) bool {
	drawing := wml.Named("w:drawing")
	return a != b && a.Ancestor(drawing) != nil && a.Ancestor(drawing) == b.Ancestor(drawing)
}

// headingAt returns the heading above an element.
func (p *part) headingAt(n *wml.Node) string {
	heading := ""
	for _, par := range p.pars {
		if par.aside == nil && par.node.Start <= n.Start {
			heading = par.heading
		}
	}
	return heading
}

// addURL adds the URL of a link.
func (i *importer) addURL(p *part, n *wml.Node, id string) error {
	name := path.Dir(p.name) + "/_rels/" + path.Base(p.name) + ".rels"
	listing := i.pkg.Part(name)
	if listing == nil {
		return nil
	}
	if i.links == nil {
		i.links = map[string]bool{}
	}
	i.links[p.name+" "+id] = true
	h, err := i.holder(listing)
	if err != nil {
		return err
	}
	r := scan.New(h.src)
	for range r.All {
		if r.LocalName() != "Relationship" || r.Attr("Id") != id {
			continue
		}
		for _, a := range r.Attributes() {
			if r.AttributeName(&a) == "Target" {
				text, offsets := decodeURL(h.src[a.ValueStart:a.ValueEnd], a.ValueStart)
				i.addText(p, n, &aside{place: inLinks, in: h, escape: url.PathEscape}, text,
					[]piece{{node: n, to: len(text), offsets: offsets, plain: true}})
			}
		}
	}
	return r.Err()
}

// decodeURL returns the text of a URL in XML, and the offset in the source of each byte.
func decodeURL(raw []byte, base int) (string, []int) {
	var written bytes.Buffer
	at := scan.Decode(&written, raw, base)
	src := written.Bytes()
	var text []byte
	var offsets []int
	for i := 0; i < len(src); {
		n := 1
		c := src[i]
		if i+3 <= len(src) && c == '%' {
			if s, err := url.PathUnescape(string(src[i : i+3])); err == nil {
				c, n = s[0], 3
			}
		}
		text, offsets = append(text, c), append(offsets, at[i])
		i += n
	}
	return string(text), append(offsets, at[len(src)])
}

// addChart adds the titles and labels of a chart.
func (i *importer) addChart(p *part, n *wml.Node, opc *ooxml.Part) error {
	h, err := i.holder(opc)
	if err != nil {
		return err
	}
	root, err := wml.ParseTree(h.name, h.src)
	if err != nil {
		return err
	}
	for _, par := range root.All("a:p") {
		var text bytes.Buffer
		var pieces []piece
		for _, t := range par.All("a:t") {
			from := text.Len()
			offsets := scan.Decode(&text, h.src[t.OpenEnd:t.CloseStart], t.OpenEnd)
			pieces = append(pieces, piece{node: t, from: from, to: text.Len(), offsets: offsets, plain: true})
		}
		i.addText(p, n, &aside{place: inCharts, in: h, escape: escape}, text.String(), pieces)
	}
	return nil
}

// escapeAttribute returns text as the value of an attribute.
func escapeAttribute(text string) string { return strings.ReplaceAll(escape(text), `"`, "&quot;") }

// restrict fails a tag outside of paragraphs that cannot be there.
func (p *part) restrict(t *tag) {
	switch t.kind {
	case kPrint, kNothing, kText:
	default:
		t.command = command{err: &cannot{"it is in " + titles[t.par.aside.place] + ", where Platen has only values",
			"add a key with the result to the data, and print it there"}}
	}
}

// checkAside returns an error if Platen does not fill a text outside of paragraphs with what replaces a tag there.
func (t *tag) checkAside() error {
	if t.par.aside.place == inTooltips {
		if drawing := t.par.node.Ancestor(wml.Named("w:drawing")); !t.fills || drawing == nil || len(drawing.All("pic:pic")) != 1 ||
			len(drawing.All("wp:docPr")) != 1 {
			return &cannot{"Platen has no tags in the ScreenTip of an image", "write the tag of an image as its alternative text"}
		}
		return nil
	}
	shows := t.shows()
	whole := t.span == span{0, len(t.par.text)}
	for _, s := range firstOf(lang.Find(t.out)) {
		tag, err := lang.ParseTag(t.out[s.Start:s.End])
		if err != nil {
			continue // which is reported when the template is read
		}
		isImage := tag.Filter("image") != nil
		switch {
		case tag.Kind == lang.Comment:
		case t.par.aside.place == inControls && !t.fills:
			return &cannot{"Platen fills a content control with a tag in its name", "put the tag into the text of the content control"}
		case tag.Kind != lang.Print:
			return &cannot{"it becomes a condition, and is in " + titles[t.par.aside.place] + ", where Platen has only values",
				"add a key with the result to the data, and print it there"}
		case isImage != (shows == showsImage && whole):
			return &cannot{"Platen reads a tag that is all of an image's alternative text as the image, and only there",
				"write other text next to the tag, or send an image"}
		case shows == showsChart && whole:
			return &cannot{"Platen reads a tag in the alternative text of a chart as its data", "write {{list :: chart(name, value)}}"}
		case tag.Filter("link") != nil:
			return &cannot{"it prints a link", "print the keys of the object"}
		}
	}
	return nil
}

// showing is what a drawing shows that has an alternative text.
type showing int

const (
	showsOther showing = iota
	showsImage
	showsChart
)

// shows returns what the drawing shows whose alternative text has the tag.
func (t *tag) shows() showing {
	if t.par.aside == nil || t.par.aside.place&(inDescriptions|inAlternatives) == 0 {
		return showsOther
	}
	drawing := t.par.node.Ancestor(wml.Named("w:drawing"))
	switch {
	case t.par.node.Ancestor(wml.Named("w:pict")) != nil && len(t.par.node.All("v:imagedata")) > 0:
		return showsImage
	case drawing == nil:
	case len(drawing.All("pic:pic")) > 0:
		return showsImage
	case len(drawing.All("c:chart"))+len(drawing.All("cx:chart")) > 0:
		return showsChart
	}
	return showsOther
}

func firstOf[T, U any](first T, _ U) T { return first }
