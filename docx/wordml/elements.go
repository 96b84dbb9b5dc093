package wordml

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// element says what an element may have.
type element struct {
	attrs   map[string]kind
	first   []string // children that come before the others, each at most once, in this order
	content []string // other children, in any order and number
	needs   []string // children that must be there
	last    string   // the name of the last child; "" for any
}

// kind is the type of an attribute's value.
type kind struct {
	what     string // for messages
	pattern  *regexp.Regexp
	required bool
}

func (k kind) accepts(value string) bool { return k.pattern.MatchString(value) }

// String describes the values.
func (k kind) String() string { return k.what }

// specOf returns what an element in another may have.
func specOf(parent, name string) *element {
	if spec := elements[parent+"/"+name]; spec != nil {
		return spec
	}
	if slices.Contains(edges, name) {
		if strings.HasSuffix(parent, "Mar") {
			return width()
		}
		return border()
	}
	return elements[name]
}

// allows reports whether the element may have a child.
func (e *element) allows(child string) bool {
	return slices.Contains(e.first, child) || slices.Contains(e.content, child)
}

// complete puts the children of an element into order, and returns what is wrong with them.
func (e *element) complete(n *node) error {
	rank := func(child *node) int {
		if i := slices.Index(e.first, child.name); i >= 0 {
			return i
		}
		return len(e.first)
	}
	slices.SortStableFunc(n.children, func(a, b *node) int { return rank(a) - rank(b) })
	for i, child := range n.children {
		if i > 0 && child.name == n.children[i-1].name && slices.Contains(e.first, child.name) {
			return fmt.Errorf("w:%s has two elements w:%s", n.name, child.name)
		}
	}
	for _, name := range e.needs {
		if !slices.ContainsFunc(n.children, func(child *node) bool { return child.name == name }) {
			return fmt.Errorf("w:%s lacks the element w:%s", n.name, name)
		}
	}
	if last := len(n.children) - 1; e.last != "" && (last < 0 || n.children[last].name != e.last) {
		return fmt.Errorf("w:%s must end with w:%s", n.name, e.last)
	}
	return nil
}

// The types of values (ISO 29500-1 §17.18 and §22.9). Measures are those of the transitional form, in whole units.
var (
	onOff     = kind{what: "true or false", pattern: regexp.MustCompile(`^(true|false|1|0|on|off)$`)}
	whole     = kind{what: "a whole number", pattern: regexp.MustCompile(`^-?\d{1,8}$`)}
	positive  = kind{what: "a whole number from 0", pattern: regexp.MustCompile(`^\d{1,8}$`)}
	color     = kind{what: "a color such as C00000, or auto", pattern: regexp.MustCompile(`^([0-9A-Fa-f]{6}|auto)$`)}
	text      = kind{what: "a text of up to 253 characters", pattern: regexp.MustCompile(`^[^\x00-\x1F\x{FFFE}\x{FFFF}]{1,253}$`)}
	language  = kind{what: "a language tag", pattern: regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)}
	character = kind{what: "four hexadecimal digits", pattern: regexp.MustCompile(`^[0-9A-Fa-f]{4}$`)}
)

// Colors of the theme, parts of them, and its fonts.
var (
	themeColor = one("dark1 light1 dark2 light2 accent1 accent2 accent3 accent4 accent5 accent6 hyperlink followedHyperlink none " +
		"background1 text1 background2 text2")
	share     = kind{what: "two hexadecimal digits", pattern: regexp.MustCompile(`^[0-9A-Fa-f]{2}$`)}
	themeFont = one("majorEastAsia majorBidi majorAscii majorHAnsi minorEastAsia minorBidi minorAscii minorHAnsi")
)

// one returns the type whose values are the words of a list.
func one(words string) kind {
	return kind{
		what:    "one of " + strings.Join(strings.Fields(words), ", "),
		pattern: regexp.MustCompile("^(" + strings.Join(strings.Fields(words), "|") + ")$"),
	}
}

func required(k kind) kind {
	k.required = true
	return k
}

// styleElements are the elements whose value is a style, with the kind of the style.
var styleElements = map[string]string{"pStyle": "paragraph", "rStyle": "character", "tblStyle": "table"}

