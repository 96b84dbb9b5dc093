package finish

import (
	"bytes"
	"slices"
)

// maxObjects is the maximum number of objects in a PDF. A tagged page has a few hundred at most.
const maxObjects = 1 << 22

// place is the location of an object. The zero value means unknown.
type place struct {
	first  int64  // plain: offset; packed: number of its object stream
	second uint32 // plain: generation; packed: index in the stream
	kind   byte
}

// Kinds of places, numbered as in cross-reference streams, plus unknown.
const (
	unknown = iota
	free
	plain
	packed
)

// readSections reads all cross-reference sections, newest first (7.5.4 to 7.5.8).
func (f *file) readSections() error {
	const tail = 1024
	end := f.data[max(0, len(f.data)-tail):]
	at := bytes.LastIndex(end, []byte("startxref"))
	if at < 0 {
		return broken("it has no startxref at its end")
	}
	p := &parser{data: end, at: at + len("startxref")}
	next, ok := p.natural()
	f.start = next
	seen := map[int]bool{}
	for ok {
		if seen[next] || next >= len(f.data) {
			return broken("its cross-reference table is not at its offset")
		}
		seen[next] = true
		trailer, err := f.readSection(next)
		if err != nil {
			return err
		}
		if f.trailer == nil {
			f.trailer = trailer
		}
		if trailer.get("XRefStm") != nil {
			return broken("it has both a cross-reference table and a stream")
		}
		previous := trailer.get("Prev")
		if next, ok = integer(previous); previous != nil && (!ok || next < 0) {
			return broken("its cross-reference table has an invalid predecessor")
		}
	}
	if f.trailer == nil {
		return broken("it has no cross-reference table")
	}
	return nil
}

func (f *file) readSection(at int) (dict, error) {
	p := &parser{data: f.data, at: at}
	table := p.accept("xref")
	if at == f.start {
		f.table = table
	}
	if table {
		return f.readTable(p)
	}
	return f.readTableStream(at)
}

func (f *file) readTable(p *parser) (dict, error) {
	begun := p.at
	for !p.accept("trailer") {
		first, ok1 := p.natural()
		count, ok2 := p.natural()
		const line = 20
		if p.space(); !ok1 || !ok2 || count > (len(p.data)-p.at)/line {
			return nil, broken("its cross-reference table is invalid")
		}
		if err := f.room(first, count); err != nil {
			return nil, err
		}
		for n := first; n < first+count; n++ {
			entry, ok := tableLine(p.data[p.at : p.at+line])
			if !ok {
				return nil, broken("its cross-reference table is invalid")
			}
			f.note(n, entry)
			p.at += line
		}
	}
	o, err := p.object(0)
	if err != nil {
		return nil, err
	}
	trailer, ok := o.(dict)
	if !ok {
		return nil, broken("its trailer is not a dictionary")
	}
	return trailer, f.spend(p.at - begun)
}

// tableLine reads a line of 20 bytes, such as "0000026601 00000 n" and a line ending of two.
func tableLine(line []byte) (place, bool) {
	p := &parser{data: line}
	offset, ok1 := p.natural()
	generation, ok2 := p.natural()
	switch {
	case !ok1 || !ok2 || generation > 65535:
		return place{}, false
	case p.accept("n"):
		return place{int64(offset), uint32(generation), plain}, true
	case p.accept("f"):
		return place{kind: free}, true
	}
	return place{}, false
}

// room makes room for count objects from number first.
func (f *file) room(first, count int) error {
	if first > maxObjects || count > maxObjects || first+count > maxObjects {
		return broken("it has too many objects")
	}
	if more := first + count - len(f.places); more > 0 {
		f.places = append(f.places, make([]place, more)...)
	}
	return nil
}

// note records the location of an object, unless a newer section has set it.
func (f *file) note(n int, at place) {
	if f.places[n].kind == unknown {
		f.places[n] = at
	}
}

