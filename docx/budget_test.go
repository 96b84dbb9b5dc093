package docx_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"platen/budget"
	"platen/docx"
	"platen/docx/lang"
)

// TestBudgets runs templates and data that make much of little. Each must end with the error of a budget that names it, its limit, the
// location, and the setting. The limits are small, so that the test is short; what is asserted does not depend on them.
func TestBudgets(t *testing.T) {
	small := docx.Limits{Steps: 200_000, Content: 4 << 20, Size: 1 << 20, Memory: 4 << 20, Pixels: 1_000_000, Time: budget.Unlimited}
	words := listOf(2000, func(i int) string { return fmt.Sprintf(`"word %d"`, i) })
	for name, c := range map[string]struct {
		text, data string
		want       budget.Name
		limits     docx.Limits
	}{
		"a list joined for each item": {`{{for x in l}}{{l :: join(s)}}{{endfor}}`, `{"l":` + words + `,"s":", "}`, budget.Content,
			docx.Limits{Steps: budget.Unlimited, Content: 4 << 20}},
		"loops in loops": {strings.Repeat(`{{for x in l}}`, 5) + strings.Repeat(`{{endfor}}`, 5), `{"l":` + words + `}`,
			budget.Work, small},
		"conditions that print nothing": {`{{for x in l}}{{for y in l}}{{if x == y and x == "no"}}a{{endif}}{{endfor}}{{endfor}}`, `{"l":` +
			words + `}`, budget.Work, small},
		"a filter in a loop": {`{{for x in l}}{{l :: sort :: reverse :: unique :: count}}{{endfor}}`, `{"l":` + words + `}`,
			budget.Work, small},
		"long values": {`{{for x in l}}{{t}}{{endfor}}`, `{"l":` + words + `,"t":"` + strings.Repeat("long ", 10_000) + `"}`,
			budget.Content, docx.Limits{Content: 4 << 20}},
		"HTML in a loop": {`{{for x in l}}{{t :: html}}{{endfor}}`, `{"l":` + words + `,"t":"` +
			strings.Repeat("<p>a</p>", 1000) + `"}`, budget.Work, docx.Limits{Steps: 200_000}},
		"Markdown in a loop": {`{{for x in l}}{{t :: markdown}}{{endfor}}`, `{"l":` + words + `,"t":"` +
			strings.Repeat("* a\\n", 1000) + `"}`, budget.Work, docx.Limits{Steps: 200_000}},
		"codes":         {`{{for x in l}}{{x :: qrcode}}{{endfor}}`, `{"l":` + words + `}`, budget.Work, small},
		"codes of bars": {`{{for x in l}}{{x :: barcode("code128")}}{{endfor}}`, `{"l":` + words + `}`, budget.Work, small},
		"drawings": {`{{for x in l}}{{$string("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' ` +
			`width='500' height='500'><!--", x, "--></svg>") :: image}}{{endfor}}`, `{"l":` + words + `}`, budget.Pixels, small},
		"images": {`{{for x in l}}{{x :: image}}{{endfor}}`, `{"l":` + listOf(50, noisyImage(t)) + `}`, budget.Memory,
			docx.Limits{Memory: 1 << 20}},
		"images as a file": {`{{for x in l}}{{x :: image}}{{endfor}}`, `{"l":` + listOf(50, noisyImage(t)) + `}`, budget.Size,
			docx.Limits{Size: 1 << 20}},
		"pieces of texts": {`{{for x in t :: split(",")}}{{endfor}}`, `{"t":"` + strings.Repeat(",", 500_000) + `"}`,
			budget.Memory, docx.Limits{Memory: 4 << 20}},
		"texts in nested loops": {strings.Repeat(`{{for x in l :: pad(1000)}}`, 5) + strings.Repeat(`{{endfor}}`, 5), `{"l":` + words +
			`}`, budget.Memory, docx.Limits{Memory: 4 << 20}},
		"one long value": {`{{l :: join(s)}}`, `{"l":` + words + `,"s":"` + strings.Repeat("s", 10_000) + `"}`, budget.Value,
			docx.Limits{}},
		"blocks that are held back": {`{{if a}}{{endif}}{{for x in l}}{{for y in l}}<w:p/>{{endfor}}{{endfor}}`, `{"l":` + words + `}`,
			budget.Work, small},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("<svg", "&lt;svg", "</svg>", "&lt;/svg>", "<!--", "&lt;!--", "<w:p/>", "&lt;").Replace(c.text)
			tpl := mustParse(t, map[string]string{"document.xml": para(text)})
			data := decode(t, c.data)
			first := exceed(t, tpl, data, c.limits)
			if first.Budget != c.want || first.Limit <= 0 || !strings.Contains(first.Where, "{{") ||
				!strings.Contains(first.Where, "paragraph") && !strings.Contains(first.Where, "document") {
				t.Errorf("got %#v, want %s", first, c.want)
			}
			if message := first.Error(); !strings.HasSuffix(message, ".") || !strings.Contains(message, fmt.Sprint(first.Limit)) ||
				(c.want != budget.Value && !strings.Contains(message, "--document-")) {
				t.Errorf("the message is %s", message)
			}
			if again := exceed(t, tpl, data, c.limits); *again != *first {
				t.Errorf("the second time it is %v", again)
			}
		})
	}
}

// exceed executes a template, and returns which budget that exceeds.
func exceed(t *testing.T, tpl *docx.Template, data lang.Value, limits docx.Limits) *docx.BudgetError {
	t.Helper()
	report, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{Limits: limits})
	exceeded, ok := errors.AsType[*docx.BudgetError](err)
	if !ok {
		t.Fatalf("error %v after %+v; errors %q", err, report.Used, report.Errors)
	}
	if len(report.Details) != 1 || report.Details[0].Tag == "" {
		t.Errorf("the details are %v", report.Details)
	}
	return exceeded
}

