package richtext

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// spanWith returns an element with a style attribute.
func spanWith(style string) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: "span", Attr: []html.Attribute{{Key: "style", Val: style}}}
}

func TestDeclarations(t *testing.T) {
	for style, want := range map[string][]declaration{
		"":                                      nil,
		" ; ;":                                  nil,
		"Color: RED":                            {{"color", "RED", "RED"}},
		"color:red;color:lime":                  {{"color", "red", "red"}, {"color", "lime", "lime"}},
		`font-family: "a;b"`:                    {{"font-family", `"a;b"`, "a;b"}},
		`font-family: 'a,b', Arial; color: red`: {{"font-family", `'a,b', Arial`, "a,b"}, {"color", "red", "red"}},
		`font-family:Times  New Roman,serif`:    {{"font-family", "Times New Roman,serif", "Times New Roman"}},
		`background:url(data:image/png;base64,xx);color:red`:     {{"background", "", ""}, {"color", "red", "red"}},
		`background:url("data:image/png;base64,xx");color:red`:   {{"background", "", ""}, {"color", "red", "red"}},
		`background:url( 'a;b' ) ;color:red`:                     {{"background", "", ""}, {"color", "red", "red"}},
		`color: rgb(1, 2,3) ;x:y`:                                {{"color", "rgb(1, 2,3)", "rgb(1, 2,3)"}, {"x", "y", "y"}},
		`/* a;b:c */color/**/:/**/ red /* ; */ ; /*x*/width:1px`: {{"color", "red", "red"}, {"width", "1px", "1px"}},
		`color:red/*;width:1px`:                                  {{"color", "red", "red"}},
		`color: red !important; width: 50% ! IMPORTANT`:          {{"color", "red", "red"}, {"width", "50%", "50%"}},
		`font-family:"a!b" !important`:                           {{"font-family", `"a!b"`, "a!b"}},
		`c\6flor:\72 ed;col\or:b\6Cue`:                           {{"color", "red", "red"}, {"color", "blue", "blue"}},
		`font-family:"a\"b\3b c"`:                                {{"font-family", `"a\"b\3b c"`, `a"b;c`}},
		`font-family:"a\0 b\110000 c"`:                           {{"font-family", `"a\0 b\110000 c"`, "a\uFFFDb\uFFFDc"}},
		`a`:                                                      nil,
		`:red;color:red`:                                         {{"color", "red", "red"}},
		`a b:c;color:red`:                                        {{"color", "red", "red"}},
		`--x:{a;b};1:2;color:red`:                                {{"color", "red", "red"}},
		`width:1px);color:red`:                                   {{"width", "1px)", "1px)"}, {"color", "red", "red"}},
		`width:calc(1px;color:red`:                               {{"width", "calc(1px;color:red", "calc(1px;color:red"}},
		`font-family:"a;color:red`:                               {{"font-family", `"a;color:red`, "a;color:red"}},
		"color:red\x00;width:1px":                                {{"color", "red\x00", "red\x00"}, {"width", "1px", "1px"}},
	} {
		if diff := cmp.Diff(want, declarations(spanWith(style)), cmp.AllowUnexported(declaration{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", style, diff)
		}
	}
}

// TestLongDeclarations reads styles that would be slow if anything were read again for each character or bracket.
func TestLongDeclarations(t *testing.T) {
	const n = 1 << 20
	for name, style := range map[string]string{
		"semicolons":   strings.Repeat(";", n),
		"declarations": strings.Repeat("a:b;", n),
		"colons":       strings.Repeat(":", n),
		"brackets":     "a:" + strings.Repeat("(", n),
		"closed":       "a:" + strings.Repeat(")", n),
		"backslashes":  "a:" + strings.Repeat(`\`, n),
		"escapes":      "a:" + strings.Repeat(`\61 `, n),
		"string":       `a:"` + strings.Repeat("x;", n),
		"strings":      "a:" + strings.Repeat(`"`, n),
		"url":          "a:url(" + strings.Repeat("x;", n),
		"urls":         "a:" + strings.Repeat("url(", n),
		"comments":     strings.Repeat("/*", n),
		"commas":       "a:" + strings.Repeat("b,", n),
	} {
		t.Run(name, func(t *testing.T) {
			if all := declarations(spanWith(style)); len(all) > maxDeclarations {
				t.Errorf("%d declarations", len(all))
			}
		})
	}
}
