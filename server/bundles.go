package server

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
	"platen/generate"
)

var docDownloadBatch = doc{
	id: "download_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Download the documents of a batch",
	description: "All documents of a batch that has ended, in one ZIP file, in the order of the batch. Each is the current version of its " +
		"file. Names that Windows does not allow are changed, and equal names get a number. If documents are missing in the ZIP file, " +
		"because they failed, were deleted, or the caller may not download them, it has a file with the name " + docgen.MissingName +
		" that says so. The token also needs the scope root_readonly. Every content is verified: if one is damaged, the connection is " +
		"closed before the end." + aboutPDF + extension,
	errors: []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict, docgen.CodeContentDamaged},
	also:   answersZip,
}

// aboutPDF describes a bundle that is merged.
const aboutPDF = " With output_type pdf, the file is one PDF with the pages of all files, and a bookmark for each file: up to 1000 PDFs " +
	"of 200 MiB in total. If a file is missing, is not a PDF, or cannot be read because it needs a password or is damaged, nothing is sent: " +
	"the response is 409 with the names of up to 10 files."

// answersZip documents a response with a ZIP file.
func answersZip(_ *api, op *huma.Operation) {
	op.Responses["200"] = &huma.Response{Description: "A ZIP file, or a PDF.",
		Content: map[string]*huma.MediaType{"*/*": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		Headers: map[string]*huma.Param{"Content-Disposition": {
			Description: "attachment, with the name of the file.", Schema: &huma.Schema{Type: huma.TypeString}, Required: true,
		}},
	}
}

// BatchContentQuery holds the parameters of a download of a batch.
type BatchContentQuery struct {
	BatchPath
	OutputType string `query:"output_type" enum:"zip,pdf" doc:"The type of the file (default zip): a ZIP file with all documents, or one PDF with all of them, which must be PDFs." example:"zip"`
}

func (q *BatchContentQuery) isPDF() (bool, error) {
	switch q.OutputType {
	case "", docgen.OutputZip:
		return false, nil
	case docgen.OutputPDF:
		return true, nil
	}
	return false, invalidParam("output_type", "output_type must be zip or pdf")
}

func (a *api) downloadBatch(ctx context.Context, c *call, in *BatchContentQuery) (*streamed, error) {
	bundle, err := a.service.BatchBundle(ctx, c.caller, in.BatchID)
	if err != nil {
		return nil, err
	}
	if bundle.PDF, err = in.isPDF(); err != nil {
		return nil, err
	}
	if c.r.Method == http.MethodHead {
		beginBundle(c, bundle)
		return sent, nil
	}
	return sent, a.sendBundle(ctx, c, bundle)
}

// beginBundle begins the response with a bundle.
func beginBundle(c *call, bundle *docgen.Bundle) {
	h := c.w.Header()
	if h.Set("Content-Type", "application/zip"); bundle.PDF {
		h.Set("Content-Type", "application/pdf")
	}
	h.Set("Content-Disposition", disposition(bundle.FileName()))
	c.w.WriteHeader(http.StatusOK)
}

// sendBundle sends a bundle as the response, and ends it.
func (a *api) sendBundle(ctx context.Context, c *call, bundle *docgen.Bundle) error {
	send := func(w io.Writer) error { return writeBundle(ctx, w, bundle) }
	if bundle.PDF {
		merged, size, err := a.merged(ctx, c, bundle)
		if err != nil {
			bundle.End(ctx, err)
			return err
		}
		defer merged.Close() // it was written completely
		c.w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		send = func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(merged, 0, size))
			return err
		}
	}
	beginBundle(c, bundle)
	err := send(c.w)
	bundle.End(ctx, err)
	if err != nil {
		// It is too late for another response. The client must not mistake what it received for the whole.
		a.log.WarnContext(ctx, "download aborted", "request_id", c.id, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// merged returns a file without a name that has the PDFs of a bundle as one PDF. Only a complete one is sent: whether all can be merged is
// known at the end.
func (a *api) merged(ctx context.Context, c *call, bundle *docgen.Bundle) (file *os.File, size int64, err error) {
	parts, err := bundle.Parts()
	if err != nil {
		return nil, 0, err
	}
	if file, err = c.in.spoolFile(); err != nil {
		return nil, 0, err
	}
	to := &spoolWriter{c: c, file: file, room: a.service.CheckRoom}
	err = a.generator.MergeFiles(ctx, c.caller, parts, to)
	if errors.Is(err, generate.ErrBusy) {
		c.w.Header().Set("Retry-After", retryAfter(busyRetry))
		err = errBusy("PDFs in progress")
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, to.size, nil
}

// A spoolWriter writes to a file, whose bytes count as those of request bodies until the call ends.
type spoolWriter struct {
	c          *call
	file       *os.File
	room       func(context.Context) error // returns an Error while the disk is almost full
	size, held int64
}

func (w *spoolWriter) Write(p []byte) (int, error) {
	for w.size+int64(len(p)) > w.held {
		if err := w.room(w.c.r.Context()); err != nil {
			return 0, err
		}
		if err := w.c.hold(w.c.in.disk, receiveStep, "bytes of merged PDFs"); err != nil {
			return 0, err
		}
		w.held += receiveStep
	}
	n, err := w.file.Write(p)
	w.size += int64(n)
	if err != nil {
		err = spoolError(err)
	}
	return n, err
}

// writeBundle writes a bundle as a ZIP file, with one content in memory at a time. The contents are stored as they are: documents are
// already compressed.
func writeBundle(ctx context.Context, w io.Writer, bundle *docgen.Bundle) error {
	archive := zip.NewWriter(w)
	for file, err := range bundle.Files {
		if err != nil {
			return err
		}
		if err := errors.Join(ctx.Err(), addFile(archive, file)); err != nil {
			return err
		}
	}
	if path, lines := bundle.Missing(); len(lines) > 0 {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: noZipTime})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(file, strings.Join(lines, "\r\n")+"\r\n"); err != nil {
			return err
		}
	}
	return archive.Close()
}

// addFile adds a file, which it closes, or a folder.
func addFile(archive *zip.Writer, file *docgen.BundleFile) (err error) {
	if file.Content == nil {
		_, err := archive.CreateHeader(&zip.FileHeader{Name: file.Path, Modified: noZipTime, Flags: utf8Flag})
		return err
	}
	defer func() { err = errors.Join(err, file.Reader.Close()) }()
	if err := addContent(archive, file); err != nil {
		return fmt.Errorf("version %d: %w", file.Content.VersionID, err)
	}
	return nil
}

// wholeContent is the size in bytes up to which a content is read before it is written, so that its entry begins with its checksum.
// Programs that read ZIP files from a stream need that.
const wholeContent = 256 << 10

func addContent(archive *zip.Writer, file *docgen.BundleFile) error {
	content := file.Content
	header := &zip.FileHeader{Name: file.Path, Method: zip.Store, Modified: content.ModifiedAt, Flags: utf8Flag}
	if content.Size > wholeContent {
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = io.Copy(entry, file.Reader)
		return err
	}
	text := make([]byte, content.Size)
	if _, err := io.ReadFull(file.Reader, text); err != nil {
		return err
	}
	header.SetModTime(content.ModifiedAt) //nolint:staticcheck // CreateRaw writes the date of MS-DOS as it is
	header.CreatorVersion, header.ReaderVersion = zipVersion, zipVersion
	header.CRC32, header.CompressedSize64, header.UncompressedSize64 = crc32.ChecksumIEEE(text), uint64(len(text)), uint64(len(text))
	entry, err := archive.CreateRaw(header)
	if err != nil {
		return err
	}
	_, err = entry.Write(text)
	return err
}

// noZipTime is the time of entries that have none: the first that a ZIP file can have.
var noZipTime = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// zipVersion is version 2.0 of the format, which has folders and deflated entries.
const zipVersion = 20

// utf8Flag says that the name of an entry is UTF-8 (APPNOTE.TXT, section 4.4.4).
const utf8Flag = 0x800
