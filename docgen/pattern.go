package docgen

import (
	"strings"

	"platen/docx/lang"
)

// maxPattern is the maximum number of bytes of a pattern for file names.
const maxPattern = 1000

// pattern is a file name with value tags, such as "Invoice {{number}}".
type pattern struct {
	texts []string // around the tags: one more
	tags  []*lang.Tag
	use   lang.Use
}

// parsePattern parses a pattern, or says what is wrong with it.
func parsePattern(text string) (p *pattern, why string) {
	if len(text) > maxPattern {
		return nil, "the pattern for file names is too long"
	}
	p = &pattern{}
	at := 0
	spans, orphans := lang.Find(text)
	if len(orphans) > 0 {
		return nil, "the pattern for file names has {{ or }} that is not part of a tag"
	}
	for _, span := range spans {
		tag, err := lang.ParseTag(text[span.Start:span.End])
		if err != nil {
			return nil, "the pattern for file names: " + err.Error()
		}
		if tag.Kind != lang.Print {
			return nil, "the pattern for file names can have tags for values only, such as {{number}}"
		}
		p.use.Add(tag, new(lang.Scope))
		p.texts, p.tags = append(p.texts, text[at:span.Start]), append(p.tags, tag)
		at = span.End
	}
	p.texts = append(p.texts, text[at:])
	return p, ""
}

// name returns the file name for an input, or says what is wrong.
func (p *pattern) name(input []byte) (name, why string) {
	if len(p.tags) == 0 {
		return p.texts[0], ""
	}
	data, err := lang.Decode(input)
	if err != nil {
		return "", err.Error()
	}
	env := lang.NewEnv(data, lang.Options{Use: &p.use})
	var b strings.Builder
	for i, tag := range p.tags {
		text, ok, err := env.Print(tag)
		if err == nil && !ok {
			return "", "the pattern for file names: " + strings.Join(append(env.Errors(), "the value is missing")[:1], "")
		}
		if err != nil {
			return "", "the pattern for file names: " + err.Error()
		}
		b.WriteString(p.texts[i])
		b.WriteString(text)
	}
	b.WriteString(p.texts[len(p.tags)])
	return b.String(), ""
}
