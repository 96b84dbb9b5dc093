// Package docx is the template engine: it compiles a Word document with tags and fills it with data. The language of
// the tags is docx/lang's, the container docx/opc's.
//
// Parse compiles each part that holds text into a program of literal bytes and operations, so that an execution touches
// only what changes: parts without tags are copied as they are compressed, and of the others every byte that no tag
// concerns comes out as it was. Nothing of the output is held in memory.
package docx

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"platen/docx/lang"
	"platen/docx/opc"
)

// Template is a compiled document. It serves many executions at once.
type Template struct {
	pkg        *opc.Package
	programs   map[string]*program    // by part name; parts without tags have none
	main       string                 // name of the main part
	types      []byte                 // [Content_Types].xml, if it is another than the template's
	notes      map[string]*boundNote  // that are referred to within blocks
	charts     map[string]*boundChart // by part name
	lists      *numbering             // nil if the template has no numbered lists
	styleIDs   map[string]string      // by kind and name in lower case, with a blank between
	hasTOC     bool                   // the headings must be known before the document is written
	tags       []Tag
	places     map[*lang.Tag]*Error // where each tag stands
	use        lang.Use
	ids        idSpaces
	firstID    [idSpaceCount]int // that is free
	warnings   []string
	inclusions []*inclusion // until they are put in
	sound      soundness
	size       int
	outputs    sync.Pool // of *output, for executions
}

// Tag is a tag as a template's listing shows it.
type Tag struct {
	Content string   `json:"tag_content"` // as typed, with braces
	Type    string   `json:"tag_type"`    // "text", "arithmetic", "conditional", "for-loop", "table-loop"
	Paths   []string `json:"json_paths"`  // what it reads of the input, every prefix of each path
}

// limits are opc's but for the XML, of which compiling takes many times the size.
var limits = opc.Limits{XMLBytes: 32 << 20}

// maxTags bounds the tags of one part.
const maxTags = 20_000

// Parse compiles a Word document (.docx, .dotx, .docm or .dotm) of size bytes. It reads all of r and does not keep
// it. The error is an *opc.Error if the file cannot be read, and Errors, with all problems at once, if its tags cannot.
func Parse(r io.ReaderAt, size int64) (*Template, error) { return ParseWith(r, size, ParseOptions{}) }

// ParseWith is Parse with options.
func ParseWith(r io.ReaderAt, size int64, opt ParseOptions) (*Template, error) {
	if size > opc.DefaultPackageBytes { // before it is taken into memory; opc says it properly
		_, err := opc.Open(r, size, limits)
		return nil, err
	}
	file := make([]byte, max(size, 0))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read template: %w", err)
	}
	p := includer{open: opt.Include, files: map[string]*Template{}}
	return p.parse(file)
}

// compileFile compiles a file by itself; included says what of its parts comes from included files.
func compileFile(file []byte, mayInclude bool, included map[string][]stretch) (*Template, error) {
	pkg, err := opc.OpenBytes(file, limits)
	if err != nil {
		return nil, err
	}
	t := &Template{
		pkg: pkg, programs: map[string]*program{}, charts: map[string]*boundChart{}, notes: map[string]*boundNote{}, places: map[*lang.Tag]*Error{},
		ids: idSpaces{bookmarks: map[string]bool{}}, size: len(file),
	}
	if err := t.compile(mayInclude, included); err != nil {
		return nil, err
	}
	if err := t.becomeDocument(); err != nil {
		return nil, err
	}
	pkg.Forget()
	return t, nil
}

// becomeDocument has the output of a Word template (.dotx, .dotm) declared a document, since Word refuses a file whose
// name and content type differ.
func (t *Template) becomeDocument() error {
	part := t.pkg.Part(opc.ContentTypesName)
	src, err := t.pkg.ReadXML(part)
	if err != nil {
		return err
	}
	types := strings.NewReplacer(opc.TypeTemplate, opc.TypeDocument, opc.TypeMacroTemplate, opc.TypeMacroDocument).Replace(string(src))
	if types != string(src) {
		t.types = []byte(types)
	}
	return nil
}

