package program

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"platen/budget"
	"platen/docx/lang"
	"platen/docx/picture"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// noPicture is the picture of a content control that must not show one.
var noPicture = new(shownPicture)

// pictures is the state of the data's pictures in an execution.
type pictures struct {
	prepared map[[sha256.Size]byte]*prepared // by their values
	shown    *shownPicture                   // replaces the picture of the current drawing
}

// PicturePartKind is the part of a placeholder that a step writes.
type PicturePartKind uint8

// The parts of a placeholder that depend on the picture.
const (
	PictureAlt PicturePartKind = iota
	PictureWidth
	PictureHeight
	PictureBlip
	PictureX
	PictureY
	PictureStyle // of VML
	PictureData  // of VML
	PictureChart // the id of the relationship to the chart
)

// Placeholder is a picture of the template that a picture of the data replaces.
type Placeholder struct {
	Width, Height picture.EMU // of its box; 0 if it has none
	Children      []byte      // of the a:blip: effects
	Prefix        string      // of DrawingML
	Emptied       bool        // it is in a content control between paragraphs or cells, which stays if the picture is removed
}

// shownPicture is a picture at a place in the document.
type shownPicture struct {
	picture.Placed
	id, svgID string      // of the relationships
	x, y      picture.EMU // offset from the corner of its box
	rotates   bool        // its tag says how it is rotated
	degrees   int         // by which it is rotated clockwise
}

// prepared is a picture that is prepared once for all its places.
type prepared struct {
	picture.Picture        // Data and SVG are nil if another picture has the same data, and the names are known
	name, svgName   string // of the parts; "" if it is not in the document yet
}

// preparedBytes is the approximate memory of a prepared picture without its file, which is counted with the additions.
const preparedBytes = 300

// prepare returns the picture of a value. Unless the error is fatal, it completes a sentence whose subject is the picture.
func (x *execution) prepare(value string, want *lang.Present) (*prepared, error) {
	symbology := ""
	if want != nil {
		symbology = want.Symbology
	}
	if err := x.meter.Spend(len(value) / bytesPerStep); err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte(symbology + "\x00" + value))
	if p, ok := x.pictures.prepared[key]; ok {
		return p, nil
	}
	made, err := x.makePicture(value, symbology)
	if err != nil {
		return nil, err
	}
	if x.pictures.prepared == nil {
		x.pictures.prepared = map[[sha256.Size]byte]*prepared{}
	}
	p := &prepared{Picture: *made}
	x.pictures.prepared[key] = p
	return p, x.meter.Hold(preparedBytes)
}

// reusable returns the pictures for another execution, which adds its own parts.
func (x *execution) reusable() map[[sha256.Size]byte]*prepared {
	for key, p := range x.pictures.prepared {
		if p.name, p.svgName = "", ""; p.Data == nil {
			delete(x.pictures.prepared, key)
		}
	}
	return x.pictures.prepared
}

// fatal returns err if it prevents the document, or the error of an exceeded budget.
func (x *execution) fatal(err error) error {
	if _, ok := errors.AsType[*budget.Error](err); ok || err == nil {
		return err
	}
	return x.meter.Check()
}

func (x *execution) makePicture(value, symbology string) (*picture.Picture, error) {
	if symbology != "" {
		return picture.Code(x.meter, symbology, value)
	}
	value = strings.TrimSpace(value)
	if !picture.IsAddress(value) {
		if err := x.meter.Spend(len(value) / decodedPerStep); err != nil {
			return nil, err
		}
		data, err := picture.Decode(value)
		if err != nil {
			return nil, err
		}
		return picture.Prepare(x.meter, data)
	}
	if x.opt.Picture == nil {
		return nil, errors.New("is a URL, and this server does not fetch images from the network: send the image as base64, or ask the " +
			"operator to list the host")
	}
	data, err := x.opt.Picture(x.meter.Context(), value)
	if err != nil {
		return nil, err
	}
	return picture.Prepare(x.meter, data)
}

// decodedPerStep is the number of bytes of base64 that are decoded for one step.
const decodedPerStep = 20

