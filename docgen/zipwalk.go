package docgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"platen/store"
)

// zipWalk walks through the items of a ZIP download, depth first and in the order of names. In memory, it has a portion of each folder on
// the current path, and the hashes of their names.
type zipWalk struct {
	service *Service
	caller  *Caller
	row     store.ZipDownload // with the progress
	items   []ZipItem
	names   bundleNames // at the top
	seen    time.Time   // when the progress was last stored
	folders int64       // so far
	tooLong int64       // items whose path is too long
	quiet   bool        // whether downloads of folders fire no event
	listing bool        // whether files are not opened
}

// errZipFull ends a download whose folders got too many items since it was created.
var errZipFull = errors.New("the folders of a ZIP download have more items than a ZIP file may have")

func (z *zipWalk) bundle(ctx context.Context) *Bundle {
	missing := func() (string, []string) { return z.names.unique(File, MissingName), z.missing() }
	return &Bundle{Name: z.row.Name, PDF: z.row.OutputType == OutputPDF, Files: z.files(ctx), Missing: missing, listing: &z.listing,
		ended: z.end}
}

func (z *zipWalk) files(ctx context.Context) iter.Seq2[*BundleFile, error] {
	return func(yield func(*BundleFile, error) bool) {
		for _, item := range z.items {
			if !z.requested(ctx, item, yield) {
				return
			}
		}
	}
}

// requested yields a requested item with everything in it. It returns false if that was the end.
func (z *zipWalk) requested(ctx context.Context, item ZipItem, yield func(*BundleFile, error) bool) bool {
	p, ok, err := z.find(ctx, item.Kind, item.ID)
	if err != nil {
		yield(nil, err)
		return false
	}
	if !ok {
		z.skip(item.Kind)
		return true
	}
	name := item.Name
	if name == "" {
		name = z.names.unique(item.Kind, p.row.Name)
	}
	if item.Kind == Folder && !z.quiet {
		if err := z.service.fireAlone(ctx, z.caller, event{trigger: FolderDownloaded, item: p}); err != nil {
			yield(nil, err)
			return false
		}
	}
	return z.walk(ctx, item.Kind, item.ID, name, yield)
}

// skip counts an item that the caller may not download, or that does not exist anymore.
func (z *zipWalk) skip(kind Kind) {
	if kind == File {
		z.row.Skipped++
	} else {
		z.row.SkippedFolders++
	}
}

// find returns an item that the caller may download. ok is false if there is no such item anymore.
func (z *zipWalk) find(ctx context.Context, kind Kind, id int64) (p place, ok bool, err error) {
	err = z.service.db.Read(ctx, func(q *store.Queries) (err error) {
		p, err = z.service.find(ctx, q, z.caller, kind, id, MayDownload)
		return err
	})
	if isLost(err) || IsCode(err, CodeBadRequest) { // the latter is nested in too many folders
		return place{}, false, nil
	}
	return p, err == nil, err
}

// walk yields an item at a path, with everything in it.
func (z *zipWalk) walk(ctx context.Context, kind Kind, id int64, path string, yield func(*BundleFile, error) bool) bool {
	if len(path) > maxZipPath {
		z.skip(kind)
		z.tooLong++
		return true
	}
	if kind == File {
		return z.file(ctx, id, path, yield)
	}
	return z.folder(ctx, id, path+"/", yield)
}

// file yields a file, unless it was deleted.
func (z *zipWalk) file(ctx context.Context, id int64, path string, yield func(*BundleFile, error) bool) bool {
	file, err := z.open(ctx, id, path)
	switch {
	case err == nil && file != nil && z.row.Downloaded == maxZipFiles:
		if err = errZipFull; file.Reader != nil {
			err = errors.Join(err, file.Reader.Close())
		}
	case err == nil && file == nil:
		z.skip(File)
		z.report(ctx)
	}
	if err != nil {
		yield(nil, err)
		return false
	}
	if file != nil {
		if !yield(file, nil) {
			return false
		}
		z.row.Downloaded++
	}
	return true
}

// open opens the current version of a file. It returns nil if the caller may no longer download the file.
func (z *zipWalk) open(ctx context.Context, id int64, path string) (*BundleFile, error) {
	content, err := z.service.Content(ctx, z.caller, id, 0)
	if isLost(err) || IsCode(err, CodeBadRequest) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if z.listing {
		return &BundleFile{Path: path, Content: content, caller: z.caller}, nil
	}
	r, ok, err := content.begin(ctx)
	if !ok || err != nil {
		return nil, err
	}
	return &BundleFile{Path: path, Content: content, Reader: &zipReader{r, ctx, z}}, nil
}

