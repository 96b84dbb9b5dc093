package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDecisionsAreIndexed checks that docs/adr/README.md links every decision record under its title.
func TestDecisionsAreIndexed(t *testing.T) {
	index, err := os.ReadFile("docs/adr/README.md")
	if err != nil {
		t.Fatal(err)
	}
	records, err := filepath.Glob("docs/adr/[0-9]*.md")
	if err != nil || len(records) < 30 {
		t.Fatalf("found %d records: %v", len(records), err)
	}
	for _, record := range records {
		name := filepath.Base(record)
		if name == "0000-template.md" {
			continue
		}
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		if row := "| [" + title + "](" + name + ") | "; strings.Count(string(index), row) != 1 {
			t.Errorf("docs/adr/README.md lacks a row that begins with %q", row)
		}
	}
}

var (
	fencedBlock  = regexp.MustCompile("(?ms)^ *```.*?\n *```$")
	codeSpan     = regexp.MustCompile("`[^`\n]*`")
	inlineLink   = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows every link in Markdown to its file and heading in the repository.
func TestLinks(t *testing.T) {
	links := 0
	for _, name := range textFiles(t, ".md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		prose := codeSpan.ReplaceAllString(fencedBlock.ReplaceAllString(string(text), ""), "")
		for _, link := range inlineLink.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(link[1], "://") || strings.HasPrefix(link[1], "mailto:") {
				continue
			}
			links++
			if problem := followLink(name, link[1]); problem != "" {
				t.Errorf("%s: link to %s: %s", name, link[1], problem)
			}
		}
	}
	if links < 100 {
		t.Errorf("found only %d links", links)
	}
}

// followLink returns the problem of a link in a page, or "".
func followLink(page, link string) string {
	file, anchor, _ := strings.Cut(link, "#")
	target := page
	if file != "" {
		target = filepath.Join(filepath.Dir(page), file)
	}
	if _, err := os.Stat(target); err != nil {
		return err.Error()
	}
	if anchor == "" {
		return ""
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return err.Error()
	}
	for _, h := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(string(text), ""), -1) {
		if anchorOf(h[1]) == anchor {
			return ""
		}
	}
	return "no heading has this anchor"
}

// anchorOf returns the anchor that GitHub generates for a heading.
func anchorOf(title string) string {
	return strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

func TestFollowLink(t *testing.T) {
	for link, valid := range map[string]bool{
		"cli.md": true, "cli.md#platen-user-platen-token": true, "cli.md#nowhere": false, "nowhere.md": false,
		"../README.md": true, "#webhooks": true, "#nowhere": false,
	} {
		if problem := followLink("docs/api.md", link); (problem == "") != valid {
			t.Errorf("%s: %q", link, problem)
		}
	}
}
