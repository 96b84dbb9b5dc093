package picture_test

import (
	"bytes"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platen/docx/picture"
)

// codes are texts by their kind of code, and what a reader must say to them; the same, if that is empty.
var codes = []struct{ kind, text, want string }{
	{"ean13", "400638133393", "4006381333931"},
	{"ean13", "4006381333931", ""},
	{"ean8", "9638507", "96385074"},
	{"code128", "Platen-2026/AB cd", ""},
	{"code128", "123456789012", ""},
	{"code39", "PLATEN 42", ""},
	{"code93", "PLATEN 42", ""},
	{"codabar", "1234-56", "A1234-56A"},
	{"codabar", "b99c", "B99C"},
	{"itf", "1234567890", ""},
	{"itf", "1540014128876", "15400141288763"},
	{"qr", "https://example.com/?a=1&b=2", ""},
	{"qr", "0123456789", ""},
	{"datamatrix", "Platen 2026: <x>", ""},
	{"datamatrix", strings.Repeat("long text ", 60), ""},
}

// Codes are read by programs that are not ours.
func TestCodesCanBeRead(t *testing.T) {
	for _, c := range codes {
		p, err := picture.Code(nil, c.kind, c.text)
		if err != nil {
			t.Errorf("%s of %q: %v", c.kind, c.text, err)
			continue
		}
		file := filepath.Join(t.TempDir(), "code.png")
		if err := os.WriteFile(file, p.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		want := c.want
		if want == "" {
			want = c.text
		}
		t.Run(c.kind, func(t *testing.T) {
			if got := readCode(t, c.kind, file); got != want {
				t.Errorf("%q is read as %q, want %q", c.text, got, want)
			}
		})
	}
}

func readCode(t *testing.T, kind, file string) string {
	t.Helper()
	name, args := "zbarimg", []string{"--quiet", "--raw", "--nodbus", file}
	if kind == "ean8" || kind == "codabar" {
		args = append([]string{"-S" + kind + ".enable"}, args...)
	}
	if kind == "datamatrix" {
		name, args = "dmtxread", []string{"--stop-after=1", file}
	}
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: it is not on the PATH", name)
	}
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Every kind of code is black on white, at a whole number of pixels a module, with its quiet zone.
func TestCodesAreCrisp(t *testing.T) {
	for kind, text := range map[string]string{
		"ean13": "400638133393", "ean8": "9638507", "code128": "a", "code39": "A", "code93": "A", "codabar": "1", "2of5": "12",
		"itf": "12", "qr": "a", "datamatrix": "a", "aztec": "a", "pdf417": "a",
	} {
		p, err := picture.Code(nil, kind, text)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		again, err := picture.Code(nil, kind, text)
		if err != nil || !bytes.Equal(p.Data, again.Data) {
			t.Errorf("%s: it is another the second time (%v)", kind, err)
		}
		const depth = 24 // of the header, where the bits a pixel are
		if p.Data[depth] != 1 {
			t.Errorf("%s has %d bits a pixel", kind, p.Data[depth])
		}
		m, err := png.Decode(bytes.NewReader(p.Data))
		if err != nil {
			t.Fatal(err)
		}
		b := m.Bounds()
		if b.Dx()%8 != 0 || b.Dy()%8 != 0 || p.Width/int64(b.Dx()) != p.Height/int64(b.Dy()) {
			t.Errorf("%s: %v pixels for %d by %d", kind, b.Size(), p.Width, p.Height)
		}
		for y := range b.Dy() {
			for x := range b.Dx() {
				r, _, _, _ := m.At(x, y).RGBA()
				corner, _, _, _ := m.At(x/8*8, y/8*8).RGBA()
				if r != corner || r == 0 && (x < 16 || x >= b.Dx()-16) {
					t.Fatalf("%s: pixel %d, %d is not of its module, or not white", kind, x, y)
				}
			}
		}
	}
}

func TestCodesRefuse(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"ean13", "4006381333932", "has the check digit 2, which should be 1"},
		{"ean13", "12345", "has 5 digits; codes of type ean13 have 13, or 12"},
		{"ean8", "1234567x", "not digits only"},
		{"itf", "15400141288764", "check digit"},
		{"itf", "12a", "not digits only"},
		{"2of5", "1.5", "not digits only"},
		{"code128", "ä", `contains 'ä'`},
		{"code128", strings.Repeat("a", 81), "81 characters"},
		{"codabar", "A1?A", "between two letters"},
		{"datamatrix", "€", "a QR code can"},
		{"datamatrix", "è", "a QR code can"},
		{"aztec", "€", "a QR code can"},
		{"pdf417", "é", "a QR code can"},
		{"qr", strings.Repeat("a", 3000), "3000 characters"},
		{"qr", "", "is empty"},
		{"nonsense", "1", "not a type of code"},
	} {
		if _, err := picture.Code(nil, c.kind, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %.20q: error %v, want one with %q", c.kind, c.text, err, c.want)
		}
	}
}
