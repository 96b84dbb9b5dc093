package finish

import "crypto/sha256"

// copier carries objects from one PDF over to another, with all that they refer to, and gives them new numbers.
type copier struct {
	from    *file
	to      *writer
	numbers map[ref]int // what the objects of the old file are in the new one
	waiting []ref       // those that are referred to, and not written yet
	// change is what becomes of some dictionaries, when all that they refer to has its new number.
	change map[ref]func(dict) dict
	// entry is what becomes of an entry of any dictionary; nil leaves all as they are.
	entry func(key name, value object) object
	// known are streams that were written already, by their contents; nil when each is to be written.
	known   map[[sha256.Size]byte]int
	sharing int // how many streams are being compared, each for the sake of the one before
}

func newCopier(from *file, to *writer) *copier {
	return &copier{from: from, to: to, numbers: map[ref]int{}, change: map[ref]func(dict) dict{}}
}

// refer returns what a reference is in the new file, and sees to it that the object comes there. Of one that leads nowhere
// it returns null.
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

// maxSharing is how deep the streams may lie in each other, by reference, that are compared: a picture has a mask.
const maxSharing = 4

// share returns the number of a stream that is the same as this one, or 0. Streams are the same when what they refer to is:
// that is so for the files of fonts, colour profiles and pictures.
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
	if n, ok := c.numbers[r]; ok || err != nil { // it refers to itself
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

// translate returns an object as it is in the new file.
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

// carry writes all objects that were referred to, and those that they refer to.
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
