package importer

import (
	"regexp"
	"slices"
)

// readHTML reads HTML from the data.
func readHTML(h *call) command {
	content := h.named["content"]
	if err := h.only("content", "inline"); err != nil || content == nil {
		return command{err: orArguments(err)}
	}
	inline := h.text("inline") == "true"
	if h.named["inline"] != nil && !inline && h.text("inline") != "false" {
		return command{err: &cannot{"only the data says whether it stays in its line", "write {{x :: html}}"}}
	}
	c := filtered(content, "html")
	if write := c.write; inline {
		c.write = func(w *writer) (string, error) {
			if slices.ContainsFunc(w.textsOf(content), hasBlocks) {
				return "", &cannot{"paragraphs, lists, and tables in the HTML become one line", "send HTML for a part of a line"}
			}
			if w.data == nil {
				w.note("paragraphs, lists, and tables in the HTML become more than one line")
			}
			return write(w)
		}
	}
	return c
}

// blockHTML finds the elements of HTML that become paragraphs, lists, or tables.
var blockHTML = regexp.MustCompile(`(?i)<(?:p|div|h[1-6]|[uod]l|li|d[td]|table|caption|t[rdh]|t(?:head|body|foot)|pre|blockquote|hr|` +
	`section|article|header|footer|main|nav|aside|figure|figcaption|address|center|form|fieldset|details|summary)\b`)

// oneBlock finds HTML that is one paragraph, which stays in its line.
var oneBlock = regexp.MustCompile(`(?is)^\s*(?:<p>(.*)</p>|<div>(.*)</div>)\s*$`)

// hasBlocks reports whether HTML has more than one line.
func hasBlocks(html string) bool {
	if m := oneBlock.FindStringSubmatch(html); m != nil {
		html = m[1] + m[2]
	}
	return blockHTML.MatchString(html)
}
