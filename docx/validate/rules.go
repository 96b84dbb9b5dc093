package validate

import (
	"slices"
	"strings"
)

// The rules of WordprocessingML that are checked, as tables. An element that is in none of them may stand anywhere and
// hold anything: the tables are about what makes Word refuse a file.

// kind is what an element is to the one around it.
type kind uint8

const (
	free    kind = iota // wherever it likes
	block               // among paragraphs and tables
	inline              // among runs
	content             // in a run
	row                 // in a table
	cell                // in a row
)

// contents is what an element holds.
type contents uint8

const (
	anything contents = iota
	inherit           // the same as the element around it: content controls, tracked changes, alternatives
	blocks
	inlines
	runContent
	text
	rows
	cells
	nothing // no text and no elements of the kinds above
)

// admits tells which kind each of the contents takes; all take free ones.
var admits = map[contents]kind{blocks: block, inlines: inline, runContent: content, rows: row, cells: cell}

// kinds gives the kind of elements (ISO 29500-1 Annex A: EG_BlockLevelElts, EG_PContent, EG_RunInnerContent,
// EG_ContentRowContent, EG_ContentCellContent).
var kinds = map[kind]string{
	block:  "w:p w:tbl w:altChunk",
	inline: "w:r w:hyperlink w:smartTag w:fldSimple w:dir w:bdo w:subDoc",
	content: "w:t w:delText w:instrText w:delInstrText w:br w:cr w:noBreakHyphen w:softHyphen w:sym w:drawing w:pict w:object w:fldChar " +
		"w:footnoteReference w:endnoteReference w:commentReference w:annotationRef w:footnoteRef w:endnoteRef w:separator " +
		"w:continuationSeparator w:ptab w:pgNum w:ruby w:lastRenderedPageBreak",
	row:  "w:tr",
	cell: "w:tc",
}

// holds gives what elements hold.
var holds = map[contents]string{
	blocks:     "w:body w:tc w:hdr w:ftr w:footnote w:endnote w:comment w:txbxContent w:docPartBody",
	inlines:    "w:p w:hyperlink w:smartTag w:fldSimple w:dir w:bdo w:rt w:rubyBase",
	runContent: "w:r",
	text:       "w:t w:delText w:instrText w:delInstrText",
	rows:       "w:tbl",
	cells:      "w:tr",
	inherit:    "w:sdt w:sdtContent w:customXml w:ins w:del w:moveFrom w:moveTo mc:AlternateContent mc:Choice mc:Fallback",
	nothing:    "w:document w:numbering w:styles w:comments w:footnotes w:endnotes wp:inline wp:anchor",
}

// mustHold are the elements that are unsound without an element of the kind they hold: Word calls the file corrupt, or
// drops them. A content control among runs may be empty.
const mustHold = "w:tc w:hdr w:ftr w:footnote w:endnote w:comment w:txbxContent w:tbl w:tr w:sdtContent"

