package font

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits on the warnings. The report is complete.
const (
	maxFontWarnings = 20
	maxNames        = 20 // in one sentence
)

// folder is the end of a warning that says how to provide a font.
const folder = "put its file into the font folder (--pdf-fonts)"

// Warnings returns sentences for the author of a template: one for each font whose substitute has other widths, and one for each script
// with characters that cannot be drawn. It does not mention substitutes with the same widths, and symbols, such as bullets, that another
// font has too.
func (r *Report) Warnings() []string {
	var warnings, more []string
	for i := range r.Fonts {
		switch text := r.Fonts[i].warning(); {
		case text == "":
		case len(warnings) < maxFontWarnings:
			warnings = append(warnings, text)
		default:
			more = append(more, r.Fonts[i].Name)
		}
	}
	if len(more) > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more fonts are not installed, and others are used instead: %s.", len(more), quoted(more)))
	}
	for i := range r.Missing {
		warnings = append(warnings, r.Missing[i].warning())
	}
	return warnings
}

func (f *Font) warning() string {
	why := fmt.Sprintf("The font %q is not installed", f.Name)
	if f.Restricted {
		why = fmt.Sprintf("The font %q, which the document embeds for viewing only, is not installed", f.Name)
	}
	switch {
	case f.Status == MetricCompatible && f.WidthMismatch != nil:
		return fmt.Sprintf("%s, and its substitute %q has other widths here (%s): %s. Put the files of %q, or of a %q with its "+
			"widths, into the font folder (--pdf-fonts).",
			why, f.Used, f.WidthMismatch, f.WidthMismatch.consequence(), f.Name, f.Used)
	case f.Status != Substituted, f.Used == openSymbol:
		return ""
	case f.drawn == 0: // reported with the characters
		return ""
	case f.WidthMismatch != nil:
		return fmt.Sprintf("%s; %q is used instead (%s): %s. %s", why, f.Used, f.WidthMismatch, f.WidthMismatch.consequence(), f.remedy())
	}
	return fmt.Sprintf("%s; %q is used instead: lines may break elsewhere than in Word. %s", why, f.Used, f.remedy())
}

// remedy names the font itself, and a free font with the same widths if there is one.
func (f *Font) remedy() string {
	free := ""
	if s := knownStandIns()[fold(f.Name)]; s != nil && len(s.compatible) > 0 && fold(s.compatible[1]) != fold(f.Name) {
		free = fmt.Sprintf(" or %q, which has the same widths", s.compatible[1])
	}
	return fmt.Sprintf("Install %q%s, or %s.", f.Name, free, folder)
}

// String describes the measured difference.
func (w *WidthMismatch) String() string {
	return fmt.Sprintf("%q is %.3f em wide instead of %.3f", w.Character, w.Width, w.Expected)
}

func (w *WidthMismatch) consequence() string {
	kind := "wider"
	if w.Percent < 0 {
		kind = "narrower"
	}
	if math.Abs(w.Percent) < 0.5 {
		return "lines may break elsewhere than in Word"
	}
	return fmt.Sprintf("text is about %.0f %% %s, and lines break elsewhere than in Word", math.Abs(w.Percent), kind)
}

func (g *Glyphs) warning() string {
	what := fmt.Sprintf("%d characters", g.Count)
	if g.Count == 1 {
		what = "the character"
	}
	shown, more := strings.Join(g.Codes, ", "), ""
	if g.Count > len(g.Codes) {
		more = "…"
	}
	text := " \"" + g.Text + more + "\""
	if g.Script == private {
		text = "" // private characters have no common appearance
	}
	return fmt.Sprintf("No font can draw %s%s (%s%s) of text in %s: the PDF has boxes in their place, or nothing. %s",
		what, text, shown, more, quoted(g.Fonts), g.remedy())
}

// quoted returns a list of quoted names.
func quoted(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), maxNames)] {
		list = append(list, strconv.Quote(name))
	}
	if len(names) > maxNames {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// remedy names a free font for a script, which Debian has a package of.
func (g *Glyphs) remedy() string {
	const other = "Install a font that has them, such as %s (Debian's package %s), or " + folder + "."
	switch g.Script {
	case cjk:
		return fmt.Sprintf(other, "Noto Sans CJK", "fonts-noto-cjk")
	case emoji:
		return fmt.Sprintf(other, "Noto Color Emoji", "fonts-noto-color-emoji")
	case sign:
		return fmt.Sprintf(other, "Noto Sans Symbols", "fonts-noto-core")
	case private:
		return "Such characters have a meaning only in their own font: install it, or " + folder + "."
	case "Latin", "Greek", "Cyrillic":
		return fmt.Sprintf(other, "Noto Sans", "fonts-noto-core")
	}
	return fmt.Sprintf(other, "Noto Sans "+strings.ReplaceAll(g.Script, "_", " "), "fonts-noto-core")
}
