package docx_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"platen/docx"
)

// fieldRuns returns the runs of a field, whose code may contain others.
func fieldRuns(code string) string { return fieldBegin(code) + fieldEnd("") }

func fieldBegin(code string) string {
	return `<w:r><w:fldChar w:fldCharType="begin"/></w:r>` + codeRun(code)
}

func fieldEnd(code string) string {
	return codeRun(code) + `<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>old</w:t></w:r>` +
		`<w:r><w:fldChar w:fldCharType="end"/></w:r>`
}

func codeRun(code string) string {
	return `<w:r><w:instrText xml:space="preserve">` + code + `</w:instrText></w:r>`
}

func simpleField(code string) string {
	return `<w:fldSimple w:instr="` + code + `"><w:r><w:t>old</w:t></w:r></w:fldSimple>`
}

// hostileFields returns templates with n fields of Word, or fields in each other.
func hostileFields(n int) map[string]string {
	many := func(text string) string { return strings.Repeat(text, n) }
	name := fieldRuns("MERGEFIELD Name")
	par := func(text string) string { return `<w:p>` + text + `</w:p>` }
	open := `<w:r><w:fldChar w:fldCharType="begin"/></w:r>`
	shown := `<w:r><w:fldChar w:fldCharType="separate"/></w:r>`
	end := `<w:r><w:fldChar w:fldCharType="end"/></w:r>`
	numbered := func(format string) string { return manyNumbered(format, n) }
	return map[string]string{
		"records":                   many(par(fieldRuns("NEXT") + fieldRuns(`MERGEFIELD Name \* Upper`))),
		"records in one paragraph":  par(many(fieldRuns("NEXT") + name)),
		"fields":                    numbered(par(fieldRuns("MERGEFIELD Name%d"))),
		"fields in one paragraph":   par(numbered(fieldRuns("MERGEFIELD Name%d"))),
		"simple fields":             par(numbered(simpleField("MERGEFIELD Name%d"))),
		"numeric pictures":          par(many(fieldRuns(`MERGEFIELD Amount \# "#,##0.00"`))),
		"fields without a result":   par(many(open + codeRun(`MERGEFIELD Amount \# "0.00"`) + end)),
		"conditions":                par(many(fieldBegin("IF ") + name + fieldEnd(`= "a" "b" "c"`))),
		"fields that stay":          par(many(fieldRuns("ADDRESSBLOCK")) + name),
		"tags in codes":             par(many(fieldRuns(`IF {{n}} = 5 "a" "b"`))),
		"tags in a code":            par(simpleField("QUOTE &quot;" + many("{{n}}") + "&quot;")),
		"merge fields in one code":  par(fieldBegin(`HYPERLINK "`) + many(name+codeRun("/")) + fieldEnd(`"`)),
		"merge fields in a formula": par(fieldBegin("=1") + many(codeRun("+")+name) + fieldEnd("")),
		"merge fields as arguments": par(fieldBegin("QUOTE ") + many(name+codeRun(" ")) + fieldEnd("")),
		"bookmarks": par(numbered(`<w:bookmarkStart w:id="%[1]d" w:name="b%[1]d"/><w:bookmarkEnd w:id="%[1]d"/>` +
			fieldRuns("REF b%[1]d"))),
		"variables": par(numbered(fieldBegin("SET b%[1]d ") + name + fieldEnd("") + fieldRuns("REF b%[1]d"))),
		"variables of variables": par(fieldBegin("SET b ") + name + fieldEnd("") +
			many(fieldBegin(`SET b "x`)+fieldRuns("REF b")+fieldEnd(`"`))),
		"a long variable": par(fieldBegin(`SET b "`) + name + fieldEnd(strings.Repeat("long ", 380)+`"`) + fieldBegin("QUOTE ") +
			many(fieldRuns("REF b")+codeRun(" ")) + fieldEnd("")),
		"variables in each other":   par(numbered(fieldBegin(`SET b%d "`)) + name + many(fieldEnd(`"`))),
		"conditions in each other":  par(many(fieldBegin(`IF 1 = 1 "`)) + name + many(fieldEnd(`" "c"`))),
		"results in each other":     par(many(open+codeRun("PAGEREF b")+shown) + name + many(end)),
		"properties in each other":  par(many(open+codeRun("DOCPROPERTY x")+shown) + `<w:bookmarkEnd w:id="1"/>` + many(end)),
		"links in each other":       par(many(fieldBegin(`HYPERLINK "`)+name+shown) + many(end)),
		"variables without an end":  many(par(fieldBegin("SET b ") + name)),
		"computed tags":             par(many(fieldBegin("= ") + fieldRuns("QUOTE {{n}}") + fieldEnd(" * {{n}}"))),
		"tags in each other":        par(many(fieldBegin(`IF {{n}} = 5 "`)) + many(fieldEnd(`"`))),
		"fields without an end":     par(many(fieldBegin("MERGEFIELD Name"))),
		"paragraphs without an end": many(par(fieldBegin("MERGEFIELD Name"))),
		"marks in one run": par(`<w:r>` + many(`<w:fldChar w:fldCharType="begin"/><w:instrText>MERGEFIELD Name</w:instrText>`+
			`<w:fldChar w:fldCharType="end"/>`) + `</w:r>`),
		"pieces of a code":           par(open + many(codeRun("")) + codeRun("MERGEFIELD ") + many(codeRun("")) + fieldEnd("Name")),
		"parentheses in a formula":   par(fieldBegin("="+many("(")) + name + fieldEnd(many(")"))),
		"operators in a formula":     par(fieldBegin("=1"+many("+1")+"+") + name + fieldEnd("")),
		"signs in a formula":         par(fieldBegin("="+many("-")) + name + fieldEnd("")),
		"quotes in a code":           par(fieldBegin("IF "+many("&quot;")) + name + fieldEnd("")),
		"blanks in a date":           par(fieldRuns(`MERGEFIELD Name \@ "d` + many(" ") + `"`)),
		"steps of a path":            par(fieldRuns("MERGEFIELD a" + many(".a"))),
		"form fields in one another": par(many(open+codeRun("FORMTEXT")+shown) + many(end)),
	}
}

