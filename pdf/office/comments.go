package office

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"

	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// withoutComments returns the document without references to comments. Comments are not printed anyway. But
// LibreOfficeKit creates a window for each comment, and the packages for machines without a display, such as Debian's
// -nogui, cannot create it and reject the document.
func withoutComments(document []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		return nil, err
	}
	if has, err := hasComments(archive); err != nil || !has {
		return document, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, entry := range archive.File {
		if err := copyWithoutComments(w, entry); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// maxPart is the maximum size, in bytes, of a part from which comments are removed.
const maxPart = 512 << 20

// hasComments reports whether the document has a part with comments, whatever its name.
func hasComments(archive *zip.Reader) (bool, error) {
	for _, entry := range archive.File {
		if !strings.HasPrefix(entry.Name, "word/_rels/") || !strings.HasSuffix(entry.Name, ".rels") {
			continue
		}
		relationships, err := readEntry(entry)
		if err != nil {
			return false, err
		}
		r := scan.New(relationships)
		for range r.All {
			if names.Transitional(r.Attr("Type")) == names.RelComments {
				return true, nil
			}
		}
	}
	return false, nil
}

func readEntry(entry *zip.File) ([]byte, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxPart))
}

func copyWithoutComments(w *zip.Writer, entry *zip.File) error {
	if !strings.HasPrefix(entry.Name, "word/") || !strings.HasSuffix(entry.Name, ".xml") {
		return w.Copy(entry)
	}
	content, err := readEntry(entry)
	if err != nil {
		return err
	}
	part, err := w.Create(entry.Name)
	if err == nil {
		_, err = part.Write(dropComments(content))
	}
	return err
}

// dropComments returns a part without the elements that mark where comments belong (ISO 29500-1, 17.13.4). These
// elements are empty.
func dropComments(part []byte) []byte {
	if !bytes.Contains(part, []byte("comment")) {
		return part
	}
	var kept bytes.Buffer
	from := 0
	r := scan.New(part)
	for range r.All { // stops at damaged XML, which LibreOffice reports
		switch r.Name() {
		case "w:commentReference", "w:commentRangeStart", "w:commentRangeEnd":
			kept.Write(part[from:r.Start])
			r.Skip()
			from = r.End
		}
	}
	kept.Write(part[from:])
	return kept.Bytes()
}
