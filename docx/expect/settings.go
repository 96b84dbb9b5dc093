package expect

import (
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

type settingLabel struct{ name, label, absent string }

// settingLabels name the settings that change how a document looks, or what its readers can do, in the order in which a line has them. The
// value of one that is only on or off is "".
var settingLabels = []settingLabel{
	{"w:evenAndOddHeaders", "different even pages", ""},
	{"w:mirrorMargins", "mirrored margins", ""},
	{"w:gutterAtTop", "gutter at the top", ""},
	{"w:bookFoldPrinting", "book fold", ""},
	{"w:defaultTabStop", "default tab stops ", "720"},
	{"w:autoHyphenation", "hyphenation", ""},
	{"w:hyphenationZone", "hyphenation zone ", "360"},
	{"w:consecutiveHyphenLimit", "lines with hyphens ", "0"},
	{"w:doNotHyphenateCaps", "no hyphens in capitals", ""},
	{"w:documentProtection", "protected: only ", ""},
	{"w:footnotePr/w:pos", "footnotes at ", "pageBottom"},
	{"w:footnotePr/w:numFmt", "footnote numbers ", "decimal"},
	{"w:footnotePr/w:numStart", "footnote numbers from ", "1"},
	{"w:footnotePr/w:numRestart", "footnote numbers restart ", "continuous"},
	{"w:endnotePr/w:pos", "endnotes at ", "docEnd"},
	{"w:endnotePr/w:numFmt", "endnote numbers ", "lowerRoman"},
	{"w:endnotePr/w:numStart", "endnote numbers from ", "1"},
	{"w:endnotePr/w:numRestart", "endnote numbers restart ", "continuous"},
}

// onOffSettings are the settings that are only on or off.
var onOffSettings = wml.SetOf("w:evenAndOddHeaders w:mirrorMargins w:gutterAtTop w:bookFoldPrinting w:autoHyphenation " +
	"w:doNotHyphenateCaps w:displayBackgroundShape")

// ofHyphenation are the settings that only have an effect with automatic hyphenation.
var ofHyphenation = wml.SetOf("w:hyphenationZone w:consecutiveHyphenLimit w:doNotHyphenateCaps")

// settings are the values of the settings of a document. Those that are off are missing.
type settings map[string]string

func (s settings) isOn(name string) bool {
	_, found := s[name]
	return found
}

// readSettings reads the settings of the document.
func (o *outliner) readSettings() error {
	o.settings = settings{}
	p, err := wml.RelatedPart(o.pkg, o.main, names.RelSettings)
	if p == nil || err != nil {
		return err
	}
	src, err := o.pkg.ReadXML(p)
	if err != nil {
		return err
	}
	r := scan.New(src)
	r.Next()
	for range r.Children {
		o.settings.read(r)
	}
	return r.LimitErr()
}

// read reads the setting of the last start tag.
func (s settings) read(r *scan.Reader) {
	switch name := r.Name(); {
	case onOffSettings[name]:
		if scan.IsOn(r.RawAttr("w:val")) {
			s[name] = ""
		}
	case name == "w:footnotePr" || name == "w:endnotePr":
		for range r.Children {
			s[name+"/"+r.Name()] = r.Attr("w:val")
		}
	case name == "w:documentProtection":
		enforced := r.RawAttr("w:enforcement")
		if edit := r.Attr("w:edit"); enforced != nil && scan.IsOn(enforced) && edit != "" && edit != "none" {
			s[name] = edit
		}
	default:
		s[name] = r.Attr("w:val")
	}
}

// format returns the settings that a reader notices.
func (s settings) format() []string {
	var format []string
	for _, known := range settingLabels {
		value, found := s[known.name]
		if !found || value == known.absent && known.absent != "" || ofHyphenation[known.name] && !s.isOn("w:autoHyphenation") {
			continue
		}
		format = append(format, known.label+value)
	}
	return format
}

// withoutHyphenation removes the properties of hyphenation from all lines. They have no effect if no paragraph is hyphenated.
func (o *outliner) withoutHyphenation() {
	isOf := func(property string) bool {
		return property == noHyphens || slices.ContainsFunc(settingLabels, func(s settingLabel) bool {
			return (s.name == "w:autoHyphenation" || ofHyphenation[s.name]) && strings.HasPrefix(property, s.label)
		})
	}
	for i := range o.lines {
		if kind := o.lines[i].Kind; kind == Document || kind == Paragraph {
			o.lines[i].Format = slices.DeleteFunc(o.lines[i].Format, isOf)
		}
	}
}

// document writes what is true of all pages of the document.
func (o *outliner) document() {
	l := Line{Part: o.name, Place: "the document", Kind: Document, Format: o.settings.format()}
	d := &drawn{}
	background := o.body.root.Child("w:background")
	if background != nil && o.settings.isOn("w:displayBackgroundShape") && o.enter(background) {
		d.note("page background ", strings.TrimPrefix(strings.ToUpper(o.reader.Attr("w:color")), "AUTO"))
		(&inline{outliner: o}).readDrawing(background, d)
	}
	l.Format = append(l.Format, d.all()...)
	o.add(l)
	for _, r := range d.rels {
		o.related(Line{Part: o.name, Place: "the page background", Depth: 1}, r)
	}
}
