package lang_test

import (
	"fmt"

	"platen/docx/lang"
)

// Example fills the tags of a line of text.
func Example() {
	const line = "Dear {{customer.name}}, {{quantity * price}} EUR are due. {{customer.phone}}"
	data, err := lang.Decode([]byte(`{"customer": {"name": "Ada", "mail": "a@b.c"}, "quantity": 3, "price": 1.10}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	spans, _ := lang.Find(line)
	var tags []*lang.Tag
	var use lang.Use
	for _, span := range spans {
		tag, err := lang.ParseTag(line[span.Start:span.End])
		if err != nil {
			fmt.Println(err)
			return
		}
		use.Add(tag, new(lang.Scope))
		tags = append(tags, tag)
	}

	env := lang.NewEnv(data, lang.Options{Use: &use})
	for _, tag := range tags {
		s, ok, err := env.Print(tag)
		fmt.Printf("%q %v %v\n", s, ok, err)
	}
	fmt.Println(env.Errors())
	fmt.Println(env.Warnings())
	// Output:
	// "Ada" true <nil>
	// "3.3" true <nil>
	// "" false <nil>
	// [The tag 'customer.phone' was not provided in the input data.]
	// [The tag 'customer.mail' was provided but not used in the template.]
}
