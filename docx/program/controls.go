package program

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"platen/docx/lang"
	"platen/docx/locale"
	"platen/docx/wml"
)

// Control has the properties of a content control that its value depends on.
type Control struct {
	Kind   string // the canonical name of the property that determines its kind
	Breaks *Breaks
	Prefix string // of the elements of its content
	Bare   bool   // the run of its box has no properties

	Items         []ControlItem // of lists
	Unlisted      bool          // its list is an empty element in the template
	Format        string        // of dates
	Language      string        // of dates
	Ticked, Blank Box           // of check boxes
}

// ControlItem is an entry of a list.
type ControlItem struct{ Value, Text string }

// ControlPartKind is the part of a content control that a step writes.
type ControlPartKind uint8

// The parts of a content control that depend on its value.
const (
	ControlText ControlPartKind = iota
	ControlTicked
	ControlDate
	ControlBox  // the box of a check box
	ControlFont // the font of its run
	ControlList // the entries of a list
)

// AddTo records the input that the tag of the control reads.
func (k *Control) AddTo(use *lang.Use, t *lang.Tag, s *lang.Scope) {
	switch k.Kind {
	case "w14:checkbox":
		use.AddBox(t, s)
	case "w:date":
		use.AddDate(t, s, wordDates.Replace(k.Format))
	case "w:dropDownList", "w:comboBox":
		if t.Filter("options") != nil {
			use.Add(t, s)
			return
		}
		var entries []string
		for _, item := range k.Items {
			entries = append(entries, item.Text)
		}
		for _, item := range k.Items {
			if item.Value != "" && !slices.Contains(entries, item.Value) {
				entries = append(entries, item.Value)
			}
		}
		use.AddChoice(t, s, entries, k.Kind == "w:comboBox")
	default:
		use.Add(t, s)
	}
}

// filledControl is the content of a content control with a value.
type filledControl struct {
	text   string
	keeps  bool // shows the text of the template
	ticked bool
	date   string
	items  []ControlItem // nil for those of the template
}

// ControlValue writes a content control with the value of its tag. Without a valid value the control stays unchanged.
type ControlValue struct {
	Tag       *lang.Tag
	Control   *Control
	Untouched []byte // the control as it is in the template
	Body      []Step
}

func (o *ControlValue) sketch(s *sketcher) { s.value(o.Body) }

func (o *ControlValue) run(x *execution) error {
	v, ok, err := x.env.Value(o.Tag)
	if err != nil {
		return err
	}
	x.yield()
	x.flow.last = Unchanged
	if !ok {
		x.out.buf = append(x.out.buf, o.Untouched...)
		return nil
	}
	filled, err := o.Control.fill(x, v)
	if err != nil {
		x.fault(o.Tag, "The content control '%s' cannot show its value: %s.", err)
		x.out.buf = append(x.out.buf, o.Untouched...)
		return nil
	}
	outer := x.filled
	x.filled = filled
	err = x.run(o.Body)
	x.filled = outer
	return err
}

// fill returns the content of the control for a value.
func (k *Control) fill(x *execution, v lang.Value) (*filledControl, error) {
	if k.Kind == "w14:checkbox" {
		return &filledControl{ticked: x.env.Ticked(v)}, nil
	}
	s, ok := lang.Text(v)
	if !ok {
		return nil, errors.New("it is a list or an object")
	}
	switch k.Kind {
	case "w:dropDownList", "w:comboBox":
		if entries := x.env.Present().Entries; entries != nil {
			return k.chooseOf(x, entries, s)
		}
		return k.choose(k.Items, s)
	case "w:date":
		return k.date(x, s)
	}
	return &filledControl{text: s}, nil
}

// chooseOf returns the content of a list with other entries. Without a value, the list shows the text of the template.
func (k *Control) chooseOf(x *execution, entries []lang.Entry, s string) (*filledControl, error) {
	if err := x.meter.Spend(len(entries)); err != nil {
		return nil, err
	}
	items := make([]ControlItem, len(entries))
	for i, e := range entries {
		items[i] = ControlItem{Value: e.Value, Text: e.Text}
	}
	if s == "" {
		return &filledControl{keeps: true, items: items}, nil
	}
	filled, err := k.choose(items, s)
	if err == nil {
		filled.items = items
	}
	return filled, err
}

// choose returns the content for an entry of a list.
func (k *Control) choose(items []ControlItem, s string) (*filledControl, error) {
	var names []string
	for _, item := range items {
		if s == item.Text || s == item.Value {
			return &filledControl{text: item.Text}, nil
		}
		names = append(names, item.Text)
	}
	if k.Kind == "w:comboBox" {
		return &filledControl{text: s}, nil
	}
	return nil, notEntry(s, names)
}

// notEntry is the error of a value that is not one of the entries of a list.
func notEntry(s string, entries []string) error {
	if len(entries) == 0 {
		return fmt.Errorf("%q is not one of its entries: it has none", s)
	}
	return fmt.Errorf("%q is not one of its entries, which are %s", s, strings.Join(entries, ", "))
}

// wordDates converts the letters of Word's date formats to those of CLDR.
var wordDates = strings.NewReplacer("dddd", "EEEE", "ddd", "EEE", "AM/PM", "a", "am/pm", "a")

