package importer

import (
	"regexp"
	"strings"

	"platen/docx/wml"
)

// Handlebars in Word templates is mostly that of jsreport, whose helpers for Word are known.

// readJsreport reads a tag with a helper of jsreport; ok is false for other tags.
func readJsreport(content string) (c command, ok bool) {
	name := helperWord.FindString(content)
	read := jsreportHelpers[name]
	if read == nil {
		return command{}, false
	}
	h, err := readCall(content)
	if err != nil {
		return command{err: err}, true
	}
	c = read(h)
	c.uses = h.values()
	return c, true
}

// jsreportHelpers read the helpers of jsreport that are no blocks.
var jsreportHelpers = map[string]func(*call) command{
	"docxImage": readImage, "docxHtml": readHTML, "docxRaw": readRaw, "docxPageBreak": readPageBreak, "docxRemove": readRemove,
	"docxCheckbox": readCheckbox, "docxCombobox": readCombobox, "docxWatermark": readWatermark, "docxTOCOptions": readContents,
	"docxChart": readChartHelper, "docxChild": readChild, "docxTable": readMatrix,
}

// readRepeater reads the opening tag of a block that repeats table rows or columns, or paragraphs.
func readRepeater(helper, argument string) command {
	c := command{kind: kLoop, closes: helper}
	h, err := readCall(helper + " " + argument)
	if err != nil {
		c.err = err
		return c
	}
	list := h.named["data"]
	if len(h.args) == 1 && list == nil {
		list = h.args[0]
	}
	switch {
	case h.named["colsWidth"] != nil:
		c.err = &cannot{"the data sets the widths of the columns", "set the widths in the template"}
	case h.named["rows"] != nil && h.matrix() != nil && len(h.named) == 2:
		c.kind, c.matrix, c.putIn, c.uses = kMatrix, h.matrix(), putMatrix, h.values()
		return c
	case list == nil || len(h.args) > 1 || len(h.named) > 2 || list.op == opCall:
		c.err = errHelper(helper)
	case helper == "docxTable" && h.text("vertical") == "true":
		c.word = "tablecolumn"
	case h.named["vertical"] != nil:
		c.err = errHelper(helper)
	}
	if c.expr, c.unit = list, unitRow; helper == "docxList" {
		c.unit = unitParagraph
	}
	return c
}

// readChild reads a tag that inserts another file.
func readChild(h *call) command {
	name := ""
	if len(h.args) == 1 && len(h.named) == 0 && h.args[0].op == opLiteral {
		name, _ = h.args[0].val.(string)
	}
	if !strings.HasSuffix(name, ".docx") {
		return command{err: &cannot{"only the data or the application says which file it inserts",
			"write {{include x :: oneof(\"a.docx\", \"b.docx\")}}"}}
	}
	return command{includes: true, note: "the file must be next to the template; import it too", write: func(w *writer) (string, error) {
		switch t := w.tag; {
		case w.innermost() != nil:
			return "", &cannot{"the keys in the file are those of the item",
				"write {{include \"x.docx\"}}, and the variable of the loop in the file"}
		case t.par.aside != nil || strings.TrimSpace(t.par.text) != t.original():
			return "", &cannot{"it is not alone in its paragraph", "write {{include \"x.docx\"}} in a paragraph of its own"}
		}
		return "{{include " + quote(name) + "}}", nil
	}}
}

// readImage reads an image. In the ScreenTip of an image in the template, it replaces that image.
func readImage(h *call) command {
	src := h.named["src"]
	if err := h.only("src", "width", "height", "rotation", "usePlaceholderSize"); err != nil || src == nil {
		return command{err: orArguments(err)}
	}
	c := command{expr: src, note: "send the image in base64, or its URL", fills: true, putIn: putImage}
	c.write = func(w *writer) (string, error) {
		o, err := w.operand(src)
		if err != nil {
			return "", err
		}
		size, err := h.sizeOf(w)
		if err != nil {
			return "", err
		}
		o = o.with(size)
		if r := h.named["rotation"]; r != nil {
			angle, err := w.value(r, weakOr)
			if err != nil {
				return "", err
			}
			o = o.with("rotate(" + angle + ")")
		}
		return "{{" + strings.Join(append([]string{o.text}, o.filters...), " :: ") + "}}", nil
	}
	return c
}

