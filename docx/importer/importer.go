// Package importer converts templates of other products into templates of Platen. It finds the tags of the other language in the text of
// the paragraphs, reads each of them, writes it in Platen's language with the formatting of its first character, and changes nothing else.
//
// A tag without an exact equivalent stays as text, with a Word comment that says what to write. If Platen would read it as one of its own
// tags, an invisible character between its braces prevents that.
//
// Each language has one file: its table of filters and functions, the way its tags are found, and the way one tag is read. The other
// files are the same for all: text.go and place.go (paragraphs and their locations), lex.go and parse.go (expressions), blocks.go (pairs
// the tags of blocks, and converts each tag), loops.go, conditions.go, and blocktags.go (the tags of loops, the other tags of
// blocks, and the text next to them), scope.go (what names mean in loops), write.go and rules.go (expressions in Platen's language),
// place_tags.go and rewrite.go (the changes of the file), and detect.go (which language a template is written in).
package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"platen/docx"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// Options are the settings of an import.
type Options struct {
	From string // the name of the language; "" to detect it
	Open string // what a tag begins with, for a language whose applications can change that; "" for what is usual
	End  string // what a tag ends with; "" for what is usual

	BlockOpen string // what a tag that opens a block has after Open, if applications can change that; "" for what is usual
	BlockEnd  string // the same of a tag that closes a block

	Data []any // samples of the input, as encoding/json decodes them with UseNumber; nil for none
}

// Report says what became of each tag.
type Report struct {
	From      string   `json:"from"` // the name of the language
	Tags      int      `json:"tags"`
	Converted int      `json:"converted"`
	Commented int      `json:"commented"` // tags that stay, with a comment
	Elsewhere int      `json:"elsewhere"` // tags outside the text, which stay, without a comment
	Results   []Result `json:"results"`
	Notes     []string `json:"notes"` // on the template as a whole
}

// Result is what became of one tag.
type Result struct {
	Part      string   `json:"part"`
	Heading   string   `json:"heading,omitempty"`
	Place     string   `json:"place"`
	Text      string   `json:"text"` // of the paragraph
	Original  string   `json:"original"`
	Converted string   `json:"converted,omitempty"`
	Removed   bool     `json:"removed,omitempty"` // the tag has no effect in Platen, and was removed
	Reason    string   `json:"reason,omitempty"`  // why it was not converted
	Advice    string   `json:"advice,omitempty"`  // what to write instead
	Notes     []string `json:"notes,omitempty"`   // what to check
}

// maxRounds is the number of times that Platen reads a converted template to find tags that must stay, one by one. After that, all tags of
// the parts that still have such tags stay.
const maxRounds = 10

// Convert writes a copy of a template of another product with Platen's tags. The error is an *ooxml.Error if the file cannot be read,
// and a *LanguageError if the language is unknown, or the template has no tags of it.
func Convert(w io.Writer, r io.ReaderAt, size int64, opt Options) (*Report, error) {
	pkg, err := ooxml.Open(r, size, limits)
	if err != nil {
		return nil, err
	}
	i := &importer{pkg: pkg, opt: opt}
	if err := i.read(); err != nil {
		return nil, err
	}
	if i.dialect, err = i.language(); err != nil {
		return nil, err
	}
	if i.dialect, err = i.dialect.delimited(&opt); err != nil {
		return nil, err
	}
	if err := i.findTags(); err != nil {
		return nil, err
	}
	var file []byte
	for round := 1; ; round++ {
		if file, err = i.convert(); err != nil {
			return nil, err
		}
		if again, err := i.recheck(file, round >= maxRounds); err != nil {
			return nil, err
		} else if !again {
			break
		}
	}
	report, err := i.report()
	if err != nil {
		return nil, err
	}
	if report.Tags == 0 {
		return nil, i.noTags()
	}
	return report, i.annotate(w, file)
}

// limits are those of templates.
var limits = ooxml.Limits{XMLBytes: 32 << 20}

type importer struct {
	pkg     *ooxml.Package
	opt     Options
	dialect *dialect
	parts   []*part
	others  []*part         // that elements of parts show, with tags
	links   map[string]bool // the links among the asides, by the part with their URL and their id
}

// read reads the parts with text.
func (i *importer) read() error {
	main, err := i.pkg.WordMain()
	if err != nil {
		return err
	}
	rels, err := i.pkg.Rels(main.Name)
	if err != nil {
		return err
	}
	all := []*ooxml.Part{main}
	for _, rel := range rels {
		target := i.pkg.Part(rel.Target)
		if textTypes[rel.Type] && !rel.External && target != nil && !slices.Contains(all, target) {
			all = append(all, target)
		}
	}
	for _, opc := range all {
		src, err := i.pkg.ReadXML(opc)
		if err != nil {
			return err
		}
		p := &part{name: opc.Name, src: scan.ExpandCDATA(src)}
		if p.root, err = wml.ParseTree(p.name, p.src); err != nil {
			return err
		}
		p.pars = flatten(p.src, p.root)
		p.own = len(p.pars)
		i.parts = append(i.parts, p)
	}
	return nil
}

