package docgen

import (
	"encoding/json"
	"fmt"

	"platen/docx"
)

// BatchOptions are the engine options of a batch. The zero value has the defaults of the API.
type BatchOptions struct {
	Locale   string `json:"locale,omitempty"`    // a language tag such as "de-CH"; empty is "en"
	TimeZone string `json:"time_zone,omitempty"` // a name such as "Europe/Paris"; empty leaves times in their own
	Missing  string `json:"missing,omitempty"`   // "tag", "blank" or "error"; empty is "tag"
	Strict   bool   `json:"strict,omitempty"`    // a document that is incomplete, or does not use all of its input, fails

	PDF *PDFOptions `json:"pdf,omitempty"` // for OutputPDF alone
}

// Engine returns the options in the engine's form, and their problems.
func (o BatchOptions) Engine() (docx.Options, []Problem) {
	var problems []Problem
	options, mistakes := docx.Settings{Locale: o.Locale, TimeZone: o.TimeZone, Missing: o.Missing, Strict: o.Strict}.Options()
	for _, m := range mistakes {
		problems = append(problems, invalidField("options."+m.Name, "%s", m.Message))
	}
	return options, problems
}

// text returns the stored form of the options.
func (o BatchOptions) text() (string, error) {
	if o == (BatchOptions{}) {
		return "", nil
	}
	b, err := json.Marshal(o)
	return string(b), err
}

// optionsOf decodes the stored options of a batch.
func optionsOf(batchID, text string) (o BatchOptions, err error) {
	if text == "" {
		return o, nil
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return o, fmt.Errorf("options of batch %s: %w", batchID, err)
	}
	return o, nil
}
