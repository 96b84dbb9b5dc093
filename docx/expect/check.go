package expect

import (
	"fmt"
	"slices"
	"strings"

	"platen/docx"
)

// Kind is the kind of a difference.
type Kind string

// The kinds of differences.
const (
	MissingText       Kind = "missing_text"
	UnwantedText      Kind = "unwanted_text"
	WrongPages        Kind = "wrong_pages"
	MissingMessage    Kind = "missing_message"    // an error or a warning that was expected
	UnexpectedMessage Kind = "unexpected_message" // an error or a warning that was not expected
	Failed            Kind = "failed"             // there is no document, or for another reason
	NotFailed         Kind = "not_failed"
	Added             Kind = "added"
	Removed           Kind = "removed"
	ChangedText       Kind = "changed_text"
	ChangedFormat     Kind = "changed_format"
	TooMany           Kind = "too_many" // further differences were left out
)

// Difference is one difference between a document and what its author expects, with its location in the document. For what is missing in
// the document, the location is that in the expected document, or of the paragraph that resembles it most.
type Difference struct {
	Kind    Kind   `json:"kind"`
	Part    string `json:"part,omitempty"`    // "/word/document.xml"
	Heading string `json:"heading,omitempty"` // the nearest heading before it
	Place   string `json:"place,omitempty"`   // "table 2, row 3, cell 1", "the document", …
	Message string `json:"message"`
	Want    string `json:"want,omitempty"`
	Got     string `json:"got,omitempty"`
}

