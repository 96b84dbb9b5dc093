package lang

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// maxPattern is the largest length of a pattern, in bytes.
const maxPattern = 1000

// pattern is a compiled regular expression.
type pattern struct {
	*regexp.Regexp
	size      int  // the number of instructions; those of a{100} are a hundred
	always    bool // it matches every text, because it matches nothing at its beginning or its end
	inSlashes bool // it has a slash at both ends, as other languages write patterns, which may be meant as part of the text
}

// compilePattern compiles a regular expression in the syntax of RE2. Its error completes a sentence about the pattern.
func compilePattern(text string) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	slashed := inSlashes.FindStringSubmatch(text)
	if slashed != nil && slashed[2] != "" {
		return nil, errSlashes("(?" + known(slashed[2]) + ")" + slashed[1])
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not valid: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	switch {
	case canMatch(program):
	case slashed != nil:
		return nil, errSlashes(slashed[1])
	default:
		return nil, errors.New("the pattern matches no text, because something is before ^ or after $")
	}
	always := matchesNothing(program, syntax.EmptyBeginText) || matchesNothing(program, syntax.EmptyEndText)
	return &pattern{re, len(program.Inst), always, slashed != nil}, nil
}

// inSlashes matches a pattern as other languages write it: in slashes, with flags after them. It does not match parts of
// paths, such as /static/img and /about/us.
var inSlashes = regexp.MustCompile(`^/(.+)/([gimsu]?|gi|ig|gm|mg|im|iu|gu|gim)$`)

func errSlashes(meant string) error {
	return fmt.Errorf("the pattern has slashes around it, which other languages need: write %s", quote(meant))
}

// known returns the flags of another language that RE2 has too, or "i" if there are none.
func known(flags string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if strings.ContainsRune("ims", r) {
			return r
		}
		return -1
	}, flags), "i")
}

// canMatch reports whether a program matches any text: it need not read a character before the beginning of the text, or after its end.
func canMatch(program *syntax.Prog) bool {
	type state struct {
		at            uint32
		begun, atLast bool // characters were read; the end of the text was required
	}
	open := []state{{at: uint32(program.Start)}}
	seen := map[state]bool{}
	for len(open) > 0 {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		next := state{program.Inst[s.at].Out, s.begun, s.atLast}
		switch inst := &program.Inst[s.at]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			open = append(open, next, state{inst.Arg, s.begun, s.atLast})
		case syntax.InstCapture, syntax.InstNop:
			open = append(open, next)
		case syntax.InstEmptyWidth:
			width := syntax.EmptyOp(inst.Arg)
			next.atLast = s.atLast || width&syntax.EmptyEndText != 0
			if !s.begun || width&syntax.EmptyBeginText == 0 {
				open = append(open, next)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if next.begun = true; !s.atLast {
				open = append(open, next)
			}
		}
	}
	return false
}

// matchesNothing reports whether a program matches without a character at a place in a text for which only that assertion is known to hold.
func matchesNothing(program *syntax.Prog, holds syntax.EmptyOp) bool {
	open := []uint32{uint32(program.Start)}
	seen := map[uint32]bool{}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		switch inst := &program.Inst[at]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			open = append(open, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			open = append(open, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^holds == 0 {
				open = append(open, inst.Out)
			}
		default: // it reads a character, or fails
		}
	}
	return false
}

// instructionsPerStep is the number of instructions of a pattern that a step runs, each for one byte of the text.
const instructionsPerStep = 10

// compileSteps is the number of steps for each byte of a pattern that is compiled.
const compileSteps = 100

// pattern returns a pattern of the input. It remembers the last one, because the items of a list often have the same.
func (e *Env) pattern(n Node, text string) (*pattern, error) {
	if e.lastPattern != nil && e.lastPattern.String() == text {
		return e.lastPattern, nil
	}
	if err := e.spend(compileSteps*min(len(text), maxPattern), n); err != nil {
		return nil, err
	}
	re, err := compilePattern(text)
	if err != nil {
		return nil, &fault{node: n, message: "cannot be used: " + err.Error()}
	}
	e.lastPattern = re
	return re, nil
}
