// Package ooxml reads and writes Open Packaging Conventions containers (ISO/IEC 29500-2): zip files such as .docx,
// with parts, content types, and relationships. It treats every file as hostile: Open reads each part once, and
// accepts only valid files within its limits.
package ooxml

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
)

// Package is an opened container. It is safe for many readers at once, as long as the reader it was opened on is.
type Package struct {
	parts  []*Part
	byName map[string]*Part // key: folded name
	types  contentTypes
	lim    Limits
	strict bool   // relationships are of the strict form
	relID  string // what no id of a relationship begins with

	relsMu sync.Mutex
	rels   map[*Part][]Relationship // that were read, by the part that holds them
}

// Part is one part of a package.
type Part struct {
	Name        string // absolute, as in "/word/document.xml"
	ContentType string // "" when the package declares none
	Size        int64  // unpacked, in bytes
	file        *zip.File
	packed      []byte                 // compressed content; nil if file reads it
	text        atomic.Pointer[[]byte] // unpacked, until Forget; nil: file reads it
}

const (
	// maxText is the largest size of a part that is kept in decompressed form after its check until Forget, and maxTexts the largest total
	// size of such parts.
	maxText, maxTexts = 8 << 20, 32 << 20
)

// ContentTypesName is the zip entry with the content types of the parts, which is not a part itself (ISO 29500-2 §7.3.7).
const ContentTypesName = "/[Content_Types].xml"

// Open reads the container's directory, checks every entry against lim and by its checksum, and reads the content
// types. Every error about the file itself is an *Error.
func Open(r io.ReaderAt, size int64, lim Limits) (*Package, error) {
	p, err := openDirectory(r, size, lim)
	if err != nil {
		return nil, err
	}
	if err := p.verify(); err != nil {
		return nil, err
	}
	if err := p.readDirectory(); err != nil {
		return nil, err
	}
	return p, nil
}

// Peek is Open without reading the parts. A wrong checksum is found when the part is read. Peek is for reading a few parts of a document
// that has been checked, or is not used otherwise.
func Peek(r io.ReaderAt, size int64, lim Limits) (*Package, error) {
	p, err := openDirectory(r, size, lim)
	if err != nil {
		return nil, err
	}
	if err := p.checkSizes(); err != nil {
		return nil, err
	}
	if err := p.readDirectory(); err != nil {
		return nil, err
	}
	return p, nil
}

