package locale

import (
	"time"

	"github.com/go-playground/locales"
	"github.com/go-playground/locales/ar"
	"github.com/go-playground/locales/de"
	"github.com/go-playground/locales/en"
	"github.com/go-playground/locales/es"
	"github.com/go-playground/locales/fr"
	"github.com/go-playground/locales/it"
	"github.com/go-playground/locales/ja"
	"github.com/go-playground/locales/nl"
	"github.com/go-playground/locales/pl"
	"github.com/go-playground/locales/pt"
	"github.com/go-playground/locales/sv"
	"github.com/go-playground/locales/zh"
)

// The spaces and marks in the conventions of CLDR.
const (
	nbsp  = "\u00a0" // no-break space
	nnbsp = "\u202f" // narrow no-break space
	lrm   = "\u200e" // left-to-right mark
	rlm   = "\u200f" // right-to-left mark
	alm   = "\u061c" // Arabic letter mark
)

// conventions are what differs from language to language and from region to region.
type conventions struct {
	source func() locales.Translator // of the names of months and days

	decimal, group           string
	moneyDecimal, moneyGroup string // "" means decimal and group
	minus                    string
	percentSign, percentGap  string
	zero                     rune // the digit zero; 0 means '0'
	secondary                int  // digits of the groups further left; 0 means three
	minGroup                 int  // minimum digits before the first separator, for a number to be grouped; 0 means 1
	currency, negative       string

	dates, times [4]string // short, medium, long, full
	am, pm       string
	quarter      string            // of QQQ, with # for the number
	nominative   func() [12]string // stand-alone names of months (LLLL), if they differ
	weekStart    time.Weekday
	weekDays     int // least number of days of the new year in its first week; 0 means 1

	comma, lastAnd, pairAnd string // of lists

	monthFirst bool        // 3/5/2026 is the fifth of March
	symbols    [][2]string // symbols of currencies, where they differ from CLDR's that golang.org/x/text has
}

type languageRow struct {
	tag string
	conventions
}

func clock(pattern string) [4]string {
	return [4]string{pattern, pattern + ":ss", pattern + ":ss z", pattern + ":ss zzzz"}
}

// twelve is the clock of English: 2:07 PM.
var twelve = [4]string{"h:mm a", "h:mm:ss a", "h:mm:ss a z", "h:mm:ss a zzzz"}

// languages returns the conventions of every language, without region or in its main one.
func languages() []languageRow {
	return append(germanic(), append(romance(), eastern()...)...)
}

func germanic() []languageRow {
	return []languageRow{
		{"en", conventions{source: en.New, decimal: ".", group: ",", minus: "-", percentSign: "%", currency: "¤#",
			dates: [4]string{"M/d/yy", "MMM d, y", "MMMM d, y", "EEEE, MMMM d, y"}, times: twelve, am: "AM", pm: "PM",
			quarter: "Q#", comma: ", ", lastAnd: ", and ", pairAnd: " and ", monthFirst: true}},
		{"de", conventions{source: de.New, decimal: ",", group: ".", minus: "-", percentSign: "%", percentGap: nbsp,
			currency: "#" + nbsp + "¤",
			dates:    [4]string{"dd.MM.yy", "dd.MM.y", "d. MMMM y", "EEEE, d. MMMM y"}, times: clock("HH:mm"), am: "AM", pm: "PM",
			quarter: "Q#", weekStart: time.Monday, weekDays: 4, comma: ", ", lastAnd: " und ", pairAnd: " und "}},
		{"nl", conventions{source: nl.New, decimal: ",", group: ".", minus: "-", percentSign: "%",
			currency: "¤" + nbsp + "#", negative: "¤" + nbsp + "-#",
			dates: [4]string{"dd-MM-y", "d MMM y", "d MMMM y", "EEEE d MMMM y"}, times: clock("HH:mm"), am: "a.m.", pm: "p.m.",
			quarter: "K#", weekStart: time.Monday, weekDays: 4, comma: ", ", lastAnd: " en ", pairAnd: " en "}},
		{"sv", conventions{source: sv.New, decimal: ",", group: nbsp, minus: "\u2212", percentSign: "%", percentGap: nbsp,
			currency: "#" + nbsp + "¤",
			dates:    [4]string{"y-MM-dd", "d MMM y", "d MMMM y", "EEEE d MMMM y"}, times: clock("HH:mm"), am: "fm", pm: "em",
			quarter: "K#", weekStart: time.Monday, weekDays: 4, comma: ", ", lastAnd: " och ", pairAnd: " och "}},
	}
}

