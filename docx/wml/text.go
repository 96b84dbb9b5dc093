package wml

// Preserve is the attribute of an element with text whose leading and trailing blanks count.
const Preserve = ` xml:space="preserve"`

// rangeMarkup are the elements that may be between paragraphs or in them, and whose other half may be elsewhere.
var rangeMarkup = map[string]bool{
	"w:bookmarkStart": true, "w:bookmarkEnd": true, "w:commentRangeStart": true, "w:commentRangeEnd": true,
	"w:permStart": true, "w:permEnd": true, "w:moveFromRangeStart": true, "w:moveFromRangeEnd": true,
	"w:moveToRangeStart": true, "w:moveToRangeEnd": true,
}

// needsParagraph are the elements that must contain a paragraph, and end with one (ISO 29500-1 §17.4.65 for cells).
var needsParagraph = map[string]bool{
	"w:body": true, "w:tc": true, "w:hdr": true, "w:ftr": true, "w:txbxContent": true, "w:footnote": true, "w:endnote": true,
	"w:sdtContent": true,
}

// Object represents other content in the text, such as pictures, note references, and the limits of fields. A tag cannot contain one.
const Object = '\uFFFC'

// Characters maps the elements of a run to their characters in the text. The w:tab and w:br in properties are skipped with the properties.
var Characters = map[string]rune{
	"w:tab": '\t', "w:br": '\n', "w:cr": '\n', "w:noBreakHyphen": '\u2011', "w:softHyphen": '\u00AD',
	"w:drawing": Object, "w:pict": Object, "w:object": Object, "mc:AlternateContent": Object, "w:sym": Object, "w:ptab": Object,
	"w:footnoteReference": Object, "w:endnoteReference": Object, "w:footnoteRef": Object, "w:endnoteRef": Object, "w:fldChar": Object,
	"w:separator": Object, "w:continuationSeparator": Object, "w:pgNum": Object, "w:dayShort": Object, "w:monthShort": Object,
	"w:yearShort": Object, "w:dayLong": Object, "w:monthLong": Object, "w:yearLong": Object, "w:ruby": Object,
}

// textless are the elements of a paragraph whose content is not part of its text: properties, and the text that tracked changes delete or
// move away.
var textless = map[string]bool{
	"w:pPr": true, "w:rPr": true, "w:sdtPr": true, "w:sdtEndPr": true, "w:del": true, "w:moveFrom": true,
	"a:pPr": true, "a:rPr": true, "a:endParaRPr": true, "w:smartTagPr": true, "w:customXmlPr": true, "w:fldData": true,
}
