package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"

	"platen/store"
)

// bundlePortion is the number of files of a bundle that are read from the database at once.
const bundlePortion = 500

// MissingName is the name of the file that says which documents a bundle lacks.
const MissingName = "Missing documents.txt"

// Bundle is files that are downloaded together.
type Bundle struct {
	Name string // without an extension
	// Files are the files and folders, in order. After an error, there are no more.
	Files iter.Seq2[*BundleFile, error]
	// Missing returns sentences about documents that Files has left out, and a path for them. Call it after the last file.
	Missing func() (path string, lines []string)
	PDF     bool // whether the files are merged into one PDF instead of a ZIP file

	listing *bool                                // whether Files opens nothing
	ended   func(ctx context.Context, err error) // nil if nobody wants to know
}

// FileName returns the name of the bundle with its extension.
func (b *Bundle) FileName() string {
	if b.PDF {
		return b.Name + ".pdf"
	}
	return b.Name + ".zip"
}

// A BundleFile is a file or a folder of a Bundle.
type BundleFile struct {
	Path    string        // in the bundle: relative, portable, and unique. That of a folder ends with a slash
	Content *Content      // nil for a folder
	Reader  io.ReadCloser // of the content, which the receiver closes; nil for a folder, and for a part to merge
	caller  *Caller
}

// End records how the download of a bundle ended: err is nil, or why it was aborted.
func (b *Bundle) End(ctx context.Context, err error) {
	if b.ended != nil {
		b.ended(context.WithoutCancel(ctx), err)
	}
}

// begin opens content for a download from its beginning, and fires the event. ok is false if the version was deleted after it was found.
func (c *Content) begin(ctx context.Context) (r io.ReadCloser, ok bool, err error) {
	if r, err = c.Open(ctx, 0, -1); errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err == nil {
		if err = c.NotifyDownload(ctx); err != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return r, err == nil, err
}

// isLost reports whether an error says that a caller may not download an item, or no longer.
func isLost(err error) bool {
	return IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) || IsCode(err, CodeForbidden)
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
	b := &batchBundle{service: s, caller: c, batchID: batchID, names: bundleNames{}}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		var err error
		if b.batch, err = s.batch(ctx, q, c, batchID); err != nil {
			return err
		}
		if b.batch.Accepting || b.batch.Jobs[StatusPending]+b.batch.Jobs[StatusSubmitted] > 0 {
			return failf(CodeConflict, "The batch is still running. Wait until no job is pending or submitted, then retry.")
		}
		b.folder, err = s.find(ctx, q, c, Folder, b.batch.DestinationID, MayDownload)
		if isLost(err) {
			b.folder, err = place{}, nil // each document is checked
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	missing := func() (string, []string) { return b.names.unique(File, MissingName), b.left() }
	return &Bundle{Name: "Batch " + batchID, Files: b.files(ctx), Missing: missing, listing: &b.listing}, nil
}

// batchBundle reads the documents of a batch.
type batchBundle struct {
	service *Service
	caller  *Caller
	batchID string
	batch   Batch
	folder  place // the destination, if the caller may download what is in it; otherwise, an empty place
	found   int   // documents so far
	names   bundleNames
	listing bool // whether the documents are not opened
}

func (b *batchBundle) files(ctx context.Context) iter.Seq2[*BundleFile, error] {
	return func(yield func(*BundleFile, error) bool) {
		for last := int64(0); ; {
			contents, next, err := b.portion(ctx, last)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, content := range contents {
				file, err := b.open(ctx, content)
				if err != nil {
					yield(nil, err)
					return
				}
				if file == nil {
					continue
				}
				if b.found++; !yield(file, nil) {
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

// open opens a document. It returns nil if the document was deleted after it was found.
func (b *batchBundle) open(ctx context.Context, content *Content) (file *BundleFile, err error) {
	file = &BundleFile{Content: content, caller: b.caller}
	if !b.listing {
		var ok bool
		if file.Reader, ok, err = content.begin(ctx); !ok || err != nil {
			return nil, err
		}
	}
	file.Path = b.names.unique(File, content.Name)
	return file, nil
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
			if isLost(err) {
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
