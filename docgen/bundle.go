package docgen

import (
	"context"
	"fmt"
	"iter"

	"platen/store"
)

// bundlePortion is the number of files of a bundle that are read from the database at once.
const bundlePortion = 500

// Bundle is files that are downloaded together.
type Bundle struct {
	Name string // without an extension
	// Files are the contents, in order. After an error, there are no more.
	Files iter.Seq2[*Content, error]
	// Left returns sentences about documents that Files has left out. Call it after the last file.
	Left func() []string
}

// BatchBundle returns the documents of a batch that has ended, in the order of the batch. Each is the current version of its file. It
// leaves out documents that the caller may no longer download.
func (s *Service) BatchBundle(ctx context.Context, c *Caller, batchID string) (*Bundle, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return nil, err
	}
	if err := c.require(ScopeRead); err != nil {
		return nil, err
	}
	b := &batchBundle{service: s, caller: c, batchID: batchID}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		var err error
		if b.batch, err = s.batch(ctx, q, c, batchID); err != nil {
			return err
		}
		if b.batch.Accepting || b.batch.Jobs[StatusPending]+b.batch.Jobs[StatusSubmitted] > 0 {
			return failf(CodeConflict, "The batch is still running. Wait until no job is pending or submitted, then retry.")
		}
		b.folder, err = s.find(ctx, q, c, Folder, b.batch.DestinationID, MayDownload)
		if IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) || IsCode(err, CodeForbidden) {
			b.folder, err = place{}, nil // each document is checked
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Bundle{Name: "Batch " + batchID, Files: b.files(ctx), Left: b.left}, nil
}

// batchBundle reads the documents of a batch.
type batchBundle struct {
	service *Service
	caller  *Caller
	batchID string
	batch   Batch
	folder  place // the destination, if the caller may download what is in it; otherwise, an empty place
	found   int   // documents so far
}

func (b *batchBundle) files(ctx context.Context) iter.Seq2[*Content, error] {
	return func(yield func(*Content, error) bool) {
		for last := int64(0); ; {
			contents, next, err := b.portion(ctx, last)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, content := range contents {
				if b.found++; !yield(content, nil) {
					return
				}
			}
			if next == 0 {
				return
			}
			last = next
		}
	}
}

// portion returns the documents of the jobs after one, and the last of these jobs; 0 if there are no more.
func (b *batchBundle) portion(ctx context.Context, after int64) (contents []*Content, last int64, err error) {
	err = b.service.db.Read(ctx, func(q *store.Queries) error {
		contents, last = nil, 0
		rows, err := q.BatchFiles(ctx, b.batchID, after, bundlePortion)
		if err != nil {
			return err
		}
		for _, row := range rows {
			p, err := b.find(ctx, q, row.Item)
			if IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) || IsCode(err, CodeForbidden) {
				continue
			}
			if err != nil {
				return err
			}
			content := b.service.contentOf(row.FileVersion)
			content.Name = row.Item.Name
			content.taken = func(ctx context.Context) error {
				return b.service.fireAlone(ctx, b.caller, event{trigger: FileDownloaded, item: p})
			}
			contents = append(contents, content)
		}
		if len(rows) == bundlePortion {
			last = rows[len(rows)-1].JobID
		}
		return nil
	})
	return contents, last, err
}

// find returns the place of a document that the caller may download. Most documents are still in the destination, whose permissions they
// have.
func (b *batchBundle) find(ctx context.Context, q *store.Queries, item store.Item) (place, error) {
	if f := b.folder; len(f.chain) > 0 && item.TrashedAt == 0 && item.ParentID == parentOf(f.row.ID) {
		p := f.child(File, item.ID)
		p.row, p.chain[0].Item = item, item
		return p, nil
	}
	return b.service.find(ctx, q, b.caller, File, item.ID, MayDownload)
}

// left returns what the bundle lacks.
func (b *batchBundle) left() []string {
	jobs := b.batch.Jobs
	var lines []string
	if n := b.batch.Canceled; n > 0 {
		lines = append(lines, fmt.Sprintf("%d documents were not generated, because the batch was canceled.", n))
	}
	if n := jobs[StatusFailed]; n > 0 {
		lines = append(lines, fmt.Sprintf("%d documents could not be generated: the failures of their jobs say why.", n))
	}
	if n := jobs[StatusCompleted] + jobs[StatusCompletedWithError] - b.found; n > 0 {
		lines = append(lines, fmt.Sprintf("%d documents were deleted, are in the trash, or you may not download them.", n))
	}
	return lines
}
