package ooxml

// Code names a kind of problem. It is stable: programs may compare it.
type Code string

// The kinds of problems.
const (
	CodeEmpty     Code = "empty_file"
	CodeEncrypted Code = "encrypted_or_old_format"
	CodeNotZip    Code = "not_a_zip"
	CodeTooLarge  Code = "too_large"
	CodeBomb      Code = "compression_bomb"
	CodeTooMany   Code = "too_many_parts"
	CodeBadName   Code = "bad_part_name"
	CodeDuplicate Code = "duplicate_part"
	CodeDamaged   Code = "damaged"
	CodeDoctype   Code = "doctype_refused"
	CodeBadXML    Code = "bad_xml"
	CodeNoMain    Code = "no_main_part"
	CodeNotWord   Code = "not_word"
)

// Error is everything this package reports about a file it was given.
type Error struct {
	Code    Code
	Part    string // the part or zip entry it is about; "" for the file as a whole
	Message string // the mistake, for people
	Remedy  string // what that person can do
	Err     error  // the cause underneath, or nil
}

func (e *Error) Error() string {
	s := e.Message
	if e.Part != "" {
		s = e.Part + ": " + s
	}
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

const (
	remedySaveAgain = "open it in Word and save it again as .docx"
	remedySmaller   = "use a smaller document, or ask the operator to raise the limit"
)
