package server

import "platen/docgen"

type pdfOptions struct {
	Standard      string          `json:"standard,omitempty" enum:"PDF/A-2b,PDF/A-3b" doc:"The archiving standard (ISO 19005) of each PDF (default: an ordinary PDF). Such PDFs are always tagged, and cannot be encrypted or merged."`
	AttachData    bool            `json:"attach_data,omitempty" doc:"Attach the user_input to each PDF, as a JSON file (default false). Requires the standard PDF/A-3b."`
	Tagged        *bool           `json:"tagged,omitempty" doc:"Keep the structure of the document (headings, lists, tables) in the PDF, for screen readers and text extraction (default true)."`
	Bookmarks     *bool           `json:"bookmarks,omitempty" doc:"Add an outline of the headings, for the navigation pane of a viewer (default true). Empty without headings."`
	Watermark     string          `json:"watermark,omitempty" doc:"A line of text across each page, such as DRAFT, of up to 100 characters." example:"DRAFT"`
	Pictures      *pdfPictures    `json:"pictures,omitempty" doc:"How to store images in the PDF."`
	Password      *string         `json:"password,omitempty" format:"password" writeOnly:"true" doc:"The password to open the PDF, up to 127 bytes in UTF-8. It is never returned, and is deleted when the batch has ended."`
	OwnerPassword *string         `json:"owner_password,omitempty" format:"password" writeOnly:"true" doc:"The password that lifts restricted permissions. It must differ from password. By default, restricted PDFs get a random one that is not stored."`
	Permissions   *pdfPermissions `json:"permissions,omitempty" doc:"What readers may do with the PDF. Everything is allowed by default. A restricted PDF is encrypted, and viewers that respect the restrictions ask for owner_password."`
	Merged        *pdfMerged      `json:"merged,omitempty" doc:"Merge all documents of the batch, in their order, into one more PDF. It is saved in the same folder with the same protection, and the batch shows its status."`
}

type pdfPictures struct {
	Lossless bool   `json:"lossless,omitempty" doc:"Store images without loss, in larger files, instead of as JPEG (default false)."`
	Quality  *int64 `json:"quality,omitempty" minimum:"1" maximum:"100" doc:"JPEG quality (default 90). Cannot be combined with lossless."`
	MaxDPI   *int64 `json:"max_dpi,omitempty" minimum:"36" maximum:"2400" doc:"Maximum resolution in dots per inch, at the size on the page (default 300). Larger images are scaled down."`
}

type pdfPermissions struct {
	Print     string `json:"print,omitempty" enum:"all,low_quality,none" doc:"Printing (default all). low_quality prints at about 150 dots per inch."`
	Copy      *bool  `json:"copy,omitempty" doc:"Copy text and images. Screen readers can always read them."`
	Change    *bool  `json:"change,omitempty" doc:"Change the content."`
	Comment   *bool  `json:"comment,omitempty" doc:"Add comments, and fill in forms."`
	FillForms *bool  `json:"fill_forms,omitempty" doc:"Fill in forms. comment includes it, so it cannot be forbidden while comment is allowed."`
	Assemble  *bool  `json:"assemble,omitempty" doc:"Insert, rotate, and delete pages. change includes it, so it cannot be forbidden while change is allowed."`
}

type pdfMerged struct {
	Name string `json:"name" doc:"The name of the merged file. If it does not end in .pdf, the extension is added." example:"All letters"`
}

// asked converts the options of a request.
func (o *pdfOptions) asked() *docgen.PDFOptions {
	if o == nil {
		return nil
	}
	return &docgen.PDFOptions{
		Standard: o.Standard, AttachData: o.AttachData, Tagged: o.Tagged, Bookmarks: o.Bookmarks, Watermark: o.Watermark,
		Pictures: (*docgen.PDFPictures)(o.Pictures), Password: (*docgen.Secret)(o.Password), OwnerPassword: (*docgen.Secret)(o.OwnerPassword),
		Permissions: (*docgen.PDFPermissions)(o.Permissions), Merged: (*docgen.MergedFile)(o.Merged),
	}
}

// pdfOptionsOf encodes options, without passwords.
func pdfOptionsOf(o *docgen.PDFOptions) *pdfOptions {
	if o == nil {
		return nil
	}
	return &pdfOptions{
		Standard: o.Standard, AttachData: o.AttachData, Tagged: o.Tagged, Bookmarks: o.Bookmarks, Watermark: o.Watermark,
		Pictures: (*pdfPictures)(o.Pictures), Permissions: (*pdfPermissions)(o.Permissions), Merged: (*pdfMerged)(o.Merged),
	}
}
