package docx

import (
	"bytes"
	"context"
	"fmt"

	"platen/budget"
	"platen/docx/compile"
	"platen/docx/lang"
)

// UpdateContents rewrites the tables of contents of a Word document from its headings, for conversion to PDF. Tags in it are text. It
// returns the file unchanged if it has no such tables, or if they are to be kept.
func UpdateContents(ctx context.Context, file []byte, contents Contents) ([]byte, error) {
	if contents == ContentsKeep {
		return file, nil
	}
	meter := budget.ForTemplate(ctx, -1)
	made, err := compile.File(meter, file, compile.Options{Contents: contents, NoTags: true})
	if err != nil {
		return nil, err
	}
	if !made.Document.HasTOC {
		return file, nil
	}
	var out bytes.Buffer
	if _, err := made.Document.Execute(ctx, &out, new(lang.Object), Options{ForPDF: true}); err != nil {
		return nil, fmt.Errorf("update the tables of contents: %w", err)
	}
	return out.Bytes(), nil
}
