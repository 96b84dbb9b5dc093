package docx

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"platen/docx/compile"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// commentAuthor signs the comments of Annotate.
const commentAuthor = "Platen"

// Annotate writes a copy of a Word document with a comment at each problem, so that its author can go from one to the next in Word. The
// problems are those of [Parse] or [Template.Execute] with the same document. Word has comments only in the body: the
// comment for a problem in a text box is at its anchor, and that for a header, a footer, or a note at the start of the document.
func Annotate(w io.Writer, r io.ReaderAt, size int64, problems Errors) error {
	pkg, err := ooxml.Open(r, size, compile.Limits)
	if err != nil {
		return err
	}
	main, err := pkg.WordMain()
	if err != nil {
		return err
	}
	a := annotator{pkg: pkg, main: main, added: ooxml.NewAdditions(pkg, nil)}
	if err := a.open(); err != nil {
		return err
	}
	for _, p := range problems {
		a.note(p)
	}
	return a.write(ooxml.NewWriter(w))
}

// annotator puts comments into a document.
type annotator struct {
	pkg      *ooxml.Package
	main     *ooxml.Part
	added    *ooxml.Additions
	src      []byte
	root     *wml.Node
	comments *ooxml.Part // that are there; nil for none
	nextID   int
	anchors  []anchor
	notes    bytes.Buffer // w:comment elements
}

// anchor is XML that is put into the body.
type anchor struct {
	pos int
	xml string
}

func (a *annotator) open() (err error) {
	if a.src, err = a.pkg.ReadXML(a.main); err != nil {
		return err
	}
	a.src = scan.ExpandCDATA(a.src)
	if a.root, err = wml.ParseTree(a.main.Name, a.src); err != nil {
		return err
	}
	if a.comments, err = wml.RelatedPart(a.pkg, a.main, names.RelComments); a.comments == nil || err != nil {
		return err
	}
	src, err := a.pkg.ReadXML(a.comments)
	if err != nil {
		return err
	}
	root, err := wml.ParseTree(a.comments.Name, src)
	if err != nil {
		return err
	}
	for _, c := range root.Children {
		a.nextID = max(a.nextID, wml.IDNumber(wml.AttrValue(src, c, "w:id"))+1)
	}
	return nil
}

// note adds the comment of one problem.
func (a *annotator) note(p *Error) {
	text := p.Message
	if p.Warning {
		text = "Warning: " + text
	}
	if p.Hint != "" {
		text += "\n" + p.Hint
	}
	at := a.nodeAt(p.Offset)
	if p.Part != a.main.Name || at == nil {
		at = a.nodeAt(0)
		text = p.Place + ": " + text
	}
	if p.Tag != "" {
		text = p.Tag + "\n" + text
	}
	id := strconv.Itoa(a.nextID)
	a.nextID++
	fmt.Fprintf(&a.notes, `<w:comment xmlns:w="%s" w:id="%s" w:author="%s" w:initials="P">%s</w:comment>`, a.namespace(), id,
		commentAuthor, commentParagraphs(text))
	if at == nil { // a document without a paragraph
		return
	}
	prefix := at.Prefix(a.src)
	a.anchors = append(a.anchors,
		anchor{at.Start, fmt.Sprintf(`<%[1]scommentRangeStart %[1]sid="%[2]s"/>`, prefix, id)},
		anchor{at.End, fmt.Sprintf(`<%[1]scommentRangeEnd %[1]sid="%[2]s"/><%[1]sr><%[1]scommentReference %[1]sid="%[2]s"/></%[1]sr>`,
			prefix, id)})
}

func (a *annotator) namespace() string { return names.Namespace("w", a.pkg.Strict()) }

// commentParagraphs is the content of a comment, a paragraph for each line.
func commentParagraphs(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(`<w:p><w:r><w:t xml:space="preserve">`)
		for _, r := range line {
			if r < ' ' || r == '\uFFFE' || r == '\uFFFF' || r == wml.Object {
				r = ' '
			}
			b.Write(program.AppendEscaped(nil, string(r)))
		}
		b.WriteString(`</w:t></w:r></w:p>`)
	}
	return b.String()
}

// nodeAt returns the element for a comment on a place of the body: the child of the outermost paragraph at the place, or after it. It is
// nil if no paragraph with a run follows.
func (a *annotator) nodeAt(pos int) *wml.Node {
	var found *wml.Node
	var walk func(n *wml.Node) bool
	walk = func(n *wml.Node) bool {
		if n.End <= pos {
			return false
		}
		if n.Name == "w:p" {
			i := slices.IndexFunc(n.Children, func(c *wml.Node) bool { return c.End > pos && !c.IsTextless() && !c.IsRangeMarkup() })
			if i >= 0 {
				found = n.Children[i]
			}
			return found != nil
		}
		return slices.ContainsFunc(n.Children, walk)
	}
	walk(a.root)
	return found
}

func (a *annotator) write(pw *ooxml.Writer) error {
	if err := a.addComments(); err != nil {
		return err
	}
	slices.SortStableFunc(a.anchors, func(x, y anchor) int { return cmp.Compare(x.pos, y.pos) })
	var out []byte
	at := 0
	for _, anchor := range a.anchors {
		out = append(append(out, a.src[at:anchor.pos]...), anchor.xml...)
		at = anchor.pos
	}
	a.added.Replace(a.main.Name, append(out, a.src[at:]...))
	late := []*ooxml.Part{a.main}
	if a.comments != nil {
		late = append(late, a.comments)
	}
	for _, part := range a.pkg.Parts() {
		if slices.Contains(late, part) || a.added.Deferred(part) {
			continue
		}
		if err := pw.Copy(part); err != nil {
			return err
		}
	}
	if err := a.added.WriteTo(pw, late...); err != nil {
		return err
	}
	return pw.Close()
}

// addComments puts the comments into the part for them, or into a new one.
func (a *annotator) addComments() error {
	if a.comments != nil {
		src, err := a.pkg.ReadXML(a.comments)
		if err != nil {
			return err
		}
		changed, err := ooxml.AppendToRoot(src, a.notes.Bytes())
		a.added.Replace(a.comments.Name, changed)
		return err
	}
	root := `<w:comments xmlns:w="` + a.namespace() + `">`
	data := slices.Concat([]byte(ooxml.XMLHeader+root), a.notes.Bytes(), []byte("</w:comments>"))
	name, err := a.added.Add("/word/comments", "xml", names.TypeComments, data)
	if err == nil {
		_, err = a.added.Relate(a.main.Name, names.RelComments, name, false)
	}
	return err
}
