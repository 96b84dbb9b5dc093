package lang_test

import (
	"testing"

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
	"$User": {"Name": "u"}, "größe": "XL", "a": {"2024": "year"}, "loop": {"x": "data"}
}`

func TestPrint(t *testing.T) {
	for _, c := range []struct{ tag, want string }{
		{`{{invoice.id}}`, "INV-1203"},
		{"{{\u00a0 invoice . customer\n.name\u200b }}", "Ada"},
		{`{{invoice.total}}`, "1.50"},
		{`{{invoice.note}}`, ""},
		{`{{invoice.customer.vip}}`, "true"},
		{`{{products[0].name}}`, "Pen"},
		{`{{products[-1].name}}`, "Cap"},
		{"{{`odd key`.`a.b`}}", "odd"},
		{"{{`in`}}", "word"},
		{`{{$User.Name}}`, "u"},
		{`{{größe}}`, "XL"},
		{`{{a.2024}}`, "year"},
		{`{{loop.x}}`, "data"},
		{`{{huge}}`, "12345678901234567890.12"},
		{`{{huge * 1}}`, "12345678901234567890.12"},
		{`{{sci}}`, "1500"},
		{`{{tiny}}`, "0.0015"},
		{`{{tags}}`, "a, b, c"},
		{`{{tags::delimiter("; "),lastdelimiter(" and ")}}`, "a; b and c"},
		{`{{tags :: lastdelimiter(" or ") :: uppercase}}`, "A, B or C"},
		{`{{empty}}`, ""},
		{`{{products.name}}`, "Pen, Ink, Cap"},
		{`{{products.colors}}`, "red, blue"},
		{`{{invoice.missing :: optional}}`, ""},
		{`{{invoice.due::optional}}`, ""},
		{`{{ invoice.missing :: default(“Box Inc“) }}`, "Box Inc"},
		{`{{ invoice.missing :: uppercase :: default('x') }}`, "x"},
		{`{{ invoice.missing :: default(invoice.id), lowercase }}`, "inv-1203"},
		{`{{ invoice.note :: default("d") }}`, ""},
		{`{{ default.x :: default("} }}") }}`, "} }}"},
		{`{{0.1 + 0.2}}`, "0.3"},
		{`{{1 + 2 * 3 - -4}}`, "11"},
		{`{{(1 + 2) * 3 % 5}}`, "4"},
		{`{{10 / 4}}`, "2.5"},
		{`{{10 / 3}}`, "3.3333333333333333"},
		{`{{10 / 3 * 3}}`, "10"},
		{`{{1 / 3 == 2 / 6}}`, "true"},
		{`{{1e-20 / 3 * 3 == 1e-20}}`, "true"},
		{`{{invoice.total + invoice.total}}`, "3"},
		{`{{digits * 2 − 1 × 2 ÷ 1}}`, "18"},
		{`{{-digits}}`, "-10"},
		{`{{$sum(products.price)}}`, "3.6"},
		{`{{$sum(products.quantity) * 2}}`, "28"},
	} {
		tag := parse(t, c.tag)
		e := env(t, order)
		got, ok, err := e.Print(tag)
		if got != c.want || !ok || err != nil {
			t.Errorf("%s = %q, %v, %v, %q; want %q", c.tag, got, ok, err, e.Errors(), c.want)
		}
	}
}
