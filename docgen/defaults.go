package docgen

import (
	"cmp"
	"context"
	"strings"

	"platen/store"
)

// Defaults are the options for batches that do not set them. An empty field means the next default: the template's,
// then the server's, then the API's.
type Defaults struct {
	Missing  string // "tag", "blank", or "error"
	Locale   string // a language tag such as "de-CH"
	TimeZone string // an IANA name such as "Europe/Paris"
}

// Problems returns everything that is wrong with the defaults. The name of a problem is missing, locale, or time_zone.
func (d Defaults) Problems() []Problem {
	_, problems := BatchOptions{Missing: d.Missing, Locale: d.Locale, TimeZone: d.TimeZone}.Engine()
	for i := range problems {
		problems[i].Name = strings.TrimPrefix(problems[i].Name, "options.")
	}
	return problems
}

// withDefaults returns the options of a batch, in which missing options are those of the first of the defaults that has them.
func (o BatchOptions) withDefaults(all ...Defaults) BatchOptions {
	for _, d := range all {
		o.Missing, o.Locale, o.TimeZone = cmp.Or(o.Missing, d.Missing), cmp.Or(o.Locale, d.Locale), cmp.Or(o.TimeZone, d.TimeZone)
	}
	return o
}

// effectiveOptions returns the options to store with a batch. They include the defaults, so that a later change of
// defaults does not affect its documents.
func (s *Service) effectiveOptions(ctx context.Context, q *store.Queries, b NewBatch) (string, error) {
	row, err := q.TemplateDefaults(ctx, b.TemplateID)
	if err != nil {
		return "", err
	}
	return b.Options.withDefaults(defaultsOf(row), s.defaults).text()
}

func defaultsOf(row store.TemplateDefaultsRow) Defaults {
	return Defaults{Missing: row.DefaultMissing, Locale: row.DefaultLocale, TimeZone: row.DefaultTimeZone}
}

// TemplateChange is a change of a template. Nil fields stay unchanged. Empty defaults mean those of the server.
type TemplateChange struct {
	Missing, Locale, TimeZone *string
	SamplesRequired           *bool
}

// UpdateTemplate changes the defaults of a template, and whether it requires its samples. Existing batches keep their options. Samples can
// be required only if the current version of the file has passed them.
func (s *Service) UpdateTemplate(ctx context.Context, c *Caller, fileID int64, change TemplateChange) (Template, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Template{}, err
	}
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lockTemplate(ctx, tx, c, fileID)
		if err != nil {
			return err
		}
		row, err := tx.TemplateDefaults(ctx, fileID)
		if err != nil {
			return err
		}
		d := defaultsOf(row)
		for to, from := range map[*string]*string{&d.Missing: change.Missing, &d.Locale: change.Locale, &d.TimeZone: change.TimeZone} {
			if from != nil {
				*to = *from
			}
		}
		problems := d.Problems()
		for i := range problems {
			problems[i].Name = "defaults." + problems[i].Name
		}
		if err := Invalid(problems...); err != nil {
			return err
		}
		err = tx.SetTemplateDefaults(ctx, store.SetTemplateDefaultsParams{
			FileID: fileID, DefaultMissing: d.Missing, DefaultLocale: d.Locale, DefaultTimeZone: d.TimeZone,
		})
		if err != nil || change.SamplesRequired == nil {
			return err
		}
		return s.requireSamples(ctx, tx, c, p, *change.SamplesRequired)
	})
	if err != nil {
		return Template{}, err
	}
	return s.Template(ctx, c, fileID)
}
