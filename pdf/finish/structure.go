package finish

import (
	"cmp"
	"slices"
)

// structure builds the structure of merged documents, for screen readers (ISO 32000-1, 14.7).
type structure struct {
	root     ref
	top      ref   // the only element below the root, shared by all documents
	elements array // elements below top: the topmost ones of each document
	leaves   array // leaves of the parent tree, one for each document
	next     int   // next free key of the parent tree
	roles    dict
	untagged bool // whether any document has no structure
}

// add adds the structure of a document below the common element. It offsets the keys of the parent tree, so that they
// are unique across documents.
func (s *structure) add(c *copier, catalog dict) error {
	old, ok := catalog.get("StructTreeRoot").(ref)
	if !ok {
		s.untagged = true
		c.entry = func(key name, value object) object {
			if key == "StructParents" || key == "StructParent" {
				return nil
			}
			return value
		}
		return nil
	}
	base := s.next
	c.entry = func(key name, value object) object {
		if n, ok := integer(value); ok && (key == "StructParents" || key == "StructParent") {
			return integerOf(n + base)
		}
		return value
	}
	c.numbers[old] = s.top.number
	root, err := c.from.dict(old)
	if err != nil {
		return err
	}
	if err := s.addElements(c, root.get("K"), catalog.get("Lang")); err != nil {
		return err
	}
	if err := s.addRoles(c, root.get("RoleMap")); err != nil {
		return err
	}
	return s.addKeys(c, root.get("ParentTree"), base)
}

// addElements adds the topmost elements of a document, with the document's language.
func (s *structure) addElements(c *copier, kids, language object) error {
	list, ok := kids.(array)
	if o, err := c.from.resolve(kids); err != nil {
		return err
	} else if held, is := o.(array); is {
		list = held
	} else if !ok && kids != nil {
		list = array{kids}
	}
	for _, kid := range list {
		element, err := c.translate(kid)
		if err != nil {
			return err
		}
		s.elements = append(s.elements, element)
		if r, ok := kid.(ref); ok && language != nil {
			c.change[r] = func(d dict) dict {
				if d.get("Lang") != nil {
					return d
				}
				return d.with("Lang", language)
			}
		}
	}
	return nil
}

// addRoles merges a document's role map. If two documents differ, the first one wins.
func (s *structure) addRoles(c *copier, o object) error {
	if o == nil {
		return nil
	}
	roles, err := c.from.dict(o)
	if err != nil {
		return err
	}
	for _, e := range roles {
		if _, ok := e.value.(name); ok && s.roles.get(e.key) == nil && len(s.roles) < maxRoles {
			s.roles = append(s.roles, e)
		}
	}
	return nil
}

// maxRoles is the maximum number of custom element types of all documents.
const maxRoles = 1000

// parent is an entry of the parent tree, which leads from content to elements.
type parent struct {
	key   int
	value object
}

// addKeys writes a document's part of the parent tree.
func (s *structure) addKeys(c *copier, tree object, base int) error {
	parents, err := numberTree(c.from, tree)
	if err != nil || len(parents) == 0 {
		return err
	}
	slices.SortFunc(parents, func(a, b parent) int { return cmp.Compare(a.key, b.key) })
	list := make(array, 0, 2*len(parents))
	for _, p := range parents {
		value, err := c.translate(p.value)
		if err != nil {
			return err
		}
		list = append(list, integerOf(p.key+base), value)
	}
	limits := array{list[0], list[len(list)-2]}
	leaf, err := c.to.add(dict{{"Limits", limits}, {"Nums", list}})
	s.leaves = append(s.leaves, leaf)
	s.next = base + parents[len(parents)-1].key + 1
	return err
}

// numberTree returns all entries of a number tree (7.9.7).
func numberTree(f *file, tree object) ([]parent, error) {
	var parents []parent
	for waiting := (array{tree}); len(waiting) > 0 && tree != nil; {
		node, err := f.dict(waiting[0])
		if err != nil {
			return nil, err
		}
		kids, err := f.array(node.get("Kids"))
		if err != nil {
			return nil, err
		}
		if waiting = append(waiting[1:], kids...); len(waiting) > maxItems {
			return nil, broken("its structure has too many keys")
		}
		pairs, err := f.array(node.get("Nums"))
		if err != nil {
			return nil, err
		}
		for pair := range slices.Chunk(pairs, 2) {
			key, ok := integer(pair[0])
			if !ok || key < 0 || key > maxObjects || len(pair) != 2 {
				return nil, broken("its structure has an invalid key")
			}
			if parents = append(parents, parent{key, pair[1]}); len(parents) > maxObjects {
				return nil, broken("its structure has too many keys")
			}
		}
	}
	return parents, nil
}

// finish writes the root of the structure.
func (s *structure) finish(w *writer, catalog dict) (dict, error) {
	if len(s.elements) == 0 {
		return catalog, nil
	}
	keys, err := w.add(dict{{"Kids", s.leaves}})
	if err != nil {
		return nil, err
	}
	top := dict{{"Type", name("StructElem")}, {"S", name("Document")}, {"P", s.root}, {"K", s.elements}}
	if err := w.put(s.top.number, top); err != nil {
		return nil, err
	}
	root := dict{
		{"Type", name("StructTreeRoot")}, {"K", s.top}, {"ParentTree", keys}, {"ParentTreeNextKey", integerOf(s.next)},
	}
	if len(s.roles) > 0 {
		root = root.with("RoleMap", s.roles)
	}
	catalog = catalog.with("StructTreeRoot", s.root)
	if !s.untagged {
		catalog = catalog.with("MarkInfo", dict{{"Marked", keyword("true")}})
	}
	return catalog, w.put(s.root.number, root)
}
