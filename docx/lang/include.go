package lang

import (
	"slices"
	"strings"
)

// hintCandidates says how to include a file that the data chooses.
const hintCandidates = `put the name of the file in quotes or, if the data chooses it, list the files: ` +
	`{{include name :: oneof("a.docx", "b.docx")}}`

// beginsInclude reports whether a token after the word include is the name of a file, or an expression for it. If not, include is a key.
func beginsInclude(t token) bool {
	return t.kind == tokString || t.kind == tokWord && !isReserved(t.text) && wordOperators[strings.ToLower(t.text)].strength == 0
}

// include reads the name of a file, or a value with the files that it chooses from.
func (p *parser) include(t *Tag) {
	if p.peek().kind == tokString {
		t.Expr = p.primary()
		p.checkFile(t.Expr)
		return
	}
	start := p.peek().pos
	t.Expr = p.expression()
	t.Filters = p.filters(t.Expr, true)
	if p.err != nil {
		return
	}
	if t.Filter("oneof") == nil {
		p.fail(start, hintCandidates, "%s is not the name of a file", t.Expr)
	}
	for i := range t.Filters {
		f := &t.Filters[i]
		switch {
		case f.fn.note != nil || f.fn.ofTag || f.fn.sole:
			p.fail(f.Position(), hintCandidates, "the filter %s is for text, not for the name of a file", f.Name)
		case f.Name == "oneof" && f != t.Filter("oneof"):
			p.fail(f.Position(), hintCandidates, "the files are listed twice")
		case f.Name == "oneof":
			f.fn = candidates
			p.checkFiles(f)
		}
	}
}

// checkFiles checks the files that a tag chooses from.
func (p *parser) checkFiles(f *Filter) {
	seen := map[string]bool{}
	for _, arg := range f.Args {
		l, ok := arg.(*Literal)
		name := ""
		if ok {
			name, _ = l.Value.(string)
		}
		switch {
		case name == "":
			p.fail(arg.Position(), hintCandidates, "%s is not the name of a file in quotes", arg)
		case strings.Contains(name, "*"):
			p.fail(arg.Position(), "list each of the files", "%s is a pattern, not the name of a file", arg)
		case seen[name]:
			p.fail(arg.Position(), "delete one of them", "the file %s is listed twice", arg)
		default:
			p.checkFile(arg)
		}
		seen[name] = true
	}
}

