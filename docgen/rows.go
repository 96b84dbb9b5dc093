package docgen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"platen/docx/lang"
)

// The documents of a streamed batch are rows of its data. They are read one at a time, so that the memory for a batch does not depend on
// its size.

// The formats of data.
const (
	FormatCSV    = "csv"
	FormatNDJSON = "ndjson"
	FormatJSON   = "json"
)

const (
	// rowBuffer is the number of bytes that are read from a connection at once.
	rowBuffer = 64 << 10
	// rowSlack is what a row may have beyond its input: the name, keys, and spaces.
	rowSlack = 64 << 10
	// maxRowProblems is the maximum number of problems of one row.
	maxRowProblems = 10
)

// DataFormat describes the data of a streamed batch.
type DataFormat struct {
	Format  string   // FormatCSV, FormatNDJSON, or FormatJSON
	Name    string   // pattern for the names of documents whose row has none; may be empty
	CSV     CSVForm  // of FormatCSV
	pattern *pattern // of Name
}

// Problems returns everything that is wrong with the description.
func (f *DataFormat) Problems() []Problem {
	var problems []Problem
	if f.Format != FormatCSV && f.Format != FormatNDJSON && f.Format != FormatJSON {
		problems = append(problems, invalidField("data_format", "data_format must be csv, ndjson, or json"))
	}
	if f.Format != FormatCSV && (f.CSV.Delimiter != "" || len(f.CSV.GroupBy) > 0) {
		problems = append(problems, invalidField("csv", "csv is only for data_format csv"))
	}
	problems = append(problems, f.CSV.problems()...)
	if f.Name != "" {
		var why string
		if f.pattern, why = parsePattern(f.Name); why != "" {
			problems = append(problems, invalidField("generated_file_name", "%s", why))
		}
	}
	return problems
}

// row is a row of data: one document, or what is wrong with it. It is valid until the next one is read.
type row struct {
	line     int // where the current part of it is, from 1; 0 if unknown
	element  int // its position in a JSON array, from 1
	document NewDocument
	problems []Problem // with the name of a field of the row, or of a column
}

// fail adds a problem of a field or a column.
func (r *row) fail(name, format string, args ...any) {
	if len(r.problems) == maxRowProblems {
		return
	}
	r.problems = append(r.problems, invalidField(name, "%s: %s", r.place(), fmt.Sprintf(format, args...)))
}

// place names the location of the row for people.
func (r *row) place() string {
	if r.line == 0 {
		return fmt.Sprintf("element %d", r.element)
	}
	return fmt.Sprintf("line %d", r.line)
}

// rows reads the rows of data. next returns io.EOF after the last one. After a row of a *rowsError, the rest cannot be read.
type rows interface {
	next(r *row) error
}

// rowsError is a mistake in data after which the rest of it cannot be read.
type rowsError struct {
	line int // 0 if unknown
	why  string
}

func (e *rowsError) Error() string { return e.why }

// open returns the rows of data. Inputs reads the inputs. schema has the types of the columns of a CSV; other formats need none.
func (f *DataFormat) open(r io.Reader, schema *lang.Schema, limits Limits, inputs *Inputs) (rows, error) {
	limited := &rowReader{source: r, limit: int64(limits.InputBytes) + rowSlack + rowBuffer}
	limited.reset()
	in := bufio.NewReaderSize(limited, rowBuffer)
	if err := skipMark(in); err != nil {
		return nil, err
	}
	switch f.Format {
	case FormatCSV:
		return openCSV(in, limited, f, schema, limits, inputs)
	case FormatNDJSON:
		return &jsonLines{in: in, limited: limited, limit: limits.InputBytes + rowSlack, inputs: inputs}, nil
	}
	return &jsonRows{in: jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		limited: limited, inputs: inputs}, nil
}

// skipMark skips the byte order mark of UTF-8. UTF-16 is an error.
func skipMark(in *bufio.Reader) error {
	begin, err := in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf")):
		_, err = in.Discard(3)
		return err
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")), bytes.IndexByte(begin, 0) >= 0:
		return &rowsError{line: 1, why: "the data is UTF-16; save it as UTF-8, which Excel calls CSV UTF-8"}
	}
	return nil
}

// A rowReader limits the number of bytes that are read for one row, because readers hold a row in memory.
type rowReader struct {
	source      io.Reader
	limit, left int64
}

var errRowTooLong = errors.New("the row is too long")

// reset is called after each row.
func (r *rowReader) reset() { r.left = r.limit }

func (r *rowReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errRowTooLong
	}
	n, err := r.source.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// tooLong describes a row that exceeds the limit.
