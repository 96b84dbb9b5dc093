package expect_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"platen/docx/compile/compiletest"
	"platen/ooxml/ooxmltest"
)

// savedByWord returns a document as Word saves it without a change: with other ids, names, splits, orders, and defaults, but the same to
// see.
func savedByWord(t *testing.T, file []byte) []byte {
	t.Helper()
	files := ooxmltest.Unpack(t, file)
	media := strings.NewReplacer("media/image", "media/picture")
	for name, content := range files {
		switch {
		case strings.HasSuffix(name, ".rels"):
			files[name] = media.Replace(renumberedRels.ReplaceAllString(content, ` Id="rId9$1"`))
		case name == "[Content_Types].xml":
			files[name] = media.Replace(content)
		case isText.MatchString(name):
			files[name] = savedText(name, content)
		case name == "word/numbering.xml":
			files[name] = renumberedLists(content)
		case name == "word/styles.xml":
			files[name] = savedStyles(content)
		case name == "docProps/core.xml":
			files[name] = strings.Replace(content, "</cp:coreProperties>",
				"<cp:lastModifiedBy>Ada</cp:lastModifiedBy><cp:revision>2</cp:revision></cp:coreProperties>", 1)
		}
	}
	for name, content := range files {
		if renamed := media.Replace(name); renamed != name {
			delete(files, name)
			files[renamed] = content
		}
	}
	addParts(files)
	return compiletest.Pack(t, files)
}

var (
	isText         = regexp.MustCompile(`^word/(document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml$`)
	renumberedRels = regexp.MustCompile(` Id="([^"]*)"`)
	startOfP       = regexp.MustCompile(`<w:p( [^>/]*)?>`)
	startOfR       = regexp.MustCompile(`<w:(r|tr)>`)
	plainRun       = regexp.MustCompile(`(<w:r(?: [^>]*)?>)((?:<w:rPr>(?:<w:[^>]*/>)*</w:rPr>)?)` +
		`<w:t( xml:space="preserve")?>([^<&]*)</w:t></w:r>`)
	flatRunProps  = regexp.MustCompile(`<w:rPr>((?:<w:[^>]*/>)*)</w:rPr>`)
	element       = regexp.MustCompile(`<w:[^>]*/>`)
	voidElement   = regexp.MustCompile(`<(w:\w+)((?: [\w:]+="[^"]*")+)/>`)
	attribute     = regexp.MustCompile(` [\w:]+="[^"]*"`)
	idsOfMarks    = regexp.MustCompile(`<w:(bookmark\w+|ins|del|moveFrom\w*|moveTo\w*|comment\w*)( [^>]*?)?w:id="(\d+)"`)
	idsOfNotes    = regexp.MustCompile(`<w:(footnote|footnoteReference|endnote|endnoteReference)( [^>]*?)? w:id="(\d+)"`)
	idsOfDrawings = regexp.MustCompile(`<wp:docPr id="\d+" name="[^"]*"`)
	drawnInline   = regexp.MustCompile(`<wp:(inline|anchor)`)
	endOfAnchor   = regexp.MustCompile(`</wp:anchor>`)
	idsOfLists    = regexp.MustCompile(`<w:(numId|abstractNumId) w:val="([1-9]\d*)"`)
	definedLists  = regexp.MustCompile(`<w:(num|abstractNum) w:(numId|abstractNumId)="(\d+)"`)
	listOfNum     = regexp.MustCompile(`<w:abstractNumId w:val="(\d+)"`)
	on            = regexp.MustCompile(`<w:(b|i|caps|strike|keepNext|titlePg) w:val="(?:1|true|on)"/>`)
	off           = regexp.MustCompile(`<w:(b|i|caps|strike|keepNext|titlePg) w:val="(?:false|off)"/>`)
	colors        = regexp.MustCompile(`(w:(?:fill|color)|<w:color w:val|<a:srgbClr val)="([0-9a-f]{6})"`)
	relations     = regexp.MustCompile(` r:(id|embed|link|pict|dm|lo|qs|cs)="([^"]+)"`)
	simpleField   = regexp.MustCompile(`(?s)<w:fldSimple w:instr="([^"<]*)">(.*?)</w:fldSimple>`)
	pageResult    = regexp.MustCompile(`(?s)(<w:instrText[^>]*> ?PAGE ?</w:instrText>.*?` +
		`<w:fldChar w:fldCharType="separate"/>.*?<w:t>)\d+(</w:t>)`)
	mathProps    = regexp.MustCompile(`<m:(num|den|sup|sub|e|deg)>`)
	styleOfShape = regexp.MustCompile(`(<v:(?:shape|rect|oval|roundrect) [^>]*style=")([^"]*)"`)
	cellProps    = regexp.MustCompile(`<w:tc>`)
	tableProps   = regexp.MustCompile(`<w:tblPr>`)
)

