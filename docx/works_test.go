package docx_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The works that speed is measured on: a letter of one page with 16 tags; an invoice with a header, a footer, a logo, two
// conditions and a row for each item; and a contract of 50 pages with about 200 tags and 20 conditions. They are of the
// size and shape that Word gives documents: run properties and revision ids everywhere, and every fifth tag split over
// two runs. Each template is there in the syntax of other engines too, to be compared with.

// syntax is how an engine spells tags.
type syntax struct {
	name         string
	value, field string // %s is the path; a field is of the item of a loop
	ifOpen       string
	ifClose      string
	first, last  string // around the row of a loop
	twice        bool   // the row stands twice, the second time for the next item
}

var (
	ours = &syntax{"platen", "{{%s}}", "{{item.%s}}", "{{if %s}}", "{{endif}}", "{{tablerow item in items}}", "{{endtablerow}}",
		false}
	docxtemplater = &syntax{"docxtemplater", "{{%s}}", "{{%s}}", "{{#%s}}", "{{/%[1]s}}", "{{#items}}", "{{/items}}", false}
	carbone       = &syntax{"carbone", "{d.%s}", "{d.items[i].%s}", "{d.%s:ifEQ(true):showBegin}", "{d.%[1]s:showEnd}", "", "", true}
)

func (s *syntax) condition(flag string) (open, end string) {
	end = s.ifClose
	if strings.Contains(end, "%") {
		end = fmt.Sprintf(end, flag)
	}
	return fmt.Sprintf(s.ifOpen, flag), end
}

// author writes the XML of a template.
type author struct {
	*syntax
	words *rand.Rand
	ids   uint32
	tags  int
}

type look struct {
	bold         bool
	size         int
	style, align string
}

func (a *author) id() string {
	a.ids++
	return fmt.Sprintf("%08X", 0x00A10000+a.ids*2654435761%0xEFFF)
}

func (a *author) run(text string, l look) string {
	props := `<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/>`
	if l.bold {
		props += `<w:b/>`
	}
	if l.size > 0 {
		props += fmt.Sprintf(`<w:sz w:val="%[1]d"/><w:szCs w:val="%[1]d"/>`, l.size)
	}
	return fmt.Sprintf(`<w:r w:rsidR="%s"><w:rPr>%s<w:lang w:val="en-GB"/></w:rPr><w:t xml:space="preserve">%s</w:t></w:r>`, a.id(),
		props, text)
}

func (a *author) paragraph(content string, l look) string {
	props := `<w:spacing w:after="120" w:line="264" w:lineRule="auto"/>`
	if l.style != "" {
		props = `<w:pStyle w:val="` + l.style + `"/>` + props
	}
	if l.align != "" {
		props += `<w:jc w:val="` + l.align + `"/>`
	}
	return fmt.Sprintf(`<w:p w14:paraId="%s" w:rsidR="%s" w:rsidRDefault="%s"><w:pPr>%s</w:pPr>%s</w:p>`, a.id(), a.id(), a.id(), props,
		content)
}

// runs writes text in which [path] stands for a tag.
func (a *author) runs(text string, l look) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(text, "[", "[\x00"), func(r rune) bool { return r == '[' || r == ']' }) {
		path, isTag := strings.CutPrefix(part, "\x00")
		if !isTag {
			b.WriteString(a.run(part, l))
			continue
		}
		tag := fmt.Sprintf(a.value, path)
		if a.tags++; a.tags%5 == 0 {
			half := len(tag) / 2
			b.WriteString(a.run(tag[:half], l) + `<w:proofErr w:type="spellStart"/>` + a.run(tag[half:], l) + `<w:proofErr w:type="spellEnd"/>`)
		} else {
			b.WriteString(a.run(tag, l))
		}
	}
	return b.String()
}

func (a *author) text(text string, l look) string { return a.paragraph(a.runs(text, l), l) }

// when writes paragraphs that are there if a flag is set.
func (a *author) when(flag string, content ...string) string {
	open, end := a.condition(flag)
	return a.paragraph(a.run(open, look{}), look{}) + strings.Join(content, "") + a.paragraph(a.run(end, look{}), look{})
}