// compile compiles the parts with text.
func (t *Template) compile(mayInclude bool, included map[string][]stretch) error {
	parts, err := textParts(t.pkg)
	if err != nil {
		return err
	}
	main := parts[0]
	t.main = main.Name
	if t.lists, err = readNumbering(t.pkg, main); err != nil {
		return err
	}
	properties, err := propertyParts(t.pkg)
	if err != nil {
		return err
	}
	styles, err := readStyles(t.pkg, main)
	if err != nil {
		return err
	}
	t.styleIDs = map[string]string{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(styles))) {
		t.styleIDs[styles[id].kind+" "+strings.ToLower(styles[id].name)] = id
	}
	p := partCompiler{t: t, seen: map[string]bool{}}
	shared := compiler{pkg: t.pkg, styles: styles, ids: &t.ids, lists: t.lists, charts: t.charts, notes: t.notes, use: &t.use, dialects: map[string]bool{}, mayInclude: mayInclude}
	for _, part := range append(parts, properties...) {
		c := shared
		c.part, c.isMain, c.isProperties, c.stretches = part.Name, part == main, slices.Contains(properties, part), included[part.Name]
		if err := p.compile(part, &c); err != nil {
			return err
		}
	}
	t.size += t.sound.memory.Size()
	for space := range idSpaceCount {
		t.firstID[space] = t.ids.first(space)
	}
	if len(p.problems) > 0 {
		return p.problems[:min(len(p.problems), maxErrors)]
	}
	return nil
}

// partCompiler compiles the parts of a template one after the other.
type partCompiler struct {
	t        *Template
	seen     map[string]bool // tags that are listed, with the loops around them
	problems Errors
}

// compile compiles a part and keeps what comes of it.
func (p *partCompiler) compile(part *opc.Part, c *compiler) error {
	t := p.t
	src, err := t.pkg.ReadXML(part)
	if err != nil {
		return err
	}
	if c.rels, err = t.pkg.Rels(part.Name); err != nil {
		return err
	}
	c.src = expandCDATA(src)
	compiled, err := c.compile()
	if err != nil {
		return err
	}
	p.report(c)
	t.hasTOC = t.hasTOC || c.toc != nil && compiled != nil
	chart := t.charts[part.Name]
	if chart != nil {
		if err := chart.read(t.pkg, c.src, compiled); err != nil {
			return err
		}
		t.size += len(c.src)
	} else if compiled != nil {
		t.programs[part.Name] = compiled
	}
	if compiled != nil {
		compiled.linkNotes(part.Name)
		t.size += compiled.size
	}
	if compiled == nil && chart == nil {
		return nil
	}
	return t.sound.learn(t.pkg, part.Name, c.src)
}

// report keeps what a compiler says of its part.
func (p *partCompiler) report(c *compiler) {
	t := p.t
	slices.SortStableFunc(c.errors, func(a, b *Error) int { return cmp.Compare(a.pos, b.pos) })
	p.problems = append(p.problems, c.errors...)
	t.warnings = append(t.warnings, c.warnings...)
	t.inclusions = append(t.inclusions, c.inclusions...)
	maps.Copy(t.places, c.places)
	for _, l := range c.listed() {
		if !p.seen[l.scope+l.tag.Content] {
			p.seen[l.scope+l.tag.Content] = true
			t.tags = append(t.tags, l.tag)
		}
	}
}

// textRels are the relationships that lead to parts with text, in the order in which these are read.
var textRels = []string{
	opc.RelHeader, opc.RelFooter, opc.RelFootnotes, opc.RelEndnotes, opc.RelChart, opc.RelDiagramData, opc.RelDiagramDrawing,
}

// textParts returns the parts that may hold tags: the main one, then headers, footers, notes, charts and diagrams. What is
// said in comments is said of the template and is no part of the document.
func textParts(pkg *opc.Package) ([]*opc.Part, error) {
	main, err := pkg.WordMain()
	if err != nil {
		return nil, err
	}
	parts := []*opc.Part{main}
	for i := 0; i < len(parts); i++ { // which grow, as a header may hold a chart
		rels, err := pkg.Rels(parts[i].Name)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(rels, func(a, b opc.Relationship) int {
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

// Tags lists the opening and value tags in document order: the main part, then headers, footers and notes. A tag that
// stands twice in the same loops is listed once.
func (t *Template) Tags() []Tag { return t.tags }

// Warnings are what the author may want to know whatever the data: braces that belong to no tag.
func (t *Template) Warnings() []string { return t.warnings }

// Size is about how many bytes of memory the template holds.
func (t *Template) Size() int { return t.size }
