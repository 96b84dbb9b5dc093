package importer

import (
	"cmp"
	"regexp"
	"strings"
)

// docxTemplates has commands between +++, with expressions in JavaScript. Its loops have variables that begin with $.
var docxTemplates = &dialect{
	name: "docx-templates", cells: true, emptyIsTrue: true, sticky: true, wholeParagraphs: true, title: "docx-templates",
	grammar: &javascript, openTag: plusses, endTag: plusses,
	findAll: findDocxTemplates, resolve: resolveScript,
	filters: map[string]rule{"\x00html": filter("html"), "\x00link": filterWith("link", 0)}, methods: scriptMethods,
	properties: scriptProperties,
	signs:      []sign{{regexp.MustCompile(`\+{3}`), 6}},
	notes: []string{
		"docx-templates prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and the filter " +
			"optional.",
	},
}

const plusses = "+++"

func findDocxTemplates(pars []*paragraph) []*tag { return findCommands(pars, plusses, plusses) }

// findCommands reads the commands of a part between two delimiters. A command can continue in the next paragraphs.
func findCommands(pars []*paragraph, begin, end string) []*tag {
	var tags []*tag
	var open *tag
	aliases := map[string]string{}
	for _, par := range pars {
		for at := 0; ; {
			delimiter := begin
			if open != nil {
				delimiter = end
			}
			next := strings.Index(par.text[at:], delimiter)
			if next < 0 {
				break
			}
			next += at
			at = next + len(delimiter)
			switch {
			case open == nil:
				open = &tag{par: par, span: span{next, len(par.text)}}
				continue
			case open.par == par:
				open.span.to = at
			default:
				open.more = append(open.more, stretch{par, span{0, at}})
			}
			content := strings.TrimSuffix(strings.TrimPrefix(open.original(), begin), end)
			open.command = readScript(strings.TrimSpace(content), aliases)
			tags, open = append(tags, open), nil
		}
		if open != nil && open.par != par {
			open.more = append(open.more, stretch{par, span{0, len(par.text)}})
		}
	}
	if open != nil {
		open.more = nil
		open.command = command{err: &cannot{"the command has no end", "add " + end}}
		tags = append(tags, open)
	}
	return tags
}

// shorthands are the commands that begin with a character.
var shorthands = map[byte]string{'=': "INS", '!': "EXEC", '*': "ALIASED"}

// wordsOfScript are the commands.
var wordsOfScript = map[string]bool{
	"INS": true, "EXEC": true, "ALIAS": true, "FOR": true, "END-FOR": true, "IF": true, "END-IF": true, "IMAGE": true, "LINK": true,
	"HTML":  true,
	"QUERY": true, "CMD_NODE": true,
}

// readScript reads a command. aliases are those that the commands before it have defined.
func readScript(content string, aliases map[string]string) command {
	if content == "" {
		return command{err: &cannot{"the command is empty", "name the key to print"}}
	}
	word, rest, _ := strings.Cut(content, " ")
	word = strings.ToUpper(word)
	if short := shorthands[content[0]]; short != "" {
		word, rest = short, content[1:]
	} else if !wordsOfScript[word] {
		word, rest = "INS", content
	}
	rest = strings.TrimSpace(rest)
	switch word {
	case "ALIASED":
		if aliases[rest] == "" {
			return command{err: &cannot{"no alias of this name is defined before it", "write what it stands for"}}
		}
		return readScript(aliases[rest], nil)
	case "ALIAS":
		name, value, _ := strings.Cut(rest, " ")
		if aliases != nil {
			aliases[name] = strings.TrimSpace(value)
		}
		return command{kind: kText, text: "{{! alias " + clean(rest) + "}}"}
	case "QUERY":
		return command{kind: kText, text: "{{! query " + clean(rest) + "}}", note: "send the data that the query returns"}
	case "FOR":
		return readScriptLoop(rest)
	case "END-FOR":
		return command{kind: kEnd, closes: strings.TrimPrefix(rest, "$"), unit: unitRow}
	case "END-IF":
		return command{kind: kEnd, unit: unitRow}
	}
	return readScriptValue(word, strings.TrimSuffix(rest, ";"))
}

