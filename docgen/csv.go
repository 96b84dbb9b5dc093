package docgen

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"platen/docx/lang"
)

// A CSV has one document on each line, or on several lines that are grouped. The headings are paths of the data. Package encoding/csv
// reads the lines (RFC 4180), after the heading with a limit for each.

const (
	maxColumns = 1000 // maximum number of columns
	maxHeading = 500  // maximum number of bytes of a heading
)

// nameColumn is the heading of the column with the names of the documents.
const nameColumn = "generated_file_name"

// CSVForm says how to read a CSV.
type CSVForm struct {
	Delimiter string   // one of csvDelimiters; "" to detect it
	GroupBy   []string // headings of the columns that are the same on all lines of a document; nil for one line per document
}

// csvDelimiters are the possible delimiters, the most likely first.
const csvDelimiters = ",;\t|"

func (f CSVForm) problems() []Problem {
	var problems []Problem
	if f.Delimiter != "" && (len(f.Delimiter) != 1 || !strings.Contains(csvDelimiters, f.Delimiter)) {
		problems = append(problems, invalidField("csv.delimiter", "csv.delimiter must be a comma, a semicolon, a tab, or |"))
	}
	if len(f.GroupBy) > maxColumns {
		problems = append(problems, invalidField("csv.group_by", "csv.group_by has more than %d columns", maxColumns))
	}
	return problems
}

// csvRows reads a CSV.
type csvRows struct {
	in      *csv.Reader
	limited *rowReader
	limits  Limits
	inputs  *Inputs
	columns []*column
	root    *csvNode
	name    int   // column with the names; -1 for none
	group   []int // columns that are the same on all lines of a document

	ahead    []string // the first line of the next document, with its number
	aheadAt  int
	hasAhead bool
	failed   error               // of the line after the current document
	groups   map[uint64]struct{} // hashes of the groups that were read; random, so that no data can cause collisions
	seed     maphash.Seed
	first    []string
	text     []byte
}

// openCSV reads the headings.
func openCSV(in *bufio.Reader, limited *rowReader, f *DataFormat, schema *lang.Schema, limits Limits, inputs *Inputs) (rows, error) {
	c := &csvRows{in: csv.NewReader(in), limited: limited, limits: limits, inputs: inputs, name: -1,
		groups: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	c.in.ReuseRecord = true
	if c.in.Comma = rune((f.CSV.Delimiter + "\x00")[0]); f.CSV.Delimiter == "" {
		begin, err := in.Peek(rowBuffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		c.in.Comma = delimiterOf(begin)
	}
	heads, err := c.in.Read()
	if errors.Is(err, io.EOF) {
		return nil, &rowsError{line: 1, why: "the data is empty; the first line must have the headings of the columns"}
	}
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		return nil, &rowsError{line: wrong.Line, why: "the headings are not valid CSV: " + csvProblem(wrong.Err).Error()}
	}
	if errors.Is(err, errRowTooLong) {
		return nil, limited.tooLong(1, "")
	}
	if err != nil {
		return nil, err
	}
	err = c.readHeadings(slices.Clone(heads), f, schema)
	return c, err
}

// delimiterOf returns the delimiter that is most frequent on the first line, outside of quotes.
func delimiterOf(begin []byte) rune {
	best, most, quoted := rune(','), 0, false
	counts := map[byte]int{}
	for _, c := range begin {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[c]++
		}
	}
	for _, delimiter := range csvDelimiters {
		if n := counts[byte(delimiter)]; n > most {
			best, most = delimiter, n
		}
	}
	return best
}