// putImage puts the tag of an image into the alternative text of the image in the template whose ScreenTip it is.
func putImage(p *part, t *tag) {
	if t.par.aside == nil {
		p.replace(t.par, t.span.from, t.span.to, t.out)
		return
	}
	p.replace(t.par, t.span.from, t.span.to, "")
	if t.par.twin {
		return
	}
	described := t.par.node.Ancestor(wml.Named("w:drawing")).All("wp:docPr")[0]
	name := "descr"
	if a := described.Attr(name); a != nil && a.ValueEnd > a.ValueStart { // stays for readers
		name = "title"
	}
	if a := described.Attr(name); a != nil {
		p.edits = append(p.edits, edit{a.ValueStart, a.ValueEnd, escapeAttribute(t.out)})
		return
	}
	at := described.Start + len("<") + len(described.RawName(p.src))
	p.edits = append(p.edits, edit{at, at, " " + name + `="` + escapeAttribute(t.out) + `"`})
}

func orArguments(err error) error {
	if err == nil {
		return errArguments
	}
	return err
}

// sizeOf returns the filter for an image of some size.
func (c *call) sizeOf(w *writer) (string, error) {
	inTemplate := w.tag.par.aside != nil
	if use := c.named["usePlaceholderSize"]; use != nil {
		if c.text("usePlaceholderSize") != "true" || !inTemplate {
			return "", &cannot{"only the data says which size it has", "write {{x :: image(\"stretch\")}} or {{x :: image(\"original\")}}"}
		}
		return `image("stretch")`, nil
	}
	var lengths [2]string
	for i, name := range []string{"width", "height"} {
		e := c.named[name]
		if e == nil {
			continue
		}
		var err error
		if lengths[i], err = w.value(e, weakOr); err != nil {
			return "", err
		}
	}
	switch width, height := lengths[0], lengths[1]; {
	case width != "" && height != "":
		return "image(" + width + ", " + height + `, "stretch")`, nil
	case width != "":
		return "image(" + width + ")", nil
	case height != "":
		return "image(null, " + height + ")", nil
	}
	w.note("its size follows the resolution that the file names, and not always 96 dots per inch")
	if inTemplate {
		return `image("original")`, nil
	}
	return "image", nil
}

// filtered returns a command that prints a value with filters.
func filtered(e *expr, filters ...string) command {
	return command{expr: e, write: func(w *writer) (string, error) {
		o, err := w.operand(e)
		return "{{" + strings.Join(append(append([]string{o.text}, o.filters...), filters...), " :: ") + "}}", err
	}}
}

var runsXML = regexp.MustCompile(`^\s*<w:r[ >/]`)

// readRaw reads WordprocessingML from the data, which replaces its run or its paragraph.
func readRaw(h *call) command {
	xml := h.named["xml"]
	if err := h.only("xml", "replaceParentElement"); err != nil || xml == nil {
		return command{err: orArguments(err)}
	}
	c := filtered(xml, "wordml")
	write := c.write
	c.note = noteWordML
	c.write = func(w *writer) (string, error) {
		like, alone := runsXML, true
		if h.text("replaceParentElement") == "w:p" {
			like, alone = blockXML, strings.TrimSpace(w.tag.par.text) == w.tag.original()
		}
		values := w.textsOf(xml)
		for _, v := range values {
			alone = alone && like.MatchString(v)
		}
		if target := h.text("replaceParentElement"); !alone || len(values) == 0 || target != "w:p" && target != "w:r" {
			return "", &cannot{"the XML replaces the element around it", "send whole paragraphs or runs, and write {{x :: wordml}}"}
		}
		return write(w)
	}
	return c
}

// readPageBreak reads a page break.
func readPageBreak(h *call) command {
	if err := h.only(); err != nil {
		return command{err: err}
	}
	return command{kind: kNothing, putIn: func(p *part, t *tag) {
		p.replace(t.par, t.span.from, t.span.to, "")
		p.breakPage(t)
	}}
}

// breakPage puts a page break at the start of a tag.
func (p *part) breakPage(t *tag) {
	first := &t.par.pieces[t.par.textAt(t.span.from)]
	prefix := first.node.Prefix(p.src)
	at := first.source(t.span.from)
	text := prefix + "t"
	p.edits = append(p.edits, edit{at, at, "</" + text + "><" + prefix + "br " + prefix + `type="page"/><` + text + wml.Preserve + ">"})
}

