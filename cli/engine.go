package cli

import (
	"errors"
	"time"

	"platen/docx"
)

// engineFlags are the options of the template engine, as commands that make documents have them.
type engineFlags struct {
	Locale       string       `placeholder:"TAG" help:"Language that numbers, dates and words are written in, such as de or de-CH. Without it, en."`
	TimeZone     string       `placeholder:"ZONE" help:"Time zone that times are shown in, such as Europe/Paris. Without it, each time is shown in its own, or in UTC if it names none."`
	Missing      string       `placeholder:"WHAT" help:"What becomes of a value that the data has not: tag leaves its tag in the document, blank leaves nothing, error makes no document. Without it, tag."`
	Strict       bool         `help:"Make no document that is not complete, or that leaves input unused."`
	PictureHosts pictureHosts `env:"PLATEN_PICTURE_HOSTS" placeholder:"HOST,…" help:"Hosts that pictures may be fetched from which data names by address, such as img.example.com or *.example.com. Without it, none are fetched."`
	budgetFlags  `embed:""`
	DocumentTime time.Duration `default:"0" group:"Budgets of a document" help:"Maximum time to generate one document; 0 for no limit."`
	Now          string        `placeholder:"TIME" help:"The time that $$now gives, such as 2026-01-31T12:00:00Z, for documents that are the same each time. Without it, the time it is."`
}

// options returns the engine's options, or a usage error that names everything that is wrong.
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
	options.Now = time.Now()
	if f.Now != "" {
		var err error
		if options.Now, err = time.Parse(time.RFC3339, f.Now); err != nil {
			problems = append(problems, errors.New("--now is a time such as 2026-01-31T12:00:00Z"))
		}
	}
	if len(problems) > 0 {
		return options, &usageError{errors.Join(problems...)}
	}
	return options, nil
}
