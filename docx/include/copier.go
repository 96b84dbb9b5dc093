package include

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/beevik/etree"

	"platen/ooxml"
	"platen/ooxml/names"
)

// copier copies content from one part of a document to another part of another document.
type copier struct {
	in       *inserter
	from     *source
	part     *ooxml.Part // the part of the content
	rels     []ooxml.Relationship
	relate   func(relType, target string, external bool) (id string, err error) // adds a relationship of the destination
	declared declarations                                                       // there
	isMain   bool                                                               // notes may be there

	noSections bool // no section can end there

	lists     map[string]string // new ids of lists, by their old ids
	ids       map[string]int    // of bookmarks and tracked changes, in the same form
	textBoxes map[string]int    // of text boxes that share a text
	named     map[string]bool   // names of bookmarks that were looked at
	bookmarks map[string]string // new names of bookmarks, by their old names
}

// within is a copier for a part that belongs to the content, such as a header.
func (c *copier) within(part *ooxml.Part, rels []ooxml.Relationship,
	relate func(string, string, bool) (string, error), declared declarations) *copier {
	other := *c
	other.part, other.rels, other.relate, other.declared, other.isMain = part, rels, relate, declared, false
	return &other
}

// copyOf returns a copy of an element that is valid in the other document.
func (c *copier) copyOf(e *element) (*element, error) {
	from := declarationsAt(e.Parent())
	copied := detached(e, from)
	if err := c.rewrite(copied); err != nil {
		return nil, err
	}
	declare(copied, from, c.declared)
	return copied, nil
}

// rewrite changes the references in an element from its document to the other one.
func (c *copier) rewrite(e *element) error {
	if err := c.rewriteRelationships(e); err != nil {
		return err
	}
	if err := c.rewriteElement(e, nameOf(e)); err != nil {
		return err
	}
	for _, child := range e.ChildElements() {
		if unwanted(child) || c.noSections && nameOf(child) == "w:sectPr" {
			e.RemoveChild(child)
			continue
		}
		if err := c.rewrite(child); err != nil {
			return err
		}
		if name := nameOf(child); styleKinds[name] != "" && value(child, "w:val") == "" {
			e.RemoveChild(child) // the style is missing
		} else if isLink[name] && attr(child, "r:id") == nil {
			e.RemoveChild(child) // its target is missing, and required
		}
	}
	return nil
}

// unwanted reports whether an element is left out: comments, which are not part of the text, and optional IDs.
func unwanted(e *element) bool {
	switch nameOf(e) {
	case "w:commentRangeStart", "w:commentRangeEnd", "w:commentReference":
		return true
	case "w:id":
		return nameOf(e.Parent()) == "w:sdtPr"
	}
	return false
}

// isLink has the elements that are links, and need a target.
var isLink = map[string]bool{"a:hlinkClick": true, "a:hlinkHover": true, "a:hlinkMouseOver": true}

// styleKinds are the elements that name a style, with the kind of that.
var styleKinds = map[string]string{"w:pStyle": "paragraph", "w:rStyle": "character", "w:tblStyle": "table"}

func (c *copier) rewriteElement(e *element, name string) (err error) {
	switch name {
	case "w:pStyle", "w:rStyle", "w:tblStyle":
		id := attr(e, "w:val")
		if id != nil {
			id.Value, err = c.style(styleKinds[name], id.Value)
		}
	case "w:numId":
		if id := attr(e, "w:val"); id != nil {
			id.Value, err = c.list(id.Value)
		}
	case "w:p", "w:tr":
		for _, id := range []string{"w14:paraId", "w14:textId"} {
			if a := attr(e, id); a != nil {
				e.RemoveAttr(a.FullKey())
			}
		}
	case "w:bookmarkStart", "w:bookmarkEnd", "w:permStart", "w:permEnd", "w:ins", "w:del", "w:moveFrom", "w:moveTo",
		"w:moveFromRangeStart", "w:moveFromRangeEnd", "w:moveToRangeStart", "w:moveToRangeEnd", "w:cellIns", "w:cellDel", "w:rPrChange",
		"w:pPrChange", "w:sectPrChange", "w:tblPrChange", "w:tcPrChange", "w:trPrChange", "w:tblGridChange", "w:numberingChange":
		c.number(attr(e, "w:id"))
		c.rename(attr(e, "w:name"))
	case "w:hyperlink":
		c.rename(attr(e, "w:anchor"))
	case "w:fldSimple":
		if code := attr(e, "w:instr"); code != nil {
			code.Value = c.renamedIn(code.Value)
		}
	case "w:instrText":
		if len(c.bookmarks) > 0 {
			e.SetText(c.renamedIn(e.Text()))
		}
	case "wp:docPr":
		if id := attr(e, "id"); id != nil {
			id.Value = strconv.Itoa(c.in.taken.FirstDrawing)
			c.in.taken.FirstDrawing++
		}
	case "wps:txbx", "wps:linkedTxbx":
		c.numberTextBox(attr(e, "id"))
	case "w:footnoteReference", "w:endnoteReference":
		return c.note(e, name)
	}
	return err
}

// number replaces the id of an element with an unused one.
func (c *copier) number(id *etree.Attr) {
	if id == nil {
		return
	}
	if c.ids[id.Value] == 0 {
		c.ids[id.Value] = c.in.taken.FirstID
		c.in.taken.FirstID++
	}
	id.Value = strconv.Itoa(c.ids[id.Value])
}

// numberTextBox replaces the id that text boxes with one text share.
func (c *copier) numberTextBox(id *etree.Attr) {
	if id == nil {
		return
	}
	if c.textBoxes[id.Value] == 0 {
		c.textBoxes[id.Value] = c.in.taken.FirstTextBox
		c.in.taken.FirstTextBox++
	}
	id.Value = strconv.Itoa(c.textBoxes[id.Value])
}

