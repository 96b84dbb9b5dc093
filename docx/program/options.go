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
	Locale   *locale.Locale // how numbers, dates and words are written; nil: English
	Location *time.Location // that times are shown in; nil: each in its own, and UTC where it names none
	Now      time.Time      // what $now gives; zero: it is an error
	Missing  lang.Missing   // what becomes of a value that the data has not
	Strict   bool           // whatever would be an error or a warning is why there is no document
	ForPDF   bool           // LibreOffice makes a PDF of the document, which is then thrown away

	Limits budget.Limits // what the document may cost; zero: the defaults

	// Picture returns the picture at an address of the data; nil: there is none to be had. Its error completes a sentence
	// whose subject is the picture.
	Picture func(ctx context.Context, address string) ([]byte, error)
}

// forTags are the options of the tags.
func (o *Options) forTags(use *lang.Use, meter *budget.Meter) lang.Options {
	return lang.Options{Use: use, Meter: meter, Locale: o.Locale, Location: o.Location, Now: o.Now, Missing: o.Missing}
}
