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

// input is what the template reads.
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
	Number    string        `json:"number"`
	Date      string        `json:"date"`
	Due       string        `json:"due"`
	Reference string        `json:"reference,omitempty"`
	Currency  string        `json:"currency"`
	VATRate   int           `json:"vatRate"`
	Items     []invoiceItem `json:"items"`
	Paid      bool          `json:"paid"`
	PaidOn    string        `json:"paidOn,omitempty"`
	Message   string        `json:"message,omitempty"`
}

type invoiceItem struct {
	Description string `json:"description"`
	Note        string `json:"note,omitempty"`
	Quantity    int    `json:"quantity"`
	Price       int    `json:"price"`
	Amount      int    `json:"amount"`
}

// product is something that the invoices sell, at a price in whole pounds of which 20 % are whole pounds too.
type product struct {
	description, note string
	price, most       int
}

// exampleWords is what the invoices are made of. All of it is invented.
type exampleWords struct {
	first, last, trades, places, streets, messages []string
	cities                                         [][2]string // name, start of the postcode
	products                                       []product
}

func newExampleWords() *exampleWords {
	return &exampleWords{
		first:    strings.Fields("Amara Benedict Catrin Daniel Elif Fergus Grace Hamish Imogen Joaquin Kezia Leonard Maya Niamh Oluwaseun Priya Rhys Sofia Tomasz Yasmin"),
		last:     strings.Fields("Okafor Whitlock Prosser Brennan Kaya Sinclair Ashworth Macrae Lindqvist Ferreira Thornton Adeyemi Patel Gallagher Nowak Bellamy Sørensen Cartwright"),
		trades:   []string{"Public Library", "Veterinary Practice", "Bakery", "Primary School", "Architects", "Rowing Club", "Dental Surgery", "Bookshop", "Music School", "Brewery", "Theatre", "Climbing Hall"},
		places:   strings.Fields("Riverside Northgate Harbour Oakfield Kestrel Millbrook Lantern Fairway Stonebridge Heron Priory Meadowbank"),
		streets:  []string{"Quay Street", "Castle Terrace", "Tannery Yard", "Chapel Lane", "Station Road", "Orchard Way", "Mill Hill", "Bishop’s Walk"},
		messages: []string{"", "Thank you for a lovely project.", "The oak will darken a little over its first summer.", "We look forward to working with you again.", ""},
		cities:   [][2]string{{"Cardiff", "CF10"}, {"Edinburgh", "EH1"}, {"Leeds", "LS10"}, {"Bristol", "BS1"}, {"Norwich", "NR2"}, {"Aberdeen", "AB11"}, {"Huddersfield", "HD3"}, {"Belfast", "BT7"}},
		products: []product{
			{"Reading table, solid oak", "180 × 90 cm, oiled, with four brass power sockets", 645, 8},
			{"Chair, stackable", "Moss green felt seat", 115, 40},
			{"Shelving, per running metre", "", 95, 60},
			{"Reception desk, birch", "Made to measure, with a lower part for visitors in wheelchairs", 2350, 1},
			{"Desk lamp", "Warm white, dimmable", 75, 30},
			{"Acoustic panel", "Recycled wool, 120 × 60 cm", 85, 24},
			{"Coat stand", "", 140, 4},
			{"Notice board, cork", "", 60, 6},
			{"Display case", "Laminated glass, lockable", 780, 3},
			{"Bench, ash", "Two metres, for indoors", 420, 6},
			{"Delivery and fitting", "Two fitters, one day, outside opening hours", 775, 1},
		},
	}
}

// exampleInvoices makes the data of n invoices: each time the same, all different.
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
			Postcode: fmt.Sprintf("%s %d%c%c", city[1], 1+random.IntN(9), 'A'+rune(random.IntN(26)), 'A'+rune(random.IntN(26))),
			City:     city[0],
			Country:  "United Kingdom",
		},
	}
	if random.IntN(4) > 0 {
		c.Contact = pick(random, w.first) + " " + pick(random, w.last)
	}
	return c
}

func (w *exampleWords) details(random *rand.Rand, number int, day time.Time) invoiceDetails {
	const dateForm = "2 January 2006"
	d := invoiceDetails{
		Number:   fmt.Sprintf("%d-%04d", day.Year(), number),
		Date:     day.Format(dateForm),
		Due:      day.AddDate(0, 0, 30).Format(dateForm),
		Currency: "GBP",
		VATRate:  20,
		Message:  pick(random, w.messages),
	}
	if random.IntN(3) > 0 {
		d.Reference = fmt.Sprintf("PO %d", 40000+random.IntN(30000))
	}
	if d.Paid = random.IntN(3) == 0; d.Paid {
		d.PaidOn = day.AddDate(0, 0, random.IntN(28)).Format(dateForm)
	}
	chosen := random.Perm(len(w.products))[:2+random.IntN(6)]
	slices.Sort(chosen)
	for _, at := range chosen {
		p := w.products[at]
		item := invoiceItem{Description: p.description, Note: p.note, Quantity: 1 + random.IntN(p.most), Price: p.price}
		item.Amount = item.Quantity * item.Price
		d.Items = append(d.Items, item)
	}
	return d
}