// orders gives the order of children, from ISO 29500-1 (section in the first column). In it, names without prefix are of
// w; * stands for all children that are not named, + after a name says that it may be there several times, ! that it must
// be there, ~ that it should be; names with | between them stand at one place.
var orders = []struct{ section, element, children string }{
	{"17.2.2", "w:body", "* sectPr"},
	{"17.2.3", "w:document", "background body!"},
	{"17.3.1.22", "w:p", "pPr *"},
	{"17.3.2.25", "w:r", "rPr *"},
	{"17.3.1.26", "w:pPr", "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers pBdr shd tabs " +
		"suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE autoSpaceDN bidi adjustRightInd snapToGrid spacing ind " +
		"contextualSpacing mirrorIndents suppressOverlap jc textDirection textAlignment textboxTightWrap outlineLvl divId cnfStyle rPr " +
		"sectPr pPrChange"},
	{"17.3.1.19", "w:numPr", "ilvl numId numberingChange ins"},
	{"17.3.1.24", "w:pBdr", "top left|start bottom right|end between bar"},
	{"17.3.2.28", "w:rPr", "ins del moveFrom moveTo rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint " +
		"noProof snapToGrid vanish webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em " +
		"lang eastAsianLayout specVanish oMath rPrChange"},
	{"17.4.37", "w:tbl", "tblPr~ tblGrid~ *"},
	{"17.4.59", "w:tblPr", "tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize tblW jc tblCellSpacing tblInd " +
		"tblBorders shd tblLayout tblCellMar tblLook tblCaption tblDescription tblPrChange"},
	{"17.4.38", "w:tblBorders", "top left|start bottom right|end insideH insideV"},
	{"17.4.42", "w:tblCellMar", "top left|start bottom right|end"},
	{"17.4.48", "w:tblGrid", "gridCol+ tblGridChange"},
	{"17.4.78", "w:tr", "tblPrEx trPr *"},
	{"17.4.81", "w:trPr", "cnfStyle|divId|gridBefore|gridAfter|wBefore|wAfter|cantSplit|trHeight|tblHeader|tblCellSpacing|jc|hidden+ ins del trPrChange"},
	{"17.4.65", "w:tc", "tcPr *"},
	{"17.4.69", "w:tcPr", "cnfStyle tcW gridSpan hMerge vMerge tcBorders shd noWrap tcMar textDirection tcFitText vAlign hideMark headers " +
		"cellIns|cellDel|cellMerge tcPrChange"},
	{"17.4.66", "w:tcBorders", "top left|start bottom right|end insideH insideV tl2br tr2bl"},
	{"17.4.68", "w:tcMar", "top left|start bottom right|end"},
	{"17.5.2.29", "w:sdt", "sdtPr sdtEndPr sdtContent~"},
	{"17.6.17", "w:sectPr", "headerReference|footerReference+ footnotePr endnotePr type pgSz pgMar paperSrc pgBorders lnNumType pgNumType cols " +
		"formProt vAlign noEndnote titlePg textDirection bidi rtlGutter docGrid printerSettings sectPrChange"},
	{"17.9.17", "w:numbering", "numPicBullet+ abstractNum+ num+ numIdMacAtCleanup"},
	{"17.9.1", "w:abstractNum", "nsid multiLevelType tmpl name styleLink numStyleLink lvl+"},
	{"17.9.15", "w:num", "abstractNumId! lvlOverride+"},
	{"17.9.8", "w:lvlOverride", "startOverride lvl"},
	{"17.9.6", "w:lvl", "start numFmt lvlRestart pStyle isLgl suff lvlText lvlPicBulletId legacy lvlJc pPr rPr"},
	{"17.7.4.18", "w:styles", "docDefaults latentStyles style+"},
	{"17.7.4.17", "w:style", "name aliases basedOn next link autoRedefine hidden uiPriority semiHidden unhideWhenUsed qFormat locked personal " +
		"personalCompose personalReply rsid pPr rPr tblPr trPr tcPr tblStylePr+"},
	{"17.13.4.6", "w:comments", "comment+"},
	{"17.11.15", "w:footnotes", "footnote+"},
	{"17.11.9", "w:endnotes", "endnote+"},
	{"17.3.3.25", "w:ruby", "rubyPr! rt! rubyBase!"},
	{"20.4.2.8", "wp:inline", "wp:extent! wp:effectExtent wp:docPr! wp:cNvGraphicFramePr a:graphic!"},
	{"20.4.2.3", "wp:anchor", "wp:simplePos! wp:positionH! wp:positionV! wp:extent! wp:effectExtent " +
		"wp:wrapNone|wp:wrapSquare|wp:wrapTight|wp:wrapThrough|wp:wrapTopAndBottom wp:docPr! wp:cNvGraphicFramePr a:graphic! wp14:sizeRelH wp14:sizeRelV"},
	{"20.1.2.2.17", "a:graphicData", "*"},
	{"20.2.2.5", "pic:pic", "pic:nvPicPr! pic:blipFill! pic:spPr! *"},
	{"20.2.2.4", "pic:nvPicPr", "pic:cNvPr! pic:cNvPicPr!"},
	{"20.2.2.1", "pic:blipFill", "a:blip a:srcRect a:stretch|a:tile"},
	{"Part 3, 9.4", "mc:AlternateContent", "mc:Choice+! mc:Fallback"},
}

// onlyWarned are elements whose order Word itself does not mind: in the transitional schema the properties of a run are a
// choice, in that of Word's own validator a sequence; styles of other programs are often in another order.
const onlyWarned = "w:rPr w:style"

// onlyIn gives the elements that are something else outside of others: settings name notes that hold nothing.
var onlyIn = map[string]string{"w:footnote": "w:footnotes", "w:endnote": "w:endnotes"}

// neverIn gives elements that may not stand in others, which otherwise hold what is around them: there are no links in
// tracked changes (ISO 29500-1 §17.13.5.18).
var neverIn = map[string]string{"w:hyperlink": "w:ins w:del w:moveFrom w:moveTo"}

// lastMustBeParagraph are those that must end with a paragraph (ISO 29500-1 §17.4.65): what follows a table in a cell.
const lastMustBeParagraph = "w:tc"

// element is what the tables say about a name.
type element struct {
	name     string
	kind     kind
	contents contents
	section  string
	places   map[*element]place // of the children; nil if their order does not matter
	rest     place              // of those that are not named
	must     uint8              // bits of children that must be there
	should   uint8
	names    []string // of the children with bits, by bit

	mustHold, endsWithParagraph, lenient, anywhere bool

	facts []fact // that its attributes state
	grid  gridRole
	field fieldRole
}

// place is where a child stands among others.
type place struct {
	rank uint8 // 0: anywhere
	many bool
	bit  uint8
}