// savedText returns a part with text.
func savedText(name, content string) string {
	content = simpleField.ReplaceAllString(content, `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve">`+
		`$1</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>$2<w:r><w:fldChar w:fldCharType="end"/></w:r>`)
	content = pageResult.ReplaceAllString(content, "${1}7$2")
	content = plainRun.ReplaceAllStringFunc(content, splitRun)
	content = flatRunProps.ReplaceAllStringFunc(content, func(props string) string {
		list := element.FindAllString(props, -1)
		slices.Reverse(list)
		return `<w:rPr>` + strings.Join(list, "") + `<w:lang w:val="de-DE"/></w:rPr>`
	})
	content = on.ReplaceAllString(content, "<w:$1/>")
	content = off.ReplaceAllString(content, `<w:$1 w:val="0"/>`)
	content = colors.ReplaceAllStringFunc(content, func(color string) string {
		name, value, _ := strings.Cut(color, "=")
		return name + "=" + strings.ToUpper(value)
	})
	content = savedTables(content)
	content = voidElement.ReplaceAllStringFunc(content, func(tag string) string {
		list := attribute.FindAllString(tag, -1)
		slices.Reverse(list)
		return tag[:strings.IndexByte(tag, ' ')] + strings.Join(list, "") + "/>"
	})
	content = savedMarks(content)
	content = savedDrawings(content)
	content = mathProps.ReplaceAllString(content, `<m:$1><m:ctrlPr>`+
		`<w:rPr><w:rFonts w:ascii="Cambria Math" w:hAnsi="Cambria Math"/></w:rPr></m:ctrlPr>`)
	content = relations.ReplaceAllString(content, ` r:$1="rId9$2"`)
	if name == "word/document.xml" && !strings.Contains(content, "<w:sectPr") {
		content = strings.Replace(content, "</w:body>", `<w:sectPr><w:pgSz w:w="12240" w:h="15840" w:code="1"/><w:pgMar w:top="1440"`+
			` w:right="1440" w:bottom="1440" w:left="1440" w:header="720" w:footer="720" w:gutter="0"/></w:sectPr></w:body>`, 1)
	}
	return strings.ReplaceAll(content, "</w:sectPr>", `<w:cols w:space="708"/><w:docGrid w:linePitch="360"/></w:sectPr>`)
}

// splitRun splits a run, with a mark of the spelling checker and the end of a page between its parts.
func splitRun(run string) string {
	m := plainRun.FindStringSubmatch(run)
	text := m[4]
	if m[3] == "" {
		text = strings.Trim(text, " \t\r\n")
	}
	runes := []rune(text)
	if len(runes) < 2 {
		return run
	}
	first, second := string(runes[:len(runes)/2]), string(runes[len(runes)/2:])
	return fmt.Sprintf(`%s%s<w:t xml:space="preserve">%s</w:t></w:r><w:proofErr w:type="spellStart"/>%s%s<w:lastRenderedPageBreak/>`+
		`<w:t xml:space="preserve">%s</w:t></w:r><w:proofErr w:type="spellEnd"/>`, m[1], m[2], first, m[1], m[2], second)
}

func savedTables(content string) string {
	content = strings.ReplaceAll(content, "<w:vMerge/>", `<w:vMerge w:val="continue"/>`)
	content = tableProps.ReplaceAllString(content, `<w:tblPr><w:tblLook w:val="04A0" w:firstRow="1" w:lastRow="0" w:firstColumn="1"`+
		` w:lastColumn="0" w:noHBand="0" w:noVBand="1"/>`)
	if !strings.Contains(content, "<w:tcPr>") {
		content = cellProps.ReplaceAllString(content, `<w:tc><w:tcPr><w:tcW w:w="0" w:type="auto"/></w:tcPr>`)
	}
	return content
}

// savedMarks gives everything with an id another one.
func savedMarks(content string) string {
	content = idsOfMarks.ReplaceAllString(content, `<w:$1${2}w:id="7$3"`)
	content = idsOfNotes.ReplaceAllString(content, `<w:$1$2 w:id="7$3"`)
	content = idsOfLists.ReplaceAllString(content, `<w:$1 w:val="7$2"`)
	content = startOfR.ReplaceAllString(content, `<w:$1 w:rsidR="00AB12CD">`)
	first := true
	return startOfP.ReplaceAllStringFunc(content, func(tag string) string {
		if !strings.Contains(tag, "w:rsid") {
			tag = strings.TrimSuffix(tag, ">") + ` w:rsidR="00AB12CD" w:rsidRDefault="00AB12CE">`
		}
		if first {
			first = false
			return `<w:bookmarkStart w:id="9999" w:name="_GoBack"/><w:bookmarkEnd w:id="9999"/>` + tag
		}
		return tag
	})
}