// openDirectory reads the directory of a container.
func openDirectory(r io.ReaderAt, size int64, lim Limits) (*Package, error) {
	lim = lim.withDefaults()
	if err := checkSignature(r, size, lim); err != nil {
		return nil, err
	}
	zr, err := openZip(r, size, lim)
	if err != nil {
		return nil, err
	}
	p := &Package{byName: make(map[string]*Part, len(zr.File)), lim: lim}
	for _, f := range zr.File {
		if err := p.add(f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// readDirectory reads the content types and relationships.
func (p *Package) readDirectory() error {
	if err := p.readContentTypes(); err != nil {
		return err
	}
	return p.surveyRels()
}

// OpenBytes is Open for a file that is in memory. It must not change while the package is in use.
func OpenBytes(file []byte, lim Limits) (*Package, error) {
	p, err := Open(bytes.NewReader(file), int64(len(file)), lim)
	if err != nil {
		return nil, err
	}
	for _, part := range p.parts {
		offset, err := part.file.DataOffset()
		end := offset + int64(part.file.CompressedSize64)
		if err != nil || end > int64(len(file)) { // not possible, as the part has been read
			return nil, &Error{Code: CodeDamaged, Part: part.Name, Message: "the part is damaged", Remedy: remedySaveAgain, Err: err}
		}
		part.packed = file[offset:end]
	}
	return p, nil
}

// checkSignature distinguishes files of other formats, which people upload by mistake, from broken ones.
func checkSignature(r io.ReaderAt, size int64, lim Limits) error {
	if size <= 0 {
		return &Error{Code: CodeEmpty, Message: "the file is empty", Remedy: remedySaveAgain}
	}
	if size > lim.PackageBytes {
		return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the file has %d bytes, more than the %d allowed", size, lim.PackageBytes),
			Remedy: remedySmaller}
	}
	var head [8]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read package: %w", err)
	}
	switch {
	case bytes.HasPrefix(head[:n], []byte(compoundSignature)):
		return compoundError(r)
	case !bytes.HasPrefix(head[:n], []byte("PK")):
		return strangerError(r)
	}
	return nil
}

// openZip bounds the bytes that the zip reader reads for the directory, so that a directory with millions of entries is rejected before it
// fills the memory.
func openZip(r io.ReaderAt, size int64, lim Limits) (*zip.Reader, error) {
	const perEntry, trailer = 512, 256 << 10
	budget := &budgetReader{r: r, left: int64(lim.Entries)*perEntry + trailer}
	zr, err := zip.NewReader(budget, size)
	if budget.spent || err == nil && len(zr.File) > lim.Entries {
		return nil, &Error{Code: CodeTooMany, Message: fmt.Sprintf("the file has more than the %d parts allowed", lim.Entries),
			Remedy: remedySmaller}
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are judged in add, whatever GODEBUG says
		return nil, &Error{Code: CodeNotZip, Message: "the file is incomplete or damaged: it has no directory that can be read",
			Remedy: remedySaveAgain, Err: err}
	}
	budget.left = 1<<63 - 1
	zr.RegisterDecompressor(zip.Deflate, newInflater)
	return zr, nil
}

// inflaters keeps what unpacks entries, about 45 kB each.
var inflaters sync.Pool

// inflater unpacks one entry after the other.
type inflater struct {
	packed *bufio.Reader
	flate  io.ReadCloser
}

// entry is an entry that is unpacked by an inflater; nil when it is closed.
type entry struct{ *inflater }

func newInflater(r io.Reader) io.ReadCloser {
	i, ok := inflaters.Get().(*inflater)
	if ok {
		i.packed.Reset(r)
		ok = i.flate.(flate.Resetter).Reset(i.packed, nil) == nil
	}
	if !ok {
		packed := bufio.NewReader(r)
		i = &inflater{packed, flate.NewReader(packed)}
	}
	return &entry{i}
}

func (e *entry) Read(p []byte) (int, error) {
	if e.inflater == nil {
		return 0, fs.ErrClosed
	}
	return e.flate.Read(p)
}

// Close returns the inflater to the pool.
func (e *entry) Close() error {
	if e.inflater == nil {
		return nil
	}
	err := e.flate.Close()
	e.packed.Reset(nil)
	inflaters.Put(e.inflater)
	e.inflater = nil
	return err
}

// budgetReader fails when more than left bytes are read through it.
type budgetReader struct {
	r     io.ReaderAt
	left  int64
	spent bool
}

func (b *budgetReader) ReadAt(p []byte, off int64) (int, error) {
	if b.left == 1<<63-1 { // the directory is read: from here on many goroutines may read
		return b.r.ReadAt(p, off)
	}
	if b.left -= int64(len(p)); b.left < 0 {
		b.spent = true
		return 0, errors.New("zip directory too large")
	}
	return b.r.ReadAt(p, off)
}

func (p *Package) add(f *zip.File) error {
	if strings.HasSuffix(f.Name, "/") && f.UncompressedSize64 == 0 {
		return nil // a folder entry: not a part, ignored (ISO 29500-2 §7.3.4)
	}
	if err := checkName(f.Name, p.lim); err != nil {
		return err
	}
	part := &Part{Name: "/" + f.Name, Size: int64(f.UncompressedSize64), file: f}
	if f.Flags&1 != 0 {
		return &Error{Code: CodeEncrypted, Part: part.Name, Message: "the entry is encrypted", Remedy: "remove the password, or save it as .docx"}
	}
	if f.Method != zip.Store && f.Method != zip.Deflate {
		return &Error{Code: CodeDamaged, Part: part.Name, Message: fmt.Sprintf("compression method %d is not allowed in a document",
			f.Method), Remedy: remedySaveAgain}
	}
	key := fold(part.Name)
	if other := p.byName[key]; other != nil {
		return &Error{Code: CodeDuplicate, Part: part.Name, Message: "the part exists twice, also as " + other.Name, Remedy: remedySaveAgain}
	}
	p.byName[key] = part
	p.parts = append(p.parts, part)
	return nil
}

// checkName accepts what can be a part name (ISO 29500-2 §6.2.2) plus the blanks and non-ASCII letters of real files.
func checkName(name string, lim Limits) error {
	bad := func(why string) error {
		shown := name[:min(len(name), 80)]
		return &Error{Code: CodeBadName, Part: fmt.Sprintf("%q", shown), Message: "the name " + why, Remedy: remedySaveAgain}
	}
	switch {
	case len(name) > lim.NameBytes:
		return bad("is too long")
	case name == "" || name[0] == '/' || len(name) > 1 && name[1] == ':':
		return bad("is not relative")
	case strings.ContainsRune(name, '\\'):
		return bad("contains a backslash")
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return bad("has an empty or dotted segment")
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return bad("contains a control character")
	}
	return nil
}

// checkSizes checks the sizes in the directory.
func (p *Package) checkSizes() error {
	var total int64
	for _, part := range p.parts {
		size, packed := part.file.UncompressedSize64, part.file.CompressedSize64
		switch {
		case size > uint64(p.lim.PartBytes):
			return &Error{Code: CodeTooLarge, Part: part.Name, Message: fmt.Sprintf("the part unpacks to %d bytes, more than the %d allowed",
				size, p.lim.PartBytes), Remedy: remedySmaller}
		case size > ratioFloor && size/uint64(p.lim.Ratio) > packed:
			return &Error{Code: CodeBomb, Part: part.Name, Message: fmt.Sprintf("the part unpacks to more than %d times its size",
				p.lim.Ratio), Remedy: remedySaveAgain}
		}
		if total += part.Size; total > p.lim.TotalBytes {
			return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the file unpacks to more than the %d bytes allowed", p.lim.TotalBytes),
				Remedy: remedySmaller}
		}
	}
	return nil
}

