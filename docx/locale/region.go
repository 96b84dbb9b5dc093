package locale

import (
	"time"

	"github.com/go-playground/locales/de_AT"
	"github.com/go-playground/locales/es_MX"
	"github.com/go-playground/locales/fr_CA"
	"github.com/go-playground/locales/pt_PT"
	"github.com/go-playground/locales/zh_Hant"
)

// regionRow has the differences between the conventions of a region and those of its parent, which precedes it.
type regionRow struct {
	tag, parent string
	change      func(*conventions)
}

// sameAs names the regions that write as another one does, in lower case.
var sameAs = map[string]string{
	"en-nz": "en-au", "en-mt": "en-gb", "en-001": "en-gb", "en-150": "en-gb", "de-li": "de-ch",
	"es-419": "es-mx", "es-us": "es-mx", "es-gt": "es-mx", "es-pe": "es-mx", "es-pa": "es-mx", "es-hn": "es-mx", "es-ni": "es-mx",
	"es-sv": "es-mx", "es-do": "es-mx", "es-pr": "es-mx", "es-uy": "es-ar", "es-py": "es-ar", "es-ve": "es-co", "es-ec": "es-co",
	"pt-ao": "pt-pt", "pt-mz": "pt-pt", "pt-cv": "pt-pt", "zh-hant-mo": "zh-hant-hk",
	"ar-sa": "ar-eg", "ar-bh": "ar-eg", "ar-iq": "ar-eg", "ar-jo": "ar-eg", "ar-kw": "ar-eg", "ar-lb": "ar-eg", "ar-mr": "ar-eg",
	"ar-om": "ar-eg", "ar-ps": "ar-eg", "ar-qa": "ar-eg", "ar-sd": "ar-eg", "ar-sy": "ar-eg", "ar-ye": "ar-eg",
	"ar-so": "ar-eg", "ar-dj": "ar-eg", "ar-er": "ar-eg", "ar-td": "ar-eg", "ar-km": "ar-eg", "ar-il": "ar-eg", "ar-ss": "ar-eg",
	"ar-dz": "ar-ma", "ar-tn": "ar-ma", "ar-ly": "ar-ma",
}

func regions() []regionRow {
	return append(englishRegions(), append(europeanRegions(), overseasRegions()...)...)
}

func englishRegions() []regionRow {
	return []regionRow{
		{"en-GB", "en", func(c *conventions) {
			c.dates = [4]string{"dd/MM/y", "d MMM y", "d MMMM y", "EEEE, d MMMM y"}
			c.times, c.am, c.pm = clock("HH:mm"), "am", "pm"
			c.weekStart, c.weekDays = time.Monday, 4
			c.lastAnd, c.monthFirst = " and ", false
			c.symbols = [][2]string{{"USD", "US$"}, {"JPY", "JP¥"}}
		}},
		{"en-IE", "en-GB", func(c *conventions) { c.dates[3] = "EEEE d MMMM y" }},
		{"en-AU", "en-GB", func(c *conventions) {
			c.dates[0] = "d/M/yy"
			c.times, c.weekDays = twelve, 1
			c.symbols = nil
		}},
		{"en-CA", "en", func(c *conventions) {
			c.dates[0] = "y-MM-dd"
			c.am, c.pm, c.lastAnd = "a.m.", "p.m.", " and "
		}},
		{"en-IN", "en-GB", func(c *conventions) {
			c.secondary = 2
			c.dates[0] = "dd/MM/yy"
			c.times, c.weekStart, c.weekDays = twelve, time.Sunday, 1
			c.symbols = [][2]string{{"USD", "$"}, {"JPY", "JP¥"}}
		}},
		{"en-ZA", "en-GB", func(c *conventions) {
			c.decimal, c.group = ",", nbsp
			c.dates = [4]string{"y/MM/dd", "dd MMM y", "dd MMMM y", "EEEE, dd MMMM y"}
			c.weekStart, c.weekDays = time.Sunday, 1
		}},
	}
}

