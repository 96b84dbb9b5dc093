package fidelitytest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// longest returns the length of a longest common subsequence, by the textbook algorithm.
func longest(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			row[j+1] = max(above, row[j])
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// checkPairs fails if pairs are not a common subsequence of the given length.
func checkPairs(t rapid.TB, a, b []string, pairs []pair, length int) {
	t.Helper()
	last := pair{-1, -1}
	for _, p := range pairs {
		if p.a <= last.a || p.b <= last.b || a[p.a] != b[p.b] {
			t.Fatalf("%v after %v in %q and %q", p, last, a, b)
		}
		last = p
	}
	if len(pairs) != length {
		t.Fatalf("%d pairs in %q and %q, want %d", len(pairs), a, b, length)
	}
}

func TestAlignFindsLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c", "d", "", "ä"}[:rapid.IntRange(1, 6).Draw(t, "words")])
		n, m := rapid.IntRange(0, 200).Draw(t, "n"), rapid.IntRange(0, 200).Draw(t, "m") // several blocks of 64
		a, b := rapid.SliceOfN(word, n, n).Draw(t, "a"), rapid.SliceOfN(word, m, m).Draw(t, "b")
		pairs := align(a, b)
		checkPairs(t, a, b, pairs, longest(a, b))
		turned := align(b, a)
		for i, p := range turned {
			turned[i] = pair{p.b, p.a}
		}
		if !slices.Equal(turned, pairs) {
			t.Fatalf("%q and %q: %v, swapped %v", a, b, pairs, turned)
		}
	})
}

// Long texts are usually edited like this: most of the text stays the same.
func TestAlignEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := vocabulary(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 600).Draw(t, "length"), 50)
		b := slices.Clone(a)
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			from := rapid.IntRange(0, len(b)).Draw(t, "from")
			to := min(len(b), from+rapid.IntRange(0, 80).Draw(t, "cut"))
			b = slices.Replace(b, from, to, vocabulary(rapid.Uint64().Draw(t, "new"), rapid.IntRange(0, 80).Draw(t, "put"), 60)...)
		}
		checkPairs(t, a, b, align(a, b), longest(a, b))
	})
}

// vocabulary returns a text with the given number of different words.
func vocabulary(seed uint64, length, words int) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	text := make([]string, length)
	for i := range text {
		text[i] = fmt.Sprint(random.IntN(words))
	}
	return text
}

// The worst cases are long documents that have nothing in common, or the same few words in another order.
func TestAlignLongTexts(t *testing.T) {
	const length, maxMemory = 30_000, 100 << 20
	for name, words := range map[string]int{"two words": 2, "a vocabulary": 2000, "hardly any twice": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			a, b := vocabulary(1, length, words), vocabulary(2, length, words)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			pairs := align(a, b)
			runtime.ReadMemStats(&after)
			want := longest(a[:1000], b[:1000]) // a lower bound for the whole texts
			if len(pairs) < want {
				t.Errorf("%d pairs, but %d in the first 1000 words alone", len(pairs), want)
			}
			checkPairs(t, a, b, pairs, len(pairs))
			t.Logf("%d pairs, %d MB", len(pairs), (after.TotalAlloc-before.TotalAlloc)>>20)
			if used := after.TotalAlloc - before.TotalAlloc; used > maxMemory {
				t.Errorf("used %d bytes, more than %d", used, maxMemory)
			}
		})
	}
}

func TestStepsGoThroughAll(t *testing.T) {
	tests := []struct {
		pairs []pair
		n, m  int
		want  [][2]int
	}{
		{nil, 0, 0, nil},
		{nil, 2, 1, [][2]int{{0, -1}, {1, -1}, {-1, 0}}},
		{[]pair{{0, 0}, {2, 1}}, 3, 3, [][2]int{{0, 0}, {1, -1}, {2, 1}, {-1, 2}}},
		{[]pair{{0, 2}}, 2, 3, [][2]int{{-1, 0}, {-1, 1}, {0, 2}, {1, -1}}},
	}
	for _, tt := range tests {
		var got [][2]int
		for i, j := range steps(tt.pairs, tt.n, tt.m) {
			got = append(got, [2]int{i, j})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v in %d and %d: %v, want %v", tt.pairs, tt.n, tt.m, got, tt.want)
		}
	}
}

func BenchmarkAlign(b *testing.B) {
	x, y := vocabulary(1, 30_000, 2000), vocabulary(2, 30_000, 2000)
	for b.Loop() {
		align(x, y)
	}
}
