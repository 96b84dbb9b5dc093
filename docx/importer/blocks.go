package importer

import (
	"slices"
	"strings"

	"platen/docx/wml"
)

// part is a part with text.
type part struct {
	name string
	src  []byte
	root *wml.Node
	pars []*paragraph
	own  int // the number of pars that are not asides, which come first
	tags []*tag

	gone []*wml.Node // cells that disappear
	*rewriter
}

// maxBlocks is the number of blocks in each other that a template can have.
const maxBlocks = 100

// match pairs the tags of blocks.
func (p *part) match() {
	var open []*block
	for i, t := range p.tags {
		t.index = i
		t.par.tags = append(t.par.tags, t)
		for _, m := range t.more {
			m.par.continued = append(m.par.continued, t)
		}
		switch t.kind {
		case kLoop, kIf, kSection, kUnless, kWith, kStyle, kMatrix:
			t.block = &block{tags: []*tag{t}}
			if open = append(open, t.block); len(open) > maxBlocks {
				t.block.fail(&cannot{"it is in more than 100 other blocks", "nest fewer blocks"})
			}
		case kPrint:
			for _, b := range slices.Backward(open) {
				if loop := b.tags[0]; loop.kind == kLoop {
					loop.usesKey = loop.usesKey || t.expr != nil && t.expr.op == opName && t.expr.name == "@key"
					break
				}
			}
		case kElse, kElseIf, kEnd:
			if len(open) == 0 {
				t.failed = &cannot{"it belongs to no block", "remove it"}
				continue
			}
			t.block = open[len(open)-1]
			t.block.tags = append(t.block.tags, t)
			if t.kind == kEnd {
				t.block.end = true
				open = open[:len(open)-1]
				switch first := t.block.tags[0]; {
				case t.closes != "" && first.closes != "" && t.closes != first.closes:
					t.block.fail(&cannot{"its end names another block, " + t.original(),
						"close the blocks in the order in which they are open"})
				case t.added != first.added:
					t.block.fail(&cannot{"it and a loop overlap", "write {{if condition}} … {{endif}} inside the loop, or around all of it"})
				}
			}
		}
	}
	for _, b := range open {
		b.fail(&cannot{"the block has no end", "add the end"})
	}
}

// fail leaves all tags as they are.
func (p *part) fail(err error) {
	for _, t := range p.tags {
		if t.failed == nil {
			t.failed = err
		}
	}
}

// convert writes the tags of a part in Platen's language.
func (p *part) convert(w *writer) {
	p.rewriter = newRewriter(p.src)
	p.convertTags(w)
	if p.failColumns() {
		p.convertTags(w)
	}
}

// convertTags sets what replaces the tags.
func (p *part) convertTags(w *writer) {
	w.scopes = nil
	references := p.references(w)
	note := ""
	for _, t := range p.tags {
		if len(references) > 0 {
			references = w.passReferences(references, t.start())
		}
		if in := p.noteOf(t); in != note {
			note, w.scopes = in, slices.Clone(w.references[in])
		}
		w.tag, w.notes, t.out, t.at = t, nil, "", -1
		if t.failed == nil {
			if err := p.convertTag(w, t); err != nil {
				p.failTag(t, err)
			}
		}
		if t.block != nil {
			p.enter(w, t)
		}
		if t.notes = w.notes; t.note != "" {
			t.notes = append(t.notes, t.note)
		}
	}
	w.passReferences(references, len(p.src))
}

func (p *part) failTag(t *tag, err error) {
	if t.block == nil {
		t.failed = err
		return
	}
	if t.failed = err; t != t.block.tags[0] && t.block.tags[0].failed == nil {
		t.block.fail(&cannot{"its tag " + t.original() + " cannot be converted", "convert both together"})
	}
}

// enter opens or closes the scope of a block.
func (p *part) enter(w *writer, t *tag) {
	switch {
	case t == t.block.tags[0]:
		if t.failed != nil || t.block.scope == nil {
			t.block.fail(t.failed)
			t.block.scope = &scope{}
		}
		w.scopes = append(w.scopes, t.block.scope)
	case t.kind == kEnd:
		w.scopes = w.scopes[:len(w.scopes)-1]
	}
}

// convertTag sets the text that replaces a tag.
func (p *part) convertTag(w *writer, t *tag) (err error) {
	if t.err != nil {
		return t.err
	}
	if t.follows != nil && t.follows.failed != nil {
		return &cannot{"its loop was not converted: " + asCannot(t.follows.failed).reason, "write {{for x in list}} … {{endfor}}"}
	}
	if t.par.aside != nil && t.par.aside.place == inCharts && w.wholeItems && w.innermost() != nil {
		return &cannot{"the chart is in a loop, and shows the same in each item", "write the key of the item that it needs"}
	}
	switch {
	case t.write != nil:
		t.out, err = t.write(w)
	default:
		err = p.write(w, t)
	}
	if err == nil && t.par.aside != nil {
		return t.checkAside()
	}
	return err
}

// write sets the text that replaces a usual tag.
func (p *part) write(w *writer, t *tag) (err error) {
	switch t.kind {
	case kPrint:
		t.out, err = w.print(t.expr)
		if err == nil && t.test != nil {
			var c string
			c, err = w.condition(t.test)
			t.out = "{{if " + c + "}}" + t.before + t.out + t.after + "{{endif}}"
		}
	case kText:
		t.out = t.text
	case kLet:
		return p.let(w, t)
	case kElse, kElseIf:
		return p.divide(w, t)
	case kEnd:
		p.close(w, t)
	case kNothing:
	default:
		return p.open(w, t)
	}
	return err
}

// let writes the definition of a variable.
func (p *part) let(w *writer, t *tag) error {
	if w.sticky && w.hasKey([]step{{key: t.name}}) {
		return &cannot{"the data has a key of this name, which takes precedence", "remove the command"}
	}
	if w.sticky && len(w.scopes) > 0 && p.outlives(t) {
		return &cannot{"the variable keeps its value after the block around it, or from one item to the next",
			"add a key with the result to the data, or write {{$sum(list, …)}}"}
	}
	for _, s := range w.scopes {
		if s.prefix() == "" {
			return &cannot{"the variable is set in a condition, and used after it", "write {{let x = $if(condition, a, b)}}"}
		}
	}
	o, err := w.operand(t.expr)
	if err != nil {
		return err
	}
	name, err := key(t.name, true)
	t.out = "{{let " + name + " = " + strings.Join(append([]string{o.text}, o.filters...), " :: ") + "}}"
	return err
}

// outlives reports whether a variable that is set in a block is used after it, or by itself.
func (p *part) outlives(t *tag) bool {
	names := map[string]bool{}
	t.expr.names(names)
	if names[t.name] {
		return true
	}
	depth := 0
	for _, o := range p.tags[t.index+1:] {
		switch {
		case o.kind == kEnd:
			depth--
		case o.block != nil && o == o.block.tags[0]:
			depth++
		}
		used := map[string]bool{}
		o.expr.names(used)
		if depth < 0 && used[t.name] {
			return true
		}
	}
	return false
}