// placePicture adds a picture to the document, and fits it into a box.
func (x *execution) placePicture(p *prepared, boxWidth, boxHeight picture.EMU, fit string) (*shownPicture, error) {
	if p.Elastic && fit == "" {
		fit = string(picture.FitStretch)
	}
	s := &shownPicture{Placed: picture.Place(p.Width, p.Height, boxWidth, boxHeight, picture.Fit(fit))}
	if err := x.addPicture(p); err != nil {
		return nil, err
	}
	var err error
	if s.id, err = x.added.Relate(x.part, names.RelImage, p.name, false); err != nil || p.svgName == "" {
		return s, err
	}
	s.svgID, err = x.added.Relate(x.part, names.RelImage, p.svgName, false)
	return s, err
}

// addPicture adds the files of a picture to the document, unless it has them.
func (x *execution) addPicture(p *prepared) error {
	if p.name != "" {
		return nil
	}
	var isNew bool
	var err error
	if p.name, isNew, err = x.added.Media(p.Data, p.Kind.Extension(), p.Kind.ContentType()); err != nil {
		return err
	}
	if p.SVG != nil {
		var isNewSVG bool
		if p.svgName, isNewSVG, err = x.added.Media(p.SVG, picture.SVG.Extension(), picture.SVG.ContentType()); err != nil {
			return err
		}
		isNew = isNew && isNewSVG
	}
	if !isNew { // its memory is not counted
		p.Data, p.SVG = nil, nil
	}
	return nil
}

// PictureDrawing writes a placeholder with the picture that is the value of a tag. A placeholder without a value stays unchanged. With an
// empty value it is removed.
type PictureDrawing struct {
	Tag         *lang.Tag
	Placeholder *Placeholder
	Body        []Step // the drawing
}

func (o *PictureDrawing) sketch(s *sketcher) { s.value(o.Body) }

func (o *PictureDrawing) run(x *execution) error {
	value, want, ok, err := x.env.Show(o.Tag)
	if err != nil {
		return err
	}
	outer := x.pictures.shown
	defer func() { x.pictures.shown = outer }()
	x.pictures.shown = nil
	if ok && value == "" {
		if !o.Placeholder.Emptied {
			return nil
		}
		x.pictures.shown = noPicture
	}
	if ok && value != "" {
		if err := x.fillPicture(o, value, want); err != nil {
			return err
		}
	}
	return x.run(o.Body)
}

// fillPicture sets x.pictures.shown to the picture of a placeholder. If the picture cannot be shown, it reports an error.
func (x *execution) fillPicture(o *PictureDrawing, value string, want *lang.Present) error {
	width, height, fit := o.Placeholder.Width, o.Placeholder.Height, ""
	if want != nil {
		if want.Width > 0 || want.Height > 0 {
			width, height = picture.EMU(want.Width), picture.EMU(want.Height)
		}
		fit = want.Fit
	}
	p, err := x.prepare(value, want)
	if fatal := x.fatal(err); fatal != nil {
		return fatal
	}
	if err != nil {
		x.fault(o.Tag, "The picture of '%s' cannot be shown: it %s.", err)
		return nil
	}
	if x.pictures.shown, err = x.placePicture(p, width, height, fit); err != nil {
		return err
	}
	s := x.pictures.shown
	if s.rotates = o.Tag.Filter("rotate") != nil; s.rotates {
		s.degrees = want.Rotation
	}
	if width > 0 && height > 0 {
		s.x, s.y = (width-s.Width)/2, (height-s.Height)/2
	}
	return nil
}

// ContentPicture writes the picture in a content control, unless the control must not show one.
type ContentPicture struct{ Body []Step }

func (o *ContentPicture) run(x *execution) error {
	if x.pictures.shown == noPicture {
		return nil
	}
	return x.run(o.Body)
}

func (o *ContentPicture) sketch(s *sketcher) { s.steps(o.Body) }

