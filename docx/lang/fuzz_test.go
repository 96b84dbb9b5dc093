package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"platen/budget"
	"platen/docx/locale"
)

// FuzzParseTag checks that every text is read or refused with a place in it, that what is read comes back the same
// when it is printed, and that it can be executed.
func FuzzParseTag(f *testing.F) {
	for _, s := range []string{
		`{{a.b[0].` + "`c d`" + ` :: default("x"), delimiter(“, “)}}`, `{{for x in $join(a, b)}}`, `{{if not a == -1 and (b or c isPresent)}}`,
		`{{else if "a" not in b}}`, `{{$sum(list.n) / 0 % 1e5}}`, `{{! }}`, `{{«é» ≠ ‹\\›}}`, `{{loop.parent.index}}`, `{{((((`, "{{\xff}}",
	} {
		f.Add(s)
	}
	data, err := Decode([]byte(`{"a":{"b":[1,"2",null,{"c":true}]},"b":"text","list":[{"n":1.5},{"n":"x"}],"x":-0}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := ParseTag(text)
		if err != nil {
			syntax, ok := errors.AsType[*SyntaxError](err)
			if !ok || syntax.Offset < 0 || syntax.Offset > len(text) || strings.Contains(syntax.Error(), "\n") {
				t.Fatalf("%#v", err)
			}
			if lines := strings.Split(syntax.Picture(), "\n"); len(lines) != 2 {
				t.Fatalf("%q", lines)
			}
			return
		}
		again, err := ParseTag(tag.String())
		if err != nil || tagShape(again) != tagShape(tag) {
			t.Fatalf("%s is printed as %s: %v", text, tag, err)
		}
		execute(t, tag, data, Options{})
	})
}

// FuzzEvaluate checks that every tag can be executed on every input, with the same result twice, and that only a limit
// ends an execution.
func FuzzEvaluate(f *testing.F) {
	const data = `{"a":[{"n":1,"s":"x","d":"2024-02-29"},{"n":"2.5","s":null},{"s":"é"}],"d":"2024-01-31T23:30:00+02:00",` +
		`"n":-1234567.891,"s":"a,b;c","u":1700000000}`
	for _, tag := range []string{
		`{{n :: format("#,##0.00")}}`, `{{n :: format("EU-Number")}}`, `{{s :: format("xx-xx")}}`, `{{d :: format("dd-mmm-yy")}}`,
		`{{n :: currency("JPY")}}`,
		`{{n :: percent(1)}}`, `{{n :: words}}`, `{{$round(n) :: ordinal}}`, `{{d :: date("EEEE d MMMM y")}}`, `{{d :: time("full")}}`,
		`{{d :: timezone("Asia/Tokyo") :: add("+1 month -3 working days, end of quarter") :: date}}`, `{{u :: date("short")}}`,
		`{{$days(a[0].d, $today)}}`,
		`{{for x in a :: where(n > 1) :: sort(s, "desc", n) :: slice(-2)}}`, `{{for g in a :: group(s) :: unique(key)}}`,
		`{{s :: split(",") :: join}}`,
		`{{$sum(a, n * item.n)}}`, `{{a :: chart(s, n, n * 2)}}`, `{{a :: chart(item, u[key].n)}}`,
		`{{n :: bold(n < 0) :: color("red") :: link(s)}}`,
		`{{s :: image("4cm", 3, "fill")}}`,
		`{{s :: pad(20, "ab", "both") :: truncate(7) :: replace("a", s) :: titlecase}}`, `{{$lookup(a, "n", 1, "s.t")}}`,
		`{{if d > $now or n in [1, a]}}`,
		`{{$string($now, d) :: reverse}}`, `{{a :: first(2) :: last :: default("x")}}`, `{{n :: add(1.5)}}`,
		`{{s :: merge :: span(u) :: checkbox}}`,
	} {
		f.Add(tag, data, "de-CH")
	}
	f.Fuzz(func(t *testing.T, text, data, name string) {
		tag, err := ParseTag(text)
		if err != nil {
			return
		}
		v, err := Decode([]byte(data))
		if err != nil {
			return
		}
		l, _ := locale.Find(name)
		opt := Options{Locale: l, Now: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)}
		if len(data)%2 == 0 {
			opt.Location = time.FixedZone("", len(data)*60)
		}
		if first, second := execute(t, tag, v, opt), execute(t, tag, v, opt); first != second {
			t.Fatalf("%q, then %q", first, second)
		}
	})
}

// execute runs a tag on its own and returns what came of it.
func execute(t *testing.T, tag *Tag, data Value, opt Options) string {
	var use Use
	var scope Scope
	use.Add(tag, &scope)
	opt.Use, opt.Meter = &use, budget.New(t.Context(), budget.Limits{Steps: 100_000})
	e := NewEnv(data, opt)
	e.Push(&Tag{Kind: For, Var: "x"}, data, 0, 2)
	var result any
	var present *Present
	var err error
	switch tag.Kind {
	case Print:
		if result, present, _, err = e.Show(tag); err == nil && tag.Filter("chart") != nil {
			_, _, err = e.Chart(tag)
		}
	case For, TableRow, TableColumn:
		scope.Open(tag)
		result, err = e.List(tag)
	case If, ElseIf:
		result, err = e.Test(tag)
	}
	if _, ok := errors.AsType[*LimitError](err); err != nil && !ok {
		t.Fatalf("%#v", err)
	}
	tag.Paths(&scope)
	return fmt.Sprintf("%s %v %v %q %q", written(result), present, err, e.Errors(), e.Warnings())
}

// written returns a value as text, objects by what they hold.
func written(v Value) string {
	switch v := v.(type) {
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = written(item)
		}
		return "[" + strings.Join(texts, " ") + "]"
	case *Object:
		var b strings.Builder
		for key, at := range v.All() {
			b.WriteString(key + ":" + written(at) + ",")
		}
		return "{" + b.String() + "}"
	}
	return fmt.Sprint(v)
}