var vocabulary = strings.Fields("the party agreement shall obligation notice period service delivery payment written consent " +
	"liability termination supplier customer goods confidential information applicable law jurisdiction damages breach remedy " +
	"reasonable commercial effort schedule annex effective date thereof herein pursuant without prejudice right waiver amendment " +
	"force majeure assignment subcontractor invoice currency interest tax audit record retention data protection security incident " +
	"intellectual property licence warranty representation indemnity insurance")

// prose writes sentences of n words.
func (a *author) prose(n int) string {
	var sentences []string
	for n > 0 {
		k := min(n, 9+a.words.IntN(11))
		n -= k
		words := make([]string, k)
		for i := range words {
			words[i] = vocabulary[a.words.IntN(len(vocabulary))]
		}
		s := strings.Join(words, " ")
		sentences = append(sentences, strings.ToUpper(s[:1])+s[1:]+".")
	}
	return strings.Join(sentences, " ")
}

func (s *syntax) author(seed uint64) *author {
	return &author{syntax: s, words: rand.New(rand.NewPCG(seed, 0))}
}

func (s *syntax) letter(t testing.TB) []byte {
	a, right := s.author(1), look{align: "right"}
	body := a.text("[sender.name]", look{bold: true, size: 28}) + a.text("[sender.street], [sender.zip] [sender.city]", look{size: 18}) +
		a.text("[customer.company]", look{}) + a.text("[customer.name]", look{}) + a.text("[customer.street]", look{}) +
		a.text("[customer.zip] [customer.city]", look{}) +
		a.text("[sender.city2], [date]", right) + a.text("Re: [subject]", look{bold: true}) + a.text("Dear [customer.salutation],", look{}) +
		a.text(a.prose(50)+" Our reference is [reference]. "+a.prose(25), look{}) + a.text("The amount of [amount] is due on [dueDate]. "+
		a.prose(60), look{}) +
		a.text(a.prose(70), look{}) + a.text("Yours sincerely,", look{}) + a.text("[contact.name], phone [contact.phone]", look{})
	return document{body: body}.pack(t)
}

var invoiceColumns = []struct {
	name  string
	width int
}{{"pos", 600}, {"sku", 1300}, {"description", 3300}, {"qty", 700}, {"unit", 700}, {"price", 1100}, {"vat", 700}, {"total", 1200}}

