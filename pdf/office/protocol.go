package office

// A worker reads orders from one pipe and answers on another, one JSON value each. It is spoken by one binary only, so it has
// no versions.

// The pipes of a worker, besides the usual ones.
const (
	ordersFD  = 3
	answersFD = 4
)

// Names in the folder of a worker.
const (
	profileFolder   = "profile"
	documentsFolder = "documents" // emptied after each document
	fontsFile       = "fonts.conf"
	homeFolder      = "home" // for caches and what LibreOffice takes for a temporary folder
)

// order asks for one conversion: document.docx in the folder of documents to document.pdf there.
type order struct {
	Filter string `json:"filter"` // options of writer_pdf_Export
}

const (
	inputFile  = "document.docx"
	outputFile = "document.pdf"
)

// answer ends a conversion; the first one says that the worker is ready.
type answer struct {
	Error string `json:"error,omitempty"`

	// Of the first answer only:
	Version string   `json:"version,omitempty"` // what LibreOffice says of itself
	Missing []string `json:"missing,omitempty"` // of the sandbox
}