// folder yields a folder, and then what is in it. The path ends with a slash.
func (z *zipWalk) folder(ctx context.Context, id int64, path string, yield func(*BundleFile, error) bool) bool {
	if z.folders++; z.folders > maxZipFolders {
		yield(nil, errZipFull)
		return false
	}
	names := bundleNames{}
	for after, begun := "", false; ; begun = true {
		children, ok, err := z.children(ctx, id, after)
		if err != nil {
			yield(nil, err)
			return false
		}
		if !ok {
			z.skip(Folder)
			return true
		}
		if !begun && !yield(&BundleFile{Path: path}, nil) {
			return false
		}
		for _, child := range children {
			kind := Kind(child.Kind)
			if !z.walk(ctx, kind, child.ID, path+names.unique(kind, child.Name), yield) {
				return false
			}
		}
		if len(children) < bundlePortion {
			return true
		}
		after = children[len(children)-1].NameKey
	}
}

// children returns a portion of the items of a folder, after a name. ok is false if the caller may no longer download the folder.
func (z *zipWalk) children(ctx context.Context, id int64, after string) (rows []store.ChildrenAfterRow, ok bool, err error) {
	z.report(ctx)
	if _, ok, err = z.find(ctx, Folder, id); !ok || err != nil {
		return nil, false, err
	}
	err = z.service.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		rows, err = q.ChildrenAfter(ctx, parentOf(id), after, bundlePortion)
		return err
	})
	return rows, true, err
}

// report stores the progress, unless that was done a moment ago. A download continues without: on a full disk, for example.
func (z *zipWalk) report(ctx context.Context) {
	if z.service.now().Sub(z.seen) < zipBeat {
		return
	}
	if err := z.save(ctx, ZipInProgress); err != nil {
		z.service.log.WarnContext(ctx, "cannot store the progress of a ZIP download", "zip_download", z.row.ID, "error", err)
	}
}

// save stores the progress and the state.
func (z *zipWalk) save(ctx context.Context, state string) error {
	z.seen = z.service.now()
	z.row.Files = max(z.row.Files, z.row.Downloaded+z.row.Skipped)
	if z.row.State = state; state == ZipSucceeded {
		z.row.Items, z.row.Files = "", z.row.Downloaded+z.row.Skipped
	}
	return z.service.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.UpdateZipDownload(ctx, store.UpdateZipDownloadParams{
			ID: z.row.ID, Attempt: z.row.Attempt, State: state, Items: z.row.Items, Files: z.row.Files, Downloaded: z.row.Downloaded,
			Skipped: z.row.Skipped, SkippedFolders: z.row.SkippedFolders, SeenAt: z.seen.UnixMicro(),
		})
		return err
	})
}

// end stores how the download ended. If that fails, the status says so after a while.
func (z *zipWalk) end(ctx context.Context, failure error) {
	state := ZipSucceeded
	if failure != nil {
		state = ZipFailed
	}
	if failure != nil && z.listing { // nothing was sent
		z.row.Downloaded = 0
	}
	if err := z.save(ctx, state); err != nil {
		z.service.log.WarnContext(ctx, "cannot store the end of a ZIP download", "zip_download", z.row.ID, "error", err)
	}
}

// missing returns what the ZIP file lacks.
func (z *zipWalk) missing() (lines []string) {
	if n := z.row.Skipped + z.row.SkippedFolders - z.tooLong; n > 0 {
		lines = append(lines, fmt.Sprintf("%d files and folders were deleted, are in the trash, or you may not download them.", n))
	}
	if z.tooLong > 0 {
		lines = append(lines, fmt.Sprintf("%d files and folders would have paths of more than %d bytes.", z.tooLong, maxZipPath))
	}
	return lines
}

// A zipReader is the content of a file. While it is read, which can take long, it reports the progress of the download.
type zipReader struct {
	io.ReadCloser
	ctx  context.Context
	walk *zipWalk
}

// Read reads the content, and reports the progress now and then.
func (r *zipReader) Read(p []byte) (int, error) {
	r.walk.report(r.ctx)
	return r.ReadCloser.Read(p)
}