func (r *rowReader) tooLong(line int, hint string) error {
	return &rowsError{line: line, why: fmt.Sprintf("the row has more than %d bytes, the maximum%s; the rest was not read",
		r.limit-rowBuffer, hint)}
}

// jsonLines reads NDJSON: one element of document_generation_data on each line. Empty lines are skipped.
type jsonLines struct {
	in      *bufio.Reader
	limited *rowReader
	limit   int
	line    int
	text    []byte
	inputs  *Inputs
}

func (l *jsonLines) next(r *row) error {
	for {
		tooLong, err := l.readLine()
		if err != nil {
			return err
		}
		*r = row{line: l.line}
		if tooLong {
			r.fail("", "the row has more than %d bytes, the maximum", l.limit)
			return nil
		}
		if text := bytes.TrimSpace(l.text); len(text) > 0 {
			readElement(text, r, l.inputs)
			return nil
		}
	}
}

// readLine reads the next line. It drops the text of a line that is too long.
func (l *jsonLines) readLine() (tooLong bool, err error) {
	l.text = l.text[:0]
	for read := false; ; read = true {
		l.limited.reset()
		part, err := l.in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(part) == 0 && !read {
			return false, io.EOF
		}
		if !tooLong {
			l.text = append(l.text, part...)
			tooLong = len(l.text) > l.limit
		}
		if err == nil || errors.Is(err, io.EOF) {
			l.line++
			return tooLong, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return false, err
		}
	}
}

// jsonRows reads a JSON array with the elements of document_generation_data.
type jsonRows struct {
	in      *jsontext.Decoder
	limited *rowReader
	inputs  *Inputs
	inside  bool
	index   int
}

func (j *jsonRows) next(r *row) error {
	*r = row{}
	j.limited.reset()
	err := j.read(r)
	if errors.Is(err, errRowTooLong) {
		return j.limited.tooLong(0, "")
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &rowsError{why: fmt.Sprintf("the data is not valid JSON after element %d: %s", j.index, wrong.Err)}
	}
	return err
}

func (j *jsonRows) read(r *row) error {
	if !j.inside {
		if token, err := j.in.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginArray {
			if err == nil || errors.Is(err, io.EOF) {
				err = &rowsError{why: "the data must be a JSON array; for one object on each line, use data_format ndjson"}
			}
			return err
		}
		j.inside = true
	}
	if j.in.PeekKind() != jsontext.KindEndArray {
		text, err := j.in.ReadValue()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = &rowsError{why: fmt.Sprintf("the data ends after element %d, before the end of the array", j.index)}
		}
		if err != nil {
			return err
		}
		j.index++
		r.element = j.index
		readElement(text, r, j.inputs)
		return nil
	}
	if _, err := j.in.ReadToken(); err != nil {
		return err
	}
	if _, err := j.in.ReadToken(); !errors.Is(err, io.EOF) {
		return &rowsError{why: "the data continues after the end of the array"}
	}
	return io.EOF
}

// readElement reads an element of document_generation_data.
func readElement(text []byte, r *row, inputs *Inputs) {
	if !utf8.Valid(text) {
		r.fail("", "the row is not UTF-8")
		return
	}
	d := NewJSONDecoder(text)
	if d.PeekKind() != jsontext.KindBeginObject {
		r.fail("", "the row must be a JSON object with user_input")
		return
	}
	err := readMembers(d, text, r, inputs)
	if err == nil {
		if _, err = d.ReadToken(); errors.Is(err, io.EOF) {
			return
		}
	}
	why := "something follows the object"
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		why = wrong.Err.Error()
	}
	r.problems = nil
	r.fail("", "the row is not valid JSON: %s", why)
}

func readMembers(d *jsontext.Decoder, text []byte, r *row, inputs *Inputs) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		switch kind := d.PeekKind(); {
		case seen[name]:
			r.fail(shortened(name, maxHeading), "%s is repeated", shortened(name, maxHeading))
			err = d.SkipValue()
		case name == "generated_file_name" && kind == jsontext.KindString:
			token, err = d.ReadToken()
			r.document.Name = token.String()
		case name == "user_input" && kind == jsontext.KindBeginObject:
			r.document.Input, err = inputs.Read(d, text)
		case name == "generated_file_name":
			r.fail(name, "generated_file_name must be a string")
			err = d.SkipValue()
		case name == "user_input":
			r.fail(name, "user_input must be a JSON object")
			err = d.SkipValue()
		default:
			r.fail(shortened(name, maxHeading), "%s is not a field of a row; valid fields are generated_file_name, user_input",
				shortened(name, maxHeading))
			err = d.SkipValue()
		}
		if err != nil {
			return err
		}
		seen[name] = true
	}
	_, err := d.ReadToken()
	return err
}