// Templates with very many fields, or with fields in each other, are compiled and filled in about the time of their size. Many of them
// once took minutes, because all paragraphs, runs, or fields were looked at for each field.
func TestHostileFields(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 5000
	}
	data := decode(t, `{"Name":"Ada","Amount":5,"n":5,"records":[{"Name":"Bob"},{"Name":"Cy"}]}`)
	for name, body := range hostileFields(n) {
		t.Run(name, func(t *testing.T) {
			tpl, err := parse(build(t, map[string]string{"document.xml": body}))
			if err != nil {
				if !explains(err) || len(err.Error()) > 200_000 {
					t.Errorf("the error is of no known kind or %d bytes long", len(err.Error()))
				}
				return
			}
			if _, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The memory that fields take grows with their number.
func TestFieldsTakeLinearMemory(t *testing.T) {
	const n, factor = 400, 5
	more := hostileFields(factor * n)
	for name, body := range hostileFields(n) {
		allocated := func(body string) uint64 {
			file := build(t, map[string]string{"document.xml": body})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := parse(file); err != nil && !explains(err) {
				t.Errorf("%s: %v", name, err)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := allocated(body), allocated(more[name]); many > 2*factor*few {
			t.Errorf("%s: %d bytes for %d, %d bytes for %d", name, few, n, many, factor*n)
		}
	}
}

// The work of filling a template with the field NEXT grows with the number of its fields, however many records there are.
func TestRecordsTakeLinearWork(t *testing.T) {
	steps := func(n int) int64 {
		body := `<w:p>` + strings.Repeat(fieldRuns("MERGEFIELD Name")+fieldRuns("NEXT"), n) + `</w:p>`
		tpl := mustParse(t, map[string]string{"document.xml": body})
		report, err := tpl.Execute(t.Context(), io.Discard, decode(t, `{"records":`+listOf(n, func(i int) string {
			return fmt.Sprintf(`{"Name":"%d"}`, i)
		})+`}`), docx.Options{})
		if err != nil || len(report.Errors)+len(report.Warnings) > 0 {
			t.Fatal(err, report.Errors, report.Warnings)
		}
		return report.Used.Steps
	}
	const n, factor = 500, 4
	if few, many := steps(n), steps(factor*n); many > 2*factor*few {
		t.Errorf("%d steps for %d, %d steps for %d", few, n, many, factor*n)
	}
}

// The lengths of codes and of the values of SET are limited.
func TestFieldsAreLimited(t *testing.T) {
	const maxCode, maxVariable = 16 << 10, 2000
	quote := func(n int) string { // a code of n bytes
		code := `QUOTE "" ""`
		return fieldBegin(`QUOTE "`) + fieldRuns("MERGEFIELD Name") + fieldEnd(`" "`+strings.Repeat("x", n-len(code))+`"`)
	}
	set := func(n int) string { // a value of n bytes as an expression
		value := `$string((Name), "")`
		return fieldBegin(`SET b "`) + fieldRuns("MERGEFIELD Name") + fieldEnd(strings.Repeat("x", n-len(value)-len("``"))+`"`) +
			fieldRuns("REF b")
	}
	for name, c := range map[string]struct {
		body, warning string
		old           int // the fields that keep their results, also in the code of others
	}{
		"a code":          {quote(maxCode), "", 0},
		"a long code":     {quote(maxCode + 1), "The field QUOTE stays as it is: its code is too long.", 2},
		"a variable":      {set(maxVariable), "", 1},
		"a long variable": {set(maxVariable + 1), "The field SET stays as it is: its value is too long.", 3},
	} {
		tpl := mustParse(t, map[string]string{"document.xml": `<w:p>` + c.body + `</w:p>`})
		out, report := execute(t, tpl, decode(t, `{"Name":"Ada"}`))
		old := strings.Count(unpack(t, out)["word/document.xml"], ">old<")
		warnings := strings.Join(report.Warnings, "\n")
		if old != c.old || !strings.Contains(warnings, c.warning) || c.warning == "" && warnings != "" {
			t.Errorf("%s: %d old results, want %d; warnings %q", name, old, c.old, warnings)
		}
	}
}

// The number of fields with values is limited, as that of tags is.
func TestFieldsWithValuesAreCounted(t *testing.T) {
	const most = 20_000
	field := `<w:fldSimple w:instr="MERGEFIELD a"/>`
	for n, want := range map[int]string{most: "", most + 1: "more than 20000 fields with values"} {
		_, err := parse(build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>x</w:t></w:r>` + strings.Repeat(field, n) + `</w:p>`}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d fields: %.300v", n, err)
		}
	}
}
