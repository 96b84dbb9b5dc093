package font

import (
	"slices"
	"strings"
)

// The substitutes of families. All choices between fonts are made here and in match.go. The configuration for fontconfig (config.go)
// follows them.

// metricCompatible lists families with the same widths, so that lines break at the same words. The substitute of a missing family is the
// first installed one in its row. The second one of each row is free. The rows are those of fontconfig's 30-metric-aliases.conf, and
// Selawik, which Microsoft made to replace Segoe UI.
var metricCompatible = [][]string{
	{"Arial", "Liberation Sans", "Arimo", "Albany AMT", "Albany", "Helvetica", "Nimbus Sans", "Nimbus Sans L", "TeX Gyre Heros"},
	{"Times New Roman", "Liberation Serif", "Tinos", "Thorndale AMT", "Thorndale", "Times", "Nimbus Roman", "Nimbus Roman No9 L",
		"TeX Gyre Termes"},
	{"Courier New", "Liberation Mono", "Cousine", "Cumberland AMT", "Cumberland", "Courier", "Nimbus Mono PS", "Nimbus Mono L",
		"TeX Gyre Cursor"},
	{"Arial Narrow", "Liberation Sans Narrow", "Helvetica Narrow", "Nimbus Sans Narrow", "TeX Gyre Heros Cn"},
	{"Calibri", "Carlito"},
	{"Cambria", "Caladea"},
	{"Georgia", "Gelasio"},
	{"Segoe UI", "Selawik"},
	{"Palatino Linotype", "P052", "URW Palladio L", "TeX Gyre Pagella", "Palatino"},
	{"Century Schoolbook", "C059", "Century Schoolbook L", "TeX Gyre Schola", "New Century Schoolbook"},
	{"Bookman Old Style", "URW Bookman", "URW Bookman L", "TeX Gyre Bonum", "ITC Bookman"},
	{"ITC Avant Garde Gothic", "URW Gothic", "URW Gothic L", "TeX Gyre Adventor"},
	{"ITC Zapf Chancery", "Z003", "URW Chancery L", "TeX Gyre Chorus"},
}

// alike lists families that look similar to others but have other widths, the most similar first.
var alike = []struct{ names, by []string }{
	{[]string{"Calibri Light"}, []string{"Calibri", "Carlito"}},
	{[]string{"Cambria Math"}, []string{"Cambria", "Caladea"}},
	{[]string{"Arial Black", "Arial Unicode MS", "Arial Rounded MT Bold"}, []string{"Arial", "Liberation Sans", "Arimo"}},
	{[]string{"Segoe UI Light", "Segoe UI Semilight"}, []string{"Selawik Light", "Selawik Semilight", "Segoe UI", "Selawik"}},
	{[]string{"Segoe UI Semibold"}, []string{"Selawik Semibold", "Segoe UI", "Selawik"}},
	{[]string{"Verdana", "Tahoma"}, []string{"DejaVu Sans", "Bitstream Vera Sans"}},
	{[]string{"Consolas", "Cascadia Code", "Cascadia Mono"}, []string{"Inconsolata"}},
	{[]string{"Lucida Console"}, []string{"DejaVu Sans Mono"}},
	{[]string{"Book Antiqua"}, []string{"Palatino Linotype", "P052", "TeX Gyre Pagella"}},
	{[]string{"Century Gothic"}, []string{"URW Gothic", "TeX Gyre Adventor"}},
	{[]string{"Garamond"}, []string{"EB Garamond"}},
}

// eastAsianLanguage is a language of eastAsian.
type eastAsianLanguage struct {
	language   string   // fontconfig's name
	tags       []string // prefixes of language tags
	serifs     []string
	sans       []string
	freeSerifs []string
	freeSans   []string
	fontsOfAll []string // free fonts that are used for both kinds
}

// eastAsian lists the languages whose characters Unicode unifies, with Word's fonts for them, with and without serifs. The free fonts
// replace those, and draw characters that a font lacks. The first language applies to text in an unknown language.
var eastAsian = []eastAsianLanguage{
	{
		language: "zh", tags: []string{"zh"},
		serifs: []string{"SimSun", "宋体", "NSimSun", "新宋体", "SimSun-ExtB", "FangSong", "仿宋", "仿宋_GB2312", "FangSong_GB2312", "KaiTi",
			"楷体", "楷体_GB2312", "STSong", "华文宋体"},
		sans: []string{"SimHei", "黑体", "Microsoft YaHei", "微软雅黑", "Microsoft YaHei UI", "DengXian", "等线", "DengXian Light",
			"等线 Light", "Hei", "PingFang SC"},
		freeSerifs: []string{"Noto Serif CJK SC", "AR PL UMing CN"}, freeSans: []string{"Noto Sans CJK SC"},
		fontsOfAll: []string{"WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback"},
	},
	{
		language: "zh-tw", tags: []string{"zh-tw", "zh-hk", "zh-mo", "zh-hant"},
		serifs:     []string{"PMingLiU", "新細明體", "MingLiU", "細明體", "DFKai-SB", "標楷體"},
		sans:       []string{"Microsoft JhengHei", "微軟正黑體", "Microsoft JhengHei UI"},
		freeSerifs: []string{"Noto Serif CJK TC", "AR PL UMing TW"}, freeSans: []string{"Noto Sans CJK TC"},
	},
	{
		language: "ja", tags: []string{"ja"},
		serifs: []string{"MS Mincho", "ＭＳ 明朝", "MS PMincho", "ＭＳ Ｐ明朝", "Yu Mincho", "游明朝"},
		sans: []string{"MS Gothic", "ＭＳ ゴシック", "MS PGothic", "ＭＳ Ｐゴシック", "MS UI Gothic", "Yu Gothic", "游ゴシック", "Yu Gothic Light",
			"游ゴシック Light", "Meiryo", "メイリオ"},
		freeSerifs: []string{"Noto Serif CJK JP", "IPAMincho", "IPAPMincho", "IPAexMincho"},
		freeSans:   []string{"Noto Sans CJK JP", "IPAGothic", "IPAPGothic", "IPAexGothic", "VL Gothic"},
	},
	{
		language: "ko", tags: []string{"ko"},
		serifs:     []string{"Batang", "바탕", "BatangChe", "Gungsuh", "궁서"},
		sans:       []string{"Malgun Gothic", "맑은 고딕", "Gulim", "굴림", "Dotum", "돋움"},
		freeSerifs: []string{"Noto Serif CJK KR", "NanumMyeongjo", "UnBatang"}, freeSans: []string{"Noto Sans CJK KR", "NanumGothic", "UnDotum"},
	},
}

