package importer

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// handlebars is Handlebars and Mustache. Loops change the context: a key is one of the item, and ../ leads outward.
var handlebars = &dialect{
	name: "handlebars", title: "Handlebars or Mustache", grammar: &javascript, find: findHandlebars, resolve: resolveHandlebars,
	properties: scriptProperties, sections: true, strict: true, wholeParagraphs: true,
	arrange: arrangeStyles, notesInside: true,
	places: inDescriptions | inAlternatives | inTooltips | inControls | inWatermarks | inLinks | inCharts,
	signs: []sign{
		{regexp.MustCompile(`\{\{\{?\s*[#/^>&][^{}]*\}\}`), 8}, {regexp.MustCompile(`\{\{[^{}]*(?:\.\./|this\.|@index|@key)[^{}]*\}\}`), 6},
		{regexp.MustCompile(`\{\{\s*[\w.]+\s*\}\}`), 1},
	},
	notes: []string{
		"Handlebars prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and " +
			"the filter optional.",
	},
}

var handlebarsTag = regexp.MustCompile(`\{{3}[^{}]*\}{3}|\{\{!--.*?--\}\}|\{\{[^{}]*\}\}`)

func findHandlebars(par *paragraph) []*tag {
	var tags []*tag
	for _, m := range handlebarsTag.FindAllStringIndex(par.text, -1) {
		content := strings.TrimSpace(strings.Trim(strings.Trim(par.text[m[0]:m[1]], "{}"), "~"))
		t := &tag{par: par, span: span{m[0], m[1]}, command: readHandlebars(content)}
		t.checkHandlebars()
		tags = append(tags, t)
	}
	return tags
}

// checkHandlebars fails a tag that removes blanks next to it, or that a backslash makes text.
func (t *tag) checkHandlebars() {
	before, after, text := t.par.text[:t.span.from], t.par.text[t.span.to:], t.original()
	isBlank := func(s string) bool { return strings.Trim(s, " \t\n") == "" && s != "" }
	switch {
	case strings.HasSuffix(before, "\\"):
		t.err = &cannot{"the backslash makes it text", "remove the backslash and the comment"}
	case strings.HasPrefix(strings.TrimLeft(text, "{"), "~") && isBlank(before[max(0, len(before)-1):]),
		strings.HasSuffix(strings.TrimRight(text, "}"), "~") && isBlank(after[:min(1, len(after))]):
		t.err = &cannot{"the tilde removes the blanks next to it", "remove the blanks and the tilde"}
	}
}

// readHandlebars reads the content of a tag.
func readHandlebars(content string) command {
	if content == "" {
		return command{err: &cannot{"the tag is empty", "name the key to print"}}
	}
	rest := strings.TrimSpace(content[1:])
	word, argument, _ := strings.Cut(rest, " ")
	argument = strings.TrimSpace(argument)
	switch content[0] {
	case '!':
		return command{kind: kText, text: "{{! " + clean(strings.Trim(rest, "-")) + "}}"}
	case '#':
		return readHelper(word, argument)
	case '/':
		return command{kind: kEnd, closes: word}
	case '^':
		if rest == "" {
			return command{kind: kElse}
		}
		c := context(kSection, rest)
		c.inverse = true
		return c.called(rest)
	case '>':
		return command{err: &cannot{"it inserts a partial template", "write {{include \"name.docx\"}}"}}
	case '&':
		content = rest
	}
	if content == "else" {
		return command{kind: kElse}
	}
	if condition, ok := strings.CutPrefix(content, "else if "); ok {
		return context(kElseIf, condition)
	}
	if c, ok := readJsreport(content); ok {
		return c
	}
	return context(kPrint, content)
}

