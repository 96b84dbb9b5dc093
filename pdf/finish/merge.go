package finish

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Document is a PDF to merge.
type Document struct {
	Name     string // title of its bookmark
	Password string // user password, if it is encrypted as by Encrypt
	Open     func() (io.ReadCloser, error)
}

// Merge writes one PDF with the pages of all documents, in order. It holds one document in memory at a time. The
// protection may be nil. Without it, the same documents always give the same PDF.
//
// For each document, there is a bookmark with its name, above the document's own bookmarks. Identical fonts and
// images are written once. The structure for screen readers and the language of each document are preserved; the
// result is marked as tagged if all documents are. Links within a document are preserved if they point to a page, not
// to a name. Merge drops everything that belongs to a document as a whole: its title, page labels, attached files,
// layers, form fields (they are visible but cannot be filled in), and PDF/A conformance.
//
// If an error concerns one document, it includes the document's name. If documents cannot be read, it includes up to ten of them.
func Merge(out io.Writer, documents []Document, protection *Protection) error {
	if len(documents) == 0 {
		return errors.New("no documents to merge")
	}
	w, err := newWriter(out, "%PDF-1.7")
	if err != nil {
		return err
	}
	m := newMerger(w)
	if protection != nil {
		if err := m.protect(*protection); err != nil {
			return err
		}
	}
	for i, document := range documents {
		if err := m.add(document); err != nil {
			return unreadable(documents[i:], err)
		}
	}
	return m.finish()
}

// maxUnreadable is the number of documents that cannot be read of which the error of a merge consists.
const maxUnreadable = 10

// unreadable returns the error of the first document. If that cannot be read, it adds the errors of others that cannot be read either, so
// that people learn of all at once.
func unreadable(documents []Document, err error) error {
	_, is := errors.AsType[*BrokenError](err)
	err = fmt.Errorf("document %q: %w", documents[0].Name, err)
	for found, rest := 1, documents[1:]; is && found < maxUnreadable && len(rest) > 0; rest = rest[1:] {
		also := check(rest[0])
		if _, is = errors.AsType[*BrokenError](also); is {
			found++
			err = fmt.Errorf("%w; document %q: %w", err, rest[0].Name, also)
		}
		is = is || also == nil
	}
	return err
}

// check returns the error of opening a document.
func check(document Document) error {
	data, err := read(document)
	if err != nil {
		return err
	}
	f, err := openWith(data, document.Password)
	if err != nil {
		return err
	}
	_, err = f.catalog()
	return err
}

// merger holds the state of a merge.
type merger struct {
	to    *writer
	known map[[sha256.Size]byte]int
	id    hash.Hash

	pages array // page trees of the documents
	count int   // number of pages

	encryption object // reference to the encryption dictionary; nil if the PDF is not encrypted

	root      ref     // of the page tree
	outline   outline // one bookmark for each document
	structure structure
}

func newMerger(w *writer) *merger {
	m := &merger{to: w, known: map[[sha256.Size]byte]int{}, id: sha256.New()}
	m.root = ref{w.reserve(), 0}
	m.outline.root = ref{w.reserve(), 0}
	m.structure.root, m.structure.top = ref{w.reserve(), 0}, ref{w.reserve(), 0}
	return m
}

// protect encrypts everything that is written after it.
func (m *merger) protect(p Protection) error {
	keys, err := p.keys()
	if err != nil {
		return err
	}
	m.encryption, err = m.to.encrypt(keys)
	return err
}

func (m *merger) add(document Document) error {
	data, err := read(document)
	if err != nil {
		return err
	}
	m.id.Write(data)
	f, err := openWith(data, document.Password)
	if err != nil {
		return err
	}
	catalog, err := f.catalog()
	if err != nil {
		return err
	}
	if err := refuseHiddenLayers(f, catalog); err != nil {
		return err
	}
	c := newCopier(f, m.to)
	c.known = m.known
	first, err := m.addPages(c, catalog)
	if err != nil {
		return err
	}
	if err := m.structure.add(c, catalog); err != nil {
		return err
	}
	if err := m.outline.add(c, catalog, document.Name, first); err != nil {
		return err
	}
	return c.carry()
}

// refuseHiddenLayers returns an error if a document has layers that are not visible (ISO 32000-1, 8.11.4). The result has no layers, so
// their content would appear.
func refuseHiddenLayers(f *file, catalog dict) error {
	if catalog.get("OCProperties") == nil {
		return nil
	}
	properties, err := f.dict(catalog.get("OCProperties"))
	if err != nil {
		return err
	}
	if properties.get("D") == nil {
		return nil
	}
	shown, err := f.dict(properties.get("D"))
	if err != nil {
		return err
	}
	off, err := f.array(shown.get("OFF"))
	if err != nil {
		return err
	}
	if base, _ := shown.get("BaseState").(name); base == "OFF" || len(off) > 0 {
		return broken("it has hidden layers, which would become visible")
	}
	return nil
}

// read returns the content of a document.
func read(document Document) ([]byte, error) {
	r, err := document.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1)) // open rejects a larger file
	if closing := r.Close(); err == nil {
		err = closing
	}
	return data, err
}

// addPages adds the document's page tree to the common root, and returns the document's first page.
func (m *merger) addPages(c *copier, catalog dict) (object, error) {
	root, ok := catalog.get("Pages").(ref)
	if !ok {
		return nil, broken("it has no pages")
	}
	var first ref
	count, err := walkPages(c.from, root, func(page ref, _ []dict) error {
		first = cmp.Or(first, page)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.change[root] = func(d dict) dict { return d.with("Parent", m.root) }
	tree, err := c.refer(root)
	if err != nil {
		return nil, err
	}
	m.pages = append(m.pages, tree)
	m.count += count
	return c.refer(first)
}

// finish writes the common objects and the trailer.
func (m *merger) finish() error {
	catalog := dict{{"Type", name("Catalog")}, {"Pages", m.root}}
	pages := dict{{"Type", name("Pages")}, {"Kids", m.pages}, {"Count", integerOf(m.count)}}
	if err := m.to.put(m.root.number, pages); err != nil {
		return err
	}
	for _, part := range []func(*writer, dict) (dict, error){m.outline.finish, m.structure.finish} {
		var err error
		if catalog, err = part(m.to, catalog); err != nil {
			return err
		}
	}
	if m.encryption != nil {
		catalog = withExtension(catalog)
	}
	root, err := m.to.add(catalog)
	if err != nil {
		return err
	}
	trailer := dict{{"Root", root}, {"ID", newID("", m.id.Sum(nil))}}
	return m.to.finish(trailer.with("Encrypt", m.encryption))
}
