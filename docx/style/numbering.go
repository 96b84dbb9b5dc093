package style

import (
	"cmp"
	"strconv"

	"platen/ooxml/scan"
)

// levels is the number of levels of a list.
const levels = 9

// Properties that name a list, and a level of it.
const (
	numID    = "w:numPr/w:numId"
	numLevel = "w:numPr/w:ilvl"
)

// lists are the lists of a document (§17.9).
type lists struct {
	r        *scan.Reader // of their part; nil if there is none
	abstract map[string]*list
	concrete map[string]*list      // by the w:numId that paragraphs name
	links    map[string]string     // the w:abstractNumId that a numbering style defines
	read     map[int]*levelElement // the levels that were read, by their positions
}

// list has the positions of the levels of a list.
type list struct {
	levels [levels]levelPlace
	link   string // the numbering style that defines the levels
}

// levelPlace is the position of a w:lvl in the part. A nil path means that the level is missing.
type levelPlace struct {
	path   []int
	origin string // for Origin.List
}

// ListLevel is one level of a list (§17.9.6).
type ListLevel struct {
	ID string // the w:numId and the w:ilvl, such as "3/0"
	*levelElement
}

// levelElement is the content of a w:lvl.
type levelElement struct {
	Text   string // with %1 to %9 for numbers
	Format string // w:numFmt
	Style  string // ID of the style whose paragraphs have this level
	Align  string // w:lvlJc, of the number

	run, paragraph Properties
}

// properties returns the paragraph properties of a level; none if l is nil.
func (l *ListLevel) properties() Properties {
	if l == nil {
		return Properties{}
	}
	return l.paragraph
}

func (l *lists) readPart(part []byte) error {
	l.r = scan.New(part)
	l.abstract, l.concrete = map[string]*list{}, map[string]*list{}
	l.links, l.read = map[string]string{}, map[int]*levelElement{}
	r := l.r
	r.Next()
	root := r.Start
	for range r.Children {
		switch r.Name() {
		case "w:abstractNum":
			if len(l.abstract) < maxLists {
				l.readAbstract(root)
			}
		case "w:num":
			if len(l.concrete) < maxLists {
				l.readNum(root)
			}
		}
	}
	for _, c := range l.concrete {
		if linked := l.abstract[l.links[c.link]]; c.link != "" && linked != nil {
			c.takeLevels(linked)
		}
	}
	return r.LimitErr()
}

// takeLevels adds the levels of another list that l lacks.
func (l *list) takeLevels(from *list) {
	for i := range l.levels {
		if l.levels[i].path == nil {
			l.levels[i] = from.levels[i]
		}
	}
}

func (l *lists) readAbstract(root int) {
	r, read, id := l.r, new(list), l.r.Attr("w:abstractNumId")
	path := []int{root, r.Start}
	for range r.Children {
		switch r.Name() {
		case "w:lvl":
			read.add(r, append(path[:2:2], r.Start), "abstractNum/"+id)
		case "w:numStyleLink":
			read.link = r.Attr("w:val")
		case "w:styleLink":
			l.links[r.Attr("w:val")] = id
		}
	}
	l.abstract[id] = read
}

// readNum reads a list that paragraphs name: an abstract list, with overrides of some levels (§17.9.8).
func (l *lists) readNum(root int) {
	r, read, id := l.r, new(list), l.r.Attr("w:numId")
	path := []int{root, r.Start}
	var base *list
	for range r.Children {
		switch r.Name() {
		case "w:abstractNumId":
			base = l.abstract[r.Attr("w:val")]
		case "w:lvlOverride":
			override := r.Start
			for range r.Children {
				if r.Name() == "w:lvl" {
					read.add(r, append(path[:2:2], override, r.Start), "num/"+id)
				}
			}
		}
	}
	if base != nil {
		read.link = base.link
		read.takeLevels(base)
	}
	l.concrete[id] = read
}

// add records the position of the level that the last start tag begins.
func (l *list) add(r *scan.Reader, path []int, origin string) {
	if i, err := strconv.Atoi(r.Attr("w:ilvl")); err == nil && i >= 0 && i < levels {
		l.levels[i] = levelPlace{path, origin + "/" + strconv.Itoa(i)}
	}
}

