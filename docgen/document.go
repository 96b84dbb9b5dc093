package docgen

import (
	"cmp"
	"context"
	"io"
	"path"
	"strings"

	"platen/pdf/pages"
	"platen/store"
)

// OutputPNG is the type of page images. Batches do not have it.
const OutputPNG = "png"

// DocumentRequest asks for one document, which is generated while the caller waits. Its template is a stored one, or comes with the
// request.
type DocumentRequest struct {
	TemplateID int64
	VersionID  int64  // of the template; 0 for the one that batches use
	Inline     []byte // the template itself, a Word document; nil for a stored one
	InlineName string // the file name of the inline template; may be empty

	Name          string // of the document; empty for the name of the template. A missing extension is added
	Input         Input
	OutputType    string // OutputDocx, OutputPDF, or OutputPNG
	Options       BatchOptions
	Images        PageImages
	DestinationID *int64 // the folder to store the document in; nil to store nothing
}

// PageImages selects the pages of a document that become images.
type PageImages struct {
	Pages string // such as "1-3,5", as package pdf/pages reads it; empty for the first page
	DPI   int64  // resolution in dots per inch; 0 for DefaultDPI
}

// Selection returns the pages.
func (p PageImages) Selection() (pages.Selection, error) { return pages.Parse(cmp.Or(p.Pages, "1")) }

// The resolution of page images, in dots per inch.
const (
	DefaultDPI = 96
	MinDPI     = 24
	MaxDPI     = 300
)

// Document is a finished document.
type Document struct {
	Name       string
	OutputType string
	Content    []byte  // nil for page images
	Images     []Image // for OutputPNG
	Pages      int     // of the document; 0 for OutputDocx, whose pages nobody has counted
	Failures   Failures
	Stored     *Item // the file; nil unless the request has a destination
}

// Image is the image of one page.
type Image struct {
	Page          int // from 1
	Width, Height int // pixels
	PNG           []byte
}

// Status returns StatusCompleted, or StatusCompletedWithError if the document is incomplete.
func (d *Document) Status() Status {
	if len(d.Failures.Errors) > 0 {
		return StatusCompletedWithError
	}
	return StatusCompleted
}

// Problems returns everything that is wrong with the request, as far as it can be checked without the database.
func (r *DocumentRequest) Problems(limits Limits) []Problem {
	var problems []Problem
	switch {
	case r.Inline != nil && r.TemplateID != 0:
		problems = append(problems, invalidField("template", "send either file, for a stored template, or template, not both"))
	case r.Inline != nil && r.VersionID != 0:
		problems = append(problems, invalidField("file_version", "file_version belongs to a stored template: omit it"))
	case r.Inline == nil && r.TemplateID == 0:
		problems = append(problems, Problem{Reason: ReasonMissing, Name: "file",
			Message: "send the id of a stored template as file, or the template itself as template"})
	case r.Inline != nil && len(r.Inline) == 0:
		problems = append(problems, invalidField("template", "the template is empty: send a Word document"))
	case int64(len(r.Inline)) > limits.TemplateBytes:
		problems = append(problems, invalidField("template", "a template can have at most %d bytes, this one has %d", limits.TemplateBytes,
			len(r.Inline)))
	}
	if why := r.outputProblem(); why != "" {
		problems = append(problems, invalidField("output_type", "%s", why))
	}
	_, wrong := r.Options.Engine()
	problems = append(append(problems, wrong...), r.pdfProblems()...)
	if r.Name != "" {
		if why := nameProblem(r.fileName(r.Name), MaxNameLength); why != "" {
			problems = append(problems, invalidField("generated_file_name", "%s", why))
		}
	}
	if why := r.Input.validate(limits); why != "" {
		problems = append(problems, invalidField("user_input", "%s", why))
	}
	return append(problems, r.imageProblems()...)
}

func (r *DocumentRequest) outputProblem() string {
	switch r.OutputType {
	case OutputDocx, OutputPDF, OutputPNG:
		return ""
	}
	return "output_type must be docx, pdf, or png"
}

func (r *DocumentRequest) pdfProblems() []Problem {
	if o := r.Options.PDF; o != nil && o.Merged != nil {
		return []Problem{invalidField("options.pdf.merged", "a single document has nothing to merge: omit merged, or create a batch")}
	}
	outputType := r.OutputType
	if outputType == OutputPNG { // as for a Word document
		outputType = OutputDocx
	}
	return NewBatch{OutputType: outputType, Options: r.Options}.pdfProblems()
}

func (r *DocumentRequest) imageProblems() []Problem {
	var problems []Problem
	if r.OutputType != OutputPNG {
		if r.Images != (PageImages{}) {
			problems = append(problems, invalidField("options.png", `options.png requires output_type "png"; change the output type, or omit `+
				`options.png`))
		}
		return problems
	}
	if _, err := r.Images.Selection(); err != nil {
		problems = append(problems, invalidField("options.png.pages", "%s", err))
	}
	if d := r.Images.DPI; d != 0 && (d < MinDPI || d > MaxDPI) {
		problems = append(problems, invalidField("options.png.dpi", "the resolution of page images must be from %d to %d dots per inch",
			MinDPI, MaxDPI))
	}
	if r.DestinationID != nil {
		problems = append(problems, invalidField("destination_folder", "page images are not stored: omit destination_folder, or use "+
			"another output_type"))
	}
	return problems
}