func (a *author) row(cell func(i int, name string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<w:tr w:rsidR="%s">`, a.id())
	for i, c := range invoiceColumns {
		fmt.Fprintf(&b, `<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/></w:tcPr>%s</w:tc>`, c.width, cell(i, c.name))
	}
	return b.String() + `</w:tr>`
}

func (a *author) itemRow(index string) string {
	return a.row(func(i int, name string) string {
		tag := strings.Replace(fmt.Sprintf(a.field, name), "[i]", "["+index+"]", 1)
		switch i {
		case 0:
			tag = a.first + tag
		case len(invoiceColumns) - 1:
			tag += a.last
		}
		l := look{}
		if i > 2 {
			l.align = "right"
		}
		return a.paragraph(a.run(tag, look{size: 18}), l)
	})
}

func (a *author) itemTable() string {
	var b strings.Builder
	b.WriteString(`<w:tbl><w:tblPr><w:tblW w:w="9600" w:type="dxa"/><w:tblBorders>`)
	for _, edge := range []string{"top", "left", "bottom", "right", "insideH", "insideV"} {
		fmt.Fprintf(&b, `<w:%s w:val="single" w:sz="4" w:space="0" w:color="auto"/>`, edge)
	}
	b.WriteString(`</w:tblBorders><w:tblLayout w:type="fixed"/></w:tblPr><w:tblGrid>`)
	for _, c := range invoiceColumns {
		fmt.Fprintf(&b, `<w:gridCol w:w="%d"/>`, c.width)
	}
	b.WriteString(`</w:tblGrid>`)
	b.WriteString(a.row(func(_ int, name string) string {
		return a.paragraph(a.run(strings.ToUpper(name[:1])+name[1:], look{bold: true}), look{})
	}))
	b.WriteString(a.itemRow("i"))
	if a.twice {
		b.WriteString(a.itemRow("i+1"))
	}
	return b.String() + `</w:tbl>`
}

func (s *syntax) invoice(t testing.TB) []byte {
	a, right := s.author(2), look{align: "right"}
	header := a.paragraph(logoDrawing+a.runs("  [company.name]  Invoice [invoice.number]", look{bold: true}), look{})
	footer := a.text("[company.name] - IBAN [bank.iban] - BIC [bank.bic] - VAT ID [company.vatId]", look{size: 16, align: "center"})
	body := a.text("[customer.company]", look{}) + a.text("[customer.name]", look{}) +
		a.text("[customer.street], [customer.zip] [customer.city]", look{}) +
		a.text("Invoice [invoice.number]", look{style: "Heading1"}) +
		a.text("Date: [invoice.date]  Customer no.: [customer.number]  Order: [invoice.order]", look{}) +
		a.when("reverseCharge", a.text("Reverse charge: the tax is owed by the recipient, VAT ID [customer.vatId].", look{})) + a.itemTable() +
		a.text("Net total: [totals.net]", right) + a.text("VAT: [totals.vat]", right) + a.text("Total: [totals.gross]",
		look{bold: true, align: "right"}) +
		a.when("discount", a.text("A discount of [discountRate] applies when paid before [discountDate].", look{})) + a.text(a.prose(40)+
		" Payable until [invoice.due].", look{})
	return document{body: body, header: header, footer: footer, logo: true}.pack(t)
}

const contractSections = 40

func (s *syntax) contract(t testing.TB) []byte {
	a, both := s.author(3), look{align: "both"}
	header := a.text("Framework agreement [contract.number]", look{size: 16, align: "right"})
	footer := a.text("[party.a] / [party.b] - version [contract.version]", look{size: 16, align: "center"})
	var b strings.Builder
	b.WriteString(a.text("Framework agreement [contract.number]", look{style: "Heading1"}))
	b.WriteString(a.text("between [party.a], [party.aAddress] and [party.b], [party.bAddress], dated [contract.date]", look{}))
	for n := range contractSections {
		b.WriteString(a.text(fmt.Sprintf("%d. %s", n+1, strings.TrimSuffix(a.prose(9), ".")), look{style: "Heading2"}))
		of := fmt.Sprintf("s%d.", n)
		for k := range 7 {
			sentence := map[int]string{1: "The period is [" + of + "days] days from [" + of + "start]. ",
				3: "Payments by [party.a] are limited to [" + of + "limit]. ", 5: "The contact is [" + of + "contact]. "}[k]
			b.WriteString(a.text(a.prose(72)+" "+sentence+a.prose(12), both))
		}
		if n%2 == 0 {
			b.WriteString(a.when(fmt.Sprintf("opt%d", n), a.text("Optional clause. "+a.prose(50), both)))
		}
	}
	b.WriteString(a.text("Signed: [party.a], [party.b], [contract.date]", look{}))
	return document{body: b.String(), header: header, footer: footer}.pack(t)
}

var customer = map[string]any{"name": "Zoë Müller", "company": "Müller & Söhne <Handels> GmbH", "street": "Hauptstraße 17",
	"zip": "80331", "city": "München", "salutation": "Ms Müller", "number": "C-10442", "vatId": "DE811907980"}

func letterData(t testing.TB) []byte {
	return asJSON(t, map[string]any{"sender": map[string]any{"name": "Northwind Traders Ltd", "street": "1 Long Acre", "zip": "WC2E 9LH",
		"city": "London", "city2": "London"}, "customer": customer, "date": "20 November 2026", "subject": "Renewal of contract R&D 2026",
		"reference": "REF-2026-00417", "amount": "€ 12,480.00", "dueDate": "15 December 2026",
		"contact": map[string]any{"name": "John Smith", "phone": "+44 20 7946 0018"}})
}

func invoiceData(t testing.TB, rows int) []byte {
	r := rand.New(rand.NewPCG(uint64(rows), 0))
	word := func() string { return vocabulary[r.IntN(len(vocabulary))] }
	items := make([]any, rows)
	for i := range items {
		qty, cents := r.IntN(99)+1, r.IntN(99900)+100
		items[i] = map[string]any{"pos": fmt.Sprint(i + 1), "sku": fmt.Sprintf("SKU-%06d", r.IntN(1_000_000)),
			"description": fmt.Sprintf("Part %s & %s, size %d", word(), word(), r.IntN(60)+1),
			"qty":         fmt.Sprint(qty), "unit": "pcs", "price": fmt.Sprintf("%.2f", float64(cents)/100), "vat": "19%",
			"total": fmt.Sprintf("%.2f", float64(qty*cents)/100)}
	}
	return asJSON(t, map[string]any{"company": map[string]any{"name": "Northwind Traders Ltd", "vatId": "GB123456789"},
		"bank": map[string]any{"iban": "GB29 NWBK 6016 1331 9268 19", "bic": "NWBKGB2L"}, "customer": customer,
		"invoice":       map[string]any{"number": "2026-004417", "date": "20 Nov 2026", "order": "PO-7781", "due": "20 Dec 2026"},
		"reverseCharge": true, "discount": false, "discountRate": "2%", "discountDate": "1 Dec 2026",
		"items": items, "totals": map[string]any{"net": "10,000.00", "vat": "1,900.00", "gross": "11,900.00"}})
}

func contractData(t testing.TB) []byte {
	data := map[string]any{"contract": map[string]any{"number": "FA-2026-118", "version": "3.1", "date": "20 November 2026"},
		"party": map[string]any{"a": "Northwind Traders Ltd", "aAddress": "1 Long Acre, London", "b": "Müller & Söhne GmbH",
			"bAddress": "Hauptstraße 17, München"}}
	for n := range contractSections {
		data[fmt.Sprintf("s%d", n)] = map[string]any{"days": fmt.Sprint(10 + n), "start": fmt.Sprintf("%d March 2027", n%28+1),
			"limit": fmt.Sprintf("€ %d,000.00", n*7+3), "contact": fmt.Sprintf("Contact Person %d", n)}
		data[fmt.Sprintf("opt%d", n)] = n%4 == 0
	}
	return asJSON(t, data)
}

func asJSON(t testing.TB, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// document is what a template is made of.
type document struct {
	body, header, footer string
	logo                 bool
}

const (
	xmlHead    = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
	namespaces = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
		`xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ` +
		`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
		`xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" ` +
		`xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" ` +
		`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="w14"`
	logoBytes = 100_000

	logoDrawing = `<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="1524000" ` +
		`cy="901700"/><wp:docPr id="1" name="Logo"/><wp:cNvGraphicFramePr/><a:graphic><a:graphicData ` +
		`uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" ` +
		`name="logo.png"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip ` +
		`r:embed="rId1"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1524000" ` +
		`cy="901700"/></a:xfrm><a:prstGeom ` +
		`prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
)

// pack writes the package, with parts that no execution changes of the size that Word's have.
func (d document) pack(t testing.TB) []byte {
	const (
		officeRel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
		wml       = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	)
	rels := func(pairs ...string) string {
		s := xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
		for i := 0; i < len(pairs); i += 2 {
			s += fmt.Sprintf(`<Relationship Id="rId%d" Type="%s%s" Target="%s"/>`, i/2+1, officeRel, pairs[i], pairs[i+1])
		}
		return s + `</Relationships>`
	}
	types := xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ` +
		`ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ` +
		`ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>`
	for _, kind := range []string{"document.main", "styles", "settings", "fontTable"} {
		types += fmt.Sprintf(`<Override PartName="/word/%s.xml" ContentType="%s%s+xml"/>`, strings.TrimSuffix(kind, ".main"), wml, kind)
	}
	related := []string{"styles", "styles.xml", "settings", "settings.xml", "fontTable", "fontTable.xml", "theme", "theme/theme1.xml"}
	section := ""
	for _, part := range []struct{ kind, content string }{{"header", d.header}, {"footer", d.footer}} {
		if part.content != "" {
			types += fmt.Sprintf(`<Override PartName="/word/%[1]s1.xml" ContentType="%[2]s%[1]s+xml"/>`, part.kind, wml)
			related = append(related, part.kind, part.kind+"1.xml")
			section += fmt.Sprintf(`<w:%sReference w:type="default" r:id="rId%d"/>`, part.kind, len(related)/2)
		}
	}
	part := func(root, content string) string {
		return xmlHead + `<w:` + root + ` ` + namespaces + `>` + content + `</w:` + root + `>`
	}
	files := [][2]string{
		{"[Content_Types].xml", types + `</Types>`},
		{"_rels/.rels", rels("officeDocument", "word/document.xml", "extended-properties", "docProps/app.xml")},
		{"word/document.xml", part("document", `<w:body>`+d.body+`<w:sectPr>`+section+
			`<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1417" w:right="1134" w:bottom="1134" w:left="1134" w:header="708" `+
			`w:footer="708" w:gutter="0"/></w:sectPr></w:body>`)},
		{"word/_rels/document.xml.rels", rels(related...)},
		{"word/styles.xml", part("styles", styleList())},
		{"word/theme/theme1.xml", xmlHead + `<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Office">` +
			many(60, `<a:font script="S%03d" typeface="Typeface %[1]d"/>`) + `</a:theme>`},
		{"word/settings.xml", part("settings", `<w:zoom w:percent="100"/><w:defaultTabStop w:val="708"/><w:rsids>`+
			many(80, `<w:rsid w:val="%08X"/>`)+`</w:rsids>`)},
		{"word/fontTable.xml", part("fonts",
			many(3, `<w:font w:name="Font %d"><w:charset w:val="00"/><w:family w:val="swiss"/><w:pitch w:val="variable"/></w:font>`))},
		{"docProps/app.xml", xmlHead + `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">` +
			`<Application>Microsoft Office Word</Application></Properties>`},
	}
	if d.header != "" {
		files = append(files, [2]string{"word/header1.xml", part("hdr", d.header)}, [2]string{"word/footer1.xml", part("ftr", d.footer)})
	}
	if d.logo {
		logo := make([]byte, logoBytes) // noise, as a packed picture is
		if _, err := rand.NewChaCha8([32]byte{}).Read(logo); err != nil {
			panic(err) // it never fails
		}
		files = append(files, [2]string{"word/_rels/header1.xml.rels", rels("image", "media/image1.png")},
			[2]string{"word/media/image1.png", "\x89PNG\r\n\x1a\n" + string(logo)})
	}
	return packInOrder(t, files)
}

func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func styleList() string {
	return `<w:latentStyles>` + many(260,
		`<w:lsdException w:name="Style Name Number %d" w:semiHidden="1" w:uiPriority="%[1]d" w:unhideWhenUsed="1" w:qFormat="1"/>`) +
		`</w:latentStyles>` +
		`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>` +
		many(10, `<w:style w:type="paragraph" w:styleId="Heading%d"><w:name w:val="heading %[1]d"/><w:basedOn w:val="Normal"/><w:next `+
			`w:val="Normal"/><w:uiPriority w:val="9"/><w:qFormat/><w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before="240" `+
			`w:after="60"/></w:pPr><w:rPr><w:b/><w:color w:val="1F3763"/></w:rPr></w:style>`) +
		many(30, `<w:style w:type="paragraph" w:customStyle="1" w:styleId="Custom%d"><w:name w:val="Custom %[1]d"/><w:basedOn `+
			`w:val="Normal"/><w:pPr><w:spacing w:before="%[1]d" w:after="%[1]d"/></w:pPr><w:rPr><w:rFonts w:ascii="Calibri" `+
			`w:hAnsi="Calibri"/></w:rPr></w:style>`)
}

func packInOrder(t testing.TB, files [][2]string) []byte {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, f := range files {
		w, err := zw.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
