package ooxml

import (
	"bytes"
	"encoding/xml"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// halfName finds names of a prefix or a local name alone, which encoding/xml takes as they are.
var halfName = regexp.MustCompile(`[\s<"']:|:[\s=/>]`)

// FuzzListing compares what is read of a listing with what encoding/xml reads.
func FuzzListing(f *testing.F) {
	f.Add([]byte(declared + `<Relationships xmlns="urn:r"><Relationship Id="a" Target='b'/><x:Relationship y:Id="c"><Id ` +
		`Id="d"/></x:Relationship></Relationships>`))
	f.Add([]byte(`<Types Id="a"><Default Id="&amp;"/></Types>`))
	f.Add([]byte("<a><b Id=' \r\n'/> <c/></a>"))
	f.Fuzz(func(t *testing.T, src []byte) {
		const maxListingDepth = 8
		if CheckXML("/a.xml", src, maxListingDepth) != nil || halfName.Match(src) {
			return
		}
		got, err := readListing(src, "Id", "Target")
		if want := anyListing(src, "Id", "Target"); err != nil || !reflect.DeepEqual(withoutBreaks(got), want) {
			t.Errorf("the listing is %q, want %q; %v", got, want, err)
		}
	})
}

// anyListing is readListing by encoding/xml, which leaves line breaks and tabs in values.
func anyListing(src []byte, attributes ...string) []listed {
	var all []listed
	d := xml.NewDecoder(bytes.NewReader(src))
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil { // the end, as the XML is well formed
			return withoutBreaks(all)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth != 2 {
				continue
			}
			found := listed{token.Name.Local, make([]string, len(attributes))}
			for _, a := range token.Attr {
				if i := slices.Index(attributes, a.Name.Local); i >= 0 {
					found.values[i] = a.Value
				}
			}
			all = append(all, found)
		case xml.EndElement:
			depth--
		default: // between them
		}
	}
}

func withoutBreaks(all []listed) []listed {
	for i := range all {
		for j, value := range all[i].values {
			all[i].values[j] = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(value)
		}
	}
	return all
}

func TestListingWithReferences(t *testing.T) {
	all, err := readListing([]byte(`<r><!-- x --><e Id="a&amp;b"/><f x:Id="&#99;"/></r>`), "Id")
	if want := []listed{{"e", []string{"a&b"}}, {"f", []string{"c"}}}; err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("the listing is %q, want %q; %v", all, want, err)
	}
}
