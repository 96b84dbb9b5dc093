package program

import "platen/docx/lang"

// Let computes a variable, which is known until the block around it ends.
type Let struct{ Tag *lang.Tag }

func (o *Let) run(x *execution) error { return x.env.Let(o.Tag) }
