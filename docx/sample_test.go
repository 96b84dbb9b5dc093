package docx_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
)

// suits executes a template with its own sample.
func suits(t *testing.T, tpl *docx.Template) {
	t.Helper()
	sample, err := tpl.Sample()
	if err != nil {
		t.Fatal(err)
	}
	data := decode(t, string(sample))
	if wrong := tpl.Schema().Check(data); len(wrong) > 0 {
		t.Errorf("the sample does not suit the schema: %v\n%s", wrong, sample)
	}
	report, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{Now: time.Unix(1e9, 0), WordML: true})
	if err != nil || len(report.Errors) > 0 {
		t.Errorf("with the sample: %v %q\n%s", err, report.Errors, sample)
	}
	own := tpl.Warnings().Messages()
	for _, warning := range report.Warnings {
		if !strings.Contains(strings.Join(own, "\n"), warning) && !strings.Contains(warning, "has no style") {
			t.Errorf("with the sample: warning %q\n%s", warning, sample)
		}
	}
}

// TestSampleSuitsEachTag executes templates of one tag each with their samples.
func TestSampleSuitsEachTag(t *testing.T) {
	filters := []string{
		`optional`, `default("n/a")`, `default(b)`, `date`, `date("long")`, `date(b)`, `time`, `time("HH:mm")`, `time(b)`,
		`date("d.M.yyyy HH:mm")`, `add(b) :: date`, `add(b) :: time`, `timezone("Europe/Paris") :: time`, `timezone(b)`,
		`add(5)`, `add("+1 month")`, `add(b)`, `add(2 * b)`, `where(b > 10) :: count`, `where(b in c) :: count`, `sort(b) :: count`,
		`sort(b, "desc") :: count`, `sort`, `group(b) :: count`, `unique(b) :: count`, `first`, `first(b)`, `last(3)`, `last(b)`,
		`slice(0, 3)`, `slice(b)`, `slice(b, c)`, `reverse`, `count`, `join`, `join(b, c)`, `delimiter(b)`, `lastdelimiter(" and ")`,
		`format("dd-mm-yyyy")`, `format("#,##0.00")`, `format("US-Number")`, `format("xxx-xxxx")`, `format(b)`, `currency("EUR")`,
		`currency(b)`, `words`, `ordinal`, `percent`, `percent(b)`,
		`raw`, `html`, `markdown`, `image`, `image("4cm", "3cm", "fill")`, `image(b, c)`, `qrcode`, `qrcode(b)`, `barcode`, `barcode(b)`,
		`checkbox`, `checkbox(b, c)`, `pagebreak`,
		`bold(b)`, `color("red", b)`, `color(b)`, `color(b, c)`, `style(b)`, `style("Strong", b)`, `link`, `link("text")`, `link(b)`,
		`merge`, `span(2)`, `span(b)`,
		`uppercase`, `titlecase`, `trim :: lowercase`, `truncate(20)`, `truncate(b, c)`, `replace(b, c)`, `pad(6, "0")`, `pad(b, c)`,
		`pad(b, c, d)`, `split(",")`, `split(b)`,
	}
	for _, kind := range lang.Symbologies {
		filters = append(filters, fmt.Sprintf("barcode(%q)", kind))
	}
	var tags []string
	for _, f := range filters {
		for _, key := range []string{"a", "price", "größe", "email", "count"} {
			tags = append(tags, "{{"+key+" :: "+f+"}}")
		}
	}
	for _, key := range []string{"a", "price", "größe", "email", "items"} {
		for _, expr := range []string{
			`$sum(%s.b)`, `$average(%s, b * c)`, `$min(%s)`, `$max(%s.b)`, `$count(%s, b > 10)`, `$count(%s)`, `$days(%s, b)`, `$round(%s, b)`,
			`$floor(%s)`, `$abs(-%s)`, `$number(%s)`,
			`$string(%s, " ", b)`, `$join(%s, b, c)`, `$length(%s)`, `$lookup(%s, "k")`, `$lookup(%s, "k.l")`, `$lookup(%s, "k", b, "v")`,
			`%s[b]`, `%[1]s[b].c :: uppercase`, `%s[b] * 2`, `%s[idx].name * 2`, `%s[b - 1].c`, `%s[2].b`, `%s[-3]`, `%s[2] :: uppercase`,
			`%s.b[2].c`, `%s %% b`,
		} {
			tags = append(tags, "{{"+fmt.Sprintf(expr, key)+"}}")
		}
		for _, condition := range []string{
			`%s > 3`, `%s == "x"`, `%s in ["A", "B"]`, `"A" in %s`, `%s in b`, `%s contains "A"`, `%s < $today`, `%s isPresent`, `%s * 2 > b`,
			`not %s`, `%s and b.c`, `%s == b`, `%s < b`, `%s == null`, `$length(%s) > 2`, `%s in [1, 2]`, `%s != "x"`,
		} {
			tags = append(tags, "{{if "+fmt.Sprintf(condition, key)+"}}{{endif}}")
		}
		tags = append(tags, fmt.Sprintf("{{%[1]s[b].c}}{{%[1]s[b].d.e}}", key), fmt.Sprintf("{{%[1]s[idx].c}}{{%[1]s[idx].d * 2}}", key))
		tags = append(tags, fmt.Sprintf("{{for x in %[1]s}}{{x.b :: link}}{{%[1]s[3].c}}{{endfor}}", key))
	}
	for _, tag := range tags {
		t.Run(tag, func(t *testing.T) {
			suits(t, mustParse(t, map[string]string{"document.xml": table(2,
				row(cellOf(strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(tag)), cellOf("x"))) + para("x")}))
		})
	}
}

