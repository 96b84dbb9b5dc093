package finish

// outline builds the bookmarks of merged documents (ISO 32000-1, 12.3.3): one for each document, with the document's
// own below it.
type outline struct {
	root    ref
	first   ref
	last    ref
	pending dict // the last bookmark, not written until the next one is known
	count   int
}

// add adds the bookmark of a document. page is the document's first page.
func (o *outline) add(c *copier, catalog dict, title string, page object) error {
	item := ref{c.to.reserve(), 0}
	if err := o.flush(c.to, item); err != nil {
		return err
	}
	bookmark := dict{{"Title", text(title)}, {"Parent", o.root}, {"Dest", array{page, name("Fit")}}}
	if o.count == 0 {
		o.first = item
	} else {
		bookmark = bookmark.with("Prev", o.last)
	}
	o.last = item
	o.count++
	var err error
	o.pending, err = o.adopt(c, catalog, bookmark, item)
	return err
}

// adopt adds a document's own bookmarks below its bookmark, collapsed.
func (o *outline) adopt(c *copier, catalog, bookmark dict, item ref) (dict, error) {
	root, ok := catalog.get("Outlines").(ref)
	if !ok {
		return bookmark, nil
	}
	own, err := c.from.dict(root)
	if err != nil {
		return nil, err
	}
	if own.get("First") == nil || own.get("Last") == nil {
		return bookmark, nil
	}
	c.numbers[root] = item.number
	for _, key := range []name{"First", "Last"} {
		child, err := c.translate(own.get(key))
		if err != nil {
			return nil, err
		}
		bookmark = bookmark.with(key, child)
	}
	count, ok := integer(own.get("Count"))
	if !ok || count < 1 {
		count = 1
	}
	return bookmark.with("Count", integerOf(-count)), nil
}

// flush writes the pending bookmark, with the next one or nil.
func (o *outline) flush(w *writer, next object) error {
	if o.count == 0 {
		return nil
	}
	return w.put(o.last.number, o.pending.with("Next", next))
}

// finish writes the outline, and makes readers show it next to the pages.
func (o *outline) finish(w *writer, catalog dict) (dict, error) {
	if o.count == 0 {
		return catalog, nil
	}
	if err := o.flush(w, nil); err != nil {
		return nil, err
	}
	list := dict{{"Type", name("Outlines")}, {"First", o.first}, {"Last", o.last}, {"Count", integerOf(o.count)}}
	return catalog.with("Outlines", o.root).with("PageMode", name("UseOutlines")), w.put(o.root.number, list)
}
