package validate

import (
	"slices"
	"strings"
)

// The tables below are the rules of WordprocessingML that Platen checks. They cover the mistakes that make Word refuse a file. An element
// that no table lists is allowed everywhere, with any content.

// kind is the kind of content that an element is in its parent.
type kind uint8

const (
	free    kind = iota // allowed everywhere
	block               // among paragraphs and tables
	inline              // among runs
	content             // in a run
	row                 // in a table
	cell                // in a row
)

// contents is the kind of content that an element may contain.
type contents uint8

const (
	anything contents = iota
	inherit           // the same as its parent: content controls, tracked changes, alternatives
	blocks
	inlines
	runContent
	text
	rows
	cells
	nothing // no text and no elements of the kinds above
)

// admits maps contents to the kind of element that they allow. Free elements are allowed in all of them.
var admits = map[contents]kind{blocks: block, inlines: inline, runContent: content, rows: row, cells: cell}

// kinds lists the elements of each kind (ISO 29500-1 Annex A: EG_BlockLevelElts, EG_PContent, EG_RunInnerContent,
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

// holds lists the elements with each kind of content.
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

// mustHold lists the elements that must contain at least one element of the kind that they hold. Word drops them when they are empty, or
// calls the file corrupt. A content control among runs may be empty.
const mustHold = "w:tc w:hdr w:ftr w:footnote w:endnote w:comment w:txbxContent w:tbl w:tr w:sdtContent"

// orders lists the children of elements in the order that a section of ISO 29500-1 requires. Names without a prefix belong to w. The name *
// means all other children. After a name, + means that it may occur several times, ! that it is required, and ~ that it is recommended.
// Names separated by | share one place.
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
	{"17.4.81", "w:trPr", "cnfStyle|divId|gridBefore|gridAfter|wBefore|wAfter|cantSplit|trHeight|tblHeader|tblCellSpacing|jc|hidden+ " +
		"ins del trPrChange"},
	{"17.4.65", "w:tc", "tcPr *"},
	{"17.4.69", "w:tcPr", "cnfStyle tcW gridSpan hMerge vMerge tcBorders shd noWrap tcMar textDirection tcFitText vAlign hideMark headers " +
		"cellIns|cellDel|cellMerge tcPrChange"},
	{"17.4.66", "w:tcBorders", "top left|start bottom right|end insideH insideV tl2br tr2bl"},
	{"17.4.68", "w:tcMar", "top left|start bottom right|end"},
	{"17.5.2.29", "w:sdt", "sdtPr sdtEndPr sdtContent~"},
	{"17.6.17", "w:sectPr", "headerReference|footerReference+ footnotePr endnotePr type pgSz pgMar paperSrc pgBorders lnNumType " +
		"pgNumType cols formProt vAlign noEndnote titlePg textDirection bidi rtlGutter docGrid printerSettings sectPrChange"},
	{"17.9.17", "w:numbering", "numPicBullet+ abstractNum+ num+ numIdMacAtCleanup"},
	{"17.9.1", "w:abstractNum", "nsid multiLevelType tmpl name styleLink numStyleLink lvl+"},
	{"17.9.15", "w:num", "abstractNumId! lvlOverride+"},
	{"17.9.8", "w:lvlOverride", "startOverride lvl"},
	{"17.9.6", "w:lvl", "start numFmt lvlRestart pStyle isLgl suff lvlText lvlPicBulletId legacy lvlJc pPr rPr"},
	{"17.7.4.18", "w:styles", "docDefaults latentStyles style+"},
	{"17.7.4.17", "w:style", "name aliases basedOn next link autoRedefine hidden uiPriority semiHidden unhideWhenUsed qFormat " +
		"locked personal personalCompose personalReply rsid pPr rPr tblPr trPr tcPr tblStylePr+"},
	{"17.13.4.6", "w:comments", "comment+"},
	{"17.11.15", "w:footnotes", "footnote+"},
	{"17.11.9", "w:endnotes", "endnote+"},
	{"17.3.3.25", "w:ruby", "rubyPr! rt! rubyBase!"},
	{"20.4.2.8", "wp:inline", "wp:extent! wp:effectExtent wp:docPr! wp:cNvGraphicFramePr a:graphic!"},
	{"20.4.2.3", "wp:anchor", "wp:simplePos! wp:positionH! wp:positionV! wp:extent! wp:effectExtent " +
		"wp:wrapNone|wp:wrapSquare|wp:wrapTight|wp:wrapThrough|wp:wrapTopAndBottom wp:docPr! wp:cNvGraphicFramePr a:graphic! " +
		"wp14:sizeRelH wp14:sizeRelV"},
	{"20.1.2.2.17", "a:graphicData", "*"},
	{"20.2.2.5", "pic:pic", "pic:nvPicPr! pic:blipFill! pic:spPr! *"},
	{"20.2.2.4", "pic:nvPicPr", "pic:cNvPr! pic:cNvPicPr!"},
	{"20.2.2.1", "pic:blipFill", "a:blip a:srcRect a:stretch|a:tile"},
	{"Part 3, 9.4", "mc:AlternateContent", "mc:Choice+! mc:Fallback"},
}

