package scan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

const word = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`

// tags writes what a Reader says about each tag, with its depth and attributes.
func tags(r *Reader) []string {
	var all []string
	for r.Next() {
		tag := fmt.Sprintf("%d %s", r.Depth(), r.src[r.Start:r.End])
		if r.Kind == Close {
			all = append(all, tag)
			continue
		}
		tag += " = " + r.Name()
		for i := range r.Attributes() {
			a := &r.Attributes()[i]
			if name := r.AttributeName(a); name != "" && name != "xmlns" {
				tag += " " + name + "=" + r.Attr(name)
			}
		}
		all = append(all, tag)
	}
	return all
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"Word's prefix", `<w:p ` + word + ` w:id='1'><w:r/></w:p>`, []string{
			`1 <w:p ` + word + ` w:id='1'> = w:p w:id=1`, "2 <w:r/> = w:r", "1 </w:p>",
		}},
		{"another prefix", `<b:p ` + strings.Replace(word, ":w", ":b", 1) + ` b:id="&lt;1&#x41;"/>`, []string{
			`1 <b:p ` + strings.Replace(word, ":w", ":b", 1) + ` b:id="&lt;1&#x41;"/> = w:p w:id=<1A`,
		}},
		{"the default namespace", `<p xmlns="http://purl.oclc.org/ooxml/wordprocessingml/main" id="1"/>`, []string{
			`1 <p xmlns="http://purl.oclc.org/ooxml/wordprocessingml/main" id="1"/> = w:p id=1`,
		}},
		{"a scope that ends", `<a><w:b ` + word + `><w:c xmlns:w="urn:x"/><w:d/></w:b><w:e/></a>`, []string{
			"1 <a> = ", "2 <w:b " + word + "> = w:b", `3 <w:c xmlns:w="urn:x"/> = `, "3 <w:d/> = w:d", "2 </w:b>", "2 <w:e/> = ", "1 </a>",
		}},
		{"a document type", `<!DOCTYPE a [<!ENTITY b "c">]><a/><!DOCTYPE d>`, []string{"1 <a/> = "}},
		{"markup that is no tag", "<?xml version='1.0'?><!-- <x> --><a><![CDATA[<y>]]><b c=' > '/></a >", []string{
			"1 <a> = ", "2 <b c=' > '/> =  c= > ", "1 </a >",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New([]byte(c.src))
			if got := tags(r); !slices.Equal(got, c.want) || r.Err() != nil {
				t.Errorf("the tags are\n%q,\nwant\n%q; %v", got, c.want, r.Err())
			}
			if r.Next() {
				t.Error("there is a tag after the end")
			}
		})
	}
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat("<a>", maxDepth)
	many := strings.Repeat(` b=""`, maxAttributes)
	for _, c := range []struct {
		src   string
		want  error
		limit bool
	}{
		{"<a><b></b>", errElementEnds, false},
		{"<a></a></b>", errNotOpen, false},
		{`<a b="`, errTagEnds, false},
		{"<a b", errTagEnds, false},
		{deep + "<a/>", errTooDeep, true},
		{deep, errElementEnds, false},
		{"<a" + many + ` b=""/>`, errTooMany, true},
		{"<a" + many + "/>", nil, false},
		{"", nil, false},
		{"no tag", nil, false},
	} {
		r := New([]byte(c.src))
		for range r.All {
		}
		if !errors.Is(r.Err(), c.want) || errors.Is(r.Err(), ErrLimit) != c.limit {
			t.Errorf("%.20q: the error is %v, want %v", c.src, r.Err(), c.want)
		}
	}
}

func TestCheckPrefixes(t *testing.T) {
	for src, want := range map[string]string{
		`<w:a ` + word + ` w:b="" xml:c=""/>`: "",
		`<a b="" xmlns="urn:x" xmlns:y=""/>`:  "",
		`<x:a/>`:                              `the namespace prefix "x" is not declared`,
		`<w:a ` + word + ` w:b="" x:b=""/>`:   `the namespace prefix "x" is not declared`,
	} {
		r := New([]byte(src))
		if !r.Next() {
			t.Fatal(r.Err())
		}
		if err := r.CheckPrefixes(); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", src, err, want)
		}
	}
}

