package lang_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"platen/docx/lang"
)

func schema(t testing.TB, template string) *lang.Schema {
	t.Helper()
	var use lang.Use
	tags(t, template, use.Add)
	return use.Schema()
}

// brief writes a schema in few words: * after what is required, types by their first letters, lists in brackets.
func brief(t testing.TB, s *lang.Schema) string {
	t.Helper()
	written, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	v, err := lang.Decode(written)
	if err != nil {
		t.Fatal(err)
	}
	return briefValue(v.(*lang.Object))
}

func briefValue(o *lang.Object) string {
	types, _ := o.Get("type").([]any)
	word, _ := o.Get("type").(string)
	if len(types) > 0 {
		word = types[0].(string)
	}
	if len(types) > 2 {
		word = "single"
	}
	for _, more := range []string{"format", "contentEncoding"} {
		if s, ok := o.Get(more).(string); ok {
			word = s
		}
	}
	switch word {
	case "":
		word = "any"
	case "array":
		return "[" + briefValue(o.Get("items").(*lang.Object)) + "]"
	case "object":
		required, _ := o.Get("required").([]any)
		var parts []string
		for key, below := range o.Get("properties").(*lang.Object).All() {
			for _, name := range required {
				if name == key {
					key += "*"
				}
			}
			parts = append(parts, key+" "+briefValue(below.(*lang.Object)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if entries, ok := o.Get("enum").([]any); ok {
		list, _ := json.Marshal(entries)
		word += "=" + string(list)
	}
	if examples, ok := o.Get("examples").([]any); ok {
		list, _ := json.Marshal(examples)
		word += string(list)
	}
	return word
}

func TestSchema(t *testing.T) {
	for _, c := range []struct{ template, want string }{
		{`no tags`, `{}`},
		{`{{a.b.c}} {{a.d}} {{e}}`, `{a* {b* {c* single}, d* single}, e* single}`},
		{`{{a :: optional}} {{b.c :: default(d)}}`, `{a single, b {c single}, d single}`},
		{`{{a :: optional}} {{a}}`, `{a* single}`},
		{`{{a * 2 + -b}}`, `{a* number, b* number}`},
		{`{{$round(a, 2)}} {{$string(b, " ", c)}} {{$length(d)}}`, `{a* number, b* single, c* single, d* any["text"]}`},

		{`{{a :: currency("EUR")}} {{b :: percent}} {{c :: trim :: currency("EUR") :: uppercase}}`, `{a* number, b* number, c* number}`},
		{`{{a :: format("#,##0.00")}} {{b :: format("EU-Number")}} {{c :: format("xxx-xxxx")}}`, `{a* number, b* number, c* single}`},
		{`{{a :: format("dd-mm-yyyy")}} {{b :: date("d MMMM yyyy")}} {{c :: time("HH:mm")}} {{b}}`, `{a* date, b* date, c* date-time}`},
		{`{{a :: add("1 month") :: date}} {{b :: add(5)}} {{c :: format("dd.mm.yyyy HH:mm")}} {{$days(d, e) :: optional}}`,
			`{a* date, b* number, c* date-time, d date, e date}`},
		{`{{a :: image("4cm")}} {{b :: checkbox}} {{c :: html}} {{d :: qrcode}}`, `{a* base64, b* boolean, c* string, d* single}`},
		{`{{a :: split(",") :: first}} {{b :: trim :: checkbox}}`, `{a* single, b* boolean}`},

		{`{{if a}}{{endif}}{{if b.c isPresent}}{{endif}}`, `{a any, b {c any}}`},
		{`{{if a == "UK" or a == "US"}}{{endif}}{{if n > 2}}{{endif}}{{if b == true}}{{endif}}`,
			`{a single["UK","US"], n number[3], b boolean[true]}`},
		{`{{if a in ["x", "y"]}}{{endif}}{{if "z" in b}}{{endif}}{{if c contains "z"}}{{endif}}`,
			`{a single["x","y"], b any[["z"]], c any[["z"]]}`},
		{`{{if a * 2 > b}}{{endif}}{{if not c and (d or e == null)}}{{endif}}{{if $today > f}}{{endif}}`,
			`{a number, b number, c any, d any, e any, f date}`},
		{`{{if a}}{{b}}{{endif}}{{c}}`, `{a any, b single, c* single}`},
		{`{{if a}}{{a}}{{endif}}`, `{a single}`},
		{`{{if a}}{{a.b}}{{endif}}`, `{a {b* single}}`},
		{`{{if a.x}}{{a.b}}{{else}}{{a.c}}{{endif}}`, `{a {x any, b single, c single}}`},
		{`{{if a}}{{else if b}}{{b.c}}{{a.d}}{{endif}}`, `{a {d single}, b {c* single}}`},
		{`{{if a}}{{if b}}{{a.c}}{{endif}}{{a.d}}{{endif}}{{a.e}}`, `{a* {c single, d* single, e* single}, b any}`},

		{`{{for x in a.b}}{{x.c}}{{x.d :: optional}}{{endfor}}`, `{a* {b* [{c* single, d single}]}}`},
		{`{{for x in a :: optional}}{{x}}{{endfor}}{{for y in b}}{{endfor}}`, `{a [single], b* [any]}`},
		{`{{tablerow x in a}}{{for y in x.ys}}{{y.v * x.w}}{{endfor}}{{loop.index}}{{endtablerow}}`, `{a* [{ys* [{v* number}], w* number}]}`},
		{`{{if a}}{{for x in a}}{{x.b}}{{endfor}}{{endif}}`, `{a [{b* single}]}`},
		{`{{for x in a}}{{if x.c}}{{x.d}}{{top}}{{endif}}{{endfor}}`, `{a* [{c any, d single}], top single}`},
		{`{{for x in a :: where(p > 10) :: sort(n) :: first(3)}}{{x.v}}{{endfor}}`, `{a* [{p number[11], n single, v* single}]}`},
		{`{{for g in a :: group(city)}}{{g.key}}{{for x in g.items}}{{x.v}}{{endfor}}{{endfor}}`, `{a* [{city* single, v* single}]}`},
		{`{{for x in csv :: split(",")}}{{x}}{{endfor}}`, `{csv* single}`},

		{`{{a[0].b}} {{c[-1]}}`, `{a* [{b single}], c* [single]}`},
		{`{{$sum(a.p)}} {{$sum(b)}} {{$sum(o.lines.p)}}`, `{a* [{p number}], b* [number], o* {lines* [{p number}]}}`},
		{`{{$sum(a, q * p)}} {{$count(b)}} {{$max(o.vs)}} {{o.id}}`, `{a* [{q number, p number}], b* [any], o* {vs* [number], id* single}}`},
		{`{{a :: delimiter(", ")}} {{b :: join("; ")}} {{for x in c}}{{x.n :: delimiter(", ")}}{{endfor}}`,
			`{a* [single], b* [single], c* [{n* single}]}`},
		{`{{a :: sort :: first}} {{b :: count}} {{d :: slice(0, 2)}}`, `{a* [single], b* [any], d* single}`},
		{`{{a :: chart(month, sales)}}`, `{a* [{month single, sales number}]}`},
		{`{{a :: chart(item, b[key], c[1].d[key], e[key].f) :: errorbars(g[key])}}`,
			`{a* [single], b [number], c [{d [number]}], e [{f number}], g [number]}`},
		{`{{a.b :: chart(c[key], item)}}{{for r in rs}}{{r.a :: chart(item, r.b[key])}}{{endfor}}`,
			`{a* {b* [number]}, c [single], rs* [{a* [single], b [number]}]}`},
		{`{{a :: chart(item, key)}}{{b :: chart(key, x[key])}}`, `{a* [single], b* [{key single["first"], x any[{"first":12}]}]}`},
		{`{{$lookup(a, "k", b, "v.w")}} {{$lookup(c, "k.l") * 2}}`,
			`{a* [{k single["A-1001"], v {w single}}], b* single["A-1001"], c* {k* {l* number}}}`},
		{`{{a :: barcode("ean8")}} {{b :: link}} {{c :: span(n)}} {{d :: ordinal}}`,
			`{a* single["96385074"], b* string["https://example.com/","https://example.org/"], c* single, n number[2], d* number[3,1]}`},
		{`{{if a < b}}{{endif}}{{if c > 2 * d}}{{endif}}{{if e == $sum(f)}}{{endif}}`,
			`{a any[1], b any[1], c number, d number, e number, f [number]}`},
		{`{{a :: oneof("x", "y")}} {{b :: trim :: oneof(1, "z")}} {{c :: lowercase :: oneof("v")}}`,
			`{a* string=["x","y"], b* single[1,"z"], c* single["v"]}`},
		{`{{include a.b :: oneof("f/x.docx", "y.docx")}}{{c}}{{else}}{{a.d}}{{endif}}{{e}}`,
			`{a* {b* string=["f/x.docx","y.docx","x","y","x.docx","f/x"], d single}, c single, e* single}`},
		{`{{include a :: oneof("x.docx") :: optional}}{{endif}}`, `{a string=["x.docx","x",null]}`},
		{"{{`odd key`.`a.b`}}", "{odd key* {a.b* single}}"},
	} {
		if got := brief(t, schema(t, c.template)); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.template, got, c.want)
		}
	}
}

func TestSampleOfListsInListsIsShort(t *testing.T) {
	sample, err := schema(t, "{{a"+strings.Repeat("[3].a", 12)+"}}").Sample()
	if n := bytes.Count(sample, []byte("A")); err != nil || n > 5000 || n < 1000 {
		t.Errorf("%d values: %v", n, err)
	}
}

func TestSchemaOfPictures(t *testing.T) {
	var use lang.Use
	use.AddPicture(parse(t, `{{company.logo}}`), new(lang.Scope))
	if got, want := brief(t, use.Schema()), `{company* {logo* base64}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

const invoiceTags = `{{invoice.number}} {{invoice.date :: date("d MMMM yyyy")}} {{customer.name}} {{customer.email :: optional}}
	{{if invoice.status == "paid"}}{{invoice.paidOn}}{{endif}}
	{{for item in items}}{{item.description}} {{item.quantity * item.price :: currency("EUR")}}{{item.note :: default("-")}}{{endfor}}
	{{$sum(items, quantity * price)}} {{logo :: image("4cm")}}`

func TestSchemaJSON(t *testing.T) {
	written, err := json.MarshalIndent(schema(t,
		`{{name}}{{name}}{{if vip == true}}{{name :: uppercase}}{{name :: lowercase}}{{name :: trim}}{{endif}}{{for i in `+
			`items}}{{i.price * 2}}{{endfor}}`), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Input data of the template",
  "type": "object",
  "properties": {
    "name": {
      "description": "Used by {{name}}, {{name :: uppercase}}, {{name :: lowercase}} and 1 more",
      "type": [
        "string",
        "number",
        "boolean"
      ]
    },
    "vip": {
      "description": "Used by {{if vip == true}}",
      "type": [
        "boolean",
        "null"
      ],
      "examples": [
        true
      ]
    },
    "items": {
      "description": "Used by {{for i in items}}",
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "price": {
            "description": "Used by {{i.price * 2}}",
            "type": "number"
          }
        },
        "required": [
          "price"
        ]
      }
    }
  },
  "required": [
    "name",
    "items"
  ]
}`
	if diff := cmp.Diff(want, string(written)); diff != "" {
		t.Error(diff)
	}
}

func TestSample(t *testing.T) {
	sample, err := schema(t, invoiceTags).Sample()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "invoice": {
    "number": "A-1001",
    "date": "2026-11-20",
    "status": "paid",
    "paidOn": "Paid on"
  },
  "customer": {
    "name": "Ada Lovelace",
    "email": "ada.lovelace@example.com"
  },
  "items": [
    {
      "description": "First line of text",
      "quantity": 3,
      "price": 120.50,
      "note": "First line of text"
    },
    {
      "description": "Second line of text",
      "quantity": 1,
      "price": 49.90,
      "note": "Second line of text"
    }
  ],
  "logo": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
}
`
	if diff := cmp.Diff(want, string(sample)); diff != "" {
		t.Error(diff)
	}
}

// checkSchema checks that a schema is valid JSON Schema, that its sample satisfies it, that it can be read back, and that a
// template given its own sample misses nothing.
func checkSchema(t *testing.T, s *lang.Schema) {
	t.Helper()
	written, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	sample, err := s.Sample()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(written))
	if err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.AssertContent()
	if err := compiler.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("the sample %s does not satisfy the schema %s: %v", sample, written, err)
	}
	data, err := lang.Decode(sample)
	if err != nil {
		t.Fatal(err)
	}
	if found := s.Check(data); len(found) > 0 {
		t.Errorf("the sample %s is found wrong: %v", sample, found)
	}
	back, err := lang.ParseSchema(written)
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.MarshalJSON()
	if diff := cmp.Diff(string(written), string(again)); diff != "" || err != nil {
		t.Errorf("read back: %s %v", diff, err)
	}
	if changes := s.Changes(back); !changes.Empty() {
		t.Errorf("changes to itself: %+v", changes)
	}
}

// randomTemplate writes tags at random; no key is a list in one place and something else in another.
func randomTemplate(r *rand.Rand) string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	var b strings.Builder
	var write func(depth int, loops []string)
	path := func(loops []string) string {
		if len(loops) > 0 && r.IntN(2) == 0 {
			return pick(loops...) + pick(".name", ".price", ".part.id")
		}
		return pick("name", "customer.name", "customer.address.city", "total", "due", "a.b.c.d")
	}
	write = func(depth int, loops []string) {
		for range 1 + r.IntN(4) {
			switch p := path(loops); r.IntN(10) {
			case 9:
				b.WriteString(pick(`{{total :: currency("EUR")}}`, `{{due :: date("d MMMM yyyy")}}`, `{{due :: format("dd-mm-yyyy")}}`,
					`{{total :: format("#,##0.00")}}`))
			case 0, 1:
				b.WriteString("{{" + p + pick("", " :: optional", ` :: default("x")`, " :: uppercase", ` :: truncate(5) :: bold`) + "}}")
			case 2:
				b.WriteString("{{" + p + pick(" * ", " + ", " - ") + path(loops) + "}}")
			case 3:
				b.WriteString("{{" + pick("$sum(rows.price)", "$sum(rows, price * 2)", "$count(rows)", "rows.name :: delimiter(\"; \")") + "}}")
			case 4, 5:
				if depth < 3 {
					b.WriteString("{{if " + pick(p, p+` == "x"`, p+" > 2", "not "+p, p+" isPresent") + "}}")
					write(depth+1, loops)
					if r.IntN(2) == 0 {
						b.WriteString("{{else}}")
						write(depth+1, loops)
					}
					b.WriteString("{{endif}}")
				}
			default:
				if depth < 3 {
					v := "v" + string(rune('a'+depth))
					list := pick("rows", "orders", "rows :: where(price > 1)", "orders :: sort(name) :: first(2)")
					if len(loops) > 0 {
						list = pick(list, loops[len(loops)-1]+".rows"+string(rune('a'+depth)))
					}
					b.WriteString("{{for " + v + " in " + list + "}}")
					write(depth+1, append(slices.Clip(loops), v))
					b.WriteString("{{endfor}}")
				}
			}
		}
	}
	write(0, nil)
	return b.String()
}

func TestSchemasOfRandomTemplates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		template := randomTemplate(r)
		s := schema(t, template)
		checkSchema(t, s)
		sample, err := s.Sample()
		if err != nil {
			t.Fatal(err)
		}
		e := env(t, string(sample))
		run(t, e, template)
		for _, line := range append(e.Errors(), e.Warnings()...) {
			if strings.Contains(line, "was not provided") {
				t.Errorf("%s\n%s\n%s", line, template, sample)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func TestSchemaOfAnInvoice(t *testing.T) { checkSchema(t, schema(t, invoiceTags)) }

func TestCheck(t *testing.T) {
	s := schema(t, invoiceTags+`{{for i in items}}{{for c in i.colors}}{{c}}{{endfor}}{{endfor}}`)
	for _, c := range []struct {
		name, data string
		want       []string
	}{
		{"all there", `{"invoice":{"number":1,"date":"2026-01-01"},"customer":{"name":"A"},"items":[{"description":"d","quantity":"3",` +
			`"price":"1.50","colors":[]}],"logo":"x"}`, nil},
		{"nothing", `{}`, []string{"'invoice' is missing", "'customer' is missing", "'items' is missing", "'logo' is missing"}},
		{"misspelled", `{"Invoice":{},"custmer":{},"itms":[],"logo":null}`, []string{
			"'invoice' is missing; did you mean 'Invoice'?", "'customer' is missing; did you mean 'custmer'?",
			"'items' is missing; did you mean 'itms'?", "'logo' is null"}},
		{"wrong kinds", `{"invoice":[],"customer":"A","items":7,"logo":{}}`, []string{
			"'invoice' is a list, not an object", "'customer' is text, not an object", "'items' is a number, not a list",
			"'logo' is an object, not a picture"}},
		{"below", `{"invoice":{"number":{},"date":true},"customer":{"name":["A"],"email":{}},"items":{"description":"d","quantity":"three",` +
			`"price":[],"colors":"red"},"logo":""}`, []string{
			"'invoice.number' is an object, not text or a number", "'invoice.date' is true or false, not a date",
			"'customer.name' is a list, not text or a number", "'customer.email' is an object, not text or a number",
			"'items.quantity' is text, not a number", "'items.price' is a list, not a number", "'items.colors' is text, not a list"}},
		{"few of a kind", `{"invoice":{"number":1,"date":"d"},"customer":{"name":"A"},"items":[` +
			strings.Repeat(`{"description":1,"price":1,"colors":"","qantity":2},`, 20) + `null,7],"logo":""}`, []string{
			"'items[0].quantity' is missing; did you mean 'items[0].qantity'?", "'items[1].quantity' is missing; did you mean 'items[1].qantity'?",
			"'items[2].quantity' is missing; did you mean 'items[2].qantity'?", "'items[21]' is a number, not an object"}},
	} {
		v, err := lang.Decode([]byte(c.data))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range s.Check(v) {
			got = append(got, m.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestChanges(t *testing.T) {
	old := schema(t, `{{a}}{{b :: optional}}{{c.d}}{{c.e}}{{for x in list}}{{x.k}}{{x.gone}}{{endfor}}{{n}}{{for s in names}}{{s}}{{endfor}}`)
	s := schema(t, `{{a}}{{b}}{{c.d}}{{c.f}}{{for x in list}}{{x.k * 2}}{{x.new}}{{x.may :: optional}}{{endfor}}{{for x in `+
		`n}}{{x.v}}{{endfor}}{{for s in names}}{{s * 2}}{{endfor}}`)
	want := lang.Changes{
		Needs: []string{"b", "c.f", "list[].new", "n[].v"},
		Takes: []string{"list[].may"},
		Drops: []string{"c.e", "list[].gone"},
		Retypes: []lang.Retype{
			{Path: "list[].k", Old: "text or a number", New: "a number"},
			{Path: "n", Old: "text or a number", New: "a list with items of an object"},
			{Path: "names", Old: "a list with items of text or a number", New: "a list with items of a number"},
		},
	}
	if diff := cmp.Diff(want, s.Changes(old)); diff != "" {
		t.Error(diff)
	}
}

func TestParseSchemaRefuses(t *testing.T) {
	for data, want := range map[string]string{
		`{`: "ends too early", `{}`: "the top-level type must be object", `{"type":"array"}`: "the top-level type must be object",
		`{"type":"object","properties":{"a b":{"type":"float"}}}`: "schema: `a b`: \"float\" is not a type",
		`{"type":"object","properties":{"a":7}}`:                  "a schema must be an object",
	} {
		if s, err := lang.ParseSchema([]byte(data)); err == nil || s != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", data, s, err, want)
		}
	}
}

// FuzzParseSchema checks that what is read is written so that it can be read again, and that it can be used.
func FuzzParseSchema(f *testing.F) {
	written, err := schema(f, invoiceTags).MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(written, []byte(order))
	f.Add([]byte(`{"type":["object","null"],"properties":{"":{"type":["null"]},"l":{"type":"array"},"e":{"examples":[{"a":1},[[]],null,`+
		`"2"],"type":"number"}}}`), []byte(`{"l":[1]}`))
	f.Fuzz(func(t *testing.T, data, input []byte) {
		s, err := lang.ParseSchema(data)
		if err != nil {
			return
		}
		written, err := s.MarshalJSON()
		if err != nil || !json.Valid(written) {
			t.Fatalf("%s %v", written, err)
		}
		back, err := lang.ParseSchema(written)
		if err != nil {
			t.Fatal(err)
		}
		again, err := back.MarshalJSON()
		if err != nil || !bytes.Equal(written, again) {
			t.Fatalf("%s\n%s\n%v", written, again, err)
		}
		if sample, err := s.Sample(); err != nil || !json.Valid(sample) {
			t.Fatalf("%s %v", sample, err)
		}
		if v, err := lang.Decode(input); err == nil {
			s.Check(v)
		}
	})
}
