package importer

import (
	"regexp"
	"strings"

	"platen/docx/wml"
)

// easyTemplateX has tags whose whole text is the name of a key, in single braces. Its loops repeat list items and table columns, and
// options say so. A key is looked up in the item, and then outward.
var easyTemplateX = &dialect{
	name: "easy-template-x", title: "easy-template-x", grammar: &angular,
	openTag: "{", endTag: "}", blockMarks: [2]string{"#", "/"}, read: readEasy, resolve: contextual,
	sections: true, emptyIsTrue: true, wholeItems: true, places: inDescriptions | inCharts,
	signs: []sign{{loopSign, 20}},
	notes: []string{
		"easy-template-x prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and " +
			"the filter optional.",
	},
}

// readEasy reads the content of a tag.
func readEasy(d *dialect, content string) command {
	rest, isOpen := strings.CutPrefix(content, d.blockMarks[0])
	if isOpen {
		return readEasyLoop(strings.TrimSpace(rest))
	}
	if _, isEnd := strings.CutPrefix(content, d.blockMarks[1]); isEnd {
		return command{kind: kEnd} // whatever it names
	}
	name := strings.TrimSpace(tagOptions.ReplaceAllString(content, ""))
	switch {
	case name == "":
		return command{kind: kNothing}
	case name != content:
		return command{err: &cannot{"its options have no equivalent", "print the key without them"}}
	}
	return keyed(kPrint, name)
}

// keyed returns a command with a key.
func keyed(k kind, name string) command {
	if isSelf(step{key: name}) {
		return command{kind: k, err: &cannot{"it is a key of the item, not the item", "rename the key, or write the variable of the loop"}}
	}
	return command{kind: k, expr: &expr{op: opName, name: name}}
}

var tagOptions = regexp.MustCompile(`\s*\[[^\]]*\]\s*$`)

var loopSign = regexp.MustCompile(`\[\s*loopOver\s*:`)

var loopOption = regexp.MustCompile(`^(.*?)\s*\[\s*loopOver\s*:\s*["'“”„‘’]?(\w+)["'“”„‘’]?\s*\]$`)

// readEasyLoop reads the opening tag of a loop or a condition. An option can say what it repeats.
func readEasyLoop(text string) command {
	m := loopOption.FindStringSubmatch(text)
	if m == nil {
		return keyed(kSection, text)
	}
	c := keyed(kLoop, m[1])
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
	case len(types) > 1:
	case types["link"]:
		text := o.text
		o.text += ".target"
		if anyHas(w.samplesOf(e), "text") {
			return o.with("link(" + text + ".text)"), nil
		}
		return o.with("link"), nil
	case types["image"]:
		w.note("send the source of the image in base64")
		size := "image(" + o.text + ".width, " + o.text + `.height, "stretch")`
		if w.tag.shows() == showsImage && !anyHas(w.samplesOf(e), "width") && !anyHas(w.samplesOf(e), "height") {
			size = `image("stretch")` // the size of the image in the template
		}
		o.text += ".source"
		return o.with(size), nil
	case types["rawXml"]:
		return w.rawXML(e, o)
	case types["chart"]:
		return o, &cannot{"Platen reads the data of a chart in its alternative text",
			"write {{x.categories.names :: chart(item, x.series[0].values[key])}} there, with one argument for each series"}
	}
	return o, &cannot{"it prints an object", "print the keys of the object"}
}

var (
	blockXML  = regexp.MustCompile(`^\s*<w:(?:p|tbl)[ >/]`)
	runXML    = regexp.MustCompile(`^\s*(?:<w:(?:br|tab|cr|sym|t)\b[^<>]*(?:/>|>[^<]*</w:t>)\s*)+$`)
	spacedXML = regexp.MustCompile(`<w:(?:sym|t)\b`)
)

// rawXML writes an object with WordprocessingML.
func (w *writer) rawXML(e *expr, o operand) (operand, error) {
	blocks, runs, spaces, lists := true, true, true, false
	for _, v := range w.samplesOf(e) {
		m := v.(map[string]any)
		replaces, _ := m["replaceParagraph"].(bool)
		values := items([]any{m["xml"]})
		_, isList := m["xml"].([]any)
		lists = lists || isList
		for _, v := range values {
			xml, _ := v.(string)
			blocks = blocks && replaces && blockXML.MatchString(xml)
			runs = runs && !replaces && runXML.MatchString(xml)
			spaces = spaces && !spacedXML.MatchString(xml)
		}
	}
	value := o.text + ".xml"
	if lists {
		value = "$join(" + value + `, "")`
	}
	t := w.tag
	w.note(noteWordML)
	switch {
	case blocks && strings.TrimSpace(t.par.text) == t.original():
		o.text = value
		return o.with("wordml"), nil
	case runs && (spaces || !t.isFormatted()):
		o.text = `$string("<w:r>", ` + value + `, "</w:r>")`
		return o.with("wordml"), nil
	}
	return o, &cannot{"the XML replaces its paragraph, or becomes a part of its run",
		"send a whole paragraph or run, and write {{x :: wordml}}"}
}

const noteWordML = "the operator must allow WordprocessingML from the data (--allow-wordml)"

// isFormatted reports whether the run of the first character of a tag has properties.
func (t *tag) isFormatted() bool {
	i := t.par.textAt(t.span.from)
	return i >= 0 && t.par.pieces[i].node.Ancestor(wml.Named("w:r")).Child("w:rPr") != nil
}
