package lang_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"platen/docx/lang"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestSyntaxErrors reads each tag of testdata/errors.txtar and compares the message.
func TestSyntaxErrors(t *testing.T) {
	const name = "testdata/errors.txtar"
	golden, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range golden.Files {
		f := &golden.Files[i]
		t.Run(f.Name, func(t *testing.T) {
			text, _, _ := strings.Cut(string(f.Data), "\n")
			_, err := lang.ParseTag(text)
			syntax, ok := errors.AsType[*lang.SyntaxError](err)
			if !ok {
				t.Fatalf("%s: got %v", text, err)
			}
			got := fmt.Sprintf("%s\n\n%s\n%s\n", text, syntax.Picture(), syntax.Message)
			if syntax.Hint != "" {
				got += "hint: " + syntax.Hint + "\n"
			}
			if *update {
				f.Data = []byte(got + "\n")
			} else if diff := cmp.Diff(string(f.Data), got+"\n"); diff != "" {
				t.Error(diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(golden), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSyntaxErrorIsOneLine(t *testing.T) {
	_, err := lang.ParseTag("{{\nname :: \tuppercas}}")
	want := `{{ name ::  uppercas}} at character 13: there is no filter "uppercas"; did you mean uppercase?`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestParseTag(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{{for item in script.locations}}`, `{{for item in script.locations}}`},
		{`{{ FOR x IN y :: optional }}`, `{{for x in y :: optional}}`},
		{`{{tablerow item in invoice.items}}`, `{{tablerow item in invoice.items}}`},
		{"{{\u00a0endtablerow\u202f}}", `{{endtablerow}}`},
		{`{{endfor}}`, `{{endfor}}`},
		{`{{if contract.country == “UK”}}`, `{{if contract.country == "UK"}}`},
		{`{{ if a.b isPresent }}`, `{{if a.b isPresent}}`},
		{`{{if(a)}}`, `{{if a}}`},
		{`{{elseif a}}`, `{{elseif a}}`},
		{`{{else if a}}`, `{{elseif a}}`},
		{`{{Else}}`, `{{else}}`},
		{`{{ endIf }}`, `{{endif}}`},
		{`{{! anything "goes }}`, `{{! anything "goes }}`},
		{`{{os.description::delimiter(", "),lastdelimiter(", and ")}}`,
			`{{os.description :: delimiter(", ") :: lastdelimiter(", and ")}}`},
		{`{{a :: optional()}}`, `{{a :: optional}}`},
		{"{{if.x}}", "{{`if`.x}}"},
		{"{{for[0]}}", "{{`for`[0]}}"},
		{"{{else :: optional}}", "{{`else` :: optional}}"},
		{"{{a.if.or.`x`.1st[-2]}}", "{{a.if.or.x.1st[-2]}}"},
		{"{{`a`}}", "{{a}}"},
		{"{{Account.Owner__r.Zip__c}}", "{{Account.Owner__r.Zip__c}}"},
		{"{{$Profile}}", "{{$Profile}}"},
		{`{{item.quantity * item.price}}`, `{{item.quantity * item.price}}`},
		{`{{((a)) + (b * c)}}`, `{{a + b * c}}`},
		{`{{(a - b) - (c - d)}}`, `{{a - b - (c - d)}}`},
		{`{{(a or b) and not (c and d)}}`, `{{(a or b) and not (c and d)}}`},
		{`{{not a == b}}`, `{{not a == b}}`},
		{`{{(not a) == b}}`, `{{(not a) == b}}`},
		{`{{a not in b}}`, `{{not a in b}}`},
		{`{{(a == b) == c}}`, `{{(a == b) == c}}`},
		{`{{-(a + b)}}`, `{{-(a + b)}}`},
		{`{{- - a}}`, `{{--a}}`},
		{`{{«\u00a0Tokyo\u00a0» == ‹x›}}`, `{{"\\u00a0Tokyo\\u00a0" == "x"}}`},
		{"{{«\u00a0Tokyo\u202f» == ‹x›}}", `{{"Tokyo" == "x"}}`},
		{`{{"a \"b\" \\ \x “}}`, `{{"a \"b\" \\ \\x "}}`},
		{`{{'it"s'}}`, `{{"it\"s"}}`},
		{`{{"it’s"}}`, `{{"it’s"}}`},
		{`{{1.5e3 + 0.10}}`, `{{1.5e3 + 0.10}}`},
		{`{{a==true and b!=false or c==null}}`, `{{a == true and b != false or c == null}}`},
	} {
		tag := parse(t, c.text)
		if got := tag.String(); got != c.want {
			t.Errorf("%s is read as %s, want %s", c.text, got, c.want)
		}
		if tag.Text != c.text {
			t.Errorf("the text of %s is %s", c.text, tag.Text)
		}
	}
}

func TestParseTagLimits(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"parentheses":        {strings.Repeat("(", 30_000), "levels of parentheses"},
		"closed parentheses": {strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200), "levels of parentheses"},
		"signs":              {strings.Repeat("-", 30_000) + "1", "levels of parentheses"},
		"nots":               {strings.Repeat("not ", 10_000) + "a", "levels of parentheses"},
		"functions":          {strings.Repeat("$abs(", 10_000), "levels of parentheses"},
		"sum":                {"a" + strings.Repeat("+a", 10_000), "more than 1000 parts"},
		"filters":            {"a" + strings.Repeat("::optional", 5000), "more than 1000 parts"},
		"path":               {"a" + strings.Repeat(".a", 30_000), "more than 200 steps"},
		"text":               {`"` + strings.Repeat("x", lang.MaxTag) + `"`, "longer than"},
		"digits":             {strings.Repeat("1", lang.MaxDigits+1), "digits"},
		"exponent":           {"1e999999999", "digits"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lang.ParseTag("{{" + c.text + "}}")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	parse(t, "{{"+strings.Repeat("(", 99)+"a"+strings.Repeat(")", 99)+"}}")
	parse(t, "{{a"+strings.Repeat("+a", 499)+"}}")
	parse(t, "{{a"+strings.Repeat(".a", lang.MaxPath-1)+"}}")
}
