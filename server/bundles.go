package server

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

var docDownloadBatch = doc{
	id: "download_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Download the documents of a batch",
	description: "All documents of a batch that has ended, in one ZIP file, in the order of the batch. Each is the current version of its " +
		"file. Names that Windows does not allow are changed, and equal names get a number. If documents are missing in the ZIP file, " +
		"because they failed, were deleted, or the caller may not download them, it has a file with the name " + docgen.MissingName +
		" that says so. The token also needs the scope root_readonly. Every content is verified: if one is damaged, the connection is " +
		"closed before the end." + extension,
	errors: []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict, docgen.CodeContentDamaged},
	also:   answersZip,
}

// answersZip documents a response with a ZIP file.
func answersZip(_ *api, op *huma.Operation) {
	op.Responses["200"] = &huma.Response{Description: "A ZIP file with the documents.",
		Content: map[string]*huma.MediaType{"*/*": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		Headers: map[string]*huma.Param{"Content-Disposition": {
			Description: "attachment, with the name of the file.", Schema: &huma.Schema{Type: huma.TypeString}, Required: true,
		}},
	}
}

func (a *api) downloadBatch(ctx context.Context, c *call, in *BatchPath) (*streamed, error) {
	bundle, err := a.service.BatchBundle(ctx, c.caller, in.BatchID)
	if err != nil {
		return nil, err
	}
	beginZip(c, bundle.Name)
	if c.r.Method == http.MethodGet {
		a.sendBundle(ctx, c, bundle)
	}
	return sent, nil
}

// beginZip begins a response with a ZIP file.
func beginZip(c *call, name string) {
	h := c.w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", disposition(name+".zip"))
	c.w.WriteHeader(http.StatusOK)
}

// sendBundle writes a bundle as a ZIP file, after the response has begun.
func (a *api) sendBundle(ctx context.Context, c *call, bundle *docgen.Bundle) {
	err := writeBundle(ctx, c.w, bundle)
	bundle.End(ctx, err)
	if err != nil {
		// It is too late for another response. The client must not mistake what it received for the whole.
		a.log.WarnContext(ctx, "download aborted", "request_id", c.id, "error", err)
		panic(http.ErrAbortHandler)
	}
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
		file, err := archive.Create(path)
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
		_, err := archive.CreateHeader(&zip.FileHeader{Name: file.Path, Flags: utf8Flag})
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
	header.CRC32, header.CompressedSize64, header.UncompressedSize64 = crc32.ChecksumIEEE(text), uint64(len(text)), uint64(len(text))
	entry, err := archive.CreateRaw(header)
	if err != nil {
		return err
	}
	_, err = entry.Write(text)
	return err
}

// utf8Flag says that the name of an entry is UTF-8 (APPNOTE.TXT, section 4.4.4).
const utf8Flag = 0x800
