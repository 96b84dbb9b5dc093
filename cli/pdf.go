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

	"platen/docgen"
	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/raster"
)

// pdfConfig configures PDF conversion with LibreOffice, for the server and for commands that generate PDFs.
type pdfConfig struct {
	PDFWorkers    int           `name:"pdf-workers" default:"0" env:"PLATEN_PDF_WORKERS" group:"PDF" help:"Number of concurrent PDF conversions, each in its own LibreOffice process (default 0: one per core)."`
	LibreOffice   string        `name:"libreoffice" env:"PLATEN_LIBREOFFICE" placeholder:"FOLDER" group:"PDF" help:"Folder of LibreOffice, such as /opt/libreoffice24.8 (default: where packages install it)."`
	PDFFonts      string        `name:"pdf-fonts" env:"PLATEN_PDF_FONTS" placeholder:"FOLDER" group:"PDF" help:"Folder with fonts that take precedence over the system's, such as those of Word or of your company. Includes subfolders."`
	PDFDeadline   time.Duration `name:"pdf-deadline" default:"30s" env:"PLATEN_PDF_DEADLINE" group:"PDF" help:"Maximum time to convert one document (default 30s). Documents that exceed it are retried once in isolation, with three times the limit."`
	PDFRecycle    int           `name:"pdf-recycle" default:"500" env:"PLATEN_PDF_RECYCLE" group:"PDF" help:"Number of documents after which a LibreOffice process is restarted (default 500)."`
	PDFMemory     byteSize      `name:"pdf-memory" default:"1GiB" env:"PLATEN_PDF_MEMORY" group:"PDF" help:"Memory from which a LibreOffice process is restarted after its current document (default 1GiB). It can use at most 1.5 times as much."`
	PDFFolder     string        `name:"pdf-folder" env:"PLATEN_PDF_FOLDER" placeholder:"FOLDER" group:"PDF" help:"Working folder of LibreOffice, preferably on a fast disk (default: the folder for temporary files). It needs little space, and nothing there is kept."`
	PDFSandbox    string        `name:"pdf-sandbox" default:"best-effort" enum:"require,best-effort" env:"PLATEN_PDF_SANDBOX" group:"PDF" help:"What to do if the kernel, systemd, or the container denies a part of LibreOffice's sandbox (default best-effort). best-effort: log a warning and continue. require: do not start."`
	PDFQuarantine string        `name:"pdf-quarantine" env:"PLATEN_PDF_QUARANTINE" placeholder:"FOLDER" group:"PDF" help:"Folder for copies of documents that crash LibreOffice, with a report; off to keep none (default: quarantine in the data folder for a server, off for other commands)."`
}

// Only this file knows the implementation of the PDF engine. Everything above uses pdf.Engine.

// workAsEngine runs a process that the engine, or a rasterizer, started as its worker, and does not return then. It needs the main thread,
// which another goroutine may take later.
func workAsEngine() {
	office.Worker(os.Args)
	raster.Worker(os.Args)
}

// installed returns where the engine is installed, or a *pdf.UnavailableError. It does not start it.
func (c *pdfConfig) installed() (string, error) { return office.Find(c.LibreOffice) }

// drawsPages returns the program that draws pages of PDFs as images, or a *pdf.UnavailableError. It does not start it.
func drawsPages() (string, error) { return raster.Find("") }

// rasterizer draws pages of PDFs for the server.
func (c *pdfConfig) rasterizer() *raster.Rasterizer {
	return raster.New(raster.Config{Worker: thisProgram, MaxBytes: maxPageImages, RequireSandbox: c.PDFSandbox == "require"})
}

// maxPageImages is the largest size in bytes of all page images of one document, which are in memory until they are sent.
const maxPageImages = 64 << 20

// longestConversion returns the maximum time of one conversion, without waiting for its turn.
func (c *pdfConfig) longestConversion() time.Duration { return office.LongestConversion(c.PDFDeadline) }

// leastPDFMemory is less than LibreOffice uses for a small document.
const leastPDFMemory = 256 << 20

// kong calls Validate after parsing. It reports everything that is wrong.
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
		problems = append(problems, fmt.Errorf("--pdf-memory must be at least %v, not %v: LibreOffice needs that much for a short letter",
			byteSize(leastPDFMemory), c.PDFMemory))
	}
	return errors.Join(problems...)
}

// workers returns the number of concurrent conversions.
func (c *pdfConfig) workers() int { return cmp.Or(c.PDFWorkers, cores) }

// thisProgram is the running program, even after its file was replaced by another version.
const thisProgram = "/proc/self/exe"

// keepNothing is the value of --pdf-quarantine that disables it.
const keepNothing = "off"

// spareWorkers is the number of LibreOffice processes that a server starts only while long documents occupy all others, so that the
// documents of other users do not wait for those.
const spareWorkers = 1

// engine returns the PDF engine, with a number of spare workers. The caller closes it. Without LibreOffice, its errors say what to
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
	for to, path := range map[*string]string{&cfg.Program: c.LibreOffice, &cfg.Fonts: c.PDFFonts, &cfg.Folder: c.PDFFolder,
		&cfg.Quarantine: quarantine} {
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

// engineState describes the work of an engine.
func engineState(engine pdf.Engine) docgen.PDFEngine {
	var described docgen.PDFEngine
	if err := engine.Available(); err != nil {
		described.Problem = err.Error()
	}
	if libreOffice, ok := engine.(*office.Office); ok {
		s := libreOffice.State()
		described.Workers, described.Busy, described.Waiting = s.Workers, s.Busy, s.Waiting
		described.Starts, described.Stopped, described.Poison = s.Starts, s.Stopped, s.Poison
	}
	return described
}

// absolute makes a path absolute, because workers have other working folders.
func absolute(to *string, path string) (err error) {
	if path != "" {
		*to, err = filepath.Abs(path)
	}
	return err
}

// pdfEngine returns the PDF engine of the server. It logs a warning if the engine cannot convert documents.
func (c *config) pdfEngine(log *slog.Logger, registry prometheus.Registerer) (pdf.Engine, error) {
	settings := c.pdfConfig
	settings.PDFQuarantine = cmp.Or(settings.PDFQuarantine, filepath.Join(c.Data, "quarantine"))
	engine, err := settings.engine(log, registry, spareWorkers)
	if err != nil {
		return nil, err
	}
	switch missing := office.MissingSandbox(); {
	case engine.Available() != nil:
		log.Warn("PDF conversion is not available", "reason", engine.Available())
	case len(missing) > 0:
		log.Warn("the sandbox of LibreOffice is incomplete", "missing", missing, "pdf_sandbox", c.PDFSandbox)
	default:
		log.Info("the sandbox of LibreOffice is complete", "pdf_sandbox", c.PDFSandbox)
	}
	return engine, nil
}
