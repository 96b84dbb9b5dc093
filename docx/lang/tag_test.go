package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx/lang"
)

// tags returns the tags of a text, and follows its loops: see is called for each tag in its scope.
func tags(t testing.TB, text string, see func(*lang.Tag, *lang.Scope)) {
	t.Helper()
	var scope lang.Scope
	found, orphans := lang.Find(text)
	if len(orphans) > 0 {
		t.Fatalf("orphans %v in %s", orphans, text)
	}
	for _, span := range found {
		tag := parse(t, text[span.Start:span.End])
		if tag.Kind == lang.EndFor || tag.Kind == lang.EndTableRow {
			scope.Close()
		}
		see(tag, &scope)
		if tag.Kind.IsLoop() {
			scope.Open(tag)
		}
	}
}

func TestTypeAndPaths(t *testing.T) {
	type listed struct {
		Text, Type string
		Paths      []string
	}
	for _, c := range []struct {
		name, text string
		want       []listed
	}{
		{"every prefix", `{{contract.customerAddress.street}}{{ phone }}`, []listed{
			{`{{contract.customerAddress.street}}`, "text", []string{"contract", "contract.customerAddress", "contract.customerAddress.street"}},
			{`{{ phone }}`, "text", []string{"phone"}},
		}},
		{"filters", `{{a.b :: default(c.d) :: uppercase}}`, []listed{
			{`{{a.b :: default(c.d) :: uppercase}}`, "text", []string{"a", "a.b", "c", "c.d"}},
		}},
		{"loop variable", `{{tablerow item in products}}{{item.name}}{{item.quantity * item.price}}{{item}}{{endtablerow}}{{item.name}}`,
			[]listed{
				{`{{tablerow item in products}}`, "table-loop", []string{"products"}},
				{`{{item.name}}`, "text", []string{"products", "products.name"}},
				{`{{item.quantity * item.price}}`, "arithmetic", []string{"products", "products.quantity", "products.price"}},
				{`{{item}}`, "text", []string{"products"}},
				{`{{item.name}}`, "text", []string{"item", "item.name"}},
			}},
		{"nested loops", `{{for o in shop.orders}}{{for l in o.lines}}{{l.sku}}{{o.id}}{{endfor}}{{endfor}}`, []listed{
			{`{{for o in shop.orders}}`, "for-loop", []string{"shop", "shop.orders"}},
			{`{{for l in o.lines}}`, "for-loop", []string{"shop", "shop.orders", "shop.orders.lines"}},
			{`{{l.sku}}`, "text", []string{"shop", "shop.orders", "shop.orders.lines", "shop.orders.lines.sku"}},
			{`{{o.id}}`, "text", []string{"shop", "shop.orders", "shop.orders.id"}},
		}},
		{"condition", `{{if contract.country == “UK” and contract.city isPresent}}{{elseif x}}{{else}}{{endif}}`, []listed{
			{`{{if contract.country == “UK” and contract.city isPresent}}`, "conditional", []string{"contract", "contract.country",
				"contract.city"}},
			{`{{elseif x}}`, "conditional", []string{"x"}},
		}},
		{"function", `{{$sum(products.amount)}}`, []listed{
			{`{{$sum(products.amount)}}`, "arithmetic", []string{"products", "products.amount"}},
		}},
		{"indexes and odd keys", "{{a[0].`x.y`[1].b}}{{for v in a.`x.y`}}{{v.z}}{{endfor}}", []listed{
			{"{{a[0].`x.y`[1].b}}", "text", []string{"a", "a.`x.y`", "a.`x.y`.b"}},
			{"{{for v in a.`x.y`}}", "for-loop", []string{"a", "a.`x.y`"}},
			{"{{v.z}}", "text", []string{"a", "a.`x.y`", "a.`x.y`.z"}},
		}},
		{"place in the loop", `{{loop.index}}{{for x in xs}}{{loop.index}}{{loop.x}}{{endfor}}`, []listed{
			{`{{loop.index}}`, "text", []string{"loop", "loop.index"}},
			{`{{for x in xs}}`, "for-loop", []string{"xs"}},
			{`{{loop.index}}`, "text", nil},
			{`{{loop.x}}`, "text", []string{"loop", "loop.x"}},
		}},
		{"names for items", `{{$sum(items, quantity * item.price)}}{{for g in items :: where(kind == wanted.kind) :: ` +
			`sort(name)}}{{endfor}}`, []listed{
			{`{{$sum(items, quantity * item.price)}}`, "arithmetic", []string{"items", "items.quantity", "items.price"}},
			{`{{for g in items :: where(kind == wanted.kind) :: sort(name)}}`, "for-loop",
				[]string{"items", "items.kind", "items.wanted", "items.wanted.kind", "items.name"}},
		}},
		{"names for items in a loop", `{{for o in orders}}{{$sum(o.lines, n * o.rate)}}{{$sum(orders, $sum(lines, n))}}{{endfor}}`, []listed{
			{`{{for o in orders}}`, "for-loop", []string{"orders"}},
			{`{{$sum(o.lines, n * o.rate)}}`, "arithmetic", []string{"orders", "orders.lines", "orders.lines.n", "orders.rate"}},
			{`{{$sum(orders, $sum(lines, n))}}`, "arithmetic", []string{"orders", "orders.lines", "orders.lines.n"}},
		}},
		{"groups", `{{for g in items :: group(kind.name)}}{{g.key}}{{for i in ` +
			`g.items}}{{i.price}}{{endfor}}{{$sum(g.items.price)}}{{endfor}}`, []listed{
			{`{{for g in items :: group(kind.name)}}`, "for-loop", []string{"items", "items.kind", "items.kind.name"}},
			{`{{g.key}}`, "text", []string{"items", "items.kind", "items.kind.name"}},
			{`{{for i in g.items}}`, "for-loop", []string{"items"}},
			{`{{i.price}}`, "text", []string{"items", "items.price"}},
			{`{{$sum(g.items.price)}}`, "arithmetic", []string{"items", "items.price"}},
		}},
		{"kinds", `{{logo :: image("4cm")}}{{id :: qrcode}}{{$join(names)}}{{["a", b]}}{{sales :: chart(month, gain)}}`, []listed{
			{`{{logo :: image("4cm")}}`, "image", []string{"logo"}},
			{`{{id :: qrcode}}`, "text", []string{"id"}},
			{`{{$join(names)}}`, "text", []string{"names"}},
			{`{{["a", b]}}`, "text", []string{"b"}},
			{`{{sales :: chart(month, gain)}}`, "text", []string{"sales", "sales.month", "sales.gain"}},
		}},
		{"columns, includes, page breaks", `{{tablecolumn m in months}}{{m}}{{endtablecolumn}}{{include "x"}}{{pagebreak}}`, []listed{
			{`{{tablecolumn m in months}}`, "table-loop", []string{"months"}},
			{`{{m}}`, "text", []string{"months"}},
		}},
		{"no path", `{{1 + 1}}{{"x"}}{{! a.b }}`, []listed{{`{{1 + 1}}`, "arithmetic", nil}, {`{{"x"}}`, "text", nil}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []listed
			tags(t, c.text, func(tag *lang.Tag, s *lang.Scope) {
				if tag.Type() != "" {
					got = append(got, listed{tag.Text, tag.Type(), tag.Paths(s)})
				}
			})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := parse(t, "{{a.b}}").Paths(nil); !cmp.Equal(got, []string{"a", "a.b"}) {
		t.Errorf("without loops: %q", got)
	}
}

func TestUnusedInput(t *testing.T) {
	const data = `{
		"invoice": {"id": 1, "customer": {"name": "Ada", "phone": "1"}},
		"products": [{"name": "a", "price": 1}, {"name": "b", "weight": 2, "maker": {"name": "m"}}],
		"odd key": {"x": 1}, "loop": 1
	}`
	for _, c := range []struct {
		name, template string
		want           []string
	}{
		{"nothing", ``, []string{"`odd key`", "invoice", "loop", "products"}},
		{"highest key", "{{invoice.id}}{{products}}{{`odd key`.x}}{{loop}}", []string{"invoice.customer"}},
		{"keys of items", "{{for p in products}}{{p.name}}{{endfor}}{{invoice}}{{`odd key`}}{{loop}}",
			[]string{"products.maker", "products.price", "products.weight"}},
		{"looked at only", "{{if products}}{{tablerow p in products}}{{p.maker.name}}{{endtablerow}}{{endif}}" +
			"{{if invoice isPresent and not loop}}{{invoice.customer.name}}{{endif}}{{if $count(products) > 1}}{{endif}}{{`odd key`}}",
			[]string{"invoice.customer.phone", "invoice.id", "products.name", "products.price", "products.weight"}},
		{"all read", "{{invoice}}{{$sum(products.price)}}{{products[0].name}}{{for p in products}}{{p}}{{endfor}}" +
			"{{x :: default(loop)}}{{if `odd key`.x > 1}}{{endif}}", nil},
		{"place is no input", "{{for p in products}}{{p}}{{loop.index}}{{endfor}}{{invoice}}{{`odd key`}}", []string{"loop"}},
		{"names for items", "{{$sum(products, price * weight * loop)}}{{for p in products :: group(maker.name)}}{{p.key}}" +
			"{{for x in p.items :: where(name == invoice.id)}}{{x.name}}{{endfor}}{{endfor}}{{`odd key`}}", []string{"invoice.customer"}},
		{"variable hides a key", "{{for loop in products}}{{loop}}{{endfor}}{{invoice}}{{`odd key`}}", []string{"loop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var use lang.Use
			tags(t, c.template, use.Add)
			v, err := lang.Decode([]byte(data))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, path := range c.want {
				want = append(want, "The tag '"+path+"' was provided but not used in the template.")
			}
			got := lang.NewEnv(v, lang.Options{Use: &use}).Warnings()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
