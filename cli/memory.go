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

// memorySize is a byteSize that Platen can derive.
type memorySize int64

// autoMemory is the notation for a memorySize of 0, which Platen derives.
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

// Limits of the derived sizes.
const (
	leastMemory        = 256 << 20 // for the server process: less is not enough for a large template
	softShare          = 0.9       // share of the process's memory for GOMEMLIMIT; the rest is for memory that Go does not count
	leastIsolated      = 512 << 20 // for a process that generates a document in isolation: less is not enough for Go itself
	leastTemplateCache = 16 << 20
	mostTemplateCache  = 256 << 20
	mostInFlight       = 1 << 30
	leastConnections   = 256
	mostConnections    = 4096
	connectionMemory   = 512 << 10 // of GOMEMLIMIT per connection, which takes up to 200 KiB while a header arrives
	hardOverSoft       = 1.5       // a LibreOffice process is limited to this multiple of --pdf-memory
)

// memoryAsked is the input of the memory plan.
type memoryAsked struct {
	Total         int64 // of the machine, the control group, or --memory
	Explicit      bool  // whether it was set with --memory
	GoLimit       int64 // GOMEMLIMIT in the environment; 0 if not set
	Workers       int   // LibreOffice processes; 0 without LibreOffice
	FixedWorkers  bool  // whether it was set with --pdf-workers
	WorkerMemory  int64 // --pdf-memory
	TemplateCache int64 // 0 to derive it
	MaxBatch      int64
	Connections   int   // --max-connections; 0 to derive it
	OpenFiles     int64 // limit of the process; 0 if unknown
}

// memoryPlan is the division of the memory. Sizes are in bytes.
type memoryPlan struct {
	Total         int64
	Workers       int   // LibreOffice processes, without a spare one and one for documents in isolation
	Office        int64 // maximum for all LibreOffice processes
	Server        int64 // the rest, for the server process
	GoLimit       int64 // GOMEMLIMIT
	TemplateCache int64
	InFlight      int64 // for requests and their results
	Connections   int   // maximum number of connections
	Notes         []string
}

// planMemory divides the memory. It is the only place that decides this. Settings that contradict --memory are an error; settings that do
// not fit the machine are reduced, with a note.
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
			return p, fmt.Errorf("--memory %v is not enough: %d LibreOffice processes of --pdf-memory, a spare one, and one for "+
				"documents in isolation can take %s, and the server needs %v in addition; raise --memory, or lower --pdf-workers or "+
				"--pdf-memory",
				byteSize(a.Total), p.Workers, inGiB(p.Office), byteSize(leastMemory))
		}
		p.Server = max(a.Total/2, min(a.Total, leastMemory))
		p.note("LibreOffice can take %s of %s; lower --pdf-workers or --pdf-memory, or the machine may run out of memory", inGiB(p.Office),
			inGiB(a.Total))
	}
	p.GoLimit = int64(float64(p.Server) * softShare)
	if a.GoLimit > 0 {
		p.GoLimit, p.Server = a.GoLimit, int64(float64(a.GoLimit)/softShare)
		p.note("using GOMEMLIMIT from the environment")
	}
	err := p.divide(a)
	return p, err
}

// divide divides the memory of the server process.
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
			return fmt.Errorf("reading a batch of --max-batch %v takes up to %s, more than half of the server's memory, %s; lower it, "+
				"or raise --memory",
				byteSize(a.MaxBatch), inGiB(need), inGiB(p.GoLimit))
		}
		p.note("a batch of --max-batch %v can take %s of %s; lower --max-batch", byteSize(a.MaxBatch), inGiB(need), inGiB(p.GoLimit))
	}
	return nil
}

// divideConnections sets the maximum number of connections, at most half of the files that the process may open.
func (p *memoryPlan) divideConnections(a memoryAsked) {
	p.Connections = a.Connections
	if a.Connections == 0 {
		p.Connections = int(min(max(p.GoLimit/connectionMemory, leastConnections), mostConnections))
	}
	if files := int(a.OpenFiles / 2); files > 0 && p.Connections > files {
		p.note("%d connections instead of %d, because the process may only open %d files; raise that limit", files, p.Connections, a.OpenFiles)
		p.Connections = files
	}
}

func (p *memoryPlan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// officeMemory returns the maximum memory of all LibreOffice processes: workers, spare workers, and one for documents in isolation.
func officeMemory(workers int, each int64) int64 {
	if workers == 0 {
		return 0
	}
	return int64(float64(workers+spareWorkers+1) * float64(each) * hardOverSoft)
}

// planMemory divides the available memory according to the settings.
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
			return memoryPlan{}, fmt.Errorf("determine the available memory (set --memory instead): %w", err)
		}
	}
	return planMemory(a)
}

// memory returns the number of bytes that this process may use: the limit of the control group, or the memory of the machine.
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

// applyMemory sets the limit of the garbage collector, applies the derived settings, and logs them.
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
	log.Info("memory", "total", byteSize(p.Total).rounded(), "libreoffice", byteSize(p.Office).rounded(), "server",
		byteSize(p.GoLimit).rounded(),
		"template_cache", byteSize(p.TemplateCache).rounded(), "in_flight", byteSize(p.InFlight).rounded(), "connections", p.Connections)
	return nil
}

// rounded formats a size in MiB.
func (b byteSize) rounded() string { return (b >> 20 << 20).String() }

// prepareMemory divides the memory and applies the result.
func (c *config) prepareMemory(log *slog.Logger) (memoryPlan, error) {
	plan, err := c.planMemory()
	if err != nil {
		return plan, err
	}
	return plan, c.applyMemory(plan, log)
}