// names splits a list of names.
func names(list string) []string { return strings.Fields(list) }

// val returns the attributes of an element that has only a value.
func val(k kind) *element { return &element{attrs: map[string]kind{"val": required(k)}} }

func flag() *element { return &element{attrs: map[string]kind{"val": onOff}} }

const (
	jcText   = "start center end left right both distribute"
	borders  = "nil none single thick double dotted dashed dotDash dotDotDash triple wave doubleWave inset outset dashSmallGap"
	patterns = "nil clear solid pct5 pct10 pct12 pct15 pct20 pct25 pct30 pct35 pct37 pct40 pct45 pct50 pct55 pct60 pct62 pct65 pct70 pct75 " +
		"pct80 pct85 pct87 pct90 pct95 horzStripe vertStripe diagStripe"
)

// edges are the elements for the borders and margins of paragraphs, tables, and cells.
var edges = names("top left start bottom right end insideH insideV between bar tl2br tr2bl")

func border() *element {
	return themed(map[string]kind{
		"val": required(one(borders)), "sz": positive, "space": positive, "color": color, "shadow": onOff, "frame": onOff,
	})
}

func shading() *element {
	spec := themed(map[string]kind{"val": required(one(patterns)), "color": color, "fill": color})
	spec.attrs["themeFill"], spec.attrs["themeFillTint"], spec.attrs["themeFillShade"] = themeColor, share, share
	return spec
}

// themed returns an element with those attributes, and with a color of the theme.
func themed(attrs map[string]kind) *element {
	attrs["themeColor"], attrs["themeTint"], attrs["themeShade"] = themeColor, share, share
	return &element{attrs: attrs}
}

func width() *element {
	return &element{attrs: map[string]kind{"w": whole, "type": one("nil pct dxa auto")}}
}