// What a loop over children leaves of them is skipped.
func TestChildren(t *testing.T) {
	src := []byte(`<a>1<b>2<c/>3<d>4</d>5</b>6<e/>7<f><g/></f>8</a>9`)
	r := New(src)
	r.Next()
	var got []string
	for range r.Children {
		got = append(got, fmt.Sprintf("%d%s%s", r.Depth(), r.Text(), r.RawName()))
		if r.RawName() != "b" {
			continue
		}
		for range r.Children {
			got = append(got, fmt.Sprintf("%d%s%s", r.Depth(), r.Text(), r.RawName()))
			if r.RawName() == "d" {
				break
			}
		}
	}
	if want := []string{"21b", "32c", "33d", "26e", "27f"}; !slices.Equal(got, want) {
		t.Errorf("the children are %q, want %q", got, want)
	}
	if text := string(r.Text()); text != "8" || r.Kind != Close || r.Depth() != 1 {
		t.Errorf("the loop ends at %d after %q", r.Depth(), text)
	}
	if r.Next() || r.Err() != nil {
		t.Errorf("there is more: %v", r.Err())
	}
}

func TestSkip(t *testing.T) {
	src := `<a><b c="</b>"><b/><!-- </b> --><x:y xmlns:x="urn:x"></x:y></b><d/></a>`
	r := New([]byte(src))
	r.Next()
	r.Next()
	if !r.Skip() || src[:r.Start] != `<a><b c="</b>"><b/><!-- </b> --><x:y xmlns:x="urn:x"></x:y>` {
		t.Errorf("Skip ends at %q", src[:r.Start])
	}
	if r.Next(); r.RawName() != "d" || !r.Skip() || r.RawName() != "d" {
		t.Errorf("after Skip comes %q", r.RawName())
	}
	unclosed := New([]byte("<a><b></b>"))
	unclosed.Next()
	if unclosed.Skip() || unclosed.Err() == nil {
		t.Error("an element without an end is skipped")
	}
}

func TestClassify(t *testing.T) {
	r := New([]byte(`<w:p ` + word + `><w:r/><w:p/><w:p xmlns:w="urn:x"/></w:p>`))
	asked := 0
	r.Classify = func(name string) Class {
		asked++
		if name == "w:p" {
			return 1
		}
		return 0
	}
	var got []Class
	for range r.All {
		got = append(got, r.Class())
	}
	if want := []Class{1, 0, 1, 0}; !slices.Equal(got, want) || asked != 3 {
		t.Errorf("the classes are %v after %d calls, want %v", got, asked, want)
	}
}

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		"plain":                           "plain",
		"a &amp; b &#65;&#x42;&lt;":       "a & b AB<",
		"<!-- a --><![CDATA[<&>]]><?b?>c": "<&>c",
		"1\r\n2\r3\n":                     "1\n2\n3\n",
		"a & b":                           "a & b",
		"&#9999999999;":                   "\uFFFD",
	} {
		if got := Text([]byte(raw)); got != want {
			t.Errorf("Text(%q) = %q, want %q", raw, got, want)
		}
	}
	if got := Value([]byte("a\r\nb\tc&#10;&quot;")); got != "a b c\n\"" {
		t.Errorf("Value = %q", got)
	}
}

func TestDecode(t *testing.T) {
	var text bytes.Buffer
	offsets := Decode(&text, []byte("a&#228;<!-- b -->c"), 10)
	if want := []int{10, 11, 11, 27, 28}; text.String() != "aäc" || !slices.Equal(offsets, want) {
		t.Errorf("Decode gives %q, %v; want %v", text.String(), offsets, want)
	}
}

