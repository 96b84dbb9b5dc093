package pdftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"platen/pdf"
	"platen/pdf/fidelitytest"
)

// TestEngine checks that an engine follows the contract of [pdf.Engine]. The engine must be available. TestEngine
// does not close it.
func TestEngine(t *testing.T, engine pdf.Engine) {
	t.Run("letter", func(t *testing.T) { testLetter(t, engine) })
	t.Run("options", func(t *testing.T) { testOptions(t, engine) })
	t.Run("pictures", func(t *testing.T) { testPictures(t, engine) })
	t.Run("not a document", func(t *testing.T) { testNoDocument(t, engine) })
	t.Run("concurrent conversions", func(t *testing.T) { testCrowd(t, engine) })
	t.Run("same result twice", func(t *testing.T) { testSame(t, engine) })
	t.Run("canceled context", func(t *testing.T) { testCanceled(t, engine) })
}

func testLetter(t *testing.T, engine pdf.Engine) {
	if err := engine.Available(); err != nil {
		t.Fatal(err)
	}
	file := convert(t, engine, Letter("Amara Okafor"), pdf.Options{})
	for _, want := range []string{"To Amara Okafor", "Harrow & Vale LLP", "Yours sincerely"} {
		if text := Text(t, file); !strings.Contains(text, want) {
			t.Errorf("the PDF lacks %q:\n%s", want, text)
		}
	}
	if pages := Info(t, file)["Pages"]; pages != "1" {
		t.Errorf("a letter has %s pages", pages)
	}
}

func testOptions(t *testing.T, engine pdf.Engine) {
	document := Contract(3)
	for _, test := range []struct {
		name    string
		options pdf.Options
		check   func(t *testing.T, file string)
	}{
		{"none", pdf.Options{}, func(t *testing.T, file string) {
			want(t, Info(t, file)["Tagged"], "no")
			want(t, Info(t, file)["Metadata Stream"], "no")
			want(t, outline(t, file), 0)
		}},
		{"tagged", pdf.Options{Tagged: true}, func(t *testing.T, file string) { want(t, Info(t, file)["Tagged"], "yes") }},
		{"bookmarks", pdf.Options{Bookmarks: true}, func(t *testing.T, file string) { want(t, outline(t, file), 3) }},
		{"watermark", pdf.Options{Watermark: "Ürkunde"}, func(t *testing.T, file string) {
			for page := 1; page <= 3; page++ { // rotated text is extracted one letter at a time
				text := run(t, "pdftotext", "-raw", "-f", fmt.Sprint(page), "-l", fmt.Sprint(page), file, "-")
				if !strings.Contains(text, "Ü") {
					t.Errorf("page %d has no watermark:\n%s", page, text)
				}
			}
		}},
		{"PDF/A-2b", pdf.Options{Archive: pdf.PDFA2b}, func(t *testing.T, file string) {
			want(t, strings.Contains(run(t, "pdfinfo", "-meta", file), "<pdfaid:part>2</pdfaid:part>"), true)
		}},
		{"PDF/A-3b", pdf.Options{Archive: pdf.PDFA3b, Watermark: "DRAFT", Bookmarks: true}, func(t *testing.T, file string) {
			want(t, strings.Contains(run(t, "pdfinfo", "-meta", file), "<pdfaid:part>3</pdfaid:part>"), true)
			want(t, outline(t, file), 3)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := convert(t, engine, document, test.options)
			test.check(t, file)
			if text := Text(t, file); !strings.Contains(text, "3.9") {
				t.Errorf("the PDF is incomplete:\n%s", text)
			}
		})
	}
	t.Run("invalid", func(t *testing.T) {
		for _, options := range []pdf.Options{{Archive: "PDF/A-1"}, {Pictures: pdf.PictureOptions{Quality: 101}}} {
			if result, err := engine.Convert(t.Context(), pdf.Request{Document: document, Options: options}); err == nil {
				t.Errorf("options %+v returned a PDF of %d bytes", options, len(result.PDF))
			}
		}
	})
}

