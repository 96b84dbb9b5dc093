package cli

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"

	"platen/server"
)

// memorySize is a byteSize that may be left to Platen.
type memorySize int64

// autoMemory is how a memorySize of 0 is written, which Platen derives.
const autoMemory = "auto"

func (m *memorySize) UnmarshalText(text []byte) error {
	if s := string(text); s == autoMemory || s == "0" {
		*m = 0
		return nil
	}
	return (*byteSize)(m).UnmarshalText(text)
}

func (m memorySize) String() string {
	if m == 0 {
		return autoMemory
	}
	return byteSize(m).String()
}

// Limits of what is derived from the memory.
const (
	leastMemory        = 256 << 20 // for the server process: less is not enough for a large template
	softShare          = 0.9       // of the process's memory is GOMEMLIMIT; the rest is for what Go does not count
	leastIsolated      = 512 << 20 // for a process that generates a document in isolation: less is not enough for Go's own
	leastTemplateCache = 16 << 20
	mostTemplateCache  = 256 << 20
	mostInFlight       = 1 << 30
	leastConnections   = 256
	mostConnections    = 4096
	connectionMemory   = 512 << 10 // of GOMEMLIMIT for each connection, which takes up to 200 KiB while a header arrives
	hardOverSoft       = 1.5       // a LibreOffice process gets this much of --pdf-memory, and no more
)

// memoryAsked is what the memory plan depends on.
type memoryAsked struct {
	Total         int64 // of the machine, the control group, or --memory
	Explicit      bool  // whether --memory says so
	GoLimit       int64 // GOMEMLIMIT of the environment; 0 when it is not set
	Workers       int   // LibreOffice processes; 0 without LibreOffice
	FixedWorkers  bool  // whether --pdf-workers says so
	WorkerMemory  int64 // --pdf-memory
	TemplateCache int64 // 0 to derive it
	MaxBatch      int64
	Connections   int   // --max-connections; 0 to derive it
	OpenFiles     int64 // that the process may have; 0 when it is not known
}

// memoryPlan is how the memory is divided. Sizes are in bytes.
type memoryPlan struct {
	Total         int64
	Workers       int   // LibreOffice processes beside a spare one and one for documents in isolation
	Office        int64 // what all of them get at most
	Server        int64 // what is left for the server process
	GoLimit       int64 // GOMEMLIMIT
	TemplateCache int64
	InFlight      int64 // what requests and their results hold
	Connections   int   // how many there are at a time
	Notes         []string
}

// planMemory divides the memory. It is the only place where that is decided. What contradicts --memory is an error; what does
// not fit the machine is scaled down, with a note.
func planMemory(a memoryAsked) (memoryPlan, error) {
	p := memoryPlan{Total: a.Total, Workers: a.Workers}
	p.Office = officeMemory(a.Workers, a.WorkerMemory)
	for !a.FixedWorkers && p.Workers > 1 && a.Total-p.Office < max(leastMemory, a.Total/4) {
		p.Workers--
		p.Office = officeMemory(p.Workers, a.WorkerMemory)
	}
	if p.Workers < a.Workers {
		p.note("%d LibreOffice processes instead of %d, because more do not fit into %s", p.Workers, a.Workers, inGiB(a.Total))
	}
	p.Server = a.Total - p.Office
	if p.Server < leastMemory {
		if a.Explicit {
			return p, fmt.Errorf("--memory %v is not enough: %d LibreOffice processes of --pdf-memory, a spare one, and one for documents in isolation, may take %s, "+
				"and the server needs %v besides; raise --memory, or lower --pdf-workers or --pdf-memory",
				byteSize(a.Total), p.Workers, inGiB(p.Office), byteSize(leastMemory))
		}
		p.Server = max(a.Total/2, min(a.Total, leastMemory))
		p.note("LibreOffice may take %s of %s; lower --pdf-workers or --pdf-memory, or the machine may run out of memory", inGiB(p.Office), inGiB(a.Total))
	}
	p.GoLimit = int64(float64(p.Server) * softShare)
	if a.GoLimit > 0 {
		p.GoLimit, p.Server = a.GoLimit, int64(float64(a.GoLimit)/softShare)
		p.note("GOMEMLIMIT of the environment is used")
	}
	return p, p.divide(a)
}

