package docx_test

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/lang"
	"platen/docx/opc"
)

// The documents are of the size and shape Word gives them: run properties everywhere, revision ids, every fifth tag
// split over two runs. Each benchmark reads the data and makes the document on one core; beside it stand the making alone,
// and the floor: the same output packed without any template work.

func benchRun(text string) string {
	return `<w:r w:rsidR="00A1B2C3"><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="18"/><w:szCs w:val="18"/><w:lang w:val="en-GB"/></w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

func benchParagraph(n int, text string) string {
	runs := ""
	for i, piece := range strings.SplitAfter(text, "}}") {
		if at := strings.Index(piece, "{{"); (n+i)%5 == 0 && at >= 0 {
			at += 4
			runs += benchRun(piece[:at]) + `<w:proofErr w:type="spellStart"/>` + benchRun(piece[at:])
		} else if piece != "" {
			runs += benchRun(piece)
		}
	}
	return fmt.Sprintf(`<w:p w14:paraId="%08X" w:rsidR="00A1B2C3" w:rsidRDefault="00A1B2C3"><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr>%s</w:p>`, 0x1000+n, runs)
}

func benchLetter(b *testing.B) (*docx.Template, string) {
	const prose = "The party agreement shall obligation notice period service delivery payment written consent liability termination supplier customer goods. "
	body := ""
	for i, line := range []string{"{{sender.name}}", "{{sender.street}}, {{sender.zip}} {{sender.city}}", "{{customer.company}}", "{{customer.name}}", "{{customer.street}}", "{{customer.zip}} {{customer.city}}",
		"{{sender.city}}, {{date}}", "Re: {{subject}}", "Dear {{customer.salutation}},", strings.Repeat(prose, 3) + "Our reference is {{reference}}. " + prose,
		"The amount of {{amount}} is due on {{dueDate}}. " + strings.Repeat(prose, 3), strings.Repeat(prose, 4), "Yours sincerely,", "{{contact.name}}, phone {{contact.phone}}"} {
		body += benchParagraph(i, line)
	}
	return benchTemplate(b, map[string]string{"document.xml": body}), `{"sender":{"name":"Northwind Traders Ltd","street":"1 Long Acre","zip":"WC2E 9LH","city":"London"},
		"customer":{"name":"Zoë Müller","company":"Müller & Söhne <Handels> GmbH","street":"Hauptstraße 17","zip":"80331","city":"München","salutation":"Ms Müller"},
		"date":"20 November 2026","subject":"Renewal of contract R&D 2026","reference":"REF-2026-00417","amount":"€ 12,480.00","dueDate":"15 December 2026","contact":{"name":"John Smith","phone":"+44 20 7946 0018"}}`
}

var benchColumns = strings.Fields("pos sku description qty unit price vat total")

func benchInvoice(b *testing.B, rows int) (*docx.Template, string) {
	row := func(n int, cell func(i int, column string) string) string {
		s := fmt.Sprintf(`<w:tr w14:paraId="%08X" w:rsidR="00A1B2C3">`, 0x2000+n)
		for i, column := range benchColumns {
			s += `<w:tc><w:tcPr><w:tcW w:w="1100" w:type="dxa"/></w:tcPr>` + benchParagraph(100*n+i, cell(i, column)) + `</w:tc>`
		}
		return s + `</w:tr>`
	}
	body := benchParagraph(1, "{{customer.company}}") + benchParagraph(2, "Invoice {{invoice.number}} of {{invoice.date}}") +
		benchParagraph(3, "{{if reverseCharge}}") + benchParagraph(4, "Reverse charge: the tax is owed by the recipient.") + benchParagraph(5, "{{endif}}") +
		"<w:tbl><w:tblPr/>" + row(1, func(_ int, column string) string { return column }) +
		row(2, func(i int, column string) string {
			tag := "{{item." + column + "}}"
			switch i {
			case 0:
				return "{{tablerow item in items}}" + tag
			case len(benchColumns) - 1:
				return tag + "{{endtablerow}}"
			}
			return tag
		}) + "</w:tbl>" + benchParagraph(6, "Total: {{total}}")
	var items strings.Builder
	for i := range rows {
		fmt.Fprintf(&items, `%s{"pos":%d,"sku":"SKU-%06d","description":"Part %d & more","qty":%d,"unit":"pcs","price":%d.%02d,"vat":"19%%","total":"%d.00"}`, strings.Repeat(",", min(i, 1)), i+1, i*7919%1000000, i, i%99, i%1000, i%100, i*3)
	}
	data := `{"customer":{"company":"Müller & Söhne"},"invoice":{"number":"2026-004417","date":"20 Nov 2026"},"reverseCharge":true,"total":"11,900.00","items":[` + items.String() + `]}`
	return benchTemplate(b, map[string]string{"document.xml": body, "header1.xml": benchParagraph(7, "Invoice {{invoice.number}}")}), data
}

func benchTemplate(b *testing.B, parts map[string]string) *docx.Template {
	tpl, err := parse(build(b, parts))
	if err != nil {
		b.Fatal(err)
	}
	return tpl
}

func BenchmarkLetter(b *testing.B) {
	tpl, data := benchLetter(b)
	benchmark(b, tpl, data)
}

func BenchmarkInvoice(b *testing.B) {
	for _, rows := range []int{10, 1000, 10000} {
		b.Run(strconv.Itoa(rows), func(b *testing.B) {
			tpl, data := benchInvoice(b, rows)
			benchmark(b, tpl, data)
		})
	}
}

func benchmark(b *testing.B, tpl *docx.Template, text string) {
	data := decode(b, text)
	out, report := execute(b, tpl, data)
	if len(report.Errors) > 0 {
		b.Fatal(report.Errors)
	}
	size := 0
	for _, content := range unpack(b, out) {
		size += len(content)
	}
	perSecond := func(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s") }
	b.Run("platen", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tpl.Execute(io.Discard, decode(b, text), docx.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
	b.Run("execute", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tpl.Execute(io.Discard, data, docx.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(int64(size))
		pkg, changed := floorInput(b, out)
		for b.Loop() {
			writeFloor(b, pkg, changed)
		}
		perSecond(b)
	})
}

// floorInput gives the output's parts, and the bytes of those that an execution writes anew.
func floorInput(b *testing.B, out []byte) (*opc.Package, map[string][]byte) {
	pkg, err := opc.Open(bytes.NewReader(out), int64(len(out)), opc.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	changed := map[string][]byte{}
	for _, name := range []string{"/word/document.xml", "/word/header1.xml"} {
		if part := pkg.Part(name); part != nil {
			if changed[name], err = pkg.ReadXML(part); err != nil {
				b.Fatal(err)
			}
		}
	}
	return pkg, changed
}

func writeFloor(b *testing.B, pkg *opc.Package, changed map[string][]byte) {
	pw := opc.NewWriter(io.Discard)
	for _, part := range pkg.Parts() {
		content, ok := changed[part.Name]
		if !ok {
			if err := pw.Copy(part); err != nil {
				b.Fatal(err)
			}
			continue
		}
		w, err := pw.Create(part.Name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			b.Fatal(err)
		}
	}
	if err := pw.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkParse(b *testing.B) {
	tpl, _ := benchInvoice(b, 1)
	var file bytes.Buffer
	if _, err := tpl.Execute(&file, new(lang.Object), docx.Options{}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, err := parse(file.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
