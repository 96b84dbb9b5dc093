// Package names lists the names that Office files are written with: their namespaces, types of relationships, and content types.
// It is the only such list of Platen.
//
// ISO/IEC 29500 gives most namespaces two names: one for its transitional form (part 4), which Word writes, and one for its strict
// form (part 1). Platen treats both alike. It calls a namespace by the prefix that Word gives it, whatever prefix a file declares:
// the element w:p is always "w:p".
package names

import "strings"

// namespaces has a row for each namespace that Platen reads or writes. One without a strict name has the same in both forms.
var namespaces = []struct{ prefix, transitional, strict string }{
	{"w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main"},
	{"x", "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main"},
	{"r", relBase, relBaseStrict},
	{"m", "http://schemas.openxmlformats.org/officeDocument/2006/math", "http://purl.oclc.org/ooxml/officeDocument/math"},
	{"a", "http://schemas.openxmlformats.org/drawingml/2006/main", "http://purl.oclc.org/ooxml/drawingml/main"},
	{"pic", "http://schemas.openxmlformats.org/drawingml/2006/picture", "http://purl.oclc.org/ooxml/drawingml/picture"},
	{"c", "http://schemas.openxmlformats.org/drawingml/2006/chart", "http://purl.oclc.org/ooxml/drawingml/chart"},
	{"cx", "http://schemas.microsoft.com/office/drawing/2014/chartex", ""},
	{
		"wp", "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
		"http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing",
	},
	{"wps", "http://schemas.microsoft.com/office/word/2010/wordprocessingShape", ""},
	{"w14", "http://schemas.microsoft.com/office/word/2010/wordml", ""},
	{"w15", "http://schemas.microsoft.com/office/word/2012/wordml", ""},
	{"wp14", "http://schemas.microsoft.com/office/word/2010/wordprocessingDrawing", ""},
	{"asvg", "http://schemas.microsoft.com/office/drawing/2016/SVG/main", ""},
	{"v", "urn:schemas-microsoft-com:vml", ""},
	{"o", "urn:schemas-microsoft-com:office:office", ""},
	{"mc", "http://schemas.openxmlformats.org/markup-compatibility/2006", ""},
	{"rel", "http://schemas.openxmlformats.org/package/2006/relationships", ""},
	{"ct", "http://schemas.openxmlformats.org/package/2006/content-types", ""},
	{"xml", "http://www.w3.org/XML/1998/namespace", ""},
}

// prefixes has the prefix of each namespace by both its names, and byPrefix its names by its prefix.
var prefixes, byPrefix = func() (map[string]string, map[string][2]string) {
	all, names := map[string]string{}, map[string][2]string{}
	for _, n := range namespaces {
		if n.strict == "" {
			n.strict = n.transitional
		}
		all[n.transitional], all[n.strict] = n.prefix, n.prefix
		names[n.prefix] = [2]string{n.transitional, n.strict}
	}
	return all, names
}()

// Prefix returns the prefix of a namespace, in either form; "" if it is not in the list.
func Prefix(namespace string) string { return prefixes[namespace] }

// Namespace returns the namespace of a prefix of the list, in its strict or its transitional form; "" if the prefix is not in the list.
func Namespace(prefix string, strict bool) string {
	if strict {
		return byPrefix[prefix][1]
	}
	return byPrefix[prefix][0]
}

// relCorePropertiesOffice is the type that LibreOffice writes in place of RelCoreProperties.
const relCorePropertiesOffice = "http://schemas.openxmlformats.org/officedocument/2006/relationships/metadata/core-properties"

// Transitional returns the transitional form of a relationship type, which is how the constants are written. The type
// that LibreOffice writes for the core properties becomes that of Word.
func Transitional(relType string) string {
	if relType == relCorePropertiesOffice {
		return RelCoreProperties
	}
	if kind, ok := strings.CutPrefix(relType, relBaseStrict+"/"); ok {
		return relBase + "/" + kind
	}
	return relType
}

// Strict returns the strict form of a relationship type, or the type itself if it has none.
func Strict(relType string) string {
	if kind, ok := strings.CutPrefix(relType, relBase+"/"); ok {
		return relBaseStrict + "/" + kind
	}
	return relType
}
