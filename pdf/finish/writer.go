package finish

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// notText is the line after the header that marks the file as binary for file transfer programs (7.5.2).
const notText = "\n%\xe2\xe3\xcf\xd3\n"

// writer writes a PDF object by object.
type writer struct {
	out     *bufio.Writer
	offset  int64
	offsets []int64             // of the objects, by number; 0 if not written
	seal    func([]byte) []byte // encrypts strings and streams; nil if the PDF is not encrypted
	buffer  []byte
}

func newWriter(out io.Writer, header string) (*writer, error) {
	w := &writer{out: bufio.NewWriterSize(out, 64<<10), offsets: make([]int64, 1)}
	err := w.write([]byte(header + notText))
	return w, err
}

func (w *writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.offset += int64(n)
	return err
}

// reserve returns the number for an object that is written later.
func (w *writer) reserve() int {
	w.offsets = append(w.offsets, 0)
	return len(w.offsets) - 1
}

// encrypt encrypts everything that is written after it, and returns a reference to the encryption dictionary.
func (w *writer) encrypt(keys *keys) (ref, error) {
	at, err := w.add(keys.dict()) // written before seal is set: its strings are not encrypted
	w.seal = keys.seal
	return at, err
}

// put writes an object with a number.
func (w *writer) put(n int, o object) error {
	w.offsets[n] = w.offset
	b := strconv.AppendInt(w.buffer[:0], int64(n), 10)
	b = append(b, " 0 obj\n"...)
	b = appendObject(b, o, w.seal)
	b = append(b, "\nendobj\n"...)
	w.buffer = b
	if cap(b) > 1<<20 {
		w.buffer = nil
	}
	return w.write(b)
}

// add writes an object with the next number.
func (w *writer) add(o object) (ref, error) {
	n := w.reserve()
	return ref{n, 0}, w.put(n, o)
}

// finish writes the cross-reference table and the trailer.
func (w *writer) finish(trailer dict) error {
	begin := w.offset
	b := fmt.Appendf(nil, "xref\n0 %d\n0000000000 65535 f \n", len(w.offsets))
	for _, offset := range w.offsets[1:] {
		if offset == 0 {
			b = append(b, "0000000000 00000 f \n"...)
			continue
		}
		b = fmt.Appendf(b, "%010d 00000 n \n", offset)
		if len(b) > 64<<10 {
			if err := w.write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	b = append(b, "trailer\n"...)
	b = appendObject(b, trailer.with("Size", integerOf(len(w.offsets))), nil)
	b = fmt.Appendf(b, "\nstartxref\n%d\n%%%%EOF\n", begin)
	if err := w.write(b); err != nil {
		return err
	}
	return w.out.Flush()
}
