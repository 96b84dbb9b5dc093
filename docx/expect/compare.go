package expect

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxDifferences is the number of differences that Compare returns.
	maxDifferences = 100
	// maxEdits is the number of elements in one another that may differ, in a row, until Compare takes all that follow for different.
	maxEdits = 1000
	// maxPairs is the number of pairs of elements in a row that are compared to find which of them was changed into which, and maxAllPairs
	// that of all such pairs.
	maxPairs, maxAllPairs = 4000, 200_000
	// maxNotes is the number of changes of the formatting of one paragraph that are described.
	maxNotes = 5
)

// Compare returns the differences between the outlines of an expected document and of a generated one, in the order of the documents. It
// returns the innermost elements that differ: for a changed word in a table, the paragraph, and for an added row, the row.
func Compare(want, got []Line) []Difference {
	c := &comparison{seed: maphash.MakeSeed()}
	c.siblings(c.tree(want), c.tree(got))
	if c.more > 0 {
		c.found = append(c.found, Difference{Kind: TooMany, Message: fmt.Sprintf("There are %d more differences.", c.more)})
	}
	return c.found
}

// comparison compares two documents.
type comparison struct {
	seed  maphash.Seed
	found []Difference
	more  int // differences that were left out
	pairs int // of elements that were compared
}

// node is an element with those in it.
type node struct {
	*Line
	children []*node
	own, all uint64  // hashes of the element, and of the element with all in it
	text     *string // of content; nil until it is needed
}

// tree returns the outermost elements of an outline.
func (c *comparison) tree(lines []Line) []*node {
	var top []*node
	var open []*node
	for i := range lines {
		if lines[i].unseen {
			continue
		}
		l := lines[i].settled()
		n := &node{Line: l, own: c.hash(l)}
		for len(open) > 0 && open[len(open)-1].Depth >= n.Depth {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			top = append(top, n)
		} else {
			parent := open[len(open)-1]
			parent.children = append(parent.children, n)
		}
		open = append(open, n)
	}
	for _, n := range top {
		c.sum(n)
	}
	return top
}

// hash returns the hash of what must be equal in an element itself. The text of a row is that of its cells.
func (c *comparison) hash(l *Line) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	write := func(texts ...string) {
		for _, text := range texts {
			_, _ = h.WriteString(text) // never fails
			_ = h.WriteByte(0)
		}
		_ = h.WriteByte(1)
	}
	write(string(l.Kind), l.Number)
	write(l.Format...)
	if l.Kind == Row {
		return h.Sum64()
	}
	write(l.Text)
	for _, f := range l.Formats {
		write(f.Text)
		write(f.Properties...)
	}
	return h.Sum64()
}

func (c *comparison) sum(n *node) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	maphash.WriteComparable(&h, n.own)
	for _, child := range n.children {
		c.sum(child)
		maphash.WriteComparable(&h, child.all)
	}
	n.all = h.Sum64()
}

// siblings compares the elements in an element.
func (c *comparison) siblings(want, got []*node) {
	for _, g := range gaps(want, got) {
		c.gap(want[g.a:g.aEnd], got[g.b:g.bEnd])
	}
}

// gap compares elements that all differ. It pairs those that were changed into one another.
func (c *comparison) gap(want, got []*node) {
	pairs := c.pair(want, got)
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(want), len(got)}) {
		for ; i < p[0]; i++ {
			c.add(removed(want[i]))
		}
		for ; j < p[1]; j++ {
			c.add(added(got[j]))
		}
		if i < len(want) && j < len(got) {
			c.changed(want[i], got[j])
			i, j = i+1, j+1
		}
	}
}

// changed compares an element with the one that it was changed into.
func (c *comparison) changed(want, got *node) {
	if want.own != got.own {
		for _, d := range changes(want.Line, got.Line) {
			c.add(d)
		}
	}
	c.siblings(want.children, got.children)
}

func (c *comparison) add(d *Difference) {
	if len(c.found) == maxDifferences {
		c.more++
		return
	}
	c.found = append(c.found, *d)
}

func removed(n *node) *Difference {
	d := n.difference(Removed, fmt.Sprintf("This %s is missing.", n.Kind))
	d.Want = n.describe()
	return d
}

func added(n *node) *Difference {
	d := n.difference(Added, fmt.Sprintf("This %s is not in the expected document.", n.Kind))
	d.Got = n.describe()
	return d
}

// changes describes how an element differs from the expected one. The formats of different texts are not compared.
func changes(want, got *Line) []*Difference {
	var found []*Difference
	if want.Text != got.Text && want.Kind != Row || want.Number != got.Number {
		d := got.difference(ChangedText, fmt.Sprintf("The text of the %s differs.", got.Kind))
		d.Want, d.Got = fromDifference(want.texts(got))
		found = append(found, d)
	}
	wants, gots := differing(want.Format, got.Format)
	if len(found) > 0 && len(wants)+len(gots) == 0 {
		return found
	}
	var notes []formatChange
	if len(found) == 0 && got.Kind != Row {
		notes = formatChanges(want.Formats, got.Formats)
	}
	if len(wants)+len(gots)+len(notes) == 0 && slices.EqualFunc(want.Format, got.Format, isNear) {
		return nil // hashes do not know what is near
	}
	d := got.difference(ChangedFormat, fmt.Sprintf("The format of the %s differs.", got.Kind))
	if len(notes) > maxNotes {
		notes = notes[:maxNotes]
	}
	for _, n := range notes {
		more, others := differing(n.want, n.got)
		wants = append(wants, fmt.Sprintf("%q %s", shorten(n.text), orPlain(more)))
		gots = append(gots, fmt.Sprintf("%q %s", shorten(n.text), orPlain(others)))
	}
	d.Want, d.Got = orPlain(wants), orPlain(gots)
	return append(found, d)
}

