package office

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"platen/docx/fonts"
	"platen/pdf/font"
)

// openFonts reads which fonts there are: the operator's, the system's, and those that LibreOffice brings.
func openFonts(operator, program string) (*font.Library, error) {
	library, err := font.Open(font.Folders{Operator: operator, System: append(slices.Clone(font.SystemFolders), bundledFonts(program))})
	if err != nil {
		return nil, fmt.Errorf("fonts for PDFs: %w", err)
	}
	return library, nil
}

// bundledFonts is the folder of the fonts that come with a LibreOffice.
func bundledFonts(program string) string {
	return filepath.Join(filepath.Dir(program), "share", "fonts", "truetype")
}

// inspection is what is found out of a document's fonts while it is converted.
type inspection struct {
	report *font.Report // nil where the document cannot be read
	embeds bool
}

// inspect begins to read which fonts a document asks for. LibreOffice is busy with it for much longer.
func (o *Office) inspect(document []byte) <-chan inspection {
	found := make(chan inspection, 1)
	go func() {
		inspected, err := o.fontsOf(document)
		if err != nil { // LibreOffice may know what to make of it
			inspected = inspection{}
		}
		found <- inspected
	}()
	return found
}

func (o *Office) fontsOf(document []byte) (inspection, error) {
	asked, err := fonts.Read(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		return inspection{}, err
	}
	return inspection{o.fonts.Report(asked), asked.Embeds()}, nil
}

// complete adds to a report which fonts are in the PDF.
func (o *Office) complete(report *font.Report, pdf []byte) error {
	if report == nil {
		return nil
	}
	names, err := font.Used(bytes.NewReader(pdf))
	if err != nil {
		return fmt.Errorf("the fonts of a PDF: %w", err)
	}
	report.Used = o.fonts.UsedIn(names)
	return nil
}
