package lang

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyScalar draws what an item of a list may be.
func anyScalar(t *rapid.T) Value {
	number := rapid.Map(rapid.IntRange(-20, 20), func(n int) Value { return json.Number(fmt.Sprintf("%d.%d0", n, max(n, -n)%10)) })
	text := rapid.Map(rapid.OneOf(rapid.StringN(0, 6, -1), rapid.SampledFrom([]string{"1", "1.0", "10", "9", "9a", "é", "E"})),
		func(s string) Value { return s })
	return rapid.OneOf(number, text, rapid.SampledFrom([]Value{nil, true, false})).Draw(t, "item")
}

// filter returns what the filters of a tag make of v.
func filterValue(t *rapid.T, v Value, filters string) Value {
	tag, err := ParseTag("{{v :: " + filters + "}}")
	if err != nil {
		t.Fatal(err)
	}
	e := NewEnv(NewObject([]string{"v"}, []Value{v}), Options{})
	got, ok, err := e.Value(tag)
	if !ok || err != nil {
		t.Fatalf("%s of %q: %v, %q", filters, v, err, e.Errors())
	}
	return got
}

func TestListFiltersKeepWhatTheyAreGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(anyScalar), 0, 12).Draw(t, "items")
		sorted := filterValue(t, list, "sort").([]any)
		if again := filterValue(t, sorted, "sort").([]any); !slices.Equal(sorted, again) {
			t.Fatalf("%q is sorted again as %q", sorted, again)
		}
		if !slices.Equal(bag(list), bag(sorted)) {
			t.Fatalf("%q are sorted as %q", list, sorted)
		}
		turned := filterValue(t, filterValue(t, list, "reverse"), "reverse").([]any)
		if !slices.Equal(list, turned) {
			t.Fatalf("%q reversed twice are %q", list, turned)
		}
		n := rapid.IntRange(-15, 15).Draw(t, "n")
		head := filterValue(t, list, fmt.Sprintf("slice(0, %d)", n)).([]any)
		tail := filterValue(t, list, fmt.Sprintf("slice(%d)", n)).([]any)
		if !slices.Equal(list, slices.Concat(head, tail)) {
			t.Fatalf("%q is cut into %q and %q", list, head, tail)
		}
		var grouped []any
		for _, group := range filterValue(t, list, "group(item)").([]any) {
			grouped = append(grouped, group.(*Object).Get(groupItems).([]any)...)
		}
		if !slices.Equal(bag(list), bag(grouped)) {
			t.Fatalf("%q are grouped as %q", list, grouped)
		}
		groups, unique := filterValue(t, list, "group(item)").([]any), filterValue(t, list, "unique").([]any)
		if len(groups) != len(unique) {
			t.Fatalf("%q are %d groups and %d different items", list, len(groups), len(unique))
		}
	})
}

// bag returns the items as sorted texts.
func bag(items []any) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fmt.Sprintf("%T %v", item, item)
	}
	slices.Sort(texts)
	return texts
}

func TestTextFiltersKeepToTheLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.StringN(1, 20, -1).Draw(t, "text"), rapid.IntRange(0, 25).Draw(t, "n")
		short := filterValue(t, s, fmt.Sprintf("truncate(%d)", n)).(string)
		if got := utf8.RuneCountInString(short); got > n && got > 0 || utf8.RuneCountInString(s) <= n && short != s {
			t.Fatalf("%q is cut to %d as %q", s, n, short)
		}
		side := rapid.SampledFrom([]string{"left", "right", "both"}).Draw(t, "side")
		long := filterValue(t, s, fmt.Sprintf(`pad(%d, "ab", "%s")`, n, side)).(string)
		if got := utf8.RuneCountInString(long); got != max(n, utf8.RuneCountInString(s)) || !strings.Contains(long, s) {
			t.Fatalf("%q is filled to %d as %q", s, n, long)
		}
		pieces := filterValue(t, s, `split("a")`).([]any)
		if joined := filterValue(t, pieces, `join("a")`); joined != s {
			t.Fatalf("%q split and joined is %q", s, joined)
		}
	})
}

func TestBoxNumbersKeepTheirDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,9})?`).Draw(t, "number")
		us := filterValue(t, json.Number(n), `format("US-Number")`).(string)
		if strings.ReplaceAll(us, ",", "") != n {
			t.Fatalf("%s is written %s", n, us)
		}
		eu := filterValue(t, json.Number(n), `format("EU-Number")`).(string)
		if swapped := strings.NewReplacer(",", ".", ".", ",").Replace(us); eu != swapped {
			t.Fatalf("%s is written %s and %s", n, us, eu)
		}
	})
}