func europeanRegions() []regionRow {
	return []regionRow{
		{"de-AT", "de", func(c *conventions) {
			c.source = de_AT.New
			c.group, c.moneyGroup, c.currency = nbsp, ".", "¤"+nbsp+"#"
		}},
		{"de-CH", "de", func(c *conventions) {
			c.decimal, c.group, c.percentGap = ".", "’", ""
			c.currency, c.negative = "¤"+nbsp+"#", "¤-#"
			c.symbols = [][2]string{{"EUR", "EUR"}}
		}},
		{"fr-BE", "fr", func(c *conventions) { c.dates[0] = "d/MM/yy" }},
		{"fr-CH", "fr", func(c *conventions) {
			c.moneyDecimal, c.percentGap = ".", ""
			c.dates[0], c.dates[3] = "dd.MM.yy", "EEEE, d MMMM y"
		}},
		{"it-CH", "it", func(c *conventions) {
			c.decimal, c.group = ".", "’"
			c.currency, c.negative = "¤"+nbsp+"#", "¤-#"
			c.dates[0], c.dates[3] = "dd.MM.yy", "EEEE, d MMMM y"
		}},
		{"nl-BE", "nl", func(c *conventions) { c.dates[0] = "d/MM/y" }},
		{"pt-PT", "pt", func(c *conventions) {
			c.source = pt_PT.New
			c.group, c.minGroup, c.currency = nbsp, 2, "#"+nbsp+"¤"
			c.dates[0], c.dates[1] = "dd/MM/yy", "dd/MM/y"
			c.am, c.pm, c.weekDays = "da manhã", "da tarde", 4
		}},
	}
}

func overseasRegions() []regionRow {
	return []regionRow{
		{"fr-CA", "fr", func(c *conventions) {
			c.source, c.group = fr_CA.New, nbsp
			c.dates[0], c.am, c.pm, c.weekStart, c.weekDays = "y-MM-dd", "a.m.", "p.m.", time.Sunday, 1
			seconds := "HH 'h' mm 'min' ss 's'"
			c.times = [4]string{"HH 'h' mm", seconds, seconds + " z", seconds + " zzzz"}
		}},
		{"es-MX", "es", func(c *conventions) {
			c.source, c.decimal, c.group, c.percentGap, c.minGroup = es_MX.New, ".", ",", "", 1
			c.currency, c.dates[0] = "¤#", "dd/MM/yy"
			c.times, c.am, c.pm, c.weekStart, c.weekDays = twelve, "a.m.", "p.m.", time.Sunday, 1
		}},
		{"es-AR", "es", func(c *conventions) {
			c.percentGap, c.minGroup, c.currency = "", 1, "¤"+nbsp+"#"
			c.times, c.weekDays = twelve, 1
		}},
		{"es-CO", "es-AR", func(c *conventions) {
			c.dates[0], c.dates[1], c.weekStart = "d/MM/yy", "d/MM/y", time.Sunday
		}},
		{"es-CL", "es-AR", func(c *conventions) {
			c.currency, c.negative = "¤#", "¤-#"
			c.dates[0], c.dates[1] = "dd-MM-yy", "dd-MM-y"
		}},
		{"zh-Hant", "zh", func(c *conventions) {
			c.source, c.dates[3] = zh_Hant.New, "y年M月d日 EEEE"
			c.times = [4]string{"ah:mm", "ah:mm:ss", "ah:mm:ss [z]", "ah:mm:ss [zzzz]"}
			c.weekStart = time.Sunday
		}},
		{"zh-Hant-HK", "zh-Hant", func(c *conventions) {
			c.dates[0], c.dates[3], c.lastAnd, c.pairAnd = "d/M/y", "y年M月d日EEEE", "及", "及"
		}},
		{"ar-EG", "ar", func(c *conventions) {
			c.zero, c.decimal, c.group = '٠', "٫", "٬"
			c.minus, c.percentSign, c.negative = alm+"-", "٪"+alm, ""
		}},
		{"ar-AE", "ar", func(c *conventions) { c.weekStart = time.Monday }},
		{"ar-MA", "ar", func(c *conventions) {
			c.decimal, c.group, c.times, c.weekStart = ",", ".", clock("HH:mm"), time.Monday
		}},
	}
}
