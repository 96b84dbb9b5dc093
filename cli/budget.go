package cli

import (
	"fmt"
	"time"

	"platen/budget"
	"platen/docx"
)

// budgetFlags are the budgets of one document, as settings of a server and flags of the commands that use the engine.
type budgetFlags struct {
	DocumentSteps   int64    `default:"50000000" env:"PLATEN_DOCUMENT_STEPS" group:"Budgets of a document" help:"Maximum work for one document, in steps: rounds of loops, expressions, list items, and the like. The count is the same on every machine; 0 for no limit."`
	DocumentContent byteSize `default:"1GiB" env:"PLATEN_DOCUMENT_CONTENT" group:"Budgets of a document" help:"Maximum size of the XML of one document before compression."`
	DocumentSize    byteSize `default:"256MiB" env:"PLATEN_DOCUMENT_SIZE" group:"Budgets of a document" help:"Maximum size of one Word document as a file."`
	DocumentMemory  byteSize `default:"256MiB" env:"PLATEN_DOCUMENT_MEMORY" group:"Budgets of a document" help:"Maximum memory for the images, charts, and computed values that one document holds until it is finished."`
	DocumentPixels  int64    `default:"500000000" env:"PLATEN_DOCUMENT_PIXELS" group:"Budgets of a document" help:"Maximum number of pixels decoded for one document: WebP, SVG, and rotated JPEG files. Other images are not decoded; 0 for no limit."`
}

// limits returns the budgets with a time; 0 is no limit.
func (f *budgetFlags) limits(longest time.Duration) docx.Limits {
	return docx.Limits{
		Steps: orNone(f.DocumentSteps), Content: int64(f.DocumentContent), Size: int64(f.DocumentSize), Memory: int64(f.DocumentMemory),
		Pixels: orNone(f.DocumentPixels), Time: time.Duration(orNone(int64(longest))),
	}
}

// orNone returns a limit in which 0 stands for none.
func orNone(n int64) int64 {
	if n == 0 {
		return budget.Unlimited
	}
	return n
}

// problems returns what is wrong with the budgets.
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
			all = append(all, fmt.Errorf("--document-%s must not be negative, it is %v; 0 is no limit", flag.name, flag.value))
		}
	}
	return all
}