// readRemove reads a tag that removes its paragraph if a value is true.
func readRemove(h *call) command {
	if err := h.only("v", "t"); err != nil {
		return command{err: err}
	}
	if h.named["t"] != nil && h.text("t") != "paragraph" {
		return command{err: &cannot{"it removes a row or a table", "write {{if not x}} … {{endif}} around the rows or the table"}}
	}
	condition := h.named["v"]
	if condition == nil {
		condition = &expr{op: opLiteral, val: true}
	}
	c := command{kind: kNothing, expr: condition}
	c.write = func(w *writer) (string, error) {
		if w.tag.par.node.Child("w:pPr").Child("w:sectPr") != nil {
			return "", &cannot{"its paragraph ends a section", "put the tag into another paragraph"}
		}
		x, err := w.opening(condition, true)
		return "{{if " + x + "}}", err
	}
	c.putIn = func(p *part, t *tag) {
		p.replace(t.par, t.span.from, t.span.to, "")
		p.addParagraph(t.par.node, false, t.out)
		p.addParagraph(t.par.node, true, "{{endif}}")
	}
	return c
}

// readCheckbox reads the name of a check box, which ticks it.
func readCheckbox(h *call) command {
	value := h.named["value"]
	if err := h.only("value"); err != nil || value == nil {
		return command{err: orArguments(err)}
	}
	return filling(filtered(value))
}

// readCombobox reads the name of a list, which shows an entry.
func readCombobox(h *call) command {
	value := h.named["value"]
	if err := h.only("value", "items"); err != nil || value == nil {
		return command{err: orArguments(err)}
	}
	entries := h.named["items"]
	if entries == nil {
		return filling(filtered(value))
	}
	return filling(command{expr: value, write: func(w *writer) (string, error) {
		o, err := w.operand(value)
		if err != nil {
			return "", err
		}
		list, err := w.value(entries, primary)
		if err != nil {
			return "", err
		}
		arguments := list + ".text, " + list + ".value"
		switch k := kindsOfValues(items(w.samplesOf(entries))); {
		case w.tag.par.node.Parent != nil && len(w.tag.par.node.Parent.All("w:listItem")) > 1:
			return "", &cannot{"the entries of the data are added to those of the template", "send all entries"}
		case k == aText:
			arguments = list
		case k != anObject || anyLacks(items(w.samplesOf(entries)), "text") || anyLacks(items(w.samplesOf(entries)), "value"):
			return "", &cannot{"only the data says what the entries are", "write {{x :: options(names, values)}}"}
		}
		return "{{" + strings.Join(append([]string{o.text}, o.filters...), " :: ") + " :: options(" + arguments + ")}}", nil
	}})
}

// filling returns a command in the name of a content control that fills the control.
func filling(c command) command {
	c.fills = true
	write := c.write
	c.write = func(w *writer) (string, error) {
		if a := w.tag.par.aside; a == nil || a.place != inControls || !w.tag.isWhole() {
			return "", &cannot{"it is not all of the name of a content control", "write the tag, and nothing else, as the name of the control"}
		}
		return write(w)
	}
	return c
}

// isWhole reports whether there is no other text in the paragraph of a tag.
func (t *tag) isWhole() bool { return t.span == span{0, len(t.par.text)} }

// readWatermark reads the text of a watermark.
func readWatermark(h *call) command {
	text, enabled := h.named["text"], h.named["enabled"]
	if err := h.only("text", "enabled"); err != nil || text == nil {
		return command{err: orArguments(err)}
	}
	c := command{kind: kPrint, expr: text}
	if enabled == nil {
		return c
	}
	c.write = func(w *writer) (string, error) {
		if run := w.tag.par.node.Ancestor(wml.Named("w:r")); run == nil || run.Parent.Name != "w:p" || w.tag.par.aside == nil {
			return "", &cannot{"it removes the watermark", "write {{if x}} … {{endif}} around it"}
		}
		o, err := w.value(enabled, sum)
		if w.tag.before = "{{if not " + o + " == false}}"; err != nil { // a missing value is no reason to remove it
			return "", err
		}
		return w.print(text)
	}
	c.putIn = func(p *part, t *tag) {
		run := t.par.node.Ancestor(wml.Named("w:r"))
		p.replace(t.par, t.span.from, t.span.to, t.out)
		p.edits = append(p.edits, edit{run.Start, run.Start, textRun(run.Prefix(p.src), t.before)},
			edit{run.End, run.End, textRun(run.Prefix(p.src), "{{endif}}")})
	}
	return c
}

// readContents reads the options of tables of contents.
func readContents(*call) command {
	return command{kind: kNothing, note: "Platen updates tables of contents itself"}
}

// readChartHelper refuses the data of a chart: only the data says how many series there are, and what they are called.
func readChartHelper(*call) command {
	return command{err: &cannot{"Platen reads the data of a chart in its alternative text",
		"write {{x.labels :: chart(item, x.datasets[0].data[key])}} there, with one argument for each series"}}
}
