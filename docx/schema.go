package docx

import "platen/docx/lang"

// Schema returns what input the template reads, made anew at each call.
func (t *Template) Schema() *lang.Schema { return t.use.Schema() }

// Sample returns input that the template takes, as indented JSON, with a value for all it reads.
func (t *Template) Sample() ([]byte, error) { return t.Schema().Sample() }
