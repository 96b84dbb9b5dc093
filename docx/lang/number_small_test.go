package lang

import (
	"encoding/json"
	"testing"
)

// FuzzSmall checks that small numbers are worth, and come out, what the others do.
func FuzzSmall(f *testing.F) {
	for _, s := range [][2]string{
		{"1.10", "3"}, {"-0.00", "0"}, {"999999999999999999", "0.000000000000000001"}, {"-999999999999999999", "-999999999999999999"},
		{".5", "5."}, {"1000000000", "9223372036.854775808"}, {"1e3", " 7 "}, {"1.2.3", "-"}, {"0.1", "0.2"}, {"007", "1234567890123456789"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, s, u string) {
		x, xok := asSmall(s)
		y, yok := asSmall(json.Number(u))
		a, aok := asNumber(s)
		b, bok := asNumber(json.Number(u))
		if xok && (!aok || x.number().Cmp(a.Decimal) != 0) || yok && (!bok || y.number().Cmp(b.Decimal) != 0) {
			t.Fatalf("%q is %v, not %v; %q is %v, not %v", s, x, a, u, y, b)
		}
		if order, ok := compareNumbers(s, json.Number(u)); ok != (aok && bok) || ok && order != a.compare(b) {
			t.Fatalf("%q compares to %q as %d, %v", s, u, order, ok)
		}
		if !xok || !yok {
			return
		}
		for _, op := range []string{"+", "-", "*"} {
			z, ok := x.calculate(op, y)
			if want := calculate(op, a, b); ok && z.number().text() != want.text() {
				t.Fatalf("%s %s %s = %v, not %v", s, op, u, z, want)
			}
		}
		if again, ok := asSmall(a); ok && again.number().text() != a.text() {
			t.Fatalf("%v is %v", a, again)
		}
	})
}
