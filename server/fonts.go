package server

import "platen/docgen"

// fontReport says what became of the fonts of a PDF.
type fontReport struct {
	AskedFor []askedFont `json:"asked_for" doc:"The fonts that text of the document is set in, by their names."`
	Used     []string    `json:"used" doc:"The families of fonts in the PDF."`
	Fallback []glyphs    `json:"fallback_glyphs" doc:"Characters that the font of their text lacks, and that are drawn in another."`
	Missing  []glyphs    `json:"missing_glyphs" doc:"Characters that no installed font has: they come out as boxes or blanks."`
}

type askedFont struct {
	Name          string  `json:"name"`
	Status        string  `json:"status" enum:"installed,embedded,metric_compatible,substituted" doc:"embedded: the document brings it. metric_compatible: one stands in for it that is made to have the same widths."`
	Used          string  `json:"used" doc:"The family that is used."`
	Characters    int     `json:"characters" doc:"How many different characters are set in it."`
	WidthMismatch *string `json:"width_mismatch" doc:"Where the one that stands in is wider or narrower: lines break elsewhere than in Word."`
}

type glyphs struct {
	Fonts   []string `json:"fonts" doc:"The fonts of their text."`
	DrawnIn *string  `json:"drawn_in" doc:"The family that they are drawn in."`
	Script  *string  `json:"script" doc:"Their script, such as CJK."`
	Text    string   `json:"text" doc:"The first few of them."`
	Codes   []string `json:"codes" doc:"The same, as code points."`
	Count   int      `json:"count" doc:"How many different ones there are."`
}

func fontReportOf(r *docgen.FontReport) *fontReport {
	if r == nil {
		return nil
	}
	out := fontReport{AskedFor: []askedFont{}, Used: append([]string{}, r.Used...), Fallback: []glyphs{}, Missing: []glyphs{}}
	for _, f := range r.Fonts {
		asked := askedFont{Name: f.Name, Status: string(f.Status), Used: f.Used, Characters: f.Characters}
		if f.WidthMismatch != nil {
			asked.WidthMismatch = orNull(f.WidthMismatch.String())
		}
		out.AskedFor = append(out.AskedFor, asked)
	}
	for _, g := range r.Fallback {
		out.Fallback = append(out.Fallback, glyphs{g.Fonts, orNull(g.DrawnIn), orNull(g.Script), g.Text, g.Codes, g.Count})
	}
	for _, g := range r.Missing {
		out.Missing = append(out.Missing, glyphs{g.Fonts, orNull(g.DrawnIn), orNull(g.Script), g.Text, g.Codes, g.Count})
	}
	return &out
}
