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
	// MaxFile is the largest size in bytes of a template, and of a file that it includes.
	MaxFile = ooxml.DefaultPackageBytes

	// MaxIncludeDepth is the largest depth of files that include others.
	MaxIncludeDepth = 5
	// MaxIncludes is the largest number of tags that include files, in a template and the files that it includes.
	MaxIncludes = 100
)

// ParseOptions are the options for compiling a template.
type ParseOptions struct {
	// Include returns the file with the name in {{include "name"}}. If Include is nil, no files are available. Its error completes a sentence
	// whose subject is the file.
	Include func(name string) ([]byte, error)
	// Contents says which tables of contents are rewritten.
	Contents Contents
	// Time is the limit for compiling. 0 means a minute, and a negative value no limit.
	Time time.Duration
}

// includer compiles a template with all that it includes.
type includer struct {
	open  func(name string) ([]byte, error)
	meter *budget.Meter

	contents Contents
	files    map[string]*compile.Compiled // compiled files, by name
	names    []string                     // of the files that are being compiled, each included by the one before
	count    int
}

// parse compiles a file. If it includes other files, it inserts them, and compiles the result.
func (p *includer) parse(file []byte) (*compile.Compiled, error) {
	t, err := compile.File(p.meter, file, compile.Options{MayInclude: p.open != nil, Contents: p.contents})
	if err != nil {
		return nil, err
	}
	problems := slices.Concat(t.Mistakes, t.Document.Warnings)
	places := make([]include.Place, len(t.Inclusions))
	reported := map[string]bool{} // files whose problems have been reported
	for i, in := range t.Inclusions {
		included, err := p.file(in.Name)
		if _, exceeded := errors.AsType[*budget.Error](err); exceeded {
			return nil, err
		}
		if ended := p.meter.Check(); ended != nil {
			return nil, ended
		}
		if err != nil {
			if _, isInFile := errors.AsType[Errors](err); !isInFile || !reported[in.Name] {
				problems = append(problems, in.Failed(err)...)
				reported[in.Name] = isInFile
			}
			continue
		}
		if !reported[in.Name] {
			problems = append(problems, in.InFile(included.Document.Warnings)...)
			reported[in.Name] = true
		}
		if included.Variables {
			in.Enclose()
		}
		places[i] = in.Place
		places[i].Document = included.Document.Package
	}
	if err := refused(problems); err != nil || len(t.Inclusions) == 0 {
		return t, err
	}
	return p.whole(t, places)
}

// refused returns the mistakes in a template, followed by its warnings, or nil if there are no mistakes.
func refused(problems Errors) error {
	mistakes, warnings := problems.Mistakes(), problems.Warnings()
	if len(mistakes) == 0 {
		return nil
	}
	return append(mistakes[:min(len(mistakes), compile.MaxErrors)], warnings[:min(len(warnings), compile.MaxErrors)]...)
}

// whole compiles a file with the files that it includes.
func (p *includer) whole(t *compile.Compiled, places []include.Place) (*compile.Compiled, error) {
	whole, stretches, err := include.Into(t.Document.Package, places, include.Taken{
		FirstID: t.Document.FirstID[program.BookmarkIDs], FirstDrawing: t.Document.FirstID[program.DrawingIDs],
		FirstTextBox: t.Document.FirstID[program.TextBoxIDs], Bookmarks: t.Document.Bookmarks,
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
	if err := program.CheckMerged(whole, append(documents(places), t.Document.Package)); err != nil {
		return nil, err
	}
	made, err := compile.File(p.meter, whole, compile.Options{Included: included, Contents: p.contents})
	if err != nil {
		return nil, err
	}
	made.Document.Warnings, made.Document.Doubts = onceInFile(made.Document.Warnings), onceInFile(made.Document.Doubts)
	return made, refused(slices.Concat(made.Mistakes, made.Document.Warnings))
}

// onceInFile returns problems, each problem of an included file once, however often the file is included.
func onceInFile(problems Errors) Errors {
	var kept Errors
	seen := map[Error]bool{}
	for _, p := range problems {
		key := Error{File: p.File, Tag: p.Tag, Message: p.Message, Text: p.Text, Column: p.Column}
		if p.File == "" || !seen[key] {
			kept = append(kept, p)
		}
		seen[key] = true
	}
	return kept
}

// documents returns the documents that are included in some places.
func documents(places []include.Place) []*ooxml.Package {
	var all []*ooxml.Package
	for i := range places {
		if pkg := places[i].Document; !slices.Contains(all, pkg) {
			all = append(all, pkg)
		}
	}
	return all
}

// file returns an included file, compiled by itself: its blocks begin and end in it.
func (p *includer) file(name string) (*compile.Compiled, error) {
	if p.count++; p.count > MaxIncludes {
		return nil, fmt.Errorf("is one of more than %d included files", MaxIncludes)
	}
	if t := p.files[name]; t != nil {
		return t, nil
	}
	way := strings.Join(append(slices.Clone(p.names), name), " → ")
	if slices.Contains(p.names, name) {
		return nil, fmt.Errorf("includes itself: %s", way)
	}
	if len(p.names) == MaxIncludeDepth {
		return nil, fmt.Errorf("is nested in more than %d included files: %s", MaxIncludeDepth, way)
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