func TestSchemaOfControls(t *testing.T) {
	control := func(tag, kind string) string {
		return `<w:sdt><w:sdtPr><w:tag w:val="` + tag + `"/>` + kind + `</w:sdtPr><w:sdtContent>` + para("x") + `</w:sdtContent></w:sdt>`
	}
	entries := `<w:listItem w:displayText="Red" w:value="r"/><w:listItem w:displayText="Blue" w:value="Blue"/>`
	tpl := mustParse(t, map[string]string{"document.xml": control("{{paid}}",
		`<w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"/>`) +
		control("{{colour}}", `<w:dropDownList>`+entries+`</w:dropDownList>`) + control("{{size :: optional}}", `<w:comboBox>`+entries+
		`</w:comboBox>`) +
		control("{{shade :: default(other)}}", `<w:dropDownList>`+entries+`</w:dropDownList>`) + control("{{due}}", `<w:date/>`) +
		para("{{list[2]}}")})
	suits(t, tpl)
	written, err := tpl.Schema().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"paid":{"description":"Used by {{paid}}","type":"boolean"}`,
		`"colour":{"description":"Used by {{colour}}","type":"string","enum":["Red","Blue","r"]}`,
		`"size":{"description":"Used by {{size :: optional}}","type":["string","number","boolean","null"],"examples":["Red","Blue","r"]}`,
		`"shade":{"description":"Used by {{shade :: default(other)}}","type":["string","null"],"enum":["Red","Blue","r",null]}`,
		`"other":{"description":"Used by {{shade :: default(other)}}","type":["string","null"],"enum":["Red","Blue","r",null]}`,
		`"due":{"description":"Used by {{due}}","type":"string","format":"date"}`,
		`"list":{"description":"Used by {{list[2]}}","type":"array","minItems":3,"items":`,
	} {
		if !strings.Contains(string(written), want) {
			t.Errorf("the schema lacks %s:\n%s", want, written)
		}
	}
	again, err := lang.ParseSchema(written)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := again.MarshalJSON(); err != nil || !bytes.Equal(second, written) {
		t.Errorf("read again it is %s, %v", second, err)
	}
	wrong := again.Check(decode(t, `{"paid":true,"colour":"Green","due":"2026-01-02","list":[1,2,3]}`))
	if len(wrong) != 1 || wrong[0].String() != `'colour' is not one of "Red", "Blue", "r"` {
		t.Errorf("the check finds %v", wrong)
	}
}

// TestSchemaOfMergeFields checks that the schema, also as JSON, accepts the keys that merge fields find.
func TestSchemaOfMergeFields(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": `<w:p><w:fldSimple w:instr=" MERGEFIELD First_Name "/>` +
		`<w:fldSimple w:instr=" MERGEFIELD total \# 0.00 "/><w:r><w:t>{{city}}</w:t></w:r></w:p>`})
	written, err := tpl.Schema().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := lang.ParseSchema(written)
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{
		`{"First_Name":"Ada","total":7,"city":"Rome"}`:                    "[]",
		`{"first name":"Ada","TOTAL":"$1,234.50","city":"Rome"}`:          "[]",
		`{"first name":"Ada","FIRST-NAME":"Bob","total":7,"city":"Rome"}`: "['First_Name' is missing; did you mean '`first name`'?]",
		`{"First_Name":"Ada","total":7,"City":"Rome"}`:                    "['city' is missing; did you mean 'City'?]",
	} {
		if got := fmt.Sprint(schema.Check(decode(t, data))); got != want {
			t.Errorf("%s: %s, not %s", data, got, want)
		}
	}
}

// unsuited are the golden files whose templates lack something whatever the data.
var unsuited = map[string]string{
	"testdata/content-control-options.txtar": "{{color :: options(names)}}", // the sample does not relate a value to the list of its options
	"testdata/error-details.txtar":           `{{n * "x"}}`,
	"testdata/missing-blank.txtar":           "{{null}}",
	"testdata/word-fields-locale.txtar":      "pictures that only German reads",
}

// TestSampleSuitsTheGoldens executes the templates of the golden files with their samples.
func TestSampleSuitsTheGoldens(t *testing.T) {
	for _, name := range goldenNames(t) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sectionOf(archive, "want.xml") == "" || unsuited[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			parts, _ := compiletest.Input(archive)
			file := build(t, parts)
			tpl, err := docx.ParseWith(t.Context(), bytes.NewReader(file), int64(len(file)), docx.ParseOptions{Include: goldenFiles(t, archive)})
			if err != nil {
				t.Fatal(err)
			}
			suits(t, tpl)
		})
	}
}
