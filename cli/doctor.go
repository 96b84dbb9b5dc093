package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"
	"time"

	"platen/pdf"
)

type doctorCmd struct {
	config `embed:""`
	JSON   bool `name:"json" help:"Print JSON: for each check its state, what was found, and the remedy."`

	page     *pdf.Result   // what LibreOffice made, once it has
	pageTook time.Duration // with its start
}

// Help is what platen doctor --help adds.
func (*doctorCmd) Help() string {
	return "It has the settings of the server: give it the same flags, environment and configuration file, and run it as the same user. It " +
		"changes nothing, also beside a server that runs. The exit code is 1 when there is a problem; the server works with warnings."
}

// state is how well something is.
type state string

const (
	isOK      state = "ok"
	isWarning state = "warning" // it works, and not as well as it could, or not for long
	isProblem state = "problem"
)

// finding is what a check came to.
type finding struct {
	Check   string `json:"check"`
	State   state  `json:"state"` // "" when there was nothing to check
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

func fine(format string, args ...any) finding {
	return finding{State: isOK, Message: fmt.Sprintf(format, args...)}
}

func warn(remedy, format string, args ...any) finding {
	return finding{State: isWarning, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

func wrong(remedy, format string, args ...any) finding {
	return finding{State: isProblem, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

// check is one thing that is looked at.
type check struct {
	name string
	look func(context.Context) finding
}

// checks are all, in the order in which they are told.
func (c *doctorCmd) checks() []check {
	return []check{
		{"program", whoAmI},
		{"LibreOffice", c.checkOffice},
		{"protection", c.checkProtection},
		{"fonts", c.checkFonts},
		{"memory", c.checkMemory},
		{"temporary", c.checkTemp},
		{"data", c.checkData},
		{"database", c.checkDatabase},
		{"open files", checkOpenFiles},
		{"clock", c.checkClock},
	}
}

// doctorReport is what --json prints.
type doctorReport struct {
	Findings []finding `json:"findings"`
	Problems int       `json:"problems"`
	Warnings int       `json:"warnings"`
}

// Run looks at all that a server needs, and at what it needs for PDFs, and says what it found.
func (c *doctorCmd) Run(ctx context.Context, s *streams) error {
	report := doctorReport{Findings: []finding{}}
	for _, check := range c.checks() {
		found := check.look(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		found.Check = check.name
		switch found.State {
		case isProblem:
			report.Problems++
		case isWarning:
			report.Warnings++
		case isOK:
		default:
			continue
		}
		report.Findings = append(report.Findings, found)
	}
	if c.JSON {
		if err := printJSON(s.out, report); err != nil {
			return err
		}
	} else {
		report.print(s.out)
	}
	if report.Problems > 0 {
		return errReported
	}
	return nil
}

// oneLine joins the lines of an error.
var oneLine = strings.NewReplacer("\n\t", " ", "\n", " ")

// print prints a line for each finding, and its remedy below.
func (r *doctorReport) print(w io.Writer) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%-8s %-12s %s\n", f.State, f.Check, oneLine.Replace(f.Message))
		if f.Remedy != "" {
			fmt.Fprintf(w, "%22s%s\n", "→ ", f.Remedy)
		}
	}
	if r.Problems+r.Warnings == 0 {
		fmt.Fprintln(w, "\nAll is well.")
		return
	}
	fmt.Fprintf(w, "\n%d %s, %d %s.\n", r.Problems, plural(r.Problems, "problem"), r.Warnings, plural(r.Warnings, "warning"))
}

// whoAmI says which program looked, and as whom: another user may write to other folders.
func whoAmI(context.Context) finding {
	me, err := user.Current()
	if err != nil {
		return warn("", "platen %s, as a user without a name: %v", version(), err)
	}
	return fine("platen %s, as user %s", version(), cmp.Or(me.Username, me.Uid))
}

// inGiB writes a number of bytes for a person.
func inGiB(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', 1, 64) + " GiB"
}
