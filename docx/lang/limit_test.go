package lang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"platen/budget"
	"platen/docx/lang"
)

// meter returns a meter with a limit of steps.
func meter(t testing.TB, steps int64) *budget.Meter {
	return budget.New(t.Context(), budget.Limits{Steps: steps})
}

// unlimited returns a meter that never ends.
func unlimited(t testing.TB) *budget.Meter { return meter(t, budget.Unlimited) }

// longInput returns input with a list of n objects and one of n texts, and a long text.
func longInput(t *testing.T, n int) lang.Value {
	t.Helper()
	items, words := make([]string, n), make([]string, n)
	for i := range n {
		items[i] = fmt.Sprintf(`{"n":%d,"s":"word %d","d":"2024-01-31"}`, (i*7919)%n, i)
		words[i] = fmt.Sprintf(`"w%d"`, i)
	}
	v, err := lang.Decode(fmt.Appendf(nil, `{"items":[%s],"words":[%s],"text":%q}`,
		strings.Join(items, ","), strings.Join(words, ","), strings.Repeat("one two, ", 20*n)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWorkIsCounted runs tags that go through a long list or text: each has to pass the limit on steps in as many runs as
// the list has items for it, and most need several steps an item.
func TestWorkIsCounted(t *testing.T) {
	const n, runs = 1000, 100
	data := longInput(t, n)
	for _, text := range []string{
		`{{items :: where(n > 5) :: count}}`, `{{words :: sort}}`, `{{words :: sort("desc") :: first}}`,
		`{{items :: sort(n, "desc", s) :: count}}`,
		`{{items :: group(n) :: count}}`, `{{words :: unique :: count}}`, `{{items :: unique(s) :: count}}`, `{{words :: reverse :: count}}`,
		`{{words :: join("-")}}`, `{{words :: join}}`, `{{words :: delimiter("-")}}`, `{{words :: first(900) :: count}}`,
		`{{words :: slice(1) :: count}}`,
		`{{items :: chart(s, n)}}`, `{{words :: chart(item, items[key].n)}}`,
		`{{$sum(items, n * n)}}`, `{{$count(items, n > 5)}}`, `{{$max(items.n)}}`, `{{$join(words)}}`,
		`{{$length(words)}}`,
		`{{$lookup(items, "n", -1) :: optional}}`, `{{$lookup(items, "s")}}`, `{{"none" in words}}`, `{{words contains "none"}}`,
		`{{words :: uppercase}}`, `{{words :: lowercase}}`, `{{words :: titlecase}}`, `{{words :: capitalize}}`, `{{words :: trim}}`,
		`{{words :: truncate(2)}}`, `{{words :: replace("w", "v")}}`, `{{words :: pad(5)}}`, `{{items.n :: format("EU-Number")}}`,
		`{{items.n :: format("#,##0")}}`, `{{items.n :: currency("EUR")}}`, `{{items.n :: percent}}`, `{{items.n :: words}}`,
		`{{items.n :: ordinal}}`,
		`{{items.n :: add(1)}}`, `{{items.d :: date}}`, `{{items.d :: add("1 month")}}`, `{{items.d :: format("dd-mm-yyyy")}}`,
		`{{words :: format("x-x")}}`,
		`{{items.d :: add("1 hour") :: time}}`, `{{items.d :: add("1 hour") :: timezone("+02:00")}}`,
		`{{text :: uppercase}}`, `{{text :: lowercase}}`, `{{text :: titlecase}}`, `{{text :: capitalize}}`, `{{text :: trim}}`,
		`{{text :: truncate(10)}}`,
		`{{text :: replace("one", "two")}}`, `{{text :: replace("a", text)}}`, `{{text :: split(",") :: count}}`, `{{text :: slice(10)}}`,
		`{{$length(text)}}`,
		`{{$string(text, "x")}}`, `{{text :: format("x-x")}}`, `{{"n" :: pad(5, text)}}`, `{{"n" :: truncate(0, text)}}`, `{{"zzz" in text}}`,
		`{{words :: last(900) :: count}}`, `{{words :: lastdelimiter("-")}}`, `{{$min(items.n)}}`, `{{$average(items, n)}}`,
		`{{text :: html}}`, `{{text}}`,
		`{{text :: slice(0, 10)}}`, `{{items.n :: percent(2)}}`, `{{text :: default("x")}}`,
	} {
		t.Run(text, func(t *testing.T) {
			tag := parse(t, text)
			e := lang.NewEnv(data, lang.Options{Meter: meter(t, n*runs), Now: time.Unix(0, 0)})
			var err error
			for range runs {
				if _, _, _, err = e.Show(tag); err == nil && tag.Filter("chart") != nil {
					_, _, err = e.Chart(tag)
				}
				if err != nil {
					break
				}
			}
			if _, ok := errors.AsType[*lang.LimitError](err); !ok {
				t.Errorf("%d runs pass no limit: %v, %q", runs, err, e.Errors())
			}
		})
	}
}

// TestTextIsBounded runs tags that would make much of little.
func TestTextIsBounded(t *testing.T) {
	data := longInput(t, 10_000) // the text has 1.8 MB
	for _, text := range []string{
		`{{words :: pad(10000)}}`,
		`{{text :: replace("o", text)}}`,
		`{{text :: replace("o", "` + strings.Repeat("x", 100) + `")}}`,
		`{{words :: replace("w", text)}}`,
		`{{$string(` + strings.Repeat("text,", 20) + `text)}}`,
		`{{$sum(items, $length($string(text, text)))}}`,
		`{{items :: sort($string(text, n)) :: count}}`,
		`{{[` + strings.Repeat("text,", 20) + `text] :: join}}`,
		`{{[` + strings.Repeat("text,", 20) + `text] :: join("")}}`,
		`{{words :: join(text)}}`,
		`{{words :: delimiter(text)}}`,
	} {
		t.Run(text[:min(len(text), 40)], func(t *testing.T) {
			e := lang.NewEnv(data, lang.Options{})
			s, ok, err := e.Print(parse(t, text))
			if _, limit := errors.AsType[*lang.LimitError](err); !limit {
				t.Errorf("%d bytes, %t, %v, %q", len(s), ok, err, e.Errors())
			}
		})
	}
}
