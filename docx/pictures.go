package docx

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
	"platen/docx/opc"
	"platen/docx/picture"
)

// A picture of the template whose alt text holds a tag is a placeholder: the picture of the data takes its place, with its
// position, its effects and, as far as its proportions allow, its size. A value with the filter image, qrcode or barcode
// becomes a picture in the line of its tag.

// placeholder is a picture of the template that the data replaces.
type placeholder struct {
	mark    *mark
	drawing *node
	alt     []*attr     // the alt texts that hold the tag
	chart   *boundChart // nil: it is a picture
	control *node       // the content control whose name holds the tag; nil: an alt text does
}

// pictureHolders are what pictures stand in within a run.
var pictureHolders = []string{"w:drawing", "mc:AlternateContent", "w:pict"}

// findPlaceholders finds the pictures whose alt text is a tag.
func (c *compiler) findPlaceholders() {
	for _, p := range c.pars {
		for i := range p.pieces {
			if piece := &p.pieces[i]; slices.Contains(pictureHolders, piece.node.name) {
				for _, drawing := range drawingsIn(piece.node) {
					c.findPlaceholder(p, piece, drawing)
				}
			}
		}
	}
}

// drawingsIn returns the drawings at or in a node that are one picture or chart, and of groups each picture.
func drawingsIn(n *node) []*node {
	switch {
	case n.name == "w:drawing" && (isOnePicture(n) || isChart(n)), n.name == "w:pict" && isOneVMLPicture(n):
		return []*node{n}
	case n.name == "pic:pic":
		if len(n.all("a:blip")) == 1 {
			return []*node{n}
		}
		return nil
	case n.name == "w:txbxContent": // whose paragraphs are looked through on their own
		return nil
	}
	var all []*node
	for _, child := range n.children {
		all = append(all, drawingsIn(child)...)
	}
	return all
}

// isOnePicture tells whether a drawing is nothing but one picture, or a shape that is filled with one.
func isOnePicture(drawing *node) bool {
	pictures := drawing.all("pic:pic")
	if len(pictures) == 1 && pictures[0].parent.name != "a:graphicData" || len(pictures) > 1 {
		return false
	}
	return len(drawing.all("a:blip")) == 1 && len(drawing.all("a:xfrm")) <= 1 && len(drawing.all("w:txbxContent")) == 0
}

// all returns the nodes of a name in n.
func (n *node) all(name string) []*node {
	var found []*node
	for _, child := range n.children {
		if child.name == name {
			found = append(found, child)
		}
		found = append(found, child.all(name)...)
	}
	return found
}

func (c *compiler) findPlaceholder(p *paragraph, piece *piece, drawing *node) {
	var found *placeholder
	for _, n := range slices.Concat(drawing.all("wp:docPr"), drawing.all("pic:cNvPr"), drawing.all("v:shape")) {
		for _, name := range []string{"descr", "title", "alt"} {
			alt := n.attr(name)
			if alt == nil {
				continue
			}
			text := strings.TrimSpace(entities(c.src[alt.valueStart:alt.valueEnd]))
			if spans, _ := lang.Find(text); len(spans) != 1 || spans[0] != (lang.Span{Start: 0, End: len(text)}) {
				continue
			}
			if found == nil {
				found = c.placeholder(p, piece, drawing, text)
			}
			if found != nil && found.mark.tag.Text == text {
				found.alt = append(found.alt, alt)
			}
		}
	}
	if found == nil {
		return
	}
	if isChart(drawing) && !c.bind(found) {
		return
	}
	c.placeholders = append(c.placeholders, found)
	c.asides = append(c.asides, &aside{mark: found.mark, pos: drawing.start, place: altOf(drawing), alt: found.alt})
}

// altOf names the place of a drawing's alt text.
func altOf(drawing *node) string {
	if isChart(drawing) {
		return "alt text of a chart"
	}
	return "alt text of a picture"
}