func listOf(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// noisyImage returns PNG files that cannot be compressed, each another, as strings of JSON.
func noisyImage(t *testing.T) func(i int) string {
	return func(i int) string {
		m := image.NewGray(image.Rect(0, 0, 200, 200))
		seed := uint32(i + 1)
		for p := range m.Pix {
			seed = seed*1664525 + 1013904223
			m.Pix[p] = byte(seed >> 24)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return `"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"`
	}
}

// TestBudgetsLeaveHeadroom generates an invoice with 10,000 rows: every deterministic budget is at least 20 times what it uses.
func TestBudgetsLeaveHeadroom(t *testing.T) {
	tpl, err := parse(ours.invoice(t))
	if err != nil {
		t.Fatal(err)
	}
	report, err := tpl.Execute(t.Context(), io.Discard, decode(t, string(invoiceData(t, 10_000))), docx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	used := report.Used
	t.Logf("used: %+v", used)
	for name, b := range map[budget.Name][2]int64{
		budget.Work: {used.Steps, budget.DefaultSteps}, budget.Content: {used.Content, budget.DefaultContent},
		budget.Size:   {used.Size, budget.DefaultSize},
		budget.Memory: {used.Memory, budget.DefaultMemory}, budget.Pixels: {used.Pixels, budget.DefaultPixels},
	} {
		if b[0] < 0 || b[0]*20 > b[1] || b[0] == 0 && name != budget.Pixels && name != budget.Memory {
			t.Errorf("%s: %d of %d are used", name, b[0], b[1])
		}
	}
}

// TestCancelStopsTheEngine ends the context at the moment at which work begins: by the first look at a value.
func TestCancelStopsTheEngine(t *testing.T) {
	words := listOf(3000, func(i int) string { return fmt.Sprintf(`"word %d"`, i) })
	reason := errors.New("the server stops")
	for name, text := range map[string]string{
		"loops":   `{{far :: image}}{{for x in l}}{{for y in l}}{{for z in l}}{{endfor}}{{endfor}}{{endfor}}`,
		"filters": `{{far :: image}}{{for x in l}}{{l :: where($count(l, item == x) > 1) :: count}}{{endfor}}`,
		"codes":   `{{far :: image}}{{for x in l}}{{x :: qrcode}}{{endfor}}`,
		"markup":  `{{far :: image}}{{for x in l}}{{html :: html}}{{endfor}}`,
		"image":   `{{far :: image}}{{rotated :: image}}`,
	} {
		t.Run(name, func(t *testing.T) {
			tpl := mustParse(t, map[string]string{"document.xml": para(text)})
			data := decode(t, `{"l":`+words+`,"far":"https://example.com/a.png","html":"`+strings.Repeat("<b>x</b>", 1000)+`","rotated":"`+
				base64.StdEncoding.EncodeToString(webp)+`"}`)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var at docx.Options
			at.Limits = docx.Limits{Steps: budget.Unlimited, Content: budget.Unlimited, Time: budget.Unlimited}
			at.Picture = func(context.Context, string) ([]byte, error) {
				cancel(reason)
				return nil, errors.New("is not to be had")
			}
			report, err := tpl.Execute(ctx, io.Discard, data, at)
			const most = 100_000 // steps; without a look at the context it would be millions
			if !errors.Is(err, reason) || report.Used.Steps > most || report.Used.Pixels > 0 {
				t.Errorf("error %v after %+v", err, report.Used)
			}
		})
	}
}

// webp is a file of 8 by 8 pixels.
var webp = []byte("RIFF\x1e\x00\x00\x00WEBPVP8L\x11\x00\x00\x00\x2f\x07\xc0\x01\x00\x07\x10\x11\x11\x88\x88\xfe\x07\x00")

// TestTimeIsABudget ends the work of a document whose time is over when it begins.
func TestTimeIsABudget(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": para(`{{for x in l}}{{x}}{{endfor}}`)})
	_, err := tpl.Execute(t.Context(), io.Discard, decode(t, `{"l":[1]}`), docx.Options{Limits: docx.Limits{Time: 1}})
	exceeded, ok := errors.AsType[*docx.BudgetError](err)
	if !ok || exceeded.Budget != budget.Time || !strings.Contains(err.Error(), "--document-time") {
		t.Errorf("error %v", err)
	}
}

// TestEqualImagesAreMadeOnce generates a document with 3,000 codes, 100 of them different, and not next to each other: it takes the steps
// of 100 codes.
func TestEqualImagesAreMadeOnce(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": para(`{{for x in l}}{{x :: qrcode}}{{endfor}}`)})
	data := decode(t, `{"l":`+listOf(3000, func(i int) string { return fmt.Sprintf(`"https://example.com/%d"`, i%100) })+`}`)
	report, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Used.Steps > 3000*30+100*1000 {
		t.Errorf("%d steps", report.Used.Steps)
	}
}

// TestLongValuesAreCompressed makes 40 MB of 6 KB of data: the file stays small.
func TestLongValuesAreCompressed(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": para(`{{for x in l}}{{l :: join(s)}}{{endfor}}`)})
	data := decode(t, `{"l":`+listOf(200, func(i int) string { return fmt.Sprintf(`"item %d"`, i) })+`,"s":"`+
		strings.Repeat("separator ", 100)+`"}`)
	report, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if used := report.Used; used.Content < 40_000_000 || used.Size > used.Content/30 {
		t.Errorf("%d bytes become a file of %d", used.Content, used.Size)
	}
}