func TestExpandCDATA(t *testing.T) {
	for src, want := range map[string]string{
		"<a>b</a>":                               "<a>b</a>",
		"<a><![CDATA[<b>&]]]]></a>":              "<a>&lt;b&gt;&amp;]]</a>",
		"<!-- <![CDATA[x]]> --><a><![CDATA[>]]>": "<!-- <![CDATA[x]]> --><a>&gt;",
		"<?<![CDATA[?><![CDATA[]]>c":             "<?<![CDATA[?>c",
	} {
		if got := string(ExpandCDATA([]byte(src))); got != want {
			t.Errorf("ExpandCDATA(%q) = %q, want %q", src, got, want)
		}
	}
}

// FuzzReader compares names, attributes, and text with what encoding/xml reads, and checks that no input makes a Reader fail.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`<w:p ` + word + ` w:a='1' b="&quot;"><w:r>a &amp; b<![CDATA[<c>]]><!-- d --></w:r> <w:r/>e</w:p>`,
		`<a xmlns="urn:x"><b c=" > "/><?d e?>f</a>`, "<a>\r\n<b\tc='1\n2'/></a>", "<a", "</a>", "<a><b></a>", "<!--", "<a b='>'", "<:/>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		want, err := tokens(src)
		var got []string
		r := New([]byte(src))
		for r.Next() {
			got = append(got, string(r.Text()))
			if r.Kind == Close {
				got = append(got, "end")
				continue
			}
			got = append(got, "start "+r.RawName())
			for i := range r.Attributes() {
				a := &r.Attributes()[i]
				got = append(got, string(r.src[a.NameStart:a.NameEnd])+"="+blanks(Value(r.Value(a))))
			}
			if r.Kind == Void {
				got = append(got, "", "end")
			}
		}
		if err == nil && (r.Err() != nil || !slices.Equal(got, want)) {
			t.Errorf("the Reader gives\n%q,\nwant\n%q; %v", got, want, r.Err())
		}
	})
}

// tokens returns the tokens that encoding/xml reads. The error means that src is not well formed, or needs a document type.
func tokens(src string) ([]string, error) {
	d := xml.NewDecoder(strings.NewReader(src))
	checked := xml.NewDecoder(strings.NewReader(src))
	var all []string
	text := ""
	for {
		if _, err := checked.Token(); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.CharData:
			text += string(token)
			continue
		case xml.Directive:
			return nil, errors.New("a document type")
		case xml.StartElement:
			all = append(all, text, "start "+rawName(token.Name))
			for _, a := range token.Attr {
				all = append(all, rawName(a.Name)+"="+blanks(a.Value))
			}
		case xml.EndElement:
			all = append(all, text, "end")
		default:
			continue
		}
		text = ""
	}
}

// blanks is a value without line breaks and tabs: encoding/xml does not tell those that are written as references from others, which XML
// makes blanks of.
func blanks(value string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(value) }

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// TestSkipFindsTheEndsOfTags skips elements whose values contain > and quotes of the other kind.
func TestSkipFindsTheEndsOfTags(t *testing.T) {
	for _, skipped := range []string{
		`<w:a/>`, `<w:a b="1"/>`, `<w:a b=">"/>`, `<w:a b='>'/>`, `<w:a b="'>" c='">'/>`, `<w:a b="1" c=">" d='2'/>`, `<w:a b=">>" c=">"/>`,
		`<w:a b="/>"><w:c d=">"/>text</w:a>`, `<w:a b='"'><w:c d="'"/></w:a>`,
	} {
		src := `<w:r xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">` + skipped + `<w:last/></w:r>`
		r := New([]byte(src))
		r.Next()
		r.Next()
		if !r.Skip() || !strings.HasSuffix(src[:r.End], skipped) || !r.Next() || r.Name() != "w:last" {
			t.Errorf("%s: the reader is at %q, %v", skipped, src[r.Start:], r.Err())
		}
	}
	for _, broken := range []string{`<w:r><w:a><w:b c="></w:a></w:r>`, `<w:r><w:a><w:b c='></w:a></w:r>`, `<w:r><w:a><w:b`} {
		r := New([]byte(broken))
		r.Next()
		r.Next()
		if r.Skip() || r.Err() == nil {
			t.Errorf("%s: no error", broken)
		}
	}
}
