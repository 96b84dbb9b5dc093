package style

import (
	"cmp"
	"strconv"

	"platen/ooxml/scan"
)

// levels is how many levels a list has.
const levels = 9

// lists are the lists of a document (§17.9).
type lists struct {
	r        *scan.Reader // of their part; nil if there is none
	abstract map[string]*list
	concrete map[string]*list  // by the w:numId that paragraphs name
	links    map[string]string // the abstract list that a numbering style makes
}

// list is where the levels of a list are in the part.
type list struct {
	levels [levels][]int
	link   string // the numbering style that they are taken from
	read   [levels]*ListLevel
}

// ListLevel is one level of a list (§17.9.6).
type ListLevel struct {
	ID     string // its w:numId and w:ilvl, as in "3/0"
	Text   string // with %1 to %9 for numbers
	Format string // w:numFmt
	Style  string // of the paragraphs that have this level

	run, paragraph Properties
}

func (l *lists) read(part []byte) error {
	l.r = scan.New(part)
	l.abstract, l.concrete, l.links = map[string]*list{}, map[string]*list{}, map[string]string{}
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
			c.levels = linked.levels
		}
	}
	return limitOf(r)
}

func (l *lists) readAbstract(root int) {
	r, read, id := l.r, new(list), l.r.Attr("w:abstractNumId")
	path := []int{root, r.Start}
	for range r.Children {
		switch r.Name() {
		case "w:lvl":
			read.place(r, append(path[:2:2], r.Start))
		case "w:numStyleLink":
			read.link = r.Attr("w:val")
		case "w:styleLink":
			l.links[r.Attr("w:val")] = id
		}
	}
	l.abstract[id] = read
}

// readNum reads a list that paragraphs name: an abstract one, some of whose levels may be others.
func (l *lists) readNum(root int) {
	r, read, id := l.r, new(list), l.r.Attr("w:numId")
	path := []int{root, r.Start}
	var own list
	for range r.Children {
		switch r.Name() {
		case "w:abstractNumId":
			if base := l.abstract[r.Attr("w:val")]; base != nil {
				read.levels, read.link = base.levels, base.link
			}
		case "w:lvlOverride":
			override := r.Start
			for range r.Children {
				if r.Name() == "w:lvl" {
					own.place(r, append(path[:2:2], override, r.Start))
				}
			}
		}
	}
	for i, place := range own.levels {
		if place != nil {
			read.levels[i] = place
		}
	}
	l.concrete[id] = read
}

// place notes where the level is that has just started.
func (l *list) place(r *scan.Reader, path []int) {
	if i, err := strconv.Atoi(r.Attr("w:ilvl")); err == nil && i >= 0 && i < levels {
		l.levels[i] = path
	}
}

// level returns a level of a list; nil if it has none.
func (s *Sheet) level(num string, i int) *ListLevel {
	l := s.lists.concrete[num]
	if l == nil || i < 0 || i >= levels {
		return nil
	}
	if l.read[i] == nil && l.levels[i] != nil {
		l.read[i] = s.readLevel(l.levels[i], num+"/"+strconv.Itoa(i))
	}
	return l.read[i]
}

func (s *Sheet) readLevel(path []int, id string) *ListLevel {
	l := &ListLevel{ID: id}
	r := s.lists.r
	if !r.Enter(path...) {
		return l
	}
	origin := Origin{Level: NumberingLevel, List: id}
	for range r.Children {
		switch r.Name() {
		case "w:rPr":
			l.run = stated(r, &s.Theme, origin)
		case "w:pPr":
			l.paragraph = stated(r, &s.Theme, origin)
		case "w:lvlText":
			l.Text = r.Attr("w:val")
		case "w:numFmt":
			l.Format = r.Attr("w:val")
		case "w:pStyle":
			l.Style = r.Attr("w:val")
		}
	}
	return l
}

// Level returns the level of the list that a paragraph is an item of; nil if it is of none. direct is what its w:pPr states.
func (s *Sheet) Level(direct Properties) *ListLevel {
	id := s.ParagraphStyle(direct)
	return s.listOf(direct, s.chain(s.styles.byID[id], partKey{element: "w:pPr"}), id)
}

// listOf returns the level of the list that a paragraph names itself, or else its style, whose id is given. A style that names no
// level has the one that names the style (§17.9.23).
func (s *Sheet) listOf(direct, styled Properties, id string) *ListLevel {
	num, _ := direct.Get("w:numPr/w:numId")
	at, _ := direct.Get("w:numPr/w:ilvl")
	if num != "" {
		return s.levelNamed(num, cmp.Or(at, "0"))
	}
	num, _ = styled.Get("w:numPr/w:numId")
	if at == "" {
		at, _ = styled.Get("w:numPr/w:ilvl")
	}
	if at != "" {
		return s.levelNamed(num, at)
	}
	for i := range levels {
		if l := s.level(num, i); l != nil && id != "" && l.Style == id {
			return l
		}
	}
	return s.level(num, 0)
}

func (s *Sheet) levelNamed(num, at string) *ListLevel {
	i, err := strconv.Atoi(at)
	if err != nil {
		return nil
	}
	return s.level(num, i)
}

func (s *Sheet) listProperties(l *ListLevel) Properties {
	if l == nil {
		return Properties{}
	}
	return l.paragraph
}

// Number returns the run properties of the number or bullet of a paragraph in a cell: those of the paragraph's mark, with what its list
// level states (§17.9.24). mark is what the w:rPr in the paragraph's w:pPr states.
func (s *Sheet) Number(in Cell, paragraphStyle string, mark Properties, l *ListLevel) Properties {
	return l.run.over(s.Run(in, paragraphStyle, mark))
}
