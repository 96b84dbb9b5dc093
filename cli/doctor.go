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
	JSON   bool `name:"json" help:"Print JSON: the state, finding, and remedy of each check."`

	page     *pdf.Result   // result of LibreOffice, once it has run
	pageTook time.Duration // including its start
}

// Help is the additional text of platen doctor --help.
func (*doctorCmd) Help() string {
	return "Use the same flags, environment, configuration file, and user as the server. The command changes nothing, and can run while " +
		"the server runs. The exit code is 1 if there is a problem. With warnings, the server still works."
}

// state is the result of a check.
type state string

const (
	isOK      state = "ok"
	isWarning state = "warning" // works, but with limitations, or not for long
	isProblem state = "problem"
)

// finding is what a check found.
type finding struct {
	Check   string `json:"check"`
	State   state  `json:"state"` // "" if there was nothing to check
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

// check is one of the things that doctor checks.
type check struct {
	name string
	look func(context.Context) finding
}

// checks returns all checks, in the order of their output.
func (c *doctorCmd) checks() []check {
	return []check{
		{"program", whoAmI},
		{"LibreOffice", c.checkOffice},
		{"protection", c.checkProtection},
		{"fonts", c.checkFonts},
		{"page images", checkPageImages},
		{"memory", c.checkMemory},
		{"temporary", c.checkTemp},
		{"data", c.checkData},
		{"database", c.checkDatabase},
		{"open files", checkOpenFiles},
		{"clock", c.checkClock},
	}
}

// doctorReport is the output with --json.
type doctorReport struct {
	Findings []finding `json:"findings"`
	Problems int       `json:"problems"`
	Warnings int       `json:"warnings"`
}

// Run checks everything that a server and PDF conversion need, and prints the findings.
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

// print prints each finding with its remedy.
func (r *doctorReport) print(w io.Writer) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%-8s %-12s %s\n", f.State, f.Check, oneLine.Replace(f.Message))
		if f.Remedy != "" {
			fmt.Fprintf(w, "%22s%s\n", "→ ", f.Remedy)
		}
	}
	if r.Problems+r.Warnings == 0 {
		fmt.Fprintln(w, "\nEverything is fine.")
		return
	}
	fmt.Fprintf(w, "\n%d %s, %d %s.\n", r.Problems, plural(r.Problems, "problem"), r.Warnings, plural(r.Warnings, "warning"))
}

// whoAmI identifies the program and the user: another user may have other permissions.
func whoAmI(context.Context) finding {
	me, err := user.Current()
	if err != nil {
		return warn("", "platen %s, as a user without a name: %v", version(), err)
	}
	return fine("platen %s, as user %s", version(), cmp.Or(me.Username, me.Uid))
}

// inGiB formats a number of bytes for people.
func inGiB(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', 1, 64) + " GiB"
}
