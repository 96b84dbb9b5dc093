package docx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"platen/budget"
	"platen/docx/compile"
	"platen/docx/include"
	"platen/docx/program"
	"platen/ooxml"
)

const (
	// MaxFile is how many bytes a template may have, and a file that it includes.
	MaxFile = ooxml.DefaultPackageBytes

	// MaxIncludeDepth is how deep included files may include others.
	MaxIncludeDepth = 5
	// MaxIncludes is how many tags of a template and of the files that it includes may include a file.
	MaxIncludes = 100
)

// ParseOptions are what reading a template may need.
type ParseOptions struct {
	// Include returns the file that {{include "name"}} names; nil: there are none to be had. Its error completes a sentence whose
	// subject is the file.
	Include func(name string) ([]byte, error)
	// Time is how long compiling may take; 0: a minute; below 0: as long as it takes.
	Time time.Duration
}

// includer compiles a template with all that it includes.
type includer struct {
	open  func(name string) ([]byte, error)
	meter *budget.Meter
	files map[string]*compile.Compiled // those that were compiled, by name
	names []string                     // of those that are being compiled, each in the one before
	count int
}

// parse compiles a file. If it includes other files, it inserts them, and compiles the result.
func (p *includer) parse(file []byte) (*compile.Compiled, error) {
	t, err := compile.File(p.meter, file, p.open != nil, nil)
	if err != nil {
		return nil, err
	}
	problems := slices.Concat(t.Mistakes, t.Document.Warnings)
	places := make([]include.Place, len(t.Inclusions))
	told := map[string]bool{} // files of which it was said what is wrong in them
	for i, in := range t.Inclusions {
		places[i] = in.Place
		included, err := p.file(in.Name)
		if _, exceeded := errors.AsType[*budget.Error](err); exceeded {
			return nil, err
		}
		if ended := p.meter.Check(); ended != nil {
			return nil, ended
		}
		if err != nil {
			if _, isInFile := errors.AsType[Errors](err); !isInFile || !told[in.Name] {
				problems = append(problems, in.Failed(err)...)
				told[in.Name] = isInFile
			}
			continue
		}
		if !told[in.Name] {
			problems = append(problems, in.InFile(included.Document.Warnings)...)
			told[in.Name] = true
		}
		places[i].Document = included.Document.Package
	}
	if err := refused(problems); err != nil || len(t.Inclusions) == 0 {
		return t, err
	}
	return p.whole(t, places)
}

// refused returns what is wrong with a template, and then what else there is to say of it; nil if there is no mistake.
func refused(problems Errors) error {
	mistakes, warnings := problems.Mistakes(), problems.Warnings()
	if len(mistakes) == 0 {
		return nil
	}
	return append(mistakes[:min(len(mistakes), compile.MaxErrors)], warnings[:min(len(warnings), compile.MaxErrors)]...)
}

// whole compiles a file with those that it includes in their places.
func (p *includer) whole(t *compile.Compiled, places []include.Place) (*compile.Compiled, error) {
	whole, stretches, err := include.Into(t.Document.Package, places, include.Taken{
		FirstID: t.Document.FirstID[program.BookmarkIDs], FirstDrawing: t.Document.FirstID[program.DrawingIDs], Bookmarks: t.Document.Bookmarks,
	})
	if unfit, ok := errors.AsType[*include.Error](err); ok {
		return nil, t.Inclusions[unfit.Place].Failed(unfit.Err)
	}
	if err != nil {
		return nil, err
	}
	included := map[string][]compile.Stretch{}
	for i, in := range t.Inclusions {
		at := &in.Place
		included[at.Part] = append(included[at.Part], compile.Stretch{Name: in.Name, Start: stretches[i].Start, End: stretches[i].End,
			From: at.Start, To: at.End})
	}
	for _, in := range included {
		slices.SortFunc(in, func(a, b compile.Stretch) int { return cmp.Compare(a.Start, b.Start) })
	}
	made, err := compile.File(p.meter, whole, false, included)
	if err != nil {
		return nil, err
	}
	return made, refused(slices.Concat(made.Mistakes, made.Document.Warnings))
}

// file returns an included file, compiled by itself: its blocks begin and end in it.
func (p *includer) file(name string) (*compile.Compiled, error) {
	if p.count++; p.count > MaxIncludes {
		return nil, fmt.Errorf("is one of more than %d that are included", MaxIncludes)
	}
	if t := p.files[name]; t != nil {
		return t, nil
	}
	way := strings.Join(append(slices.Clone(p.names), name), " → ")
	if slices.Contains(p.names, name) {
		return nil, fmt.Errorf("includes itself: %s", way)
	}
	if len(p.names) == MaxIncludeDepth {
		return nil, fmt.Errorf("is included too deep, by more than %d files one in the other: %s", MaxIncludeDepth, way)
	}
	file, err := p.open(name)
	if err != nil {
		return nil, err
	}
	p.names = append(p.names, name)
	defer func() { p.names = p.names[:len(p.names)-1] }()
	t, err := p.parse(file)
	if err != nil {
		return nil, err
	}
	p.files[name] = t
	return t, nil
}