// clean returns text for a comment of Platen.
func clean(text string) string {
	return strings.NewReplacer("{", "(", "}", ")").Replace(shorten(text))
}

// readScriptValue reads the commands with an expression.
func readScriptValue(word, text string) command {
	c := command{kind: kPrint}
	if word == "IF" {
		c.kind, c.unit = kIf, unitRow
	}
	switch word {
	case "EXEC":
		if m := assignment.FindStringSubmatch(text); m != nil {
			if e, err := javascript.parse(m[2]); err == nil && e.op != opArrow && e.op != opObject {
				return command{kind: kLet, name: m[1], expr: e}
			}
		}
		fallthrough
	case "CMD_NODE":
		c.err = &cannot{"it runs code of JavaScript", "add keys with the results to the data, or write {{let x = …}}"}
		return c
	case "IMAGE":
		key := cmp.Or(calledName.FindString(text), "photo")
		c.err = &cannot{"a function of the application makes the image",
			"send the image in base64 with the key " + key + ", and write {{" + key + " :: image(\"4cm\")}}"}
		return c
	}
	if c.expr, c.err = javascript.parse(text); c.err != nil {
		return c
	}
	switch word {
	case "HTML":
		c.expr = &expr{op: opFilter, name: "\x00html", args: []*expr{c.expr}}
	case "LINK":
		c.expr, c.err = linkOf(c.expr)
	}
	return c
}

// calledName finds the name of the function that a command calls.
var calledName = regexp.MustCompile(`^[\pL_][\pL\d_]*`)

var assignment = regexp.MustCompile(`^([\pL_$][\pL\d_$]*)\s*=([^=>][^=;]*)$`)

// readScriptLoop reads a loop: x IN list.
func readScriptLoop(text string) command {
	name, list, _ := strings.Cut(strings.TrimSpace(text), " ")
	in, list, _ := strings.Cut(strings.TrimSpace(list), " ")
	c := command{kind: kLoop, name: "$" + strings.TrimPrefix(name, "$"), closes: strings.TrimPrefix(name, "$"), unit: unitRow}
	if !strings.EqualFold(in, "in") {
		c.err = &cannot{"the loop has no list", "write {{for x in list}}"}
		return c
	}
	list = strings.TrimSpace(list)
	keys, isKeys := strings.CutPrefix(list, "Object.keys(")
	values, isValues := strings.CutPrefix(list, "Object.values(")
	switch {
	case isKeys:
		list, c.value = strings.TrimSuffix(keys, ")"), invented+"value"
	case isValues:
		list, c.value, c.name = strings.TrimSuffix(values, ")"), c.name, invented+"key"
	}
	c.expr, c.err = javascript.parse(list)
	return c
}

// linkOf returns the link of an object with a URL and a text.
func linkOf(o *expr) (*expr, error) {
	var url, label *expr
	for i := 0; o.op == opObject && i < len(o.args); i += 2 {
		switch o.args[i].val {
		case "url":
			url = o.args[i+1]
		case "label":
			label = o.args[i+1]
		}
	}
	if url == nil {
		return nil, &cannot{"a function of the application makes the link", "write {{url :: link(\"text\")}}"}
	}
	link := &expr{op: opFilter, name: "\x00link", args: []*expr{url}}
	if label != nil {
		link.args = append(link.args, label)
	}
	return link, nil
}

// resolveScript resolves a path, and the position in a loop.
func resolveScript(w *writer, path []step) (string, error) {
	if path[0].key == "$idx" && len(path) == 1 {
		if w.innermost() == nil {
			return "", &cannot{"$idx is used outside a loop", "remove it"}
		}
		return "loop.index", nil
	}
	if name, ok := strings.CutPrefix(path[0].key, "$"); ok {
		if s, _ := w.find(path); s == nil {
			return "", &cannot{"the variable " + path[0].key + " is not known here", "write {{" + name + "}} inside its loop"}
		}
	}
	return named(w, path)
}