func (k *Control) date(x *execution, s string) (*filledControl, error) {
	l, ok := locale.Find(k.Language)
	if !ok {
		if l = x.opt.Locale; l == nil {
			l = locale.Default()
		}
	}
	t, dateOnly, err := locale.ParseTime(s, x.opt.Location, x.opt.Locale) // as the filter date reads it
	if err != nil && strings.ContainsFunc(s, unicode.IsLetter) {          // the name of a month in the language of the control
		t, dateOnly, err = locale.ParseTime(s, x.opt.Location, l)
	}
	if err != nil {
		return nil, err
	}
	format := wordDates.Replace(k.Format)
	if format == "" {
		format = "short"
	}
	if dateOnly && lang.ShowsTime(format) {
		tag := x.env.Tag()
		x.warn(tag, "The value of '"+tag.Expr.String()+"'"+lang.NoTime)
	}
	text, err := l.Date(t, format)
	return &filledControl{text: text, date: t.Format("2006-01-02T15:04:05Z")}, err
}

// ControlPart writes a part of a content control that depends on its value.
type ControlPart struct {
	Part    ControlPartKind
	Text    []byte // the part in the template
	Control *Control
}

func (o *ControlPart) run(x *execution) error {
	switch f := x.filled; o.Part {
	case ControlText:
		if f.keeps {
			x.out.buf = append(x.out.buf, o.Text...)
			return nil
		}
		x.out.buf = fmt.Appendf(x.out.buf, "<%st%s>", o.Control.Prefix, wml.Preserve)
		x.out.buf, _ = appendValue(x.out.buf, f.text, o.Control.Breaks)
		x.out.buf = fmt.Appendf(x.out.buf, "</%st>", o.Control.Prefix)
	case ControlList:
		x.out.buf = o.appendList(x.out.buf, f.items)
	case ControlTicked:
		x.out.buf = strconv.AppendInt(x.out.buf, int64(map[bool]int{true: 1}[f.ticked]), 10)
	case ControlDate:
		x.out.buf = append(x.out.buf, f.date...)
	case ControlBox:
		x.out.buf = o.Control.state(f.ticked).appendBox(x.out.buf, o.Control.Prefix)
	case ControlFont:
		x.out.buf = o.Control.appendFont(x.out.buf, o.Control.state(f.ticked).Font, o.Text)
	}
	return nil
}

// appendList appends the entries of a list (w:listItem, ISO 29500-1 §17.5.2.21), or those of the template if items is nil.
func (o *ControlPart) appendList(dst []byte, items []ControlItem) []byte {
	if items == nil {
		return append(dst, o.Text...)
	}
	prefix, name := o.Control.Prefix, strings.TrimPrefix(o.Control.Kind, "w:")
	if o.Control.Unlisted {
		dst = fmt.Appendf(dst, "<%s%s>", prefix, name)
	}
	for _, item := range items {
		dst = fmt.Appendf(dst, `<%[1]slistItem %[1]sdisplayText="%[2]s" %[1]svalue="%[3]s"/>`, prefix, appendAttribute(nil, item.Text),
			appendAttribute(nil, item.Value))
	}
	if o.Control.Unlisted {
		dst = fmt.Appendf(dst, "</%s%s>", prefix, name)
	}
	return dst
}

// The box of a check box ([MS-DOCX] §2.6.1.6). Each of its two states has a character in a font.

// Box is the character of a check box in one state.
type Box struct {
	Glyph rune
	Font  string // "" for that of the run
}

// symbolFonts have symbols instead of letters. Their characters are written as w:sym (ISO 29500-1 §17.3.3.30).
var symbolFonts = map[string]bool{"Wingdings": true, "Wingdings 2": true, "Wingdings 3": true, "Webdings": true, "Symbol": true}

// firstSymbol is the start of the range in Unicode for the characters of symbol fonts.
const firstSymbol = 0xF000

// appendBox appends the character.
func (b Box) appendBox(dst []byte, prefix string) []byte {
	if !symbolFonts[b.Font] {
		return fmt.Appendf(dst, "<%[1]st>%[2]s</%[1]st>", prefix, AppendEscaped(nil, string(b.Glyph)))
	}
	return fmt.Appendf(dst, `<%[1]ssym %[1]sfont="%[2]s" %[1]schar="%04[3]X"/>`, prefix, b.Font, b.Glyph|firstSymbol)
}

// appendFont appends the font of the box's run, which replaces its former one.
func (k *Control) appendFont(dst []byte, font string, sofar []byte) []byte {
	if font == "" {
		return append(dst, sofar...)
	}
	if k.Bare {
		dst = fmt.Appendf(dst, "<%srPr>", k.Prefix)
	}
	dst = fmt.Appendf(dst, `<%[1]srFonts %[1]sascii="%[2]s" %[1]seastAsia="%[2]s" %[1]shAnsi="%[2]s"/>`, k.Prefix, appendAttribute(nil, font))
	if k.Bare {
		dst = fmt.Appendf(dst, "</%srPr>", k.Prefix)
	}
	return dst
}

// state returns the box of a state.
func (k *Control) state(ticked bool) Box {
	if ticked {
		return k.Ticked
	}
	return k.Blank
}