// placeholder reads the tag of an alt text; nil if it is none that a picture can have.
func (c *compiler) placeholder(p *paragraph, piece *piece, drawing *node, text string) *placeholder {
	tag, err := lang.ParseTag(strings.Clone(text))
	m := &mark{tag: tag, par: p, from: piece.from, to: piece.to, first: piece, last: piece}
	if err != nil {
		c.failAside(&aside{mark: m, place: altOf(drawing)}, text, err)
	}
	if err != nil || tag.Kind != lang.Print || (tag.Filter("chart") != nil) != isChart(drawing) {
		return nil
	}
	return &placeholder{mark: m, drawing: drawing}
}

// editPlaceholders writes the edits of the pictures that are replaced.
func (c *compiler) editPlaceholders() {
	for _, h := range c.placeholders {
		d := h.drawing
		if c.isGone(h.mark.par.node) {
			continue
		}
		kind := editPicture
		if h.chart != nil {
			kind = editChart
		}
		around := d
		if h.control != nil {
			around = h.control
			c.editPictureControl(h)
		}
		c.add(edit{pos: around.start, end: around.start, phase: phaseGuard, kind: kind, mark: h.mark, picture: h})
		c.add(edit{pos: around.end, end: around.end, phase: phaseGuardEnd, kind: editGuardEnd})
		for _, alt := range h.alt {
			c.add(edit{pos: alt.valueStart, end: alt.valueEnd, phase: phaseReplace, kind: editPicturePart, slot: pictureAlt})
		}
		switch {
		case h.chart != nil:
			id := d.all("c:chart")[0].attr("r:id")
			c.add(edit{pos: id.valueStart, end: id.valueEnd, phase: phaseReplace, kind: editPicturePart, slot: pictureChart})
		case d.name == "w:pict":
			c.editVML(h)
		default:
			c.editDrawing(h)
		}
	}
}

// editDrawing writes the edits of a picture in DrawingML.
func (c *compiler) editDrawing(h *placeholder) {
	d := h.drawing
	for _, size := range append(d.all("wp:extent"), d.all("a:xfrm")...) {
		if size.name == "a:xfrm" {
			size = size.child("a:ext")
		}
		c.editNumber(size, "cx", pictureWidth)
		c.editNumber(size, "cy", pictureHeight)
	}
	c.editPosition(h)
	blip := d.all("a:blip")[0]
	end := blip.end
	if crop := blip.parent.child("a:srcRect"); crop != nil && crop.start >= blip.end {
		end = crop.end
	}
	c.add(edit{pos: blip.start, end: end, phase: phaseReplace, kind: editPicturePart, slot: pictureBlip, picture: h})
}

// editNumber has an attribute of an element, which may be nil, follow the picture.
func (c *compiler) editNumber(n *node, name string, part int) {
	if a := n.attrOf(name); a != nil {
		c.add(edit{pos: a.valueStart, end: a.valueEnd, phase: phaseReplace, kind: editPicturePart, slot: part})
	}
}

// editPosition has a picture that stands at a place of the page, or of a group, stay in the middle of its box.
func (c *compiler) editPosition(h *placeholder) {
	if h.drawing.name == "pic:pic" {
		for _, xfrm := range h.drawing.all("a:xfrm") {
			c.editNumber(xfrm.child("a:off"), "x", pictureX)
			c.editNumber(xfrm.child("a:off"), "y", pictureY)
		}
		return
	}
	for name, part := range map[string]int{"wp:positionH": pictureX, "wp:positionV": pictureY} {
		for _, position := range h.drawing.all(name) {
			if offset := position.child("wp:posOffset"); offset != nil {
				c.add(edit{pos: offset.openEnd, end: offset.closeStart, phase: phaseReplace, kind: editPicturePart, slot: part})
			}
		}
	}
}

// attrOf is attr for a node that may be nil.
func (n *node) attrOf(name string) *attr {
	if n == nil {
		return nil
	}
	return n.attr(name)
}

// The parts of a placeholder that the picture changes.
const (
	pictureAlt = iota
	pictureWidth
	pictureHeight
	pictureBlip
	pictureX
	pictureY
	pictureStyle // of VML
	pictureData  // of VML
	pictureChart // the id of the relationship that leads to the chart
)

