package lang

import "slices"

// ListIn returns the key of the object that has a loop's list in it, such as order for order.items, or "".
func (t *Tag) ListIn() string {
	if p := firstPath(t.Expr); p != nil && len(p.Steps) > 1 {
		return p.Steps[0].Key
	}
	return ""
}

// AllItems returns the first path in a tag that goes through the list of a loop around it, such as items.price in a loop over items, and
// the path of the loop's item that was probably meant. They are "" if there is none. It ignores what functions and the filters of lists
// read, because those work on all items.
func (s *Scope) AllItems(t *Tag) (path, meant string) {
	if t.Expr == nil || t.Kind.IsLoop() || t.Kind == Let || slices.ContainsFunc(t.Filters, ofItems) {
		return "", ""
	}
	singles(t.Expr, func(p *Path) {
		if path == "" && !p.perItem && !p.own {
			if meant = s.itemInstead(p); meant != "" {
				path = p.text
			}
		}
	})
	return path, meant
}

// ofItems reports whether a filter works on the items of a list together.
func ofItems(f Filter) bool { return listFilters[f.Name] != nil }

// singles calls yield for the paths in n whose values are used as they are: not by functions, filters of lists, in, or contains.
func singles(n Node, yield func(*Path)) {
	switch n := n.(type) {
	case *Path:
		yield(n)
	case *Unary:
		singles(n.X, yield)
	case *Binary:
		if !ofText[n.Op] {
			singles(n.L, yield)
			singles(n.R, yield)
		}
	case *Presence:
		singles(n.X, yield)
	case *Filtered:
		if !slices.ContainsFunc(n.Filters, ofItems) {
			singles(n.X, yield)
		}
	}
}

// itemInstead returns the path of the item of the innermost loop whose list p goes through, or "".
func (s *Scope) itemInstead(p *Path) string {
	for _, v := range slices.Backward(s.vars) {
		if v.name == p.Steps[0].Key { // the loops around this variable have lists of other names
			return ""
		}
		n := len(v.list)
		if n == 0 || v.name == "" || len(p.Steps) <= n || p.Steps[n].IsIndex || !slices.Equal(p.Steps[:n], v.list) {
			continue
		}
		return pathText(append([]Step{{Key: v.name}}, p.Steps[n:]...))
	}
	return ""
}
