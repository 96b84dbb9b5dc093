package importer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// docxtemplater has tags in single braces. Its loops change the context: a key is looked up in the item, and then outward.
var docxtemplater = &dialect{
	name: "docxtemplater", title: "docxtemplater", grammar: &angular,
	openTag: "{", endTag: "}", read: readDocxtemplater, prepare: prepareSections, resolve: resolveSection, sections: true, emptyIsTrue: true,
	filters: map[string]rule{"\x00image": filter("image"), "\x00wordml": rawXML},
	methods: scriptMethods, properties: scriptProperties,
	signs: []sign{
		{regexp.MustCompile(`(?:^|[^{$+])\{[#/^@][^{}]*\}(?:[^}]|$)`), 6},
		{regexp.MustCompile(`(?:^|[^{$%_])\{[\pL_][^{}%]*\}(?:[^}]|$)`), 2},
	},
	notes: []string{
		"docxtemplater prints \"undefined\" for missing values, unless the application changes that. Platen keeps their tags and reports them; " +
			"see the option missing.",
		"If the template is one of easy-template-x, import it with --from easy-template-x: its loops in lists and tables differ.",
	},
}

// rawXML inserts WordprocessingML. A value that is false inserts nothing.
func rawXML(w *writer, o operand, args []*expr) (operand, error) {
	if o.kinds.has(aBool | aNumber) {
		return operand{}, &cannot{"its value is not always a string", "write {{if x}}{{x :: wordml}}{{endif}}"}
	}
	return filter("wordml")(w, o, args)
}

// prepareSections keeps rows with nothing but a tag. It refuses tags with a blank before the character that says what they do: they are
// keys that begin with a blank, or mistakes. Only the application says whether blanks around a key are a part of it.
func prepareSections(p *part, _ []any) {
	for _, t := range p.tags {
		if t.stays = true; t.spaced {
			t.command = command{err: &cannot{"a blank precedes the character that says what the tag does", "remove the blank and import again"}}
		}
		if t.padded && t.kind == kPrint && t.note == "" {
			t.note = "the blank is part of the key, unless the application uses a parser of expressions"
		}
	}
}

// sectionPositions are the keys that applications usually give the position in a loop.
var sectionPositions = map[string]string{
	"$index": "loop.index", "$first": "loop.first", "$isFirst": "loop.first", "$last": "loop.last", "$isLast": "loop.last",
}

// resolveSection resolves a key, and the position in a loop.
func resolveSection(w *writer, path []step) (string, error) {
	if w.isDifference(path) {
		return "", &cannot{"the data has no such key: it can be a difference", "write {{a - b}}"}
	}
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
	"toString": same, "toFixed": fixed, "slice": filterWith("slice", 1), "join": scriptJoin,
	"filter": scriptFilter, "map": scriptMap, "includes": scriptIncludes,
	"startsWith": comparing("startsWith"), "endsWith": comparing("endsWith"),
}

// scriptFilter is the rule for the items for which a function returns true.
func scriptFilter(w *writer, o operand, args []*expr) (operand, error) {
	if len(args) != 1 || args[0].op != opArrow {
		return operand{}, errArguments
	}
	samples := items(w.samplesOf(o.from))
	names := map[string]bool{}
	args[0].args[0].names(names)
	delete(names, args[0].name)
	for name := range names {
		if anyHas(samples, name) {
			return operand{}, &cannot{"the items have the key " + name + " too", "write {{list :: where(…)}}, with item for the item"}
		}
	}
	w.scopes = append(w.scopes, &scope{name: args[0].name, variable: "item", samples: samples})
	c, err := w.condition(args[0].args[0])
	w.scopes = w.scopes[:len(w.scopes)-1]
	return o.with("where(" + c + ")"), err
}

// scriptMap is the rule for one key of all items.
func scriptMap(w *writer, o operand, args []*expr) (operand, error) {
	if len(args) != 1 || args[0].op != opArrow || len(o.filters) > 0 {
		return operand{}, errArguments
	}
	path, ok := args[0].args[0].steps()
	if !ok || len(path) != 2 || path[0].key != args[0].name || path[1].isIndex {
		return operand{}, errArguments
	}
	if anyLacks(items(w.samplesOf(o.from)), path[1].key) {
		return operand{}, errLacking
	}
	text, err := pathText(o.text, path[1:])
	return operand{text: text, strength: primary}, err
}

// errLacking is the reason for a list of keys that some items lack.
var errLacking = &cannot{"some items lack the key, and Platen skips them", "send the key with every item"}

// scriptJoin is the rule for the items of a list in one string.
func scriptJoin(w *writer, o operand, args []*expr) (operand, error) {
	if w.hasNullItem(o.from) {
		return operand{}, errNullItem
	}
	return filterWith("join", 0, `","`)(w, o, args)
}

// errNullItem is the reason for a list with null, which Platen skips.
var errNullItem = &cannot{"the list has null, which becomes an empty item", "send an empty string instead of null"}

// hasNullItem reports whether the sample data has null in a list.
func (w *writer) hasNullItem(list *expr) bool {
	return kindsOfValues(items(w.samplesOf(list))).has(aNull)
}

// scriptIncludes is the rule for whether a list has an item of the same kind and value, or a string has a part.
func scriptIncludes(w *writer, o operand, args []*expr) (operand, error) {
	if len(args) == 1 && w.looksForOther(args[0], o.from) {
		return operand{}, errOtherKind
	}
	return comparing("contains")(w, o, args)
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

// findBetween reads the tags between two delimiters.
func (d *dialect) findBetween(par *paragraph) []*tag {
	var tags []*tag
	open, end := d.openTag, d.endTag
	at := 0
	for _, s := range braced(par.text, open, end) {
		raw := par.text[s.from+len(open) : s.to-len(end)]
		content := strings.TrimSpace(raw)
		spaced := content != "" && raw[0] != content[0] && strings.IndexByte("#^/@%", content[0]) >= 0
		tags = append(tags, &tag{par: par, span: s, spaced: spaced, padded: raw != content, command: d.read(d, content)})
		at = s.to
	}
	if from := strings.Index(par.text[at:], open); from >= 0 {
		tags = append(tags, &tag{par: par, span: span{at + from, len(par.text)}, command: command{
			err: &cannot{"it does not end in its paragraph", "write the whole tag in one paragraph"},
		}})
	}
	return tags
}

// readDocxtemplater reads the content of a tag.
func readDocxtemplater(_ *dialect, content string) command {
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
		if u := unit(element); found && (u == unitRow || u == unitParagraph || u == unitTable) {
			c := expression(kLoop, strings.TrimSpace(list))
			if c.unit = u; u == unitParagraph {
				c.unit = unitAround
			}
			return c.called(strings.TrimSpace(list))
		}
		return command{kind: kSection, err: &cannot{"loops around " + element + " have no equivalent",
			"write {{for x in list}} … {{endfor}} around it"}}
	case '@':
		c := expression(kPrint, rest)
		if c.expr != nil {
			c.expr = &expr{op: opFilter, name: "\x00wordml", args: []*expr{c.expr}}
			c.note = "the operator must allow WordprocessingML from the data (--allow-wordml); HTML needs no permission"
		}
		return c
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

// isDifference reports whether the sample data lacks a key with hyphens, and has keys with the names between them.
func (w *writer) isDifference(path []step) bool {
	if len(path) > 1 || w.data == nil || !isDashed(path[0].key) || w.hasKey(path) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(path[0].key, "-"), func(name string) bool { return !w.hasKey([]step{{key: name}}) })
}

// called returns a command that opens a block of this name.
func (c command) called(name string) command {
	c.closes = name
	return c
}
