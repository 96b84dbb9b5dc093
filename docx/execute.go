package docx

import (
	"fmt"
	"io"
	"slices"

	"platen/docx/lang"
	"platen/docx/opc"
)

// Report is what an execution has to say, in the words of Box Doc Gen.
type Report struct {
	Errors   []string // what keeps the document from being complete: the document is there, with those tags in it
	Warnings []string
	Details  []*Error // the same, as far as it is about a tag, each with its place
}

// Execute writes the document that the template gives for data, which [lang.Decode] gave. It writes as it goes: on an
// error, which is w's or a limit that was passed, what was written is no document. To end it early, let w fail.
func (t *Template) Execute(w io.Writer, data lang.Value, _ Options) (Report, error) {
	x := t.execution(data)
	defer func() { t.keepBuffer(x.out.buf) }()
	if t.hasTOC {
		headings, err := t.headings(data)
		if err != nil {
			return Report{}, err
		}
		x.contents.entries = headings
	}
	if err := x.write(opc.NewWriter(w)); err != nil {
		return Report{}, err
	}
	return Report{Errors: x.env.Errors(), Warnings: slices.Concat(x.warnings, t.warnings, x.env.Warnings())}, nil
}

func (t *Template) execution(data lang.Value) *execution {
	x := &execution{t: t, env: lang.NewEnv(data, lang.Options{Use: &t.use}), slots: make([]int, t.ids.slots), nextID: t.firstID, added: opc.NewAdditions(t.pkg)}
	x.out.buf = t.takeBuffer()
	if t.ids.tables+t.ids.merges > 0 {
		x.columns, x.merges = make([]repeatedColumns, t.ids.tables), make([]merged, t.ids.merges)
	}
	return x
}

// headings returns the headings that the document will have.
func (t *Template) headings(data lang.Value) ([]heading, error) {
	x := t.execution(data)
	defer func() { t.keepBuffer(x.out.buf) }()
	return x.collect()
}

// write writes the package: the parts with text as they are executed, at the end those that list what was added.
func (x *execution) write(pw *opc.Writer) error {
	if x.t.types != nil {
		x.added.Replace(opc.ContentTypesName, x.t.types)
	}
	var late []*opc.Part
	for _, part := range x.t.pkg.Parts() {
		switch {
		case x.added.Deferred(part):
		case x.t.lists.isIn(part):
			late = append(late, part)
		default:
			if err := x.writePart(pw, part); err != nil {
				return err
			}
		}
	}
	if err := x.finishLists(); err != nil {
		return err
	}
	if err := x.added.WriteTo(pw, late...); err != nil {
		return err
	}
	return pw.Close()
}

func (x *execution) writePart(pw *opc.Writer, part *opc.Part) error {
	p := x.t.programs[part.Name]
	if p == nil {
		return pw.Copy(part)
	}
	w, err := pw.Create(part.Name)
	if err != nil {
		return err
	}
	x.out.w, x.part = w, part.Name
	if err := x.run(p.ops); err != nil {
		return fmt.Errorf("%s: %w", part.Name, err)
	}
	return x.out.flush()
}

// maxKeptBuffer is the largest buffer that is kept for the next execution; guards may make one grow.
const maxKeptBuffer = 4 * flushAt

func (t *Template) takeBuffer() []byte {
	if buf, ok := t.buffers.Get().(*[]byte); ok {
		return *buf
	}
	return make([]byte, 0, flushAt+flushAt/4)
}

func (t *Template) keepBuffer(buf []byte) {
	if cap(buf) <= maxKeptBuffer {
		buf = buf[:0]
		t.buffers.Put(&buf)
	}
}

// Options are the settings of an execution. There are none yet.
type Options struct{}
