package wml

// Preserve is the attribute of an element with text whose blanks at the ends count.
const Preserve = ` xml:space="preserve"`

// rangeMarkup are elements that may stand between paragraphs as well as in them, and whose other half may be elsewhere.
var rangeMarkup = map[string]bool{
	"w:bookmarkStart": true, "w:bookmarkEnd": true, "w:commentRangeStart": true, "w:commentRangeEnd": true,
	"w:permStart": true, "w:permEnd": true, "w:moveFromRangeStart": true, "w:moveFromRangeEnd": true,
	"w:moveToRangeStart": true, "w:moveToRangeEnd": true,
}

// needsParagraph are what must hold a paragraph, and end with one (ISO 29500-1 §17.4.65 for cells).
var needsParagraph = map[string]bool{
	"w:body": true, "w:tc": true, "w:hdr": true, "w:ftr": true, "w:txbxContent": true, "w:footnote": true, "w:endnote": true, "w:sdtContent": true,
}

// Object stands in the text for what is no text: pictures, note references, fields' limits. A tag cannot hold one.
const Object = '\uFFFC'

// Characters gives what the elements of a run are in the text. w:tab and w:br inside properties are passed over with
// those.
var Characters = map[string]rune{
	"w:tab": '\t', "w:br": '\n', "w:cr": '\n', "w:noBreakHyphen": '\u2011', "w:softHyphen": '\u00AD',
	"w:drawing": Object, "w:pict": Object, "w:object": Object, "mc:AlternateContent": Object, "w:sym": Object, "w:ptab": Object,
	"w:footnoteReference": Object, "w:endnoteReference": Object, "w:footnoteRef": Object, "w:endnoteRef": Object, "w:fldChar": Object,
	"w:separator": Object, "w:continuationSeparator": Object, "w:pgNum": Object, "w:dayShort": Object, "w:monthShort": Object,
	"w:yearShort": Object, "w:dayLong": Object, "w:monthLong": Object, "w:yearLong": Object, "w:ruby": Object,
}

// textless are elements of a paragraph whose content is no text of it: properties, and what is deleted in tracked
// changes or was moved away.
var textless = map[string]bool{
	"w:pPr": true, "w:rPr": true, "w:sdtPr": true, "w:sdtEndPr": true, "w:del": true, "w:moveFrom": true,
	"a:pPr": true, "a:rPr": true, "a:endParaRPr": true, "w:smartTagPr": true, "w:customXmlPr": true, "w:fldData": true,
}