// readHeadings builds the tree of the columns. The error has every problem of the headings.
func (c *csvRows) readHeadings(heads []string, f *DataFormat, schema *lang.Schema) error {
	if isSeparatorLine(heads) {
		return &rowsError{line: 1, why: "the line sep= is a setting for Excel: delete it, so that the first line has the headings of the columns"}
	}
	if len(heads) > maxColumns {
		return &rowsError{line: 1, why: fmt.Sprintf("the data has %d columns, more than %d", len(heads), maxColumns)}
	}
	c.root = &csvNode{column: -1}
	var wrong []string
	for i, head := range heads {
		col := &column{head: strings.TrimSpace(head)}
		c.columns = append(c.columns, col)
		if why := c.addColumn(col, i, schema, len(f.CSV.GroupBy) > 0); why != "" {
			wrong = append(wrong, fmt.Sprintf("column %d: %s", i+1, why))
		}
	}
	for _, head := range f.CSV.GroupBy {
		i := slices.IndexFunc(c.columns, func(col *column) bool { return col.head == strings.TrimSpace(head) })
		if i < 0 || c.columns[i].listed {
			wrong = append(wrong, fmt.Sprintf("csv.group_by: %q is not a column, or is a list", shortened(head, maxHeading)))
		}
		c.group = append(c.group, i)
	}
	if why := c.root.gap(); why != "" {
		wrong = append(wrong, why)
	}
	if c.name < 0 && f.pattern == nil {
		wrong = append(wrong, "the names of the documents are missing: add the column generated_file_name, or set generated_file_name to a "+
			`pattern such as "Invoice {{number}}"`)
	}
	if len(wrong) > 0 {
		more := ""
		if len(wrong) > 10 {
			wrong, more = wrong[:10], fmt.Sprintf("; and %d more", len(wrong)-10)
		}
		return &rowsError{line: 1, why: strings.Join(wrong, "; ") + more}
	}
	return nil
}

// isSeparatorLine reports whether the first line is the one with which a file tells Excel its delimiter, such as sep=; without headings.
func isSeparatorLine(heads []string) bool {
	line := strings.Join(heads, "")
	return strings.HasPrefix(strings.ToLower(line), "sep=") && len(line) <= len("sep=,")
}

// csvProblem says what is wrong with the quotes of a line.
func csvProblem(err error) error {
	switch {
	case errors.Is(err, csv.ErrBareQuote):
		return errors.New("a cell contains a quote, but does not begin with one: write the cell in quotes, and each quote in it twice")
	case errors.Is(err, csv.ErrQuote):
		return errors.New("a cell that begins with a quote is not closed, or has text after its closing quote: write each quote in it twice")
	}
	return err
}

// addColumn adds a column to the tree, or says what is wrong with its heading.
func (c *csvRows) addColumn(col *column, i int, schema *lang.Schema, grouped bool) string {
	switch {
	case col.head == "":
		return "" // as Excel writes them; its cells must be empty
	case len(col.head) > maxHeading:
		return fmt.Sprintf("the heading has more than %d bytes", maxHeading)
	case !utf8.ValidString(col.head):
		return "the heading is not UTF-8; save the data as UTF-8, which Excel calls CSV UTF-8"
	case strings.ContainsAny(col.head, "\r\n"):
		return "the heading has a line break; lines must end in LF or CRLF"
	case col.head == nameColumn && c.name >= 0:
		return "the heading generated_file_name is repeated"
	case col.head == nameColumn:
		c.name = i
		return ""
	}
	steps, why := parseHeading(col.head)
	if why != "" {
		return why
	}
	for _, step := range steps {
		if step.each && !grouped {
			return fmt.Sprintf("%q needs csv.group_by, or a position such as [0]", col.head)
		}
		col.listed = col.listed || step.each
	}
	return c.root.add(steps, i, col, schema)
}

// next reads the lines of the next document.
func (c *csvRows) next(r *row) error {
	if !c.hasAhead {
		if err := c.readLine(); err != nil {
			return err
		}
	}
	*r = row{line: c.aheadAt}
	c.hasAhead = false
	c.first = cloneCells(c.first, c.ahead)
	c.root.clear()
	if c.failed != nil { // a line that is not CSV
		why := c.failed
		c.failed = nil
		r.fail("", "%v", why)
		return nil //nolint:nilerr // the row has it
	}
	begin := r.line
	c.checkGroup(r)
	c.addLine(r, c.ahead, true)
	for len(c.group) > 0 {
		err := c.readLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if c.failed != nil || !c.sameGroup(c.ahead) {
			break
		}
		c.hasAhead, r.line = false, c.aheadAt
		c.addLine(r, c.ahead, false)
	}
	r.line = begin
	c.finish(r)
	return nil //nolint:nilerr // the end of the data ends the group
}

