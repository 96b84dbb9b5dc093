package cli

import (
	"errors"
	"time"

	"platen/docx"
)

// engineFlags are the options of the template engine, for commands that generate documents.
type engineFlags struct {
	Locale       string       `placeholder:"TAG" help:"Language for numbers, dates, and words, such as de or de-CH (default en)."`
	TimeZone     string       `placeholder:"ZONE" help:"Time zone for times, such as Europe/Paris (default: the zone of each time, or UTC if it has none)."`
	Missing      string       `placeholder:"WHAT" help:"What to do about a missing value (default tag). tag: leave its tag in the document. blank: print nothing. error: fail the document."`
	Strict       bool         `help:"Fail documents that are incomplete or leave input unused."`
	AllowWordML  bool         `name:"allow-wordml" env:"PLATEN_ALLOW_WORDML" help:"Allow the filter wordml, which inserts WordprocessingML from the data after checking it (default: not allowed)."`
	PictureHosts pictureHosts `env:"PLATEN_PICTURE_HOSTS" placeholder:"HOST,…" help:"Hosts from which images with a URL in the data may be fetched, such as img.example.com or *.example.com (default: none)."`
	budgetFlags  `embed:""`
	DocumentTime time.Duration `default:"0" group:"Budgets of a document" help:"Maximum time to generate one document (default 0: no limit)."`
	Now          string        `placeholder:"TIME" help:"The time that $$now returns, such as 2026-01-31T12:00:00Z, for reproducible documents (default: the current time)."`
}

// contentsFlags say which tables of contents are rewritten.
type contentsFlags struct {
	Contents string `default:"auto" enum:"auto,update,keep" placeholder:"WHAT" help:"What to do with tables of contents (default auto). auto: rewrite them if the document has tags, or if its settings tell Word to update fields. update: rewrite them. keep: leave them as they are."`
}

func (f *contentsFlags) contents() docx.Contents {
	return map[string]docx.Contents{"update": docx.ContentsUpdate, "keep": docx.ContentsKeep}[f.Contents]
}

// options returns the options of the engine, or a usage error with everything that is wrong.
func (f *engineFlags) options() (docx.Options, error) {
	options, wrong := docx.Settings{Locale: f.Locale, TimeZone: f.TimeZone, Missing: f.Missing, Strict: f.Strict}.Options()
	var problems []error
	for _, w := range wrong {
		problems = append(problems, w)
	}
	if source := f.PictureHosts.source(); source != nil {
		options.Picture = source.fetch
	}
	problems = append(problems, f.problems(f.DocumentTime)...)
	options.Limits = f.limits(f.DocumentTime)
	options.Now, options.WordML = time.Now(), f.AllowWordML
	if f.Now != "" {
		var err error
		if options.Now, err = time.Parse(time.RFC3339, f.Now); err != nil {
			problems = append(problems, errors.New("--now must be a time such as 2026-01-31T12:00:00Z"))
		}
	}
	if len(problems) > 0 {
		return options, &usageError{errors.Join(problems...)}
	}
	return options, nil
}
