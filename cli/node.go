package cli

import (
	"os"
	"time"

	"platen/docgen"
	"platen/generate"
	"platen/pdf"
)

// nodeOf returns a function that describes this server, which starts now.
func nodeOf(engine pdf.Engine, generator *generate.Generator) func() docgen.Node {
	begun := time.Now()
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return func() docgen.Node {
		n := docgen.Node{Name: name, Version: version(), StartedAt: begun, PDF: engineState(engine)}
		n.PDF.Waiting += generator.WaitingForPDF()
		return n
	}
}
