package docx_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// LibreOffice shows every kind of picture, and what it prints of codes is read by a program that is not ours.
func TestOfficeShowsPictures(t *testing.T) {
	run := otherPrograms(t, "soffice", "pdftoppm", "zbarimg")
	red := image.NewPaletted(image.Rect(0, 0, 20, 20), color.Palette{color.RGBA{R: 255, A: 255}})
	file := func(encode func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}
	data := map[string]string{
		"png":  file(func(b *bytes.Buffer) error { return png.Encode(b, red) }),
		"jpeg": file(func(b *bytes.Buffer) error { return jpeg.Encode(b, red, nil) }),
		"gif":  file(func(b *bytes.Buffer) error { return gif.Encode(b, red, nil) }),
		"bmp":  file(func(b *bytes.Buffer) error { return bmp.Encode(b, red) }),
		"tiff": file(func(b *bytes.Buffer) error { return tiff.Encode(b, red, nil) }),
		"svg":  `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20" fill="red"/></svg>`,
		"code": "https://example.com/platen", "number": "400638133393",
	}
	tpl, err := parse(withPictures(t, "{{png}}", "{{jpeg}}", "{{gif}}", "{{bmp}}", "{{tiff}}", "{{svg}}", "{{code :: qrcode}}",
		"{{number :: barcode(&quot;ean13&quot;)}}"))
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	out, report := execute(t, tpl, decode(t, string(input)))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "pictures.docx"), out)
	run("soffice", "--headless", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--convert-to", "pdf", "--outdir", dir,
		filepath.Join(dir, "pictures.docx"))
	run("pdftoppm", "-png", "-r", "200", "-singlefile", filepath.Join(dir, "pictures.pdf"), filepath.Join(dir, "page"))
	page, err := png.Decode(strings.NewReader(readFile(t, filepath.Join(dir, "page.png"))))
	if err != nil {
		t.Fatal(err)
	}
	const square = 900_000 * 200 / 914_400 // pixels
	if n := redPixels(page); n < 6*(square-2) || n > 6*(square+2) {
		t.Errorf("%d pixels are red from top to bottom, want %d for each of 6 kinds", n, square)
	}
	read := run("zbarimg", "--quiet", "--nodbus", filepath.Join(dir, "page.png"))
	for _, want := range []string{"QR-Code:https://example.com/platen\n", "EAN-13:4006381333931\n"} {
		if !strings.Contains(read, want) {
			t.Errorf("the codes are read as %q, without %q", read, want)
		}
	}
}

// redPixels counts the red pixels on a line down the left of the text.
func redPixels(page image.Image) (n int) {
	const inText = 200 + 50 // the margin is an inch
	for y := range page.Bounds().Dy() {
		if r, g, _, _ := page.At(inText, y).RGBA(); r > 0xc000 && g < 0x4000 {
			n++
		}
	}
	return n
}
