package finish

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
)

// Marked is a PDF whose marks were read and removed.
type Marked struct {
	PDF   []byte
	Pages []Size
	Marks []Mark // in ascending order of ID, then of Page
}

// Mark is where one mark is on one page.
type Mark struct {
	ID    int
	Page  int    // from 1
	Rects []Rect // one for each line, from the top down
}

// Rect is a rectangle on a page, in points from the top left corner of the page as readers show it.
type Rect struct{ X, Y, Width, Height float64 }

// maxMarks is the largest number of rectangles of marks in a PDF, and of the ID of a mark.
const maxMarks = 1 << 20

// Marks reads the marks in a PDF, and returns a copy of the PDF without them. A mark is a link to the address prefix
// followed by the ID of the mark, a decimal number. Other links stay. The PDF should not be tagged, because the
// structure of the copy refers to links that are missing.
func Marks(pdf []byte, prefix string) (*Marked, error) {
	f, err := open(pdf)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, len(pdf)))
	w, err := newWriter(out, "%PDF-"+f.version("1.4"))
	if err != nil {
		return nil, err
	}
	r := markReader{file: f, prefix: prefix, copy: newCopier(f, w), found: map[markOnPage]int{}}
	r.removed = ref{w.reserve(), 0}
	if err := f.eachPage(r.page); err != nil {
		return nil, err
	}
	trailer, err := carryObjects(f, r.copy)
	if err != nil {
		return nil, err
	}
	if err := w.finish(trailer.with("ID", newID(f.id(), f.data))); err != nil {
		return nil, err
	}
	slices.SortFunc(r.Marks, func(a, b Mark) int { return cmp.Or(a.ID-b.ID, a.Page-b.Page) })
	for i := range r.Marks {
		r.Marks[i].Rects = lines(r.Marks[i].Rects)
	}
	r.PDF = out.Bytes()
	return &r.Marked, nil
}

// markReader reads the marks of one page after another.
type markReader struct {
	Marked
	file    *file
	prefix  string
	copy    *copier
	removed ref // an object of the copy that does not exist, in place of the marks
	found   map[markOnPage]int
	rects   int
}

// markOnPage identifies a mark on a page.
type markOnPage struct{ id, page int }

// page reads the marks of a page, and has the copy of the page written without them.
func (r *markReader) page(page ref, nodes []dict) error {
	shown, err := r.file.visible(nodes)
	if err != nil {
		return err
	}
	turn, err := r.file.turn(nodes)
	if err != nil {
		return err
	}
	r.Pages = append(r.Pages, shown.size(turn))
	all, err := r.file.array(nodes[len(nodes)-1].get("Annots"))
	if err != nil {
		return err
	}
	kept := make(array, 0, len(all))
	for _, annotation := range all {
		id, rect, err := r.read(annotation)
		if err != nil {
			return err
		}
		if id < 0 {
			kept = append(kept, annotation)
			continue
		}
		if r.rects++; r.rects > maxMarks {
			return broken("it has too many marks")
		}
		if o, ok := annotation.(ref); ok {
			r.copy.numbers[o] = r.removed.number
		}
		r.add(id, shown.turned(rect, turn))
	}
	if len(kept) == len(all) {
		return nil
	}
	if o, ok := nodes[len(nodes)-1].get("Annots").(ref); ok {
		r.copy.numbers[o] = r.removed.number
	}
	var annotations object
	if len(kept) > 0 {
		if annotations, err = r.copy.translate(kept); err != nil {
			return err
		}
	}
	r.copy.change[page] = func(d dict) dict { return d.with("Annots", annotations) }
	return nil
}

// read returns the ID and the rectangle of an annotation, and -1 if it is not a mark.
func (r *markReader) read(annotation object) (id int, rect box, err error) {
	o, err := r.file.resolve(annotation)
	d, ok := o.(dict)
	if err != nil || !ok || d.get("Subtype") != name("Link") {
		return -1, box{}, err
	}
	o, err = r.file.resolve(d.get("A"))
	action, ok := o.(dict)
	if err != nil || !ok {
		return -1, box{}, err
	}
	address, _ := action.get("URI").(str)
	digits, ok := strings.CutPrefix(string(address), r.prefix)
	id, isID := integer(number(digits))
	if !ok || !isID || id < 0 || id > maxMarks {
		return -1, box{}, nil
	}
	rect, ok, err = r.file.box(d.get("Rect"))
	if !ok && err == nil {
		err = broken("a link has no rectangle")
	}
	return id, rect, err
}

// add adds a rectangle to a mark.
func (r *markReader) add(id int, rect Rect) {
	key := markOnPage{id, len(r.Pages)}
	i, ok := r.found[key]
	if !ok {
		i = len(r.Marks)
		r.found[key] = i
		r.Marks = append(r.Marks, Mark{ID: id, Page: key.page})
	}
	r.Marks[i].Rects = append(r.Marks[i].Rects, rect)
}

// lines returns rectangles from the top down, with those of one line joined. LibreOffice writes one for each change of
// the font, and the last line first.
func lines(rects []Rect) []Rect {
	slices.SortFunc(rects, func(a, b Rect) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	joined := rects[:1]
	for _, next := range rects[1:] {
		if last := &joined[len(joined)-1]; last.joins(next) {
			*last = last.with(next)
		} else {
			joined = append(joined, next)
		}
	}
	return joined
}

// gap is the largest distance, in points, between rectangles of one line.
const gap = 1

// joins reports whether the next rectangle to the right is in the same line and adjoins or overlaps.
func (r Rect) joins(next Rect) bool {
	sameLine := math.Abs(r.Y-next.Y) < gap && math.Abs(r.Height-next.Height) < gap
	return sameLine && next.X <= r.X+r.Width+gap
}

// with returns the smallest rectangle that contains both.
func (r Rect) with(next Rect) Rect {
	x, y := min(r.X, next.X), min(r.Y, next.Y)
	return Rect{x, y, max(r.X+r.Width, next.X+next.Width) - x, max(r.Y+r.Height, next.Y+next.Height) - y}
}

// size returns the size of a box on a page that is turned by some degrees.
func (b box) size(turn int) Size {
	size := Size{b.right - b.left, b.top - b.bottom}
	if turn%180 != 0 {
		return Size{size.Height, size.Width}
	}
	return size
}

// turned returns a rectangle on a page that shows the box b and is turned clockwise by some degrees, from the top left
// corner.
func (b box) turned(r box, turn int) Rect {
	left, right, bottom, top := r.left-b.left, b.right-r.right, r.bottom-b.bottom, b.top-r.top
	width, height := r.right-r.left, r.top-r.bottom
	switch turn {
	case 90:
		return Rect{bottom, left, height, width}
	case 180:
		return Rect{right, bottom, width, height}
	case 270:
		return Rect{top, right, height, width}
	}
	return Rect{left, top, width, height}
}
