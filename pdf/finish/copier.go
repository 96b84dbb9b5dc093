package finish

import "crypto/sha256"

// copier copies objects from one PDF to another, with all objects that they refer to. The copies get new numbers.
type copier struct {
	from    *file
	to      *writer
	numbers map[ref]int // new numbers of the old file's objects
	waiting []ref       // referred to, but not written yet
	// change edits some dictionaries after all their references have been translated.
	change map[ref]func(dict) dict
	// entry edits the value of each entry of every dictionary. nil leaves them unchanged.
	entry func(key name, value object) object
	// known are the streams written so far, by the hash of their contents; nil if each stream is to be written.
	known   map[[sha256.Size]byte]int
	sharing int // depth of nested stream comparisons
}

func newCopier(from *file, to *writer) *copier {
	return &copier{from: from, to: to, numbers: map[ref]int{}, change: map[ref]func(dict) dict{}}
}

// refer returns the reference in the new file, and schedules the object for copying. For a dangling reference, it
// returns null.
func (c *copier) refer(r ref) (object, error) {
	if n, ok := c.numbers[r]; ok {
		return ref{n, 0}, nil
	}
	if !c.from.has(r) {
		return nil, nil
	}
	if c.known != nil {
		if n, err := c.share(r); err != nil || n > 0 {
			return ref{n, 0}, err
		}
	}
	n := c.to.reserve()
	c.numbers[r] = n
	c.waiting = append(c.waiting, r)
	return ref{n, 0}, nil
}

// maxSharing is the maximum depth of streams that refer to each other and are compared. For example, an image has a
// mask.
const maxSharing = 4

// share returns the number of an identical stream in the new file, or 0. Streams are identical if what they refer to
// is, such as font files, color profiles, and images.
func (c *copier) share(r ref) (int, error) {
	if c.sharing == maxSharing {
		return 0, nil
	}
	o, err := c.from.load(r)
	if err != nil {
		return 0, err
	}
	s, ok := o.(stream)
	if !ok {
		return 0, nil
	}
	c.sharing++
	o, err = c.translate(s)
	c.sharing--
	if n, ok := c.numbers[r]; ok || err != nil { // the stream refers to itself
		return n, err
	}
	sum := sha256.Sum256(appendObject(nil, o, nil))
	n, ok := c.known[sum]
	if !ok {
		n = c.to.reserve()
		c.known[sum] = n
		c.waiting = append(c.waiting, r)
	}
	c.numbers[r] = n
	return n, nil
}

// translate returns an object with its references changed to those of the new file.
func (c *copier) translate(o object) (object, error) {
	var err error
	switch o := o.(type) {
	case ref:
		return c.refer(o)
	case array:
		a := make(array, len(o))
		for i := range o {
			if a[i], err = c.translate(o[i]); err != nil {
				return nil, err
			}
		}
		return a, nil
	case dict:
		return c.translateDict(o)
	case stream:
		d, err := c.translateDict(o.dict.with("Length", nil))
		return stream{d, o.raw}, err
	}
	return o, nil
}

func (c *copier) translateDict(old dict) (dict, error) {
	d := make(dict, 0, len(old))
	for _, e := range old {
		value := e.value
		if c.entry != nil {
			value = c.entry(e.key, value)
		}
		value, err := c.translate(value)
		if err != nil {
			return nil, err
		}
		if value != nil {
			d = append(d, entry{e.key, value})
		}
	}
	return d, nil
}

// carry writes all scheduled objects, and those that they refer to.
func (c *copier) carry() error {
	for len(c.waiting) > 0 {
		r := c.waiting[len(c.waiting)-1]
		c.waiting = c.waiting[:len(c.waiting)-1]
		o, err := c.from.load(r)
		if err != nil {
			return err
		}
		if o, err = c.translate(o); err != nil {
			return err
		}
		if d, ok := o.(dict); ok && c.change[r] != nil {
			o = c.change[r](d)
		}
		if err := c.to.put(c.numbers[r], o); err != nil {
			return err
		}
	}
	return nil
}
