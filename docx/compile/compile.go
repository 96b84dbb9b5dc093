package compile

import (
	"cmp"
	"slices"

	"platen/budget"
	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml"
)

// bytesPerStep is the number of bytes of XML that are parsed for one step.
const bytesPerStep = 10

// template is the state that the compilers of a template's parts share.
type template struct {
	meter     *budget.Meter
	pkg       *ooxml.Package
	opt       Options
	styles    map[string]style.Definition // by id
	numbering *program.Numbering          // nil if the template has none
	charts    map[string]*program.Chart
	headers   map[string]*boundHeader // of sections in loops, by the names of their parts
	notes     map[string]*boundNote   // by their noteKey
	ids       *IDs
	slots     *program.Slots
	use       *lang.Use
	dialects  map[string]bool // other template languages that were found
	settable  map[string]bool // the bookmarks, in lower case, that a field SET gives a value of the input
}

// source is a part of the template.
type source struct {
	part         string
	src          []byte
	root         *wml.Node
	rels         []ooxml.Relationship
	isMain       bool
	isProperties bool
	stretches    []Stretch // of included files
	width        int       // of the text; 0 until it is computed
}

// text is what authors wrote in a part: its paragraphs and the tags in them, and the blocks that the tags form.
type text struct {
	pars    []*paragraph
	marks   []*mark
	asides  []*aside           // tags outside of the text of paragraphs
	blocks  []*block           // inner before outer
	gone    map[*wml.Node]bool // paragraphs and rows that held nothing but block tags
	guarded map[*wml.Node]bool // paragraphs and tables that are left out if they turn out empty
	pinned  map[*wml.Node]bool // runs and texts that contain borders
	sdts    []*wml.Node        // content controls
}

// compiler turns one part into a program. It finds the tags in the flattened text of the paragraphs, pairs the blocks,
// decides which bytes of the source each feature changes, and records that as edits, which assemble turns into steps.
type compiler struct {
	*template
	source
	text
	findings
	edits []edit
	ended error // of the meter

	listSlots map[*wml.Node]int // 1 + the slot of the list, of items whose list restarts in loops

	newProps   []*newProperties
	inclusions []*inclusion
	listing    map[*mark]listed // of the tags that a listing shows

	tocs     tocs
	pictures pictures
	links    links
	controls controls
	sections repeatingSections
	plain    plainTexts
	fields   wordFields
	places   valuePlaces
}

func newCompiler(t *template, s source) *compiler {
	c := &compiler{template: t, source: s}
	c.listSlots = make(map[*wml.Node]int)
	c.gone, c.guarded, c.pinned = make(map[*wml.Node]bool), make(map[*wml.Node]bool), make(map[*wml.Node]bool)
	c.tocs, c.pictures, c.links, c.controls = tocs{compiler: c}, pictures{compiler: c}, links{compiler: c}, controls{compiler: c}
	c.sections, c.fields = repeatingSections{compiler: c}, wordFields{compiler: c}
	c.plain, c.places = plainTexts{compiler: c}, newValuePlaces(c)
	return c
}

// compile returns the program of a part, or nil if it contains no tags. Problems are in c.errors and c.warnings.
func (c *compiler) compile() (*program.Part, error) {
	if err := c.read(); err != nil {
		return nil, err
	}
	if err := c.run(find); err != nil || len(c.marks)+len(c.asides)+len(c.ownNotes()) == 0 && !c.updatesContents() {
		return nil, err
	}
	if err := c.run(match); err != nil || len(c.errors) > 0 {
		return nil, err
	}
	if err := c.run(change); err != nil {
		return nil, err
	}
	return c.assemble()
}

// updatesContents reports whether the part has tables of contents that are rewritten even without tags.
func (c *compiler) updatesContents() bool {
	return c.opt.Contents == ContentsUpdate && len(c.tocs.own) > 0
}

// stage is one of the rounds of compiling a part.
type stage uint8

