package finish

import (
	"math"
	"slices"
	"strconv"
)

// Pages returns the number of pages that a PDF declares. It reads only a small part of the file.
func Pages(pdf []byte) (int, error) {
	f, err := open(pdf)
	if err != nil {
		return 0, err
	}
	catalog, err := f.catalog()
	if err != nil {
		return 0, err
	}
	pages, err := f.dict(catalog.get("Pages"))
	if err != nil {
		return 0, err
	}
	count, ok := integer(pages.get("Count"))
	if !ok || count < 0 {
		return 0, broken("the page tree has no count")
	}
	return count, nil
}

// Size is the size of a page as readers show it, in points (1/72 inch).
type Size struct{ Width, Height float64 }

// Sizes returns the size of every page of a PDF that is not encrypted.
func Sizes(pdf []byte) ([]Size, error) {
	f, err := open(pdf)
	if err != nil {
		return nil, err
	}
	var sizes []Size
	err = f.eachPage(func(_ ref, nodes []dict) error {
		box, err := f.visible(nodes)
		if err != nil {
			return err
		}
		turn, err := f.turn(nodes)
		sizes = append(sizes, box.size(turn))
		return err
	})
	return sizes, err
}

// eachPage calls visit for every page, in order, as walkPages does.
func (f *file) eachPage(visit func(page ref, nodes []dict) error) error {
	catalog, err := f.catalog()
	if err != nil {
		return err
	}
	root, ok := catalog.get("Pages").(ref)
	if !ok {
		return broken("it has no pages")
	}
	_, err = walkPages(f, root, visit)
	return err
}

// walkPages calls visit for every page of a page tree, with its dictionary and those of the nodes above it, the root
// first. visit must not keep nodes. walkPages returns the number of pages. The count of each node must be correct,
// because readers use it to find pages.
func walkPages(f *file, root ref, visit func(page ref, nodes []dict) error) (count int, err error) {
	seen := map[ref]bool{}
	var nodes []dict
	var walk func(node ref) (int, error)
	walk = func(node ref) (int, error) {
		if seen[node] || len(nodes) > maxDepth {
			return 0, broken("its pages do not form a tree")
		}
		seen[node] = true
		d, err := f.dict(node)
		if err != nil {
			return 0, err
		}
		nodes = append(nodes, d)
		defer func() { nodes = nodes[:len(nodes)-1] }()
		if d.get("Type") == name("Page") {
			return 1, visit(node, nodes)
		}
		kids, err := f.array(d.get("Kids"))
		if err != nil {
			return 0, err
		}
		pages := 0
		for _, kid := range kids {
			r, ok := kid.(ref)
			if !ok {
				return 0, broken("its pages do not form a tree")
			}
			n, err := walk(r)
			if err != nil {
				return 0, err
			}
			pages += n
		}
		if said, ok := integer(d.get("Count")); !ok || said != pages {
			return 0, broken("its page count is wrong")
		}
		return pages, nil
	}
	count, err = walk(root)
	if err == nil && count == 0 {
		err = broken("it has no pages")
	}
	return count, err
}

// box is a rectangle in the coordinates of a page, whose y axis points up.
type box struct{ left, bottom, right, top float64 }

// visible returns the part of a page that readers show: its crop box, within its media box (14.11.2).
func (f *file) visible(nodes []dict) (box, error) {
	media, ok, err := f.box(inherited(nodes, "MediaBox"))
	if err != nil {
		return box{}, err
	}
	if !ok || media.left == media.right || media.bottom == media.top {
		return box{}, broken("a page has no size")
	}
	crop, ok, err := f.box(inherited(nodes, "CropBox"))
	if err != nil || !ok {
		return media, err
	}
	shown := box{
		max(crop.left, media.left), max(crop.bottom, media.bottom), min(crop.right, media.right), min(crop.top, media.top),
	}
	if shown.left >= shown.right || shown.bottom >= shown.top {
		return media, nil
	}
	return shown, nil
}

// turn returns the degrees, clockwise, by which readers rotate a page: 0, 90, 180, or 270.
func (f *file) turn(nodes []dict) (int, error) {
	o, err := f.resolve(inherited(nodes, "Rotate"))
	if err != nil || o == nil {
		return 0, err
	}
	turn, ok := integer(o)
	if !ok || turn%90 != 0 {
		return 0, broken("a page has an invalid rotation")
	}
	return (turn%360 + 360) % 360, nil
}

// inherited returns the value of a key of the last dictionary that has it, or nil.
func inherited(nodes []dict, key name) object {
	for _, node := range slices.Backward(nodes) {
		if o := node.get(key); o != nil {
			return o
		}
	}
	return nil
}

// maxCoordinate is the largest coordinate that is read, far above those of real pages.
const maxCoordinate = 1e7

// box reads a rectangle (7.9.5). ok is false if there is none.
func (f *file) box(o object) (b box, ok bool, err error) {
	a, err := f.array(o)
	if err != nil || a == nil {
		return box{}, false, err
	}
	if len(a) != 4 {
		return box{}, false, broken("a rectangle is invalid")
	}
	var v [4]float64
	for i := range v {
		o, err := f.resolve(a[i])
		if err != nil {
			return box{}, false, err
		}
		digits, _ := o.(number)
		if v[i], err = strconv.ParseFloat(string(digits), 64); err != nil || math.Abs(v[i]) > maxCoordinate {
			return box{}, false, broken("a rectangle is invalid")
		}
	}
	return box{min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])}, true, nil
}
