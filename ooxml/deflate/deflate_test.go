package deflate_test

import (
	"bytes"
	stdflate "compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"

	"platen/ooxml/deflate"
)

// stream writes a stream and keeps what it should unpack to.
type stream struct {
	t     testing.TB
	w     *deflate.Writer
	plan  *deflate.Plan
	texts map[int]string
	out   bytes.Buffer
	want  bytes.Buffer
}

func newStream(t testing.TB, s *deflate.Sketch, texts map[int]string) *stream {
	st := &stream{t: t, plan: deflate.NewPlan(s), texts: texts}
	st.w = deflate.NewWriter(&st.out, st.plan)
	return st
}

func (s *stream) piece(number int) { s.prefix(number, len(s.texts[number])) }

func (s *stream) prefix(number, n int) {
	s.w.Piece(number, n)
	s.want.WriteString(s.texts[number][:n])
}

func (s *stream) fresh(text string) {
	s.w.Fresh([]byte(text))
	s.want.WriteString(text)
}

// end closes the stream and compares what two readers make of it, and its sums.
func (s *stream) end() {
	s.t.Helper()
	if err := s.w.Close(); err != nil {
		s.t.Fatal(err)
	}
	sum, size, packed := s.w.Sums()
	s.w.Free()
	if sum != crc32.ChecksumIEEE(s.want.Bytes()) || size != int64(s.want.Len()) || packed != int64(s.out.Len()) {
		s.t.Errorf("sums are %08x, %d, %d, want %08x, %d, %d", sum, size, packed, crc32.ChecksumIEEE(s.want.Bytes()), s.want.Len(), s.out.Len())
	}
	for name, open := range map[string]func(io.Reader) io.ReadCloser{"compress/flate": stdflate.NewReader, "klauspost": flate.NewReader} {
		rest := bytes.NewReader(s.out.Bytes())
		got, err := io.ReadAll(open(rest))
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(got, s.want.Bytes()) {
			s.t.Fatalf("%s unpacks other bytes than were written", name)
		}
		if rest.Len() > 0 {
			s.t.Errorf("%s leaves %d bytes behind the end", name, rest.Len())
		}
	}
}

// rowTexts are the pieces of a table of two columns.
var rowTexts = map[int]string{
	0: `<w:document><w:body><w:p><w:r><w:rPr><w:lang w:val="en-GB"/></w:rPr><w:t>`,
	2: `</w:t></w:r></w:p><w:tbl>`,
	3: `<w:tr><w:tc><w:p><w:r><w:rPr><w:lang w:val="en-GB"/></w:rPr><w:t>` + strings.Repeat("long ", 200),
	5: `</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:rPr><w:lang w:val="en-GB"/></w:rPr><w:t>`,
	7: `</w:t></w:r></w:p></w:tc></w:tr>`,
	8: `</w:tbl></w:body></w:document>`,
}

func rowSketch() *deflate.Sketch {
	s := new(deflate.Sketch)
	s.Piece([]byte(rowTexts[0]))
	s.Fresh()
	s.Piece([]byte(rowTexts[2]))
	s.Enter(true)
	s.Piece([]byte(rowTexts[3]))
	s.Fresh()
	s.Piece([]byte(rowTexts[5]))
	s.Fresh()
	s.Piece([]byte(rowTexts[7]))
	s.Leave()
	s.Piece([]byte(rowTexts[8]))
	return s
}

func TestRows(t *testing.T) {
	for _, value := range []string{"", "x", "same", "Zoë Müller", strings.Repeat("a long value, ", 5000)} {
		s := newStream(t, rowSketch(), rowTexts)
		s.piece(0)
		s.fresh(value)
		s.piece(2)
		for i := range 200 {
			s.piece(3)
			s.fresh(value)
			s.fresh(strings.Repeat("i", i%5))
			s.piece(5)
			s.fresh(value)
			if i%17 == 0 {
				s.prefix(7, 10)
			} else {
				s.piece(7)
			}
		}
		s.piece(8)
		s.end()
	}
}

func TestRowsTakeLittleSpace(t *testing.T) {
	s := newStream(t, rowSketch(), rowTexts)
	s.piece(0)
	s.piece(2)
	const rows = 1000
	for range rows {
		s.piece(3)
		s.fresh("same")
		s.piece(5)
		s.fresh("same")
		s.piece(7)
	}
	s.piece(8)
	s.end()
	if perRow := s.out.Len() / rows; perRow > 12 {
		t.Errorf("a row that repeats the one before takes %d bytes", perRow)
	}
}

func TestNothing(t *testing.T) {
	newStream(t, new(deflate.Sketch), nil).end()
}

func TestEveryByte(t *testing.T) {
	all := make([]byte, 0, 256*256)
	for i := range cap(all) {
		all = append(all, byte(i*(i>>8)+i))
	}
	s := newStream(t, new(deflate.Sketch), nil)
	s.fresh(string(all))
	s.end()
}