const (
	find   stage = iota // find the content of the part: paragraphs, tags, pictures, links, …
	match               // pair the tags of blocks, and decide where the blocks begin and end
	change              // decide which bytes of the source change
)

// phase is one step of compiling a part.
type phase struct {
	stage stage
	name  string
	run   func(c *compiler)
	after []string // phases whose results it uses

	findsTags bool
}

// phases are the steps of compiling a part, in the order in which they run. Edits at the same position with the same rank take effect in
// the order of the phases that made them.
var phases = []phase{
	{find, "tables of contents", func(c *compiler) { c.tocs.find() }, nil, false},
	{find, "paragraphs", (*compiler).findParagraphs, []string{"tables of contents"}, false},
	{find, "repeating sections", func(c *compiler) { c.sections.find() }, []string{"paragraphs"}, true},
	{find, "ids in use", func(c *compiler) { c.ids.collect(c.src, c.root) }, nil, false},
	{find, "foreign tags", (*compiler).findDialects, []string{"repeating sections"}, true},
	{find, "tags", (*compiler).findTags, []string{"repeating sections"}, true},
	{find, "pictures", func(c *compiler) { c.pictures.find() }, []string{"repeating sections"}, true},
	{find, "links", func(c *compiler) { c.links.find() }, []string{"repeating sections"}, true},
	{find, "content controls", func(c *compiler) { c.controls.find() }, []string{"repeating sections", "tags", "pictures"}, true},
	{find, "fields of Word", func(c *compiler) { c.fields.find() }, []string{
		"repeating sections", "tables of contents", "tags", "content controls",
	}, true},
	{find, "attributes and field codes", func(c *compiler) { c.plain.find() }, []string{
		"pictures", "content controls", "fields of Word",
	}, true},
	{find, "embedded documents", (*compiler).findEmbedded, []string{"repeating sections"}, true},

	{match, "blocks", (*compiler).matchBlocks, []string{"tags"}, false},
	{match, "blocks of sections", func(c *compiler) { c.sections.addBlocks() }, []string{"blocks"}, false},
	{match, "copies in tables of contents", (*compiler).forgetCopies, []string{"blocks"}, false},
	{match, "texts without tags", (*compiler).removeTags, []string{"blocks", "copies in tables of contents"}, false},
	{match, "lines without tags", (*compiler).removeLines, []string{"texts without tags"}, false},
	{match, "paragraphs without tags", (*compiler).findGone, []string{"lines without tags", "blocks of sections"}, false},
	{match, "borders", (*compiler).findBorders, []string{"paragraphs without tags"}, false},
	{match, "tables of contents in loops", func(c *compiler) { c.tocs.keepThoseInLoops() }, []string{"borders"}, false},
	{match, "fields", (*compiler).checkFields, []string{"borders"}, false},

	{change, "references to notes", (*compiler).findReferences, []string{"borders"}, false},
	{change, "references to headers", (*compiler).findHeaders, []string{"borders"}, false},
	{change, "places of variables", (*compiler).placeLets, []string{"borders"}, false},
	{change, "scopes", (*compiler).readScopes, []string{
		"borders", "references to notes", "references to headers", "places of variables",
	}, false},
	{change, "places of tags", (*compiler).notePlaces, []string{"borders"}, false},
	{change, "variables", (*compiler).editLets, []string{"places of variables"}, false},
	{change, "values", (*compiler).editTexts, []string{"borders"}, false},
	{change, "guarded paragraphs", (*compiler).guardParagraphs, []string{"borders"}, false},
	{change, "guarded tables", (*compiler).guardTables, []string{"guarded paragraphs"}, false},
	{change, "sections", func(c *compiler) { c.sections.edit() }, []string{"borders"}, false},
	{change, "containers", (*compiler).guardContainers, []string{"guarded paragraphs", "guarded tables", "sections"}, false},
	{change, "bound controls", (*compiler).editBound, nil, false},
	{change, "lists", (*compiler).editLists, []string{"borders"}, false},
	{change, "notes", (*compiler).editNotes, []string{"scopes"}, false},
	{change, "headers", (*compiler).editHeaders, []string{"references to headers"}, false},
	{change, "cells", (*compiler).editCells, []string{"borders"}, false},
	{change, "appearance", (*compiler).editAppearance, []string{"borders", "cells", "lists"}, false},
	{change, "properties", (*compiler).editProperties, []string{"cells", "appearance"}, false},
	{change, "drawings", func(c *compiler) { c.pictures.edit() }, []string{"paragraphs without tags"}, false},
	{change, "addresses", func(c *compiler) { c.links.edit() }, nil, false},
	{change, "controls", func(c *compiler) { c.controls.edit() }, []string{"paragraphs without tags"}, false},
	{change, "attributes", func(c *compiler) { c.plain.edit() }, nil, false},
	{change, "values of fields", func(c *compiler) { c.fields.edit() }, []string{"borders"}, false},
	{change, "contents", func(c *compiler) { c.tocs.edit() }, []string{"borders", "lists", "appearance"}, false},
	// The regions of ranges are read off the edits of all other phases.
	{change, "ids", (*compiler).editIDs, []string{
		"scopes", "variables", "values", "guarded paragraphs", "guarded tables", "containers", "bound controls", "lists", "notes", "headers",
		"cells", "appearance", "properties", "drawings", "addresses", "controls", "sections", "attributes", "values of fields", "contents",
	}, false},
}

