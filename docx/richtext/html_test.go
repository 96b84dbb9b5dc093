package richtext_test

import (
	"strings"
	"testing"

	"platen/docx/richtext"
)

func TestLooksLikeHTML(t *testing.T) {
	for s, want := range map[string]bool{
		"":                             false,
		"plain":                        false,
		"a < b":                        false,
		"a <b and c> d":                false,
		"x<b and y>c":                  false,
		"<name>":                       false,
		"<john@example.com>":           false,
		"if a<i>j":                     false,
		"AT&amp;T":                     false,
		"1 < 2 > 0":                    false,
		"<":                            false,
		"</b":                          false,
		"<b>bold</b>":                  true,
		"a <B>x</B>":                   true,
		"line<br>line":                 true,
		"line<br/>line":                true,
		"line<br />line":               true,
		"<p>text":                      true,
		"<p class=x>text":              true,
		`<p  style = "x">text`:         true,
		`<a href="x">y</a>`:            true,
		"&lt;b&gt; <i>x</i>":           true,
		"<ul><li>x":                    true,
		"<span\nclass=\"a\">x</span>":  true,
		"<!-- c --><b>x</b>":           true,
		"<b>" + strings.Repeat("x", 9): false,
	} {
		if got := richtext.LooksLikeHTML(s); got != want {
			t.Errorf("LooksLikeHTML(%q) = %v", s, got)
		}
	}
}

func TestWhatIsBeyondTheLimitsIsText(t *testing.T) {
	for name, s := range map[string]string{
		"deep":             strings.Repeat("<div>", 600) + "kept &amp; read",
		"formats repeated": strings.Repeat("<b id=1>", 400) + strings.Repeat("<p>x", 2000) + "kept &amp; read",
		"attributes":       "<p " + strings.Repeat("a", 1) + manyAttributes(200) + ">kept &amp; read",
		"nodes":            strings.Repeat("<p>x</p>", 100_000) + "kept &amp; read",
	} {
		doc := read(t, richtext.HTML, s)
		if !doc.Reduced() || !strings.HasSuffix(doc.Text(), "kept & read") {
			t.Errorf("%s: reduced %v, text ends %q", name, doc.Reduced(), doc.Text()[max(len(doc.Text())-30, 0):])
		}
	}
	for name, s := range map[string]string{
		"quotes":   strings.Repeat(">", 10_000) + "kept",
		"brackets": strings.Repeat("[", 10_000) + "kept",
		"long":     strings.Repeat("x", richtext.MaxMarkdown) + "kept",

		"cells": strings.Repeat("| a ", 1000) + "\n" + strings.Repeat("|-", 1000) + "\n" + strings.Repeat("|a\n", 1000) + "kept",

		"emphasis that nothing ends":      strings.Repeat("*a_ ", 10_000) + "kept",
		"emphasis in lines":               strings.Repeat("*a_\n", 10_000) + "kept",
		"emphasis of three sizes":         strings.Repeat("***a_ b** ", 10_000) + "kept",
		"emphasis that may begin and end": strings.Repeat("a**b_c* ", 10_000) + "kept",
	} {
		doc := read(t, richtext.Markdown, s)
		if !doc.Reduced() || !strings.HasSuffix(doc.Text(), "kept") {
			t.Errorf("%s: reduced %v", name, doc.Reduced())
		}
	}
}

func TestLongMarkdownIsRead(t *testing.T) {
	for name, s := range map[string]string{
		"emphasis":           strings.Repeat("*a* __b__ ~~c~~ **d *e* f** 2 * 3 ", 1_000) + "kept",
		"names with lines":   strings.Repeat("snake_case_name and _private ", 2_000) + "kept",
		"products":           strings.Repeat("a 5*3 ", 1_000) + "kept",
		"a table":            "|a|b|\n|-|-|\n" + strings.Repeat("|*a*|b|\n", 5_000) + "\nkept",
		"many short letters": strings.Repeat("Dear *Ada\n\n* one\n* two_\n\n", 5_000) + "kept",
	} {
		doc := read(t, richtext.Markdown, s)
		if doc.Reduced() || !strings.HasSuffix(doc.Text(), "kept") {
			t.Errorf("%s: reduced %v", name, doc.Reduced())
		}
	}
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" a" + strings.Repeat("x", i) + "=1")
	}
	return b.String()
}
