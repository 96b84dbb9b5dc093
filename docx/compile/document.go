// Package compile turns the parts of a Word document into programs. It finds the tags in the text of the paragraphs, pairs the tags of
// blocks, decides which bytes of the source change, and records that as edits. Sorted, the edits become the steps of docx/program.
//
// All problems with the tags are found at once, each with its place.
//
// The core is document.go (the parts of a template), compile.go (the phases for one part), text.go (paragraphs as strings), tags.go (the
// tags in them), blocks.go and borders.go (which tags belong together, and where their blocks begin and end), guards.go (what is left
// out when it turns out empty), edit.go (which bytes change), assemble.go (edits as steps), scope.go (what data the tags read), and
// error.go (problems and their places). Every other file is one feature: it finds what the feature changes, and creates its steps,
// whose types are in the file of the same name in docx/program.
package compile

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"platen/budget"
	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// Compiled is a compiled document with the findings of the compiler.
type Compiled struct {
	Document   *program.Document
	Tags       []Tag
	Inclusions []*inclusion   // until they are put in
	Mistakes   program.Errors // errors that make the program unusable; warnings are in the document
	Variables  bool           // tags in the text of the body name values
	Size       int            // bytes held, about
}

// Tag is a tag as a template's listing shows it.
type Tag struct {
	Content string   `json:"tag_content"` // as typed, with braces
	Type    string   `json:"tag_type"`    // "text", "arithmetic", "conditional", "for-loop", "table-loop"
	Paths   []string `json:"json_paths"`  // the paths that it reads in the input, with every prefix
}

// Limits are those of ooxml, except for the size of XML, because compiling takes many times its memory.
var Limits = ooxml.Limits{XMLBytes: 32 << 20}

// maxTags bounds the tags of one part.
const maxTags = 20_000

// partCompiler compiles the parts of a template in sequence.
type partCompiler struct {
	Compiled
	meter *budget.Meter
	seen  map[string]bool // tags that are listed, with the loops around them
}

// Options are the settings for compiling a file.
type Options struct {
	MayInclude bool                 // the template may include files
	Included   map[string][]Stretch // the ranges of the parts that come from included files
	Contents   Contents
	NoTags     bool // only tables of contents are rewritten, and tags are text
}

// Contents says which tables of contents are rewritten.
type Contents int

// The ways to treat tables of contents.
const (
	ContentsAuto   Contents = iota // they are rewritten if the document has tags, or if its settings say that fields are to be updated
	ContentsUpdate                 // they are rewritten
	ContentsKeep                   // they stay as they are
)

// File compiles a file without its inclusions. The work is taken from m. The error is that of an unreadable file, or of m.
func File(m *budget.Meter, file []byte, opt Options) (*Compiled, error) {
	pkg, err := ooxml.OpenBytes(file, Limits)
	if err != nil {
		return nil, err
	}
	p := partCompiler{meter: m, Compiled: Compiled{Document: program.NewDocument(pkg), Size: len(file)}, seen: map[string]bool{}}
	if err := p.compileParts(opt); err != nil {
		return nil, err
	}
	if err := p.readForms(); err != nil {
		return nil, err
	}
	pkg.Forget()
	return &p.Compiled, nil
}

// compileParts compiles the parts with text.
func (p *partCompiler) compileParts(opt Options) error {
	d := p.Document
	parts, err := textParts(d.Package)
	if err != nil {
		return err
	}
	main := parts[0]
	d.Main = main.Name
	if d.Lists, err = program.ReadNumbering(d.Package, main); err != nil {
		return err
	}
	properties, err := propertyParts(d.Package)
	if err != nil {
		return err
	}
	styles, err := style.Definitions(d.Package, main)
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(styles))) {
		d.StyleIDs[styles[id].Kind+" "+strings.ToLower(styles[id].Name)] = id
	}
	if opt.Contents == ContentsAuto {
		updates, err := updatesFields(d.Package, main)
		if err != nil {
			return err
		}
		if updates {
			opt.Contents = ContentsUpdate
		}
	}
	shared := &template{
		meter: p.meter, pkg: d.Package, opt: opt, styles: styles, numbering: d.Lists, charts: d.Charts,
		headers: map[string]*boundHeader{}, notes: map[string]*boundNote{}, ids: &IDs{bookmarks: d.Bookmarks}, slots: &d.Slots,
		use: &d.Use, dialects: map[string]bool{}, settable: map[string]bool{},
	}
	if opt.NoTags {
		parts, properties = parts[:1], nil
	}
	for _, part := range append(parts, properties...) {
		if err := p.meter.Check(); err != nil {
			return err
		}
		src := source{part: part.Name, isMain: part == main, isProperties: slices.Contains(properties, part), stretches: opt.Included[part.Name]}
		if err := p.compile(part, newCompiler(shared, src)); err != nil {
			return err
		}
	}
	p.Size += d.Sound.Memory.Size()
	for space := range program.IDSpaceCount {
		d.FirstID[space] = shared.ids.first(space)
	}
	return nil
}

