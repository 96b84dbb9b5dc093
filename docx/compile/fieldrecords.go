package compile

import (
	"fmt"
	"strconv"

	"platen/docx/lang"
	"platen/docx/program"
)

// A template with the field NEXT shows several records, the items of a list in the input. Its merge fields are those of the first one up to
// the first NEXT, and so on. Only the fields of the first record must have values: there may be fewer records than fields.

// records is the key of the list of records.
const records = "records"

// recordList is the path of the list of records.
var recordList, _ = lang.ParseTag("{{" + records + "}}")

// inRecord returns the path of a merge field in the current record.
func (c *wordFields) inRecord(path string) string {
	if !c.hasNext {
		return path
	}
	c.shown = max(c.shown, c.record+1)
	path = fmt.Sprintf("%s[%d].%s", records, c.record, path)
	return c.ifRecord(path)
}

// ifRecord returns an expression that is empty if the current record does not exist.
func (c *wordFields) ifRecord(expr string) string {
	if c.record == 0 {
		return expr
	}
	return fmt.Sprintf(`$if(%s[%d] isPresent, %s, "")`, records, c.record, expr)
}

// recordNumber returns the expression for the words of a field MERGEREC or MERGESEQ.
func (c *wordFields) recordNumber(words []codeWord) (expr, problem string) {
	if !c.hasNext {
		return "", "Platen numbers records only in templates with the field NEXT; write a tag instead"
	}
	_, switches := cutSwitches(words)
	return formatted(c.ifRecord(strconv.Itoa(c.record+1)), switches)
}

// recordsStep returns the step that checks the list of records.
func (c *wordFields) recordsStep() *program.Records {
	step := &program.Records{List: recordList, Shown: c.shown}
	for i := range c.found {
		if tag := c.found[i].tag; tag != nil {
			step.At = tag
			break
		}
	}
	return step
}
