package finish

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/cipher"
	"crypto/sha256"
	"io"
)

// Limits on the cost of reading a file. Objects are read several times, each time from the file. The limits reject
// files with overlapping objects, which would take more work than their size suggests.
const (
	maxRereading = 8
	maxExpansion = 16        // decoded size of object streams and cross-reference streams, in multiples of the file size
	maxDecoded   = 256 << 20 // … and in bytes
	maxNesting   = 4         // of objects that are needed to read another, such as its length and the stream that contains it
)

// file is a PDF that is being read.
type file struct {
	data    []byte
	places  []place // of the objects, by number
	trailer dict
	start   int  // offset of the newest cross-reference section
	table   bool // whether it is a table, not a stream

	work    int // bytes that may still be read
	decoded int // bytes that may still be decoded
	nesting int
	packs   map[int]*pack

	key    cipher.Block // file encryption key; nil if the file is not encrypted
	sealed ref          // the encryption dictionary, which is not encrypted itself
}

// pack is a decoded object stream (7.5.7).
type pack struct {
	data    []byte
	numbers []int
	offsets []int
}

// open reads the cross-reference table of a PDF that is not encrypted.
func open(data []byte) (*file, error) {
	f, err := openAny(data)
	if err == nil && f.trailer.get("Encrypt") != nil {
		return nil, broken("it is encrypted")
	}
	return f, err
}

func openAny(data []byte) (*file, error) {
	if len(data) > MaxSize {
		return nil, broken("it is too large")
	}
	if !bytes.HasPrefix(data, []byte("%PDF-1.")) && !bytes.HasPrefix(data, []byte("%PDF-2.")) {
		return nil, broken("it does not start with a PDF header")
	}
	f := &file{data: data, packs: map[int]*pack{}}
	f.work = maxRereading*len(data) + 1<<10
	f.decoded = min(maxExpansion*len(data)+1<<20, maxDecoded)
	if err := f.readSections(); err != nil {
		return nil, err
	}
	return f, nil
}

// root returns the reference to the catalog, the root of all objects of the document.
func (f *file) root() (ref, error) {
	root, ok := f.trailer.get("Root").(ref)
	if !ok {
		return ref{}, broken("it has no catalog")
	}
	return root, nil
}

func (f *file) catalog() (dict, error) {
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	return f.dict(root)
}

// id returns the first half of the file identifier (14.4), which never changes, or "" if there is none.
func (f *file) id() str {
	id, _ := f.trailer.get("ID").(array)
	if len(id) != 2 {
		return ""
	}
	first, _ := id[0].(str)
	return first
}

// newID returns the identifier (14.4) of a PDF with this content. first is the first half of its predecessor's
// identifier, if any.
func newID(first str, content []byte) array {
	sum := sha256.Sum256(content)
	second := str(sum[:16])
	return array{cmp.Or(first, second), second}
}

// resolve returns the object that a reference points to, and any other object unchanged.
func (f *file) resolve(o object) (object, error) {
	r, ok := o.(ref)
	if !ok {
		return o, nil
	}
	o, err := f.load(r)
	if err != nil {
		return nil, err
	}
	if _, ok := o.(ref); ok {
		return nil, broken("an object is only a reference")
	}
	return o, nil
}

// dict returns a dictionary, given directly or by reference.
func (f *file) dict(o object) (dict, error) {
	o, err := f.resolve(o)
	if err != nil {
		return nil, err
	}
	d, ok := o.(dict)
	if !ok {
		return nil, broken("an object is not a dictionary")
	}
	return d, nil
}

// array returns an array, given directly or by reference. For null, it is empty.
func (f *file) array(o object) (array, error) {
	o, err := f.resolve(o)
	if err != nil || o == nil {
		return nil, err
	}
	a, ok := o.(array)
	if !ok {
		return nil, broken("an object is not an array")
	}
	return a, nil
}

// load reads an object. A missing object is null (7.3.10).
func (f *file) load(r ref) (object, error) {
	if !f.has(r) {
		return nil, nil
	}
	f.nesting++
	defer func() { f.nesting-- }()
	if f.nesting > maxNesting {
		return nil, broken("objects depend on each other")
	}
	p := f.places[r.number]
	if p.kind == packed {
		return f.unpack(p, r.number)
	}
	o, err := f.read(int(p.first), r)
	if err != nil || f.key == nil || r == f.sealed {
		return o, err
	}
	return f.unseal(o)
}

// has reports whether an object exists.
func (f *file) has(r ref) bool {
	if r.number <= 0 || r.number >= len(f.places) {
		return false
	}
	p := f.places[r.number]
	return p.kind == packed && r.generation == 0 || p.kind == plain && int(p.second) == r.generation
}

// spend charges the budget for reading the given number of bytes.
func (f *file) spend(bytes int) error {
	if f.work -= bytes; f.work < 0 {
		return broken("its objects overlap")
	}
	return nil
}

