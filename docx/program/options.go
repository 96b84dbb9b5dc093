package program

import (
	"context"
	"time"

	"platen/budget"
	"platen/docx/lang"
	"platen/docx/locale"
)

// Options are the settings of an execution. The zero value writes English into a document without a clock.
type Options struct {
	Locale   *locale.Locale // of numbers, dates, and words; nil means English
	Location *time.Location // of times; nil means that of each time, or UTC if it has none
	Now      time.Time      // the value of $now, which is an error if Now is zero
	Missing  lang.Missing   // how missing values are handled
	Strict   bool           // every error or warning prevents the document
	Macros   bool           // the document is a .docm, and keeps the macros of the template
	WordML   bool           // the filter wordml is allowed
	ForPDF   bool           // the document is only converted to PDF by LibreOffice, and then discarded

	// Marks is the largest number of values that are marked, so that they can be found in a PDF of the document (see [MarkAddress]). Such a
	// document is only for this purpose. Not more than [MaxMarks] are marked. If Marks is 0, none are marked.
	Marks int

	Limits budget.Limits // zero fields mean the defaults

	// Picture returns the picture at an address in the data. If Picture is nil, no picture is available. Its error completes a sentence
	// whose subject is the picture.
	Picture func(ctx context.Context, address string) ([]byte, error)
}

// forTags returns the options of the tags.
func (o *Options) forTags(use *lang.Use, meter *budget.Meter) lang.Options {
	return lang.Options{Use: use, Meter: meter, Locale: o.Locale, Location: o.Location, Now: o.Now, Missing: o.Missing}
}
