package lang_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx/lang"
)

func parse(t testing.TB, text string) *lang.Tag {
	t.Helper()
	tag, err := lang.ParseTag(text)
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

func env(t testing.TB, data string) *lang.Env {
	t.Helper()
	v, err := lang.Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return lang.NewEnv(v, lang.Options{})
}

const order = `{
	"invoice": {"id": "INV-1203", "total": 1.50, "note": "", "customer": {"name": "Ada", "vip": true}, "due": null},
	"products": [
		{"name": "Pen", "price": 1.10, "quantity": 3, "colors": ["red", "blue"]},
		{"name": "Ink", "price": "2.20", "quantity": 1, "colors": []},
		{"name": "Cap", "price": 0.3, "quantity": 10}
	],
	"tags": ["a", "b", "c"], "empty": [], "zero": 0, "zeros": -0.00, "no": false, "odd key": {"a.b": "odd"},
	"huge": 12345678901234567890.12, "sci": 1.5e3, "tiny": 15E-4, "digits": "10", "text": "n/a", "in": "word",
	"$User": {"Name": "u"}, "größe": "XL", "a": {"2024": "year"}, "loop": {"x": "data", "index": "own"},
	"yes": "true", "far": 1e999999999, "holes": ["x", null, "y"], "mixed": [1, {"k": 2}], "nested": [[{"k": 1}], [{"k": 2}]]
}`

func TestPrint(t *testing.T) {
	for _, c := range []struct{ tag, want string }{
		{`{{invoice.id}}`, "INV-1203"},
		{"{{\u00a0 invoice . customer\n.name\u200b }}", "Ada"},
		{`{{invoice.total}}`, "1.50"},
		{`{{invoice.note}}`, ""},
		{`{{invoice.customer.vip}}`, "true"},
		{`{{zeros}}`, "-0.00"},
		{`{{"text"}}`, "text"},
		{`{{1.50}}`, "1.50"},

		{`{{products[0].name}}`, "Pen"},
		{`{{products[-1].name}}`, "Cap"},
		{"{{`odd key`.`a.b`}}", "odd"},
		{"{{`in`}}", "word"},
		{`{{$User.Name}}`, "u"},
		{`{{größe}}`, "XL"},
		{`{{a.2024}}`, "year"},
		{`{{loop.x}}`, "data"},
		{`{{loop.index}}`, "own"},
		{`{{nested.k}}`, "1, 2"},
		{`{{nested[1][0].k}}`, "2"},

		{`{{huge}}`, "12345678901234567890.12"},
		{`{{huge * 1}}`, "12345678901234567890.12"},
		{`{{sci}}`, "1500"},
		{`{{tiny}}`, "0.0015"},

		{`{{tags}}`, "a, b, c"},
		{`{{tags::delimiter("; "),lastdelimiter(" and ")}}`, "a; b and c"},
		{`{{tags :: lastdelimiter(" or ") :: uppercase}}`, "A, B or C"},
		{`{{tags :: delimiter("\n")}}`, "a\nb\nc"},
		{`{{empty}}`, ""},
		{`{{holes}}`, "x, y"},
		{`{{products.name}}`, "Pen, Ink, Cap"},
		{`{{products.colors}}`, "red, blue"},
		{`{{text :: delimiter(", ")}}`, "n/a"},

		{`{{invoice.missing :: optional}}`, ""},
		{`{{invoice.due::optional}}`, ""},
		{`{{ invoice.missing :: default(“Box Inc“) }}`, "Box Inc"},
		{`{{ invoice.missing :: uppercase :: default('x') }}`, "x"},
		{`{{ invoice.missing :: default(invoice.id), lowercase }}`, "inv-1203"},
		{`{{ invoice.missing * 2 :: default(0) }}`, "0"},
		{`{{ invoice.note :: default("d") }}`, ""},
		{`{{ invoice.missing :: default("} }}") }}`, "} }}"},
		{`{{ invoice.total :: uppercase }}`, "1.50"},

		{`{{0.1 + 0.2}}`, "0.3"},
		{`{{1 + 2 * 3 - -4}}`, "11"},
		{`{{(1 + 2) * 3 % 5}}`, "4"},
		{`{{-7 % 3}}`, "-1"},
		{`{{10 / 4}}`, "2.5"},
		{`{{10 / 3}}`, "3.3333333333333333"},
		{`{{10 / 3 * 3}}`, "10"},
		{`{{2e-20 / 3}}`, "0.000000000000000000006666666666666667"},
		{`{{invoice.total + invoice.total}}`, "3"},
		{`{{digits * 2 − 1 × 2 ÷ 1}}`, "18"},
		{`{{-digits}}`, "-10"},

		{`{{$sum(products.price)}}`, "3.6"},
		{`{{ $sum (products.quantity) * 2 }}`, "28"},
		{`{{$sum(empty)}}`, "0"},
		{`{{$sum(invoice.total)}}`, "1.5"},
		{`{{$count(products)}}`, "3"},
		{`{{$count(holes)}}`, "2"},
		{`{{$count(text)}}`, "1"},
		{`{{$min(products.quantity)}} `, "1"},
		{`{{$max(products.price)}}`, "2.2"},
		{`{{$average(products.quantity)}}`, "4.6666666666666667"},
		{`{{$round(2.5)}}`, "3"},
		{`{{$round(-2.5)}}`, "-3"},
		{`{{$round(1.005, 2)}}`, "1.01"},
		{`{{$round(1250, -2)}}`, "1300"},
		{`{{$round(10 / 3 * 3)}}`, "10"},
		{`{{$floor(10 / 3 * 3)}}`, "10"},
		{`{{$floor(-1.5)}}`, "-2"},
		{`{{$ceil(1.2)}}`, "2"},
		{`{{$abs(-1.20)}}`, "1.2"},
		{`{{$length("größe")}}`, "5"},
		{`{{$length(tags)}}`, "3"},
		{`{{$join(tags)}}`, "a, b, c"},
		{`{{$join(text)}}`, "n/a"},
		{`{{$join(tags, "-")}}`, "a-b-c"},

		{`{{1 / 3 == 2 / 6}}`, "true"},
		{`{{1e-20 / 3 * 3 == 1e-20}}`, "true"},
		{`{{invoice.missing == 1}}`, "false"},
	} {
		e := env(t, order)
		got, ok, err := e.Print(parse(t, strings.TrimSpace(c.tag)))
		if got != c.want || !ok || err != nil || e.Errors() != nil {
			t.Errorf("%s = %q, %v, %v, %q; want %q", c.tag, got, ok, err, e.Errors(), c.want)
		}
	}
}

func TestPrintReports(t *testing.T) {
	const missing = "The tag '%s' was not provided in the input data."
	const empty = "The tag '%s' has no value: the input data has nothing to compute it from."
	const fault = "The tag '%s' could not be computed: %s."
	for _, c := range []struct{ tag, want string }{
		{`{{ nobody }}`, fmt.Sprintf(missing, "nobody")},
		{`{{invoice . due :: uppercase}}`, fmt.Sprintf(missing, "invoice.due")},
		{"{{invoice.`no such`}}", fmt.Sprintf(missing, "invoice.`no such`")},
		{`{{products[3].name}}`, fmt.Sprintf(missing, "products[3].name")},
		{`{{products[-4]}}`, fmt.Sprintf(missing, "products[-4]")},
		{`{{products.weight}}`, "The tag 'products.weight' (products[0].weight) was not provided in the input data."},
		{`{{text.deeper}}`, fmt.Sprintf(missing, "text.deeper")},
		{`{{invoice[0]}}`, fmt.Sprintf(missing, "invoice[0]")},
		{`{{$sum(nobody)}}`, fmt.Sprintf(missing, "nobody")},
		{`{{-nobody}}`, fmt.Sprintf(missing, "nobody")},
		{`{{x * y}}`, fmt.Sprintf(missing, "x") + "\n" + fmt.Sprintf(missing, "y")},
		{`{{x :: default(y)}}`, fmt.Sprintf(missing, "x") + "\n" + fmt.Sprintf(missing, "y")},
		{`{{$average(empty)}}`, fmt.Sprintf(empty, "$average(empty)")},
		{`{{null}}`, fmt.Sprintf(empty, "null")},

		{`{{invoice}}`, fmt.Sprintf(fault, "invoice", "'invoice' is an object and cannot be printed")},
		{`{{mixed}}`, fmt.Sprintf(fault, "mixed", "'mixed' is a list that contains an object and cannot be printed")},
		{`{{far}}`, fmt.Sprintf(fault, "far", "'far' is a number with too many digits and cannot be printed")},
		{`{{far * 1}}`, fmt.Sprintf(fault, "far * 1", "'far' is a number with too many digits")},
		{`{{text * 2}}`, fmt.Sprintf(fault, "text * 2", "'text' is text, not a number")},
		{`{{2 - tags}}`, fmt.Sprintf(fault, "2 - tags", "'tags' is a list, not a number")},
		{`{{text + far}}`, fmt.Sprintf(fault, "text + far", "'text' is text, not a number; $string joins strings")},
		{`{{1 + -text}}`, fmt.Sprintf(fault, "1 + -text", "'text' is text, not a number")},
		{`{{$abs(1 / 0)}}`, fmt.Sprintf(fault, "$abs(1 / 0)", "'1 / 0' divides by zero")},
		{`{{x :: default(1 / 0)}}`, fmt.Sprintf(fault, "x", "'1 / 0' divides by zero")},
		{`{{$max(empty)}}`, fmt.Sprintf(empty, "$max(empty)")},
		{`{{$round(1, text)}}`, fmt.Sprintf(fault, "$round(1, text)", "'text' is text, not a number")},
		{`{{$join(tags, tags)}}`, fmt.Sprintf(fault, "$join(tags, tags)", "'tags' is a list, not text")},
		{`{{-no}}`, fmt.Sprintf(fault, "-no", "'no' is true or false, not a number")},
		{`{{1 / zero}}`, fmt.Sprintf(fault, "1 / zero", "'1 / zero' divides by zero")},
		{`{{1 % zeros}}`, fmt.Sprintf(fault, "1 % zeros", "'1 % zeros' divides by zero")},
		{`{{1e200 * 1e200 * 10}}`, fmt.Sprintf(fault, "1e200 * 1e200 * 10",
			"'1e200 * 1e200' is a number with too many digits")},
		{`{{no < 3}}`, fmt.Sprintf(fault, "no < 3", "'no < 3' compares true or false with a number")},
		{`{{no == 0}}`, fmt.Sprintf(fault, "no == 0",
			"'no == 0' compares true or false with a number; compare it with true or false, without quotes")},
		{`{{3 in zero}}`, fmt.Sprintf(fault, "3 in zero", "'3 in zero' looks into a number, which contains nothing")},
		{`{{$sum(tags)}}`, fmt.Sprintf(fault, "$sum(tags)", "'tags' (tags[0]) is text, not a number")},
		{`{{$floor(text)}}`, fmt.Sprintf(fault, "$floor(text)", "'text' is text, not a number")},
		{`{{$round(1, 0.5)}}`, fmt.Sprintf(fault, "$round(1, 0.5)", "0.5 is not a whole number from -999 to 999")},
		{`{{$length(invoice)}}`, fmt.Sprintf(fault, "$length(invoice)", "'invoice' is an object, not text or a list")},
		{`{{tags :: delimiter(invoice)}}`, fmt.Sprintf(fault, "tags", "'invoice' is an object, not text")},
	} {
		e, tag := env(t, order), parse(t, c.tag)
		for range 2 { // a report comes once
			if s, ok, err := e.Print(tag); s != "" || ok || err != nil {
				t.Errorf("%s = %q, %v, %v; want no text", c.tag, s, ok, err)
			}
		}
		if got := strings.Join(e.Errors(), "\n"); got != c.want {
			t.Errorf("%s reports %q, want %q", c.tag, got, c.want)
		}
	}
}

func TestTest(t *testing.T) {
	holds := []string{
		`invoice`, `invoice.id`, `tags`, `-1`, `invoice.customer.vip`, `sci`, `yes`,
		`not nobody`, `Not no`, `not invoice.due`, `not zero`, `not zeros`, `1e-5 * 1`, `not empty`, `not invoice.note`, `NOT (1 > 2)`,
		`not $sum(empty)`, `not (1 - 1)`,
		`invoice.id == “INV-1203“`, `invoice.id != 'x'`, `invoice.id ≠ «INV»`, `"a" < "b"`, `"10" > "9"`, `"2024-02-01" <= "2024-10-01"`,
		`digits == 10`, `10.0 == digits`, `digits == "10"`, `digits == "10.0"`, `digits != "010.0"`,
		`1.50 == 1.5`, `digits > 9`, `digits >= 10.0`,
		`text != 5`, `invoice.customer.vip == true`, `yes == true`, `true == yes`, `no == "false"`,
		`nobody == null`, `null == invoice.due`, `invoice.id != null`, `null == null`, `not (invoice.id == null)`, `not (nobody != null)`,
		`not (nobody == 1)`, `not (nobody != 1)`, `not (nobody < 1)`, `not (nobody == nobody)`, `not (null < 1)`, `not (nobody in tags)`,
		`"b" in tags`, `"z" not in tags`, `tags contains "a"`, `tags not contains "z"`, `products.quantity contains "3"`,
		`text contains "/"`, `"n" in text`, `3 in "123"`, `"id" in invoice`, `not ("due" in invoice)`,
		`invoice.id isPresent`, `invoice.note ispresent`, `no isPresent`, `nobody isNotPresent`, `invoice.due isNotPresent`,
		`1 == 1 and 2 == 2`, `nobody or yes`, `not (zero and nobody)`, `zero or no or yes`, `yes or zero and zero`, `not zero and yes`,
		`yes AND yes Or zero`, `yes or text * 2`, `not (zero and text * 2)`, `1 + 1 == 2`, `not 1 == 2`, `2 * 2 > 3 and not 1 > 2`,
	}
	for _, condition := range holds {
		e := env(t, order)
		if got, err := e.Test(parse(t, "{{if "+condition+"}}")); !got || err != nil || e.Errors() != nil {
			t.Errorf("if %s: %v, %v, %q; want true", condition, got, err, e.Errors())
		}
		if got, err := e.Test(parse(t, "{{ else if not ("+condition+") }}")); got || err != nil || e.Errors() != nil {
			t.Errorf("else if not (%s): %v, %v, %q; want false", condition, got, err, e.Errors())
		}
	}
}

func TestConditionThatCannotBeComputedDoesNotHold(t *testing.T) {
	e := env(t, order)
	if got, err := e.Test(parse(t, `{{if text * 2 > 1}}`)); got || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	want := []string{"The tag 'text * 2 > 1' could not be computed: 'text' is text, not a number."}
	if diff := cmp.Diff(want, e.Errors()); diff != "" {
		t.Error(diff)
	}
}

// run executes the tags of a text as a template engine does, leaving all else as it is.
func run(t *testing.T, e *lang.Env, template string) string {
	t.Helper()
	tags, _ := lang.Find(template)
	var out strings.Builder
	exec(t, e, &out, template, 0, tags)
	return out.String()
}

func exec(t *testing.T, e *lang.Env, out *strings.Builder, s string, at int, tags []lang.Span) (end int, rest []lang.Span) {
	t.Helper()
	for len(tags) > 0 {
		out.WriteString(s[at:tags[0].Start])
		tag := parse(t, s[tags[0].Start:tags[0].End])
		at, tags = tags[0].End, tags[1:]
		switch tag.Kind {
		case lang.EndFor:
			return at, tags
		case lang.For:
			items, err := e.List(tag)
			if err != nil {
				t.Fatal(err)
			}
			body, after := at, tags
			for i, item := range items {
				e.Push(tag, item, i, len(items))
				at, after = exec(t, e, out, s, body, tags)
				e.Pop()
			}
			if len(items) == 0 { // only to find its end
				at, after = exec(t, lang.NewEnv(nil, lang.Options{}), new(strings.Builder), s, body, tags)
			}
			tags = after
		default:
			text, ok, err := e.Print(tag)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				text = tag.Text
			}
			out.WriteString(text)
		}
	}
	out.WriteString(s[at:])
	return len(s), nil
}

