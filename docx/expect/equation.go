package expect

import (
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// equations are the elements of equations whose structure is written into the text, as in the linear format of Word: x^(2), (1)/(2), √(x).
// In a form, an element stands for its content, and any other character is written as it is. Elements that are not listed have the text of
// their content.
var equations = map[string]func(in *inline, n *wml.Node) []string{
	"m:f":         fraction,
	"m:sSup":      form("m:e", "^(", "m:sup", ")"),
	"m:sSub":      form("m:e", "_(", "m:sub", ")"),
	"m:sSubSup":   form("m:e", "_(", "m:sub", ")^(", "m:sup", ")"),
	"m:sPre":      form("_(", "m:sub", ")^(", "m:sup", ")", "m:e"),
	"m:func":      form("m:fName", " ", "m:e"),
	"m:limLow":    form("m:e", "┬(", "m:lim", ")"),
	"m:limUpp":    form("m:e", "┴(", "m:lim", ")"),
	"m:borderBox": form("▭(", "m:e", ")"),
	"m:rad":       radical,
	"m:nary":      operator,
	"m:acc": func(in *inline, n *wml.Node) []string {
		return []string{"(", "m:e", ")" + in.mathOr(n, "m:accPr", "m:chr", "\u0302")}
	},
	"m:bar": func(in *inline, n *wml.Node) []string {
		if in.mathOr(n, "m:barPr", "m:pos", "bot") == "top" {
			return []string{"‾(", "m:e", ")"}
		}
		return []string{"▁(", "m:e", ")"}
	},
	"m:groupChr": func(in *inline, n *wml.Node) []string {
		mark := "┬"
		if in.mathOr(n, "m:groupChrPr", "m:pos", "bot") == "top" {
			mark = "┴"
		}
		return []string{"(", "m:e", ")" + mark + in.mathOr(n, "m:groupChrPr", "m:chr", "⏟")}
	},
}

// mathLists are the elements of equations with any number of parts: what is before the first part, between two of them, and after the last.
var mathLists = map[string]func(in *inline, n *wml.Node) [3]string{
	"m:d": func(in *inline, n *wml.Node) [3]string {
		return [3]string{
			in.mathOr(n, "m:dPr", "m:begChr", "("), in.mathOr(n, "m:dPr", "m:sepChr", "|"), in.mathOr(n, "m:dPr", "m:endChr", ")"),
		}
	},
	"m:m":     func(*inline, *wml.Node) [3]string { return [3]string{"■(", "@", ")"} },
	"m:mr":    func(*inline, *wml.Node) [3]string { return [3]string{"", "&", ""} },
	"m:eqArr": func(*inline, *wml.Node) [3]string { return [3]string{"█(", "@", ")"} },
}

func form(parts ...string) func(*inline, *wml.Node) []string {
	return func(*inline, *wml.Node) []string { return parts }
}

func fraction(in *inline, n *wml.Node) []string {
	bars := map[string]string{"noBar": "¦", "skw": "⁄", "lin": "∕"}
	bar, known := bars[in.mathOr(n, "m:fPr", "m:type", "bar")]
	if !known {
		bar = "/"
	}
	return []string{"(", "m:num", ")" + bar + "(", "m:den", ")"}
}

func radical(in *inline, n *wml.Node) []string {
	degree := n.Child("m:deg")
	if degree == nil || len(degree.Children) == 0 || in.mathIsOn(n, "m:radPr", "m:degHide") {
		return []string{"√(", "m:e", ")"}
	}
	return []string{"√(", "m:deg", "&", "m:e", ")"}
}

func operator(in *inline, n *wml.Node) []string {
	parts := []string{in.mathOr(n, "m:naryPr", "m:chr", "∫")}
	if !in.mathIsOn(n, "m:naryPr", "m:subHide") {
		parts = append(parts, "_(", "m:sub", ")")
	}
	if !in.mathIsOn(n, "m:naryPr", "m:supHide") {
		parts = append(parts, "^(", "m:sup", ")")
	}
	return append(parts, " ", "m:e")
}

// equation writes an element of an equation, and reports whether it is one that has a structure.
func (in *inline) equation(n *wml.Node, link string) bool {
	if list := mathLists[n.Name]; list != nil {
		marks := list(in, n)
		in.mark(marks[0])
		first := true
		for _, child := range n.Children {
			if child.Name != "m:e" && child.Name != "m:mr" {
				continue
			}
			if !first {
				in.mark(marks[1])
			}
			first = false
			if child.Name == "m:e" || !in.equation(child, link) {
				in.content(child, link)
			}
		}
		in.mark(marks[2])
		return true
	}
	parts := equations[n.Name]
	if parts == nil {
		return false
	}
	for _, part := range parts(in, n) {
		switch {
		case !strings.HasPrefix(part, "m:"):
			in.mark(part)
		case n.Child(part) != nil:
			in.content(n.Child(part), link)
		}
	}
	return true
}

// mark adds a mark that stands for the structure of an equation.
func (in *inline) mark(text string) {
	if !in.isHidden() {
		in.written.add(text, []string{equationText})
	}
}

// mathValue returns the value of a property of an element of an equation.
func (in *inline) mathValue(n *wml.Node, properties, name string) (value string, found bool) {
	props := n.Child(properties)
	if props == nil || !in.enter(props) {
		return "", false
	}
	for range in.reader.Children {
		if in.reader.Name() == name {
			value, found = in.reader.Attr("m:val"), true
		}
	}
	return value, found
}

// mathOr returns the value of a property, or what its absence means.
func (in *inline) mathOr(n *wml.Node, properties, name, absent string) string {
	if value, found := in.mathValue(n, properties, name); found {
		return value
	}
	return absent
}

func (in *inline) mathIsOn(n *wml.Node, properties, name string) bool {
	value, found := in.mathValue(n, properties, name)
	return found && scan.IsOn(value)
}

// equationText is the property of the text of an equation.
const equationText = "equation"

// notInEquations are properties of text that have no effect in an equation, in which Word writes them with each run.
var notInEquations = []string{"bold", "italic", "font "}

// equationFormat returns the visible properties of a run of an equation, of which format has those that other text has too.
func (in *inline) equationFormat(run *wml.Node, format []string) []string {
	var own []string
	for _, name := range []string{"m:nor", "m:sty", "m:scr"} {
		switch value, found := in.mathValue(run, "m:rPr", name); {
		case !found || name == "m:sty" && value == "i" || name == "m:scr" && value == "roman":
		case name == "m:nor":
			if scan.IsOn(value) { // the text is not set as an equation
				return append([]string{equationText}, format...)
			}
		default:
			own = append(own, map[string]string{"m:sty": "math style ", "m:scr": "math alphabet "}[name]+value)
		}
	}
	for _, property := range format {
		if !slices.ContainsFunc(notInEquations, func(part string) bool { return strings.Contains(property, part) }) {
			own = append(own, property)
		}
	}
	return append([]string{equationText}, own...)
}
