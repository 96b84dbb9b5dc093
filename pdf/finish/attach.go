package finish

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/md5"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// File is a file to attach.
type File struct {
	Name         string // in any language; unique within a PDF
	MIMEType     string // such as application/json
	Description  string // may be empty
	Modified     time.Time
	Relationship Relationship
	Content      []byte
}

// Relationship is the relationship of a file to the document that it is attached to (ISO 19005-3, annex E).
type Relationship string

// Relationships that are useful for generated documents.
const (
	Data        Relationship = "Data"        // the data shown in the document, machine-readable
	Source      Relationship = "Source"      // what the document was generated from
	Alternative Relationship = "Alternative" // the same content in another form, such as an XML invoice
	Supplement  Relationship = "Supplement"
	Unspecified Relationship = "Unspecified"
)

// Limits in characters. PDF/A limits strings to 32,767 bytes and names to 127 (ISO 19005-3, 6.1.13).
const (
	maxName        = 255
	maxDescription = 4096
	maxType        = 127
)

// mimeType matches a MIME type as PDF/A allows it: a type and a subtype, without parameters.
var mimeType = regexp.MustCompile(`^[-\w+.]+/[-\w+.]+$`)

// Attach returns a PDF with files attached to the whole document, as PDF/A-3 requires (ISO 19005-3, 6.8). For other
// parts of PDF/A, which do not allow it, the error is an ErrArchive. The original bytes stay unchanged, so they still
// conform; Attach appends an incremental update (ISO 32000-1, 7.5.6).
func Attach(pdf []byte, files []File) ([]byte, error) {
	for _, file := range files {
		if err := file.validate(); err != nil {
			return nil, fmt.Errorf("attachment %q: %w", file.Name, err)
		}
	}
	f, err := open(pdf)
	if err != nil || len(files) == 0 {
		return pdf, err
	}
	if err := f.allow("an attached file", "3"); err != nil {
		return nil, err
	}
	u := newUpdate(f)
	if err := u.attach(files); err != nil {
		return nil, err
	}
	return u.finish(), nil
}

func (file File) validate() error {
	letter := func(c rune) bool { return unicode.IsControl(c) || c == '/' || c == '\\' }
	switch {
	case !utf8.ValidString(file.Name) || !utf8.ValidString(file.Description):
		return errors.New("its name or description is not valid UTF-8")
	case file.Name == "" || utf8.RuneCountInString(file.Name) > maxName || strings.ContainsFunc(file.Name, letter):
		return errors.New("its name must have 1 to 255 characters, without slashes or control characters")
	case utf8.RuneCountInString(file.Description) > maxDescription:
		return errors.New("its description must have at most 4096 characters")
	case len(file.MIMEType) > maxType || !mimeType.MatchString(file.MIMEType):
		return errors.New("its type must be a MIME type without parameters, such as text/xml")
	case file.Modified.IsZero():
		return errors.New("its modification time is missing")
	case !slices.Contains([]Relationship{Data, Source, Alternative, Supplement, Unspecified}, file.Relationship):
		return errors.New("its relationship must be Data, Source, Alternative, Supplement, or Unspecified")
	}
	return nil
}

// attach adds the files, and writes a new catalog with their names.
func (u *update) attach(files []File) error {
	root, err := u.file.root()
	if err != nil {
		return err
	}
	catalog, err := u.file.catalog()
	if err != nil {
		return err
	}
	associated, err := u.file.array(catalog.get("AF"))
	if err != nil {
		return err
	}
	names, pairs, err := u.embedded(catalog)
	if err != nil {
		return err
	}
	for _, file := range files {
		specification := u.addFile(file)
		associated = append(associated, specification)
		pairs = append(pairs, namedFile{text(file.Name), specification})
	}
	tree, err := nameTree(pairs)
	if err != nil {
		return err
	}
	u.put(root, catalog.with("AF", associated).with("Names", names.with("EmbeddedFiles", tree)))
	return nil
}

// namedFile is an entry of the name tree of embedded files.
type namedFile struct {
	name str
	file object
}

// embedded returns the name dictionary of a catalog, and its entries for files that are already attached.
func (u *update) embedded(catalog dict) (names dict, pairs []namedFile, err error) {
	if catalog.get("Names") == nil {
		return nil, nil, nil
	}
	if names, err = u.file.dict(catalog.get("Names")); err != nil || names.get("EmbeddedFiles") == nil {
		return names, nil, err
	}
	tree, err := u.file.dict(names.get("EmbeddedFiles"))
	if err != nil {
		return nil, nil, err
	}
	list, err := u.file.array(tree.get("Names"))
	if err != nil {
		return nil, nil, err
	}
	if tree.get("Kids") != nil || len(list)%2 != 0 {
		return nil, nil, broken("its attached files are not in a single list")
	}
	for pair := range slices.Chunk(list, 2) {
		key, ok := pair[0].(str)
		if !ok {
			return nil, nil, broken("an attached file has no name")
		}
		pairs = append(pairs, namedFile{key, pair[1]})
	}
	return names, pairs, nil
}

// nameTree returns a name tree of one node (ISO 32000-1, 7.9.6), sorted by the bytes of the names.
func nameTree(pairs []namedFile) (dict, error) {
	slices.SortFunc(pairs, func(a, b namedFile) int { return cmp.Compare(a.name, b.name) })
	list := make(array, 0, 2*len(pairs))
	for i, pair := range pairs {
		if i > 0 && pair.name == pairs[i-1].name {
			return nil, errors.New("two attached files have the same name")
		}
		list = append(list, pair.name, pair.file)
	}
	return dict{{"Names", list}}, nil
}

// addFile adds a file and its file specification (7.11.3 and 7.11.4), and returns a reference to the latter.
func (u *update) addFile(file File) ref {
	sum := md5.Sum(file.Content)
	content := stream{dict: dict{
		{"Type", name("EmbeddedFile")},
		{"Subtype", nameOf(strings.ToLower(file.MIMEType))},
		{"Filter", name("FlateDecode")},
		{"Params", dict{
			{"Size", integerOf(len(file.Content))},
			{"ModDate", str(file.Modified.UTC().Format("D:20060102150405Z"))},
			{"CheckSum", str(sum[:])},
		}},
	}, raw: deflate(file.Content)}
	embedded := u.add(content)
	specification := dict{
		{"Type", name("Filespec")},
		{"F", plainName(file.Name)},
		{"UF", text(file.Name)},
		{"AFRelationship", name(file.Relationship)},
		{"EF", dict{{"F", embedded}, {"UF", embedded}}},
	}
	if file.Description != "" {
		specification = specification.with("Desc", text(file.Description))
	}
	return u.add(specification)
}

// plainName returns an ASCII name, for readers without Unicode support.
func plainName(s string) str {
	return str(strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '_'
		}
		return c
	}, s))
}

// nameOf encodes any ASCII text as a name (7.3.5).
func nameOf(s string) name {
	var n []byte
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || c == '#' || delimiter(c) {
			n = fmt.Appendf(n, "#%02X", c)
			continue
		}
		n = append(n, c)
	}
	return name(n)
}

func deflate(content []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write(content)
	if err = errors.Join(err, z.Close()); err != nil {
		panic(err) // writing to a buffer does not fail
	}
	return b.Bytes()
}