// readTableStream reads a cross-reference stream (7.5.8).
func (f *file) readTableStream(at int) (dict, error) {
	p := &parser{data: f.data, at: at}
	n, ok1 := p.natural()
	generation, ok2 := p.natural()
	if !ok1 || !ok2 {
		return nil, broken("its cross-reference table is not at its offset")
	}
	o, err := f.read(at, ref{n, generation})
	if err != nil {
		return nil, err
	}
	s, ok := o.(stream)
	if !ok || s.dict.get("Type") != name("XRef") {
		return nil, broken("its cross-reference table is invalid")
	}
	data, err := f.decode(s)
	if err != nil {
		return nil, err
	}
	widths, index, err := tableShape(s.dict)
	if err != nil {
		return nil, err
	}
	for ; len(index) > 1; index = index[2:] {
		if data, err = f.noteFields(data, widths, index[0], index[1]); err != nil {
			return nil, err
		}
	}
	return s.dict, nil
}

// tableShape returns the widths of the fields of a cross-reference stream, and its pairs of first number and count.
func tableShape(d dict) (widths, index []int, err error) {
	w, _ := d.get("W").(array)
	for _, o := range w {
		n, ok := integer(o)
		if !ok || n < 0 || n > 7 {
			return nil, nil, broken("its cross-reference stream has invalid fields")
		}
		widths = append(widths, n)
	}
	if len(widths) != 3 || widths[1] == 0 {
		return nil, nil, broken("its cross-reference stream has invalid fields")
	}
	pairs, ok := d.get("Index").(array)
	if !ok {
		pairs = array{number("0"), d.get("Size")}
	}
	for _, o := range pairs {
		n, ok := integer(o)
		if !ok || n < 0 {
			return nil, nil, broken("its cross-reference stream has an invalid index")
		}
		index = append(index, n)
	}
	return widths, index, nil
}

func (f *file) noteFields(data []byte, widths []int, first, count int) ([]byte, error) {
	width := widths[0] + widths[1] + widths[2]
	if count > len(data)/width {
		return nil, broken("its cross-reference stream is truncated")
	}
	if err := f.room(first, count); err != nil {
		return nil, err
	}
	for n := first; n < first+count; n++ {
		fields := [3]int64{1, 0, 0}
		for i, w := range widths {
			if w > 0 {
				fields[i] = 0
			}
			for _, b := range data[:w] {
				fields[i] = fields[i]<<8 | int64(b)
			}
			data = data[w:]
		}
		switch {
		case fields[2] > maxObjects:
			return nil, broken("its cross-reference stream has a field that is too large")
		case fields[0] == 0:
			f.note(n, place{kind: free})
		case fields[0] == 1:
			f.note(n, place{fields[1], uint32(fields[2]), plain})
		case fields[0] == 2:
			f.note(n, place{fields[1], uint32(fields[2]), packed})
		}
	}
	return data, nil
}

// unpredict reverses PNG predictors (7.4.4.4, ISO 15948).
func unpredict(data []byte, parms dict) ([]byte, error) {
	predictor, ok := integer(parms.get("Predictor"))
	if !ok || predictor < 2 {
		return data, nil
	}
	columns, ok := integer(parms.get("Columns"))
	if predictor < 10 || !ok || columns < 1 || columns > 64 || parms.get("Colors") != nil || parms.get("BitsPerComponent") != nil {
		return nil, broken("a stream has an unsupported predictor")
	}
	var plain []byte
	above := make([]byte, columns)
	for row := range slices.Chunk(data, columns+1) {
		if len(row) != columns+1 || row[0] > 2 {
			return nil, broken("a stream has an unsupported predictor")
		}
		line := slices.Clone(row[1:])
		for i := range line {
			switch {
			case row[0] == 1 && i > 0:
				line[i] += line[i-1]
			case row[0] == 2:
				line[i] += above[i]
			}
		}
		plain = append(plain, line...)
		above = line
	}
	return plain, nil
}
