// Package lang is the tag language of Platen's templates: the text between {{ and }}, and its value for a
// given input. It knows neither document formats nor the service: its input is text and decoded JSON, its output is text.
//
// A template engine uses it in two steps. Once per template: [Find] the tags of each text, [ParseTag] them, follow the
// loops with a [Scope], and collect in a [Use] the input that the template reads. Once per document: [Decode] the
// input, create an [Env], and call its methods to [Env.Print] values, [Env.Test] conditions, and [Env.List] the items of
// a loop, with [Env.Push] and [Env.Pop] around each item. [Env.Show] also returns the presentation of a value, and
// [Env.Chart] the data of a chart. [Use.Schema] describes the input for people who provide it. [Env.Problems] suggests
// fixes for missing input.
//
// # Grammar
//
//	tag     = "{{" [ block | expr filters | "include" ( string | expr filters ) | "pagebreak" | "!" anything ] "}}"
//	block   = ("for" | "tablerow" | "tablecolumn") name "in" expr filters | "endfor" | "endtablerow" | "endtablecolumn"
//	        | ("if" | "elseif" | "else" "if") expr | "else" | "endif"
//	filters = { ("::" | ",") name [ "(" [ expr { "," expr } ] ")" ] }       the first one after "::"
//	expr    = or, and, not, compare, + -, * / %, unary -                    from weak to strong
//	compare = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | ["not"] "in" | ["not"] "contains") sum
//	        | "isPresent" | "isNotPresent" ]
//	primary = number | string | "true" | "false" | "null" | path | "$" name [ "(" [ expr { "," expr } ] ")" ] | "(" expr ")"
//	        | "[" [ expr { "," expr } ] "]" | "(" expr "," expr { "," expr } ")"                                   a list
//	path    = name { "." key | "[" [ "-" ] digits "]" }
//	key     = letters, digits, _ and $ | "`" anything "`"
//
// Blanks (also the non-breaking ones that Word inserts) separate words, and have no other meaning. Quotes of all kinds
// are equivalent: a string ends at the next quote of its family, double or single. In a string, \n is a line break, \t a
// tab, and \ escapes a quote or another \. Words that open or close a block, and operators between values, may be
// written in any case. A key that is spelled like one of them must be in backquotes. The characters ≠ ≤ ≥ − × ÷ are
// accepted as operators. Only $now and $today are written without parentheses.
//
// # Values
//
// A path is looked up in the innermost loop variable of that name, then outward, and then in the input. A key applied to a list applies to
// each of its items, so products.amount is the list of all amounts. [0] is the first item of a list, and [-1] the last. Null is the same as
// missing. Inside a loop, loop.index (from 0), loop.number (from 1), loop.first, loop.last, loop.count, and loop.parent describe the round.
//
// The arguments of where, sort, group, unique, and chart, and the second argument of $sum, $average, $min, $max, and
// $count, are computed for each item of a list. There the keys of the items are the innermost names, which are missing
// for an item that lacks a key of others, and item is the item itself, unless it has a key of that name. In the filters of a loop, its
// variable is the item as well.
//
// Numbers are exact decimals. A number that is printed unchanged keeps every digit (1.50 stays 1.50; only an exponent is written out). A
// computed number is printed without trailing zeros (1.50 + 1.50 is 3). Division has 34 significant digits, and a rounded result shows 16
// decimals. Text with a number counts as that number in arithmetic, in comparisons with a number, and, if it is written as JSON writes
// numbers, in comparisons with another such text.
//
// Dates are texts or numbers (see [platen/docx/locale.ParseTime]). They are compared as text, which is the right order for ISO 8601. With
// $now and $today they are compared as dates; if one of the two has no time of day, their days are compared. A time with a zone stays in it
// unless [Options] or the filter timezone change it.
//
// A missing operand makes arithmetic missing and comparisons false, including !=. Only the literal null equals a missing value. A condition
// is false for a missing value, false, 0, "", and the empty list, and true for everything else. Filters keep a missing
// value missing, except for optional and default. Almost all filters keep the empty text unchanged.
//
// # Presentation
//
// Some filters do not change the value but set its presentation: see [Present] and [Env.Show].
//
// # Errors
//
// A tag with a mistake is a [*SyntaxError]. Unsuitable input, such as text where a number is needed, or a division by zero, is reported by
// [Env.Errors], and the tag stays in the document. Only an exceeded limit ([*LimitError]) ends an execution.
package lang