// run runs the phases of a stage, until the meter ends them.
func (c *compiler) run(s stage) error {
	for i := range phases {
		if phases[i].stage != s || c.opt.NoTags && phases[i].findsTags {
			continue
		}
		if phases[i].run(c); c.spend(len(c.pars) + len(c.marks) + len(c.edits)) {
			return c.ended
		}
	}
	return nil
}

// spend takes n steps from the meter. Once it returns true, the compiler must stop, and c.ended says why.
func (c *compiler) spend(n int) (ended bool) {
	if c.ended == nil {
		c.ended = c.meter.Spend(n)
	}
	return c.ended != nil
}

// read parses the part.
func (c *compiler) read() error {
	if c.spend(len(c.src) / bytesPerStep) {
		return c.ended
	}
	var err error
	c.root, err = wml.ParseTree(c.part, c.src)
	return err
}

// findParagraphs finds the paragraphs of a part, in the order in which they begin. Properties of the document and names in charts count as
// paragraphs.
func (c *compiler) findParagraphs() {
	if c.isProperties {
		c.pars = c.leafTexts(func(*wml.Node) bool { return true })
		return
	}
	c.pars = slices.DeleteFunc(flatten(c.src, c.root), func(p *paragraph) bool {
		return c.tocs.holds(p.node) &&
			len(c.tocs.tagsBeside(p)) == 0
	})
	if c.root.Name == "c:chartSpace" {
		c.pars = append(c.pars, c.leafTexts(isChartName)...)
		slices.SortStableFunc(c.pars, func(a, b *paragraph) int { return cmp.Compare(a.node.Start, b.node.Start) })
	}
}

// usualWidth is the width of the text in twentieths of a point if a document does not say: A4 with its usual margins.
const usualWidth = 9026

// textWidth returns the width of the text in the last section of the part, in twentieths of a point.
func (c *compiler) textWidth() int {
	if c.width == 0 {
		c.width = c.widthOfText()
	}
	return c.width
}

func (c *compiler) widthOfText() int {
	section := c.root.Child("w:body").Child("w:sectPr")
	page, margins := section.Child("w:pgSz"), section.Child("w:pgMar")
	number := func(n *wml.Node, name string) int { return wml.IDNumber(wml.AttrValue(c.src, n, name)) }
	width := number(page, "w:w") - number(margins, "w:left") - number(margins, "w:right")
	if page == nil || margins == nil || width <= 0 {
		return usualWidth
	}
	return width
}