// pictureOp is what an execution needs to know of a placeholder.
type pictureOp struct {
	width, height picture.EMU // of its box; 0 if it does not say
	children      []byte      // of the a:blip: effects
	prefix        string      // of DrawingML
	emptied       bool        // a content control between paragraphs or cells: it stays when the picture goes
}

// pictureOp describes a placeholder.
func (c *compiler) pictureOp(h *placeholder) *pictureOp {
	o := &pictureOp{emptied: h.control != nil && h.control.parent.name != "w:p"}
	if h.drawing.name == "w:pict" {
		o.width, o.height = vmlSize(attrValue(c.src, h.drawing.all("v:shape")[0], "style"))
		o.prefix = h.drawing.all("v:imagedata")[0].prefix(c.src)
		return o
	}
	extents := h.drawing.all("wp:extent")
	for _, xfrm := range h.drawing.all("a:xfrm") { // the box of a picture in a group
		extents = append(extents, xfrm.child("a:ext"))
	}
	if len(extents) > 0 && extents[0] != nil {
		o.width = picture.EMU(idNumber(attrValue(c.src, extents[0], "cx")))
		o.height = picture.EMU(idNumber(attrValue(c.src, extents[0], "cy")))
	}
	blip := h.drawing.all("a:blip")[0]
	o.prefix = blip.prefix(c.src)
	for _, child := range blip.children {
		if child.name != "a:extLst" { // where a drawing of the template would be, among others
			o.children = append(o.children, c.src[child.start:child.end]...)
		}
	}
	return o
}

// shownPicture is a picture as it stands in the document.
type shownPicture struct {
	picture.Placed
	id, svgID string      // of the relationships
	x, y      picture.EMU // how far it stands from the corner of its box
}

// maxPrepared is how many pictures of a document are kept prepared, for those that come again.
const maxPrepared = 32

// prepare returns the picture that a value is.
func (x *execution) prepare(value string, want *lang.Present) (*picture.Picture, error) {
	key := value
	if want != nil {
		key = want.Symbology + "\x00" + value
	}
	if p, ok := x.pictures[key]; ok {
		return p, nil
	}
	p, err := x.makePicture(value, want)
	if err != nil {
		return nil, err
	}
	if x.pictures == nil || len(x.pictures) >= maxPrepared {
		x.pictures = map[string]*picture.Picture{}
	}
	x.pictures[key] = p
	return p, nil
}

func (x *execution) makePicture(value string, want *lang.Present) (*picture.Picture, error) {
	if want != nil && want.Symbology != "" {
		return picture.Code(want.Symbology, value)
	}
	value = strings.TrimSpace(value)
	if !picture.IsAddress(value) {
		data, err := picture.Decode(value)
		if err != nil {
			return nil, err
		}
		return picture.Prepare(data)
	}
	if x.opt.Picture == nil {
		return nil, errors.New("is at an address, and pictures are not fetched from the network here: send it as base64, or have the operator list the host")
	}
	data, err := x.opt.Picture(value)
	if err != nil {
		return nil, err
	}
	return picture.Prepare(data)
}

// placePicture adds a picture to the document and brings it to a box.
func (x *execution) placePicture(p *picture.Picture, boxWidth, boxHeight picture.EMU, fit string) (*shownPicture, error) {
	if p.Elastic && fit == "" {
		fit = string(picture.FitStretch)
	}
	s := &shownPicture{Placed: picture.Place(p.Width, p.Height, boxWidth, boxHeight, picture.Fit(fit))}
	name, err := x.added.Media(p.Data, p.Kind.Extension(), p.Kind.ContentType())
	if err != nil {
		return nil, err
	}
	if s.id, err = x.added.Relate(x.part, opc.RelImage, name, false); err != nil || p.SVG == nil {
		return s, err
	}
	if name, err = x.added.Media(p.SVG, picture.SVG.Extension(), picture.SVG.ContentType()); err != nil {
		return nil, err
	}
	s.svgID, err = x.added.Relate(x.part, opc.RelImage, name, false)
	return s, err
}

