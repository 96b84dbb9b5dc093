package program

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"platen/docx/locale"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
)

// The part numbering.xml defines lists (ISO 29500-1 §17.9): paragraphs that name the same w:num are one list, whose format is in a
// w:abstractNum. If each round of a loop contains a separate list, every round but the first gets a new w:num, which restarts the numbers.

const (
	// maxAddedLists is the largest number of lists that one execution adds. Word becomes slow with more.
	maxAddedLists = 30_000
	// listBytes is the approximate memory of a list without its overrides.
	listBytes = 100
	// ListLevels is the number of levels of a list.
	ListLevels = 9
)

// Numbering has the lists of a template, from its numbering.xml and its styles.
type Numbering struct {
	part         *ooxml.Part
	Source       []byte
	root         *wml.Node
	nums         map[string]*wml.Node // w:num by id
	abstracts    map[string]*wml.Node // w:abstractNum by id
	lastNum      int                  // the largest id of a w:num
	LastAbstract int                  // the largest id of a w:abstractNum

	language *locale.Locale // of numbers in words, if there are any
}

// isIn reports whether the lists are in a part.
func (n *Numbering) isIn(part *ooxml.Part) bool { return n != nil && n.part == part }

// ReadNumbering reads the lists of a document, or returns nil if it has none. Lists with damaged definitions do not restart.
func ReadNumbering(pkg *ooxml.Package, main *ooxml.Part) (*Numbering, error) {
	part, err := wml.RelatedPart(pkg, main, names.RelNumbering)
	if part == nil || err != nil {
		return nil, err
	}
	n := &Numbering{part: part, nums: map[string]*wml.Node{}, abstracts: map[string]*wml.Node{}}
	if n.Source, err = pkg.ReadXML(part); err != nil {
		return nil, err
	}
	if n.root, err = wml.ParseTree(part.Name, n.Source); err != nil {
		return nil, err
	}
	if usesWords(n.Source) {
		if n.language, err = documentLanguage(pkg, main); err != nil {
			return nil, err
		}
	}
	for _, child := range n.root.Children {
		switch child.Name {
		case "w:num":
			id := n.Value(child, "w:numId")
			n.nums[id] = child
			n.lastNum = max(n.lastNum, wml.IDNumber(id))
		case "w:abstractNum":
			id := n.Value(child, "w:abstractNumId")
			n.abstracts[id] = child
			n.LastAbstract = max(n.LastAbstract, wml.IDNumber(id))
		}
	}
	return n, nil
}

// Value returns the value of an attribute of an element of the numbering.
func (n *Numbering) Value(e *wml.Node, name string) string { return wml.AttrValue(n.Source, e, name) }

// level returns the definition of a level of a list, and the list's w:abstractNum; each may be nil.
func (n *Numbering) level(num *wml.Node, level string) (lvl, abstract *wml.Node) {
	abstract = n.abstracts[n.Value(num.Child("w:abstractNumId"), "w:val")]
	if abstract == nil {
		return nil, nil
	}
	i := slices.IndexFunc(abstract.Children, func(l *wml.Node) bool { return l.Name == "w:lvl" && n.Value(l, "w:ilvl") == level })
	if i < 0 {
		return nil, abstract
	}
	return abstract.Children[i], abstract
}

// IsNumbered reports whether the items of a level show numbers or letters.
func (n *Numbering) IsNumbered(num, level string) bool {
	lvl, abstract := n.level(n.nums[num], level)
	if lvl == nil {
		return abstract.Child("w:numStyleLink") != nil // a style has the definition
	}
	format := n.Value(lvl.Child("w:numFmt"), "w:val")
	return format != "bullet" && format != "none"
}

// ListID writes the id of the list of an item in a loop: that of the template, until the list restarts.
type ListID struct {
	Slot int
	Num  string // the id in the template
	ID   int    // the same as a number
}

func (o *ListID) run(x *execution) error {
	current := &x.lists.current[o.Slot]
	switch *current {
	case 0:
		*current = o.ID
	case restarting:
		id, err := x.anotherList(o.Num)
		if err != nil {
			return err
		}
		*current = id
	}
	x.out.buf = strconv.AppendInt(x.out.buf, int64(*current), 10)
	return nil
}

// lists is the state of lists in an execution, with its additions to the numbering.
type lists struct {
	current []int // ids by slot; 0 for a list that has not begun

	abstracts, nums  []byte         // XML
	byKey            map[string]int // ids of the abstract lists
	bullets          map[string]int // ids of lists without numbers, which never restart
	lastAbs, lastNum int            // the largest ids in use; 0 before the first
	count            int
}

// restarting is the current id of a list that restarts with its next item.
const restarting = -1

// restart makes the lists of some slots restart with their next item, if they have begun.
func (l *lists) restart(slots []int) {
	for _, slot := range slots {
		if l.current[slot] > 0 {
			l.current[slot] = restarting
		}
	}
}

