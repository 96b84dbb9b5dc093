package server

import "platen/docgen"

type pdfOptions struct {
	Standard      string          `json:"standard,omitempty" enum:"PDF/A-2b,PDF/A-3b" doc:"The standard for archiving (ISO 19005) that each PDF follows. It is then always tagged, and cannot be encrypted or merged. An ordinary PDF when left out."`
	AttachData    bool            `json:"attach_data,omitempty" doc:"Attach to each PDF the user_input that it was made of, as a JSON file. Needs the standard PDF/A-3b."`
	Tagged        *bool           `json:"tagged,omitempty" doc:"Keep the structure of the document (headings, lists, tables) in the PDF, for screen readers and for reuse of the text. True when left out."`
	Bookmarks     *bool           `json:"bookmarks,omitempty" doc:"An outline of the headings, for the navigation pane of a viewer. True when left out; it is empty without headings."`
	Watermark     string          `json:"watermark,omitempty" doc:"A text across each page, such as DRAFT: one line of up to 100 characters." example:"DRAFT"`
	Pictures      *pdfPictures    `json:"pictures,omitempty" doc:"How pictures are kept."`
	Password      *string         `json:"password,omitempty" format:"password" writeOnly:"true" doc:"Whoever opens a PDF needs this password. Up to 127 bytes in UTF-8. It is never shown, and forgotten when the batch has ended."`
	OwnerPassword *string         `json:"owner_password,omitempty" format:"password" writeOnly:"true" doc:"The password that lifts what permissions forbid. It must differ from password. Where permissions forbid something and it is left out, it is one that nobody knows."`
	Permissions   *pdfPermissions `json:"permissions,omitempty" doc:"What whoever opens a PDF may do with it. What is left out is allowed. With anything forbidden the PDF is encrypted, and viewers that keep to the rules ask for owner_password."`
	Merged        *pdfMerged      `json:"merged,omitempty" doc:"One PDF of all documents of the batch, in their order, besides the single files. It lies in the same folder, with the same protection; the batch says how it stands."`
}

type pdfPictures struct {
	Lossless bool   `json:"lossless,omitempty" doc:"Keep pictures without loss, in larger files, instead of as JPEG."`
	Quality  *int64 `json:"quality,omitempty" minimum:"1" maximum:"100" doc:"The quality of JPEG; 90 when left out. Not together with lossless."`
	MaxDPI   *int64 `json:"max_dpi,omitempty" minimum:"36" maximum:"2400" doc:"Pictures with more dots per inch, in the size that they are shown in, are made smaller; 300 when left out."`
}

type pdfPermissions struct {
	Print     string `json:"print,omitempty" enum:"all,low_quality,none" doc:"all when left out; low_quality prints at about 150 dots per inch."`
	Copy      *bool  `json:"copy,omitempty" doc:"Take text and pictures out. Screen readers may always read."`
	Change    *bool  `json:"change,omitempty" doc:"Change the content."`
	Comment   *bool  `json:"comment,omitempty" doc:"Add comments, and fill in forms."`
	FillForms *bool  `json:"fill_forms,omitempty" doc:"Fill in forms. Cannot be forbidden while comment is allowed, which includes it."`
	Assemble  *bool  `json:"assemble,omitempty" doc:"Insert, turn and remove pages. Cannot be forbidden while change is allowed, which includes it."`
}

type pdfMerged struct {
	Name string `json:"name" doc:"The name of the merged file; .pdf is added where it is missing." example:"All letters"`
}

// asked is what a request asks for.
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

// pdfOptionsOf shows options, without passwords.
func pdfOptionsOf(o *docgen.PDFOptions) *pdfOptions {
	if o == nil {
		return nil
	}
	return &pdfOptions{
		Standard: o.Standard, AttachData: o.AttachData, Tagged: o.Tagged, Bookmarks: o.Bookmarks, Watermark: o.Watermark,
		Pictures: (*pdfPictures)(o.Pictures), Permissions: (*pdfPermissions)(o.Permissions), Merged: (*pdfMerged)(o.Merged),
	}
}