func TestGzipReadsIt(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not there")
	}
	s := newStream(t, rowSketch(), rowTexts)
	for range 500 {
		s.piece(3)
		s.fresh("value")
		s.piece(5)
	}
	s.end()
	cmd := exec.Command(python, "-c", `import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read(), -15))`)
	cmd.Stdin = &s.out
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, s.want.Bytes()) {
		t.Error("zlib unpacks other bytes than were written")
	}
}

var errFull = errors.New("full")

// fullDisk takes some bytes and then fails.
type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room -= len(b); d.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestFailureOfTheWriterUnderneath(t *testing.T) {
	w := deflate.NewWriter(&fullDisk{room: 100}, deflate.NewPlan(rowSketch()))
	if err := w.Err(); err != nil {
		t.Fatalf("there was room: %v", err)
	}
	for i := range 100_000 {
		w.Piece(3, len(rowTexts[3]))
		w.Fresh([]byte(strconv.Itoa(i)))
	}
	if err := w.Err(); !errors.Is(err, errFull) {
		t.Errorf("Err = %v", err)
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close = %v", err)
	}
}

// FuzzStream makes pieces and a sequence of them and of fresh bytes out of random numbers.
func FuzzStream(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, []byte("<w:p><w:t>words that come again, words that come again</w:t></w:p>\x00\xff"))
	}
	f.Fuzz(func(t *testing.T, seed uint64, alphabet []byte) {
		if len(alphabet) == 0 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		text := func(limit int) string {
			b := make([]byte, r.IntN(1<<r.IntN(limit)))
			for i := 0; i < len(b); {
				from := r.IntN(len(alphabet))
				i += copy(b[i:], alphabet[from:from+r.IntN(len(alphabet)-from)+1])
			}
			return string(b)
		}
		sketch, texts := new(deflate.Sketch), map[int]string{}
		var numbers []int
		depth := 0
		for range r.IntN(30) {
			switch r.IntN(6) {
			case 0:
				sketch.Fresh()
			case 1:
				sketch.Enter(r.IntN(2) == 0)
				depth++
			case 2:
				if depth > 0 {
					sketch.Leave()
					depth--
				}
			default:
				piece := text(13)
				n := sketch.Piece([]byte(piece))
				texts[n] = piece
				numbers = append(numbers, n)
			}
		}
		s := newStream(t, sketch, texts)
		for range r.IntN(200) {
			switch n := r.IntN(8); {
			case n < 2 || len(numbers) == 0:
				s.fresh(text(10))
			case n == 2:
				number := numbers[r.IntN(len(numbers))]
				s.prefix(number, r.IntN(len(texts[number])+1))
			default:
				s.piece(numbers[r.IntN(len(numbers))])
			}
		}
		s.end()
	})
}

// Long values are compressed wherever they stand: between equal and between other pieces, in one piece or several, and whatever was
// written before by the same writer.
func TestLongValues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("one two three four five six seven eight nine ten eleven twelve")
	value := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			switch r.IntN(8) {
			case 0:
				b.WriteString(strings.Repeat(words[r.IntN(len(words))], r.IntN(300)))
			case 1:
				b.WriteByte(byte(r.Uint32()))
			default:
				b.WriteString(words[r.IntN(len(words))] + " ")
			}
		}
		return b.String()
	}
	for range 30 {
		s := newStream(t, rowSketch(), rowTexts)
		s.piece(0)
		kept := value(1 + r.IntN(50_000))
		for range r.IntN(20) {
			s.piece(3)
			switch r.IntN(4) {
			case 0:
				s.fresh(kept)
			case 1:
				s.fresh(value(r.IntN(100_000)))
			case 2:
				s.fresh(kept[:r.IntN(len(kept))])
				s.fresh(value(r.IntN(2000)))
			default:
				s.fresh(value(r.IntN(40)))
				s.piece(5)
			}
		}
		s.end()
	}
}

// A value that repeats itself, and one that comes again within the 32 KiB that a copy reaches, become small.
func TestRepetitionBecomesSmall(t *testing.T) {
	noise := make([]byte, 5000)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range noise {
		noise[i] = "abcdefghijklmnopqrstuvwxyz"[r.IntN(26)]
	}
	for name, c := range map[string]struct {
		value string
		times int
	}{
		"in itself":    {strings.Repeat(`1, 2, 3, `, 100_000), 3},
		"of the last":  {string(noise) + "x", 300},
		"of one byte":  {strings.Repeat("a", 1_000_000), 2},
		"as much text": {strings.Repeat("the quick brown fox jumps over the lazy dog ", 20_000), 2},
	} {
		s := newStream(t, rowSketch(), rowTexts)
		s.piece(0)
		for i := range c.times {
			s.fresh(c.value)
			s.fresh(strconv.Itoa(i))
		}
		s.end()
		if got, most := s.out.Len(), s.want.Len()/25+20_000; got > most {
			t.Errorf("%s: %d bytes become %d, want %d at most", name, s.want.Len(), got, most)
		}
	}
}

// BenchmarkLongValues writes prose as values.
func BenchmarkLongValues(b *testing.B) {
	value := []byte(strings.Join(prose(20), ""))
	plan := deflate.NewPlan(rowSketch())
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		w := deflate.NewWriter(io.Discard, plan)
		w.Fresh(value)
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		w.Free()
	}
}
