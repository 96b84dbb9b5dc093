package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"platen/budget"
	"platen/docx/lang"
)

// Report has the problems of an execution, in the words of Box Doc Gen.
type Report struct {
	Errors   []string // values that the document lacks; it contains their tags instead
	Warnings []string
	Details  []*Error // the errors and warnings that have a place in the template
	Used     budget.Used

	// OmittedErrors and OmittedWarnings count the messages beyond [lang.MaxReports] of each kind, which were not kept.
	OmittedErrors, OmittedWarnings int

	Marks        []Mark // the marked values, if the options ask for them
	OmittedMarks int    // the number of values beyond the limit of the options
}

// maxReportText is the number of bytes that a report keeps of one text: of a message, a path, or a tag.
const maxReportText = 2000

// ErrIncomplete is returned by [Document.Execute] for data that is not complete, if the options do not allow that.
var ErrIncomplete = errors.New("the data is not complete")

// findings are the problems with the values of tags, without duplicates of the same tag.
type findings struct {
	all  []finding
	seen map[finding]bool
	more int // beyond the limit, including duplicates
}

type finding struct {
	tag   *lang.Tag
	text  string
	datum string // the path of the value in the data
}

// fault records that a value cannot be inserted in the way its tag demands.
func (x *execution) fault(tag *lang.Tag, format string, err error) {
	x.faults.add(x, tag, fmt.Sprintf(format, tag.Expr, err))
}

// warn records a warning about the value of a tag.
func (x *execution) warn(tag *lang.Tag, text string) { x.warnings.add(x, tag, text) }

// add adds a text about the value of a tag, once for all items of a loop. It names the first.
func (f *findings) add(x *execution, tag *lang.Tag, text string) {
	found := finding{tag: tag, text: text}
	if f.seen[found] {
		return
	}
	if len(f.all) == lang.MaxReports {
		f.more++
		return
	}
	if f.seen == nil {
		f.seen = map[finding]bool{}
	}
	f.seen[found] = true
	found.text, found.datum = x.env.Placed(tag, text)
	f.all = append(f.all, found)
}

// texts returns each text once.
func (f *findings) texts() []string {
	var all []string
	seen := map[string]bool{}
	for _, found := range f.all {
		if !seen[found.text] {
			seen[found.text] = true
			all = append(all, found.text)
		}
	}
	return all
}

// exceeded adds the location to the error of an exceeded budget, and to the report. It returns other errors unchanged.
func (x *execution) exceeded(err error) (Report, error) {
	e, ok := errors.AsType[*budget.Error](err)
	if !ok {
		return Report{Used: x.meter.Used()}, err
	}
	located, r := *e, Report{Used: x.meter.Used()}
	tag := x.env.Tag()
	if tag == nil {
		return r, &located
	}
	located.Where = shortened(tag.Text)
	if at := x.d.Places[tag]; at != nil {
		located.Where += " (" + at.Part + ", " + at.Place + ")"
		detail := *at
		detail.Message = (&budget.Error{Budget: e.Budget, Limit: e.Limit}).Error()
		r.Details = []*Error{&detail}
	}
	return r, &located
}

// maxTagShown is the number of characters of a tag that the error of a budget shows.
const maxTagShown = 80

func shortened(tag string) string {
	if runes := []rune(tag); len(runes) > maxTagShown {
		return string(runes[:maxTagShown]) + "…"
	}
	return tag
}

// report returns the report, and ErrIncomplete if the options do not allow the problems in it.
func (x *execution) report() (Report, error) {
	errors, warnings := x.env.Lines()
	r := Report{
		Errors:   append(errors.Texts, x.faults.texts()...),
		Warnings: slices.Concat(x.warnings.texts(), x.d.Warnings.Messages(), warnings.Texts),
		Used:     x.meter.Used(),
		Marks:    x.marks.all, OmittedMarks: x.marks.omitted,
	}
	if len(r.Errors)+len(r.Warnings) > 0 {
		r.OmittedErrors, r.OmittedWarnings = errors.Omitted+x.faults.more, warnings.Omitted+x.warnings.more
		r.Details = x.details()
		r.shorten()
	}
	if x.opt.Strict && len(r.Errors)+len(r.Warnings) > 0 {
		r.Errors, r.Warnings = append(r.Errors, r.Warnings...), nil
		r.OmittedErrors, r.OmittedWarnings = r.OmittedErrors+r.OmittedWarnings, 0
		return r, ErrIncomplete
	}
	if x.env.Err() != nil {
		return r, ErrIncomplete
	}
	return r, nil
}

// details returns the problems of tags with their places, and those of the template itself.
func (x *execution) details() []*Error {
	var all []*Error
	seen := map[Error]bool{}
	add := func(e Error) {
		e.Warning = e.Warning && !x.opt.Strict
		if !seen[e] {
			seen[e] = true
			all = append(all, &e)
		}
	}
	for _, p := range x.env.TagProblems() {
		if at := x.d.Places[p.Tag]; at != nil {
			e := *at
			e.Message, e.Hint, e.Path, e.Datum, e.Nearest, e.Warning = p.Message, p.Hint, p.Path, p.Datum, p.Nearest, p.Warning
			add(e)
		}
	}
	for _, of := range []struct {
		*findings
		warn bool
	}{{&x.faults, false}, {&x.warnings, true}} {
		for _, found := range of.all {
			if at := x.d.Places[found.tag]; at != nil {
				e := *at
				e.Message, e.Datum, e.Warning = found.text, found.datum, of.warn
				add(e)
			}
		}
	}
	for _, e := range x.d.Warnings {
		add(*e)
	}
	return all
}

// shorten cuts the texts of a report at maxReportText. Most texts of the details are shared with the messages and with the template.
func (r *Report) shorten() {
	cut := func(text *string) {
		if len(*text) > maxReportText {
			*text = strings.ToValidUTF8((*text)[:maxReportText], "") + "…"
		}
	}
	for _, messages := range [][]string{r.Errors, r.Warnings} {
		for i := range messages {
			cut(&messages[i])
		}
	}
	for _, d := range r.Details {
		for _, text := range []*string{&d.Message, &d.Tag, &d.Path, &d.Datum, &d.Nearest, &d.Hint} {
			cut(text)
		}
	}
}