func testPictures(t *testing.T, engine pdf.Engine) {
	document := new(Document).Paragraph("A photograph").Part("photo", "image", "media/photo.png",
		photograph(1200, 800)).Picture(`r:embed="photo"`).Bytes()
	sizes := map[string]int64{}
	for name, options := range map[string]pdf.PictureOptions{
		"usual": {}, "poor": {Quality: 10, MaxDPI: 72}, "lossless": {Lossless: true, MaxDPI: 2400},
	} {
		info, err := os.Stat(convert(t, engine, document, pdf.Options{Pictures: options}))
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = info.Size()
	}
	if !(sizes["poor"]*3 < sizes["usual"] && sizes["usual"]*2 < sizes["lossless"]) {
		t.Errorf("sizes of a document with a photograph: %v", sizes)
	}
}

func testNoDocument(t *testing.T, engine pdf.Engine) {
	truncated := Letter("Amara Okafor")
	for name, document := range map[string][]byte{"nothing": nil, "noise": []byte(strings.Repeat("\x01\xff%", 1000)),
		"half a document": truncated[:len(truncated)/2]} {
		_, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: document})
		if refused, ok := errors.AsType[*pdf.DocumentError](err); !ok || refused.Reason == "" || refused.Poison {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
	testLetter(t, engine)
}

// testCrowd converts more documents than the engine converts at once, and checks that each call gets its own
// document.
func testCrowd(t *testing.T, engine pdf.Engine) {
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			name := fmt.Sprintf("Reader %d of 12", i)
			result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: Letter(name)})
			if err != nil {
				t.Error(err)
				return
			}
			if text := Text(t, Save(t, result.PDF)); !strings.Contains(text, "To "+name+"\n") {
				t.Errorf("the letter to %s is\n%s", name, text)
			}
		})
	}
	all.Wait()
}

func testSame(t *testing.T, engine pdf.Engine) {
	first := convert(t, engine, Invoice(60), pdf.Options{})
	convert(t, engine, Contract(2), pdf.Options{Archive: pdf.PDFA2b, Watermark: "between"})
	second := convert(t, engine, Invoice(60), pdf.Options{})
	score, err := fidelitytest.Compare(t.Context(), first, second)
	if err != nil {
		t.Fatal(err)
	}
	if difference := score.Difference(); difference != "" {
		t.Error(difference)
	}
}

func testCanceled(t *testing.T, engine pdf.Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.Convert(ctx, pdf.Request{Document: Letter("Amara Okafor")}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: %v", err)
	}
	testLetter(t, engine)
}

func convert(t *testing.T, engine pdf.Engine, document []byte, options pdf.Options) string {
	t.Helper()
	result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: document, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	if result.Took <= 0 {
		t.Errorf("the conversion took %v", result.Took)
	}
	return Save(t, result.PDF)
}

// Save writes a PDF to a temporary file and returns its path.
func Save(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "document.pdf")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Text returns the text of a PDF, as pdftotext extracts it.
func Text(t *testing.T, file string) string {
	t.Helper()
	return run(t, "pdftotext", "-layout", file, "-")
}

// Info returns the output of pdfinfo for a PDF, by field name.
func Info(t *testing.T, file string) map[string]string {
	t.Helper()
	info := map[string]string{}
	for line := range strings.Lines(run(t, "pdfinfo", file)) {
		name, value, _ := strings.Cut(line, ":")
		info[name] = strings.TrimSpace(value)
	}
	return info
}

// outline returns the number of bookmarks in a PDF.
func outline(t *testing.T, file string) int {
	t.Helper()
	return strings.Count(run(t, "pdftohtml", "-xml", "-stdout", "-i", file), "<item page=")
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Errorf("%s %v: %v\n%s", program, args, err, &stderr)
	}
	return string(out)
}

func want[T comparable](t *testing.T, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("got %v, want %v", got, wanted)
	}
}

// photograph returns a PNG image that is much smaller as JPEG.
func photograph(width, height int) string {
	noise := rand.New(rand.NewPCG(1, 2))
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			picture.SetRGBA(x, y, color.RGBA{uint8(x*255/width) ^ uint8(noise.IntN(16)), uint8(y * 255 / height), uint8((x + y) / 8), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		panic(err)
	}
	return b.String()
}
