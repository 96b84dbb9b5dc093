package cli

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// invoice is the data of one example invoice, for examples/invoice/template.docx.
type invoice struct {
	Customer customer
	Invoice  invoiceDetails
}

// input is the data for the template.
func (i *invoice) input() map[string]any {
	return map[string]any{"customer": i.Customer, "invoice": i.Invoice}
}

type customer struct {
	Name    string  `json:"name"`
	Contact string  `json:"contact,omitempty"`
	Address address `json:"address"`
}

type address struct {
	Street   string `json:"street"`
	Postcode string `json:"postcode"`
	City     string `json:"city"`
	Country  string `json:"country"`
}

type invoiceDetails struct {
	Number      string        `json:"number"`
	Date        string        `json:"date"`
	Due         string        `json:"due"`
	Reference   string        `json:"reference,omitempty"`
	Currency    string        `json:"currency"`
	VATRate     int           `json:"vatRate"` // percent
	Items       []invoiceItem `json:"items"`
	Paid        bool          `json:"paid"`
	PaidOn      string        `json:"paidOn,omitempty"`
	PaymentCode string        `json:"paymentCode"`
	Message     string        `json:"message,omitempty"`
}

type invoiceItem struct {
	Description string `json:"description"`
	Note        string `json:"note,omitempty"`
	Quantity    int    `json:"quantity"`
	Price       int    `json:"price"`
	Amount      int    `json:"amount"`
}

// product is an item on the invoices, with a price in whole euros.
type product struct {
	description, note string
	price, most       int
}

// exampleWords are the words of the invoices. All of it is fictitious.
type exampleWords struct {
	first, last, trades, places, streets, messages []string
	cities                                         [][2]string // name, start of the Eircode
	products                                       []product
}

func newExampleWords() *exampleWords {
	return &exampleWords{
		first: strings.Fields("Amara Benedict Catrin Daniel Elif Fergus Grace Hamish Imogen Joaquin Kezia Leonard Maya Niamh " +
			"Oluwaseun Priya Rhys Sofia Tomasz Yasmin"),
		last: strings.Fields("Okafor Whitlock Prosser Brennan Kaya Sinclair Ashworth Macrae Lindqvist Ferreira Thornton Adeyemi " +
			"Patel Gallagher Nowak Bellamy Sørensen Cartwright"),
		trades: []string{"Public Library", "Veterinary Practice", "Bakery", "Primary School", "Architects", "Rowing Club",
			"Dental Surgery", "Bookshop", "Music School", "Brewery", "Theatre", "Climbing Hall"},
		places: strings.Fields("Riverside Northgate Harbour Oakfield Kestrel Millbrook Lantern Fairway Stonebridge Heron Priory Meadowbank"),
		streets: []string{"Quay Street", "Castle Terrace", "Tannery Yard", "Chapel Lane", "Station Road", "Orchard Way", "Mill Hill",
			"Bishop’s Walk"},
		messages: []string{"", "Thank you for a lovely project.", "The oak will darken a little over its first summer.",
			"We look forward to working with you again.", ""},
		cities: [][2]string{{"Dublin", "D08"}, {"Cork", "T12"}, {"Galway", "H91"}, {"Limerick", "V94"}, {"Waterford", "X91"},
			{"Kilkenny", "R95"}, {"Sligo", "F91"}, {"Athlone", "N37"}},
		products: []product{
			{"Reading table, solid oak", "180 × 90 cm, oiled, with four brass power sockets", 645, 8},
			{"Chair, stackable", "Moss green felt seat", 115, 40},
			{"Shelving, per running meter", "", 95, 60},
			{"Reception desk, birch", "Made to measure, with a section at wheelchair height", 2350, 1},
			{"Desk lamp", "Warm white, dimmable", 75, 30},
			{"Acoustic panel", "Recycled wool, 120 × 60 cm", 85, 24},
			{"Coat stand", "", 140, 4},
			{"Notice board, cork", "", 60, 6},
			{"Display case", "Laminated glass, lockable", 780, 3},
			{"Bench, ash", "Two meters, for indoor use", 420, 6},
			{"Delivery and fitting", "Two fitters, one day, outside opening hours", 775, 1},
		},
	}
}

// exampleInvoices returns the data of n invoices: always the same, and all different.
func exampleInvoices(n int) []invoice {
	words := newExampleWords()
	random := rand.New(rand.NewPCG(1, 2))
	day := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	invoices := make([]invoice, n)
	for i := range invoices {
		day = day.AddDate(0, 0, random.IntN(5))
		invoices[i] = invoice{
			Customer: words.customer(random),
			Invoice:  words.details(random, i+1, day),
		}
	}
	return invoices
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func (w *exampleWords) customer(random *rand.Rand) customer {
	city := pick(random, w.cities)
	c := customer{
		Name: pick(random, w.places) + " " + pick(random, w.trades),
		Address: address{
			Street:   fmt.Sprintf("%d %s", 1+random.IntN(120), pick(random, w.streets)),
			Postcode: fmt.Sprintf("%s %c%d%c%d", city[1], 'A'+rune(random.IntN(26)), random.IntN(10), 'A'+rune(random.IntN(26)), random.IntN(10)),
			City:     city[0],
			Country:  "Ireland",
		},
	}
	if random.IntN(4) > 0 {
		c.Contact = pick(random, w.first) + " " + pick(random, w.last)
	}
	return c
}

func (w *exampleWords) details(random *rand.Rand, number int, day time.Time) invoiceDetails {
	const paymentDays, vatRate = 30, 23
	d := invoiceDetails{
		Number:   fmt.Sprintf("%d-%04d", day.Year(), number),
		Date:     day.Format(time.DateOnly),
		Due:      day.AddDate(0, 0, paymentDays).Format(time.DateOnly),
		Currency: "EUR",
		VATRate:  vatRate,
		Message:  pick(random, w.messages),
	}
	if random.IntN(3) > 0 {
		d.Reference = fmt.Sprintf("PO %d", 40000+random.IntN(30000))
	}
	if d.Paid = random.IntN(3) == 0; d.Paid {
		d.PaidOn = day.AddDate(0, 0, random.IntN(28)).Format(time.DateOnly)
	}
	chosen := random.Perm(len(w.products))[:2+random.IntN(6)]
	slices.Sort(chosen)
	net := 0
	for _, at := range chosen {
		p := w.products[at]
		item := invoiceItem{Description: p.description, Note: p.note, Quantity: 1 + random.IntN(p.most), Price: p.price}
		item.Amount = item.Quantity * item.Price
		d.Items = append(d.Items, item)
		net += item.Amount
	}
	d.PaymentCode = paymentCode(d.Number, net*(100+vatRate))
	return d
}

// paymentCode returns the text of a QR code for a SEPA credit transfer, which banking apps read (European Payments Council, EPC069-12).
func paymentCode(invoiceNumber string, cents int) string {
	return fmt.Sprintf("BCD\n002\n1\nSCT\nAIBKIE2D\nAlder & Finch Ltd\nIE29AIBK93115212345678\nEUR%d.%02d\n\n\nInvoice %s", cents/100,
		cents%100, invoiceNumber)
}
