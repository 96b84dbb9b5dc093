package isolate

import (
	"context"
	"errors"
	"io"

	"platen/pdf/finish"
)

// mergeOrder is a list of PDFs to merge. The process requests their contents by position.
type mergeOrder struct {
	Names, Passwords []string
	Protection       *finish.Protection
	Memory           uint64
}

// Merge merges PDFs in a process of a program, like [finish.Merge], and writes the result to w. memory is the limit of private memory, in
// bytes; 0 means 4 GiB. Errors are *[DiedError], *[FailedError], *[ServerError], those of the documents and of w, and the cause of ctx.
func Merge(ctx context.Context, program string, memory uint64, documents []finish.Document, protection *finish.Protection,
	w io.Writer) error {
	order := mergeOrder{Protection: protection, Memory: memory}
	for _, d := range documents {
		order.Names, order.Passwords = append(order.Names, d.Name), append(order.Passwords, d.Password)
	}
	answer := func(_ context.Context, m message, send func(reply) error) error {
		if m.Document < 1 || m.Document > len(documents) {
			return &FailedError{"The process requested a document that does not exist."}
		}
		return sendDocument(documents[m.Document-1], send)
	}
	done, err := run(ctx, program, task{Merge: &order}, answer, w)
	if err != nil {
		return err
	}
	if done.Failure != "" {
		return &FailedError{done.Failure}
	}
	return nil
}

// sendDocument sends a document in pieces.
func sendDocument(d finish.Document, send func(reply) error) error {
	r, err := d.Open()
	if err != nil {
		return err
	}
	piece := make([]byte, pieceSize)
	for {
		n, err := io.ReadFull(r, piece)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return errors.Join(err, r.Close())
		}
		if err := send(reply{Content: piece[:n], More: !last}); err != nil || last {
			return errors.Join(err, r.Close())
		}
	}
}

// merge does the work of [Merge] in the process.
func (p *process) merge(order *mergeOrder) error {
	documents := make([]finish.Document, len(order.Names))
	for i, name := range order.Names {
		documents[i] = finish.Document{Name: name, Password: order.Passwords[i], Open: func() (io.ReadCloser, error) {
			err := p.to.Encode(message{Document: i + 1})
			return &pieces{p: p, more: true}, err
		}}
	}
	return finish.Merge(p, documents, order.Protection)
}

// pieces reads a document that arrives in pieces.
type pieces struct {
	p    *process
	rest []byte
	more bool
}

func (r *pieces) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if !r.more {
			return 0, io.EOF
		}
		next := <-r.p.replies
		r.rest, r.more = next.Content, next.More
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close discards what was not read, because the server sends everything.
func (r *pieces) Close() error {
	_, err := io.Copy(io.Discard, r)
	return err
}
