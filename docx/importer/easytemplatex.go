package importer

import (
	"regexp"

	"platen/docx/wml"
)

// easyTemplateX has the tags of docxtemplater. Its loops repeat list items and table columns, and options say so.
var easyTemplateX = &dialect{
	name: "easy-template-x", title: "easy-template-x", grammar: &angular,
	openTag: "{", endTag: "}", find: findDocxtemplater, resolve: resolveSection, sections: true, emptyIsTrue: true, wholeItems: true,
	filters: map[string]rule{"\x00image": filter("image"), "\x00wordml": noSuchTag}, methods: scriptMethods, properties: scriptProperties,
	signs: []sign{{loopSign, 20}},
	notes: []string{
		"easy-template-x prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and " +
			"the filter optional.",
	},
}

// noSuchTag refuses a tag that only docxtemplater has.
func noSuchTag(*writer, operand, []*expr) (operand, error) {
	return operand{}, &cannot{"it is not a tag of easy-template-x", "import the template with --from docxtemplater"}
}

var loopSign = regexp.MustCompile(`\[\s*loopOver\s*:`)

var loopOption = regexp.MustCompile(`^(.*?)\s*\[\s*loopOver\s*:\s*["'“”„‘’]?(\w+)["'“”„‘’]?\s*\]$`)

// readSection reads the opening tag of a section. In easy-template-x, an option can say what it repeats.
func readSection(text string) command {
	m := loopOption.FindStringSubmatch(text)
	if m == nil {
		return expression(kSection, text).called(text)
	}
	c := expression(kLoop, m[1]).called(m[1])
	switch m[2] {
	case "row":
		c.unit = unitRow
	case "paragraph":
		c.unit = unitAround
	case "content":
	default:
		c.err = &cannot{"the option loopOver: " + m[2] + " has no exact equivalent",
			"write {{tablecolumn x in list}} … {{endtablecolumn}} for columns"}
	}
	return c
}

// loopOf returns the word of a loop in easy-template-x: of list items, or of columns if its tags are in one column.
func loopOf(open, end *tag) string {
	a, b := open.cell(), end.cell()
	switch {
	case open.unit != unitNone || a != b && (a == nil || b == nil || tableOf(a) != tableOf(b)):
		return ""
	case a != b && open.row() != end.row() && columnOf(a) == columnOf(b):
		return "tablecolumn"
	case a == b && isListItem(open.par.node):
		return "paragraph"
	}
	return ""
}

// columnOf returns the position of a cell in its row.
func columnOf(cell *wml.Node) int { return wml.NewLocator(tableOf(cell)).Ordinal(cell) }

func isListItem(par *wml.Node) bool { return par.Child("w:pPr").Child("w:numPr") != nil }

// typed writes an object of easy-template-x, whose key _type says what to print.
func (w *writer) typed(e *expr, o operand) (operand, error) {
	types := map[any]bool{}
	for _, v := range w.samplesOf(e) {
		m, _ := v.(map[string]any)
		types[m["_type"]] = true
	}
	switch {
	case len(types) == 1 && types["link"]:
		text := o.text
		o.text += ".target"
		if anyHas(w.samplesOf(e), "text") {
			return o.with("link(" + text + ".text)"), nil
		}
		return o.with("link"), nil
	case len(types) == 1 && types["image"]:
		w.note("send the source of the image in base64")
		size := "image(" + o.text + ".width, " + o.text + ".height)"
		o.text += ".source"
		return o.with(size), nil
	}
	return o, &cannot{"it prints an object", "print the keys of the object"}
}
