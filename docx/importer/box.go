package importer

import (
	"errors"
	"regexp"

	"platen/docx/lang"
)

// box is Box Doc Gen, whose tags are those of Platen. They are checked, and stay as they are.
var box = &dialect{
	name: "box", title: "Box Doc Gen", grammar: &javascript, find: findBox, resolve: named,
	signs: []sign{
		{regexp.MustCompile(`\{\{\s*(?:tablerow|endtablerow|for \w+ in|endfor|endif|elseif)\b`), 8},
		{regexp.MustCompile(`\{\{[^{}]*::[^{}]*\}\}`), 8},
		{regexp.MustCompile(`\{\{\s*if [^{}]*\}\}`), 4}, {regexp.MustCompile(`\{\{\s*[\w.]+\s*\}\}`), 2},
	},
}

func findBox(par *paragraph) []*tag {
	found, _ := lang.Find(par.text)
	tags := make([]*tag, 0, len(found))
	for _, f := range found {
		text := par.text[f.Start:f.End]
		c := command{kind: kText, text: text}
		if _, err := lang.ParseTag(text); err != nil {
			c.err = &cannot{reason: err.Error()}
			if syntax, ok := errors.AsType[*lang.SyntaxError](err); ok {
				c.err = &cannot{syntax.Message, syntax.Hint}
			}
		}
		tags = append(tags, &tag{par: par, span: span{f.Start, f.End}, command: c})
	}
	return tags
}