// readHelper reads the opening tag of a block.
func readHelper(helper, argument string) command {
	kinds := map[string]kind{"each": kLoop, "if": kIf, "unless": kUnless, "with": kWith}
	switch helper {
	case "docxTable", "docxList":
		return readRepeater(helper, argument)
	case "docxStyle":
		return readStyle(argument)
	}
	k, known := kinds[helper]
	if !known && argument != "" {
		return command{kind: kSection, closes: helper, err: &cannot{"the helper " + strconv.Quote(helper) + " is code of the application",
			"write {{for x in list}} … {{endfor}} or {{if condition}} … {{endif}}"}}
	}
	if !known {
		c := context(kSection, helper)
		return c.called(helper)
	}
	list, params, named := strings.Cut(argument, " as |")
	c := context(k, list)
	c.closes = helper
	if words := strings.Fields(strings.TrimSuffix(params, "|")); named {
		switch c.name = words[0]; {
		case len(words) == 2 && k == kLoop:
			c.key = words[1]
		case len(words) > 1:
			c.err = &cannot{"the block has more parameters than values", "write {{for k, v in object}}"}
		}
	}
	return c
}

// context returns a command with a path or a literal. Everything else calls a helper.
func context(k kind, text string) command {
	text = strings.TrimSpace(text)
	if s, err := strconv.Unquote(text); err == nil { // a string is the name of a key
		return command{kind: k, expr: &expr{op: opName, name: s}}
	}
	if helperWord.FindString(text) != text {
		return called(k, text)
	}
	return command{kind: k, expr: wordExpr(text)}
}

// called returns a command with a call of a helper, in parentheses or not.
func called(k kind, text string) command {
	r := &helperReader{text: text}
	if !strings.HasPrefix(text, "(") {
		r.text = "(" + text + ")"
	}
	e := r.value()
	if e != nil && e.op != opCall && r.err == nil {
		return command{kind: k, expr: e}
	}
	return command{kind: k, err: errHelper(helperWord.FindString(strings.TrimLeft(text, "(")))}
}

// contextPath returns the expression that a path is.
func contextPath(text string) *expr {
	e := &expr{op: opName}
	for ok := true; ok; {
		if text, ok = strings.CutPrefix(text, "../"); ok {
			e.name += "../"
		}
	}
	parts := pathSegment.FindAllString(text, -1)
	if len(parts) == 0 {
		parts = []string{"this"}
	}
	e.name += strings.Trim(parts[0], "[]")
	for _, part := range parts[1:] {
		part = strings.Trim(part, "[]")
		if n, err := strconv.Atoi(part); err == nil {
			e = &expr{op: opIndex, args: []*expr{e, {op: opLiteral, val: json.Number(strconv.Itoa(n))}}}
		} else {
			e = &expr{op: opMember, name: part, args: []*expr{e}}
		}
	}
	return e
}

// pathSegment is a key in a path, in brackets or not.
var pathSegment = regexp.MustCompile(`\[[^\]]*\]|[^./]+`)

// positions are the variables of loops.
var positions = map[string]string{"@index": "loop.index", "@first": "loop.first", "@last": "loop.last"}

// resolveHandlebars resolves a path in the context of the item, or outward with ../.
func resolveHandlebars(w *writer, path []step) (string, error) {
	name := strings.TrimLeft(path[0].key, "./")
	up := strings.Count(path[0].key, "../")
	switch {
	case positions[name] != "" && len(path) == 1 && w.innermost() != nil:
		return strings.Replace(positions[name], "loop.", "loop."+strings.Repeat("parent.", up), 1), nil
	case up == 0 && len(path) == 1 && w.innermost() != nil && w.innermost().positions[name] != "":
		return w.innermost().positions[name], nil
	case name == "@root":
		return pathText("", path[1:])
	case strings.HasPrefix(name, "@"):
		if s := w.innermost(); name == "@key" && up == 0 && len(path) == 1 && s != nil && s.key != "" {
			return s.key, nil
		}
		return "", &cannot{name + " has no equivalent here", "write {{for k, v in object}} for the keys of an object"}
	case up == 0:
		return contextual(w, path)
	}
	outer := *w
	for ; up > 0; up-- {
		if outer.innermost() == nil {
			return "", &cannot{"../ leads out of the data", "name the key without ../"}
		}
		for len(outer.scopes) > 0 && outer.scopes[len(outer.scopes)-1].prefix() == "" {
			outer.scopes = outer.scopes[:len(outer.scopes)-1]
		}
		if len(outer.scopes) > 0 {
			outer.scopes = outer.scopes[:len(outer.scopes)-1]
		}
	}
	return contextual(&outer, append([]step{{key: name}}, path[1:]...))
}
