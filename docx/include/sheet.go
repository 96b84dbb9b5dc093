package include

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/beevik/etree"

	"platen/ooxml"
	"platen/ooxml/names"
)

// sheet is a part that the content of a document refers to: its styles, lists or notes.
type sheet struct {
	name        string // of the part, and of its root element
	relType     string
	contentType string
	strict      bool
	part        *ooxml.Part // nil: the document has none
	rels        []ooxml.Relationship
	root        *element
	grown       bool // something was added
}

// read reads the part that the main part leads to; without one the sheet is empty.
func (s *sheet) read(pkg *ooxml.Package, main *ooxml.Part) error {
	s.strict = pkg.Strict()
	s.root = etree.NewElement("w:" + s.name)
	s.root.CreateAttr("xmlns:w", names.Namespace("w", s.strict))
	rels, err := pkg.Rels(main.Name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rels, func(r ooxml.Relationship) bool {
		return r.Type == s.relType && !r.External && pkg.Part(r.Target) != nil
	})
	if i < 0 {
		return nil
	}
	s.part = pkg.Part(rels[i].Target)
	if s.rels, err = pkg.Rels(s.part.Name); err != nil {
		return err
	}
	s.root, err = readElement(pkg, s.part)
	return err
}

func (s *sheet) declared() declarations { return declarationsAt(s.root) }

// add appends an element, before the first of the names given.
func (s *sheet) add(e *element, before ...string) {
	s.grown = true
	at := len(s.root.Child)
	for i, c := range s.root.Child {
		if c, ok := c.(*element); ok && slices.Contains(before, nameOf(c)) {
			at = i
			break
		}
	}
	s.root.InsertChildAt(at, e)
}

func (s *sheet) bytes() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(ooxml.XMLHeader)
	err := writeElement(&out, s.root)
	return out.Bytes(), err
}

// styleSheet is the styles of a document (ISO 29500-1 §17.7).
type styleSheet struct {
	sheet
	ids   map[string]*element // by kind and id
	names map[string]string   // ids by kind and name in lower case
	taken map[string]bool     // ids of any kind
}

func readStyles(pkg *ooxml.Package, main *ooxml.Part) (*styleSheet, error) {
	s := &styleSheet{sheet: sheet{name: "styles", relType: names.RelStyles, contentType: names.TypeStyles}, ids: map[string]*element{},
		names: map[string]string{}, taken: map[string]bool{}}
	if err := s.read(pkg, main); err != nil {
		return nil, err
	}
	for _, e := range s.root.ChildElements() {
		if nameOf(e) == "w:style" {
			s.note(e)
		}
	}
	return s, nil
}

func kindOf(style *element) string { return cmp.Or(value(style, "w:type"), "paragraph") }

func (s *styleSheet) note(style *element) {
	kind, id := kindOf(style), value(style, "w:styleId")
	if id == "" {
		return
	}
	s.ids[kind+" "+id], s.taken[id] = style, true
	if name := strings.ToLower(value(child(style, "w:name"), "w:val")); name != "" {
		s.names[kind+" "+name] = id
	}
}

// style returns the id of a style in the other document, and adds the style if there is none with its name. It returns
// "" if the style does not exist.
func (c *copier) style(kind, id string) (string, error) {
	key := kind + " " + id
	if known, ok := c.from.styleIDs[key]; ok {
		return known, nil
	}
	e := c.from.styles.ids[key]
	if e == nil {
		return "", nil
	}
	there := c.in.styles
	if known := there.names[kind+" "+strings.ToLower(value(child(e, "w:name"), "w:val"))]; known != "" {
		c.from.styleIDs[key] = known
		return known, nil
	}
	another := id
	for n := 1; there.taken[another]; n++ {
		another = id + strconv.Itoa(n)
	}
	c.from.styleIDs[key], c.from.newStyles[key], there.taken[another] = another, true, true
	return another, c.copyStyle(e, another)
}

