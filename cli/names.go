package cli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"platen/docx"
	"platen/docx/lang"
)

// batchNames returns the names of the documents of a batch, with an extension. The names are numbers, or the result of a pattern with
// tags for each document's data. A duplicate name gets a number, as on a server.
func batchNames(pattern, extension string, inputs []input, options docx.Options) ([]string, error) {
	pieces, err := parsePattern(pattern)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(inputs))
	taken := map[string]bool{}
	for i := range inputs {
		name := strconv.Itoa(i+1) + extension
		if pattern != "" {
			if name, err = pieces.name(&inputs[i], extension, options); err != nil {
				return nil, fmt.Errorf("name of document %d: %w", i+1, err)
			}
		}
		names[i] = freeName(name, taken)
	}
	return names, nil
}

// freeName returns a name that differs from all taken names, ignoring case, and marks it as taken.
func freeName(name string, taken map[string]bool) string {
	extension := filepath.Ext(name)
	free := name
	for n := 1; taken[strings.ToLower(free)]; n++ {
		free = strings.TrimSuffix(name, extension) + " (" + strconv.Itoa(n) + ")" + extension
	}
	taken[strings.ToLower(free)] = true
	return free
}

// namePattern is text that contains tags.
type namePattern []namePiece

// namePiece is a tag, or text if the tag is nil.
type namePiece struct {
	text string
	tag  *lang.Tag
}

func parsePattern(pattern string) (namePattern, error) {
	var pieces namePattern
	at := 0
	spans, orphans := lang.Find(pattern)
	if len(orphans) > 0 {
		return nil, usagef("--name: the braces in %q are not those of a tag: write a tag between {{ and }}", pattern[orphans[0].Start:])
	}
	for _, span := range spans {
		text := pattern[span.Start:span.End]
		tag, err := lang.ParseTag(text)
		if err != nil {
			return nil, usagef("--name: %s: %w", text, err)
		}
		if tag.Kind != lang.Print {
			return nil, usagef("--name: %s does not print a value, so it cannot be part of a name", text)
		}
		pieces = append(pieces, namePiece{text: pattern[at:span.Start]}, namePiece{tag: tag})
		at = span.End
	}
	return append(pieces, namePiece{text: pattern[at:]}), nil
}

// name returns the name for the given data. Data cannot lead out of the folder.
func (p namePattern) name(in *input, extension string, options docx.Options) (string, error) {
	data, err := in.decode()
	if err != nil {
		return "", err
	}
	env := lang.NewEnv(data, lang.Options{Locale: options.Locale, Location: options.Location, Now: options.Now})
	var b strings.Builder
	for _, piece := range p {
		text := piece.text
		if piece.tag != nil {
			value, ok, err := env.Print(piece.tag)
			if err != nil {
				return "", err
			}
			if !ok {
				return "", fmt.Errorf("%s", strings.Join(env.Errors(), " "))
			}
			text = value
		}
		b.WriteString(text)
	}
	name := b.String()
	if !strings.EqualFold(filepath.Ext(name), extension) {
		name += extension
	}
	if strings.ContainsAny(name, "/\\\x00") || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is not a valid file name: it cannot contain a slash or a backslash. Select the folder with -o", name)
	}
	return name, nil
}
