package importer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"platen/docx/wml"
)

// mailMerge is the mail merge of Word: fields instead of tags.
var mailMerge = &dialect{
	name: "mailmerge", title: "Word's mail merge", grammar: &javascript, findAll: findFields, prepare: findRows, resolve: contextual,
	sections: true, records: true,
	filters: map[string]rule{
		"upper": filter("uppercase"), "lower": filter("lowercase"), "caps": initials, "firstcap": filter("capitalize"),
		"date": wordDate, "format": filterWith("wordformat", 1), "len": length, "cardtext": filter("words"), "ordinal": filter("ordinal"),
		"compare": compared,
	},
	signs: []sign{{regexp.MustCompile(`(?i)\x00\s*MERGEFIELD\b`), 20}},
	notes: []string{
		"A mail merge prints nothing for missing values. Platen keeps their tags and reports them; see the option missing, and " +
			"the filter optional.",
	},
}

// findFields reads the fields of mail merges. Other fields of Word are no tags.
func findFields(pars []*paragraph) []*tag {
	var tags []*tag
	for _, par := range pars {
		for _, f := range par.fields {
			name, _, _ := strings.Cut(strings.ToUpper(f.code), " ")
			if f.inner || f.from == f.to || !isMergeField(name, f.code) {
				continue
			}
			t := &tag{par: par, span: span{f.from, f.to}, field: f, command: readField(fieldWords(f.code))}
			if strings.Count(f.code, `"`)%2 == 1 {
				t.command = command{err: &cannot{"a quote in it is not closed", "close the quote, and import again"}}
			}
			tags = append(tags, t)
		}
	}
	return tags
}

// isMergeField reports whether a field takes part in a mail merge.
func isMergeField(name, code string) bool {
	switch name {
	case "MERGEFIELD", "NEXT", "NEXTIF", "SKIPIF", "MERGEREC", "MERGESEQ", "ADDRESSBLOCK", "GREETINGLINE":
		return true
	case "IF":
		return strings.Contains(strings.ToUpper(code), "MERGEFIELD")
	}
	return false
}

// word is a word of a field's code.
type word struct {
	text   string
	quoted bool
	field  bool // it is the code of a field
}

// fieldWords returns the words of a field's code. Quotes and braces keep words together.
func fieldWords(code string) []word {
	code = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`).Replace(code)
	var all []word
	for i := 0; i < len(code); {
		end := i + 1
		switch code[i] {
		case ' ':
		case '{':
			end = closing(code, i)
			all = append(all, word{text: strings.TrimSpace(strings.Trim(code[i:end], "{}")), field: true})
		case '"':
			for end < len(code) && code[end] != '"' {
				if code[end] == '{' {
					end = closing(code, end) - 1
				}
				end++
			}
			all = append(all, word{text: code[i+1 : min(end, len(code))], quoted: true})
			end++
		default:
			for end < len(code) && !strings.ContainsRune(` {"`, rune(code[end])) {
				end++
			}
			all = append(all, word{text: code[i:end]})
		}
		i = end
	}
	return all
}

