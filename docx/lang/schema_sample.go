package lang

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

const (
	// sampleItems is the number of items in a list of a sample, unless it needs more.
	sampleItems = 2
	// maxSampleItems is the largest total number of items in nested lists of a sample.
	maxSampleItems = 4096
)

// samplePicture is a PNG of one gray pixel.
const samplePicture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

// Sample returns input that satisfies the schema, as indented JSON: all keys, required or not, with values that suit their names, and lists
// of two items or as many as necessary. The same schema always has the same sample.
func (s *Schema) Sample() ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, appendJSON(nil, s.sample(sampleOf{room: maxSampleItems})), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// sampleOf describes the value that a sample is for: a key of an object that is called parent. The variant is different for each
// item of a list, and room is the number of items that still fit.
type sampleOf struct {
	parent, key   string
	variant, room int
}

func (s *Schema) sample(of sampleOf) Value {
	switch s.kind {
	case anObject:
		var keys []string
		var values []Value
		for _, p := range s.properties {
			keys, values = append(keys, p.name), append(values, p.sample(sampleOf{of.key, p.name, of.variant, of.room}))
		}
		return NewObject(keys, values)
	case aListOf:
		items := make([]any, max(min(max(s.atLeast, sampleItems), of.room), 1))
		for i := range items {
			items[i] = s.items.sample(sampleOf{of.parent, singular(of.key), i, of.room / len(items)})
		}
		return items
	case anImage:
		return samplePicture
	}
	if len(s.entries) > 0 {
		return s.entries[of.variant%len(s.entries)]
	}
	if len(s.examples) > 0 {
		return s.fitting(s.examples[of.variant%len(s.examples)])
	}
	return s.single(of.parent, of.key, of.variant)
}

// fitting returns an example as a value of the schema's kind.
func (s *Schema) fitting(example Value) Value {
	switch example.(type) {
	case json.Number:
		if s.kind != aString && s.kind != aFlag && s.kind != aDay && s.kind != aMoment {
			return example
		}
	case bool:
		if s.kind == aFlag || s.kind == aSingle || s.kind == anything {
			return example
		}
	case string:
		if s.kind == aString || s.kind == aSingle || s.kind == anything {
			return example
		}
	case []any, *Object:
		if s.kind == anything {
			return example
		}
	}
	return s.single("", "", 0)
}

// single returns a single value for a key.
func (s *Schema) single(parent, key string, variant int) Value {
	words := keyWords(key)
	if len(words) == 1 && words[0] == "name" { // whose name?
		if words = append(keyWords(parent), words...); len(words) == 1 {
			words = []string{"person"}
		}
	}
	switch s.kind {
	case aDecimal:
		return json.Number(pick(numberSamples, words, [sampleItems]string{"12", "7"})[variant%sampleItems])
	case aFlag:
		return variant%sampleItems == 0
	case aDay:
		return pick(daySamples, words, [sampleItems]string{"2026-11-20", "2026-11-27"})[variant%sampleItems]
	case aMoment:
		return [sampleItems]string{"2026-11-20T09:30:00Z", "2026-11-27T14:00:00Z"}[variant%sampleItems]
	case anything:
		if !slices.ContainsFunc(textSamples, func(s nameSample) bool { return s.suits(words) }) {
			return variant%sampleItems == 0
		}
	}
	return pick(textSamples, words, [sampleItems]string{sentence(words), sentence(words) + " 2"})[variant%sampleItems]
}

// nameSample holds values for keys with one of some words in their names; two words joined by a blank must follow each other.
type nameSample struct {
	words  string // separated by commas
	values [sampleItems]string
}

func (n nameSample) suits(words []string) bool {
	name := " " + strings.Join(words, " ") + " "
	for word := range strings.SplitSeq(n.words, ",") {
		if strings.Contains(name, " "+word+" ") {
			return true
		}
	}
	return false
}

// pick returns the values of the first entry that suits, or other.
func pick(table []nameSample, words []string, other [sampleItems]string) [sampleItems]string {
	for _, entry := range table {
		if entry.suits(words) {
			return entry.values
		}
	}
	return other
}

