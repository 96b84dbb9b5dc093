package style_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx/style"
	"platen/docx/style/styletest"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/ooxmltest"
	"platen/ooxml/scan"
)

// TestRules checks the documents in testdata, each for one rule of the standard. A line of "want" asks for a property of the run that
// holds a text, or of the paragraph, number, mark, cell, row, or table around it.
func TestRules(t *testing.T) {
	for file, archive := range ooxmltest.Archives(t, "testdata") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			parts, want := styletest.Parts{}, ""
			for _, f := range archive.Files {
				if f.Name == "want" {
					want = string(f.Data)
				} else {
					parts[strings.TrimSuffix(f.Name, ".xml")] = string(f.Data)
				}
			}
			pkg, main := openBytes(t, parts.Docx(t, nil))
			d := resolve(t, pkg, main)
			var got strings.Builder
			for line := range strings.Lines(want) {
				got.WriteString(d.answer(strings.TrimSuffix(line, "\n")) + "\n")
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

// document is a document with its resolver.
type document struct {
	sheet    *style.Sheet
	resolver *style.Resolver
	runs     map[string]*wml.Node // by their text
}

func resolve(t testing.TB, pkg *ooxml.Package, main *ooxml.Part) *document {
	t.Helper()
	sheet, err := style.Read(pkg, main)
	if err != nil {
		t.Fatal(err)
	}
	src, err := pkg.ReadXML(main)
	if err != nil {
		t.Fatal(err)
	}
	root, err := wml.ParseTree(main.Name, src)
	if err != nil {
		t.Fatal(err)
	}
	d := &document{sheet, sheet.In(src), map[string]*wml.Node{}}
	for _, run := range root.All("w:r") {
		if text := run.Child("w:t"); text != nil {
			d.runs[scan.Text(src[text.OpenEnd:text.CloseStart])] = run
		}
	}
	return d
}

// answer returns a line of "want" with the value that the resolver has.
func (d *document) answer(line string) string {
	fields := strings.Fields(line)
	kind, run := fields[0], d.runs[fields[1]]
	if run == nil {
		return fields[1] + " is missing"
	}
	par, cell, row := above(run, "w:p"), above(run, "w:tc"), above(run, "w:tr")
	var p style.Properties
	switch kind {
	case "run":
		p = d.resolver.Run(run)
	case "paragraph":
		p = d.resolver.Paragraph(par)
	case "mark":
		p = d.resolver.Mark(par)
	case "number":
		_, p = d.resolver.Number(par)
	case "cell":
		p = d.resolver.Cell(cell)
	case "row":
		p = d.resolver.Row(row)
	case "table":
		p = d.resolver.Table(above(run, "w:tbl"))
	case "exception":
		p = d.resolver.TableAt(row)
	case "font":
		return strings.Join(fields[:3], " ") + said(d.sheet.Font(d.resolver.Run(run), slots[fields[2]]))
	case "conditions":
		return kind + " " + fields[1] + " = " + orNone(d.resolver.Conditions(cell).String())
	case "level":
		level, _ := d.resolver.Number(par)
		if level == nil {
			return "level " + fields[1] + " = none"
		}
		return "level " + fields[1] + " = " + level.ID
	default:
		return "what is a " + kind + "?"
	}
	return strings.Join(fields[:3], " ") + said(p.Get(fields[2]))
}

var slots = map[string]style.Slot{
	"ascii": style.ASCII, "hAnsi": style.HighANSI, "eastAsia": style.EastAsia, "cs": style.ComplexScript,
}

func above(n *wml.Node, name string) *wml.Node { return n.Ancestor(wml.Named(name)) }

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func said(value string, origin style.Origin) string {
	from := ""
	switch origin.Level {
	case style.Unset:
		return " is not set"
	case style.Defaults:
		from = "defaults"
	case style.TableStyle:
		from = strings.TrimSpace("table " + origin.Style + " " + origin.Condition.String())
	case style.NumberingLevel:
		from = "list " + origin.List
	case style.ParagraphStyle:
		from = "paragraph " + origin.Style
	case style.CharacterStyle:
		from = "character " + origin.Style
	case style.Direct:
		from = "direct"
	}
	return fmt.Sprintf(" = %s (%s)", value, from)
}
