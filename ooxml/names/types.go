package names

const (
	relBase       = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	relBaseStrict = "http://purl.oclc.org/ooxml/officeDocument/relationships"
	relMicrosoft  = "http://schemas.microsoft.com/office/"
)

// Types of relationships (ISO/IEC 29500-1 §11 and §15, [MS-ODRAWXML] §2.1), in the transitional form.
const (
	RelOfficeDocument     = relBase + "/officeDocument"
	RelSettings           = relBase + "/settings"
	RelStyles             = relBase + "/styles"
	RelTheme              = relBase + "/theme"
	RelNumbering          = relBase + "/numbering"
	RelFontTable          = relBase + "/fontTable"
	RelHeader             = relBase + "/header"
	RelFooter             = relBase + "/footer"
	RelFootnotes          = relBase + "/footnotes"
	RelEndnotes           = relBase + "/endnotes"
	RelComments           = relBase + "/comments"
	RelHyperlink          = relBase + "/hyperlink"
	RelImage              = relBase + "/image"
	RelPackage            = relBase + "/package"
	RelOLEObject          = relBase + "/oleObject"
	RelWorksheet          = relBase + "/worksheet"
	RelMacros             = "http://schemas.microsoft.com/office/2006/relationships/vbaProject"
	RelChart              = relBase + "/chart"
	RelExtendedChart      = relMicrosoft + "2014/relationships/chartEx"
	RelChartDrawing       = relBase + "/chartUserShapes"
	RelChartStyle         = relMicrosoft + "2011/relationships/chartStyle"
	RelChartColors        = relMicrosoft + "2011/relationships/chartColorStyle"
	RelDiagramData        = relBase + "/diagramData"
	RelDiagramDrawing     = relMicrosoft + "2007/relationships/diagramDrawing"
	RelExtendedProperties = relBase + "/extended-properties"
	RelCustomProperties   = relBase + "/custom-properties"
	RelCoreProperties     = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
)

const (
	wordTypes  = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	excelTypes = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

// Content types of the main part of a Word document: .docx, .docm, .dotx, and .dotm.
const (
	TypeDocument      = wordTypes + "document.main+xml"
	TypeMacroDocument = "application/vnd.ms-word.document.macroEnabled.main+xml"
	TypeTemplate      = wordTypes + "template.main+xml"
	TypeMacroTemplate = "application/vnd.ms-word.template.macroEnabledTemplate.main+xml"
)

// Content types of other parts of a Word document.
const (
	TypeStyles        = wordTypes + "styles+xml"
	TypeNumbering     = wordTypes + "numbering+xml"
	TypeFootnotes     = wordTypes + "footnotes+xml"
	TypeEndnotes      = wordTypes + "endnotes+xml"
	TypeComments      = wordTypes + "comments+xml"
	TypeRelationships = "application/vnd.openxmlformats-package.relationships+xml"
)

// Content types of an Excel workbook and of its parts.
const (
	TypeWorkbook     = excelTypes + "sheet"
	TypeWorkbookMain = excelTypes + "sheet.main+xml"
	TypeWorksheet    = excelTypes + "worksheet+xml"
	TypeSheetStyles  = excelTypes + "styles+xml"
)