// PicturePart writes a part of a placeholder that depends on the picture.
type PicturePart struct {
	Part        PicturePartKind
	Text        []byte       // the part in the template
	Placeholder *Placeholder // of PictureBlip and PictureData
}

func (o *PicturePart) run(x *execution) error {
	s := x.pictures.shown
	switch {
	case s == nil:
		x.out.buf = append(x.out.buf, o.Text...)
	case o.Part == PictureWidth:
		x.out.buf = fmt.Appendf(x.out.buf, "%d", s.Width)
	case o.Part == PictureHeight:
		x.out.buf = fmt.Appendf(x.out.buf, "%d", s.Height)
	case o.Part == PictureX:
		x.out.buf = moved(x.out.buf, o.Text, s.x)
	case o.Part == PictureY:
		x.out.buf = moved(x.out.buf, o.Text, s.y)
	case o.Part == PictureStyle:
		x.out.buf = appendVMLStyle(x.out.buf, scan.Text(o.Text), s)
	case o.Part == PictureData:
		x.out.buf = x.d.appendImageData(x.out.buf, o.Placeholder.Prefix, s)
	case o.Part == PictureChart && s.id == "": // the part of the chart itself has new content
		x.out.buf = append(x.out.buf, o.Text...)
	case o.Part == PictureChart:
		x.out.buf = append(x.out.buf, s.id...)
	case o.Part == PictureBlip:
		x.out.buf = x.d.appendBlip(x.out.buf, o.Placeholder.Prefix, s, o.Placeholder.Children)
	}
	return nil
}

// moved appends a coordinate that is increased by a length. A coordinate that is not a number stays unchanged.
func moved(dst, place []byte, by picture.EMU) []byte {
	at, err := strconv.ParseInt(string(bytes.TrimSpace(place)), 10, 32)
	if err != nil {
		return append(dst, place...)
	}
	return strconv.AppendInt(dst, at+by, 10)
}

// svgExtension is the extension of a:blip that refers to an SVG file ([MS-ODRAWXML] §2.3.3.29).
const svgExtension = `<%[1]sextLst><%[1]sext uri="{96DAC541-7B7A-43D3-8B79-37D633B846F1}">` +
	`<asvg:svgBlip xmlns:asvg="%[4]s" xmlns:r="%[2]s" r:embed="%[3]s"/></%[1]sext></%[1]sextLst>`

// appendBlip appends an a:blip that refers to a picture, with the effects of the template, and the a:srcRect that crops it.
func (d *Document) appendBlip(dst []byte, prefix string, s *shownPicture, effects []byte) []byte {
	dst = fmt.Appendf(dst, `<%sblip xmlns:r="%s" r:embed="%s">`, prefix, d.relNamespace(), s.id)
	dst = append(dst, effects...)
	if s.svgID != "" {
		dst = fmt.Appendf(dst, svgExtension, prefix, d.relNamespace(), s.svgID, names.Namespace("asvg", d.Package.Strict()))
	}
	dst = fmt.Appendf(dst, `</%sblip>`, prefix)
	if s.Left|s.Top|s.Right|s.Bottom != 0 {
		dst = fmt.Appendf(dst, `<%ssrcRect l="%d" t="%d" r="%d" b="%d"/>`, prefix, s.Left, s.Top, s.Right, s.Bottom)
	}
	return dst
}

// drawingSteps is the number of steps to write an inline picture.
const drawingSteps = 20

// emuPerTwip is the number of English metric units in a twentieth of a point.
const emuPerTwip = 635

// inlinePicture writes a value as a picture in the line of its tag.
func (x *execution) inlinePicture(o *Value, v shown) error {
	if v.text == "" {
		return nil
	}
	p, err := x.prepare(v.text, v.present)
	if fatal := x.fatal(err); fatal != nil {
		return fatal
	}
	if err != nil {
		x.fault(o.Tag, "The picture of '%s' cannot be shown: it %s.", err)
		x.out.buf = append(x.out.buf, o.Source...)
		x.values.missing = true
		return nil
	}
	drawing, err := x.drawing(o.Place, p, picture.EMU(v.present.Width), picture.EMU(v.present.Height), v.present.Fit, "", v.present.Rotation)
	if err != nil {
		return err
	}
	if drawing, err = x.markDrawing(o, drawing); err != nil {
		return err
	}
	x.leave(o.Place.LeaveText, o.Place.EnterText)
	x.out.buf = append(x.out.buf, drawing...)
	x.out.buf = append(x.out.buf, o.Place.EnterText...)
	return nil
}

