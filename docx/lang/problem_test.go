package lang_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx/lang"
)

const problemData = `{
	"customer": {"name": "Ada", "first_name": "A", "vatId": "GB1", "phone": null, "address": {"zip-code": "1"}, "pets": [{"id": 1}]},
	"items": [{"name": "Pen", "unit": "pcs"}, {"name": "Ink", "net price": 2, "parts": [{"id": 1}]}, 7],
	"total": 10, "note": "", "empty": {}, "one": {"k": 1}, "due": null, "dueDate": "2026-01-01",
	"many": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1, "j": 1}
}`

func TestProblems(t *testing.T) {
	const asked = "the input has the keys customer, items, total, note, empty, one, due, dueDate and others"
	for _, c := range []struct{ tag, nearest, hint string }{
		{`{{custmer.name}}`, "customer.name", ""},
		{`{{customer.nme}}`, "customer.name", ""},
		{`{{customer.naem}}`, "customer.name", ""},
		{`{{custmer.nmae}}`, "customer.name", ""},
		{`{{Customer.Name}}`, "customer.name", ""},
		{`{{customer.firstName}}`, "customer.first_name", ""},
		{`{{customer.vat_id}}`, "customer.vatId", ""},
		{`{{customer.address.zipcode}}`, "customer.address.`zip-code`", ""},
		{`{{items.naem}}`, "items.name", ""},
		{`{{items[0].nam}}`, "items[0].name", ""},
		{`{{items.netprice}}`, "items.`net price`", ""},
		{`{{items.parts.ids}}`, "items.parts.id", ""},
		{`{{itms[-1]}}`, "items[-1]", ""},
		{`{{name}}`, "customer.name", ""},
		{`{{total * tootal}}`, "total", ""},
		{`{{$sum(items, nett_price)}}`, "`net price`", ""},
		{`{{items :: sort(nam) :: first :: default(nobody)}}`, "", ""},

		{`{{nothing}}`, "", asked},
		{`{{due}}`, "", "the key exists, but its value is null"},
		{`{{due.date}}`, "", "'due' is null"},
		{`{{customer.phone}}`, "", "the key exists, but its value is null"},
		{`{{customer.name.first}}`, "", "'customer.name' is text, which has no keys"},
		{`{{total.amount}}`, "", "'total' is a number, which has no keys"},
		{`{{items[3].name}}`, "", "'items' has 3 items"},
		{`{{empty.x}}`, "", "'empty' is an empty object"},
		{`{{one.x1x}}`, "", "'one' has only the key k"},
		{`{{customer.address.street}}`, "", "'customer.address' has only the key zip-code"},
		{`{{many.name}}`, "", "'many' has the keys a, b, c, d, e, f, g, h and others"},
		{`{{items.colour}}`, "", ""},
	} {
		e := env(t, problemData)
		if _, _, err := e.Print(parse(t, c.tag)); err != nil {
			t.Fatal(err)
		}
		checkProblems(t, e)
		problems := e.Problems()
		if strings.Contains(c.tag, "default") { // the value was there
			continue
		}
		if c.nearest != "" {
			c.hint = "did you mean '" + c.nearest + "'?"
		}
		if len(problems) != 1 || problems[0].Nearest != c.nearest || problems[0].Hint != c.hint || problems[0].Tag.Text != c.tag {
			t.Errorf("%s: %+v; want %q, %q", c.tag, problems, c.nearest, c.hint)
		}
	}
}

// checkProblems checks that the problems are the errors and warnings, in that order, each for one tag or more.
func checkProblems(t *testing.T, e *lang.Env) {
	t.Helper()
	var errors, warnings []string
	for _, p := range e.Problems() {
		lines := &errors
		if p.Warning {
			lines = &warnings
		}
		if !slices.Contains(*lines, p.Message) {
			*lines = append(*lines, p.Message)
		}
	}
	if diff := cmp.Diff(e.Errors(), errors); diff != "" {
		t.Errorf("errors: %s", diff)
	}
	if diff := cmp.Diff(e.Warnings(), warnings); diff != "" {
		t.Errorf("warnings: %s", diff)
	}
}

