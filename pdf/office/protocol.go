package office

// A worker reads orders from one pipe and writes answers to another, one JSON value each. Both ends are the same
// binary, so the protocol has no versions.

// The pipes of a worker, after the standard streams.
const (
	ordersFD  = 3
	answersFD = 4
)

// Names in the folder of a worker.
const (
	profileFolder   = "profile"
	documentsFolder = "documents" // emptied after each document
	fontsFile       = "fonts.conf"
	homeFolder      = "home" // caches and temporary files of LibreOffice
)

// order requests one conversion, from document.docx to document.pdf in the documents folder.
type order struct {
	Filter string `json:"filter"` // options of writer_pdf_Export
}

const (
	inputFile  = "document.docx"
	outputFile = "document.pdf"
)

// answer is the result of a conversion. The first answer means that the worker is ready.
type answer struct {
	Error string `json:"error,omitempty"`

	// In the first answer only:
	Version string   `json:"version,omitempty"` // LibreOffice's version information, as JSON
	Missing []string `json:"missing,omitempty"` // missing parts of the sandbox
}