// anotherList adds a list with the format of one of the template's lists, and returns its id.
func (x *execution) anotherList(num string) (id int, err error) {
	n := x.d.Lists
	definition := n.nums[num]
	if _, abstract := n.level(definition, ""); abstract != nil {
		if err := x.meter.Spend(ListLevels * (len(definition.Children) + len(abstract.Children))); err != nil {
			return 0, err
		}
	}
	prefix := definition.Prefix(n.Source)
	var overrides strings.Builder
	for i := range ListLevels {
		level := strconv.Itoa(i)
		lvl, abstract := n.level(definition, level)
		if lvl == nil && abstract != nil && abstract.Child("w:numStyleLink") == nil {
			continue // the list has no such level
		}
		start, own := cmp.Or(n.Value(lvl.Child("w:start"), "w:val"), "1"), ""
		for _, o := range definition.Children {
			if o.Name != "w:lvlOverride" || n.Value(o, "w:ilvl") != level {
				continue
			}
			start = cmp.Or(n.Value(o.Child("w:startOverride"), "w:val"), start)
			if lvl := o.Child("w:lvl"); lvl != nil {
				own = string(n.Source[lvl.Start:lvl.End])
			}
		}
		fmt.Fprintf(&overrides, `<%[1]slvlOverride %[1]silvl="%[2]d"><%[1]sstartOverride %[1]sval="%[3]s"/>%[4]s</%[1]slvlOverride>`,
			prefix, i, start, own)
	}
	return x.addList(n.Value(definition.Child("w:abstractNumId"), "w:val"), overrides.String())
}

// addList adds a w:num that refers to an abstract list, with overrides as XML under listPrefix, and returns its id.
func (x *execution) addList(abstract, overrides string) (id int, err error) {
	l := &x.lists
	if l.count++; l.count > maxAddedLists {
		return 0, fmt.Errorf("the document would have more than %d lists", maxAddedLists)
	}
	if l.lastNum == 0 && x.d.Lists != nil {
		l.lastNum = x.d.Lists.lastNum
	}
	l.lastNum++
	if err := x.meter.Hold(listBytes + len(overrides)); err != nil {
		return 0, err
	}
	l.nums = fmt.Appendf(l.nums, `<%[1]snum %[1]snumId="%[2]d"><%[1]sabstractNumId %[1]sval="%[3]s"/>%[4]s</%[1]snum>`, x.listPrefix(),
		l.lastNum, abstract, overrides)
	return l.lastNum, nil
}

// addAbstractList adds a w:abstractNum with levels as XML under listPrefix, once for each key, and returns its id.
func (x *execution) addAbstractList(key, levels string) (id int) {
	l := &x.lists
	if id, ok := l.byKey[key]; ok {
		return id
	}
	if l.byKey == nil {
		l.byKey = map[string]int{}
		if x.d.Lists != nil {
			l.lastAbs = x.d.Lists.LastAbstract
		}
	}
	l.lastAbs++
	l.byKey[key] = l.lastAbs
	l.abstracts = fmt.Appendf(l.abstracts,
		`<%[1]sabstractNum %[1]sabstractNumId="%[2]d"><%[1]smultiLevelType %[1]sval="hybridMultilevel"/>%[3]s</%[1]sabstractNum>`,
		x.listPrefix(), l.lastAbs, levels)
	return l.lastAbs
}

// listPrefix is the prefix, with its colon, of the elements of the numbering.
func (x *execution) listPrefix() string {
	if x.d.Lists == nil || x.d.Lists.root.Child("w:abstractNum") == nil {
		return "w:"
	}
	return x.d.Lists.root.Child("w:abstractNum").Prefix(x.d.Lists.Source)
}

// finishLists adds the new lists to the numbering, or creates a numbering if the document has none.
func (x *execution) finishLists() error {
	l, n := &x.lists, x.d.Lists
	switch {
	case l.count == 0 && l.byKey == nil:
		return nil
	case n != nil:
		x.added.Replace(n.part.Name, n.with(l.abstracts, l.nums))
		return nil
	}
	namespace := names.Namespace("w", x.d.Package.Strict())
	data := slices.Concat([]byte(ooxml.XMLHeader+`<w:numbering xmlns:w="`+namespace+`">`), l.abstracts, l.nums, []byte("</w:numbering>"))
	name, err := x.added.Add("/word/numbering", "xml", names.TypeNumbering, data)
	if err != nil {
		return err
	}
	_, err = x.added.Relate(x.d.Main, names.RelNumbering, name, false)
	return err
}

// with returns the part with more abstract lists, which precede all lists, and more lists, which follow the existing ones
// (ISO 29500-1 §17.9.16, CT_Numbering).
func (n *Numbering) with(abstracts, nums []byte) []byte {
	firstNum, behind := n.root.CloseStart, n.root.CloseStart
	for _, child := range slices.Backward(n.root.Children) {
		switch child.Name {
		case "w:numIdMacAtCleanup":
			firstNum, behind = child.Start, child.Start
		case "w:num":
			firstNum = child.Start
		}
	}
	if n.root.Void() {
		name := n.root.RawName(n.Source)
		open := strings.TrimSuffix(string(n.Source[n.root.Start:n.root.End]), "/>") + ">"
		return slices.Concat(n.Source[:n.root.Start], []byte(open), abstracts, nums, []byte("</"+name+">"), n.Source[n.root.End:])
	}
	return slices.Concat(n.Source[:firstNum], abstracts, n.Source[firstNum:behind], nums, n.Source[behind:])
}
