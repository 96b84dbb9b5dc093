package docgen

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
)

// PDFOptions are the options of a batch's PDFs. The methods return the defaults of nil and empty fields.
type PDFOptions struct {
	Standard      string          `json:"standard,omitempty"`    // PDFA2b or PDFA3b
	AttachData    bool            `json:"attach_data,omitempty"` // each PDF contains its user_input as an attachment
	Tagged        *bool           `json:"tagged,omitempty"`      // with its structure, for screen readers
	Bookmarks     *bool           `json:"bookmarks,omitempty"`   // with an outline of the headings
	Watermark     string          `json:"watermark,omitempty"`   // a text across each page
	Pictures      *PDFPictures    `json:"pictures,omitempty"`
	Password      *Secret         `json:"password,omitempty"`       // to open the PDFs
	OwnerPassword *Secret         `json:"owner_password,omitempty"` // lifts the restrictions of the permissions
	Permissions   *PDFPermissions `json:"permissions,omitempty"`
	Merged        *MergedFile     `json:"merged,omitempty"` // one PDF of all documents besides
}

// PDFPictures are the options for the pictures in a PDF.
type PDFPictures struct {
	Lossless bool   `json:"lossless,omitempty"` // images keep their format; otherwise they become JPEG
	Quality  *int64 `json:"quality,omitempty"`  // of JPEG
	MaxDPI   *int64 `json:"max_dpi,omitempty"`  // images with a higher resolution are reduced
}

// PDFPermissions are the permissions of readers of a PDF. Omitted permissions are granted.
type PDFPermissions struct {
	Print     string `json:"print,omitempty"` // PrintAll, PrintLowQuality or PrintNone; empty is PrintAll
	Copy      *bool  `json:"copy,omitempty"`
	Change    *bool  `json:"change,omitempty"`
	Comment   *bool  `json:"comment,omitempty"`
	FillForms *bool  `json:"fill_forms,omitempty"`
	Assemble  *bool  `json:"assemble,omitempty"`
}

// MergedFile is the single PDF into which the documents of a batch are merged.
type MergedFile struct {
	Name string `json:"name"` // of the file; a missing extension is added
}

// The standards that PDFs can follow: parts of ISO 19005, each with conformance level B.
const (
	PDFA2b = "PDF/A-2b"
	PDFA3b = "PDF/A-3b" // allows attached files
)

// The values of Print.
const (
	PrintAll        = "all"
	PrintLowQuality = "low_quality"
	PrintNone       = "none"
)

// Limits and values of the PDF options.
const (
	maxWatermark = 100 // characters
	maxPassword  = 127 // bytes; further ones are ignored (ISO 32000-2)
	maxQuality   = 100
	minDPI       = 36
	maxDPI       = 2400
)

// A Secret hides its value. When it is printed, logged, or encoded, it shows only whether it is set.
type Secret string

// String returns a placeholder for the secret.
func (Secret) String() string { return "(secret)" }

// GoString returns a placeholder.
func (s Secret) GoString() string { return s.String() }

// MarshalJSON encodes every secret as an empty string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`""`), nil }

// IsTagged reports whether PDFs contain the structure of their documents. They do by default, as in Word.
func (o *PDFOptions) IsTagged() bool { return o == nil || isAllowed(o.Tagged) }

// HasBookmarks reports whether PDFs have an outline of their headings. They do by default.
func (o *PDFOptions) HasBookmarks() bool { return o == nil || isAllowed(o.Bookmarks) }

// Protection describes how PDFs are encrypted, and what readers may do.
type Protection struct {
	Password                                   Secret // empty if opening a PDF requires no password
	OwnerPassword                              Secret // "" for a random one
	Print                                      string // PrintAll, PrintLowQuality, or PrintNone
	Copy, Change, Comment, FillForms, Assemble bool
}

// Protection returns how PDFs are encrypted, or nil if they are not.
func (o *PDFOptions) Protection() *Protection {
	if o == nil {
		return nil
	}
	may := o.Permissions
	if may == nil {
		may = &PDFPermissions{}
	}
	p := &Protection{
		Print: cmp.Or(may.Print, PrintAll), Copy: isAllowed(may.Copy), Change: isAllowed(may.Change), Comment: isAllowed(may.Comment),
		FillForms: isAllowed(may.FillForms), Assemble: isAllowed(may.Assemble),
	}
	if o.Password == nil && o.OwnerPassword == nil && p.allowsAll() {
		return nil
	}
	if o.Password != nil {
		p.Password = *o.Password
	}
	if o.OwnerPassword != nil {
		p.OwnerPassword = *o.OwnerPassword
	}
	return p
}

// allowsAll reports whether readers may do everything.
func (p *Protection) allowsAll() bool {
	return p.Print == PrintAll && p.Copy && p.Change && p.Comment && p.FillForms && p.Assemble
}

// isAllowed reports whether a permission is granted, which is the default.
func isAllowed(allowed *bool) bool { return allowed == nil || *allowed }