func TestProblemsInLoops(t *testing.T) {
	for _, c := range []struct{ template, path, nearest string }{
		{`{{for item in items}}{{item.naem :: default("")}}{{item.naem}}{{endfor}}`, "item.naem", "item.name"},
		{`{{for item in items}}{{itm.name}}{{endfor}}`, "itm.name", "item.name"},
		{`{{for item in items}}{{unit}}{{endfor}}`, "unit", "item.unit"},
		{`{{for item in items}}{{item.total}}{{endfor}}`, "item.total", "total"},
		{`{{for item in items}}{{for p in customer.pets}}{{p.name}}{{endfor}}{{endfor}}`, "p.name", ""},
		{`{{for item in items}}{{for p in customer.pets}}{{p.Id}}{{endfor}}{{endfor}}`, "p.Id", "p.id"},
		{`{{for item in itms}}{{endfor}}`, "itms", "items"},
	} {
		e := env(t, problemData)
		run(t, e, c.template)
		checkProblems(t, e)
		problems := e.Problems()
		if len(problems) == 0 || problems[0].Path != c.path || problems[0].Nearest != c.nearest {
			t.Errorf("%s: %+v; want %q", c.template, problems, c.nearest)
		}
	}
}

func TestProblemsOfEachTag(t *testing.T) {
	e := env(t, `{"items":[1,2,3]}`)
	first, second := parse(t, `{{gone}}`), parse(t, `{{gone :: uppercase}}`)
	for range 3 {
		for _, tag := range []*lang.Tag{first, second} {
			if _, _, err := e.Print(tag); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkProblems(t, e)
	if got := e.Problems(); len(got) != 2 || got[0].Tag != first || got[1].Tag != second || len(e.Errors()) != 1 {
		t.Errorf("%d problems of two tags with %d lines, want 2 with 1", len(got), len(e.Errors()))
	}
}

func TestProblemsOfUnusedInput(t *testing.T) {
	var use lang.Use
	tags(t, `{{customer.name}}{{customer.e_mail}}{{for i in items}}{{i.netPrice}}{{endfor}}`, use.Add)
	v, err := lang.Decode([]byte(`{"customer":{"name":"A","eMail":"x"},"items":[{"netPrice":1,"NetPrice":1},{"net-price":2}],"x":1}`))
	if err != nil {
		t.Fatal(err)
	}
	e := lang.NewEnv(v, lang.Options{Use: &use})
	checkProblems(t, e)
	got := map[string]string{}
	for _, p := range e.Problems() {
		if !p.Warning || p.Tag != nil {
			t.Errorf("%+v", p)
		}
		got[p.Path] = p.Hint
	}
	want := map[string]string{
		"customer.eMail": "the template reads 'customer.e_mail', which was not provided", "items.NetPrice": "", "x": "",
		"items.`net-price`": "the template reads 'items.netPrice', which was not provided",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzProblems checks that a path that is said to be meant exists.
func FuzzProblems(f *testing.F) {
	for _, tag := range []string{`custmer.name`, `x.parts[0].idd`, `name`, "`it ems`.name"} {
		f.Add([]byte(problemData), tag)
	}
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		v, err := lang.Decode(data)
		tag, syntax := lang.ParseTag("{{" + path + "}}")
		if err != nil || syntax != nil || tag.Kind != lang.Print {
			return
		}
		e := lang.NewEnv(v, lang.Options{Use: new(lang.Use)})
		e.Push(&lang.Tag{Kind: lang.For, Var: "x"}, v, 0, 1)
		if _, _, err := e.Print(tag); err != nil {
			if _, ok := errors.AsType[*lang.LimitError](err); !ok {
				t.Fatal(err)
			}
		}
		checkProblems(t, e)
		for _, p := range e.Problems() {
			if p.Nearest == "" || p.Warning || strings.Contains(path, "$") || strings.Contains(path, "::") {
				continue
			}
			meant, err := lang.ParseTag("{{" + p.Nearest + "}}")
			if err != nil { // a key with a backquote cannot be written
				continue
			}
			if v, ok, err := e.Value(meant); err != nil || !ok || v == nil {
				t.Fatalf("%s: %s is not there", path, p.Nearest)
			}
		}
	})
}

func BenchmarkProblems(b *testing.B) {
	var keys strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&keys, `"someLongerKey%d":1,`, i)
	}
	e := env(b, `{`+keys.String()+`"z":0}`)
	for i := range lang.MaxReports {
		if _, _, err := e.Print(parse(b, fmt.Sprintf("{{anotherLongerKey%d}}", i))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		e.Problems()
	}
}

func TestSizesAndPositionsOfOtherLanguages(t *testing.T) {
	for _, c := range []struct{ template, hint string }{
		{`{{name.length}}`, "write $length(name)"},
		{`{{items.length}}`, "write $count(items)"},
		{`{{items.0.q}}`, "write the position in brackets: items[0]"},
		{`{{name[0]}}`, "'name' is text, not a list; for a part of it, write {{name :: slice(0, 1)}}"},
		{`{{for i in items}}{{loop.length}}{{endfor}}`,
			"a loop has loop.count, loop.first, loop.index, loop.last, loop.number, loop.parent"},
		{`{{today}}`, "write {{$today}}"},
		{`{{Now}}`, "write {{$now}}"},
		{`{{x}}`, "the input has the keys name, items and n"},
		{`{{game}}`, "the input has the keys name, items and n"},
		{`{{name.first}}`, "'name' is text, which has no keys"},
	} {
		e := env(t, `{"name": "Ada", "items": [{"q": 5}], "n": 1}`)
		run(t, e, c.template)
		if problems := e.Problems(); len(problems) == 0 || problems[0].Hint != c.hint {
			t.Errorf("%s: %+v; want %q", c.template, problems, c.hint)
		}
	}
}

func TestHyphensAreNoSubtraction(t *testing.T) {
	for _, c := range []struct{ template, nearest string }{
		{`{{first-name}}`, "`first-name`"},
		{`{{customer.date-of-birth}}`, "customer.`date-of-birth`"},
		{`{{if customer.vat-id}}{{endif}}`, "customer.`vat-id`"},
		{`{{for i in items :: where(i.net-price > 1)}}{{endfor}}`, "i.`net-price`"},
		{`{{for i in items}}{{i.net-price :: currency("EUR")}}{{endfor}}`, "i.`net-price`"},
		{`{{$sum(items, net-price * 2)}}`, "`net-price`"},
		{`{{unknown - b}}`, ""},
	} {
		e := env(t, `{"first-name": "Ada", "customer": {"date-of-birth": "1815-12-10", "vat-id": "GB1"}, "items": [{"net-price": 5}], "b": 1}`)
		run(t, e, c.template)
		problems := e.Problems()
		if len(problems) == 0 || problems[0].Nearest != c.nearest {
			t.Errorf("%s: %+v; want %q", c.template, problems, c.nearest)
		}
	}
	for template, hint := range map[string]string{
		`{{order-nr}}`:        "a key with a hyphen needs backquotes: {{`order-nr`}}",
		`{{order.nr-of}}`:     "a key with a hyphen needs backquotes: {{order.`nr-of`}}",
		`{{order.id - nr}}`:   "the input has only the key order",
		`{{order.id-nr * 2}}`: "a key with a hyphen needs backquotes: {{order.`id-nr`}}",
	} {
		e := env(t, `{"order": {"id": 1}}`)
		run(t, e, template)
		if problems := e.Problems(); len(problems) == 0 || problems[len(problems)-1].Hint != hint {
			t.Errorf("%s: %+v; want %q", template, problems, hint)
		}
	}
}

// TestProblemsOfKeys checks that warnings about keys have their tag, and the key that was meant.
func TestProblemsOfKeys(t *testing.T) {
	const data = `{"customer": {"vip": true}, "limit": 2, "items": [{"name": "Pen", "price": 3, "d": {"x": 1}, "parts": [{"size": 1}]}],
		"tot": {"north": {"count": 1}}}`
	for _, c := range []struct{ template, message, nearest string }{
		{`{{if custmer.vip}}{{endif}}`, "custmer.vip", "customer.vip"},
		{`{{if customer.VIP}}{{endif}}`, "customer.VIP", "customer.vip"},
		{`{{for i in items :: where(prize > 1)}}{{endfor}}`, "items.prize", "price"},
		{`{{for i in items :: where(i.prize > 1)}}{{endfor}}`, "items.prize", "i.price"},
		{`{{items :: where(item.prize > 1) :: count}}`, "items.prize", "item.price"},
		{`{{items :: where(item.d.xx > 1) :: count}}`, "items.d.xx", "item.d.x"},
		{`{{items :: where(price > limt) :: count}}`, "items.limt", "limit"},
		{`{{items :: where($count(parts, sise > 1) > 0) :: count}}`, "items.parts.sise", "size"},
		{`{{for i in items}}{{if i.nmae == "x"}}{{endif}}{{endfor}}`, "i.nmae", "i.name"},
		{`{{for k, v in tot :: where(v.cuont > 1)}}{{endfor}}`, "tot.cuont", "v.count"},
		{`{{for k, v in tot :: where(cuont > 1)}}{{endfor}}`, "tot.cuont", "count"},
		{`{{for k, v in tot}}{{if v.cuont > 1}}{{endif}}{{endfor}}`, "v.cuont", "v.count"},
	} {
		var use lang.Use
		e := lang.NewEnv(decode(t, data), lang.Options{Use: &use})
		r := rendering{t: t, env: e, use: &use}
		if err := r.parse(c.template); err != nil {
			t.Fatal(err)
		}
		r.run(0, len(r.pieces))
		problems := e.TagProblems()
		if len(problems) != 1 || problems[0].Tag == nil || problems[0].Nearest != c.nearest || !problems[0].Warning ||
			problems[0].Message != "The key '"+c.message+"' was not provided in the input data." {
			t.Errorf("%s: %+v; want %q", c.template, problems, c.nearest)
		}
	}
}

func decode(t *testing.T, data string) lang.Value {
	t.Helper()
	v, err := lang.Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestData checks that problems name the value as Schema.Check does.
func TestData(t *testing.T) {
	const data = `{"order": {"items": [{"qty": 1}, {"qty": "x", "parts": [{"n": 1}, {}]}, {"qty": 3}]}, "list": [1, "x"], "one": {"qty": "y"}}`
	for _, c := range []struct{ template, datum, line string }{
		{`{{for i in order.items}}{{i.qty * 2}}{{endfor}}`, "order.items[1].qty",
			"The tag 'i.qty * 2' could not be computed: 'i.qty' (order.items[1].qty) is text, not a number."},
		{`{{for i in order.items :: sort(i.qty, "desc")}}{{i.qty * 2}}{{endfor}}`, "order.items[1].qty", ""},
		{`{{$sum(order.items, qty * 2)}}`, "order.items[1].qty", ""},
		{`{{for i in order.items}}{{for p in i.parts :: optional}}{{p.n}}{{endfor}}{{endfor}}`, "order.items[1].parts[1].n",
			"The tag 'p.n' (order.items[1].parts[1].n) was not provided in the input data."},
		{`{{for x in list}}{{x :: percent}}{{endfor}}`, "list[1]", ""},
		{`{{for x in one}}{{x.qty :: percent}}{{endfor}}`, "one.qty", ""},
		{`{{order.items[-2].qty :: percent}}`, "order.items[1].qty", ""},
		{`{{order.total}}`, "order.total", "The tag 'order.total' was not provided in the input data."},
		{`{{order.items.price}}`, "order.items[0].price",
			"The tag 'order.items.price' (order.items[0].price) was not provided in the input data."},
	} {
		e := env(t, data)
		run(t, e, c.template)
		problems := e.Problems()
		if len(problems) != 1 || problems[0].Datum != c.datum || c.line != "" && problems[0].Message != c.line {
			t.Errorf("%s: %+v; want %q", c.template, problems, c.datum)
		}
	}
}
