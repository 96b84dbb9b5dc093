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

// File is a file to be attached.
type File struct {
	Name         string // of any language; no two files of a PDF have the same
	MIMEType     string // such as application/json
	Description  string // may be empty
	Modified     time.Time
	Relationship Relationship
	Content      []byte
}

// Relationship is what a file is to the document that it is attached to (ISO 19005-3, annex E).
type Relationship string

// Those that documents made of data have use for.
const (
	Data        Relationship = "Data"        // what the document shows, for a program to read
	Source      Relationship = "Source"      // what the document was made from
	Alternative Relationship = "Alternative" // the same in another form, such as an invoice in XML
	Supplement  Relationship = "Supplement"
	Unspecified Relationship = "Unspecified"
)

// Limits in characters. A string of a PDF/A may have 32,767 bytes, and a name 127 (ISO 19005-3, 6.1.13).
const (
	maxName        = 255
	maxDescription = 4096
	maxType        = 127
)

// mimeType is a type as PDF/A knows them: two words, and no parameters.
var mimeType = regexp.MustCompile(`^[-\w+.]+/[-\w+.]+$`)

// Attach returns a PDF with files attached to it as a whole, as PDF/A-3 asks (ISO 19005-3, 6.8). The other parts do not
// allow it: ErrArchive. The PDF itself is kept, byte for byte, and what is new stands behind it (an incremental update, ISO 32000-1,
// 7.5.6): so all that made it conform still does.
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
		return errors.New("its name or description is not text")
	case file.Name == "" || utf8.RuneCountInString(file.Name) > maxName || strings.ContainsFunc(file.Name, letter):
		return errors.New("its name must have 1 to 255 characters, and no slashes")
	case utf8.RuneCountInString(file.Description) > maxDescription:
		return errors.New("its description must have 4096 characters at most")
	case len(file.MIMEType) > maxType || !mimeType.MatchString(file.MIMEType):
		return errors.New("its type must be one of MIME, such as text/xml, without parameters")
	case file.Modified.IsZero():
		return errors.New("it must say when it was modified")
	case !slices.Contains([]Relationship{Data, Source, Alternative, Supplement, Unspecified}, file.Relationship):
		return errors.New("its relationship must be Data, Source, Alternative, Supplement or Unspecified")
	}
	return nil
}

// attach adds the files, and writes the catalog anew with their names.
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

// embedded returns the names of a catalog, and of them the files that are attached already.
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
		return nil, nil, broken("it has more files attached than a list holds")
	}
	for pair := range slices.Chunk(list, 2) {
		key, ok := pair[0].(str)
		if !ok {
			return nil, nil, broken("a file attached to it has no name")
		}
		pairs = append(pairs, namedFile{key, pair[1]})
	}
	return names, pairs, nil
}

// nameTree returns a name tree of one node (ISO 32000-1, 7.9.6): sorted by the bytes of the names.
func nameTree(pairs []namedFile) (dict, error) {
	slices.SortFunc(pairs, func(a, b namedFile) int { return cmp.Compare(a.name, b.name) })
	list := make(array, 0, 2*len(pairs))
	for i, pair := range pairs {
		if i > 0 && pair.name == pairs[i-1].name {
			return nil, errors.New("two files to be attached have the same name")
		}
		list = append(list, pair.name, pair.file)
	}
	return dict{{"Names", list}}, nil
}

// addFile adds a file and its specification (7.11.3 and 7.11.4), and returns where that is.
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

// plainName is a name for readers that know no Unicode.
func plainName(s string) str {
	return str(strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '_'
		}
		return c
	}, s))
}

// nameOf writes any ASCII text as a name (7.3.5).
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
		panic(err) // a buffer takes all
	}
	return b.Bytes()
}