// divide gives the parts of the server process their shares.
func (p *memoryPlan) divide(a memoryAsked) error {
	p.InFlight = min(p.GoLimit/4, mostInFlight)
	p.divideConnections(a)
	p.TemplateCache = a.TemplateCache
	if a.TemplateCache == 0 {
		p.TemplateCache = min(max(p.GoLimit/8, leastTemplateCache), mostTemplateCache)
	}
	if p.TemplateCache > p.GoLimit/2 {
		return fmt.Errorf("--template-cache %v is more than half of the server's memory, %s; lower it, or raise --memory",
			byteSize(p.TemplateCache), inGiB(p.GoLimit))
	}
	if need := server.BodyMemory(a.MaxBatch); need > p.GoLimit/2 {
		if a.Explicit {
			return fmt.Errorf("--max-batch %v takes up to %s to be read, more than half of the server's memory, %s; lower it, or raise --memory",
				byteSize(a.MaxBatch), inGiB(need), inGiB(p.GoLimit))
		}
		p.note("a batch of --max-batch %v may take %s of %s; lower --max-batch", byteSize(a.MaxBatch), inGiB(need), inGiB(p.GoLimit))
	}
	return nil
}

// divideConnections decides how many connections there may be. They get at most half of the files that the process may open.
func (p *memoryPlan) divideConnections(a memoryAsked) {
	p.Connections = a.Connections
	if a.Connections == 0 {
		p.Connections = int(min(max(p.GoLimit/connectionMemory, leastConnections), mostConnections))
	}
	if files := int(a.OpenFiles / 2); files > 0 && p.Connections > files {
		p.note("%d connections at a time instead of %d, because the process may open %d files only; raise that limit", files, p.Connections, a.OpenFiles)
		p.Connections = files
	}
}

func (p *memoryPlan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// officeMemory is what LibreOffice processes get at most: workers, spare workers, and one for documents in isolation.
func officeMemory(workers int, each int64) int64 {
	if workers == 0 {
		return 0
	}
	return int64(float64(workers+spareWorkers+1) * float64(each) * hardOverSoft)
}

// planMemory divides the memory that there is by the settings.
func (c *config) planMemory() (memoryPlan, error) {
	a := memoryAsked{
		Total: int64(c.Memory), Explicit: c.Memory != 0, FixedWorkers: c.PDFWorkers != 0, WorkerMemory: int64(c.PDFMemory),
		TemplateCache: int64(c.TemplateCache), MaxBatch: int64(c.MaxBatch), Connections: c.MaxConnections,
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		a.OpenFiles = int64(min(files.Cur, math.MaxInt64))
	}
	if _, err := c.installed(); err == nil {
		a.Workers = c.pdfConfig.workers()
	}
	if _, set := os.LookupEnv("GOMEMLIMIT"); set {
		if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
			a.GoLimit = limit
		}
	}
	if a.Total == 0 {
		var err error
		if a.Total, err = memory(); err != nil {
			return memoryPlan{}, fmt.Errorf("find out how much memory there is (set --memory): %w", err)
		}
	}
	return planMemory(a)
}

// memory is how many bytes this process may use: what the control group allows, or the machine has.
func memory() (int64, error) {
	machine, err := memlimit.FromSystem()
	if err != nil {
		return 0, err
	}
	group, err := memlimit.FromCgroup()
	if err != nil { // no limit, or no control groups
		group = machine
	}
	return int64(min(machine, group)), nil
}

// applyMemory has the garbage collector keep to the plan, takes over what was derived, and logs all of it.
func (c *config) applyMemory(p memoryPlan, log *slog.Logger) error {
	if _, err := memlimit.Set(memlimit.WithProvider(memlimit.Limit(uint64(p.GoLimit))), memlimit.WithRatio(1)); err != nil {
		return err
	}
	c.TemplateCache = memorySize(p.TemplateCache)
	if p.Workers > 0 {
		c.PDFWorkers = p.Workers
	}
	for _, note := range p.Notes {
		log.Warn("memory", "note", note)
	}
	log.Info("memory", "total", byteSize(p.Total).rounded(), "libreoffice", byteSize(p.Office).rounded(), "server", byteSize(p.GoLimit).rounded(),
		"template_cache", byteSize(p.TemplateCache).rounded(), "in_flight", byteSize(p.InFlight).rounded(), "connections", p.Connections)
	return nil
}

// rounded writes a size in MiB.
func (b byteSize) rounded() string { return byteSize(b >> 20 << 20).String() }

// prepareMemory divides the memory and has the server keep to it.
func (c *config) prepareMemory(log *slog.Logger) (memoryPlan, error) {
	plan, err := c.planMemory()
	if err != nil {
		return plan, err
	}
	return plan, c.applyMemory(plan, log)
}