// verify reads every part once, so that wrong sizes, bombs, and wrong checksums are found here and not later.
func (p *Package) verify() error {
	if err := p.checkSizes(); err != nil {
		return err
	}
	room := int64(maxTexts)
	for _, part := range p.parts {
		if part.Size > min(maxText, room) || !strings.HasSuffix(part.Name, ".xml") && !strings.HasSuffix(part.Name, ".rels") {
			if err := part.copyTo(io.Discard); err != nil {
				return err
			}
			continue
		}
		text, err := part.unpack()
		if err != nil {
			return err
		}
		room -= part.Size
		part.text.Store(&text)
	}
	return nil
}

// Forget frees the parts that are kept for reading them faster soon after Open.
func (p *Package) Forget() {
	for _, part := range p.parts {
		part.text.Store(nil)
	}
}

// unpack returns the bytes of the part.
func (part *Part) unpack() ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, part.Size+bytes.MinRead))
	if err := part.copyTo(buf); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// copyTo unpacks the part. The zip reader fails on more bytes than the directory promised and on a wrong checksum.
func (part *Part) copyTo(w io.Writer) error {
	damaged := func(err error) error {
		return &Error{Code: CodeDamaged, Part: part.Name, Message: "the part is damaged", Remedy: remedySaveAgain, Err: err}
	}
	rc, err := part.file.Open()
	if err != nil {
		return damaged(err)
	}
	defer rc.Close()
	n, err := io.Copy(w, rc)
	if err != nil {
		return damaged(err)
	}
	if n != part.Size {
		return damaged(io.ErrUnexpectedEOF)
	}
	return nil
}

// Parts returns all parts in the order they have in the file, [Content_Types].xml among them.
func (p *Package) Parts() []*Part { return p.parts }

// Part returns the part of that name, compared as ISO 29500-2 §6.2.2.3 does, without regard to ASCII case; or nil.
func (p *Package) Part(name string) *Part { return p.byName[fold(name)] }

// Read returns the bytes of a part that is within the limit for XML. They must not be changed.
func (p *Package) Read(part *Part) ([]byte, error) {
	if part.Size > p.lim.XMLBytes {
		return nil, &Error{Code: CodeTooLarge, Part: part.Name, Message: fmt.Sprintf("the part has %d bytes, more than the %d allowed",
			part.Size, p.lim.XMLBytes), Remedy: remedySmaller}
	}
	if text := part.text.Load(); text != nil {
		return *text, nil
	}
	return part.unpack()
}

// ReadXML returns a part's bytes, checked to be a well-formed UTF-8 document without a DOCTYPE.
func (p *Package) ReadXML(part *Part) ([]byte, error) {
	src, err := p.Read(part)
	if err != nil {
		return nil, err
	}
	if err := CheckXML(part.Name, src, p.lim.XMLDepth); err != nil {
		return nil, err
	}
	return src, nil
}

// fold maps a name to the form names are compared in: ASCII letters lowered, nothing else changed.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}
