package picture

import (
	"strings"
	"testing"

	other "github.com/boombuler/barcode/qr"
	"rsc.io/qr/coding"
)

// Another encoder draws the same symbol, with one of the eight masks: for every size in bytes, and for sizes with each length of
// the count in the other modes.
func TestQRSymbolsAreThoseOfAnotherEncoder(t *testing.T) {
	for v := coding.Version(coding.MinVersion); v <= coding.MaxVersion; v++ {
		texts := []string{"é,"}
		if v == 9 || v == 26 || v == coding.MaxVersion {
			texts = append(texts, "7", "A-")
		}
		for _, text := range texts {
			long := text
			for qrMode(long+text).Bits(v) <= v.DataBytes(coding.M)*8 {
				long += text
			}
			checkQR(t, long)
		}
	}
	checkQR(t, "https://example.com/?id=1")
}

func checkQR(t *testing.T, text string) {
	t.Helper()
	ours, err := qrCode(text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := other.Encode(text, other.M, other.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if ours.Bounds() != want.Bounds() {
		t.Fatalf("%.20q (%d bytes): %v, want %v", text, len(text), ours.Bounds(), want.Bounds())
	}
	symbol := ours.(*qrSymbol)
	version := &qrVersions[(symbol.side-17)/4]
	theirs := newQRSymbol(symbol.side, func(x, y int) bool { return isDark(want.At(x, y)) })
	for a := range version.masks {
		turned := symbol.xor(&version.masks[a]) // our mask, removed
		for b := range version.masks {
			if again := turned.xor(&version.masks[b]); equalQR(&again, &theirs) {
				if symbol.penalty() > theirs.penalty() {
					t.Errorf("%.20q (%d bytes): the penalty is %d, and with another mask %d", text, len(text), symbol.penalty(), theirs.penalty())
				}
				return
			}
		}
	}
	t.Errorf("%.20q (%d bytes): no mask gives the symbol of the other encoder", text, len(text))
}

func equalQR(a, b *qrSymbol) bool {
	for i := range a.rows {
		if a.rows[i] != b.rows[i] || a.cols[i] != b.cols[i] {
			return false
		}
	}
	return true
}

// The penalty is that of the standard, counted module by module.
func TestQRPenalty(t *testing.T) {
	for _, text := range []string{"a", "0123456789", strings.Repeat("long text ", 40), strings.Repeat("x", 2331)} {
		code, err := qrCode(text)
		if err != nil {
			t.Fatal(err)
		}
		s := code.(*qrSymbol)
		if got, want := s.penalty(), slowPenalty(s); got != want {
			t.Errorf("%.20q: penalty %d, want %d", text, got, want)
		}
	}
}

// slowPenalty is ISO/IEC 18004 §7.8.3 word for word.
func slowPenalty(s *qrSymbol) int {
	dark := func(x, y int) bool { return isDark(s.At(x, y)) }
	total, black := 0, 0
	for _, at := range []func(i, j int) bool{dark, func(i, j int) bool { return dark(j, i) }} {
		for i := range s.side {
			var line strings.Builder
			for j := range s.side {
				line.WriteByte("01"[map[bool]int{true: 1}[at(j, i)]])
			}
			for j := range s.side {
				rest := line.String()[j:]
				if strings.HasPrefix(rest, "10111010000") || strings.HasPrefix(rest, "00001011101") {
					total += 40
				}
				if run := len(rest) - len(strings.TrimLeft(rest, rest[:1])); run >= 5 && (j == 0 || line.String()[j-1] != rest[0]) {
					total += run - 2
				}
			}
		}
	}
	for y := range s.side {
		for x := range s.side {
			if dark(x, y) {
				black++
			}
			if x+1 < s.side && y+1 < s.side && dark(x, y) == dark(x+1, y) && dark(x, y) == dark(x, y+1) && dark(x, y) == dark(x+1, y+1) {
				total += 3
			}
		}
	}
	percent := 100 * float64(black) / float64(s.side*s.side)
	return total + 10*int(max(percent-50, 50-percent)/5)
}