// copyStyle adds a style, and those that it refers to, to the other document.
func (c *copier) copyStyle(e *element, id string) error {
	there := c.in.styles
	w := c.within(c.from.styles.part, c.from.styles.rels, nil, there.declared())
	w.lists = c.from.lists
	copied := detached(e, declarationsAt(e.Parent()))
	attr(copied, "w:styleId").Value = id
	if a := attr(copied, "w:default"); a != nil {
		copied.RemoveAttr(a.FullKey())
	}
	for name, kind := range map[string]string{"w:basedOn": kindOf(e), "w:next": "paragraph", "w:link": linkedKind(e)} {
		ref := child(copied, name)
		if ref == nil {
			continue
		}
		other, err := w.style(kind, value(ref, "w:val"))
		if err != nil {
			return err
		}
		if a := attr(ref, "w:val"); other == "" || a == nil {
			copied.RemoveChild(ref)
		} else {
			a.Value = other
		}
	}
	if err := w.rewrite(copied); err != nil {
		return err
	}
	declare(copied, declarationsAt(e.Parent()), there.declared())
	there.add(copied)
	there.note(copied)
	return nil
}

// linkedKind is the kind of the style that one is linked to: that of characters to one of paragraphs, and the other way.
func linkedKind(style *element) string {
	if kindOf(style) == "paragraph" {
		return "character"
	}
	return "paragraph"
}

// numbering is the lists of a document (ISO 29500-1 §17.9).
type numbering struct {
	sheet
	lists, looks         map[string]*element // w:num and w:abstractNum by id
	nextList, nextLookID int
}

func readNumbering(pkg *ooxml.Package, main *ooxml.Part) (*numbering, error) {
	n := &numbering{
		sheet: sheet{name: "numbering", relType: names.RelNumbering, contentType: names.TypeNumbering},
		lists: map[string]*element{}, looks: map[string]*element{}, nextList: 1,
	}
	if err := n.read(pkg, main); err != nil {
		return nil, err
	}
	for _, e := range n.root.ChildElements() {
		switch nameOf(e) {
		case "w:num":
			id := value(e, "w:numId")
			if attr(child(e, "w:abstractNumId"), "w:val") == nil || id == "" {
				continue
			}
			n.lists[id] = e
			n.nextList = max(n.nextList, after(id))
		case "w:abstractNum":
			id := value(e, "w:abstractNumId")
			if id == "" {
				continue
			}
			n.looks[id] = e
			n.nextLookID = max(n.nextLookID, after(id))
		}
	}
	return n, nil
}

// after returns the number that follows an ID; 0 if the ID is not a number.
func after(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n < 0 || n >= 1<<31-1 {
		return 0
	}
	return n + 1
}

// list adds a list to the other document, and returns its id there. "0" means no list.
func (c *copier) list(id string) (string, error) {
	if known, ok := c.lists[id]; ok {
		return known, nil
	}
	from, there := c.from.numbering, c.in.numbering
	list := from.lists[id]
	look := from.looks[value(child(list, "w:abstractNumId"), "w:val")]
	if list == nil || look == nil {
		c.lists[id] = "0"
		return "0", nil
	}
	another := strconv.Itoa(there.nextList)
	there.nextList++
	c.lists[id] = another // before the styles of its look, which may refer to it
	lookID, err := c.copyLook(look)
	if err != nil {
		return "", err
	}
	copied := detached(list, declarationsAt(list.Parent()))
	attr(copied, "w:numId").Value = another
	attr(child(copied, "w:abstractNumId"), "w:val").Value = lookID
	for _, e := range copied.ChildElements() {
		if level := child(e, "w:lvl"); level != nil {
			if err := c.rewriteLevel(level); err != nil {
				return "", err
			}
		}
	}
	declare(copied, declarationsAt(list.Parent()), there.declared())
	there.add(copied, "w:numIdMacAtCleanup")
	return another, nil
}

// copyLook adds the look of a list to the other document.
func (c *copier) copyLook(look *element) (id string, err error) {
	there := c.in.numbering
	id = strconv.Itoa(there.nextLookID)
	there.nextLookID++
	copied := detached(look, declarationsAt(look.Parent()))
	attr(copied, "w:abstractNumId").Value = id
	for _, e := range copied.ChildElements() {
		switch nameOf(e) {
		case "w:nsid", "w:tmpl": // by which Word takes two lists for one
			copied.RemoveChild(e)
		case "w:styleLink", "w:numStyleLink":
			style, err := c.style("numbering", value(e, "w:val"))
			if err != nil {
				return "", err
			}
			if style == "" {
				copied.RemoveChild(e)
			} else {
				attr(e, "w:val").Value = style
			}
		case "w:lvl":
			if err := c.rewriteLevel(e); err != nil {
				return "", err
			}
		}
	}
	declare(copied, declarationsAt(look.Parent()), there.declared())
	there.add(copied, "w:num", "w:numIdMacAtCleanup")
	return id, nil
}

