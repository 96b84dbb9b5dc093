package lang

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// presentFilters set the presentation of a value. Except for link, pagebreak, and checkbox, they do not change the value.
var presentFilters = map[string]*filter{
	"raw":      {usage: "raw", takes: takes{want: aScalar}, same: true, sole: true, note: showAs(AsLiteral)},
	"html":     {usage: "html", takes: takes{want: aText}, same: true, sole: true, also: []string{"safe"}, note: showAs(AsHTML)},
	"markdown": {usage: "markdown", takes: takes{want: aText}, same: true, sole: true, note: showAs(AsMarkdown)},
	"wordml": {
		usage: "wordml", takes: like(aText, "<w:r><w:t>text</w:t></w:r>"), same: true, sole: true, note: showAs(AsWordML),
	},
	"image": {
		usage: `image, image("4cm") or image("4cm", "3cm", "fill")`, arity: arity{0, 3}, also: []string{"picture", "img"},
		takes: takes{want: aPicture}, args: []takes{like(aText, "4cm"), like(aText, "3cm"), like(aText, "fit")}, sole: true, note: image,
	},
	"qrcode": {
		usage: `qrcode or qrcode("3cm")`, arity: arity{0, 1},
		takes: takes{want: aScalar}, same: true, args: []takes{like(aText, "3cm")}, sole: true, note: qrcode,
	},
	"barcode": {
		usage: `barcode("ean13") or barcode("code128", "5cm", "2cm")`, arity: arity{0, 3},
		takesFor: barcodeTakes, same: true, args: []takes{like(aText, "code128"), like(aText, "5cm"), like(aText, "2cm")}, sole: true,
		note: barcode,
	},
	"checkbox": {
		usage: `checkbox or checkbox("yes", "no")`, arity: arity{0, 2},
		takes: takes{want: aBoolean}, args: []takes{{want: aScalar}}, sole: true, apply: checkbox,
	},
	"pagebreak": {usage: "pagebreak", takes: takes{want: aBoolean}, sole: true, apply: pageBreak},
	"chart": {
		usage: `chart(month, sales) or chart(month, sales, costs)`, arity: arity{2, many},
		takes: takes{want: aList}, args: []takes{{want: aScalar}, {want: aNumber}}, sole: true, perItem: true, apply: chart,
	},
	"errorbars": {
		usage: "errorbars(deviation) or errorbars(above, below)", arity: arity{1, many},
		takes: takes{want: aList}, args: []takes{{want: aNumber}}, same: true, perItem: true, apply: errorBars,
	},

	"bold": {
		usage: "bold or bold(condition)", arity: arity{0, 1}, same: true, when: 1,
		note: mark(func(p *Present) *bool { return &p.Bold }),
	},
	"italic": {
		usage: "italic or italic(condition)", arity: arity{0, 1}, same: true, when: 1,
		note: mark(func(p *Present) *bool { return &p.Italic }),
	},
	"underline": {
		usage: "underline or underline(condition)", arity: arity{0, 1}, same: true, when: 1,
		note: mark(func(p *Present) *bool { return &p.Underline }),
	},
	"strike": {
		usage: "strike or strike(condition)", arity: arity{0, 1}, same: true, when: 1,
		note: mark(func(p *Present) *bool { return &p.Strike }),
	},
	"color": {
		usage: `color("#C00000"), color("red") or color("red", condition)`, arity: arity{1, 2},
		same: true, args: []takes{like(aText, "red"), {}}, when: 2, note: color,
	},
	"style": {
		usage: `style("Strong") or style("Strong", condition)`, arity: arity{1, 2},
		same: true, args: []takes{like(aText, "Strong"), {}}, when: 2, note: style,
	},
	"link": {
		usage: `link or link("text")`, arity: arity{0, 1}, also: []string{"url"},
		takes: anAddress, args: []takes{{want: aScalar}}, apply: link,
	},

	"merge": {usage: "merge", same: true, note: func(p *Present, _ *Filter, _ []Value) error { p.Merge = true; return nil }},
	"span":  {usage: "span(2)", arity: arity{1, 1}, same: true, args: []takes{likeNumber("2")}, note: span},
}

// checkSole reports a second filter that makes something else of the value.
func (p *parser) checkSole(f *Filter, before []Filter) {
	if !f.fn.sole {
		return
	}
	for i := range before {
		if before[i].fn.sole {
			p.fail(f.Position(), "remove one of them", "a value cannot be %s and %s", before[i].Name, f.Name)
		}
	}
}

