package lang

import "encoding/json"

// signature is what a filter or function says of the value it is for.
type signature struct {
	takes
	same bool // what it gives is of that value still, so that the next filter says something of it too
}

// filterSignatures holds what each filter takes, but for those that depend on their argument: format, add and barcode.
var filterSignatures = map[string]signature{
	"optional": {same: true}, "default": {same: true},

	"uppercase": {takes: takes{want: aScalar}}, "lowercase": {takes: takes{want: aScalar}}, "titlecase": {takes: takes{want: aScalar}}, "capitalize": {takes: takes{want: aScalar}},
	"trim": {takes{want: aScalar}, true}, "truncate": {takes: takes{want: aScalar}}, "replace": {takes: takes{want: aScalar}}, "pad": {takes: takes{want: aScalar}}, "split": {takes: takes{want: aScalar}},

	"currency": {takes: takes{want: aNumber}}, "percent": {takes: takes{want: aNumber}}, "words": {takes: takes{want: aNumber}}, "ordinal": {takes: like(aNumber, json.Number("3"), json.Number("1"))},
	"date": {takes: takes{want: aDate}}, "time": {takes: takes{want: aTime}}, "timezone": {takes{want: aTime}, true},

	"where": {takes{want: aList}, true}, "sort": {takes{want: aList}, true}, "group": {takes{want: aList}, true}, "unique": {takes{want: aList}, true}, "reverse": {takes{want: aList}, true},
	"first": {takes{want: aList}, true}, "last": {takes{want: aList}, true}, "slice": {same: true}, "count": {takes: takes{want: aList}}, "join": {takes: takes{want: aList | aScalar}},
	"delimiter": {takes{want: maybeList}, true}, "lastdelimiter": {takes{want: maybeList}, true}, "chart": {takes: takes{want: aList}},

	"raw": {takes{want: aScalar}, true}, "html": {takes{want: aText}, true}, "markdown": {takes{want: aText}, true}, "image": {takes: takes{want: aPicture}},
	"qrcode": {takes{want: aScalar}, true}, "link": {takes: anAddress}, "checkbox": {takes: takes{want: aBoolean}}, "pagebreak": {takes: takes{want: aBoolean}},
	"bold": {same: true}, "italic": {same: true}, "underline": {same: true}, "strike": {same: true}, "color": {same: true},
	"style": {same: true}, "merge": {same: true}, "span": {same: true},
}

// filterArguments holds what filters take their arguments for; the last counts for all that follow.
var filterArguments = map[string][]takes{
	"sort": {{want: aScalar}, like(aText, "desc")}, "group": {{want: aScalar}}, "unique": {{want: aScalar}},
	"chart": {{want: aScalar}, {want: aNumber}},

	"truncate": {like(aNumber, json.Number("20")), like(aText, "…")}, "pad": {like(aNumber, json.Number("8")), like(aText, "0"), like(aText, "right")},
	"replace": {{want: aScalar}}, "split": {like(aText, ",")}, "join": {{want: aScalar}}, "delimiter": {{want: aScalar}}, "lastdelimiter": {{want: aScalar}},
	"first": {like(aNumber, json.Number("1"))}, "last": {like(aNumber, json.Number("1"))}, "slice": {like(aNumber, json.Number("0")), like(aNumber, json.Number("2"))},

	"format": {like(aText, "xxx-xxxx")}, "currency": {like(aText, "EUR")}, "percent": {like(aNumber, json.Number("1"))}, "add": {like(aNumber, json.Number("5"))},
	"date": {like(aText, "yyyy-MM-dd")}, "time": {like(aText, "HH:mm")}, "timezone": {like(aText, "Europe/Paris")},

	"image": {like(aText, "4cm"), like(aText, "3cm"), like(aText, "fit")}, "qrcode": {like(aText, "3cm")}, "barcode": {like(aText, "code128"), like(aText, "5cm"), like(aText, "2cm")},
	"checkbox": {{want: aScalar}}, "color": {like(aText, "red"), {}}, "style": {like(aText, "Strong"), {}}, "link": {{want: aScalar}}, "span": {like(aNumber, json.Number("2"))},
}

// like is what suits as those examples do.
func like(w want, examples ...Value) takes { return takes{want: w, examples: examples, sure: true} }

// anAddress is what a link leads to.
var anAddress = like(aText, "https://example.com/", "https://example.org/")

// codeExamples are texts for the kinds of barcodes that do not take any text.
var codeExamples = map[string]string{
	"ean13": "4006381333931", "ean8": "96385074", "codabar": "40156", "2of5": "1234567890", "itf": "1234567890",
}

// functionSignatures holds what each function takes its arguments for; the last counts for all that follow. What $lookup takes
// depends on its arguments.
var functionSignatures = map[string][]takes{
	"$sum": {{want: maybeList | aNumber}}, "$average": {{want: maybeList | aNumber}}, "$min": {{want: maybeList | aNumber}}, "$max": {{want: maybeList | aNumber}},
	"$count": {{want: maybeList}, {}}, "$length": {{examples: []Value{"text"}}}, "$join": {{want: maybeList | aScalar}, {want: aScalar}}, "$string": {{want: aScalar}},
	"$round": {{want: aNumber}}, "$floor": {{want: aNumber}}, "$ceil": {{want: aNumber}}, "$abs": {{want: aNumber}}, "$number": {{want: aNumber}},
	"$days": {{want: aDate}}, "$now": nil, "$today": nil,
}
