package finish

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
)

// update is an incremental update, appended to a PDF to change it (ISO 32000-1, 7.5.6).
type update struct {
	file    *file
	b       []byte // the file, followed by the update
	next    int    // number of the next new object
	written []located
}

type located struct {
	ref
	offset int
}

func newUpdate(f *file) *update {
	u := &update{file: f, next: len(f.places)}
	if size, ok := integer(f.trailer.get("Size")); ok && size <= maxObjects {
		u.next = max(u.next, size)
	}
	u.b = append(make([]byte, 0, len(f.data)+len(f.data)/8+4096), f.data...)
	if last := f.data[len(f.data)-1]; last != '\n' && last != '\r' {
		u.b = append(u.b, '\n')
	}
	return u
}

// put writes an object. It may replace an existing one.
func (u *update) put(r ref, o object) {
	u.written = append(u.written, located{r, len(u.b)})
	u.b = fmt.Appendf(u.b, "%d %d obj\n", r.number, r.generation)
	u.b = appendObject(u.b, o, nil)
	u.b = append(u.b, "\nendobj\n"...)
}

func (u *update) add(o object) ref {
	r := ref{u.next, 0}
	u.next++
	u.put(r, o)
	return r
}

// finish writes the cross-reference section, in the same form as the file's: a table or a stream.
func (u *update) finish() []byte {
	trailer := dict{{"Prev", integerOf(u.file.start)}}
	for _, key := range []name{"Root", "Info"} {
		trailer = trailer.with(key, u.file.trailer.get(key))
	}
	trailer = trailer.with("ID", newID(u.file.id(), u.b))
	start := len(u.b)
	if u.file.table {
		u.table(trailer)
	} else {
		u.tableStream(trailer)
	}
	return fmt.Appendf(u.b, "\nstartxref\n%d\n%%%%EOF\n", start)
}

// sections returns the written objects, grouped into runs of consecutive numbers.
func (u *update) sections() [][]located {
	slices.SortFunc(u.written, func(a, b located) int { return cmp.Compare(a.number, b.number) })
	var runs [][]located
	for i, object := range u.written {
		if i == 0 || object.number != u.written[i-1].number+1 {
			runs = append(runs, nil)
		}
		last := len(runs) - 1
		runs[last] = append(runs[last], object)
	}
	return runs
}

func (u *update) table(trailer dict) {
	u.b = append(u.b, "xref\n"...)
	for _, run := range u.sections() {
		u.b = fmt.Appendf(u.b, "%d %d\n", run[0].number, len(run))
		for _, object := range run {
			u.b = fmt.Appendf(u.b, "%010d %05d n \n", object.offset, object.generation)
		}
	}
	u.b = append(u.b, "trailer\n"...)
	u.b = appendObject(u.b, trailer.with("Size", integerOf(u.next)), nil)
}

func (u *update) tableStream(trailer dict) {
	self := ref{u.next, 0}
	u.next++
	u.written = append(u.written, located{self, len(u.b)})
	var index array
	var fields []byte
	for _, run := range u.sections() {
		index = append(index, integerOf(run[0].number), integerOf(len(run)))
		for _, object := range run {
			fields = append(fields, 1)
			fields = binary.BigEndian.AppendUint64(fields, uint64(object.offset))
			fields = binary.BigEndian.AppendUint16(fields, uint16(object.generation))
		}
	}
	d := append(dict{{"Type", name("XRef")}, {"W", array{number("1"), number("8"), number("2")}}, {"Index", index}}, trailer...)
	u.b = append(strconv.AppendInt(u.b, int64(self.number), 10), " 0 obj\n"...)
	u.b = appendObject(u.b, stream{d.with("Size", integerOf(u.next)), fields}, nil)
	u.b = append(u.b, "\nendobj"...)
}
