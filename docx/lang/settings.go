package lang

import (
	"time"

	"platen/docx/locale"
)

// locale returns the locale of the execution.
func (e *Env) locale() *locale.Locale {
	if e.opt.Locale != nil {
		return e.opt.Locale
	}
	return locale.Default()
}

// location is where a time without a zone is meant.
func (e *Env) location() *time.Location {
	if e.opt.Location != nil {
		return e.opt.Location
	}
	return time.UTC
}

func (e *Env) upper(s string) string { return e.locale().Upper(s) }

func (e *Env) lower(s string) string { return e.locale().Lower(s) }

func (e *Env) title(s string) string { return e.locale().Title(s) }

func (e *Env) initials(s string) string { return e.locale().Initials(s) }

// enumerate joins texts as people write lists.
func (e *Env) enumerate(texts []string) string { return e.locale().List(texts) }

func (e *Env) collate(a, b string) int { return e.locale().Compare(a, b) }
