package ooxml

import (
	"archive/zip"
	"compress/flate"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

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
	if cause := causeText(e.Err); cause != "" {
		s += " (" + cause + ")"
	}
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// causeText returns the text of a cause for people, in the words of files rather than of Go's packages; "" if it says nothing more.
func causeText(err error) string {
	syntax, isSyntax := errors.AsType[*xml.SyntaxError](err)
	_, isCompressed := errors.AsType[flate.CorruptInputError](err)
	switch {
	case err == nil, errors.Is(err, zip.ErrFormat):
		return ""
	case isSyntax:
		return fmt.Sprintf("line %d: %s", syntax.Line, strings.Replace(syntax.Msg, "unexpected EOF", "it ends too early", 1))
	case isCompressed:
		return "its compressed data is not valid"
	case errors.Is(err, zip.ErrChecksum):
		return "its checksum is wrong"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	}
	return err.Error()
}

const (
	remedySaveAgain = "open it in Word and save it again as .docx"
	remedySmaller   = "use a smaller document, or ask the operator to raise the limit"
)