func TestLoops(t *testing.T) {
	for _, c := range []struct{ name, template, want string }{
		{"variable", `{{for p in products}}{{p.name}} {{endfor}}`, "Pen Ink Cap "},
		{"scalar items", `{{for x in tags}}<{{x}}>{{endfor}}`, "<a><b><c>"},
		{"delimiters of the loop",
			`{{for p in products}}{{p.name::delimiter(", "),lastdelimiter(", and ")}}{{endfor}}`, "Pen, Ink, and Cap"},
		{"delimiters of two items", `{{for c in products[0].colors}}{{c::delimiter(", "),lastdelimiter(" and ")}}{{endfor}}`, "red and blue"},
		{"last delimiter alone", `{{for x in tags}}{{x::lastdelimiter("&")}}{{endfor}}`, "ab&c"},
		{"no delimiter after nothing", `{{for p in products}}{{p.none::optional,delimiter(";")}}{{endfor}}`, ""},
		{"delimiter of the variable's loop", `{{for x in tags}}{{for c in products[0].colors}}{{x::delimiter(",")}}{{endfor}}{{endfor}}`,
			"a,a,b,b,cc"},
		{"place", `{{for x in tags}}{{loop.index}}{{loop.number}}{{loop.count}}{{loop.first}}{{loop.last}} {{endfor}}`,
			"013truefalse 123falsefalse 233falsetrue "},
		{"outer place", `{{for p in products}}{{for c in p.colors}}{{loop.parent.number}}{{loop.number}} {{endfor}}{{endfor}}`, "11 12 "},
		{"no outer place", `{{for x in empty}}{{endfor}}{{for x in tags}}{{loop.parent.index :: default("-")}}{{endfor}}`, "---"},
		{"place of nothing", `{{for x in products[0].colors}}{{loop.parent::optional}}{{loop.last.x::optional}}{{endfor}}`, ""},
		{"key called loop", `{{for x in tags}}{{loop.x}},{{endfor}}`, "data,data,data,"},
		{"variable called loop", `{{for loop in products}}{{loop.name}}{{loop.index::optional}}{{endfor}}`, "PenInkCap"},
		{"inner hides outer", `{{for x in tags}}{{for x in products}}{{x.quantity}}{{endfor}}{{x}}{{endfor}}`, "3110a3110b3110c"},
		{"data seen from a loop", `{{for x in tags}}{{invoice.total}}{{endfor}}`, "1.501.501.50"},
		{"object as one item", `{{for c in invoice.customer}}{{c.name}}{{endfor}}`, "Ada"},
		{"null items", `{{for x in holes}}{{x::default("-")}}{{endfor}}`, "x-y"},
		{"missing field", `{{for p in products}}{{p.none}}{{endfor}}`, "{{p.none}}{{p.none}}{{p.none}}"},
		{"no items", `<{{for x in empty}}{{x}}{{endfor}}>`, "<>"},
		{"missing list", `<{{for x in nobody.list}}{{x}}{{endfor}}>`, "<>"},
		{"list by default", `{{for x in nobody :: default(tags)}}{{x}}{{endfor}}`, "abc"},
		{"arithmetic", `{{for p in products}}{{p.quantity * p.price}} {{endfor}}`, "3.3 2.2 3 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t, env(t, order), c.template); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestListReports(t *testing.T) {
	e := env(t, order)
	for _, tag := range []string{
		`{{for x in nobody}}`, `{{tablerow x in invoice.due}}`, `{{for x in nobody}}`,
		`{{for x in hidden :: optional}}`, `{{for x in invoice.note}}`, `{{for x in text}}`,
	} {
		items, err := e.List(parse(t, tag))
		if len(items) != 0 || err != nil {
			t.Errorf("%s: %v, %v; want no items", tag, items, err)
		}
	}
	want := []string{
		"The list 'nobody' was not provided in the input data.",
		"The list 'invoice.due' was not provided in the input data.",
	}
	if diff := cmp.Diff(want, e.Warnings()); diff != "" {
		t.Errorf("warnings: %s", diff)
	}
	want = []string{"The tag 'text' could not be computed: 'text' is not a list."}
	if diff := cmp.Diff(want, e.Errors()); diff != "" {
		t.Errorf("errors: %s", diff)
	}
}

func TestValue(t *testing.T) {
	data := lang.NewObject([]string{"n", "l"}, []lang.Value{"text", []any{"a"}})
	e := lang.NewEnv(data, lang.Options{})
	for tag, want := range map[string]lang.Value{`{{n}}`: "text", `{{l}}`: []any{"a"}} {
		if got, ok, err := e.Value(parse(t, tag)); !ok || err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s = %v, %v, %v; want %v", tag, got, ok, err, want)
		}
	}
	if got, _, _ := e.Value(parse(t, `{{1 + 1}}`)); fmt.Sprintf("%T %v", got, got) != "json.Number 2" {
		t.Errorf("got %T %v", got, got)
	}
	if _, ok, _ := e.Value(parse(t, `{{none}}`)); ok || len(e.Errors()) != 1 {
		t.Errorf("a missing value is not reported: %v, %q", ok, e.Errors())
	}
}

func TestPrintingAPathTakesNoMemory(t *testing.T) {
	e := env(t, order)
	items, err := e.List(parse(t, `{{for p in products}}`))
	if err != nil {
		t.Fatal(err)
	}
	text, number, outer := parse(t, `{{p.name}}`), parse(t, `{{p.price}}`), parse(t, `{{invoice.customer.name}}`)
	loop := &lang.Tag{Kind: lang.For, Var: "p"}
	each := func() {
		for i, item := range items {
			e.Push(loop, item, i, len(items))
			for _, tag := range []*lang.Tag{text, number, outer} {
				if s, ok, err := e.Print(tag); s == "" || !ok || err != nil {
					t.Fatal(s, ok, err)
				}
			}
			e.Pop()
		}
	}
	if n := testing.AllocsPerRun(10, each); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLimits(t *testing.T) {
	t.Run("steps", func(t *testing.T) {
		e := lang.NewEnv(lang.NewObject([]string{"list"}, []lang.Value{make([]any, 100)}), lang.Options{Meter: meter(t, 1000)})
		tag := parse(t, `{{$count(list)}}`)
		var err error
		for n := 0; err == nil; n++ {
			if n > 10 {
				t.Fatal("no limit")
			}
			_, _, err = e.Print(tag)
		}
		limit, ok := errors.AsType[*lang.LimitError](err)
		if !ok || limit.Text != tag.Text || limit.Offset != 2 {
			t.Fatalf("got %#v", err)
		}
		want := "{{$count(list)}} at character 3: The document exceeds its budget of 1000 steps of work. " +
			"Use shorter lists, fewer nested loops, or fewer filters, or have the operator raise --document-steps."
		if limit.Error() != want || limit.Picture() != "{{$count(list)}}\n  ^" {
			t.Errorf("got %s\n%s", limit, limit.Picture())
		}
	})
	t.Run("text", func(t *testing.T) {
		part := strings.Repeat("x", lang.MaxText/2)
		for _, tag := range []string{`{{list}}`, `{{$join(list)}}`} {
			e := lang.NewEnv(lang.NewObject([]string{"list"}, []lang.Value{[]any{part, part}}), lang.Options{})
			_, _, err := e.Print(parse(t, tag))
			if _, ok := errors.AsType[*lang.LimitError](err); !ok {
				t.Errorf("%s: got %v", tag, err)
			}
		}
	})
	t.Run("reports", func(t *testing.T) {
		e := lang.NewEnv(new(lang.Object), lang.Options{})
		for n := range lang.MaxReports + 5 {
			if _, _, err := e.Print(parse(t, fmt.Sprintf("{{x%d}}", n))); err != nil {
				t.Fatal(err)
			}
		}
		errors, warnings := e.Lines()
		if len(errors.Texts) != lang.MaxReports || errors.Omitted != 5 || warnings.Omitted != 0 {
			t.Errorf("%d lines, and %d errors and %d warnings more", len(errors.Texts), errors.Omitted, warnings.Omitted)
		}
	})
}

func TestTagServesManyExecutions(t *testing.T) {
	tag, list := parse(t, `{{x.n * 2 + $sum(l) :: default("-")}}`), parse(t, `{{for x in xs}}`)
	var use lang.Use
	use.Add(list, new(lang.Scope))
	var wg sync.WaitGroup
	for n := range 8 {
		data := env(t, fmt.Sprintf(`{"xs":[{"n":%d}],"l":[1,2],"n":0}`, n))
		wg.Go(func() {
			for range 100 {
				items, err := data.List(list)
				if err != nil || len(items) != 1 {
					t.Error(items, err)
					return
				}
				data.Push(&lang.Tag{Kind: lang.For, Var: "x"}, items[0], 0, 1)
				if s, ok, err := data.Print(tag); s != fmt.Sprint(n*2+3) || !ok || err != nil {
					t.Error(s, ok, err)
				}
				data.Pop()
			}
		})
	}
	wg.Wait()
}

func TestWarningsDoNotGrow(t *testing.T) {
	v, err := lang.Decode([]byte(`{"a":1,"b":2}`))
	if err != nil {
		t.Fatal(err)
	}
	e := lang.NewEnv(v, lang.Options{Use: new(lang.Use)})
	first := e.Warnings()
	if len(first) != 2 || !slices.Equal(first, e.Warnings()) {
		t.Errorf("%q, then %q", first, e.Warnings())
	}
}