// maxBookmarkName is the largest number of characters that Word accepts.
const maxBookmarkName = 40

// nameBookmarks finds names for the bookmarks in an element that the document has already.
func (c *copier) nameBookmarks(e *element) {
	if nameOf(e) == "w:bookmarkStart" {
		old := value(e, "w:name")
		if c.named[old] { // twice in the file itself: there it is as good as here
			return
		}
		c.named[old] = true
		name := old
		for n := c.in.places; c.in.taken.Bookmarks[name]; n++ {
			suffix := "_" + strconv.Itoa(n)
			short := []rune(old)
			name = string(short[:min(len(short), maxBookmarkName-len(suffix))]) + suffix
		}
		c.in.taken.Bookmarks[name] = true
		if name != old {
			c.bookmarks[old] = name
		}
	}
	for _, child := range e.ChildElements() {
		c.nameBookmarks(child)
	}
}

func (c *copier) rename(name *etree.Attr) {
	if name != nil && c.bookmarks[name.Value] != "" {
		name.Value = c.bookmarks[name.Value]
	}
}

// renamedIn renames the bookmarks in the code of a field, whose words are separated by blanks and quotes.
func (c *copier) renamedIn(code string) string {
	var b strings.Builder
	for code != "" {
		end := strings.IndexAny(code, " \t\"")
		if end == 0 {
			end = 1
		} else if end < 0 {
			end = len(code)
		}
		b.WriteString(cmp.Or(c.bookmarks[code[:end]], code[:end]))
		code = code[end:]
	}
	return b.String()
}

// rewriteRelationships replaces the ids of relationships in the attributes of an element with those in the other part.
func (c *copier) rewriteRelationships(e *element) error {
	for _, a := range slices.Clone(e.Attr) {
		name := attrName(&a)
		if !strings.HasPrefix(name, "r:") && name != "o:relid" {
			continue
		}
		i := slices.IndexFunc(c.rels, func(r ooxml.Relationship) bool { return r.ID == a.Value })
		id, err := "", error(nil)
		if i >= 0 {
			id, err = c.relation(c.rels[i])
		}
		switch {
		case err != nil:
			return err
		case id == "" && a.Value != "": // its target is missing
			e.RemoveAttr(a.FullKey())
		case id != "":
			e.CreateAttr(a.FullKey(), id)
		}
	}
	return nil
}

// relation adds a relationship like r, and copies its target. It returns "" if the target is missing.
func (c *copier) relation(r ooxml.Relationship) (id string, err error) {
	if r.External {
		return c.relate(r.Type, r.Target, true)
	}
	if r.IsOwn() {
		bookmark := r.Target[len("#"):]
		return c.relate(r.Type, "#"+cmp.Or(c.bookmarks[bookmark], bookmark), false)
	}
	part := c.from.pkg.Part(r.Target)
	if part == nil {
		return "", nil
	}
	name, err := c.copyPart(part, r.Type)
	if err != nil {
		return "", err
	}
	return c.relate(r.Type, name, false)
}

var errCircle = errors.New("has parts that refer to each other in a circle")

// copyPart copies a part and the parts that it refers to, once, and returns its name.
func (c *copier) copyPart(part *ooxml.Part, relType string) (name string, err error) {
	s := c.from
	if name, ok := s.parts[part]; ok {
		return name, nil
	}
	if s.copying[part] || part == s.main {
		return "", errCircle
	}
	s.copying[part] = true
	defer delete(s.copying, part)
	data, rels, err := c.copiedPart(part, relType)
	if err != nil {
		return "", err
	}
	ext := path.Ext(part.Name)
	if name, err = c.in.added.Add(strings.TrimSuffix(part.Name, ext), strings.TrimPrefix(ext, "."), part.ContentType, data); err != nil {
		return "", err
	}
	if len(rels) > 0 {
		c.in.added.RelateAll(name, rels)
	}
	if relType != names.RelHeader && relType != names.RelFooter { // they have the lists of their place
		s.parts[part] = name
	}
	return name, nil
}

// copiedPart returns the content and the relationships of a copy of a part.
func (c *copier) copiedPart(part *ooxml.Part, relType string) (data []byte, rels []ooxml.Relationship, err error) {
	own, err := c.from.pkg.Rels(part.Name)
	if err != nil {
		return nil, nil, err
	}
	if relType == names.RelHeader || relType == names.RelFooter {
		return c.copiedText(part, own)
	}
	for _, r := range own {
		if r.External || r.IsOwn() {
			rels = append(rels, r)
			continue
		}
		if below := c.from.pkg.Part(r.Target); below != nil {
			if r.Target, err = c.copyPart(below, r.Type); err != nil {
				return nil, nil, err
			}
			rels = append(rels, r)
		}
	}
	data, err = c.from.pkg.Read(part)
	return data, rels, err
}

// copiedText is copiedPart for a part with text.
func (c *copier) copiedText(part *ooxml.Part, own []ooxml.Relationship) (data []byte, rels []ooxml.Relationship, err error) {
	root, err := readElement(c.from.pkg, part)
	if err != nil {
		return nil, nil, err
	}
	relate := func(relType, target string, external bool) (string, error) {
		id := "rId" + strconv.Itoa(len(rels)+1)
		rels = append(rels, ooxml.Relationship{ID: id, Type: relType, Target: target, External: external})
		return id, nil
	}
	c.nameBookmarks(root)
	if root, err = c.within(part, own, relate, declarations{}).copyOf(root); err != nil {
		return nil, nil, err
	}
	var out strings.Builder
	err = writeElement(&out, root)
	return []byte(ooxml.XMLHeader + out.String()), rels, err
}