// replacePicture writes a placeholder with the picture of the data in it. One without a value stays as it is; one whose value
// is empty goes.
func (x *execution) replacePicture(o *op) error {
	value, want, ok, err := x.env.Show(o.tag)
	if err != nil {
		return err
	}
	outer := x.picture
	defer func() { x.picture = outer }()
	x.picture = nil
	if ok && value == "" {
		if !o.pic.emptied {
			return nil
		}
		x.picture = noPicture
	}
	if ok && value != "" {
		if err := x.fillPicture(o, value, want); err != nil {
			return err
		}
	}
	return x.run(o.body)
}

// fillPicture makes x.picture the picture that a placeholder shows. If it cannot be shown, that is among the errors.
func (x *execution) fillPicture(o *op, value string, want *lang.Present) error {
	width, height, fit := o.pic.width, o.pic.height, ""
	if want != nil {
		if want.Width > 0 || want.Height > 0 {
			width, height = picture.EMU(want.Width), picture.EMU(want.Height)
		}
		fit = want.Fit
	}
	p, err := x.prepare(value, want)
	if err != nil {
		x.fault(o.tag, "The picture of '%s' cannot be shown: it %s.", err)
		return nil
	}
	if x.picture, err = x.placePicture(p, width, height, fit); err != nil {
		return err
	}
	if width > 0 && height > 0 {
		x.picture.x, x.picture.y = (width-x.picture.Width)/2, (height-x.picture.Height)/2
	}
	return nil
}

// fault notes that a value cannot stand in the document as its tag wants it.
func (x *execution) fault(tag *lang.Tag, format string, err error) {
	if len(x.faults) >= lang.MaxReports {
		return
	}
	text := fmt.Sprintf(format, tag.Expr, err)
	if !slices.ContainsFunc(x.faults, func(f fault) bool { return f.text == text }) {
		x.faults = append(x.faults, fault{tag, text})
	}
}

// fault is an error that the engine met with a value.
type fault struct {
	tag  *lang.Tag
	text string
}

// picturePart writes a part of a placeholder.
func (x *execution) picturePart(o *op) {
	s := x.picture
	switch {
	case s == nil:
		x.out.buf = append(x.out.buf, o.text...)
	case o.slot == pictureWidth:
		x.out.buf = fmt.Appendf(x.out.buf, "%d", s.Width)
	case o.slot == pictureHeight:
		x.out.buf = fmt.Appendf(x.out.buf, "%d", s.Height)
	case o.slot == pictureX:
		x.out.buf = moved(x.out.buf, o.text, s.x)
	case o.slot == pictureY:
		x.out.buf = moved(x.out.buf, o.text, s.y)
	case o.slot == pictureStyle:
		x.out.buf = appendVMLStyle(x.out.buf, entities(o.text), s)
	case o.slot == pictureData:
		x.out.buf = x.t.appendImageData(x.out.buf, o.pic.prefix, s)
	case o.slot == pictureChart && s.id == "": // it has new content where it is
		x.out.buf = append(x.out.buf, o.text...)
	case o.slot == pictureChart:
		x.out.buf = append(x.out.buf, s.id...)
	case o.slot == pictureBlip:
		x.out.buf = x.t.appendBlip(x.out.buf, o.pic.prefix, s, o.pic.children)
	}
}

// moved appends a place that is further by some length. One that is no number stays.
func moved(dst, place []byte, by picture.EMU) []byte {
	at, err := strconv.ParseInt(string(bytes.TrimSpace(place)), 10, 32)
	if err != nil {
		return append(dst, place...)
	}
	return strconv.AppendInt(dst, at+by, 10)
}

// svgExtension is the extension of a:blip that names a drawing ([MS-ODRAWXML] §2.3.3.29).
const svgExtension = `<%[1]sextLst><%[1]sext uri="{96DAC541-7B7A-43D3-8B79-37D633B846F1}">` +
	`<asvg:svgBlip xmlns:asvg="http://schemas.microsoft.com/office/drawing/2016/SVG/main" xmlns:r="%[2]s" r:embed="%[3]s"/></%[1]sext></%[1]sextLst>`