// checkNote tries the arguments of a presentation filter that are written out, so that a mistake is found with the template.
func (p *parser) checkNote(f *Filter) {
	args := make([]Value, len(f.Args))
	for i, arg := range f.Args {
		literal, ok := arg.(*Literal)
		if !ok {
			return
		}
		args[i] = literal.Value
	}
	if wrong, ok := errors.AsType[*fault](f.fn.note(new(Present), f, args)); ok {
		p.fail(wrong.node.Position(), "write "+f.fn.usage, "%s", wrong.Error())
	}
}

// note applies a presentation filter.
func (e *Env) note(f *Filter) error {
	args := make([]Value, len(f.Args))
	for i, arg := range f.Args {
		var err error
		if args[i], err = e.eval(arg); err != nil {
			return err
		}
		if i+1 == f.fn.when {
			args[i] = e.isTrue(arg, args[i])
		}
	}
	return f.fn.note(e.presenting(), f, args)
}

// presenting returns the presentation of the current tag's value, which the caller may change.
func (e *Env) presenting() *Present {
	e.presented = true
	return &e.present
}

func showAs(as As) func(*Present, *Filter, []Value) error {
	return func(p *Present, _ *Filter, _ []Value) error {
		p.As = as
		return nil
	}
}

// mark returns a filter that sets a mark, if its condition holds.
func mark(of func(*Present) *bool) func(*Present, *Filter, []Value) error {
	return func(p *Present, _ *Filter, args []Value) error {
		*of(p) = len(args) == 0 || truth(args[0])
		return nil
	}
}

// image sets the width, the height, and the fit of a picture.
func image(p *Present, f *Filter, args []Value) error {
	p.As = AsImage
	lengths := []*Length{&p.Width, &p.Height}
	for i, arg := range args {
		if fit, ok := arg.(string); ok && slices.Contains(fits, fit) {
			p.Fit = fit
			continue
		}
		if len(lengths) == 0 {
			return &fault{node: f.Args[i], message: "is not one of " + strings.Join(fits, ", ")}
		}
		if err := lengths[0].set(f.Args[i], arg); err != nil {
			return err
		}
		lengths = lengths[1:]
	}
	return nil
}

// set sets l to the length v, which is the value of n. A missing value leaves l unchanged.
func (l *Length) set(n Node, v Value) error {
	if v == nil {
		return nil
	}
	s, _ := scalarText(v)
	parsed, ok := parseLength(s)
	if !ok {
		return &fault{node: n, message: `is not a length like "4cm", "40mm", "1.5in", "72pt", or "300" for pixels, up to 22 inches`}
	}
	*l = parsed
	return nil
}

func qrcode(p *Present, f *Filter, args []Value) error {
	p.As, p.Symbology = AsQRCode, "qr"
	if len(args) == 0 {
		return nil
	}
	err := p.Width.set(f.Args[0], args[0])
	p.Height = p.Width
	return err
}

