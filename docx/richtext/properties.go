package richtext

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"platen/docx/wml"
)

type property = wml.Property

// split returns the elements that well-formed XML has at its top.
func split(src []byte, prefix string) []property {
	var all []property
	for depth, start, name := 0, 0, ""; ; {
		open := bytes.IndexByte(src[start:], '<')
		if open < 0 {
			return all
		}
		element := src[start+open:]
		for at, rest := 0, element; ; {
			tag := endOfTag(rest)
			if tag == 0 {
				return all
			}
			switch rest[1] {
			case '!', '?':
			case '/':
				depth--
			default:
				if depth == 0 {
					name = nameOf(rest, prefix)
				}
				if rest[tag-2] != '/' {
					depth++
				}
			}
			at += tag
			if depth <= 0 {
				if element[1] != '!' && element[1] != '?' {
					all = append(all, property{Name: name, XML: string(element[:at])})
				}
				start += open + at
				break
			}
			next := bytes.IndexByte(element[at:], '<')
			if next < 0 {
				return all
			}
			at += next
			rest = element[at:]
		}
	}
}

// endOfTag returns the length of the tag or comment at the start of src, or 0 if it does not end.
func endOfTag(src []byte) int {
	if bytes.HasPrefix(src, []byte("<!--")) {
		if end := bytes.Index(src, []byte("-->")); end >= 0 {
			return end + len("-->")
		}
		return 0
	}
	var quote byte
	for i, c := range src {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>' && i >= 2:
			return i + 1
		}
	}
	return 0
}

func nameOf(tag []byte, prefix string) string {
	name := string(tag[1 : 1+bytes.IndexAny(tag[1:], " \t\r\n/>")])
	return strings.TrimPrefix(name, prefix)
}

// attribute returns the value of an attribute of the element that xml begins with, "" if it has none.
func attribute(xml, name string) string {
	tag, _, _ := strings.Cut(xml, ">")
	for _, quote := range []string{`"`, `'`} {
		if _, rest, ok := strings.Cut(tag, name+"="+quote); ok {
			value, _, _ := strings.Cut(rest, quote)
			return value
		}
	}
	return ""
}

// find returns the property of a name.
func find(all []property, name string) (xml string, ok bool) {
	i := slices.IndexFunc(all, func(p property) bool { return p.Name == name })
	if i < 0 {
		return "", false
	}
	return all[i].XML, true
}

// without returns properties but for those named.
func without(all []property, names map[string]bool) []property {
	var kept []property
	for _, p := range all {
		if !names[p.Name] {
			kept = append(kept, p)
		}
	}
	return kept
}

// numberIn returns the value of an attribute that is a whole number; 0 if it is not one.
func numberIn(xml, name string) int {
	n, err := strconv.Atoi(attribute(xml, name))
	if err != nil {
		return 0
	}
	return n
}

// only returns the properties with some names.
func only(all []property, names map[string]bool) []property {
	var kept []property
	for _, p := range all {
		if names[p.Name] {
			kept = append(kept, p)
		}
	}
	return kept
}
