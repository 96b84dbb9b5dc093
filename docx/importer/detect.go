package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dialect is the template language of a product.
type dialect struct {
	name  string // for --from
	title string // for people
	*grammar

	openTag, endTag string    // what a tag begins and ends with, if applications can change that
	blockMarks      [2]string // what the tags begin with that open and close a block, if applications can change that

	read    func(d *dialect, content string) command // reads a tag between openTag and endTag
	find    func(par *paragraph) []*tag              // reads the tags of a paragraph
	findAll func(pars []*paragraph) []*tag           // reads the tags of a part, in languages whose tags can continue in other paragraphs
	prepare func(p *part, data []any)                // changes the tags before the blocks are matched; may be nil
	arrange func(p *part)                            // adds changes to the part; may be nil
	resolve func(w *writer, path []step) (string, error)

	filters, methods, functions, properties map[string]rule

	emptyIsTrue bool // an empty list is true in expressions

	places      place // where tags are filled besides in paragraphs
	notesInside bool  // the tags of a note are in the loops around its reference

	records         bool     // a field whose value is a list repeats its row
	wholeItems      bool     // loops repeat list items and table columns, as easy-template-x does
	wholeParagraphs bool     // the text before a tag is part of a block that ends in another paragraph
	sticky          bool     // a variable keeps its value after the block in which it is set
	cells           bool     // blocks from one cell to another of a row are of the cells
	invents         bool     // loops have variables that are not in the template
	sections        bool     // loops change the context, and have no variables
	strict          bool     // a name is a key of the innermost context only
	notes           []string // on every template
	signs           []sign   // that a template is written in the language
}

// sign is something that only templates in one language have.
type sign struct {
	in     *regexp.Regexp // the text of a paragraph
	weight int
}

// dialects are the languages, in the order in which messages list them.
var dialects = []*dialect{docxtemplater, easyTemplateX, carbone, jinja, docxTemplates, handlebars, mailMerge, box}

// Names returns the names of the languages for [Options].
func Names() []string {
	all := make([]string, len(dialects))
	for i, d := range dialects {
		all[i] = d.name
	}
	return all
}

// LanguageError means that the language of a template is unknown.
type LanguageError struct{ Message, Hint string }

func (e *LanguageError) Error() string { return e.Message }

// language returns the language of the options, or the one whose signs the template has.
func (i *importer) language() (*dialect, error) {
	if i.opt.From != "" {
		at := slices.IndexFunc(dialects, func(d *dialect) bool { return d.name == i.opt.From })
		if at < 0 {
			return nil, &LanguageError{"There is no language " + strconv.Quote(i.opt.From) + ".",
				"The languages are " + strings.Join(Names(), ", ") + "."}
		}
		return dialects[at], nil
	}
	scores := i.scores()
	var likely []string
	best := 0
	for at, d := range dialects {
		switch {
		case scores[at] == 0 || scores[at] < best:
		case scores[at] > best:
			best, likely = scores[at], []string{d.name}
		default:
			likely = append(likely, d.name)
		}
	}
	switch {
	case len(likely) == 0:
		return nil, &LanguageError{"No tags of a known template language were found.",
			"If the template has tags, name their language with --from: " + strings.Join(Names(), ", ") + "."}
	case len(likely) > 1:
		return nil, &LanguageError{"The tags can be of several languages: " + strings.Join(likely, ", ") + ".",
			"Name the language with --from."}
	}
	return dialects[slices.IndexFunc(dialects, func(d *dialect) bool { return d.name == likely[0] })], nil
}

// noTags is the error for a template without tags of its language.
func (i *importer) noTags() *LanguageError {
	hint := "Leave out --from to detect the language."
	if i.opt.Open != "" {
		hint = "Check --delimiters, or leave out --from and --delimiters to detect the language."
	}
	return &LanguageError{"No tags of " + i.dialect.title + " were found.", hint}
}

// maxDelimiter is the number of bytes that a delimiter can have.
const maxDelimiter = 20

// delimited returns the language with other delimiters; "" for the usual ones.
func (d *dialect) delimited(opt *Options) (*dialect, error) {
	open, end := opt.Open, opt.End
	switch {
	case (opt.BlockOpen != "" || opt.BlockEnd != "") && d.blockMarks[0] == "":
		return nil, &LanguageError{"The tags of " + d.title + " that open and close blocks always begin in the same way.",
			"Write two delimiters, such as '[[ ]]'."}
	case open == "" && end == "":
		return d, nil
	case d.openTag == "":
		return nil, &LanguageError{"The tags of " + d.title + " always have the same delimiters.", "Leave out --delimiters."}
	case open == "" || end == "" || len(open) > maxDelimiter || len(end) > maxDelimiter || strings.ContainsAny(open+end, " \t\n"):
		return nil, &LanguageError{"The delimiters cannot be used.", "Write two of up to 20 bytes, such as '[[ ]]'."}
	}
	other := *d
	other.openTag, other.endTag = open, end
	if opt.BlockOpen != "" && opt.BlockEnd != "" {
		other.blockMarks = [2]string{opt.BlockOpen, opt.BlockEnd}
	}
	if d.findAll != nil {
		other.findAll = func(pars []*paragraph) []*tag { return findCommands(pars, open, end) }
	}
	return &other, nil
}

// tagsIn returns the tags of a paragraph, in languages whose tags end in their paragraphs.
func (d *dialect) tagsIn(par *paragraph) []*tag {
	switch {
	case d.read != nil:
		return d.findBetween(par)
	case d.find != nil:
		return d.find(par)
	}
	return nil
}

// scores returns how much the template looks like each language.
func (i *importer) scores() []int {
	scores := make([]int, len(dialects))
	for _, p := range i.parts {
		for _, par := range p.pars {
			texts := []string{par.text}
			for _, f := range par.fields {
				texts = append(texts, f.code)
			}
			text := strings.Join(texts, "\x00")
			for at, d := range dialects {
				for _, s := range d.signs {
					scores[at] += s.weight * len(s.in.FindAllStringIndex(text, -1))
				}
			}
		}
	}
	return scores
}
