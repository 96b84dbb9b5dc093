package expect

import (
	"slices"
	"strconv"
	"strings"

	"platen/docx/program"
	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// headerKinds are the headers and footers of a section, in the order of outliner.named.
var headerKinds = [...]struct {
	element, kind string
	line          LineKind
}{
	{"w:headerReference", "default", Header}, {"w:headerReference", "first", Header}, {"w:headerReference", "even", Header},
	{"w:footerReference", "default", Footer}, {"w:footerReference", "first", Footer}, {"w:footerReference", "even", Footer},
}

// section writes a section, after its text, with the headers and footers that it does not share with the section before it. Those that it
// does not show have lines that are unseen. n is nil for a
// document that states none.
func (o *outliner) section(n *wml.Node) {
	o.sections++
	place := "section " + strconv.Itoa(o.sections)
	at := o.add(Line{Part: o.name, Heading: o.heading, Place: place, Kind: Section, Format: o.sectionFormat(n)})
	o.headers(n, place)
	if o.err != nil {
		return
	}
	o.lines[at].Format = o.withoutDistances(o.lines[at].Format)
}

// headers writes the headers and footers of a section that it does not share with the section before it.
func (o *outliner) headers(n *wml.Node, place string) {
	var references []*wml.Node
	var titlePage *wml.Node
	if n != nil {
		references, titlePage = n.Children, n.Child("w:titlePg")
	}
	for i, h := range headerKinds {
		target := o.named[i]
		for _, reference := range references {
			if reference.Name == h.element && wml.AttrValue(o.src, reference, "w:type") == h.kind {
				target = o.rels[scan.Value([]byte(wml.AttrValue(o.src, reference, "r:id")))].Target
			}
		}
		isShown := h.kind == "default" || h.kind == "even" && o.settings.isOn("w:evenAndOddHeaders") ||
			h.kind == "first" && o.isOn(titlePage)
		switch {
		case o.err != nil:
			return
		case isShown && target != o.shown[i]:
			o.shown[i] = target
			o.header(target, h.line, h.kind, place)
		case !isShown && target != o.named[i] && o.seen[target] == 0:
			numbers := o.numbers
			o.unseen, o.numbers = true, program.Numbers{}
			o.header(target, h.line, h.kind, place)
			o.unseen, o.numbers = false, numbers
			o.seen[target] = notShown
		}
		o.named[i] = target
	}
}

// notShown is the value in outliner.seen of a header or footer that no section has shown so far.
const notShown = -1

// pageProperties are the properties of pages that every section has, with their values where nothing states them.
var pageProperties = []struct{ name, label, standard string }{
	{"w:pgSz/@w:w", "page width ", "12240"}, {"w:pgSz/@w:h", "page height ", "15840"}, {"w:pgMar/@w:top", "top margin ", "1440"},
	{"w:pgMar/@w:bottom", "bottom margin ", "1440"}, {"w:pgMar/@w:left", "left margin ", "1440"},
	{"w:pgMar/@w:right", "right margin ", "1440"}, {"w:pgMar/@w:header", headerAt, "720"}, {"w:pgMar/@w:footer", footerAt, "720"},
}

// sectionFormat returns the properties of a section.
func (o *outliner) sectionFormat(n *wml.Node) []string {
	var p style.Properties
	if n != nil {
		p = o.stated(n)
	}
	var format []string
	for _, page := range pageProperties {
		value, origin := p.Get(page.name)
		if origin.Level == style.Unset {
			value = page.standard
		}
		format = append(format, page.label+value)
	}
	return append(format, formatOf(p)...)
}

// The distances of headers and footers from the edges of a page.
const headerAt, footerAt = "header at ", "footer at "

// withoutDistances removes the distances of headers and footers that the last section does not have from the format of a section.
func (o *outliner) withoutDistances(format []string) []string {
	isShown := func(target string) bool { return target != "" }
	hasHeader, hasFooter := slices.ContainsFunc(o.shown[:3], isShown), slices.ContainsFunc(o.shown[3:], isShown)
	return slices.DeleteFunc(format, func(property string) bool {
		return !hasHeader && strings.HasPrefix(property, headerAt) || !hasFooter && strings.HasPrefix(property, footerAt)
	})
}

// header writes a header or footer.
func (o *outliner) header(target string, kind LineKind, pages, section string) {
	p := o.pkg.Part(target)
	if p == nil {
		return
	}
	l := Line{Part: target, Place: "the " + string(kind) + " of " + section, Kind: kind, Depth: 1, Format: []string{pages + " pages"}}
	if first := o.seen[target]; first > 0 {
		l.Format = append(l.Format, "as in section "+strconv.Itoa(first))
		o.add(l)
		return
	}
	o.seen[target] = o.sections
	own, err := o.openPart(p)
	if err != nil {
		o.fail(err)
		return
	}
	o.add(l)
	o.within(own, func() { o.blocks(own.root, 2) })
}