// rewriteLevel changes the references in the level of a list: that to the style of its paragraphs, which stays only
// for a new style, and that to the picture of a bullet, which is left out.
func (c *copier) rewriteLevel(level *element) error {
	for _, e := range level.ChildElements() {
		switch nameOf(e) {
		case "w:lvlPicBulletId":
			level.RemoveChild(e)
		case "w:pStyle":
			old := value(e, "w:val")
			style, err := c.style("paragraph", old)
			if err != nil {
				return err
			}
			if !c.from.newStyles["paragraph "+old] {
				level.RemoveChild(e)
			} else {
				attr(e, "w:val").Value = style
			}
		}
	}
	return nil
}

// noteKinds are the kinds of notes.
var noteKinds = [2]string{"footnote", "endnote"}

// notes are the footnotes or the endnotes of a document (ISO 29500-1 §17.11).
type notes struct {
	sheet
	kind string
	byID map[string]*element
	next int
}

func readNotes(pkg *ooxml.Package, main *ooxml.Part, kind string) (*notes, error) {
	relType, contentType := names.RelFootnotes, names.TypeFootnotes
	if kind == "endnote" {
		relType, contentType = names.RelEndnotes, names.TypeEndnotes
	}
	n := &notes{
		sheet: sheet{name: kind + "s", relType: relType, contentType: contentType},
		kind:  kind, byID: map[string]*element{}, next: 1,
	}
	if err := n.read(pkg, main); err != nil {
		return nil, err
	}
	for _, e := range n.root.ChildElements() {
		id := value(e, "w:id")
		if id == "" {
			continue
		}
		n.byID[id] = e
		n.next = max(n.next, after(id))
	}
	return n, nil
}

var errNotes = errors.New("has footnotes or endnotes, which are not allowed in a header, a footer, a text box, or a note")

// note copies the note of a reference, and changes the reference to the copy.
func (c *copier) note(reference *element, name string) error {
	i := slices.IndexFunc(noteKinds[:], func(kind string) bool { return "w:"+kind+"Reference" == name })
	from, there := c.from.notes[i], c.in.notes[i]
	id := attr(reference, "w:id")
	if !c.isMain {
		return errNotes
	}
	if id == nil || from.byID[id.Value] == nil {
		return fmt.Errorf("refers to a %s that it does not have", from.kind)
	}
	if there.part == nil && !there.grown {
		if err := c.copySeparators(from, there); err != nil {
			return err
		}
	}
	note := from.byID[id.Value]
	copied, err := c.forNotes(from, there).copyOf(note)
	if err != nil {
		return err
	}
	id.Value = strconv.Itoa(there.next)
	attr(copied, "w:id").Value = id.Value
	there.next++
	there.add(copied)
	return nil
}

// copySeparators adds the separator lines between text and notes to a document without notes.
func (c *copier) copySeparators(from, there *notes) error {
	for _, e := range from.root.ChildElements() {
		if kind := value(e, "w:type"); kind == "" || kind == "normal" {
			continue
		}
		copied, err := c.forNotes(from, there).copyOf(e)
		if err != nil {
			return err
		}
		there.add(copied)
		there.next = max(there.next, after(value(e, "w:id")))
	}
	return nil
}

// forNotes returns a copier from the notes of one document to those of another.
func (c *copier) forNotes(from, there *notes) *copier {
	relate := func(relType, target string, external bool) (string, error) {
		if there.part != nil {
			return c.in.added.Relate(there.part.Name, relType, target, external)
		}
		id := "rId" + strconv.Itoa(len(there.rels)+1)
		there.rels = append(there.rels, ooxml.Relationship{ID: id, Type: relType, Target: target, External: external})
		return id, nil
	}
	return c.within(from.part, from.rels, relate, there.declared())
}
