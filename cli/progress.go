package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newProgress returns a progress bar that is shown on a terminal, and hidden otherwise.
func newProgress(w io.Writer, total int, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(isTerminal(w)),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(40),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░", BarStart: "", BarEnd: ""}),
	)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// lazyProgress is a progress bar whose total becomes known with the first step.
type lazyProgress struct {
	w    io.Writer
	what string
	bar  *progressbar.ProgressBar
}

func newLazyProgress(w io.Writer, what string) *lazyProgress { return &lazyProgress{w: w, what: what} }

// set updates the progress. A bar that cannot be drawn is not a reason to stop.
func (p *lazyProgress) set(done, total int64) {
	if p.bar == nil {
		p.bar = newProgress(p.w, int(total), p.what)
	}
	_ = p.bar.Set64(done)
}

func (p *lazyProgress) end() {
	if p.bar != nil {
		_ = p.bar.Exit()
	}
}