// elements are the elements that a fragment may have, by name. body is the fragment. The orders of properties are those of Annex A.
var elements = map[string]*element{
	"body": {content: names("p tbl r")},

	"p": {first: names("pPr"), content: names("r")},
	"r": {first: names("rPr"), content: names("t tab br cr noBreakHyphen softHyphen sym")},
	"t": {}, "tab": {}, "cr": {}, "noBreakHyphen": {}, "softHyphen": {},
	"br":  {attrs: map[string]kind{"type": one("page column textWrapping"), "clear": one("none left right all")}},
	"sym": {attrs: map[string]kind{"font": required(text), "char": required(character)}},

	"rPr": {first: names("rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof vanish color " +
		"spacing w kern position sz szCs highlight u bdr shd vertAlign rtl cs em lang")},
	"rStyle": val(text), "rPr/spacing": val(whole),
	"rFonts": {attrs: map[string]kind{
		"ascii": text, "hAnsi": text, "eastAsia": text, "cs": text, "hint": one("default eastAsia cs"),
		"asciiTheme": themeFont, "hAnsiTheme": themeFont, "eastAsiaTheme": themeFont, "cstheme": themeFont,
	}},
	"b": flag(), "bCs": flag(), "i": flag(), "iCs": flag(), "caps": flag(), "smallCaps": flag(), "strike": flag(), "dstrike": flag(),
	"outline": flag(), "shadow": flag(), "emboss": flag(), "imprint": flag(), "noProof": flag(), "vanish": flag(), "rtl": flag(), "cs": flag(),
	"color": themed(map[string]kind{"val": required(color)}), "w": val(positive), "kern": val(positive),
	"position": val(whole), "sz": val(positive), "szCs": val(positive),
	"highlight": val(one("none black blue cyan green magenta red yellow white darkBlue darkCyan darkGreen darkMagenta darkRed darkYellow " +
		"darkGray lightGray")),
	"u": themed(map[string]kind{"val": one("none single words double thick dotted dottedHeavy dash dashedHeavy dashLong dashLongHeavy " +
		"dotDash dashDotHeavy dotDotDash dashDotDotHeavy wave wavyHeavy wavyDouble"), "color": color}),
	"bdr": border(), "shd": shading(), "vertAlign": val(one("baseline superscript subscript")),
	"em":   val(one("none dot comma circle underDot")),
	"lang": {attrs: map[string]kind{"val": language, "eastAsia": language, "bidi": language}},

	"pPr": {first: names("pStyle keepNext keepLines pageBreakBefore widowControl suppressLineNumbers pBdr shd tabs suppressAutoHyphens bidi " +
		"spacing ind contextualSpacing jc textAlignment outlineLvl rPr")},
	"pStyle": val(text), "keepNext": flag(), "keepLines": flag(), "pageBreakBefore": flag(), "widowControl": flag(),
	"suppressLineNumbers": flag(), "suppressAutoHyphens": flag(), "bidi": flag(), "contextualSpacing": flag(),
	"pBdr": {first: names("top left bottom right between bar")},
	"tabs": {content: names("tab"), needs: names("tab")},
	"tabs/tab": {attrs: map[string]kind{
		"val": required(one("clear left center right decimal bar num")), "pos": required(whole),
		"leader": one("none dot hyphen underscore heavy middleDot"),
	}},
	"spacing": {attrs: map[string]kind{
		"val": whole, "before": positive, "after": positive, "line": whole, "lineRule": one("auto exact atLeast"),
		"beforeAutospacing": onOff, "afterAutospacing": onOff,
	}},
	"ind": {attrs: map[string]kind{
		"left": whole, "right": whole, "start": whole, "end": whole, "hanging": positive, "firstLine": positive,
	}},
	"jc": val(one(jcText)), "textAlignment": val(one("top center baseline bottom auto")),
	"outlineLvl": val(kind{what: "a number from 0 to 9", pattern: regexp.MustCompile(`^\d$`)}),

	"tbl": {first: names("tblPr tblGrid"), content: names("tr"), needs: names("tblPr tblGrid tr")},
	"tblPr": {first: names("tblStyle bidiVisual tblW jc tblCellSpacing tblInd tblBorders shd tblLayout tblCellMar tblLook tblCaption " +
		"tblDescription")},
	"tblPr/jc": val(one("left center right start end")), "trPr/jc": val(one("left center right start end")),
	"tblStyle": val(text), "bidiVisual": flag(), "tblW": width(), "tblCellSpacing": width(), "tblInd": width(),
	"tblBorders": {first: names("top left start bottom right end insideH insideV")},
	"tblLayout":  {attrs: map[string]kind{"type": one("fixed autofit")}},
	"tblCellMar": {first: names("top left start bottom right end")},
	"tblLook": {attrs: map[string]kind{
		"val": character, "firstRow": onOff, "lastRow": onOff, "firstColumn": onOff, "lastColumn": onOff, "noHBand": onOff, "noVBand": onOff,
	}},
	"tblCaption": val(text), "tblDescription": val(text),
	"tblGrid": {content: names("gridCol"), needs: names("gridCol")},
	"gridCol": {attrs: map[string]kind{"w": positive}},

	"tr":   {first: names("trPr"), content: names("tc"), needs: names("tc")},
	"trPr": {first: names("cantSplit trHeight tblHeader jc")},
	"trHeight": {attrs: map[string]kind{
		"val": positive, "hRule": one("auto exact atLeast"),
	}},
	"cantSplit": flag(), "tblHeader": flag(),
	"tc":        {first: names("tcPr"), content: names("p tbl"), last: "p"},
	"tcPr":      {first: names("tcW gridSpan vMerge tcBorders shd noWrap tcMar textDirection vAlign")},
	"tcW":       width(),
	"gridSpan":  val(kind{what: "a number from 1 to 63", pattern: regexp.MustCompile(`^([1-9]|[1-5]\d|6[0-3])$`)}),
	"vMerge":    {attrs: map[string]kind{"val": one("restart continue")}},
	"tcBorders": {first: names("top left start bottom right end insideH insideV tl2br tr2bl")},
	"noWrap":    flag(), "tcMar": {first: names("top left start bottom right end")},
	"textDirection": val(one("lrTb tbRl btLr lrTbV tbRlV tbLrV")), "vAlign": val(one("top center both bottom")),
}
