package ooxml

import (
	"reflect"
	"testing"
)

// FuzzListing compares what is read of plain XML with what encoding/xml reads.
func FuzzListing(f *testing.F) {
	f.Add([]byte(declared + `<Relationships xmlns="urn:r"><Relationship Id="a" Target='b'/><x:Relationship y:Id="c"><Id Id="d"/></x:Relationship></Relationships>`))
	f.Add([]byte(`<Types Id="a"><Default Id="&amp;"/></Types>`))
	f.Add([]byte("<a><b Id=' \r\n'/> <c/></a>"))
	f.Fuzz(func(t *testing.T, src []byte) {
		attributes := []string{"Id", "Target"}
		if !isPlainXML(src, maxListingDepth) {
			return
		}
		got, ok := readPlainListing(src, attributes)
		if !ok {
			return
		}
		want, err := readAnyListing(src, attributes)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the listing is %q, want %q; %v", got, want, err)
		}
	})
}

func TestListingWithReferences(t *testing.T) {
	all, err := readListing([]byte(`<r><!-- x --><e Id="a&amp;b"/><f x:Id="&#99;"/></r>`), "Id")
	if want := []listed{{"e", []string{"a&b"}}, {"f", []string{"c"}}}; err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("the listing is %q, want %q; %v", all, want, err)
	}
}