// pdfProblems returns the problems of the options of a batch's PDFs.
func (b NewBatch) pdfProblems() []Problem {
	o := b.Options.PDF
	if o == nil {
		return nil
	}
	var found pdfProblems
	if b.OutputType == OutputDocx {
		found = append(found, invalidField("options.pdf", `options.pdf requires output_type "pdf"; change the output type, or omit options.pdf`))
	}
	found.ofStandard(o)
	found.ofWatermark(o.Watermark)
	if o.Pictures != nil {
		found.ofPictures(*o.Pictures)
	}
	found.ofPasswords(o)
	if o.Permissions != nil {
		found.ofPermissions(*o.Permissions)
	}
	if o.Merged != nil {
		if why := nameProblem(b.mergedName(), MaxNameLength); why != "" || o.Merged.Name == "" {
			found.add("merged.name", "%s", cmp.Or(why, "a name must not be empty"))
		}
	}
	return found
}

// mergedName returns the name of the merged file.
func (b NewBatch) mergedName() string { return withExtension(b.Options.PDF.Merged.Name, OutputPDF) }

// pdfProblems are problems with the fields of options.pdf.
type pdfProblems []Problem

func (p *pdfProblems) add(field, format string, args ...any) {
	*p = append(*p, invalidField("options.pdf."+field, format, args...))
}

// ofStandard finds options that a standard does not allow.
func (p *pdfProblems) ofStandard(o *PDFOptions) {
	switch o.Standard {
	case "":
		if o.AttachData {
			p.add("attach_data", `attach_data requires the standard %q: send that too, or omit attach_data`, PDFA3b)
		}
		return
	case PDFA2b:
		if o.AttachData {
			p.add("attach_data", "%s does not allow attachments: use %s, or omit attach_data", PDFA2b, PDFA3b)
		}
	case PDFA3b:
	default:
		p.add("standard", "standard must be %s or %s; omit it for an ordinary PDF", PDFA2b, PDFA3b)
		return
	}
	if !o.IsTagged() {
		p.add("tagged", "PDFs of the standard %s are always tagged: omit tagged, or the standard", o.Standard)
	}
	if o.Merged != nil {
		p.add("merged", "a merged file would not conform to the standard %s: omit merged, or the standard", o.Standard)
	}
	if o.Protection() == nil {
		return
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"password", o.Password != nil}, {"owner_password", o.OwnerPassword != nil}, {"permissions", o.Permissions != nil}} {
		if f.given {
			p.add(f.name, "%s forbids encryption (ISO 19005): omit %s, or the standard", o.Standard, f.name)
		}
	}
}

func (p *pdfProblems) ofWatermark(text string) {
	switch n := utf8.RuneCountInString(text); {
	case n > maxWatermark:
		p.add("watermark", "a watermark can have at most %d characters, this one has %d", maxWatermark, n)
	case !isLine(text):
		p.add("watermark", "a watermark must be one line of valid UTF-8, without control characters")
	}
}

func (p *pdfProblems) ofPictures(o PDFPictures) {
	if o.Quality != nil && (*o.Quality < 1 || *o.Quality > maxQuality) {
		p.add("pictures.quality", "the quality of images must be from 1 to %d", maxQuality)
	}
	if o.Lossless && o.Quality != nil {
		p.add("pictures.lossless", "lossless images have no quality: omit quality or lossless")
	}
	if o.MaxDPI != nil && (*o.MaxDPI < minDPI || *o.MaxDPI > maxDPI) {
		p.add("pictures.max_dpi", "the resolution of images must be from %d to %d dots per inch", minDPI, maxDPI)
	}
}

func (p *pdfProblems) ofPasswords(o *PDFOptions) {
	user := p.ofPassword("password", o.Password)
	owner := p.ofPassword("owner_password", o.OwnerPassword)
	switch {
	case owner == "":
	case owner == user:
		p.add("owner_password", "owner_password must differ from password, because anyone with it can lift all restrictions")
	case o.Password == nil && o.Protection().allowsAll():
		p.add("owner_password", "owner_password has no effect without a password or permissions: send one of them too, or omit it")
	}
}

// ofPassword finds the problems of a password without revealing it, and returns its prepared form (ISO 32000-2), which lacks invisible
// differences.
func (p *pdfProblems) ofPassword(field string, password *Secret) (counts string) {
	if password == nil {
		return ""
	}
	counts, err := stringprep.SASLprep.Prepare(string(*password))
	switch {
	case err != nil || !utf8.ValidString(string(*password)):
		p.add(field, "a password must not contain control or private-use characters, or mix left-to-right and right-to-left text")
	case counts == "":
		p.add(field, "a password must not be empty: omit %s for no password", field)
	case len(counts) > maxPassword:
		p.add(field, "a password can have at most %d bytes in UTF-8, this one has %d", maxPassword, len(counts))
	}
	return counts
}

// ofPermissions adds permissions that cannot be denied separately, because others include them (ISO 32000-2, table 22).
func (p *pdfProblems) ofPermissions(may PDFPermissions) {
	switch may.Print {
	case "", PrintAll, PrintLowQuality, PrintNone:
	default:
		p.add("permissions.print", "print must be %s, %s, or %s", PrintAll, PrintLowQuality, PrintNone)
	}
	if isAllowed(may.Comment) && !isAllowed(may.FillForms) {
		p.add("permissions.fill_forms", "comment includes filling in forms: forbid comment too, or allow both")
	}
	if isAllowed(may.Change) && !isAllowed(may.Assemble) {
		p.add("permissions.assemble", "change includes assembling pages: forbid change too, or allow both")
	}
}

// isLine reports whether a text can be shown on one line.
func isLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}