// checkFile checks the name of a file in quotes: a path below the folder of the template.
func (p *parser) checkFile(arg Node) {
	l, ok := arg.(*Literal)
	if !ok {
		return
	}
	name, _ := l.Value.(string)
	drive := len(name) > 1 && name[1] == ':'
	switch folders := strings.Split(name, "/"); {
	case name == "":
		p.fail(arg.Position(), hintCandidates, "the name of the file is missing")
	case strings.ContainsAny(name, "\\\t\r\n"): // \t and \n are escapes
		p.fail(arg.Position(), `write the name as in "clauses/terms.docx"`, `the name of a file has / between folders, not \`)
	case folders[0] == "" || drive || slices.Contains(folders, ".."):
		p.fail(arg.Position(), `copy the file there, and write its name, as in "terms.docx" or "clauses/terms.docx"`,
			"%s is not in the folder of the template or in a folder below it", arg)
	}
}

// candidates takes the place of the filter oneof in a tag that includes a file. Its arguments are the files. [Env.Choose] finds the one
// that the value names.
var candidates = &filter{
	usage: filterTable["oneof"].usage, arity: filterTable["oneof"].arity, same: true,
	takesFor: func(f *Filter) takes { return takes{want: aText, entries: spellings(literalTexts(f.Args))} },
	apply:    func(_ *Env, _ *Filter, v Value) (Value, error) { return v, nil },
}

// literalTexts returns the literal strings among some arguments.
func literalTexts(args []Node) []string {
	var texts []string
	for _, arg := range args {
		if l, ok := arg.(*Literal); ok {
			if s, ok := l.Value.(string); ok {
				texts = append(texts, s)
			}
		}
	}
	return texts
}

// Included returns the files that an Include names, and nil for other tags. If there are several, or if the tag has filters, the data
// chooses: see [Env.Choose].
func (t *Tag) Included() []string {
	if t.Kind != Include {
		return nil
	}
	if f := t.Filter("oneof"); f != nil {
		return literalTexts(f.Args)
	}
	return literalTexts([]Node{t.Expr})
}

// Chooses reports whether the tag includes one of several files, which the data chooses.
func (t *Tag) Chooses() bool { return t.Kind == Include && len(t.Filters) > 0 }

// begins reports whether the tag begins a condition, or a block of the content of a file, which always appears.
func (t *Tag) begins() bool { return t.Kind == If || t.Kind == Include }

// shorts returns the other spellings of the name of a file: without extension, without folders, and without both.
func shorts(name string) [3]string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	return [3]string{strings.TrimSuffix(name, ".docx"), base, strings.TrimSuffix(base, ".docx")}
}

// fileNamed returns the position of the file with a name, which may lack the extension or the folders if no other file has the same
// name then. It returns -1 if there is none.
func fileNamed(files []string, name string) int {
	if i := slices.Index(files, name); i >= 0 {
		return i
	}
	found := -1
	for i := range files {
		if short := shorts(files[i]); name != "" && slices.Contains(short[:], name) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// spellings returns all names by which [fileNamed] finds files, with the files as they are listed first.
func spellings(files []string) []string {
	all := slices.Clone(files)
	for _, i := range [...]int{2, 1, 0} { // the shortest ones first
		for _, file := range files {
			if short := shorts(file)[i]; fileNamed(files, short) >= 0 && !slices.Contains(all, short) {
				all = append(all, short)
			}
		}
	}
	return all
}

// Choose returns the position of the file that the value of the tag names, among those of [Tag.Included]. It is -1 if the value is empty,
// missing, or not one of them. This is reported like the value of [Env.Print], and if stays is true, the tag should stay in the document.
// The error is a [*LimitError].
func (e *Env) Choose(t *Tag) (file int, stays bool, err error) {
	v, ok, err := e.evaluate(t)
	if !ok || err != nil {
		return -1, true, err
	}
	name, ok := v.(string)
	if ok && name == "" {
		return -1, false, nil
	}
	files := t.Included()
	if file = -1; ok {
		file = fileNamed(files, name)
	}
	if file < 0 {
		return -1, true, e.report(&fault{node: t.Expr, message: notOneOf(v, "the files ", files)})
	}
	return file, false, e.spend(len(files), t.Expr)
}

// notOneOf describes a value that is not one of some texts.
func notOneOf(v Value, what string, texts []string) string {
	s, ok := scalarText(v)
	if !ok {
		return "is " + kindOf(v) + ", not one of " + what + listTexts(texts)
	}
	return "is " + quote(shortened(s)) + ", not one of " + what + listTexts(texts)
}

// oneOf returns v unchanged if it equals an argument.
func oneOf(e *Env, f *Filter, v Value) (Value, error) {
	var texts []string
	var missing Node
	for _, arg := range f.Args {
		known, err := e.eval(arg)
		if err != nil {
			return nil, err
		}
		if equal(v, known) {
			return v, nil
		}
		if text, ok := scalarText(known); ok {
			texts = append(texts, text)
		} else if known == nil {
			missing = arg
		}
	}
	if missing != nil {
		return nil, &fault{node: missing, message: "is missing"}
	}
	return nil, &fault{node: e.subject, message: notOneOf(v, "", texts)}
}

// oneOfTakes returns the use of a value by the filter oneof.
func oneOfTakes(f *Filter) takes {
	texts := literalTexts(f.Args)
	if len(texts) == len(f.Args) {
		return takes{want: aText, entries: texts}
	}
	t := takes{want: aScalar, sure: true}
	for _, arg := range f.Args {
		if l, ok := arg.(*Literal); ok {
			t.examples = append(t.examples, l.Value)
		}
	}
	return t
}