// textTypes are the types of the relationships to parts with text.
var textTypes = map[string]bool{
	names.RelHeader: true, names.RelFooter: true, names.RelFootnotes: true, names.RelEndnotes: true,
}

// findTags reads the tags of all parts.
func (i *importer) findTags() error {
	for _, p := range i.parts {
		if err := i.findAsides(p); err != nil {
			return err
		}
		if i.dialect.findAll != nil {
			p.tags = i.dialect.findAll(p.pars)
		}
		for _, par := range p.pars {
			p.tags = append(p.tags, i.dialect.tagsIn(par)...)
		}
		for _, t := range p.tags {
			if t.par.aside != nil {
				p.restrict(t)
			}
		}
		slices.SortStableFunc(p.tags, func(a, b *tag) int { return a.start() - b.start() })
		if i.dialect.prepare != nil {
			i.dialect.prepare(p, i.opt.Data)
		}
		p.match()
	}
	return nil
}

// start is the position of a tag in the source, or of the element that shows it.
func (t *tag) start() int {
	if t.par.aside != nil {
		return t.par.node.Start
	}
	piece := &t.par.pieces[t.par.pieceAt(t.span.from)]
	if piece.isText() {
		return piece.source(t.span.from)
	}
	return piece.node.Start
}

// convert writes the tags in Platen's language, and returns the file.
func (i *importer) convert() ([]byte, error) {
	w := &writer{dialect: i.dialect, data: i.opt.Data, taken: i.names()}
	var out bytes.Buffer
	pw := ooxml.NewWriter(&out)
	changed := map[string][]byte{}
	for _, p := range i.others {
		p.rewriter = newRewriter(p.src)
	}
	for _, p := range i.parts {
		if len(p.tags) == 0 && !slices.ContainsFunc(p.pars, func(par *paragraph) bool { return strings.Contains(par.text, "{{") }) {
			continue
		}
		p.convert(w)
		if i.dialect.arrange != nil {
			i.dialect.arrange(p)
		}
		p.place()
		changed[p.name] = p.bytes()
	}
	for _, p := range i.others {
		if len(p.edits) > 0 {
			changed[p.name] = p.bytes()
		}
	}
	for _, opc := range i.pkg.Parts() {
		data, ok := changed[opc.Name]
		if !ok {
			if err := pw.Copy(opc); err != nil {
				return nil, err
			}
			continue
		}
		dst, err := pw.Create(opc.Name)
		if err != nil {
			return nil, err
		}
		if _, err := dst.Write(data); err != nil {
			return nil, err
		}
	}
	err := pw.Close()
	return out.Bytes(), err
}

// names returns the words that the tags of the template use, so that new variables do not hide them.
func (i *importer) names() map[string]bool {
	used := map[string]bool{}
	for _, p := range i.parts {
		for _, t := range p.tags {
			t.expr.names(used)
			t.where.names(used)
			for _, e := range t.uses {
				e.names(used)
			}
		}
	}
	return used
}

// outward precedes a name in [writer.taken] that a path from inside a loop leads out to.
const outward = "../"

// names adds the keys at the beginning of the paths in an expression.
func (e *expr) names(used map[string]bool) {
	if e == nil {
		return
	}
	switch {
	case e.op == opName && strings.HasPrefix(e.name, outward):
		used[outward+strings.TrimLeft(e.name, "./")] = true
	case e.op == opName:
		used[e.name] = true
	case e.op == opMember && e.args[0].op == opName && e.args[0].name == "@root":
		used[outward+e.name] = true
	}
	for _, a := range e.args {
		a.names(used)
	}
}

// errTooMany is the reason for the tags of a part that stay as they are because of many others.
var errTooMany = &cannot{"Platen cannot read too many of the tags around it", "correct the tags with other comments, and import again"}

// partOf returns the part that a tag is in.
func (i *importer) partOf(t *tag) *part {
	return i.parts[slices.IndexFunc(i.parts, func(p *part) bool { return slices.Contains(p.tags, t) })]
}

// recheck reads the converted template as Platen does. It leaves the tags that Platen reports as they were, or all tags of their parts, and
// reports whether there are any.
func (i *importer) recheck(file []byte, allOfParts bool) (again bool, err error) {
	_, err = docx.Parse(bytes.NewReader(file), int64(len(file)))
	problems, ok := errors.AsType[docx.Errors](err)
	if !ok {
		return false, err
	}
	places := map[string][]located{}
	for _, p := range i.parts {
		places[p.name] = p.locate()
	}
	mistakes := slices.DeleteFunc(problems.Mistakes(), func(e *docx.Error) bool {
		t := i.tagAt(e, places)
		return t != nil && t.includes && t.out == e.Tag // the file need not be there
	})
	for _, problem := range mistakes {
		if t := i.tagAt(problem, places); t != nil {
			again = true
			if allOfParts {
				i.partOf(t).fail(errTooMany)
				continue
			}
			c := &cannot{problem.Message, problem.Hint}
			if t.block != nil {
				t.block.fail(c)
			}
			t.failed = c
		}
	}
	if !again && len(mistakes) > 0 {
		return false, fmt.Errorf("the converted template has mistakes: %w", problems)
	}
	return again, nil
}
