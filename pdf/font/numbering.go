package font

import (
	"strconv"
	"strings"
)

// level is one level of a list: how its number or bullet looks.
type level struct {
	text   string
	format string
	style  string // of paragraphs that have this level
	run    runProperties
}

// list is an abstract numbering definition (ISO 29500-1 §17.9.1).
type list struct {
	levels     [9]*level
	link, name string // the style that it is taken from; the style that it makes
}

// lists are the numbering definitions of a document.
type lists struct {
	abstract map[string]*list
	concrete map[string]*list // by the id that paragraphs name
	links    map[string]string
}

// readNumbering reads the part of the lists.
func (d *document) readNumbering(part []byte) error {
	d.lists = lists{abstract: map[string]*list{}, concrete: map[string]*list{}, links: map[string]string{}}
	x := newReader(part)
	for range x.starts {
		switch string(x.name) {
		case "w:abstractNum":
			id := x.attr("w:abstractNumId")
			l := d.readList(x)
			if len(d.lists.abstract) < maxLists {
				d.lists.abstract[id] = l
				d.lists.links[l.name] = id
			}
		case "w:num":
			id := x.attr("w:numId")
			l := d.readNum(x)
			if len(d.lists.concrete) < maxLists {
				d.lists.concrete[id] = l
			}
		}
	}
	return x.err
}

func (d *document) readList(x *reader) *list {
	l := new(list)
	for range x.children {
		switch string(x.name) {
		case "w:lvl":
			l.read(d, x)
			continue
		case "w:numStyleLink":
			l.link = x.attr("w:val")
		case "w:styleLink":
			l.name = x.attr("w:val")
		}
		x.skip()
	}
	return l
}

// readNum reads a list that paragraphs name: an abstract one, some of whose levels may be others.
func (d *document) readNum(x *reader) *list {
	l := new(list)
	own := new(list)
	for range x.children {
		switch string(x.name) {
		case "w:abstractNumId":
			if base := d.lists.abstract[x.attr("w:val")]; base != nil {
				*l = *base
			}
			x.skip()
		case "w:lvlOverride":
			for range x.children {
				if string(x.name) == "w:lvl" {
					own.read(d, x)
				} else {
					x.skip()
				}
			}
		default:
			x.skip()
		}
	}
	for i, level := range own.levels {
		if level != nil {
			l.levels[i] = level
		}
	}
	return l
}

// read reads a level into its place.
func (l *list) read(d *document, x *reader) {
	i, err := strconv.Atoi(x.attr("w:ilvl"))
	read := d.readLevel(x)
	if err == nil && i >= 0 && i < len(l.levels) {
		l.levels[i] = read
	}
}

func (d *document) readLevel(x *reader) *level {
	l := new(level)
	for range x.children {
		switch string(x.name) {
		case "w:rPr":
			l.run = d.readRunProperties(x)
			continue
		case "w:lvlText":
			l.text = x.attr("w:val")
		case "w:numFmt":
			l.format = x.attr("w:val")
		case "w:pStyle":
			l.style = x.attr("w:val")
		}
		x.skip()
	}
	return l
}

// level is the one that a paragraph of a style has, or nil.
func (l *lists) level(n numbering, style string) *level {
	found := l.concrete[n.id]
	if found == nil {
		return nil
	}
	if found.link != "" {
		if linked := l.abstract[l.links[found.link]]; linked != nil {
			found = linked
		}
	}
	if n.level == "" {
		for _, level := range found.levels {
			if level != nil && style != "" && level.style == style {
				return level
			}
		}
		return found.levels[0]
	}
	i, err := strconv.Atoi(n.level)
	if err != nil || i < 0 || i >= len(found.levels) {
		return nil
	}
	return found.levels[i]
}

// symbol is the characters of a level: its text, and what numbers are made of in place of %1 to %9. How numbers in the
// words of a language look is not known here.
func (l *level) symbol() string {
	if l.format == "none" {
		return ""
	}
	text, numbers := l.text, ""
	for i := range 9 {
		number := "%" + strconv.Itoa(i+1)
		if strings.Contains(text, number) {
			text, numbers = strings.ReplaceAll(text, number, ""), numerals(l.format)
		}
	}
	if l.format == "bullet" {
		return l.text
	}
	return text + numbers
}

func numerals(format string) string {
	switch format {
	case "lowerRoman":
		return "ivxlcdm"
	case "upperRoman":
		return "IVXLCDM"
	case "lowerLetter":
		return "abcdefghijklmnopqrstuvwxyz"
	case "upperLetter":
		return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	}
	return "0123456789"
}