// elements has every name of the tables.
var elements = func() map[string]*element {
	all := map[string]*element{}
	get := func(name string) *element {
		if all[name] == nil {
			all[name] = &element{name: name}
		}
		return all[name]
	}
	for k, names := range kinds {
		for name := range strings.FieldsSeq(names) {
			get(name).kind = k
		}
	}
	for c, names := range holds {
		for name := range strings.FieldsSeq(names) {
			get(name).contents = c
		}
	}
	for name := range strings.FieldsSeq(mustHold) {
		get(name).mustHold = true
	}
	for name := range strings.FieldsSeq(rangeMarks) {
		get(name).anywhere = true
	}
	for _, o := range orders {
		e := get(o.element)
		e.section, e.places = o.section, map[*element]place{}
		e.order(o.children, get)
	}
	for _, f := range facts {
		for name := range strings.FieldsSeq(f.elements) {
			e := get(name)
			e.facts = append(e.facts, f)
		}
	}
	for role, name := range gridRoles {
		get(name).grid = role
	}
	for name := range strings.FieldsSeq(stories) {
		get(name).field = fieldStory
	}
	get("w:fldChar").field = fieldMark
	get(lastMustBeParagraph).endsWithParagraph = true
	for name := range strings.FieldsSeq(onlyWarned) {
		get(name).lenient = true
	}
	return all
}()

// rangeMarks may stand between the children of nearly everything.
const rangeMarks = "w:bookmarkStart w:bookmarkEnd w:commentRangeStart w:commentRangeEnd w:permStart w:permEnd w:proofErr " +
	"w:moveFromRangeStart w:moveFromRangeEnd w:moveToRangeStart w:moveToRangeEnd"

// order reads the order of an element's children.
func (e *element) order(children string, get func(string) *element) {
	for i, names := range strings.Fields(children) {
		p := place{rank: uint8(i + 1)}
		name := strings.TrimRight(names, "+!~")
		suffix := names[len(name):]
		p.many = strings.Contains(suffix, "+")
		if strings.ContainsAny(suffix, "!~") {
			p.bit = 1 << len(e.names)
			e.names = append(e.names, name)
			if strings.Contains(suffix, "!") {
				e.must |= p.bit
			} else {
				e.should |= p.bit
			}
		}
		if name == "*" {
			p.many = true
			e.rest = p
			continue
		}
		for one := range strings.SplitSeq(name, "|") {
			if !strings.Contains(one, ":") {
				one = "w:" + one
			}
			e.places[get(one)] = p
		}
	}
}

// state is what is known of an element that is open.
type state struct {
	contents contents
	rank     uint8 // of the last child with one
	have     uint8 // bits of children
	kinds    uint8 // bits of the kinds of children
	last     lastBlock
}

// lastBlock is what block-level content ends with.
type lastBlock uint8

const (
	none lastBlock = iota
	paragraph
	table
)

// fault is a broken rule, without its place.
type fault struct {
	code    Code
	message string
	warning bool
}

// child takes a child into an element whose state is s, and returns the element's state and the child's.
func (e *element) child(s state, c *element) (own, inner state, f *fault) {
	if k, ok := admits[s.contents]; ok && c.kind != free && c.kind != k || c.kind != free && (s.contents == text || s.contents == nothing) {
		f = &fault{CodeNesting, c.name + " may not stand in " + e.name, false}
	}
	if outer, ok := neverIn[c.name]; ok && slices.Contains(strings.Fields(outer), e.name) {
		f = &fault{CodeNesting, c.name + " may not stand in " + e.name, false}
	}
	p, named := e.places[c]
	if !named && e.places != nil && !c.anywhere {
		p = e.rest
	}
	if p.rank > 0 && f == nil {
		switch {
		case p.rank < s.rank:
			f = &fault{CodeOrder, c.name + " stands behind what it must precede in " + e.name + " (ISO 29500-1 §" + e.section + ")", e.lenient}
		case p.rank == s.rank && !p.many:
			f = &fault{CodeOrder, c.name + " is there twice in " + e.name + " (ISO 29500-1 §" + e.section + ")", e.lenient}
		}
	}
	if c.name == "mc:AlternateContent" {
		s.have |= e.must | e.should // in one of its branches
	}
	s.rank = max(s.rank, p.rank)
	s.have |= p.bit
	s.kinds |= 1 << c.kind
	inner.contents = c.contents
	if c.contents == inherit {
		inner.contents = s.contents
	}
	return s, inner, f
}

// end judges an element whose state at its end is s, and returns the state of the one around it, which was s around.
func (e *element) end(s, around state) (state, *fault) {
	switch {
	case e.name == "w:p":
		around.last = paragraph
	case e.name == "w:tbl":
		around.last = table
	case e.contents == inherit:
		around.kinds |= s.kinds
		if s.last != none {
			around.last = s.last
		}
	case e.kind == block:
		around.last = paragraph
	}
	if want := admits[s.contents]; e.mustHold && want != free && want != inline && want != content && s.kinds&(1<<want) == 0 {
		return around, &fault{CodeEmpty, e.name + " holds no " + strings.Fields(kinds[want])[0], false}
	}
	if e.endsWithParagraph && s.last != paragraph {
		return around, &fault{CodeEnd, e.name + " does not end with a paragraph (ISO 29500-1 §17.4.65)", false}
	}
	for i, name := range e.names {
		if bit := uint8(1 << i); (e.must|e.should)&bit&^s.have != 0 {
			return around, &fault{CodeMissing, e.name + " has no " + name + " (ISO 29500-1 §" + e.section + ")", e.must&bit == 0}
		}
	}
	return around, nil
}
