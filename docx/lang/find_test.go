package lang_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx/lang"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		tags, orphans []string
	}{
		{"none", "no tags { } {x} } {", nil, nil},
		{"two side by side", "{{a}}{{b}}", []string{"{{a}}", "{{b}}"}, nil},
		{"in prose", "Dear {{ name }},\n{{if x}}yes{{endif}}.", []string{"{{ name }}", "{{if x}}", "{{endif}}"}, nil},
		{"empty tag", "{{}}", []string{"{{}}"}, nil},
		{"end in quotes", "{{a::default(\"}}\")}} {{b == ‘}}’}}", []string{"{{a::default(\"}}\")}}", "{{b == ‘}}’}}"}, nil},
		{"end after an escaped quote", `{{a == "\"}}"}}`, []string{`{{a == "\"}}"}}`}, nil},
		{"end in backquotes", "{{a.`}}`}}", []string{"{{a.`}}`}}"}, nil},
		{"mismatched quotes", "{{a == “}}“}}", []string{"{{a == “}}“}}"}, nil},
		{"apostrophe", "{{customer's name}} and {{other's}} name", []string{"{{customer's name}}", "{{other's}}"}, nil},
		{"quote never closed", `{{a == "b}} c`, []string{`{{a == "b}}`}, nil},
		{"comment with apostrophe", "{{! don't }} it's {{b}}", []string{"{{! don't }}", "{{b}}"}, nil},
		{"three braces", "{{{a}}}", []string{"{{a}}"}, nil},
		{"orphan start", "a {{ b", nil, []string{"{{"}},
		{"orphan end", "a }} b", nil, []string{"}}"}},
		{"orphan before a tag", "{{ b {{a}}", []string{"{{a}}"}, []string{"{{"}},
		{"orphan after a tag", "{{a}}}}", []string{"{{a}}"}, []string{"}}"}},
		{"comment never closed", "{{! a {{b}}", []string{"{{b}}"}, []string{"{{"}},
		{"tag in a condition", "{{if {{a}}}}x{{endif}}", []string{"{{if {{a}}}}", "{{endif}}"}, nil},
		{"tags in a condition", "{{if {{a}} > {{b}} }}x", []string{"{{if {{a}} > {{b}} }}"}, nil},
		{"tag in a loop", "{{for i in {{a}}}}{{i}}", []string{"{{for i in {{a}}}}", "{{i}}"}, nil},
		{"condition never closed", "{{if a {{b}} {{endif}} {{c}}", []string{"{{b}}", "{{endif}}", "{{c}}"}, []string{"{{"}},
		{"tag in a value", "{{a {{b}}}}", []string{"{{b}}"}, []string{"{{", "}}"}},
		{"sign tags", "[[s|1|id:x]] {{a}}", []string{"{{a}}"}, nil},
		{"invalid UTF-8", "\xff{{\xff}}\xfe", []string{"{{\xff}}"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tags, orphans := lang.Find(c.text)
			if diff := cmp.Diff(c.tags, cut(c.text, tags)); diff != "" {
				t.Errorf("tags: %s", diff)
			}
			if diff := cmp.Diff(c.orphans, cut(c.text, orphans)); diff != "" {
				t.Errorf("orphans: %s", diff)
			}
		})
	}
}

func cut(s string, spans []lang.Span) []string {
	var all []string
	for _, span := range spans {
		all = append(all, s[span.Start:span.End])
	}
	return all
}

// FuzzFind checks that tags and orphans are parts of the text, in order and without overlap, and that taking them out leaves no pair of
// their braces.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"{{a}}{{b}}", `{{"}}"}}`, "{{ {{'}} ' {{", "}}{{{{{", "{{`\\`}}", strings.Repeat(`{{"`, 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tags, orphans := lang.Find(s)
		end := 0
		for _, tag := range tags {
			text := s[tag.Start:tag.End]
			if tag.Start < end || len(text) < 4 || text[:2] != "{{" || text[len(text)-2:] != "}}" {
				t.Fatalf("%q: tag %v", s, tag)
			}
			for _, o := range orphans {
				if o.Start < tag.End && o.End > tag.Start {
					t.Fatalf("%q: orphan %v in tag %v", s, o, tag)
				}
			}
			end = tag.End
		}
	})
}

func TestFindTakesLinearTime(t *testing.T) {
	for _, part := range []string{"{{", "{{\"", "{{'\"`", "{{\"'", "{", "{{!", "{{\"\\"} {
		lang.Find(strings.Repeat(part, 1<<17)) // takes minutes if it is quadratic
	}
}
