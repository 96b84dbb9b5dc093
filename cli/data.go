package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"platen/docx/lang"
)

// input is the data of one document, a JSON object.
type input struct {
	text  string
	value lang.Value // for a single document, which is parsed once; otherwise nil
}

// decode returns the parsed data.
func (i *input) decode() (lang.Value, error) {
	if i.value != nil {
		return i.value, nil
	}
	return lang.DecodeText(i.text)
}

// readData reads an object or an array of objects. It returns the data of each document, and whether it was an array. The path - is
// standard input.
func readData(path string, stdin io.Reader) (inputs []input, batch bool, err error) {
	text, err := readText(path, stdin)
	if err != nil {
		return nil, false, err
	}
	return parseData(path, text)
}

// parseData is readData for the text of a file.
func parseData(path, text string) (inputs []input, batch bool, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") {
		inputs, err = batchData(path, text)
		return inputs, true, err
	}
	value, err := lang.DecodeText(text)
	if err != nil {
		return nil, false, inFile(path, err)
	}
	return []input{{text: text, value: value}}, false, nil
}

// readText reads a file, or standard input, into memory.
func readText(path string, stdin io.Reader) (string, error) {
	var text strings.Builder
	if path == "-" {
		_, err := io.Copy(&text, stdin)
		return text.String(), err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		text.Grow(int(info.Size()))
	}
	_, err = io.Copy(&text, f)
	return text.String(), err
}

// batchData splits an array into the data of its documents.
func batchData(path, text string) ([]input, error) {
	var documents []json.RawMessage
	if err := json.Unmarshal([]byte(text), &documents); err != nil {
		return nil, inFile(path, arrayFault(text, err))
	}
	if len(documents) == 0 {
		return nil, fmt.Errorf("%s: the array is empty, so there are no documents to generate", path)
	}
	inputs := make([]input, len(documents))
	for i, document := range documents {
		if document[0] != '{' {
			return nil, fmt.Errorf("%s: document %d is not a JSON object", path, i+1)
		}
		inputs[i].text = string(document)
	}
	return inputs, nil
}

// arrayFault returns the mistake in an array in the words of lang.Decode, which reads only objects, or err if that finds none.
func arrayFault(text string, err error) error {
	const above = "{\"documents\":\n" // moves the array down by one line
	_, in := lang.DecodeText(above + text)
	wrong, ok := errors.AsType[*lang.DataError](in)
	if !ok || wrong.Line < 2 {
		return err
	}
	wrong.Line--
	return wrong
}
