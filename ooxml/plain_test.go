package ooxml

import (
	"strings"
	"testing"
)

const declared = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\r\n"

func TestPlainXML(t *testing.T) {
	for src, want := range map[string]bool{
		declared + `<w:p xmlns:w="urn:w" w:id='1'><w:t xml:space="preserve">Zoë &amp; Ko</w:t><w:br/></w:p>`: true,
		`<a/>`:                      true,
		"<a\n b='1' ></a>\n":        true,
		``:                          false,
		`<a>`:                       false,
		`<a></b>`:                   false,
		`</a>`:                      false,
		`<a/><b/>`:                  false,
		`<a/>text`:                  false,
		`<a b="1" b="2"/>`:          false,
		`<a x:b="1" y:b="2"/>`:      false,
		`<a b="<"/>`:                false,
		`<a b="1"c="2"/>`:           false,
		`<a b=1/>`:                  false,
		`<a>&nbsp;</a>`:             false,
		`<a>&#1;</a>`:               false,
		`<a>& </a>`:                 false,
		`<a>]]></a>`:                false,
		"<a>\x01</a>":               false,
		"<a>\xff</a>":               false,
		"<a>\uFFFE</a>":             false,
		`<!DOCTYPE a><a/>`:          false,
		`<?xml version="1.1"?><a/>`: false,
		`<a:b:c/>`:                  false,
		`<:a/>`:                     false,
		`<a/`:                       false,
		`<`:                         false,
		strings.Repeat("<a>", 9) + strings.Repeat("</a>", 9): false,
	} {
		if got := isPlainXML([]byte(src), 8); got != want {
			t.Errorf("isPlainXML(%q) = %t", src, got)
		}
	}
}

// FuzzPlainXML looks for XML that is taken for well formed by the quick way alone.
func FuzzPlainXML(f *testing.F) {
	for _, src := range []string{
		declared + `<w:p xmlns:w="urn:w" w:id='1'><w:t xml:space="preserve">Zoë &amp; Ko</w:t><w:br/></w:p>`,
		`<a b="1" c='2'>&lt;</a>`, `<a><b/></a>`, `<?xml version="1.0" encoding="utf-8"?><a/>`,
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if !isPlainXML(src, 8) {
			return
		}
		if err := checkAnyXML("/a.xml", src, 8); err != nil {
			t.Errorf("%q is not well formed: %v", src, err)
		}
	})
}