// appendBlip appends an a:blip that names a picture, with effects as they were, and the a:srcRect that says what of it is cut
// off.
func (t *Template) appendBlip(dst []byte, prefix string, s *shownPicture, effects []byte) []byte {
	dst = fmt.Appendf(dst, `<%sblip xmlns:r="%s" r:embed="%s">`, prefix, t.relNamespace(), s.id)
	dst = append(dst, effects...)
	if s.svgID != "" {
		dst = fmt.Appendf(dst, svgExtension, prefix, t.relNamespace(), s.svgID)
	}
	dst = fmt.Appendf(dst, `</%sblip>`, prefix)
	if s.Left|s.Top|s.Right|s.Bottom != 0 {
		dst = fmt.Appendf(dst, `<%ssrcRect l="%d" t="%d" r="%d" b="%d"/>`, prefix, s.Left, s.Top, s.Right, s.Bottom)
	}
	return dst
}

// emuPerTwip is how many English metric units are a twentieth of a point.
const emuPerTwip = 635

// inlinePicture writes a value as a picture in the line of its tag.
func (x *execution) inlinePicture(o *op, v shown) error {
	if v.text == "" {
		return nil
	}
	p, err := x.prepare(v.text, v.present)
	if err != nil {
		x.fault(o.tag, "The picture of '%s' cannot be shown: it %s.", err)
		x.out.buf = append(x.out.buf, o.text...)
		x.missing = true
		return nil
	}
	drawing, err := x.drawing(o.place, p, picture.EMU(v.present.Width), picture.EMU(v.present.Height), v.present.Fit, "")
	if err != nil {
		return err
	}
	x.leave(o.place.leaveText, o.place.enterText)
	x.out.buf = append(x.out.buf, drawing...)
	x.out.buf = append(x.out.buf, o.place.enterText...)
	return nil
}

// drawing returns a w:drawing with a picture in line with the text. A picture that does not say how large it is to be is no
// wider than the text.
func (x *execution) drawing(at *place, p *picture.Picture, width, height picture.EMU, fit, alt string) ([]byte, error) {
	if width == 0 && height == 0 {
		width = min(p.Width, at.width*emuPerTwip)
	}
	s, err := x.placePicture(p, width, height, fit)
	if err != nil {
		return nil, err
	}
	base := "http://schemas.openxmlformats.org/drawingml/2006/"
	if x.t.pkg.Strict() {
		base = "http://purl.oclc.org/ooxml/drawingml/"
	}
	id := x.fresh(drawingIDs)
	described := fmt.Sprintf(`id="%d" name="Picture %d" descr="%s"`, id, id, appendAttribute(nil, alt))
	out := fmt.Appendf(nil, `<%[1]sdrawing><wp:inline xmlns:wp="%[2]swordprocessingDrawing" distT="0" distB="0" distL="0" distR="0">`+
		`<wp:extent cx="%[3]d" cy="%[4]d"/><wp:docPr %[5]s/><wp:cNvGraphicFramePr/><a:graphic xmlns:a="%[2]smain"><a:graphicData uri="%[2]spicture">`+
		`<pic:pic xmlns:pic="%[2]spicture"><pic:nvPicPr><pic:cNvPr %[5]s/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>`, at.prefix, base, s.Width, s.Height, described)
	out = x.t.appendBlip(out, "a:", s, nil)
	return fmt.Appendf(out, `<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="%[2]d" cy="%[3]d"/></a:xfrm>`+
		`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></%[1]sdrawing>`, at.prefix, s.Width, s.Height), nil
}

// appendAttribute appends text as it may stand in an attribute.
func appendAttribute(dst []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '"':
			dst = append(dst, "&quot;"...)
		case r == '\'':
			dst = append(dst, "&apos;"...)
		case r < ' ' || r == '\uFFFE' || r == '\uFFFF':
			dst = append(dst, ' ')
		default:
			dst = append(dst, appendEscaped(nil, string(r))...)
		}
	}
	return dst
}
