package expect

import (
	"slices"
	"strings"
)

// formatted is a text with its formatting, to which a paragraph and those that it continues add.
type formatted struct {
	text      strings.Builder
	stretches []stretch
	isSeen    bool // a reader sees some of the text
}

// stretch is a part of the text with the same formatting.
type stretch struct {
	end        int // bytes of the text
	properties []string
}

// add adds text with a format.
func (f *formatted) add(text string, properties []string) {
	if text == "" {
		return
	}
	f.text.WriteString(text)
	f.isSeen = f.isSeen || strings.TrimSpace(text) != "" && !slices.Contains(properties, hidden)
	if last := len(f.stretches) - 1; last >= 0 && slices.Equal(f.stretches[last].properties, properties) {
		f.stretches[last].end = f.text.Len()
		return
	}
	f.stretches = append(f.stretches, stretch{f.text.Len(), properties})
}

// addEmpty adds a format that no text has.
func (f *formatted) addEmpty(properties []string) {
	f.stretches = append(f.stretches, stretch{f.text.Len(), properties})
}

// formats returns the stretches with their texts.
func (f *formatted) formats() []Format {
	var formats []Format
	text, from := f.text.String(), 0
	for _, s := range f.stretches {
		formats = append(formats, Format{text[from:s.end], s.properties})
		from = s.end
	}
	return formats
}
