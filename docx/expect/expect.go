// Package expect checks generated documents against what their author expects of them.
//
// [Parse] reads expectations: texts, numbers of pages, and messages. [Outline] reads the structure of a document. [Expectations.Check]
// compares the two, and [Compare] compares the structures of two documents. All differences have a location that the author can find.
package expect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	maxFile  = 1 << 20 // bytes of a file of expectations
	maxTexts = 200     // texts of one field
	maxText  = 10_000  // bytes of one text
	maxPages = 100_000
)

// Expectations is what an author expects of the document of one sample. The zero value expects a document without errors.
type Expectations struct {
	Contains []string   // texts that must appear, each within one paragraph or one table row
	Lacks    []string   // texts that must not appear
	Pages    *PageRange // the number of pages; nil: any

	// Errors and Warnings are parts of messages. If one is not nil, each of its texts must occur in a message of the kind, and each
	// message of the kind must contain one of the texts. If Errors is nil, there must be no errors. If Warnings is nil, they do not matter.
	Errors, Warnings []string

	Fails string // part of the message with which the generation must fail; empty: it must succeed
}

// PageRange is a range of numbers of pages.
type PageRange struct{ Min, Max int }

// fields reads the fields of a file, by their names.
var fields = map[string]func(e *Expectations, value []byte) error{
	"contains": func(e *Expectations, value []byte) error { return readSome(&e.Contains, value) },
	"lacks":    func(e *Expectations, value []byte) error { return readSome(&e.Lacks, value) },
	"errors":   func(e *Expectations, value []byte) error { return readTexts(&e.Errors, value) },
	"warnings": func(e *Expectations, value []byte) error { return readTexts(&e.Warnings, value) },
	"pages":    func(e *Expectations, value []byte) error { return e.readPages(value) },
	"fails": func(e *Expectations, value []byte) error {
		var text *string
		if json.Unmarshal(value, &text) != nil || text == nil {
			return errors.New("must be a part of the message with which the generation fails")
		}
		e.Fails = *text
		return checkText(*text)
	},
}

// fieldNames are the names of the fields, in the order of the documentation.
const fieldNames = "contains, lacks, pages, errors, warnings, and fails"

// Parse reads expectations from JSON. The error names the field that is wrong.
func Parse(file []byte) (*Expectations, error) {
	if len(file) > maxFile {
		return nil, fmt.Errorf("the expectations have more than %d bytes", maxFile)
	}
	e := new(Expectations)
	err := eachField(bytes.TrimPrefix(file, []byte("\ufeff")), func(name string, value []byte) error {
		read := fields[name]
		if read == nil {
			return fmt.Errorf("there is no field %q. The fields are %s", shorten(name), fieldNames)
		}
		if err := read(e, value); err != nil {
			return fmt.Errorf("%q %w", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := e.contradiction(); err != nil {
		return nil, err
	}
	return e, nil
}

// eachField calls read with the fields of a JSON object, in their order.
func eachField(object []byte, read func(name string, value []byte) error) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if token, err := decoder.Token(); err != nil {
		return syntaxError(object, err)
	} else if token != json.Delim('{') {
		return errors.New(`expectations are an object, such as {"contains": ["Total"]}`)
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return syntaxError(object, err)
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return syntaxError(object, err)
		}
		if seen[name] {
			return fmt.Errorf("the field %q occurs twice", shorten(name))
		}
		seen[name] = true
		if err := read(name, value); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return syntaxError(object, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the end of the object")
	}
	return nil
}

// syntaxError adds the line to an error of the JSON decoder.
func syntaxError(file []byte, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(file[:min(int(wrong.Offset), len(file))], []byte("\n"))
		return fmt.Errorf("line %d: %w", line, err)
	}
	return err
}

// readSome reads a list of texts that checks nothing when it is empty.
func readSome(into *[]string, value []byte) error {
	if err := readTexts(into, value); err != nil {
		return err
	}
	if len(*into) == 0 {
		return errors.New("has no texts, so it would check nothing")
	}
	return nil
}

func readTexts(into *[]string, value []byte) error {
	var texts []*string
	if json.Unmarshal(value, &texts) != nil || texts == nil {
		return errors.New(`must be a list of texts, such as ["Total"]`)
	}
	if len(texts) > maxTexts {
		return fmt.Errorf("has more than %d texts", maxTexts)
	}
	list := make([]string, 0, len(texts))
	for _, text := range texts {
		if text == nil {
			return errors.New("contains null instead of a text")
		}
		if err := checkText(*text); err != nil {
			return err
		}
		if slices.Contains(list, *text) {
			return fmt.Errorf("contains %q twice", shorten(*text))
		}
		list = append(list, *text)
	}
	*into = list
	return nil
}

func checkText(text string) error {
	if normalize(text) == "" {
		return errors.New("contains an empty text, which every document has")
	}
	if len(text) > maxText {
		return fmt.Errorf("contains a text of more than %d bytes", maxText)
	}
	return nil
}

func (e *Expectations) readPages(value []byte) error {
	var number int
	if json.Unmarshal(value, &number) == nil && string(value) != "null" {
		e.Pages = &PageRange{number, number}
		return e.Pages.check()
	}
	if value[0] != '{' {
		return errors.New(`must be a number, or a range such as {"min": 1, "max": 3}`)
	}
	limits, isEmpty := map[string]int{"min": 1, "max": maxPages}, true
	err := eachField(value, func(name string, value []byte) error {
		isEmpty = false
		if _, ok := limits[name]; !ok {
			return fmt.Errorf(`has no field %q, only "min" and "max"`, shorten(name))
		}
		var number int
		if json.Unmarshal(value, &number) != nil || string(value) == "null" {
			return fmt.Errorf("has a %q that is not a number", name)
		}
		limits[name] = number
		return nil
	})
	if err != nil {
		return err
	}
	if isEmpty {
		return errors.New(`has neither "min" nor "max", so it would check nothing`)
	}
	e.Pages = &PageRange{limits["min"], limits["max"]}
	return e.Pages.check()
}

func (p *PageRange) check() error {
	switch {
	case p.Min < 1 || p.Max < 1:
		return errors.New("must be at least 1, because every document has a page")
	case p.Min > maxPages || p.Max > maxPages:
		return fmt.Errorf("must be at most %d", maxPages)
	case p.Min > p.Max:
		return fmt.Errorf("has a min of %d that is greater than its max of %d", p.Min, p.Max)
	}
	return nil
}

// String describes the range, such as "2", "1 to 3", or "at least 2".
func (p *PageRange) String() string {
	switch {
	case p.Min == p.Max:
		return fmt.Sprint(p.Min)
	case p.Max == maxPages:
		return fmt.Sprintf("at least %d", p.Min)
	case p.Min == 1:
		return fmt.Sprintf("at most %d", p.Max)
	}
	return fmt.Sprintf("%d to %d", p.Min, p.Max)
}

// contradiction returns an error for expectations that no document meets.
func (e *Expectations) contradiction() error {
	if e.Fails != "" && (e.Contains != nil || e.Lacks != nil || e.Pages != nil) {
		return errors.New(`"fails" cannot be combined with "contains", "lacks", or "pages", because there is no document`)
	}
	for _, lacking := range e.Lacks {
		for _, text := range e.Contains {
			if strings.Contains(normalize(text), normalize(lacking)) {
				return fmt.Errorf("no document can contain %q and lack %q", shorten(text), shorten(lacking))
			}
		}
	}
	return nil
}
