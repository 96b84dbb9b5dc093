package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// readData reads the data of documents, an object or an array of objects: that of each document, and whether it was an array.
// The path - is standard input.
func readData(path string, stdin io.Reader) (inputs []json.RawMessage, batch bool, err error) {
	var text []byte
	if path == "-" {
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, false, err
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	batch = len(text) > 0 && text[0] == '['
	if batch {
		err = json.Unmarshal(text, &inputs)
	} else {
		var one json.RawMessage
		err = json.Unmarshal(text, &one)
		inputs = []json.RawMessage{one}
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s is not JSON: %w", path, describeSyntax(text, err))
	}
	for i, input := range inputs {
		if input[0] != '{' {
			return nil, false, fmt.Errorf("%s: document %d is not a JSON object", path, i+1)
		}
	}
	if len(inputs) == 0 {
		return nil, false, fmt.Errorf("%s: the array is empty, there is nothing to make", path)
	}
	return inputs, batch, nil
}

// describeSyntax adds the line to an error of the JSON decoder.
func describeSyntax(text []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}