// fileName returns a name with the extension of the output type.
func (r *DocumentRequest) fileName(name string) string { return withExtension(name, r.OutputType) }

// DocumentOrder is a DocumentRequest that was checked: the caller may use the template and write to the folder.
type DocumentOrder struct {
	DocumentRequest
	VersionID int64        // of the stored template; 0 for an inline one
	Options   BatchOptions // with the defaults
	FileName  string       // of the document
	Requester Requester
	Weight    int // of the caller among users
	policy    int64
}

// OrderDocument checks a request for a document.
func (s *Service) OrderDocument(ctx context.Context, c *Caller, r DocumentRequest) (*DocumentOrder, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return nil, err
	}
	if err := Invalid(r.Problems(s.limits)...); err != nil {
		return nil, err
	}
	if r.DestinationID != nil {
		if err := s.checkRoom(ctx); err != nil {
			return nil, err
		}
	}
	order := &DocumentOrder{DocumentRequest: r, Requester: Requester{UserID: c.User.ID, GlobalContent: c.has(ScopeGlobalContent)}}
	name := cmp.Or(r.InlineName, "Document")
	var defaults Defaults
	err := s.db.Read(ctx, func(q *store.Queries) error {
		if r.Inline == nil {
			template, err := s.findTemplate(ctx, q, c, r.TemplateID, MayDownload)
			if err != nil {
				return err
			}
			version, err := templateVersion(ctx, q, template.row, r.VersionID)
			if err != nil {
				return err
			}
			row, err := q.TemplateDefaults(ctx, r.TemplateID)
			if err != nil {
				return err
			}
			order.VersionID, name, defaults = version.ID, template.row.Name, defaultsOf(row)
		}
		if r.DestinationID != nil {
			folder, err := s.findDestination(ctx, q, c, *r.DestinationID)
			if err != nil {
				return err
			}
			order.policy = folder.policy()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	order.Options = r.Options.withDefaults(defaults, s.defaults)
	order.FileName = r.fileName(cmp.Or(r.Name, strings.TrimSuffix(name, path.Ext(name))))
	order.Weight, err = s.Weight(ctx, c.User.ID)
	return order, err
}

// StoreDocument stores the content of an ordered document in its destination, with its name or, if that is taken, with a number.
func (s *Service) StoreDocument(ctx context.Context, c *Caller, order *DocumentOrder, content io.Reader) (*Item, error) {
	saved, err := s.saveContent(ctx, order.policy, content, "")
	if err != nil {
		return nil, err
	}
	var item *Item
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		folder, err := s.lockFolder(ctx, tx, c, *order.DestinationID)
		if err != nil {
			return err
		}
		d := destination{folder: folder, caller: c, numbers: map[string]int{}}
		id := s.newID()
		if err := s.put(ctx, tx, d, &Output{saved}, id, order.FileName); err != nil {
			return err
		}
		if item, err = s.item(ctx, tx.Queries, c, File, id); err != nil {
			return err
		}
		if err := s.charge(ctx, tx, folder.row.OwnerID, 1, saved.size); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{folder, 1, saved.size}); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, event{trigger: FileUploaded, item: folder.child(File, id)})
	})
	if err != nil {
		return nil, s.abandon(ctx, saved, err)
	}
	return item, nil
}

// FailDocument returns the Error for a document that cannot be generated.
func FailDocument(f Failures) error {
	f = f.Bounded()
	message := "The document cannot be generated."
	if len(f.Errors) > 0 {
		message = f.Errors[0]
	}
	return &Error{Code: CodeDocumentFailed, Message: message, Failures: &f}
}

// CheckRequest asks what is wrong with a template, and with data for it.
type CheckRequest struct {
	DocumentRequest      // of OutputDocx, without a destination
	HasInput        bool // whether to check the data
	Annotated       bool // whether to return a copy of the template with a comment at each problem
}

// Check is what is wrong with a template, and what it needs.
type Check struct {
	Reading   Reading
	Failures  Failures
	Sample    []byte     // data that the template takes; nil if it cannot be read
	Data      *DataCheck // nil if the request has no data, or the template cannot be read
	Annotated []byte     // nil unless requested
}

// DataCheck is the result of generating a document with the data of a check, which is not kept.
type DataCheck struct {
	Status   Status // StatusCompleted, StatusCompletedWithError, or StatusFailed
	Failures Failures
}

// MaxMarks is the maximum number of values of a preview that have a position.
const MaxMarks = 5000

// Preview is the PDF of a document, with the positions of the values on its pages.
type Preview struct {
	Document
	PageSizes []PageSize
	Values    []PreviewValue // in the order of the document
	Omitted   int            // values beyond MaxMarks
}

// PageSize is the size of a page in points.
type PageSize struct{ Width, Height float64 }

// PreviewValue is a value that a tag printed.
type PreviewValue struct {
	Tag      *Detail // the tag, and where it is in the template; without a message
	DataPath string  // of the value in the data, such as items[57].qty; empty if it is not a single value of the data
	Areas    []PreviewArea
}

// PreviewArea is a rectangle on a page, in points from the top left corner.
type PreviewArea struct {
	Page                int // from 1
	X, Y, Width, Height float64
}