func romance() []languageRow {
	return []languageRow{
		{"fr", conventions{source: fr.New, decimal: ",", group: nnbsp, minus: "-", percentSign: "%", percentGap: nbsp,
			currency: "#" + nbsp + "¤",
			dates:    [4]string{"dd/MM/y", "d MMM y", "d MMMM y", "EEEE d MMMM y"}, times: clock("HH:mm"), am: "AM", pm: "PM",
			quarter: "T#", weekStart: time.Monday, weekDays: 4, comma: ", ", lastAnd: " et ", pairAnd: " et "}},
		{"es", conventions{source: es.New, decimal: ",", group: ".", minus: "-", percentSign: "%", percentGap: nbsp, minGroup: 2,
			currency: "#" + nbsp + "¤",
			dates:    [4]string{"d/M/yy", "d MMM y", "d 'de' MMMM 'de' y", "EEEE, d 'de' MMMM 'de' y"}, times: clock("H:mm"),
			am: "a." + nbsp + "m.", pm: "p." + nbsp + "m.",
			quarter: "T#", weekStart: time.Monday, weekDays: 4, comma: ", ", lastAnd: " y ", pairAnd: " y "}},
		{"it", conventions{source: it.New, decimal: ",", group: ".", minus: "-", percentSign: "%",
			currency: "#" + nbsp + "¤",
			dates:    [4]string{"dd/MM/yy", "d MMM y", "d MMMM y", "EEEE d MMMM y"}, times: clock("HH:mm"), am: "AM", pm: "PM",
			quarter: "T#", weekStart: time.Monday, weekDays: 4, comma: ", ", lastAnd: " e ", pairAnd: " e "}},
		{"pt", conventions{source: pt.New, decimal: ",", group: ".", minus: "-", percentSign: "%",
			currency: "¤" + nbsp + "#",
			dates:    [4]string{"dd/MM/y", "d 'de' MMM 'de' y", "d 'de' MMMM 'de' y", "EEEE, d 'de' MMMM 'de' y"}, times: clock("HH:mm"),
			am: "AM", pm: "PM", quarter: "T#", comma: ", ", lastAnd: " e ", pairAnd: " e "}},
	}
}

func eastern() []languageRow {
	return []languageRow{
		{"pl", conventions{source: pl.New, decimal: ",", group: nbsp, minus: "-", percentSign: "%", minGroup: 2,
			currency: "#" + nbsp + "¤",
			dates:    [4]string{"d.MM.y", "d MMM y", "d MMMM y", "EEEE, d MMMM y"}, times: clock("HH:mm"), am: "AM", pm: "PM",
			quarter: "# kw.", nominative: polishMonths, weekStart: time.Monday, weekDays: 4,
			comma: ", ", lastAnd: " i ", pairAnd: " i "}},
		{"ja", conventions{source: ja.New, decimal: ".", group: ",", minus: "-", percentSign: "%", currency: "¤#",
			dates: [4]string{"y/MM/dd", "y/MM/dd", "y年M月d日", "y年M月d日EEEE"}, times: clock("H:mm"), am: "午前", pm: "午後",
			quarter: "Q#", comma: "、", lastAnd: "、", pairAnd: "、"}},
		{"zh", conventions{source: zh.New, decimal: ".", group: ",", minus: "-", percentSign: "%", currency: "¤#",
			dates: [4]string{"y/M/d", "y年M月d日", "y年M月d日", "y年M月d日EEEE"},
			times: [4]string{"HH:mm", "HH:mm:ss", "z HH:mm:ss", "zzzz HH:mm:ss"}, am: "上午", pm: "下午",
			quarter: "#季度", weekStart: time.Monday, comma: "、", lastAnd: "和", pairAnd: "和"}},
		{"ar", conventions{source: ar.New, decimal: ".", group: ",", minus: lrm + "-", percentSign: lrm + "%" + lrm,
			currency: rlm + "#" + nbsp + "¤", negative: rlm + "-#" + nbsp + "¤",
			dates: [4]string{"d" + rlm + "/M" + rlm + "/y", "dd" + rlm + "/MM" + rlm + "/y", "d MMMM y", "EEEE، d MMMM y"},
			times: twelve, am: "ص", pm: "م", quarter: "الربع #", weekStart: time.Saturday,
			comma: " و", lastAnd: " و", pairAnd: " و"}},
	}
}

func polishMonths() [12]string {
	return [12]string{"styczeń", "luty", "marzec", "kwiecień", "maj", "czerwiec",
		"lipiec", "sierpień", "wrzesień", "październik", "listopad", "grudzień"}
}
