package docgen_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"platen/docgen"
)

// csvSchema is the schema of a template with values of each kind.
const csvSchema = `{"type":"object","properties":{"number":{"type":"string"},"total":{"type":"number"},"paid":{"type":"boolean"},
	"due":{"type":"string","format":"date"},"customer":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"number"}}},
	"items":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"price":{"type":"number"}}}},"vip":{},
	"left":{"examples":["A"]}}}`

func TestCSV(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		form       docgen.CSVForm
		pattern    string
		documents  []string
		problems   []string
	}{
		{name: "a line is a document", data: "generated_file_name,number\nA,1\nB,2\n",
			documents: []string{`A {"number":"1"}`, `B {"number":"2"}`}},
		{name: "paths", data: "generated_file_name,customer.name,customer.age,items[0].text,items[1].text,\"odd[\"\"a.b\"\"]\",tags[0]\n" +
			"A,Ada,36,x,,o,t\n",
			documents: []string{`A {"customer":{"name":"Ada","age":36},"items":[{"text":"x"}],"odd":{"a.b":"o"},"tags":["t"]}`}},
		{name: "types come from the schema", data: "generated_file_name,number,total,paid,due,other\nA,007,007.50,TRUE,2026-01-31,007\n",
			documents: []string{`A {"number":"007","total":7.50,"paid":true,"due":"2026-01-31","other":"007"}`}},
		{name: "numbers", data: "generated_file_name,total\nA,-0012\nC,0\nD, 5 \nE,00\n",
			documents: []string{`A {"total":-12}`, `C {"total":0}`, `D {"total":5}`, `E {"total":0}`}},
		{name: "a number that Excel has shortened", data: "generated_file_name,total\nA,1.23457E+11\n",
			problems: []string{`line 2: total must be a number such as -1234.5, not "1.23457E+11"`}},
		{name: "values that are only tested", data: "generated_file_name,vip\nA,False\nB,TRUE\nC,\nD,gold\nE,No\nF,0\n",
			documents: []string{`A {"vip":false}`, `B {"vip":true}`, `C {}`, `D {"vip":"gold"}`},
			problems:  []string{`line 6: vip must be true or false, not "No"`, `line 7: vip must be true or false, not "0"`}},
		{name: "values that are compared are text", data: "generated_file_name,left\nA,TRUE\nB,No\nC,0\nD,\n",
			documents: []string{`A {"left":"TRUE"}`, `B {"left":"No"}`, `C {"left":"0"}`, `D {"left":""}`}},
		{name: "items by position", data: "generated_file_name,items[0].text,items[1].text\nA,x,\nB,,y\nC,,\n",
			documents: []string{`A {"items":[{"text":"x"}]}`, `C {"items":[]}`},
			problems: []string{"line 3: items[1].text has a value, but the item at position 0, items[0].text, is empty: fill items from the first " +
				"one on"}},
		{name: "positions that are missing", data: "generated_file_name,items[0].text,items[2].text\nA,x,y\n", problems: []string{
			`line 1: "items[2].text" is position 2 of its list, but no heading has position 1`}},
		{name: "lines without values", data: "generated_file_name,number\nA,1\n,\n ,\nB,2\n,\n",
			documents: []string{`A {"number":"1"}`, `B {"number":"2"}`}},
		{name: "empty cells", data: "generated_file_name,number,total,paid\nA,,,\n", documents: []string{`A {"number":""}`}},
		{name: "formulas are text", data: "generated_file_name,number\nA,\"=cmd|' /C calc'!A0\"\nB,+1\nC,@x\n",
			documents: []string{`A {"number":"=cmd|' /C calc'!A0"}`, `B {"number":"+1"}`, `C {"number":"@x"}`}},
		{name: "a formula is no number", data: "generated_file_name,total\nA,=1+1\n",
			problems: []string{`line 2: total must be a number such as -1234.5, not "=1+1"`}},
		{name: "bad cells", data: "generated_file_name,total,paid\nA,\"1,5\",yes\nB,1,true\n,1,true\na/b,1,true\n",
			documents: []string{`B {"total":1,"paid":true}`},
			problems: []string{`line 2: total must be a number such as -1234.5, not "1,5"`, `line 2: paid must be true or false, not "yes"`,
				"line 4: a name must not be empty", "line 5: a name must not contain '/' or '\\'"}},
		{name: "semicolons and a byte order mark", data: "\ufeffgenerated_file_name;number;total\nA;1,2;3\n",
			documents: []string{`A {"number":"1,2","total":3}`}},
		{name: "tabs", data: "generated_file_name\tnumber\nA\tx;y,z\n", documents: []string{`A {"number":"x;y,z"}`}},
		{name: "delimiters in quotes do not count", data: "generated_file_name;\"a,b,c,d\"\nA;1\n", documents: []string{`A {"a,b,c,d":"1"}`}},
		{name: "a given delimiter", data: "generated_file_name|a,b,c\nA|1\n", form: docgen.CSVForm{Delimiter: "|"},
			documents: []string{`A {"a,b,c":"1"}`}},
		{name: "mixed line endings", data: "generated_file_name,number\r\nA,1\nB,2\r\n\r\nC,3",
			documents: []string{`A {"number":"1"}`, `B {"number":"2"}`, `C {"number":"3"}`}},
		{name: "line breaks, quotes, and control characters", data: "generated_file_name,number\nA,\"a\n\"\"b\"\"\t\\\"\nB,/\n",
			documents: []string{`A {"number":"a\u000a\"b\"\u0009\\"}`, `B {"number":"/"}`}},
		{name: "columns without a heading", data: "generated_file_name,number,,\nA,1,,\nB,2,,x\n", documents: []string{`A {"number":"1"}`},
			problems: []string{"line 3: column 4 has no heading, but a value"}},
		{name: "too few cells, and too many", data: "generated_file_name,number\nA\nB,1,2\nC,3\n", documents: []string{`C {"number":"3"}`},
			problems: []string{"line 2: the line has 1 cells, but there are 2 columns", "line 3: the line has 3 cells, but there are 2 columns"}},
		{name: "a quote in the middle", data: "generated_file_name,number\nA,a\"b\nB,1\n", documents: []string{`B {"number":"1"}`},
			problems: []string{"line 2: a cell contains a quote, but does not begin with one: write the cell in quotes, and each quote in it " +
				"twice"}},
		{name: "a line for Excel", data: "sep=;\ngenerated_file_name;number\nA;1\n",
			problems: []string{"line 1: the line sep= is a setting for Excel: delete it, so that the first line has the headings of the columns"}},
		{name: "a quote that is not closed", data: "generated_file_name,number\nA,\"1\nB,2\n",
			problems: []string{"line 2: a cell that begins with a quote is not closed, or has text after its closing quote: write each quote " +
				"in it twice"}},
		{name: "another encoding", data: "generated_file_name,number\nA,Gr\xf6\xdfe\nB,1\n", documents: []string{`B {"number":"1"}`},
			problems: []string{"line 2: the cell is not UTF-8; save the data as UTF-8, which Excel calls CSV UTF-8"}},
		{name: "UTF-16", data: "\xff\xfea\x00", problems: []string{"line 1: the data is UTF-16; save it as UTF-8, which Excel calls CSV UTF-8"}},
		{name: "a pattern", data: "number;customer.name\n7;Ada\n8;\n", pattern: "Invoice {{number}} for {{customer.name :: uppercase}}",
			documents: []string{`Invoice 7 for ADA {"number":"7","customer":{"name":"Ada"}}`,
				`Invoice 8 for  {"number":"8","customer":{"name":""}}`}},
		{name: "a pattern whose value is missing", data: "total\n\n1\nx\n", pattern: "{{number}}", problems: []string{
			"line 3: the pattern for file names: The tag 'number' was not provided in the input data.",
			`line 4: total must be a number such as -1234.5, not "x"`}},
		{name: "groups", data: "generated_file_name,number,items[].text,items[].price\nA,1,x,1\nA,1,y,2\nA,,,\nB,2,z,3\nC,3,,\n",
			form: docgen.CSVForm{GroupBy: []string{"generated_file_name"}},
			documents: []string{`A {"number":"1","items":[{"text":"x","price":1},{"text":"y","price":2}]}`,
				`B {"number":"2","items":[{"text":"z","price":3}]}`, `C {"number":"3","items":[]}`}},
		{name: "groups whose lines are not together", data: "generated_file_name,items[].text\nA,x\nB,y\nA,z\n",
			form:      docgen.CSVForm{GroupBy: []string{"generated_file_name"}},
			documents: []string{`A {"items":[{"text":"x"}]}`, `B {"items":[{"text":"y"}]}`},
			problems: []string{`line 4: "A" has a document with the same values on an earlier line, but not directly before: sort the lines by ` +
				"the columns of csv.group_by"}},
		{name: "groups that differ", data: "generated_file_name,number,items[].price\nA,1,1\nA,2,x\nB,1,1\n",
			form:      docgen.CSVForm{GroupBy: []string{"generated_file_name"}},
			documents: []string{`B {"number":"1","items":[{"price":1}]}`},
			problems:  []string{"line 3: number differs from the first line of the group; only columns of lists can differ"}},
		{name: "a bad line after a group", data: "generated_file_name,items[].text\nA,x\nA,x,y\nB,z\n",
			form:      docgen.CSVForm{GroupBy: []string{"generated_file_name"}},
			documents: []string{`A {"items":[{"text":"x"}]}`, `B {"items":[{"text":"z"}]}`},
			problems:  []string{"line 3: the line has 3 cells, but there are 2 columns"}},
		{name: "nothing", data: "", problems: []string{"line 1: the data is empty; the first line must have the headings of the columns"}},
		{name: "no names", data: "number\n1\n", problems: []string{"line 1: the names of the documents are missing: add the column " +
			"generated_file_name, or set generated_file_name to a pattern such as \"Invoice {{number}}\""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := docgen.DataFormat{Format: docgen.FormatCSV, Name: tt.pattern, CSV: tt.form}
			for _, data := range []io.Reader{strings.NewReader(tt.data), iotest.OneByteReader(strings.NewReader(tt.data))} {
				documents, problems, err := docgen.ReadRows(f, csvSchema, data, docgen.Limits{})
				must(t, err)
				if !slices.Equal(documents, tt.documents) {
					t.Errorf("documents\n%s\nwant\n%s", strings.Join(documents, "\n"), strings.Join(tt.documents, "\n"))
				}
				if !slices.Equal(problems, tt.problems) {
					t.Errorf("problems\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(tt.problems, "\n"))
				}
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	for head, want := range map[string]string{
		"a,a": `"a" is repeated`, "a,a.b": `"a.b" is a value, a list, or an object in another heading`,
		"a.b,a": `"a" is repeated, or is also the beginning`, "a[0],a.b": "is a value, a list", "a..b": "is not a path", ".a": "is not a path",
		"a.": "is not a path", "a[": "brackets must have", "a[x]": "brackets must have", "a[01]": "brackets must have",
		"a[1000]": "brackets must have",
		"a[-1]":   "brackets must have", "a[0]b": "is not a path", "[0]": "must begin with a key", "a[].b": "needs csv.group_by",
		"\"a[\"\"\"\"]\"": "brackets must have", strings.Repeat("a.", 20) + "a": "more than 20 steps",
		strings.Repeat("x", 501): "more than 500 bytes",
		"\xff":                   "not UTF-8", "\"a\rb\"": "line break", "generated_file_name": "generated_file_name is repeated",
		strings.Repeat("x,", 1000): "more than 1000",
	} {
		f := docgen.DataFormat{Format: docgen.FormatCSV}
		_, problems, err := docgen.ReadRows(f, "", strings.NewReader("generated_file_name,"+head+"\n"), docgen.Limits{})
		must(t, err)
		if len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%q: %q, want %q", shortName(head), problems, want)
		}
	}
}

func shortName(s string) string { return s[:min(len(s), 30)] }

// A line of 100 MB is an error, and is not in memory.
func TestLongRows(t *testing.T) {
	limits := docgen.Limits{InputBytes: 1000}
	for format, data := range map[string]string{
		docgen.FormatCSV: "generated_file_name,a\nA,\"", docgen.FormatNDJSON: `{"generated_file_name":"A","user_input":{"a":"`,
		docgen.FormatJSON: `[{"generated_file_name":"A","user_input":{"a":"`,
	} {
		read := &counter{r: io.MultiReader(strings.NewReader(data), io.LimitReader(endless{}, 100<<20))}
		documents, problems, err := docgen.ReadRows(docgen.DataFormat{Format: format}, "", read, limits)
		must(t, err)
		if len(documents) > 0 || len(problems) != 1 || !strings.Contains(problems[0], "the row has more than") {
			t.Errorf("%s: %q, %q", format, documents, problems)
		}
		if format != docgen.FormatNDJSON && read.n > 1<<20 {
			t.Errorf("%s: %d bytes were read of a row that is too long", format, read.n)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestJSONRows(t *testing.T) {
	for _, tt := range []struct{ name, format, data, documents, problems string }{
		{"lines", "ndjson", "\ufeff{\"generated_file_name\":\"A\",\"user_input\":{\"a\":1}}\r\n\n " +
			"{\"user_input\":{},\"generated_file_name\":\"B\"}",
			`A {"a":1}|B {}`, ""},
		{"bad lines", "ndjson", "{\n[]\n{\"user_input\":{}}\n{\"generated_file_name\":\"A\",\"user_input\":[]}\n{\"generated_file_name\":\"B\"," +
			"\"user_input\":{}}\n{\"generated_file_name\":\"C\",\"user_input\":{}} x\n" +
			"{\"x\":1,\"generated_file_name\":\"D\",\"user_input\":{}}\n\xff",
			"B {}", "line 1: the row is not valid JSON: unexpected EOF|line 2: the row must be a JSON object with user_input|" +
				"line 3: a name must not be empty|line 4: user_input must be a JSON object|line 6: the row is not valid JSON: " +
				"invalid character 'x' at start of value|line 7: x is not a field of a row; valid fields are generated_file_name, user_input|" +
				"line 8: the row is not UTF-8"},
		{"an array", "json", ` [{"generated_file_name":"A","user_input":{"a":[{}]}}, {"generated_file_name":"B","user_input":{}} ] `,
			`A {"a":[{}]}|B {}`, ""},
		{"no array", "json", `{"generated_file_name":"A"}`, "", "line 0: the data must be a JSON array; for one object on each line, use " +
			"data_format ndjson"},
		{"a broken array", "json", `[{"generated_file_name":"A","user_input":{}},{"a" 1}]`, "A {}",
			"line 0: the data is not valid JSON after element 1: invalid character '1' after object name (expecting ':')"},
		{"an array without an end", "json", `[{"generated_file_name":"A","user_input":{}},`, "A {}",
			"line 0: the data ends after element 1, before the end of the array"},
		{"an array with an end", "json", `[] 1`, "", "line 0: the data continues after the end of the array"},
		{"nothing", "json", ``, "", "line 0: the data must be a JSON array; for one object on each line, use data_format ndjson"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			documents, problems, err := docgen.ReadRows(docgen.DataFormat{Format: tt.format}, "", strings.NewReader(tt.data), docgen.Limits{})
			must(t, err)
			if got := strings.Join(documents, "|"); got != tt.documents {
				t.Errorf("documents %s\nwant %s", got, tt.documents)
			}
			if got := strings.Join(problems, "|"); got != tt.problems {
				t.Errorf("problems %s\nwant %s", got, tt.problems)
			}
		})
	}
}

// FuzzCSV checks that any data is read to its end, and that each document is JSON.
func FuzzCSV(f *testing.F) {
	f.Add("generated_file_name,number,total,paid,items[0].price\nA,1,2,true,3\n", "", "")
	f.Add("number;items[].price\r\n\"1\";2\r\n1;3", "number", "{{number}}")
	f.Add("\ufeffgenerated_file_name\ta[\"b\"].c[1]\n\"x\"\"\t\n", "", "")
	f.Add("a,a\n\"", "a", "x")
	f.Fuzz(func(t *testing.T, data, group, pattern string) {
		format := docgen.DataFormat{Format: docgen.FormatCSV, Name: pattern}
		if group != "" {
			format.CSV.GroupBy = []string{group}
		}
		documents, problems, err := docgen.ReadRows(format, csvSchema, strings.NewReader(data), docgen.Limits{InputBytes: 10_000})
		if err != nil {
			wantCode(t, err, docgen.CodeBadRequest) // a pattern that is invalid
			return
		}
		for _, document := range documents {
			input := document[strings.Index(document, " {")+1:]
			for !json.Valid([]byte(input)) && strings.Contains(input[1:], " {") { // the name has it too
				input = input[1+strings.Index(input[1:], " {")+1:]
			}
			if !json.Valid([]byte(input)) || !utf8.ValidString(input) {
				t.Fatalf("document %q is not JSON", document)
			}
		}
		if len(problems) > 10*(2+strings.Count(data, "\n")) {
			t.Errorf("%d problems", len(problems))
		}
	})
}

func TestManyProblemsOfRow(t *testing.T) {
	heads, cells := "generated_file_name,items[0].price", "A,x"
	for _, name := range numbered("items[%d].price", 11) {
		heads, cells = heads+","+name, cells+",x"
	}
	data := strings.NewReader(heads + "\n" + cells)
	_, problems, err := docgen.ReadRows(docgen.DataFormat{Format: docgen.FormatCSV}, csvSchema, data, docgen.Limits{})
	must(t, err)
	if len(problems) != 10 {
		t.Errorf("%d problems, want 10: %q", len(problems), problems)
	}
}

func TestPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"{{for x in y}}": "tags for values only", "{{a": "not part of a tag", "{{a :: nope}}": "no filter",
		strings.Repeat("x", 1001): "too long",
		"a/b":                     "must not contain", strings.Repeat("x", 256): "255",
	} {
		format := docgen.DataFormat{Format: docgen.FormatCSV, Name: pattern}
		_, problems, err := docgen.ReadRows(format, csvSchema, strings.NewReader("number\n1\n"), docgen.Limits{})
		if err != nil {
			problems = append(problems, err.Error())
		}
		if len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%q: %q, want %q", shortName(pattern), problems, want)
		}
	}
}