func barcode(p *Present, f *Filter, args []Value) error {
	p.As, p.Symbology = AsBarcode, "code128"
	if len(args) > 0 {
		s, _ := args[0].(string)
		if p.Symbology = strings.ToLower(s); !slices.Contains(Symbologies, p.Symbology) {
			return &fault{node: f.Args[0], message: "is not one of " + strings.Join(Symbologies, ", ")}
		}
	}
	for i, l := range []*Length{&p.Width, &p.Height} {
		if i+1 < len(args) {
			if err := l.set(f.Args[i+1], args[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// barcodeTakes returns what can be a barcode of the kind that the filter names.
func barcodeTakes(f *Filter) takes {
	kind := ""
	if len(f.Args) > 0 {
		if l, ok := f.Args[0].(*Literal); ok {
			kind, _ = l.Value.(string)
		}
	}
	if code, ok := codeExamples[strings.ToLower(kind)]; ok {
		return like(aScalar, code)
	}
	return like(aScalar, "A-1001", "A-1002")
}

// codeExamples are texts for the kinds of barcodes that do not take any text.
var codeExamples = map[string]string{
	"ean13": "4006381333931", "ean8": "96385074", "codabar": "40156", "2of5": "1234567890", "itf": "1234567890",
}

func color(p *Present, f *Filter, args []Value) error {
	s, _ := args[0].(string)
	found, ok := parseColor(s)
	if !ok {
		return &fault{node: f.Args[0], message: `is not a color like "#C00000" or "red"`}
	}
	if len(args) == 1 || truth(args[1]) {
		p.Color = found
	}
	return nil
}

func style(p *Present, f *Filter, args []Value) error {
	s, ok := args[0].(string)
	if !ok || s == "" {
		return &fault{node: f.Args[0], message: "is not the name of a style"}
	}
	if len(args) == 1 || truth(args[1]) {
		p.Style = s
	}
	return nil
}

func span(p *Present, f *Filter, args []Value) (err error) {
	p.Span, err = wholeNumber(f.Args[0], args[0], 1, MaxSpan)
	return err
}

// anAddress is the kind of value that a link needs.
var anAddress = like(aText, "https://example.com/", "https://example.org/")

// link makes the value an address, and returns the text of the link: its argument, or the address itself. The text for an empty address is
// empty.
func link(e *Env, f *Filter, v Value) (Value, error) {
	if v == nil || v == "" {
		return v, nil
	}
	address, ok := scalarText(v)
	if !ok {
		return nil, &fault{node: e.subject, message: "is " + kindOf(v) + ", not a URL"}
	}
	e.presenting().Link = address
	return e.textOr(f, 0, address)
}

// checkbox returns a box, which is ticked if [Env.Ticked] returns true.
func checkbox(e *Env, f *Filter, v Value) (Value, error) {
	if v == nil {
		return nil, nil
	}
	checked := e.Ticked(v)
	p := e.presenting()
	p.As, p.Checked = AsCheckbox, checked
	if checked {
		return e.textOr(f, 0, "☒")
	}
	return e.textOr(f, 1, "☐")
}

// pageBreak breaks the page if the value is true, and leaves no text.
func pageBreak(e *Env, _ *Filter, v Value) (Value, error) {
	if v == nil {
		return nil, nil
	}
	p := e.presenting()
	p.As = AsText
	if e.isTrue(e.subject, v) {
		p.As = AsPageBreak
	}
	return "", nil
}

func chart(e *Env, _ *Filter, v Value) (Value, error) {
	e.presenting().As = AsChart
	return v, nil
}

// errorBars leaves the value unchanged: [Env.Chart] computes the lengths with the other numbers.
func errorBars(_ *Env, _ *Filter, v Value) (Value, error) { return v, nil }

// Chart is the data of a chart: a category for each item of a list, and a number in each series. A value that an item lacks is
// nil.
type Chart struct {
	Categories []Value
	Series     [][]Value // one for each argument of the filter but the first
	Errors     [][]Value // one for each argument of the filter errorbars
}

// Chart returns the data of a tag with the filter chart. If the list is missing or the data cannot be computed, which is then
// among [Env.Errors], ok is false. The chart is nil if the list is optional and missing. The error is a [*LimitError].
func (e *Env) Chart(t *Tag) (c *Chart, ok bool, err error) {
	f := t.Filter("chart")
	v, ok, err := e.evaluate(t)
	if f == nil || !ok || err != nil || v == "" {
		return nil, ok && f != nil, err
	}
	items, err := e.listOf(v)
	if err != nil {
		return nil, false, e.report(err)
	}
	c = &Chart{Series: make([][]Value, len(f.Args)-1)}
	numbers, lengths := f.Args[1:], []Node(nil)
	if bars := t.Filter("errorbars"); bars != nil {
		lengths, c.Errors = bars.Args, make([][]Value, len(bars.Args))
	}
	e.enter(items)
	defer e.leave()
	for _, item := range items {
		known := len(e.missing)
		category, err := e.inItem(f.Args[0], item)
		if err != nil {
			return nil, false, e.report(err)
		}
		c.Categories = append(c.Categories, plain(category))
		if err := cmp.Or(e.appendNumbers(c.Series, numbers, item), e.appendNumbers(c.Errors, lengths, item)); err != nil {
			return nil, false, e.report(err)
		}
		e.overlooked(known)
	}
	return c, true, nil
}

// appendNumbers appends to each column the number that its expression is for an item.
func (e *Env) appendNumbers(columns [][]Value, of []Node, item Value) error {
	for i, n := range of {
		x, err := e.chartNumber(n, item)
		if err != nil {
			return err
		}
		columns[i] = append(columns[i], x)
	}
	return nil
}

// chartNumber returns the number that n is for an item, nil if that is missing or empty.
func (e *Env) chartNumber(n Node, item Value) (Value, error) {
	v, err := e.inItem(n, item)
	if err != nil || v == nil || v == "" {
		return nil, err
	}
	x, err := operand(n, v)
	return plain(x), err
}
