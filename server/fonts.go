package server

import "platen/docgen"

// fontReport describes the fonts of a PDF.
type fontReport struct {
	AskedFor []askedFont `json:"asked_for" doc:"The fonts that the document asks for."`
	Used     []string    `json:"used" doc:"The font families in the PDF."`
	Fallback []glyphs    `json:"fallback_glyphs" doc:"Characters that the font of their text lacks, drawn in another font."`
	Missing  []glyphs    `json:"missing_glyphs" doc:"Characters that no installed font has, drawn as boxes or blanks."`
}

type askedFont struct {
	Name          string  `json:"name"`
	Status        string  `json:"status" enum:"installed,embedded,metric_compatible,substituted" doc:"embedded: the document contains the font. metric_compatible: replaced by a font with the same character widths. substituted: replaced by another font."`
	Used          string  `json:"used" doc:"The font family that was used."`
	Characters    int     `json:"characters" doc:"The number of different characters set in the font."`
	WidthMismatch *string `json:"width_mismatch" doc:"How the widths of the replacement differ; null if they do not. Lines may break differently than in Word."`
}

type glyphs struct {
	Fonts   []string `json:"fonts" doc:"The fonts of the text with these characters."`
	DrawnIn *string  `json:"drawn_in" doc:"The font family that they are drawn in."`
	Script  *string  `json:"script" doc:"The script of the characters, such as CJK."`
	Text    string   `json:"text" doc:"The first few characters."`
	Codes   []string `json:"codes" doc:"The first few characters, as code points."`
	Count   int      `json:"count" doc:"The number of different characters."`
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