// updatesFields reports whether the settings of a document say that its fields are to be updated when it is opened (ISO 29500-1
// §17.15.1.81).
func updatesFields(pkg *ooxml.Package, main *ooxml.Part) (bool, error) {
	part, err := wml.RelatedPart(pkg, main, names.RelSettings)
	if part == nil || err != nil {
		return false, err
	}
	src, err := pkg.Read(part)
	if err != nil || !bytes.Contains(src, []byte("updateFields")) { // as almost always
		return false, err
	}
	if src, err = pkg.ReadXML(part); err != nil {
		return false, err
	}
	r := scan.New(src)
	for range r.All {
		if r.Name() == "w:updateFields" {
			return scan.IsOn(r.RawAttr("w:val")), nil
		}
	}
	return false, nil
}

// compile compiles a part and keeps the result.
func (p *partCompiler) compile(part *ooxml.Part, c *compiler) error {
	d := p.Document
	src, err := d.Package.ReadXML(part)
	if err != nil {
		return err
	}
	if c.rels, err = d.Package.Rels(part.Name); err != nil {
		return err
	}
	c.src = scan.ExpandCDATA(src)
	made, err := c.compile()
	if err != nil {
		return err
	}
	p.report(c)
	d.HasTOC = d.HasTOC || len(c.tocs.own) > 0 && made != nil
	chart := d.Charts[part.Name]
	if chart != nil {
		if err := chart.Read(d.Package, c.src, made); err != nil {
			return err
		}
		p.Size += len(c.src)
	} else if made != nil {
		p.keep(c, made)
	}
	if made != nil {
		linkNotes(part.Name, made)
		p.Size += made.Size
	}
	if made == nil && chart == nil {
		return nil
	}
	return d.Sound.Learn(d.Package, part.Name, c.src)
}

// keep keeps the program of a part: it writes that part, unless this is a header that is written for each round of a loop.
func (p *partCompiler) keep(c *compiler, made *program.Part) {
	bound := c.ofRounds()
	if bound != nil {
		bound.header.Body = made
		p.Document.Headers[c.part] = bound.header
	}
	if bound == nil || bound.header.Shared {
		p.Document.Parts[c.part] = made
	}
}

// report keeps the problems and the tags that a compiler found in its part.
func (p *partCompiler) report(c *compiler) {
	d := p.Document
	p.Mistakes = keep(p.Mistakes, c.errors)
	p.Variables = p.Variables || c.isMain && slices.ContainsFunc(c.marks, func(m *mark) bool { return m.tag.Kind == lang.Let })
	d.Warnings, d.Doubts = keep(d.Warnings, c.warnings), keep(d.Doubts, c.doubts)
	p.Inclusions = append(p.Inclusions, c.inclusions...)
	maps.Copy(d.Places, c.placesOf)
	for _, l := range c.listed() {
		if !p.seen[l.scope+l.tag.Content] {
			p.seen[l.scope+l.tag.Content] = true
			p.Tags = append(p.Tags, l.tag)
		}
	}
}

// keep adds the problems of a part, in the order of their places, to as many as are reported.
func keep(all, of program.Errors) program.Errors {
	slices.SortStableFunc(of, func(a, b *program.Error) int { return cmp.Compare(a.Offset, b.Offset) })
	all = append(all, of...)
	return all[:min(len(all), MaxErrors)]
}

// textRels are the relationships that lead to parts with text, in the order in which these are read.
var textRels = []string{
	names.RelHeader, names.RelFooter, names.RelFootnotes, names.RelEndnotes, names.RelChart, names.RelExtendedChart,
	names.RelDiagramData, names.RelDiagramDrawing,
}

// textParts returns the parts that may contain tags: the main one, then headers, footers, notes, charts, and diagrams.
// Comments are about the template, and have no tags.
func textParts(pkg *ooxml.Package) ([]*ooxml.Part, error) {
	main, err := pkg.WordMain()
	if err != nil {
		return nil, err
	}
	parts := []*ooxml.Part{main}
	for i := 0; i < len(parts); i++ { // parts grows, because a header may contain a chart
		rels, err := pkg.Rels(parts[i].Name)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(rels, func(a, b ooxml.Relationship) int {
			return cmp.Or(cmp.Compare(slices.Index(textRels, a.Type), slices.Index(textRels, b.Type)), cmp.Compare(a.Target, b.Target))
		})
		for _, r := range rels {
			if r.External || !slices.Contains(textRels, r.Type) {
				continue
			}
			if part := pkg.Part(r.Target); part != nil && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return parts, nil
}