// orPlain joins properties. Text without any is plain.
func orPlain(properties []string) string {
	if len(properties) == 0 {
		return "plain"
	}
	return strings.Join(properties, ", ")
}

// differing returns the properties of each list that the other lacks. Lengths that hardly differ are equal.
func differing(want, got []string) (wants, gots []string) {
	return lacking(want, got), lacking(got, want)
}

// lacking returns those of some properties that others lack.
func lacking(properties, others []string) (missing []string) {
	known := make(map[string]bool, len(others))
	for _, p := range others {
		known[p] = true
	}
	lengths := slices.DeleteFunc(slices.Clone(others), func(p string) bool { return toleranceOf(p) == 0 })
	for _, p := range properties {
		if !known[p] && !slices.ContainsFunc(lengths, func(other string) bool { return isNear(p, other) }) {
			missing = append(missing, p)
		}
	}
	return missing
}

// texts returns the texts of two lines, with their numbers. Texts that only differ in blanks and the like are quoted, to show these.
func (l *Line) texts(other *Line) (own, others string) {
	text := func(l *Line) string { return strings.TrimSpace(l.Number + " " + normalize(l.Text)) }
	if own, others = text(l), text(other); own != others {
		return own, others
	}
	return strconv.Quote(l.Text), strconv.Quote(other.Text)
}

// fromDifference shortens two long texts to the surroundings of where they begin to differ.
func fromDifference(a, b string) (shortA, shortB string) {
	const before = 40
	x, y := []rune(a), []rune(b)
	from := 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	if from -= before; from <= 0 || len(x) <= maxShown && len(y) <= maxShown {
		from = 0
	}
	cut := func(text []rune) string {
		shown := string(text[from:min(len(text), from+maxShown)])
		if from > 0 {
			shown = "…" + shown
		}
		if len(text) > from+maxShown {
			shown += "…"
		}
		return shown
	}
	return cut(x), cut(y)
}

// formatChange is a stretch of the same text that has another format.
type formatChange struct {
	text      string
	want, got []string
}

// formatChanges returns the stretches of a text with differing formats.
func formatChanges(want, got []Format) []formatChange {
	var found []formatChange
	i, j, atI, atJ := 0, 0, 0, 0 // stretches, and positions in them
	for i < len(want) && j < len(got) {
		n := min(len(want[i].Text)-atI, len(got[j].Text)-atJ)
		if text := want[i].Text[atI : atI+n]; !slices.Equal(want[i].Properties, got[j].Properties) {
			found = append(found, formatChange{text, want[i].Properties, got[j].Properties})
		}
		if atI += n; atI == len(want[i].Text) {
			i, atI = i+1, 0
		}
		if atJ += n; atJ == len(got[j].Text) {
			j, atJ = j+1, 0
		}
	}
	return found
}

// pair returns which elements were changed into which, as positions in both lists, which rise. It maximizes the total similarity.
func (c *comparison) pair(want, got []*node) [][2]int {
	m, n := len(want), len(got)
	if c.pairs += m * n; m*n > maxPairs || c.pairs > maxAllPairs {
		return pairInOrder(want, got)
	}
	scores := make([]float64, (m+1)*(n+1)) // of the best pairs from i and j on
	at := func(i, j int) *float64 { return &scores[i*(n+1)+j] }
	alike := make([]float64, m*n)
	for i := m - 1; i >= 0; i-- {
		for j := n - 1; j >= 0; j-- {
			alike[i*n+j] = resemblance(want[i], got[j], m == 1 && n == 1)
			*at(i, j) = max(*at(i+1, j), *at(i, j+1), *at(i+1, j+1)+alike[i*n+j])
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < m && j < n; {
		switch best := *at(i, j); {
		case alike[i*n+j] > 0 && best == *at(i+1, j+1)+alike[i*n+j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case best == *at(i+1, j):
			i++
		default:
			j++
		}
	}
	return pairs
}

// pairInOrder pairs the elements at the same positions that are of the same kind.
func pairInOrder(want, got []*node) [][2]int {
	var pairs [][2]int
	for i := range min(len(want), len(got)) {
		if want[i].Kind == got[i].Kind {
			pairs = append(pairs, [2]int{i, i})
		}
	}
	return pairs
}

// resemblance returns how likely it is that one element was changed into another: 0 if they are different elements.
func resemblance(want, got *node, alone bool) float64 {
	const other = 0.05 // of elements without text, which pair with those of their kind if nothing is better
	switch {
	case want.Kind != got.Kind:
		return 0
	case want.Kind == Cell || want.Kind == Section || want.Kind == Table || want.Kind == Header || want.Kind == Footer:
		return other + similarity(want.content(), got.content())
	case want.Text == "" && got.Text == "":
		return other
	}
	if s := similarity(want.Text, got.Text); s >= isSimilar || alone {
		return other + s
	}
	return 0
}

// content returns the beginning of the text of an element and those in it.
func (n *node) content() string {
	if n.text != nil {
		return *n.text
	}
	var b strings.Builder
	var walk func(n *node)
	walk = func(n *node) {
		if n.Text != "" {
			b.WriteString(n.Text[:min(len(n.Text), maxAlike)])
			b.WriteByte(' ')
		}
		for i := 0; i < len(n.children) && b.Len() < maxAlike && n.Kind != Row; i++ {
			walk(n.children[i])
		}
	}
	walk(n)
	n.text = new(b.String())
	return *n.text
}