// String returns the difference on up to three lines: the location and the message, what was expected, and what is in the document.
func (d *Difference) String() string {
	var b strings.Builder
	if d.Part != "" {
		b.WriteString(d.Part + ", " + d.Place)
		if d.Heading != "" {
			fmt.Fprintf(&b, ", under %q", d.Heading)
		}
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	if d.Want != "" {
		b.WriteString("\n    want: " + d.Want)
	}
	if d.Got != "" {
		b.WriteString("\n    got:  " + d.Got)
	}
	return b.String()
}

// Result is a generated document, as far as expectations are about it.
type Result struct {
	Outline []Line
	Report  docx.Report // of the generation
	Pages   int         // 0 if they were not counted
	Failure string      // why there is no document; empty if there is one
}

// NeedsPages reports whether Check needs the number of pages.
func (e *Expectations) NeedsPages() bool { return e.Pages != nil }

// Check returns the differences between a document and the expectations.
func (e *Expectations) Check(r *Result) []Difference {
	var found []Difference
	errors := messages{kind: "error", texts: r.Report.Errors, omitted: r.Report.OmittedErrors}
	warnings := messages{kind: "warning", texts: r.Report.Warnings, omitted: r.Report.OmittedWarnings}
	found = append(found, errors.check(e.Errors, e.Errors != nil || e.Fails == "", r.Report.Details)...)
	found = append(found, warnings.check(e.Warnings, e.Warnings != nil, r.Report.Details)...)
	switch {
	case r.Failure != "" && e.Fails == "":
		return append(found, Difference{Kind: Failed, Message: "The document could not be generated.", Got: r.Failure})
	case r.Failure != "" && !strings.Contains(normalize(r.Failure), normalize(e.Fails)):
		return append(found, Difference{
			Kind: Failed, Message: "The generation failed with another message.", Want: e.Fails, Got: r.Failure,
		})
	case r.Failure != "":
		return found
	case e.Fails != "":
		return append(found, Difference{Kind: NotFailed, Message: "The document was generated, but should have failed.", Want: e.Fails})
	}
	found = append(found, e.checkTexts(r.Outline)...)
	if p := e.Pages; p != nil && r.Pages == 0 {
		found = append(found, Difference{Kind: WrongPages, Message: "The pages were not counted.", Want: p.String()})
	} else if p != nil && (r.Pages < p.Min || r.Pages > p.Max) {
		found = append(found, Difference{
			Kind: WrongPages, Message: "The document has another number of pages.", Want: p.String(), Got: fmt.Sprint(r.Pages),
		})
	}
	return found
}

// messages are the messages of a kind that a generation reported.
type messages struct {
	kind    string
	texts   []string
	omitted int
}

// check compares the messages with the expected parts of messages. If only is true, there must be no others. Unexpected messages have the
// location in the template, which is in details.
func (m *messages) check(want []string, only bool, details []*docx.Error) []Difference {
	contains := func(message, part string) bool { return strings.Contains(normalize(message), normalize(part)) }
	var found []Difference
	for _, part := range want {
		if !slices.ContainsFunc(m.texts, func(message string) bool { return contains(message, part) }) {
			found = append(found, Difference{
				Kind: MissingMessage, Message: fmt.Sprintf("The generation did not report this %s.", m.kind), Want: part,
				Got: strings.Join(m.texts, " "),
			})
		}
	}
	if !only {
		return found
	}
	for _, message := range m.texts {
		if slices.ContainsFunc(want, func(part string) bool { return contains(message, part) }) {
			continue
		}
		d := Difference{Kind: UnexpectedMessage, Message: fmt.Sprintf("The generation reported an unexpected %s.", m.kind), Got: message}
		i := slices.IndexFunc(details, func(e *docx.Error) bool { return e.Message == message && e.Warning == (m.kind == "warning") })
		if i >= 0 {
			d.Part, d.Heading, d.Place = details[i].Part, details[i].Heading, details[i].Place
			d.Message = strings.TrimSuffix(d.Message, ".") + " of the template."
		}
		found = append(found, d)
	}
	if m.omitted > 0 {
		text := fmt.Sprintf("The generation reported %d more %ss.", m.omitted, m.kind)
		found = append(found, Difference{Kind: UnexpectedMessage, Message: text})
	}
	return found
}

const (
	maxNearest   = 20      // missing texts for which the paragraph that resembles them is sought
	maxResembled = 1 << 20 // bytes of the document in which it is sought
)

// checkTexts seeks the texts that must appear, or must not.
func (e *Expectations) checkTexts(outline []Line) []Difference {
	var found []Difference
	if len(e.Contains)+len(e.Lacks) == 0 {
		return nil
	}
	shown, all := make([][]string, len(outline)), make([][]string, len(outline))
	for i := range outline {
		shown[i], all[i] = outline[i].searched()
	}
	missing := 0
	for _, text := range e.Contains {
		text = normalize(text)
		if slices.ContainsFunc(shown, func(forms []string) bool { return formWith(forms, text) != "" }) {
			continue
		}
		d := Difference{Kind: MissingText, Message: "This text is not in any paragraph or table row.", Want: shorten(text)}
		if missing++; missing <= maxNearest {
			d.resemble(text, outline, shown)
		}
		found = append(found, d)
	}
	for _, text := range e.Lacks {
		if d := unwanted(normalize(text), outline, all); d != nil {
			found = append(found, *d)
		}
	}
	return found
}

// formWith returns the first of the forms of a line's text that contains a text; "" if none does.
func formWith(forms []string, text string) string {
	if i := slices.IndexFunc(forms, func(form string) bool { return strings.Contains(form, text) }); i >= 0 {
		return forms[i]
	}
	return ""
}

// unwanted returns where a text is that must not appear; nil if it does not. Rows come last, because their cells say more.
func unwanted(text string, outline []Line, texts [][]string) *Difference {
	for _, rows := range []bool{false, true} {
		var first *Line
		shown, count := "", 0
		for i := range outline {
			form := formWith(texts[i], text)
			if (outline[i].Kind == Row) != rows || form == "" {
				continue
			}
			if count++; first == nil {
				first, shown = &outline[i], around(form, text)
			}
		}
		if first == nil {
			continue
		}
		d := first.difference(UnwantedText, fmt.Sprintf("%q must not appear.", shorten(text)))
		if d.Got = shown; count > 1 {
			d.Message = fmt.Sprintf("%q must not appear, and does %d times.", shorten(text), count)
		}
		return d
	}
	return nil
}

// around returns the text around a part of it.
func around(text, part string) string {
	at := strings.Index(text, part)
	from, to := max(at-maxShown/2, 0), min(at+len(part)+maxShown/2, len(text))
	shown := strings.ToValidUTF8(text[from:to], "")
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(text) {
		shown += "…"
	}
	return shown
}

// resemble sets the location and the text of the paragraph that resembles a text most.
func (d *Difference) resemble(text string, outline []Line, texts [][]string) {
	wanted, best, most, left := gramsOf(text), -1, noResemble, maxResembled
	shown := ""
	for i, forms := range texts {
		line := strings.Join(forms[:min(len(forms), 1)], "")
		if left -= len(line); line == "" || left < 0 {
			continue
		}
		share := wanted.share(line)
		if share > most || share == most && best >= 0 && len(line) < len(shown) {
			best, most, shown = i, share, line
		}
	}
	if best < 0 {
		return
	}
	line := &outline[best]
	d.Part, d.Heading, d.Place = line.Part, line.Heading, line.Place
	d.Message = "This text is missing. The most similar text is here."
	d.Got = shorten(shown)
}
