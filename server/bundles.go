package server

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

var docDownloadBatch = doc{
	id: "download_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Download the documents of a batch",
	description: "All documents of a batch that has ended, in one ZIP file, in the order of the batch. Each is the current version of its " +
		"file. Names that Windows does not allow are changed, and equal names get a number. If documents are missing in the ZIP file, " +
		"because they failed, were deleted, or the caller may not download them, it has a file with the name of lackFile that says so. The " +
		"token also needs the scope root_readonly. Every content is verified: if one is damaged, the connection is closed before the end." +
		extension,
	errors: []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict, docgen.CodeContentDamaged},
	also: func(_ *api, op *huma.Operation) {
		op.Description = strings.ReplaceAll(op.Description, "the name of lackFile", "the name "+lackFile)
		op.Responses["200"] = &huma.Response{Description: "A ZIP file with the documents.",
			Content: map[string]*huma.MediaType{"*/*": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
			Headers: map[string]*huma.Param{"Content-Disposition": {
				Description: "attachment, with the name of the file.", Schema: &huma.Schema{Type: huma.TypeString}, Required: true,
			}},
		}
	},
}

// lackFile is the name of the file that says which documents a ZIP file lacks.
const lackFile = "Missing documents.txt"

func (a *api) downloadBatch(ctx context.Context, c *call, in *BatchPath) (*streamed, error) {
	bundle, err := a.service.BatchBundle(ctx, c.caller, in.BatchID)
	if err != nil {
		return nil, err
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", disposition(bundle.Name+".zip"))
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return sent, nil
	}
	if err := writeBundle(ctx, c.w, bundle); err != nil {
		// It is too late for another response. The client must not mistake what it received for the whole.
		a.log.WarnContext(ctx, "download aborted", "request_id", c.id, "error", err)
		panic(http.ErrAbortHandler)
	}
	return sent, nil
}

// writeBundle writes a bundle as a ZIP file, with one content in memory at a time. The contents are stored as they are: documents are
// already compressed.
func writeBundle(ctx context.Context, w io.Writer, bundle *docgen.Bundle) error {
	archive := zip.NewWriter(w)
	names := bundleNames{}
	for content, err := range bundle.Files {
		if err != nil {
			return err
		}
		if err := addContent(ctx, archive, names.unique(content.Name), content); err != nil {
			return fmt.Errorf("version %d: %w", content.VersionID, err)
		}
	}
	if lines := bundle.Left(); len(lines) > 0 {
		file, err := archive.Create(names.unique(lackFile))
		if err != nil {
			return err
		}
		if _, err := io.WriteString(file, strings.Join(lines, "\r\n")+"\r\n"); err != nil {
			return err
		}
	}
	return archive.Close()
}

// wholeContent is the size in bytes up to which a content is read before it is written, so that its entry begins with its checksum.
// Programs that read ZIP files from a stream need that.
const wholeContent = 256 << 10

func addContent(ctx context.Context, archive *zip.Writer, name string, content *docgen.Content) (err error) {
	r, err := content.Open(ctx, 0, -1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := content.NotifyDownload(ctx); err != nil {
		return err
	}
	header := &zip.FileHeader{Name: name, Method: zip.Store, Modified: content.ModifiedAt, Flags: utf8Flag}
	if content.Size > wholeContent {
		file, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, r)
		return err
	}
	text := make([]byte, content.Size)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	header.CRC32, header.CompressedSize64, header.UncompressedSize64 = crc32.ChecksumIEEE(text), uint64(len(text)), uint64(len(text))
	file, err := archive.CreateRaw(header)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return err
}

// utf8Flag says that the name of an entry is UTF-8 (APPNOTE.TXT, section 4.4.4).
const utf8Flag = 0x800

// bundleNames makes the names in a ZIP file unique, ignoring case. It keeps hashes of the names.
type bundleNames map[uint64]bool

// unique returns a name that is valid on every system, with a number if the name is taken.
func (n bundleNames) unique(name string) string {
	name = portableName(name)
	extension := path.Ext(name)
	for i, base, try := 1, strings.TrimSuffix(name, extension), name; ; i++ {
		h := fnv.New64a()
		io.WriteString(h, strings.ToLower(try)) //nolint:errcheck // a hash never fails
		if key := h.Sum64(); !n[key] {
			n[key] = true
			return try
		}
		try = fmt.Sprintf("%s (%d)%s", base, i, extension)
	}
}

// reservedNames are names that Windows reserves for devices, with any extension.
var reservedNames = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt0", "lpt1", "lpt2",
	"lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "conin$", "conout$",
}

// portableName returns a name without the characters that Windows does not allow in file names, and never a reserved one.
func portableName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, name)
	if trimmed := strings.TrimRight(name, ". "); len(trimmed) < len(name) {
		name = trimmed + "_"
	}
	base, _, _ := strings.Cut(name, ".")
	if slices.Contains(reservedNames, strings.ToLower(strings.TrimRight(base, " "))) {
		name = "_" + name
	}
	return name
}