// onlyWarned lists the elements whose children Word accepts in any order, so that a wrong order is only a warning. The transitional schema
// allows the properties of a run in any order, while the schema of Word's own validator prescribes one. Other programs often write the
// children of styles in another order.
const onlyWarned = "w:rPr w:style"

// onlyIn maps elements to the parent in which their rules apply. In the settings, for instance, a w:footnote has no content.
var onlyIn = map[string]string{"w:footnote": "w:footnotes", "w:endnote": "w:endnotes"}

// neverIn maps elements to parents that inherit their contents but must not contain these elements: a tracked change cannot contain a link
// (ISO 29500-1 §17.13.5.18).
var neverIn = map[string]string{"w:hyperlink": "w:ins w:del w:moveFrom w:moveTo"}

// lastMustBeParagraph is the element that must end with a paragraph (ISO 29500-1 §17.4.65): a table cannot be the last element of a cell.
const lastMustBeParagraph = "w:tc"

// element holds the rules for an element name.
type element struct {
	name     string
	kind     kind
	contents contents
	section  string
	places   map[*element]place // of the children; nil if their order does not matter
	rest     place              // of children that are not in places
	must     uint8              // bits of required children
	should   uint8              // bits of recommended children
	names    []string           // of the children with bits, by bit

	mustHold, endsWithParagraph, lenient, anywhere bool

	facts    []fact // of its attributes
	required string // attribute
	grid     gridRole
	field    fieldRole
}

// place is the position of a child among its siblings.
type place struct {
	rank uint8 // 0 means anywhere
	many bool
	bit  uint8
}

// elements holds the rules for every name in the tables.
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
	for name, attribute := range required {
		get(name).required = attribute
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

// rangeMarks are allowed between the children of almost every element.
const rangeMarks = "w:bookmarkStart w:bookmarkEnd w:commentRangeStart w:commentRangeEnd w:permStart w:permEnd w:proofErr " +
	"w:moveFromRangeStart w:moveFromRangeEnd w:moveToRangeStart w:moveToRangeEnd"

// order parses the order of an element's children.
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

// state is the state of an open element.
type state struct {
	contents contents
	rank     uint8 // of the last child that has one
	have     uint8 // bits of children
	kinds    uint8 // bits of the kinds of children
	last     lastBlock
}

// lastBlock is the kind of the last block in an element.
type lastBlock uint8

const (
	none lastBlock = iota
	paragraph
	table
)

// fault is a mistake without its location.
type fault struct {
	code    Code
	message string
	warning bool
}

// child adds the child c to an element with the state s, and returns the new state of the element and that of the child.
func (e *element) child(s state, c *element) (own, inner state, f *fault) {
	if k, ok := admits[s.contents]; ok && c.kind != free && c.kind != k || c.kind != free && (s.contents == text || s.contents == nothing) {
		f = &fault{CodeNesting, c.name + " is not allowed in " + e.name, false}
	}
	if outer, ok := neverIn[c.name]; ok && slices.Contains(strings.Fields(outer), e.name) {
		f = &fault{CodeNesting, c.name + " is not allowed in " + e.name, false}
	}
	p, named := e.places[c]
	if !named && e.places != nil && !c.anywhere {
		p = e.rest
	}
	if p.rank > 0 && f == nil {
		where := e.name + " (ISO 29500-1 §" + e.section + ")"
		switch {
		case p.rank < s.rank:
			f = &fault{CodeOrder, c.name + " follows an element that it must precede in " + where, e.lenient}
		case p.rank == s.rank && !p.many:
			f = &fault{CodeOrder, c.name + " occurs twice in " + where, e.lenient}
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

// end checks an element whose state at its end is s, and returns the new state of its parent, whose state was around.
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
		return around, &fault{CodeEmpty, e.name + " contains no " + strings.Fields(kinds[want])[0], false}
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
