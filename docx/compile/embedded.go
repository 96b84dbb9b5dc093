package compile

import (
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// Embedded documents, such as a workbook of Excel (ISO 29500-1 §15.2.10), are copied as they are. The document shows a picture of them, so
// that readers see their tags only when they open them.

// embeddedLimits bound the embedded documents that are searched for tags. Others are not searched.
var embeddedLimits = ooxml.Limits{PackageBytes: 8 << 20, XMLBytes: 4 << 20}

// findEmbedded warns about tags in the documents that are embedded in the part.
func (c *compiler) findEmbedded() {
	if !slices.ContainsFunc(c.rels, func(r ooxml.Relationship) bool { return r.Type == names.RelPackage }) {
		return
	}
	for _, n := range c.root.All("o:OLEObject") {
		id := wml.AttrValue(c.src, n, "r:id")
		for _, r := range c.rels {
			part := c.pkg.Part(r.Target)
			if r.ID != id || r.Type != names.RelPackage || r.External || part == nil || part.Size > embeddedLimits.PackageBytes {
				continue
			}
			if tag := c.tagIn(part); tag != "" {
				c.warnAside(n, tag, "an embedded document", "The tag '"+tag+"' is in an embedded document, and stays there.")
			}
		}
	}
}

// tagIn returns the first tag in an embedded document, or "". A document that cannot be read has none.
func (c *compiler) tagIn(part *ooxml.Part) string {
	file, err := c.pkg.Read(part)
	if err != nil || c.spend(len(file)/bytesPerStep) {
		return ""
	}
	embedded, err := ooxml.OpenBytes(file, embeddedLimits)
	if err != nil {
		return ""
	}
	for _, inner := range embedded.Parts() {
		if !strings.HasSuffix(inner.Name, ".xml") || inner.Size > embeddedLimits.XMLBytes {
			continue
		}
		src, err := embedded.ReadXML(inner)
		if err != nil || c.spend(len(src)/bytesPerStep) {
			continue
		}
		if tags, _ := lang.Find(string(src)); len(tags) > 0 {
			return scan.Text(src[tags[0].Start:tags[0].End])
		}
	}
	return ""
}