// families returns the free fonts of a language.
func (e *eastAsianLanguage) families() []string {
	return slices.Concat(e.freeSans, e.fontsOfAll, e.freeSerifs)
}

// eastAsianIndex returns the index of the language that a tag such as "zh-TW" belongs to.
func eastAsianIndex(tag string) int {
	found, longest := 0, 0
	for i := range eastAsian {
		for _, beginning := range eastAsian[i].tags {
			if len(beginning) > longest && strings.HasPrefix(strings.ToLower(tag), beginning) {
				found, longest = i, len(beginning)
			}
		}
	}
	return found
}

// symbols are symbol fonts. LibreOffice draws their symbols with equivalents in OpenSymbol.
var symbols = []string{"Symbol", "Wingdings", "Wingdings 2", "Wingdings 3", "Webdings", "ZapfDingbats", "Monotype Sorts"}

const openSymbol = "OpenSymbol"

// Serif, sans-serif, and monospaced fonts, each with its substitute if nothing nearer is installed. Fonts that are not listed count as
// sans-serif.
var (
	serifs = []string{
		"Aptos Serif", "Baskerville Old Face", "Bell MT", "Bodoni MT", "Book Antiqua", "Bookman Old Style", "Californian FB", "Calisto MT",
		"Cambria", "Cambria Math", "Centaur",
		"Century", "Century Schoolbook", "Charter", "Cochin", "Constantia", "Didot", "Footlight MT", "Garamond", "EB Garamond", "Georgia",
		"Georgia Pro", "Goudy Old Style", "High Tower Text", "Hoefler Text", "ITC Bookman", "Libre Baskerville", "Lora", "Lucida Bright",
		"Lucida Fax",
		"Merriweather", "Minion Pro", "MS Serif", "New York", "Noto Serif", "Palatino", "Palatino Linotype", "Perpetua", "Playfair Display",
		"PT Serif",
		"Rockwell", "Roboto Serif", "Sitka Text", "Source Serif Pro", "Sylfaen", "Times", "Times New Roman", "David", "Traditional Arabic",
		"Angsana New", "FrankRuehl",
	}
	monos = []string{
		"Andale Mono", "Anonymous Pro", "Aptos Mono", "Bitstream Vera Sans Mono", "Cascadia Code", "Cascadia Mono", "Consolas", "Courier",
		"Courier New",
		"Fira Code", "Fira Mono", "Fixedsys", "Inconsolata", "JetBrains Mono", "Letter Gothic", "Lucida Console", "Lucida Sans Typewriter",
		"Menlo",
		"Miriam Fixed", "Monaco", "Noto Mono", "OCR A Extended", "OCR-A", "OCRB", "Roboto Mono", "SF Mono", "Source Code Pro", "Terminal",
		"Ubuntu Mono",
	}
	serifFallback = []string{"Liberation Serif", "Times New Roman", "Tinos", "Noto Serif", "DejaVu Serif"}
	monoFallback  = []string{"Liberation Mono", "Courier New", "Cousine", "Noto Sans Mono", "DejaVu Sans Mono"}
	sansFallback  = []string{"Liberation Sans", "Arial", "Arimo", "Noto Sans", "Carlito", "DejaVu Sans"}
	signFallback  = []string{openSymbol, "Noto Sans Symbols", "Noto Sans Symbols2", "Noto Sans Math", "Noto Color Emoji", "Noto Emoji",
		"Symbola"}
)

// standIn holds the substitutes of a family: those with the same widths, then similar ones.
type standIn struct {
	name       string
	compatible []string
	others     []string
}

// standIns indexes the tables above by folded name.
func standIns() map[string]*standIn {
	all := map[string]*standIn{}
	of := func(name string) *standIn {
		s := all[fold(name)]
		if s == nil {
			s = &standIn{name: name}
			all[fold(name)] = s
		}
		return s
	}
	for _, row := range metricCompatible {
		for _, name := range row {
			of(name).compatible = row
		}
	}
	for _, row := range alike {
		for _, name := range row.names {
			of(name).others = append(of(name).others, row.by...)
		}
	}
	for _, name := range symbols {
		of(name).others = []string{openSymbol}
	}
	for i := range eastAsian {
		e := &eastAsian[i]
		for _, name := range e.serifs {
			of(name).others = slices.Concat(e.freeSerifs, e.fontsOfAll, e.freeSans, serifFallback)
		}
		for _, name := range e.sans {
			of(name).others = slices.Concat(e.freeSans, e.fontsOfAll, e.freeSerifs)
		}
	}
	for _, name := range serifs {
		of(name).others = append(of(name).others, serifFallback...)
	}
	for _, name := range monos {
		of(name).others = append(of(name).others, monoFallback...)
	}
	return all
}
