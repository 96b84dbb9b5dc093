package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"platen/docx/lang"
)

// optionsFile has the options for all samples of a template.
const optionsFile = "options.json"

// sampleOptions are the options in a folder of samples, with the names that the options of a batch have.
type sampleOptions struct {
	Locale, TimeZone, Missing, Now string
	Strict                         bool
}

// sampleOption is an option in the file.
type sampleOption struct {
	to   any    // *string or *bool
	form string // what it must be
}

// readSampleOptions reads the options in a file. The error names everything that is wrong.
func readSampleOptions(path string) (o sampleOptions, err error) {
	text, err := readSmall(path)
	if err != nil {
		return o, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if _, err := lang.Decode(text); err != nil { // also repeated keys
		return o, inFile(path, err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return o, fmt.Errorf("%s: %w", path, err)
	}
	options := map[string]sampleOption{
		"locale":    {&o.Locale, `a language tag, such as "de-CH"`},
		"time_zone": {&o.TimeZone, `the name of a time zone, such as "Europe/Paris"`},
		"missing":   {&o.Missing, `"tag", "blank", or "error"`},
		"strict":    {&o.Strict, "true or false, without quotes"},
		"now":       {&o.Now, `a time, such as "2026-01-31T12:00:00Z"`},
	}
	var wrong []error
	for _, name := range sortedKeys(values) {
		if option, ok := options[name]; !ok {
			wrong = append(wrong, fmt.Errorf("%s: there is no option %.60q. The options are locale, time_zone, missing, strict, and now",
				path, name))
		} else if !option.read(values[name]) {
			wrong = append(wrong, fmt.Errorf("%s: %q must be %s, not %.60s", path, name, option.form, values[name]))
		}
	}
	if _, err := time.Parse(time.RFC3339, o.Now); o.Now != "" && err != nil {
		wrong = append(wrong, fmt.Errorf("%s: \"now\" must be %s, not %.60q", path, options["now"].form, o.Now))
	}
	return o, errors.Join(wrong...)
}

// read sets the option. It reports whether the value has the right type. An empty string is not a value: it would mean the default.
func (o *sampleOption) read(value json.RawMessage) bool {
	if string(value) == "null" || json.Unmarshal(value, o.to) != nil {
		return false
	}
	text, ok := o.to.(*string)
	return !ok || *text != ""
}

// inFile returns an error of decoding JSON with the file, and with the location if it is known.
func inFile(path string, err error) error {
	if wrong, ok := errors.AsType[*lang.DataError](err); ok {
		return fmt.Errorf("%s, line %d, column %d: %s", path, wrong.Line, wrong.Column, wrong.Message)
	}
	return fmt.Errorf("%s: %w", path, err)
}
