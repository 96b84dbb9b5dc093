package docx_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"platen/docx"
	"platen/docx/lang"
)

var letterParts = map[string]string{
	"styles.xml": `<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style>`,
	"document.xml": `<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>Order</w:t></w:r></w:p><w:p><w:r><w:t>Dear ` +
		`{{customer.nmae}}, {{for i in items}}{{i.price * 2}}{{endfor}}</w:t></w:r></w:p>`,
}

func TestDetailsLeadToTheTag(t *testing.T) {
	tpl := mustParse(t, letterParts)
	_, report := execute(t, tpl, decode(t, `{"customer":{"name":"Ada"},"items":[{"price":"x"}]}`))
	want := []*docx.Error{
		{
			Part: "/word/document.xml", Heading: "Order", Place: "the document", Column: 5, Tag: "{{customer.nmae}}", Path: "customer.nmae",
			Datum:   "customer.nmae",
			Nearest: "customer.name",
			Text:    "Dear {{customer.nmae}}, {{for i in items}}{{i.price * 2}}{{endfor…",
			Message: "The tag 'customer.nmae' was not provided in the input data.",
		},
		{
			Part: "/word/document.xml", Heading: "Order", Place: "the document", Column: 42, Tag: "{{i.price * 2}}",
			Text:    "Dear {{customer.nmae}}, {{for i in items}}{{i.price * 2}}{{endfor}}",
			Message: "The tag 'i.price * 2' could not be computed: 'i.price' (items[0].price) is text, not a number.",
			Datum:   "items[0].price",
		},
	}
	if diff := cmp.Diff(want, report.Details, cmpopts.IgnoreFields(docx.Error{}, "Hint", "Offset")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestOptionsThatAllowNoIncompleteDocument(t *testing.T) {
	tpl := mustParse(t, letterParts)
	for name, c := range map[string]struct {
		opt      docx.Options
		data     string
		errors   int
		warnings int
		fails    bool
	}{
		"as the interface has it": {docx.Options{}, `{"items":[]}`, 1, 0, false},
		"blank":                   {docx.Options{Missing: lang.MissingBlank}, `{"items":[]}`, 0, 1, false},
		"error":                   {docx.Options{Missing: lang.MissingError}, `{"items":[]}`, 1, 0, true},
		"error, all there":        {docx.Options{Missing: lang.MissingError}, `{"customer":{"nmae":1},"items":[],"more":1}`, 0, 1, false},
		"strict":                  {docx.Options{Strict: true}, `{"customer":{"nmae":1},"items":[],"more":1}`, 1, 0, true},
		"strict, all right":       {docx.Options{Strict: true}, `{"customer":{"nmae":1},"items":[]}`, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := tpl.Execute(t.Context(), io.Discard, decode(t, c.data), c.opt)
			if errors.Is(err, docx.ErrIncomplete) != c.fails || err != nil && !c.fails {
				t.Errorf("Execute: %v", err)
			}
			if len(report.Errors) != c.errors || len(report.Warnings) != c.warnings {
				t.Errorf("errors %q, warnings %q; want %d and %d", report.Errors, report.Warnings, c.errors, c.warnings)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	o, wrong := docx.Settings{Locale: "de_CH", TimeZone: "Europe/Paris", Missing: "blank", Strict: true}.Options()
	if len(wrong) > 0 || o.Location.String() != "Europe/Paris" || o.Missing != lang.MissingBlank || !o.Strict {
		t.Errorf("options %+v, wrong %v", o, wrong)
	}
	_, wrong = docx.Settings{Locale: "tlh", TimeZone: "../../etc/passwd", Missing: "never"}.Options()
	if len(wrong) != 3 || wrong[0].Name != "locale" || wrong[1].Name != "time_zone" || wrong[2].Name != "missing" {
		t.Errorf("wrong: %v", wrong)
	}
	for tag, want := range map[string]string{
		"cz": "did you mean cs?", "German": "did you mean de?", "tlh": "of one of these languages: ar, cs, da",
	} {
		if _, wrong = (docx.Settings{Locale: tag}).Options(); len(wrong) != 1 || !strings.Contains(wrong[0].Message, want) {
			t.Errorf("%s: %v; want %q", tag, wrong, want)
		}
	}
	if _, wrong = (docx.Settings{TimeZone: "Local"}).Options(); len(wrong) != 1 {
		t.Error("the time zone of this machine is taken")
	}
}

func TestSettingsReachTheTags(t *testing.T) {
	o, wrong := docx.Settings{Locale: "de", TimeZone: "Europe/Paris"}.Options()
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	o.Now = time.Date(2026, 3, 5, 14, 30, 0, 0, time.UTC)
	parts := map[string]string{"document.xml": `<w:p><w:r><w:t>{{total :: format("#,##0.00")}} am {{$now :: date("d. MMMM, ` +
		`HH:mm")}}</w:t></w:r></w:p>`}
	var out bytes.Buffer
	if _, err := mustParse(t, parts).Execute(t.Context(), &out, decode(t, `{"total":1234.5}`), o); err != nil {
		t.Fatal(err)
	}
	const want = "1.234,50 am 5. März, 15:30"
	if got := unpack(t, out.Bytes())["word/document.xml"]; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheSameInputsGiveTheSameBytes(t *testing.T) {
	parts := map[string]string{"document.xml": `<w:p><w:r><w:t>{{site :: link}}</w:t></w:r></w:p>`}
	run := func() []byte {
		var out bytes.Buffer
		_, err := mustParse(t, parts).Execute(t.Context(), &out, decode(t, `{"site":"https://example.com"}`),
			docx.Options{Now: time.Unix(1e9, 0)})
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if !bytes.Equal(run(), run()) {
		t.Error("two executions gave different bytes")
	}
}

func TestVariablesOutsideTheirLoops(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"inside":            {`{{for i in items}}{{i.name}} {{loop.number}}{{endfor}}`, ""},
		"in its filters":    {`{{for i in items :: where(i.price &gt; 1)}}{{endfor}}`, ""},
		"after the loop":    {`{{for i in items}}{{endfor}}{{i.name}}`, "'i' belongs to a loop"},
		"in a condition":    {`{{if i.name}}{{endif}}{{for i in items}}{{endfor}}`, "'i' belongs to a loop"},
		"position":          {`{{for i in items}}{{endfor}}{{loop.number}}`, "'loop.number' belongs to a loop"},
		"in its own list":   {`{{for i in i}}{{endfor}}`, "'i' belongs to a loop"},
		"other name":        {`{{for i in items}}{{endfor}}{{j.name}}`, ""},
		"in an inner loop":  {`{{for i in items}}{{for j in i.parts}}{{i.name}}{{endfor}}{{endfor}}`, ""},
		"of an inner loop":  {`{{for i in items}}{{for j in i.parts}}{{endfor}}{{j.n}}{{endfor}}`, "'j' belongs to a loop"},
		"in a key per item": {`{{for i in items}}{{endfor}}{{$sum(items, i)}}`, ""},
		"also a key":        {`{{for i in i.parts}}{{i}}{{endfor}}{{i.name}}`, ""},

		"variable":            {`{{let r = 1}}{{if r == 1}}{{r}}{{endif}}`, ""},
		"variable of a block": {`{{if j}}{{let r = 1}}{{r}}{{else}}{{let r = 2}}{{endif}}{{r}}`, "The variable 'r' is known only until the end"},
		"variable of a loop":  {`{{for i in items}}{{let r = i.n}}{{endfor}}{{r}}`, "The variable 'r' is known only until the end"},
		"key with a variable": {`{{if j}}{{let j = j.n}}{{j}}{{endif}}{{j}}`, ""},

		"all items":           {`{{for i in items}}{{items.q}}{{endfor}}`, "'items.q' is the list of the values of all items"},
		"all items, nested":   {`{{for i in items}}{{for j in i.parts}}{{i.parts.n :: bold}}{{endfor}}{{endfor}}`, "'i.parts.n' is the list"},
		"all, in a condition": {`{{for i in items :: where(q &gt; 1)}}{{if items.q}}{{endif}}{{endfor}}`, "'items.q' is the list"},
		"all, for a reason": {`{{for i in items}}{{$sum(items.q)}} {{items.q :: join}} {{items[0].q}} {{if i.q in items.q}}{{endif}}` +
			`{{i.q / $max(items.q)}}{{items}}{{itemses.q}}{{endfor}}{{items.q}}`, ""},
		"all of a group":  {`{{for g in items :: group(q)}}{{items.q}}{{endfor}}`, ""},
		"own variable":    {`{{for items in items.parts}}{{items.n}}{{endfor}}`, ""},
		"its list's name": {`{{for j in j}}{{j.n}}{{endfor}}`, "'j' belongs to a loop"},
	} {
		t.Run(name, func(t *testing.T) {
			tpl := mustParse(t, map[string]string{"document.xml": `<w:p><w:r><w:t>` + c.text + `</w:t></w:r></w:p>`})
			warnings := tpl.Warnings()
			if c.want == "" && len(warnings) > 0 || c.want != "" && (len(warnings) != 1 || !strings.HasPrefix(warnings[0].Message, c.want)) {
				t.Errorf("%s: %v; want %q", c.text, warnings, c.want)
			}
			_, report := execute(t, tpl, decode(t, `{"items": [], "i": {"name": "x"}, "j": {"n": 1}, "loop": {"number": 1}}`))
			for _, w := range report.Warnings {
				if strings.Contains(w, "belongs to a loop") {
					t.Errorf("the input has the key, but the document has the warning %q", w)
				}
			}
		})
	}
}

func TestVariablesWithFormattedText(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"in a computation":   {`{{let x = n :: format("#,##0")}}{{x * 2}}`, "not a number"},
		"in a filter":        {`{{let x = d :: date("M/d/yyyy")}}{{x :: date("long")}}`, "not a date"},
		"named again":        {`{{let x = n :: currency("EUR")}}{{let y = x}}{{$round(y)}}`, "not a number"},
		"of a loop":          {`{{for p in prices :: format("#,##0")}}{{p + 1}}{{endfor}}`, "not a number"},
		"in a condition":     {`{{let x = n :: format("#,##0")}}{{if x &gt; 1000}}{{endif}}`, "not a number"},
		"only printed":       {`{{let x = n :: format("#,##0")}}{{x}}{{x :: pad(9)}}`, ""},
		"year":               {`{{let x = d :: date("yyyy")}}{{x + 1}}`, ""},
		"after its block":    {`{{if a}}{{let x = n :: format("#,##0")}}{{endif}}{{x + 1}}`, ""},
		"hidden by a number": {`{{let x = n :: format("#,##0")}}{{let x = n}}{{x + 1}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>` + c.text + `</w:t></w:r></w:p>`}))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v; want %q", c.text, err, c.want)
			}
		})
	}
}
