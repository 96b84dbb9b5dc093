package picture_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"platen/docx/picture"
)

func TestSVGIsMadeHarmless(t *testing.T) {
	const hostile = `<!DOCTYPE svg><?xml-stylesheet href="http://evil.example/x.css"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" xmlns:i="http://www.inkscape.org/"
 width="10" height="10" onload="evil()">
<script>evil()</script><foreignObject><p xmlns="http://www.w3.org/1999/xhtml">evil</p></foreignObject>
<style>@import url(http://evil.example/a.css);</style><style>.a{fill:red}</style><style>.b{fill:url( "http://evil.example/" )}</style>
<image x:href="http://evil.example/a.png"/><image href="file:///etc/passwd"/><image x:href="data:image/png;base64,AAAA"/>
<use x:href="http://evil.example/#a"/><use x:href="#good"/><a x:href="javascript:evil()">
<rect id="good" class="a" width="5" height="5" fill="url(#g)" style="fill:url(http://evil.example)"/></a>
<set attributeName="href" to="http://evil.example"/><animate/><i:evil>evil</i:evil>
<rect onClick="evil()" width="1" fill="u\72l(http://evil.example)"/>
<text>1 &lt; 2</text></svg>`
	p, err := picture.Prepare(nil, []byte(hostile))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"evil", "passwd", "DOCTYPE", "<?", "javascript", "import", "<set", "animate"} {
		if bytes.Contains(p.SVG, []byte(bad)) {
			t.Errorf("%q is left in\n%s", bad, p.SVG)
		}
	}
	for _, good := range []string{`<rect id="good" class="a" width="5" height="5" fill="url(#g)">`, `xlink:href="#good"`,
		"data:image/png", ".a{fill:red}", "1 &lt; 2"} {
		if !bytes.Contains(p.SVG, []byte(good)) {
			t.Errorf("%q is not left in\n%s", good, p.SVG)
		}
	}
	again, err := picture.Prepare(nil, p.SVG)
	if err != nil || !bytes.Equal(again.SVG, p.SVG) {
		t.Errorf("cleaned again it is (%v)\n%s", err, again.SVG)
	}
}

func TestSVGIsDrawn(t *testing.T) {
	p, err := picture.Prepare(nil, []byte(strings.Replace(svgFile, "<rect", `<rect rx="5"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	if size := m.Bounds().Size(); size.X != 152 || size.Y != 76 {
		t.Errorf("drawn as %v, want two pixels for one of 76 by 38", size)
	}
	if _, g, _, a := m.At(70, 40).RGBA(); g != 0xffff || a != 0xffff {
		t.Errorf("its middle is %v, want green", m.At(70, 40))
	}
	if _, _, _, a := m.At(0, 0).RGBA(); a != 0 {
		t.Error("its corner is not round")
	}
}

// Prepare refuses endless, huge, and deeply nested drawings, or draws them within bounds: every case returns.
func TestSVGIsBounded(t *testing.T) {
	wrap := func(s string) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100" viewBox="0 0 100 100">` + s + `</svg>`
	}
	for name, file := range map[string]string{
		"use of itself": wrap(`<defs><g id="a"><use href="#a"/></g></defs><use href="#a"/>`),
		"uses in circles": wrap(`<defs><g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g><defs></defs><use ` +
			`href="#a"/></defs><use href="#b"/>`),
		"tiny dashes": wrap(`<path d="M0 0L1000000 1000000" stroke="red" stroke-dasharray="0.02,0.02"/>`),
		"dash offset": wrap(`<path d="M0 0L10 10" stroke="red" stroke-dasharray="0.02,0" style="stroke-dashoffset:30000000"/>`),
		"huge numbers": wrap(`<g transform="scale(1e30)"><path d="M0 0C1e30 1e30 -1e30 1e30 1e300 5A1e9 1e9 0 1 1 5 5" stroke="red" ` +
			`stroke-width="1e20"/></g>`),
		"not numbers": wrap(`<path d="M NaN,NaN L Inf 5" transform="matrix(NaN)"/><rect width="NaN" rx="-1"/><polygon points="1"/>`),
		"many gradients": wrap(`<defs><linearGradient id="g"><stop offset="0" stop-color="red"/><stop offset="1" ` +
			`stop-color="blue"/></linearGradient></defs>` + strings.Repeat(`<rect width="100" height="100" fill="url(#g)"/>`, 20_000)),
		"empty viewBox": `<svg viewBox="0 0 0 0" xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>`,
		"closing defs":  wrap(`<defs></defs></defs>`),
	} {
		p, err := picture.Prepare(nil, []byte(file))
		if err == nil {
			_, err = png.Decode(bytes.NewReader(p.Data))
		}
		t.Logf("%s: %v", name, err)
	}
}

// What a drawing shows is a part of its plane, in the middle of its size.
func TestSVGShowsItsViewBox(t *testing.T) {
	p, err := picture.Prepare(nil, []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20" viewBox="10 30 5 `+
		`5"><rect x="10" y="30" width="5" height="5"/></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[int]bool{2: false, 38: false, 42: true, 60: true, 78: true, 82: false, 118: false} {
		for _, y := range []int{2, 20, 38} {
			if _, _, _, a := m.At(x, y).RGBA(); (a > 0x8000) != want {
				t.Errorf("the square is drawn at %d, %d: %t, want %t", x, y, !want, want)
			}
		}
	}
}