var textSamples = []nameSample{
	{"email,mail,e mail", [sampleItems]string{"ada.lovelace@example.com", "charles.babbage@example.com"}},
	{"phone,tel,telephone,mobile,fax", [sampleItems]string{"+44 20 7946 0018", "+44 20 7946 0021"}},
	{"url,website,web,link,homepage", [sampleItems]string{"https://example.com/", "https://example.org/"}},
	{"date,due,deadline,birthday,born,expires,until,issued,start,begin,end,by", [sampleItems]string{"2026-11-20", "2026-11-27"}},
	{"time,timestamp,created at,updated at", [sampleItems]string{"2026-11-20T09:30:00Z", "2026-11-27T14:00:00Z"}},
	{"first name,given name,forename", [sampleItems]string{"Ada", "Charles"}},
	{"last name,family name,surname", [sampleItems]string{"Lovelace", "Babbage"}},
	{"company,organisation,organization,firm,employer,supplier,vendor", [sampleItems]string{"Northwind Traders Ltd", "Example GmbH"}},
	{"user name,username,login", [sampleItems]string{"ada", "charles"}},
	{"customer name,client name,candidate name,sender name,recipient name,employee name,contact name,person name,user name,author " +
		"name,full name,customer,client,candidate,sender,recipient,employee,contact,person,author,manager,signatory",
		[sampleItems]string{"Ada Lovelace", "Charles Babbage"}},
	{"project name,project", [sampleItems]string{"Analytical Engine", "Difference Engine"}},
	{"item name,product name,article name,product,article", [sampleItems]string{"Fountain pen", "Notebook"}},
	{"salutation", [sampleItems]string{"Ms Lovelace", "Mr Babbage"}},
	{"street,address,address line,line 1", [sampleItems]string{"12 St James Square", "1 Dorset Street"}},
	{"zip,postcode,postal code,zipcode", [sampleItems]string{"SW1Y 4JH", "W1U 4EG"}},
	{"city,town,place,location", [sampleItems]string{"London", "Edinburgh"}},
	{"country", [sampleItems]string{"United Kingdom", "Germany"}},
	{"iban", [sampleItems]string{"GB29 NWBK 6016 1331 9268 19", "DE89 3704 0044 0532 0130 00"}},
	{"bic,swift", [sampleItems]string{"NWBKGB2L", "COBADEFFXXX"}},
	{"currency", [sampleItems]string{"EUR", "GBP"}},
	{"sku,article,product code", [sampleItems]string{"SKU-1001", "SKU-1002"}},
	{"unit", [sampleItems]string{"pcs", "h"}},
	{"color,colour", [sampleItems]string{"blue", "red"}},
	{"title,subject,heading", [sampleItems]string{"On the economy of machinery", "A note on the engine"}},
	{"description,text,body,remark,remarks,note,notes,comment,message,detail,details", [sampleItems]string{"First line of text",
		"Second line of text"}},
	{"status,state", [sampleItems]string{"open", "paid"}},
	{"salary,wage,budget", [sampleItems]string{"4200.00", "5100.00"}},
	{"price,amount,total,sum,cost,net,gross,subtotal,fee,balance", [sampleItems]string{"120.50", "49.90"}},
	{"quantity,qty,count,pieces,hours,days,weeks,months,years", [sampleItems]string{"3", "1"}},
	{"percent,rate,vat,tax,discount", [sampleItems]string{"19%", "7%"}},
	{"year", [sampleItems]string{"2026", "2027"}},
	{"pos,position,nr,row", [sampleItems]string{"1", "2"}},
	{"number,no,id,reference,ref,code", [sampleItems]string{"A-1001", "A-1002"}},
}

var numberSamples = []nameSample{
	{"percent,rate,vat,tax,discount", [sampleItems]string{"0.19", "0.07"}},
	{"quantity,qty,count,pieces,hours,days,weeks,months,years", [sampleItems]string{"3", "1"}},
	{"salary,wage,budget", [sampleItems]string{"4200", "5100"}},
	{"price,amount,total,sum,cost,net,gross,subtotal,fee,balance", [sampleItems]string{"120.50", "49.90"}},
	{"year", [sampleItems]string{"2026", "2027"}},
	{"pos,position,nr,number,no,id", [sampleItems]string{"1", "2"}},
	{"age", [sampleItems]string{"36", "42"}},
}

var daySamples = []nameSample{
	{"due,deadline,end,until,expires,expiry,reply", [sampleItems]string{"2026-12-15", "2026-12-31"}},
	{"birth,birthday,born", [sampleItems]string{"1990-12-10", "1985-12-26"}},
}

// keyWords returns the words of a key in small letters: firstName, first_name and first-name have two.
func keyWords(key string) []string {
	var b strings.Builder
	var last rune
	for _, r := range key {
		if unicode.IsUpper(r) && unicode.IsLower(last) || unicode.IsDigit(r) != unicode.IsDigit(last) && last != 0 {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.Fields(b.String())
}

// singular returns the name of an item of a list.
func singular(key string) string {
	switch {
	case strings.HasSuffix(key, "ies"):
		return strings.TrimSuffix(key, "ies") + "y"
	case strings.HasSuffix(key, "ss"):
		return key
	}
	return strings.TrimSuffix(key, "s")
}

// sentence returns words as a text.
func sentence(words []string) string {
	s := []rune(strings.Join(words, " "))
	if len(s) == 0 {
		return "Text"
	}
	s[0] = unicode.ToUpper(s[0])
	return string(s)
}
