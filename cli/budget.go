package cli

import (
	"fmt"
	"time"

	"platen/budget"
	"platen/docx"
)

// budgetFlags are the budgets of one document: settings of a server, and flags of the commands that use the engine.
type budgetFlags struct {
	DocumentSteps   int64    `default:"50000000" env:"PLATEN_DOCUMENT_STEPS" group:"Budgets of a document" help:"Maximum work for one document, in steps: loop iterations, expressions, list items, and so on (default 50000000); 0 for no limit. The count is the same on every machine."`
	DocumentContent byteSize `default:"1GiB" env:"PLATEN_DOCUMENT_CONTENT" group:"Budgets of a document" help:"Maximum size of the XML of one document before compression (default 1GiB)."`
	DocumentSize    byteSize `default:"256MiB" env:"PLATEN_DOCUMENT_SIZE" group:"Budgets of a document" help:"Maximum file size of one Word document (default 256MiB)."`
	DocumentMemory  byteSize `default:"256MiB" env:"PLATEN_DOCUMENT_MEMORY" group:"Budgets of a document" help:"Maximum memory for the images, charts, and computed values that one document holds until it is complete (default 256MiB)."`
	DocumentPixels  int64    `default:"500000000" env:"PLATEN_DOCUMENT_PIXELS" group:"Budgets of a document" help:"Maximum number of pixels to decode for one document (default 500000000); 0 for no limit. Only WebP, SVG, and rotated JPEG images are decoded."`
}

// limits returns the budgets, including the given time; 0 is no limit.
func (f *budgetFlags) limits(longest time.Duration) docx.Limits {
	return docx.Limits{
		Steps: orNone(f.DocumentSteps), Content: int64(f.DocumentContent), Size: int64(f.DocumentSize), Memory: int64(f.DocumentMemory),
		Pixels: orNone(f.DocumentPixels), Time: time.Duration(orNone(int64(longest))),
	}
}

// orNone returns a limit, where 0 means no limit.
func orNone(n int64) int64 {
	if n == 0 {
		return budget.Unlimited
	}
	return n
}

// problems returns everything that is wrong with the budgets.
func (f *budgetFlags) problems(longest time.Duration) []error {
	var all []error
	for _, flag := range []struct {
		name  string
		value any
		wrong bool
	}{
		{"steps", f.DocumentSteps, f.DocumentSteps < 0},
		{"pixels", f.DocumentPixels, f.DocumentPixels < 0},
		{"time", longest, longest < 0},
	} {
		if flag.wrong {
			all = append(all, fmt.Errorf("--document-%s must not be negative, but is %v; use 0 for no limit", flag.name, flag.value))
		}
	}
	return all
}