func savedDrawings(content string) string {
	content = idsOfDrawings.ReplaceAllString(content, `<wp:docPr id="4711" name="Picture 4711"`)
	content = drawnInline.ReplaceAllString(content, `<wp:$1 wp14:anchorId="1A2B3C4D" xmlns:wp14="`+
		`http://schemas.microsoft.com/office/word/2010/wordprocessingDrawing"`)
	content = endOfAnchor.ReplaceAllString(content, `<wp14:sizeRelH relativeFrom="page"><wp14:pctWidth>0</wp14:pctWidth></wp14:sizeRelH>`+
		`<wp14:sizeRelV relativeFrom="page"><wp14:pctHeight>0</wp14:pctHeight></wp14:sizeRelV></wp:anchor>`)
	return styleOfShape.ReplaceAllString(content, `$1$2;visibility:visible;mso-wrap-style:square;mso-position-horizontal-relative:text;`+
		`mso-position-vertical-relative:text"`)
}

// renumberedLists gives lists other ids.
func renumberedLists(content string) string {
	content = definedLists.ReplaceAllString(content, `<w:$1 w:$2="7$3"`)
	content = listOfNum.ReplaceAllString(content, `<w:abstractNumId w:val="7$1"`)
	return strings.ReplaceAll(content, "<w:multiLevelType", `<w:nsid w:val="1A2B3C4D"/><w:multiLevelType`)
}

// wordStyles are the styles that Word adds to a document that has none.
const wordStyles = `<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Times New Roman" w:eastAsia="Times New Roman" ` +
	`w:hAnsi="Times New Roman" w:cs="Times New Roman"/><w:lang w:val="en-US"/></w:rPr></w:rPrDefault><w:pPrDefault/></w:docDefaults>` +
	latentStyles + `<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>` +
	`<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont"><w:name w:val="Default Paragraph Font"/></w:style>` +
	`<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/>` +
	`<w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/>` +
	`<w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>` +
	`<w:style w:type="numbering" w:default="1" w:styleId="NoList"><w:name w:val="No List"/></w:style>`

const latentStyles = `<w:latentStyles w:defLockedState="0" w:count="376"><w:lsdException w:name="Normal" w:qFormat="1"/></w:latentStyles>`

// savedStyles returns styles with those that every document of Word has.
func savedStyles(content string) string {
	content = idsOfLists.ReplaceAllString(content, `<w:$1 w:val="7$2"`)
	if strings.Contains(content, "<w:docDefaults") {
		return strings.Replace(content, "</w:docDefaults>", "</w:docDefaults>"+latentStyles, 1)
	}
	own := wordStyles
	if strings.Contains(content, `w:default="1"`) { // the document has standard styles
		own, _, _ = strings.Cut(wordStyles, latentStyles)
	}
	at := strings.Index(content, "<w:styles")
	at += strings.IndexByte(content[at:], '>') + 1
	return content[:at] + own + content[at:]
}

// addParts adds the parts that every document of Word has.
func addParts(files map[string]string) {
	const wml, office = "application/vnd.openxmlformats-officedocument.wordprocessingml.", "application/vnd.openxmlformats-officedocument."
	for _, part := range []struct{ name, relation, contentType, content string }{
		{"styles", "styles", wml + "styles+xml", `<w:styles ` + compiletest.Namespaces + `>` + wordStyles + `</w:styles>`},
		{"settings", "settings", wml + "settings+xml", `<w:settings ` + compiletest.Namespaces + `>` + wordSettings + `</w:settings>`},
		{"webSettings", "webSettings", wml + "webSettings+xml", `<w:webSettings ` + compiletest.Namespaces + `/>`},
		{"fontTable", "fontTable", wml + "fontTable+xml", `<w:fonts ` + compiletest.Namespaces + `><w:font w:name="Calibri"/></w:fonts>`},
		{"theme/theme1", "theme", office + "theme+xml", wordTheme},
	} {
		if files["word/"+part.name+".xml"] != "" {
			continue
		}
		files["word/"+part.name+".xml"] = part.content
		insert(files, "[Content_Types].xml", "</Types>", `<Override PartName="/word/`+part.name+`.xml" ContentType="`+part.contentType+`"/>`)
		insert(files, "word/_rels/document.xml.rels", "</Relationships>", `<Relationship Id="rIdWord`+part.relation+`" Type="`+
			relationship+part.relation+`" Target="`+part.name+`.xml"/>`)
	}
}

// insert inserts text into a file.
func insert(files map[string]string, name, before, text string) {
	files[name] = strings.Replace(files[name], before, text+before, 1)
}

const relationship = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/`

const wordSettings = `<w:zoom w:percent="140"/><w:proofState w:spelling="clean"/><w:defaultTabStop w:val="720"/>` +
	`<w:hyphenationZone w:val="425"/><w:characterSpacingControl w:val="doNotCompress"/><w:footnotePr><w:footnote w:id="-1"/>` +
	`</w:footnotePr><w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="12"/>` +
	`</w:compat><w:rsids><w:rsidRoot w:val="00AB12CD"/></w:rsids><w:themeFontLang w:val="de-DE"/><w:decimalSymbol w:val=","/>`

const wordTheme = `<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Office"><a:themeElements><a:fontScheme` +
	` name="Office"><a:majorFont><a:latin typeface="Aptos Display"/></a:majorFont><a:minorFont><a:latin typeface="Aptos"/></a:minorFont>` +
	`</a:fontScheme></a:themeElements></a:theme>`
