package compile

import (
	"bytes"

	"platen/docx/program"
	"platen/ooxml"
	"platen/ooxml/names"
)

// readForms prepares what distinguishes documents without macros (.docx) from those with macros (.docm). Word refuses a file whose
// extension and content type differ, and readers of a .docx expect no macros.
func (p *partCompiler) readForms() error {
	d := p.Document
	types, err := d.Package.ReadXML(d.Package.Part(ooxml.ContentTypesName))
	if err != nil {
		return err
	}
	without, err := d.Package.Omit(d.Main, names.RelMacros)
	if err != nil {
		return err
	}
	d.Forms = [...]program.Form{
		program.Plain:  {Listings: map[string][]byte{}},
		program.Macros: {Listings: map[string][]byte{}},
	}
	if without != nil {
		d.Forms[program.Plain] = program.Form{Listings: without.Listings, Omitted: without.Parts}
	}
	for kind, mainType := range map[program.FormKind]string{program.Plain: names.TypeDocument, program.Macros: names.TypeMacroDocument} {
		listings := d.Forms[kind].Listings
		before := types
		if changed := listings[ooxml.ContentTypesName]; changed != nil {
			before = changed
		}
		if after := withMainType(before, mainType); !bytes.Equal(after, types) {
			listings[ooxml.ContentTypesName] = after
		}
	}
	return nil
}

// withMainType returns the content types with another type of the main part.
func withMainType(types []byte, mainType string) []byte {
	for _, other := range []string{names.TypeTemplate, names.TypeMacroTemplate, names.TypeDocument, names.TypeMacroDocument} {
		if other != mainType && bytes.Contains(types, []byte(other)) { // ReplaceAll would always copy
			types = bytes.ReplaceAll(types, []byte(`"`+other+`"`), []byte(`"`+mainType+`"`))
			types = bytes.ReplaceAll(types, []byte(`'`+other+`'`), []byte(`'`+mainType+`'`))
		}
	}
	return types
}
