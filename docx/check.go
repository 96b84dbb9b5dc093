package docx

import (
	"fmt"
	"io"
	"slices"

	"platen/docx/opc"
)

// Check reports what Word would call corrupt in a document, as far as it looks: the package's own soundness
// (opc.Package.Check), and in the parts that hold text the structure that templates put at risk.
func Check(r io.ReaderAt, size int64) []error {
	pkg, err := opc.Open(r, size, limits)
	if err != nil {
		return []error{err}
	}
	problems := pkg.Check()
	parts, err := textParts(pkg)
	if err != nil {
		return append(problems, err)
	}
	seen := map[string]bool{}
	for _, part := range parts {
		src, err := pkg.ReadXML(part)
		if err != nil {
			continue // pkg.Check has said so
		}
		root, err := parseTree(part.Name, src)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		c := checker{part: part.Name, src: src, ids: seen}
		c.walk(root)
		problems = append(problems, c.problems...)
	}
	return problems
}

type checker struct {
	part     string
	src      []byte
	ids      map[string]bool
	problems []error
}

func (c *checker) report(n *node, format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("%s: byte %d: %s", c.part, n.start, fmt.Sprintf(format, args...)))
}

// uniqueIDs gives the attributes that must differ among all elements of a name in a document.
var uniqueIDs = map[string][]string{
	"wp:docPr": {"id"}, "w:bookmarkStart": {"w:id", "w:name"}, "w:bookmarkEnd": {"w:id"}, "w:p": {"w14:paraId"}, "w:tr": {"w14:paraId"},
	"w:commentRangeStart": {"w:id"}, "w:commentRangeEnd": {"w:id"}, "w:commentReference": {"w:id"},
}

func (c *checker) walk(n *node) {
	for _, name := range uniqueIDs[n.name] {
		if a := n.attr(name); a != nil {
			kind := n.name
			if name == "w14:paraId" {
				kind = name
			}
			key := kind + " " + name + " " + string(c.src[a.valueStart:a.valueEnd])
			if c.ids[key] {
				c.report(n, "%s is there twice", key)
			}
			c.ids[key] = true
		}
	}
	c.structure(n)
	for _, child := range n.children {
		c.walk(child)
	}
}

func (c *checker) structure(n *node) {
	last := lastBlockIn(n)
	switch n.name {
	case "w:tc":
		if last == nil || last.name == "w:tbl" {
			c.report(n, "a cell does not end with a paragraph")
		}
	case "w:hdr", "w:ftr", "w:txbxContent", "w:footnote", "w:endnote":
		if last == nil {
			c.report(n, "%s holds no paragraph", n.name)
		}
	case "w:sdtContent":
		if len(n.children) == 0 && n.parent.ancestor(named("w:p")) == nil {
			c.report(n, "a content control is empty")
		}
	case "w:tbl":
		if len(rowsOf(n)) == 0 {
			c.report(n, "a table has no row")
		}
	case "w:tr":
		if n.child("w:tc") == nil && n.child("w:sdt") == nil && n.child("w:customXml") == nil {
			c.report(n, "a row has no cell")
		}
	case "w:body":
		if i := slices.IndexFunc(n.children, named("w:sectPr")); i >= 0 && i != len(n.children)-1 {
			c.report(n, "the section properties are not last")
		}
	}
}

func lastBlockIn(n *node) *node {
	for _, c := range slices.Backward(n.children) {
		if c.name == "w:p" || c.name == "w:tbl" || c.name == "w:sdt" {
			return c
		}
	}
	return nil
}
