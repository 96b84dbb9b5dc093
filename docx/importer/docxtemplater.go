package importer

import (
	"regexp"
	"strings"
	"unicode"
)

// docxtemplater has tags in single braces. Its loops change the context: a key is looked up in the item, and then outward.
var docxtemplater = &dialect{
	name: "docxtemplater", title: "docxtemplater or easy-template-x", grammar: &angular,
	find: findDocxtemplater, resolve: resolveSection, sections: true, emptyIsTrue: true,
	filters: map[string]rule{"\x00image": filter("image")}, methods: scriptMethods, properties: scriptProperties,
	signs: []sign{
		{regexp.MustCompile(`(?:^|[^{$+])\{[#/^@][^{}]*\}(?:[^}]|$)`), 6},
		{regexp.MustCompile(`(?:^|[^{$%_])\{[\pL_][^{}%]*\}(?:[^}]|$)`), 2},
	},
	notes: []string{
		"docxtemplater prints \"undefined\" for missing values, unless the application changes that. Platen keeps their tags and reports them; " +
			"see the option missing.",
	},
}

// sectionPositions are the keys that applications usually give the position in a loop.
var sectionPositions = map[string]string{
	"$index": "loop.index", "$first": "loop.first", "$isFirst": "loop.first", "$last": "loop.last", "$isLast": "loop.last",
}

// resolveSection resolves a key, and the position in a loop.
func resolveSection(w *writer, path []step) (string, error) {
	position := sectionPositions[path[0].key]
	if position == "" || len(path) > 1 || w.hasKey(path) {
		return contextual(w, path)
	}
	if w.innermost() == nil {
		return "", &cannot{path[0].key + " is used outside a loop", "remove it"}
	}
	w.note("taken to be the position in the loop")
	return position, nil
}

// scriptMethods are the methods of JavaScript that have an exact equivalent.
var scriptMethods = map[string]rule{
	"toUpperCase": filter("uppercase"), "toLowerCase": filter("lowercase"), "trim": filter("trim"),
	"toString": same, "toFixed": fixed, "slice": filterWith("slice", 1), "join": filterWith("join", 0, `","`),
	"includes": comparing("contains"), "startsWith": comparing("startsWith"), "endsWith": comparing("endsWith"),
}

// scriptProperties are the properties of JavaScript's values.
var scriptProperties = map[string]rule{"length": length}

// braced returns the spans between an opening and a closing delimiter. What is between them has no opening delimiter.
func braced(text, open, end string) []span {
	var all []span
	for at := 0; ; {
		from := strings.Index(text[at:], open)
		if from < 0 {
			return all
		}
		from += at
		to := strings.Index(text[from+len(open):], end)
		if to < 0 {
			return all
		}
		to += from + len(open)
		if inner := strings.LastIndex(text[from+len(open):to], open); inner >= 0 {
			from += len(open) + inner
		}
		all = append(all, span{from, to + len(end)})
		at = to + len(end)
	}
}

func findDocxtemplater(par *paragraph) []*tag {
	var tags []*tag
	for _, s := range braced(par.text, "{", "}") {
		content := strings.TrimSpace(par.text[s.from+1 : s.to-1])
		t := &tag{par: par, span: s, command: readDocxtemplater(content)}
		tags = append(tags, t)
	}
	return tags
}

// readDocxtemplater reads the content of a tag.
func readDocxtemplater(content string) command {
	if content == "" {
		return command{err: &cannot{"the tag is empty", "name the key to print"}}
	}
	rest := strings.TrimSpace(content[1:])
	switch content[0] {
	case '#':
		return expression(kSection, rest).called(rest)
	case '^':
		return expression(kUnless, rest).called(rest)
	case '/':
		return command{kind: kEnd, closes: rest}
	case '-':
		element, list, found := strings.Cut(rest, " ")
		if u := unit(element); found && (u == unitRow || u == unitParagraph) {
			c := expression(kLoop, strings.TrimSpace(list))
			if c.unit = u; u == unitParagraph {
				c.unit = unitAround
			}
			return c.called(strings.TrimSpace(list))
		}
		return command{kind: kSection, err: &cannot{"loops around " + element + " have no equivalent",
			"write {{for x in list}} … {{endfor}} around it"}}
	case '@':
		return command{err: &cannot{"it inserts XML of WordprocessingML", "send HTML or Markdown, and write {{" + rest + " :: html}}"}}
	case '%':
		c := expression(kPrint, strings.TrimPrefix(rest, "%"))
		if c.expr != nil {
			c.expr = &expr{op: opFilter, name: "\x00image", args: []*expr{c.expr}}
			c.note = "send the image in base64, or its URL"
		}
		return c
	}
	if strings.ContainsAny(content[:1], "!~<>:*?") {
		return command{err: &cannot{"the tag belongs to a module of the application", "see docs/templates.md"}}
	}
	return expression(kPrint, content)
}

// expression returns a command with an expression. Text that is no expression is a key, as without a parser of expressions.
func expression(k kind, text string) command {
	if text == "." {
		return command{kind: k, expr: &expr{op: opName, name: "."}}
	}
	if e, err := angular.parse(text); err == nil && !isDashed(text) {
		return command{kind: k, expr: e}
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(" _-:$", r) {
			return command{kind: k, err: &cannot{"the expression cannot be read", "see docs/templates.md"}}
		}
	}
	return command{kind: k, expr: &expr{op: opName, name: text}}
}

// isDashed reports whether a text is words joined by hyphens, which is a key and no subtraction.
func isDashed(text string) bool {
	return strings.Contains(text, "-") && !strings.ContainsAny(text, " ()+*/.[]'\"")
}

// called returns a command that opens a block of this name.
func (c command) called(name string) command {
	c.closes = name
	return c
}
