package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"platen/docx/lang"
)

type schemaCmd struct {
	Template string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template."`
	Out      string `short:"o" placeholder:"FILE" default:"-" help:"Output file (default -, standard output)."`
	Check    string `placeholder:"DATA.json" xor:"what" help:"Validate data against the template, and exit with 1 if it is invalid. The data is an object or an array of objects; - for standard input."`
	Since    string `placeholder:"OLD" xor:"what" help:"Print the data that the template requires and an older version did not. OLD is a template or a schema."`
	JSON     bool   `name:"json" help:"Print JSON, with --check or --since."`
}

// Run prints the schema, or the result of a comparison with it.
func (c *schemaCmd) Run(s *streams) error {
	schema, err := readSchema(c.Template)
	if err != nil {
		return err
	}
	switch {
	case c.Check != "":
		return c.check(s, schema)
	case c.Since != "":
		return c.compare(s, schema)
	}
	written, err := schema.MarshalJSON()
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, written, "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	return writeOut(s, c.Out, indented.Bytes())
}

// readSchema returns the schema of a template, or a schema from a JSON file.
func readSchema(path string) (*lang.Schema, error) {
	if filepath.Ext(path) == ".json" {
		written, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		schema, err := lang.ParseSchema(written)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return schema, nil
	}
	template, err := parseTemplate(path)
	if err != nil {
		return nil, err
	}
	schema := template.Schema()
	schema.Title = "Input data of " + filepath.Base(path)
	return schema, nil
}

// writeOut writes a file completely or not at all, or standard output for "-".
func writeOut(s *streams, path string, content []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	if path == "-" {
		return write(s.out)
	}
	return writeAtomically(path, write)
}

// comparedDocument is the output of --check --json for each document.
type comparedDocument struct {
	Document   int             `json:"document"` // starting with 1
	Mismatches []lang.Mismatch `json:"mismatches"`
}

// check prints where data does not match the schema.
func (c *schemaCmd) check(s *streams, schema *lang.Schema) error {
	inputs, batch, err := readData(c.Check, s.in)
	if err != nil {
		return err
	}
	documents := make([]comparedDocument, len(inputs))
	wrong := 0
	for i := range inputs {
		data, err := inputs[i].decode()
		if err != nil {
			return fmt.Errorf("document %d: %w", i+1, err)
		}
		documents[i] = comparedDocument{i + 1, append([]lang.Mismatch{}, schema.Check(data)...)}
		wrong += min(len(documents[i].Mismatches), 1)
	}
	if c.JSON {
		err = printJSON(s.out, map[string]any{"documents": documents})
	} else {
		printMismatches(s.out, documents, batch)
	}
	if err == nil && wrong > 0 {
		err = errReported
	}
	return err
}

func printMismatches(w io.Writer, documents []comparedDocument, batch bool) {
	for _, d := range documents {
		for _, m := range d.Mismatches {
			if batch {
				fmt.Fprint(w, "document "+strconv.Itoa(d.Document)+": ")
			}
			fmt.Fprintln(w, m)
		}
	}
}

// compare prints the requirements of the schema that an older one does not have.
func (c *schemaCmd) compare(s *streams, schema *lang.Schema) error {
	old, err := readSchema(c.Since)
	if err != nil {
		return err
	}
	changes := schema.Changes(old)
	if c.JSON {
		return printJSON(s.out, changes)
	}
	for _, path := range changes.Needs {
		fmt.Fprintf(s.out, "needs    %s\n", path)
	}
	for _, path := range changes.Takes {
		fmt.Fprintf(s.out, "may have %s\n", path)
	}
	for _, path := range changes.Drops {
		fmt.Fprintf(s.out, "drops    %s\n", path)
	}
	for _, r := range changes.Retypes {
		fmt.Fprintf(s.out, "changes  %s from %s to %s\n", r.Path, r.Old, r.New)
	}
	return nil
}

type sampleCmd struct {
	Template string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template, or a JSON schema that platen schema wrote."`
	Out      string `short:"o" placeholder:"FILE" default:"-" help:"Output file (default -, standard output)."`
}

// Run prints sample data.
func (c *sampleCmd) Run(s *streams) error {
	schema, err := readSchema(c.Template)
	if err != nil {
		return err
	}
	sample, err := schema.Sample()
	if err != nil {
		return err
	}
	return writeOut(s, c.Out, sample)
}