// read reads the object at an offset, such as 12 0 obj … endobj.
func (f *file) read(offset int, want ref) (object, error) {
	if offset >= len(f.data) {
		return nil, broken("an object is after the end of the file")
	}
	p := &parser{data: f.data, at: offset}
	n, ok1 := p.natural()
	generation, ok2 := p.natural()
	if !ok1 || !ok2 || !p.accept("obj") || (ref{n, generation}) != want {
		return nil, broken("an object is not at its offset")
	}
	o, err := p.object(0)
	if err != nil {
		return nil, err
	}
	if d, ok := o.(dict); ok && p.accept("stream") {
		return f.readStream(p, d, offset)
	}
	if !p.accept("endobj") {
		return nil, broken("an object has no end")
	}
	return o, f.spend(p.at - offset)
}

func (f *file) readStream(p *parser, d dict, offset int) (object, error) {
	if p.peek(0) == '\r' {
		p.at++
	}
	if p.peek(0) != '\n' {
		return nil, broken("a stream has no start")
	}
	p.at++
	o, err := f.resolve(d.get("Length"))
	if err != nil {
		return nil, err
	}
	length, ok := integer(o)
	if !ok || length < 0 || length > len(f.data)-p.at {
		return nil, broken("a stream has no valid length")
	}
	raw := f.data[p.at : p.at+length]
	p.at += length
	if !p.accept("endstream") || !p.accept("endobj") {
		return nil, broken("a stream has no end")
	}
	return stream{d, raw}, f.spend(p.at - offset)
}

// unpack reads an object from an object stream.
func (f *file) unpack(at place, want int) (object, error) {
	holder := int(at.first)
	held, ok := f.packs[holder]
	if !ok {
		var err error
		if held, err = f.readPack(holder); err != nil {
			return nil, err
		}
		f.packs[holder] = held
	}
	i := int(at.second)
	if i >= len(held.numbers) || held.numbers[i] != want {
		return nil, broken("an object is not in its object stream")
	}
	p := &parser{data: held.data, at: held.offsets[i]}
	o, err := p.object(0)
	if err != nil {
		return nil, err
	}
	return o, f.spend(p.at - held.offsets[i])
}

func (f *file) readPack(holder int) (*pack, error) {
	if holder >= len(f.places) || f.places[holder].kind != plain {
		return nil, broken("an object stream is missing")
	}
	o, err := f.load(ref{holder, int(f.places[holder].second)})
	if err != nil {
		return nil, err
	}
	s, ok := o.(stream)
	count, ok1 := integer(s.dict.get("N"))
	first, ok2 := integer(s.dict.get("First"))
	if !ok || !ok1 || !ok2 || s.dict.get("Type") != name("ObjStm") {
		return nil, broken("an object stream is invalid")
	}
	data, err := f.decode(s)
	if err != nil {
		return nil, err
	}
	held := &pack{data: data}
	for p := (&parser{data: data}); count > 0; count-- {
		n, ok1 := p.natural()
		offset, ok2 := p.natural()
		if !ok1 || !ok2 || first < 0 || first+offset > len(data) {
			return nil, broken("an object stream is invalid")
		}
		held.numbers = append(held.numbers, n)
		held.offsets = append(held.offsets, first+offset)
	}
	// Add budget for the objects in the stream, because the size of the file does not account for them.
	f.work += maxRereading * len(data)
	return held, nil
}

// decode returns the content of a stream. It supports the encodings that are used for object streams.
func (f *file) decode(s stream) ([]byte, error) {
	filter, err := f.single(s.dict.get("Filter"))
	if err != nil {
		return nil, err
	}
	if filter == nil {
		return s.raw, nil
	}
	if filter != name("FlateDecode") {
		return nil, broken("a stream has an unsupported encoding")
	}
	unzip, err := zlib.NewReader(bytes.NewReader(s.raw))
	if err != nil {
		return nil, broken("a stream cannot be decoded: " + err.Error())
	}
	data, err := io.ReadAll(io.LimitReader(unzip, int64(f.decoded)+1))
	if err != nil {
		return nil, broken("a stream cannot be decoded: " + err.Error())
	}
	if f.decoded -= len(data); f.decoded < 0 {
		return nil, broken("its streams are too large")
	}
	parms, err := f.single(s.dict.get("DecodeParms"))
	if err != nil {
		return nil, err
	}
	if d, ok := parms.(dict); ok {
		return unpredict(data, d)
	}
	return data, nil
}

// single returns an object that may be wrapped in an array of one element.
func (f *file) single(o object) (object, error) {
	o, err := f.resolve(o)
	if a, ok := o.(array); err == nil && ok {
		if len(a) > 1 {
			return nil, broken("a stream is encoded more than once")
		}
		if len(a) == 0 {
			return nil, nil
		}
		return f.resolve(a[0])
	}
	return o, err
}