// closing returns the offset after the brace that closes the one at i.
func closing(code string, i int) int {
	depth := 0
	for ; i < len(code); i++ {
		switch code[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// readField reads the words of a field.
func readField(words []word) command {
	switch strings.ToUpper(words[0].text) {
	case "MERGEFIELD":
		return readMergeField(words[1:])
	case "IF":
		return readIfField(words[1:])
	case "MERGESEQ", "MERGEREC":
		return command{err: &cannot{"it prints the number of the record", "write {{loop.number}} in a loop"}}
	case "NEXT", "NEXTIF", "SKIPIF":
		return command{err: &cannot{"it changes to the next record", "write {{for x in records}} … {{endfor}} around what repeats"}}
	}
	return command{err: &cannot{"Word composes its text", "write the tags of an address or a greeting"}}
}

// caseSwitches are the formats that change letters, or spell out numbers.
var caseSwitches = []string{"upper", "lower", "caps", "firstcap", "cardtext", "ordinal"}

// readMergeField reads the name of a field, and its switches.
func readMergeField(words []word) command {
	if len(words) == 0 || words[0].field {
		return command{err: &cannot{"the name of the merge field is missing", "write {{name}}"}}
	}
	name := words[0].text
	if start, list, ok := strings.Cut(name, ":"); ok && isTableMark(start) {
		return command{err: &cannot{"it repeats rows for a program that fills the mail merge",
			"write {{tablerow x in " + list + "}} … {{endtablerow}}"}}
	}
	e := &expr{op: opName, name: name}
	var before, after string
	for i := 1; i < len(words); i++ {
		argument := ""
		if i+1 < len(words) {
			argument = words[i+1].text
		}
		switch strings.ToLower(words[i].text) {
		case `\*`:
			if f := strings.ToLower(argument); slices.Contains(caseSwitches, f) {
				e = &expr{op: opFilter, name: f, args: []*expr{e}}
			} else if !strings.EqualFold(argument, "mergeformat") && !strings.EqualFold(argument, "charformat") {
				return command{err: &cannot{"the format " + argument + " has no equivalent", "see docs/templates.md#numbers"}}
			}
		case `\@`:
			e = &expr{op: opFilter, name: "date", args: []*expr{e, {op: opLiteral, val: argument}}}
		case `\#`:
			e = &expr{op: opFilter, name: "format", args: []*expr{e, {op: opLiteral, val: argument}}}
		case `\b`:
			before = argument
		case `\f`:
			after = argument
		default:
			continue
		}
		i++
	}
	return aroundField(name, e, before, after)
}

func isTableMark(name string) bool {
	return strings.EqualFold(name, "TableStart") || strings.EqualFold(name, "TableEnd") ||
		strings.EqualFold(name, "BeginGroup") || strings.EqualFold(name, "EndGroup")
}

// aroundField adds text that is printed only if the field has a value.
func aroundField(name string, e *expr, before, after string) command {
	if before == "" && after == "" {
		return command{kind: kPrint, expr: e}
	}
	if hasTags(before + after) {
		return command{err: &cannot{"the text around it has braces", "write {{if x}} … {{endif}}"}}
	}
	return command{kind: kPrint, expr: e, before: before, after: after, test: notEmpty(&expr{op: opName, name: name})}
}

// notEmpty is whether a value has any text.
func notEmpty(value *expr) *expr {
	length := &expr{op: opFilter, name: "len", args: []*expr{value}}
	return &expr{op: opBinary, name: ">", args: []*expr{length, {op: opLiteral, val: json.Number("0")}}}
}

// comparisons are the operators of IF.
var comparisons = []string{"=", "<>", "<", "<=", ">", ">="}

// compared is the rule for a comparison, with its operator and its right side.
func compared(w *writer, o operand, args []*expr) (operand, error) {
	rest, err := w.list(args)
	if err != nil {
		return operand{}, err
	}
	return o.in("$compare", rest)
}

// readIfField reads a comparison and two texts.
func readIfField(words []word) command {
	if len(words) < 4 || !slices.Contains(comparisons, words[1].text) {
		return command{err: &cannot{"its condition cannot be read", "write {{if a == b}} … {{else}} … {{endif}}"}}
	}
	values := make([]*expr, 0, len(words))
	for i, w := range words {
		switch {
		case i == 1:
			continue
		case w.field:
			c := readField(fieldWords(w.text))
			if c.err != nil || c.test != nil {
				return command{err: &cannot{"a field in it has no equivalent", "write {{if a == b}} … {{else}} … {{endif}}"}}
			}
			values = append(values, c.expr)
		case strings.Contains(w.text, "{"):
			return command{err: &cannot{"its text has fields in it", "write {{if a == b}}text {{x}}{{endif}}"}}
		case strings.HasPrefix(w.text, `\`):
			if i < 4 {
				return command{err: &cannot{"its text is missing", "write {{if a == b}} … {{else}} … {{endif}}"}}
			}
		default:
			values = append(values, &expr{op: opLiteral, val: w.text})
		}
	}
	values = append(values, &expr{op: opLiteral, val: ""})
	operator := &expr{op: opLiteral, val: words[1].text}
	condition := &expr{op: opFilter, name: "compare", args: []*expr{values[0], operator, values[1]}}
	return command{kind: kPrint, expr: &expr{op: opChoice, args: []*expr{condition, values[2], values[3]}}}
}

// findRows adds loops around the rows that repeat: programs that fill mail merges repeat a row for the list that one of its fields names.
func findRows(p *part, data []any) {
	foldNames(p, data)
	looped := map[*wml.Node]bool{}
	for _, t := range slices.Clone(p.tags) {
		row := t.row()
		if row == nil || looped[row] || t.expr == nil || t.kind != kPrint {
			continue
		}
		path, ok := t.expr.steps()
		if !ok || len(path) != 1 || kindsOfValues(descend(data, path)) != aList || !anyHas(items(descend(data, path)), path[0].key) {
			continue
		}
		looped[row] = true
		p.repeatRow(row, t.expr)
	}
}

// foldNames gives the fields the names that the sample data has. Word does not distinguish upper and lower case in names.
func foldNames(p *part, data []any) {
	keys := map[string][]string{} // by their lower case
	var collect func(values []any)
	collect = func(values []any) {
		for _, v := range values {
			m, _ := v.(map[string]any)
			for key, inner := range m {
				if lower := strings.ToLower(key); !slices.Contains(keys[lower], key) {
					keys[lower] = append(keys[lower], key)
				}
				collect(items([]any{inner}))
			}
		}
	}
	collect(data)
	for _, t := range p.tags {
		for _, e := range []*expr{t.expr, t.test} {
			e.rename(func(name string) string {
				if found := keys[strings.ToLower(name)]; len(found) == 1 {
					return found[0]
				}
				return name
			})
		}
	}
}

// repeatRow adds the tags of a loop to a row.
func (p *part) repeatRow(row *wml.Node, list *expr) {
	first, last := p.inRow(row, false), p.inRow(row, true)
	open := &tag{par: first, added: true, command: command{kind: kLoop, expr: list, unit: unitRow, variable: "row"}}
	end := &tag{par: last, span: span{len(last.text), len(last.text)}, added: true, command: command{kind: kEnd}}
	open.place = func() { p.addRun(first, false, open.out) } // not into the text, which is that of the fields
	end.place = func() { p.addRun(last, true, end.out) }
	isIn := func(t *tag) bool { return t.par.node.Ancestor(func(n *wml.Node) bool { return n == row }) != nil }
	from := slices.IndexFunc(p.tags, isIn)
	to := from
	for i, t := range p.tags {
		if isIn(t) {
			to = i + 1
		}
	}
	p.tags = slices.Insert(p.tags, to, end)
	p.tags = slices.Insert(p.tags, from, open)
}
