package program

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
)

// Marks show where the values of tags are in a PDF of the document. A mark is a link around a value, to an address of its own, which
// converters turn into rectangles on pages. It changes neither the look nor, apart from rounding, the layout of the text.

// MarkAddress is what the addresses of marks begin with. The number of the mark follows, its index in [Report].Marks.
const MarkAddress = "platen-tag:"

// MaxMarks is the largest number of marks in a document. LibreOffice takes almost a millisecond for each.
const MaxMarks = 10_000

// Mark is a value in the document that is marked.
type Mark struct {
	Tag      *Error // the tag, and where it is in the template; without a message
	DataPath string // of the value in the data, as in items[57].qty; empty if it is not a single value of the data
}

// marks are the marked values of an execution.
type marks struct {
	all     []Mark
	omitted int
	style   string // the id of the style of marked text
}

// markBytes is the approximate memory of a mark without its relationship.
const markBytes = 400

// mark returns the id of a relationship for a mark of a value, or "" if it is not to be marked.
func (x *execution) mark(tag *lang.Tag, p *Place) (id string, err error) {
	if x.opt.Marks == 0 || p == nil || p.InLink || p.Unmarkable {
		return "", nil
	}
	if len(x.marks.all) >= min(x.opt.Marks, MaxMarks) {
		x.marks.omitted++
		return "", nil
	}
	m := Mark{Tag: &Error{Tag: tag.Text}, DataPath: x.env.DataPath(tag)}
	if at := x.d.Places[tag]; at != nil {
		m.Tag = at
	}
	if err := x.meter.Hold(markBytes + len(m.DataPath)); err != nil {
		return "", err
	}
	id, err = x.added.Relate(x.part, names.RelHyperlink, MarkAddress+strconv.Itoa(len(x.marks.all)), true)
	x.marks.all = append(x.marks.all, m)
	return id, err
}

// plain writes a value as text, marked if marks are wanted.
func (x *execution) plain(o *Value, s string) error { return x.shaped(o, s, nil) }

// shaped writes a value as text with the formatting of its presentation filters, marked if marks are wanted.
func (x *execution) shaped(o *Value, s string, look *lang.Present) error {
	id := ""
	if s != "" { // an empty value has no place on a page
		var err error
		if id, err = x.mark(o.Tag, o.Place); err != nil {
			return err
		}
	}
	switch {
	case id != "":
		if look == nil {
			look = new(lang.Present)
		}
		x.linked(o, s, id, x.markedProps(x.runProps(o.Tag, o.Place, look), o.Place.Prefix))
	case look != nil:
		x.styled(o, s, x.runProps(o.Tag, o.Place, look))
	default:
		x.text(o, s)
	}
	return nil
}

// linked writes text in a link with a relationship.
func (x *execution) linked(o *Value, s, id, props string) {
	p := o.Place
	x.leave(p.LeaveRun, p.EnterRun)
	x.beginLink(p.Prefix, id)
	x.writeRun(o, s, props)
	x.endLink(p.Prefix)
	x.out.buf = append(x.out.buf, p.EnterRun...)
}

func (x *execution) beginLink(prefix, id string) {
	x.out.buf = fmt.Appendf(x.out.buf, `<%shyperlink xmlns:r="%s" r:id="%s">`, prefix, x.d.relNamespace(), id)
}

func (x *execution) endLink(prefix string) {
	x.out.buf = fmt.Appendf(x.out.buf, `</%shyperlink>`, prefix)
}

// markedRun returns the start of a run for marked text, from the w:r on, with the style of marks.
func (x *execution) markedRun(open []byte, prefix string) []byte {
	start, props := "<"+prefix+"r>", "<"+prefix+"rPr>"
	rest, ok := strings.CutPrefix(string(open), start)
	own, text, hasProps := strings.Cut(rest, "</"+prefix+"rPr>")
	if own, isPlain := strings.CutPrefix(own, props); ok && hasProps && isPlain {
		return []byte(start + props + x.markedProps(own, prefix) + "</" + prefix + "rPr>" + text)
	}
	if !ok || hasProps {
		return open
	}
	return []byte(start + props + x.markedProps("", prefix) + "</" + prefix + "rPr>" + rest)
}

// markedProps returns the properties of a run for marked text. LibreOffice writes no rectangles for links without a character style.
func (x *execution) markedProps(props, prefix string) string {
	if strings.Contains(props, "<"+prefix+"rStyle ") {
		return props
	}
	return fmt.Sprintf(`<%[1]srStyle %[1]sval="%[2]s"/>`, prefix, x.marks.style) + props
}

// markDrawing marks a w:drawing as the value of a tag, if marks are wanted.
func (x *execution) markDrawing(o *Value, drawing []byte) ([]byte, error) {
	id, err := x.mark(o.Tag, o.Place)
	if id == "" || err != nil {
		return drawing, err
	}
	before, after, _ := bytes.Cut(drawing, []byte("/><wp:cNvGraphicFramePr/>"))
	return fmt.Appendf(nil, `%s><a:hlinkClick xmlns:a="%s" xmlns:r="%s" r:id="%s"/></wp:docPr><wp:cNvGraphicFramePr/>%s`, before,
		names.Namespace("a", x.d.Package.Strict()), x.d.relNamespace(), id, after), nil
}

// beginMarks adds the style of marked text, which has no properties, to the styles of the document.
func (x *execution) beginMarks() error {
	if x.opt.Marks == 0 {
		return nil
	}
	x.marks.style = "PlatenMark"
	for n := 1; x.d.hasStyleID("character", x.marks.style) || x.d.hasStyleID("paragraph", x.marks.style) ||
		x.d.hasStyleID("table", x.marks.style); n++ {
		x.marks.style = "PlatenMark" + strconv.Itoa(n)
	}
	strict := x.d.Package.Strict()
	style := fmt.Sprintf(`<w:style xmlns:w="%[1]s" w:type="character" w:customStyle="1" w:styleId="%[2]s"><w:name w:val="%[2]s"/></w:style>`,
		names.Namespace("w", strict), x.marks.style)
	parts, err := x.changedStyles()
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		root := fmt.Sprintf(`%s<w:styles xmlns:w="%s">%s</w:styles>`, ooxml.XMLHeader, names.Namespace("w", strict), style)
		name, err := x.added.Add("/word/styles", "xml", names.TypeStyles, []byte(root))
		if err != nil {
			return err
		}
		_, err = x.added.Relate(x.d.Main, names.RelStyles, name, false)
		return err
	}
	part := parts[0]
	src, err := x.d.Package.ReadXML(part)
	if err != nil {
		return err
	}
	changed, err := ooxml.AppendToRoot(src, []byte(style))
	if err != nil {
		return err
	}
	x.added.Replace(part.Name, changed)
	return x.meter.Hold(len(changed))
}

// changedStyles returns the part with the styles, if the template has one and marks change it.
func (x *execution) changedStyles() ([]*ooxml.Part, error) {
	if x.opt.Marks == 0 {
		return nil, nil
	}
	part, err := wml.RelatedPart(x.d.Package, x.d.Package.Part(x.d.Main), names.RelStyles)
	if part == nil {
		return nil, err
	}
	return []*ooxml.Part{part}, err
}
