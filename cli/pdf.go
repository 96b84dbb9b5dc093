package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/pdf"
	"platen/pdf/office"
)

// pdfConfig says how LibreOffice makes PDFs, for the server and for the commands that make some.
type pdfConfig struct {
	PDFWorkers    int           `name:"pdf-workers" default:"0" env:"PLATEN_PDF_WORKERS" group:"PDF" help:"Documents that become PDFs at the same time, each by a LibreOffice of its own; 0 for as many as there are cores."`
	LibreOffice   string        `name:"libreoffice" env:"PLATEN_LIBREOFFICE" placeholder:"FOLDER" group:"PDF" help:"Folder of LibreOffice, such as /opt/libreoffice24.8. Without it, where packages put it."`
	PDFFonts      string        `name:"pdf-fonts" env:"PLATEN_PDF_FONTS" placeholder:"FOLDER" group:"PDF" help:"Folder of fonts, with folders in it, that are preferred to those of the system: such as those of Word, or of your company."`
	PDFDeadline   time.Duration `name:"pdf-deadline" default:"30s" env:"PLATEN_PDF_DEADLINE" group:"PDF" help:"How long a document may take to become a PDF. Then it is tried once more, apart from the others, for three times as long."`
	PDFRecycle    int           `name:"pdf-recycle" default:"500" env:"PLATEN_PDF_RECYCLE" group:"PDF" help:"Documents after which a LibreOffice is started anew."`
	PDFMemory     byteSize      `name:"pdf-memory" default:"1GiB" env:"PLATEN_PDF_MEMORY" group:"PDF" help:"Memory with which a LibreOffice is started anew after its document. Half more is all that it gets."`
	PDFFolder     string        `name:"pdf-folder" env:"PLATEN_PDF_FOLDER" placeholder:"FOLDER" group:"PDF" help:"Where LibreOffice works, on a fast disk. It needs little room and nothing there is kept. Without it, the folder for temporary files."`
	PDFSandbox    string        `name:"pdf-sandbox" default:"best-effort" enum:"require,best-effort" env:"PLATEN_PDF_SANDBOX" group:"PDF" help:"What to do where the kernel, systemd, or the container denies a part of LibreOffice's sandbox: best-effort goes on with a warning in the log (default), require does not start."`
	PDFQuarantine string        `name:"pdf-quarantine" env:"PLATEN_PDF_QUARANTINE" placeholder:"FOLDER" group:"PDF" help:"Folder for copies of documents that LibreOffice broke down over, with what is known of it, to be reported; off for none. Without it, a server has quarantine in its data folder, and a command keeps none."`
}

// Only this file knows which engine makes PDFs. What is above it knows pdf.Engine.

// workAsEngine turns a process that the engine started into a part of it, and does not return then. It needs the main thread,
// which another goroutine may take later.
func workAsEngine() { office.Worker(os.Args) }

// installed returns where the engine is installed, or a *pdf.UnavailableError. It starts nothing.
func (c *pdfConfig) installed() (string, error) { return office.Find(c.LibreOffice) }

// longestConversion is how long one conversion takes at most, besides waiting for its turn.
func (c *pdfConfig) longestConversion() time.Duration { return office.LongestConversion(c.PDFDeadline) }

// leastPDFMemory is less than LibreOffice holds with a small document.
const leastPDFMemory = 256 << 20

// Validate is called by kong when everything is read. It reports all that is wrong.
func (c *pdfConfig) Validate() error {
	var problems []error
	if c.PDFWorkers < 0 || c.PDFWorkers > 1000 {
		problems = append(problems, fmt.Errorf("--pdf-workers must be from 0 to 1000, not %d", c.PDFWorkers))
	}
	if c.PDFDeadline < time.Second || c.PDFDeadline > time.Hour {
		problems = append(problems, fmt.Errorf("--pdf-deadline must be from 1s to 1h, not %v", c.PDFDeadline))
	}
	if c.PDFRecycle < 1 {
		problems = append(problems, fmt.Errorf("--pdf-recycle must be at least 1, not %d", c.PDFRecycle))
	}
	if c.PDFMemory < leastPDFMemory {
		problems = append(problems, fmt.Errorf("--pdf-memory must be at least %v, not %v: LibreOffice needs that much for a letter", byteSize(leastPDFMemory), c.PDFMemory))
	}
	return errors.Join(problems...)
}

// workers is how many documents become PDFs at the same time.
func (c *pdfConfig) workers() int { return cmp.Or(c.PDFWorkers, cores) }

// thisProgram is the program that runs, also when its file has been replaced by another version since.
const thisProgram = "/proc/self/exe"

// keepNothing is the quarantine that is none.
const keepNothing = "off"

// spareWorkers is the number of LibreOffices that a server starts only while long documents occupy all the others: the documents of other
// users need not wait for those.
const spareWorkers = 1

// engine is what makes PDFs, with a number of spare workers. Whoever asks for it closes it. Without LibreOffice it is one that says what to
// install.
func (c *pdfConfig) engine(log *slog.Logger, registry prometheus.Registerer, spare int) (pdf.Engine, error) {
	cfg := office.Config{
		Worker: thisProgram, TimeZone: os.Getenv("TZ"),
		Workers: c.workers(), Spare: spare, Deadline: c.PDFDeadline, Recycle: c.PDFRecycle, MaxMemory: int64(c.PDFMemory),
		RequireSandbox: c.PDFSandbox == "require", Log: log, Metrics: registry,
	}
	quarantine := c.PDFQuarantine
	if quarantine == keepNothing {
		quarantine = ""
	}
	for to, path := range map[*string]string{&cfg.Program: c.LibreOffice, &cfg.Fonts: c.PDFFonts, &cfg.Folder: c.PDFFolder, &cfg.Quarantine: quarantine} {
		if err := absolute(to, path); err != nil {
			return nil, err
		}
	}
	if cfg.Folder != "" {
		if err := os.MkdirAll(cfg.Folder, 0o700); err != nil {
			return nil, fmt.Errorf("--pdf-folder: %w", err)
		}
	}
	return office.New(cfg)
}

// absolute sets a path that is valid in every folder: workers have folders of their own.
func absolute(to *string, path string) (err error) {
	if path != "" {
		*to, err = filepath.Abs(path)
	}
	return err
}

// pdfEngine is what makes the PDFs of the server. It says in the log when there is nothing to make them with.
func (c *config) pdfEngine(log *slog.Logger, registry prometheus.Registerer) (pdf.Engine, error) {
	settings := c.pdfConfig
	settings.PDFQuarantine = cmp.Or(settings.PDFQuarantine, filepath.Join(c.Data, "quarantine"))
	engine, err := settings.engine(log, registry, spareWorkers)
	if err != nil {
		return nil, err
	}
	switch missing := office.MissingSandbox(); {
	case engine.Available() != nil:
		log.Warn("PDFs cannot be made", "reason", engine.Available())
	case len(missing) > 0:
		log.Warn("the sandbox of LibreOffice is incomplete", "missing", missing, "pdf_sandbox", c.PDFSandbox)
	default:
		log.Info("the sandbox of LibreOffice is complete", "pdf_sandbox", c.PDFSandbox)
	}
	return engine, nil
}