// cloneCells copies the cells of a line, which the next line overwrites.
func cloneCells(to, cells []string) []string { return append(to[:0], cells...) }

// readLine reads a line with a value into c.ahead. A line that is not CSV is in c.failed.
func (c *csvRows) readLine() error {
	cells, err := c.readCells()
	for err == nil && len(cells) > 1 && isBlank(cells) { // as Excel writes empty lines
		cells, err = c.readCells()
	}
	if errors.Is(err, errRowTooLong) {
		return c.limited.tooLong(c.lastLine()+1, ": is a quote not closed?")
	}
	wrong, isParse := errors.AsType[*csv.ParseError](err)
	if err != nil && !isParse {
		return err
	}
	c.ahead, c.hasAhead = cells, true
	if isParse {
		c.aheadAt, c.failed = wrong.StartLine, csvProblem(wrong.Err)
		if errors.Is(wrong.Err, csv.ErrFieldCount) {
			c.failed = fmt.Errorf("the line has %d cells, but there are %d columns", len(cells), len(c.columns))
		}
		return nil
	}
	c.aheadAt, _ = c.in.FieldPos(0)
	return nil
}

// readCells reads a line, up to its maximum length.
func (c *csvRows) readCells() ([]string, error) {
	c.limited.reset()
	return c.in.Read()
}

func isBlank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// lastLine returns the last line that was read.
func (c *csvRows) lastLine() int { return max(c.aheadAt, 1) }

// checkGroup adds a problem if the group of a line was read before: its lines are not together.
func (c *csvRows) checkGroup(r *row) {
	if len(c.group) == 0 {
		return
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, i := range c.group {
		maphash.WriteComparable(&h, c.first[i])
	}
	if _, known := c.groups[h.Sum64()]; known {
		r.fail(c.columns[c.group[0]].head, "%s has a document with the same values on an earlier line, but not directly before: sort the lines "+
			"by the columns of csv.group_by", quoteCell(c.first[c.group[0]]))
	}
	c.groups[h.Sum64()] = struct{}{}
}

func (c *csvRows) sameGroup(cells []string) bool {
	for _, i := range c.group {
		if cells[i] != c.first[i] {
			return false
		}
	}
	return true
}

// addLine adds a line to the current document. Only lists get something from lines after the first.
func (c *csvRows) addLine(r *row, cells []string, first bool) {
	for i, col := range c.columns {
		switch cell := cells[i]; {
		case !utf8.ValidString(cell):
			r.fail(col.head, "the cell is not UTF-8; save the data as UTF-8, which Excel calls CSV UTF-8")
			return
		case col.head == "" && cell != "":
			r.fail("", "column %d has no heading, but a value", i+1)
		case !first && !col.listed && cell != "" && cell != c.first[i]:
			r.fail(col.head, "%s differs from the first line of the group; only columns of lists can differ", col.head)
		}
	}
	if len(r.problems) > 0 {
		return
	}
	c.root.addItems(cells, r)
	if size := c.root.size(); size > c.limits.InputBytes {
		r.fail("", "the data of the group has more than %d bytes, the maximum", c.limits.InputBytes)
		c.root.clear()
	}
}

// finish encodes the current document.
func (c *csvRows) finish(r *row) {
	if len(r.problems) > 0 {
		return
	}
	if c.name >= 0 {
		r.document.Name = c.first[c.name]
	}
	c.text, _ = c.root.append(c.text[:0], c.first, r)
	if len(c.text) == 0 {
		c.text = append(c.text, "{}"...)
	}
	if len(r.problems) == 0 {
		r.document.Input = c.inputs.Parse(bytes.Clone(c.text))
	}
}