// level returns a level of a list; nil if there is none.
func (s *Sheet) level(num, at string) *ListLevel {
	i, err := strconv.Atoi(at)
	l := s.lists.concrete[num]
	if l == nil || err != nil || i < 0 || i >= levels || l.levels[i].path == nil {
		return nil
	}
	place := l.levels[i]
	position := place.path[len(place.path)-1]
	element := s.lists.read[position]
	if element == nil {
		element = s.readLevel(place)
		s.lists.read[position] = element
	}
	return &ListLevel{num + "/" + strconv.Itoa(i), element}
}

func (s *Sheet) readLevel(place levelPlace) *levelElement {
	l, r := new(levelElement), s.lists.r
	if !r.Enter(place.path...) {
		return l
	}
	origin := Origin{Level: NumberingLevel, List: place.origin}
	for range r.Children {
		switch r.Name() {
		case "w:rPr":
			l.run = s.readStated(r, origin)
		case "w:pPr":
			l.paragraph = s.readStated(r, origin)
		case "w:lvlText":
			l.Text = r.Attr("w:val")
		case "w:numFmt":
			l.Format = r.Attr("w:val")
		case "w:pStyle":
			l.Style = r.Attr("w:val")
		case "w:lvlJc":
			l.Align = r.Attr("w:val")
		}
	}
	return l
}

// namesList reports whether properties name a list or a level. A w:numId of 0 takes the paragraph out of the list of its style.
func namesList(p Properties) bool { return p.states(numID) || p.states(numLevel) }

// Level returns the level of the list that a paragraph is an item of; nil if there is none. direct are the properties that its w:pPr
// states.
func (s *Sheet) Level(direct Properties) *ListLevel {
	id, _ := direct.Get("w:pStyle")
	styled := s.paragraphStyle(s.named("paragraph", id))
	num, at := styled.num, styled.at
	if own, origin := direct.Get(numID); origin.Level != Unset {
		num, at = own, "0"
	}
	if own, origin := direct.Get(numLevel); origin.Level != Unset {
		at = own
	}
	return s.level(num, at)
}

// paragraphStyle is what a paragraph style and those it is based on state about paragraphs.
type paragraphStyle struct {
	plain   Properties // without the level of a list
	listed  Properties // with the level of the list that one of the styles names
	num, at string     // that list, and the level
}

// noStyle is the paragraphStyle of a document without styles.
var noStyle paragraphStyle

func (s *Sheet) paragraphStyle(d *style) *paragraphStyle {
	if d == nil {
		return &noStyle
	}
	if known := s.paragraphStyles[d.id]; known != nil {
		return known
	}
	p := new(paragraphStyle)
	for _, d := range s.styles.basis(d) {
		stated := s.statedBy(d, partKey{element: "w:pPr"})
		if namesList(stated) {
			num, _ := stated.Get(numID)
			at, _ := stated.Get(numLevel)
			p.num, p.at = cmp.Or(num, p.num), s.levelOfStyle(cmp.Or(num, p.num), d.id, cmp.Or(at, p.at, "0"))
			p.listed = s.level(p.num, p.at).properties().over(p.plain)
		}
		p.plain, p.listed = s.merge(stated, p.plain), s.merge(stated, p.listed)
	}
	if s.keeps(p.plain) && s.keeps(p.listed) {
		s.paragraphStyles[d.id] = p
	}
	return p
}

// levelOfStyle returns the level of a list that names a style (§17.9.23), or else the level that the style states. The standard ignores
// the latter (§17.3.1.19), Word does not ([MS-OI29500] §2.1.50).
func (s *Sheet) levelOfStyle(num, id, stated string) string {
	for i := range levels {
		if l := s.level(num, strconv.Itoa(i)); l != nil && l.Style == id {
			return strconv.Itoa(i)
		}
	}
	return stated
}

// Number returns the run properties of the number or bullet of a paragraph in a cell: those of the paragraph's mark, overridden by those
// of its list level (§17.9.24). mark are the properties that the w:rPr in the paragraph's w:pPr states.
func (s *Sheet) Number(in Cell, paragraphStyle string, mark Properties, l *ListLevel) Properties {
	return l.run.over(s.Run(in, paragraphStyle, mark))
}
