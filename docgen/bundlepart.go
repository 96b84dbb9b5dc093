package docgen

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
)

// A bundle can also be one PDF. All of its files must then be PDFs, and none may be missing.

// Limits of a bundle that is merged. The server merges while the caller waits.
const (
	maxMergeFiles = 1000
	maxMergeBytes = 200 << 20 // of all files
	maxMergeNamed = 10        // names in an error
)

// Parts returns the files of a bundle, not opened, to merge them into one PDF. The Error has CodeConflict if there are other files, or if
// files are missing: nothing is left out silently.
func (b *Bundle) Parts() ([]*BundleFile, error) {
	*b.listing = true
	var parts []*BundleFile
	var others []string
	bytes := int64(0)
	for file, err := range b.Files {
		if err != nil {
			return nil, err
		}
		if file.Content == nil {
			continue
		}
		if !strings.EqualFold(path.Ext(file.Path), ".pdf") {
			others = append(others, file.Path)
		}
		if bytes += file.Content.Size; len(parts) == maxMergeFiles || bytes > maxMergeBytes {
			return nil, failf(CodeConflict, "At most %d PDFs of %d bytes in total can be merged. Select fewer files, or download a ZIP file.",
				maxMergeFiles, maxMergeBytes)
		}
		parts = append(parts, file)
	}
	if _, missing := b.Missing(); len(missing) > 0 {
		return nil, failf(CodeConflict, "The PDF would not be complete. %s Download a ZIP file instead.", strings.Join(missing, " "))
	}
	if len(others) > 0 {
		return nil, failf(CodeConflict, "Only PDFs can be merged. Other files: %s. Select PDFs only, or download a ZIP file.", namesOf(others))
	}
	if len(parts) == 0 {
		return nil, failf(CodeConflict, "There are no files to merge.")
	}
	return parts, nil
}

// namesOf lists the first of some names.
func namesOf(names []string) string {
	text := strings.Join(names[:min(len(names), maxMergeNamed)], ", ")
	if more := len(names) - maxMergeNamed; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Title returns the name of a file without its folder and its extension.
func (f *BundleFile) Title() string { return strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)) }

// Open opens a part for a download, and fires the event. It checks the permission again.
func (f *BundleFile) Open(ctx context.Context) (io.ReadCloser, error) {
	content, err := f.Content.service.Content(ctx, f.caller, f.Content.version.FileID, f.Content.VersionID)
	if err != nil && !isLost(err) {
		return nil, err
	}
	if err == nil {
		r, ok, err := content.begin(ctx)
		if ok || err != nil {
			return r, err
		}
	}
	return nil, failf(CodeConflict, "%s was deleted while the PDFs were merged, or you may no longer download it. Request the PDF again.",
		f.Path)
}
