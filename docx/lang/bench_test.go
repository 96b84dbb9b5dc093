package lang_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"platen/docx/lang"
)

// The floors are the least that must happen for the same result with the same data: the lookups and additions
// themselves, written out.

var sink string

func get(v lang.Value, keys ...string) lang.Value {
	for _, key := range keys {
		v = v.(*lang.Object).Get(key)
	}
	return v
}

func BenchmarkPrint(b *testing.B) {
	v, err := lang.Decode([]byte(order))
	if err != nil {
		b.Fatal(err)
	}
	e := lang.NewEnv(v, lang.Options{Meter: unlimited(b)})
	printing := func(name, text string) {
		tag := parse(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, ok, err := e.Print(tag)
				if !ok || err != nil {
					b.Fatal(ok, err)
				}
				sink = s
			}
		})
	}
	b.Run("path/floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink = get(v, "invoice", "customer", "name").(string)
		}
	})
	printing("path", `{{invoice.customer.name}}`)
	printing("number", `{{invoice.total}}`)
	printing("filter", `{{invoice.none :: default("x")}}`)
	e.Push(&lang.Tag{Kind: lang.For, Var: "p"}, get(v, "products").([]any)[0], 0, 3)
	printing("variable", `{{p.name}}`)
	printing("delimiter", `{{p.name :: delimiter(", ")}}`)
}

func BenchmarkExpr(b *testing.B) {
	v, err := lang.Decode([]byte(order))
	if err != nil {
		b.Fatal(err)
	}
	e := lang.NewEnv(v, lang.Options{Meter: unlimited(b)})
	b.Run("product/floor", func(b *testing.B) {
		b.ReportAllocs()
		p := get(v, "products").([]any)[0]
		for b.Loop() {
			x, _ := decimal.NewFromString(string(get(p, "quantity").(json.Number)))
			y, _ := decimal.NewFromString(string(get(p, "price").(json.Number)))
			sink = x.Mul(y).String()
		}
	})
	e.Push(&lang.Tag{Kind: lang.For, Var: "p"}, get(v, "products").([]any)[0], 0, 3)
	product := parse(b, `{{p.quantity * p.price}}`)
	b.Run("product", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, ok, err := e.Print(product)
			if !ok || err != nil {
				b.Fatal(ok, err)
			}
			sink = s
		}
	})
	for name, text := range map[string]string{
		"equal": `{{if invoice.id == "INV-1203"}}`, "greater": `{{if p.quantity > 2}}`, "truth": `{{if invoice.customer.vip}}`,
	} {
		tag := parse(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := e.Test(tag); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// rows is an input with a table of n rows.
func rows(n int) []byte {
	var s strings.Builder
	s.WriteString(`{"rows":[`)
	for i := range n {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `{"id":%d,"name":"Item %d","price":%d.50,"quantity":2,"note":"x"}`, i, i, i)
	}
	s.WriteString(`]}`)
	return []byte(s.String())
}

func BenchmarkSum10000(b *testing.B) {
	v, err := lang.Decode(rows(10_000))
	if err != nil {
		b.Fatal(err)
	}
	e, tag := lang.NewEnv(v, lang.Options{Meter: unlimited(b)}), parse(b, `{{$sum(rows.price)}}`)
	for b.Loop() {
		if _, ok, err := e.Print(tag); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkUnused10000(b *testing.B) {
	v, err := lang.Decode(rows(10_000))
	if err != nil {
		b.Fatal(err)
	}
	var use lang.Use
	tags(b, `{{for r in rows}}{{r.id}}{{r.name}}{{r.price * r.quantity}}{{endfor}}`, use.Add)
	e := lang.NewEnv(v, lang.Options{Use: &use})
	for b.Loop() {
		if len(e.Warnings()) != 1 {
			b.Fatal(e.Warnings())
		}
	}
}

// BenchmarkDecode10000 compares with encoding/json on the same input.
func BenchmarkDecode10000(b *testing.B) {
	data := rows(10_000)
	b.Run("platen", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := lang.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var v map[string]any
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkParseTag(b *testing.B) {
	for _, text := range []string{`{{invoice.customer.name}}`, `{{if a.b == "UK" and (c.d > 1 or e isPresent)}}`} {
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lang.ParseTag(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("Dear {{customer.name}}, it’s {a} long way. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		lang.Find(text)
	}
}

// BenchmarkFilter writes values as documents want them.
func BenchmarkFilter(b *testing.B) {
	v, err := lang.Decode([]byte(order))
	if err != nil {
		b.Fatal(err)
	}
	e := lang.NewEnv(v, lang.Options{Meter: unlimited(b)})
	for name, text := range map[string]string{
		"picture":  `{{invoice.total :: format("#,##0.00")}}`,
		"currency": `{{invoice.total :: currency("EUR")}}`,
		"date":     `{{"2026-03-05" :: date("d MMMM yyyy")}}`,
		"box date": `{{"05-03-2026" :: format("dd-mmm-yy")}}`,
		"bold":     `{{invoice.id :: bold}}`,
		"sort":     `{{products :: sort(price) :: count}}`,
		"sum":      `{{$sum(products, quantity * item.price)}}`,
	} {
		tag := parse(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, _, ok, err := e.Show(tag)
				if !ok || err != nil {
					b.Fatal(ok, err)
				}
				sink = s
			}
		})
	}
}
