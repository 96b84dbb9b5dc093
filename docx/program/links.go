package program

import (
	"errors"
	"strings"

	"platen/docx/lang"
	"platen/docx/opc"
)

// Link is an address that holds tags.
type Link struct {
	Texts []string // around the tags: one more than these
	Tags  []*lang.Tag
}

// errBadAddress says why an address is refused.
var errBadAddress = errors.New("it must begin with https:, mailto: or the like")

// linkTarget writes the id of a relationship with the address that the data gives. Without one the link stays as it is.
func (x *execution) linkTarget(o *Op) error {
	var address strings.Builder
	address.WriteString(o.Link.Texts[0])
	for i, tag := range o.Link.Tags {
		s, ok, err := x.env.Print(tag)
		if err != nil {
			return err
		}
		if !ok {
			x.out.buf = append(x.out.buf, o.Text...)
			return nil
		}
		address.WriteString(s + o.Link.Texts[i+1])
	}
	if !isAddress(address.String()) {
		x.fault(o.Link.Tags[0], "The address of the link with '%s' is none that a link can have: %s.", errBadAddress)
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	}
	id, err := x.added.Relate(x.part, opc.RelHyperlink, address.String(), true)
	x.out.buf = append(x.out.buf, id...)
	return err
}

// appendPlain appends a value as it may stand in an attribute or the code of a field.
func appendPlain(dst []byte, s string, code bool) []byte {
	if code { // where a quote ends an argument (ISO 29500-1 §17.16.2)
		s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
	}
	return appendAttribute(dst, s)
}