// drawing returns a w:drawing with an inline picture. A picture without a given size is at most as wide as the text.
func (x *execution) drawing(at *Place, p *prepared, width, height picture.EMU, fit, alt string, degrees int) ([]byte, error) {
	if width == 0 && height == 0 {
		width = min(p.Width, at.Width*emuPerTwip)
	}
	if err := x.meter.Spend(drawingSteps); err != nil {
		return nil, err
	}
	s, err := x.placePicture(p, width, height, fit)
	if err != nil {
		return nil, err
	}
	strict := x.d.Package.Strict()
	wp, a, pic := names.Namespace("wp", strict), names.Namespace("a", strict), names.Namespace("pic", strict)
	id := x.fresh(DrawingIDs)
	described := fmt.Sprintf(`id="%d" name="Picture %d" descr="%s"`, id, id, appendAttribute(nil, alt))
	out := fmt.Appendf(nil, `<%[1]sdrawing><wp:inline xmlns:wp="%[2]s" distT="0" distB="0" distL="0" distR="0">`+
		`<wp:extent cx="%[3]d" cy="%[4]d"/>%[8]s<wp:docPr %[5]s/><wp:cNvGraphicFramePr/><a:graphic xmlns:a="%[6]s"><a:graphicData uri="%[7]s">`+
		`<pic:pic xmlns:pic="%[7]s"><pic:nvPicPr><pic:cNvPr %[5]s/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>`, at.Prefix, wp, s.Width,
		s.Height, described, a, pic, effectExtent("wp:", s.Width, s.Height, degrees))
	out = x.d.appendBlip(out, "a:", s, nil)
	return fmt.Appendf(out, `<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm%[4]s><a:off x="0" y="0"/><a:ext `+
		`cx="%[2]d" cy="%[3]d"/></a:xfrm>`+
		`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></%[1]sdrawing>`,
		at.Prefix, s.Width, s.Height, rotation(degrees)), nil
}

// appendAttribute appends text in its escaped form for an attribute.
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
			dst = append(dst, AppendEscaped(nil, string(r))...)
		}
	}
	return dst
}

// appendVMLStyle appends a style with a new size, as the value of an attribute.
func appendVMLStyle(dst []byte, style string, s *shownPicture) []byte {
	kept := slices.DeleteFunc(strings.Split(style, ";"), func(declaration string) bool {
		name, _, _ := strings.Cut(declaration, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		return name == "width" || name == "height" || name == "" || name == "rotation" && s.rotates
	})
	if s.degrees != 0 {
		kept = append(kept, "rotation:"+strconv.Itoa(s.degrees))
	}
	kept = append(kept, "width:"+points(s.Width), "height:"+points(s.Height))
	return appendAttribute(dst, strings.Join(kept, ";"))
}

func points(n picture.EMU) string {
	return strconv.FormatFloat(math.Round(float64(n)/127)/100, 'f', -1, 64) + "pt"
}

// appendImageData appends a v:imagedata that refers to a picture, and crops it in units of 1/65,536 of its size.
func (d *Document) appendImageData(dst []byte, prefix string, s *shownPicture) []byte {
	dst = fmt.Appendf(dst, `<%simagedata xmlns:r="%s" r:id="%s"`, prefix, d.relNamespace(), s.id)
	for i, cut := range []int{s.Left, s.Top, s.Right, s.Bottom} {
		if cut > 0 {
			dst = fmt.Appendf(dst, ` crop%s="%df"`, []string{"left", "top", "right", "bottom"}[i], cut*65_536/100_000)
		}
	}
	return append(dst, "/>"...)
}
