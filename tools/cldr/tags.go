package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// variants are written in a script that the language does not use by default, except Chinese.
var ordinary = regexp.MustCompile(`^([a-z]{2}|zh-Hans|zh-Hant)(-[A-Z]{2}|-\d{3})?$`)

// tags returns the tags of all locales of our languages that CLDR has, each after the one it inherits from.
func (d *data) tags() ([]string, map[string]string, error) {
	entries, err := os.ReadDir(filepath.Join(d.root, "cldr-numbers-full", "main"))
	if err != nil {
		return nil, nil, err
	}
	parents, err := d.parents()
	if err != nil {
		return nil, nil, err
	}
	var tags []string
	for _, e := range entries {
		if language, _, _ := strings.Cut(e.Name(), "-"); slices.Contains(languages, language) && ordinary.MatchString(e.Name()) {
			tags = append(tags, e.Name())
		}
	}
	parent := map[string]string{}
	depth := map[string]int{}
	for _, tag := range tags {
		parent[tag] = parentOf(tag, parents)
		for at := tag; at != ""; at = parentOf(at, parents) {
			depth[tag]++
		}
	}
	slices.SortStableFunc(tags, func(a, b string) int { return depth[a] - depth[b] })
	return tags, parent, nil
}

func (d *data) parents() (map[string]string, error) {
	v, err := supplemental[struct {
		ParentLocales struct{ ParentLocale map[string]string }
	}](d, "parentLocales.json")
	return v.ParentLocales.ParentLocale, err
}

// parentOf returns the locale that a locale inherits from, or "".
func parentOf(tag string, parents map[string]string) string {
	if p, ok := parents[tag]; ok && p != "und" && p != "no" {
		return p
	}
	at := strings.LastIndexByte(tag, '-')
	if at < 0 {
		return ""
	}
	return tag[:at]
}
