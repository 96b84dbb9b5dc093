package office

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"platen/docx/fonts"
	"platen/pdf/font"
)

// openFonts returns the available fonts: the operator's, the system's, and those bundled with LibreOffice.
func openFonts(operator, program string) (*font.Library, error) {
	library, err := font.Open(font.Folders{Operator: operator, System: append(slices.Clone(font.SystemFolders), bundledFonts(program))})
	if err != nil {
		return nil, fmt.Errorf("fonts for PDFs: %w", err)
	}
	return library, nil
}

// bundledFonts returns the folder of the fonts bundled with LibreOffice.
func bundledFonts(program string) string {
	return filepath.Join(filepath.Dir(program), "share", "fonts", "truetype")
}

// inspection is what is known about the fonts of a document.
type inspection struct {
	report *font.Report // nil if the document cannot be read
	embeds bool         // it embeds fonts, or may embed them because it cannot be read
}

// inspect starts to read which fonts a document asks for, while LibreOffice converts it. The conversion takes much
// longer. The channel receives one value.
func (o *Office) inspect(document []byte) <-chan inspection {
	found := make(chan inspection, 1)
	go func() {
		inspected, err := o.fontsOf(document)
		if err != nil { // LibreOffice may still be able to read it, with its fonts
			inspected = inspection{embeds: true}
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

// complete adds the fonts embedded in the PDF to the report.
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
