package ooxml

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
)

// Identify checks whether a file may be a Word document, using only its first bytes and its directory. Open checks the rest. The error is
// an *Error with the actual type of the file.
func Identify(r io.ReaderAt, size int64, lim Limits) error {
	lim = lim.withDefaults()
	if err := checkSignature(r, size, lim); err != nil {
		return err
	}
	zr, err := openZip(r, size, lim)
	if err != nil {
		return err
	}
	return identifyEntries(zr.File)
}

// The directories that only one kind of Office document has, and entries that no Office document has.
var otherDocuments = []struct{ entry, kind string }{
	{"xl/", "an Excel workbook"}, {"ppt/", "a PowerPoint presentation"}, {"visio/", "a Visio drawing"},
	{"mimetype", "an OpenDocument file or an e-book"},
	{"Index/Document.iwa", "a Pages document"},
}

func identifyEntries(files []*zip.File) error {
	typed, word, kind := false, false, "a ZIP archive"
	for _, f := range files {
		name := "/" + strings.TrimPrefix(f.Name, "/")
		typed = typed || strings.EqualFold(name, ContentTypesName)
		word = word || strings.HasPrefix(strings.ToLower(name), "/word/")
		for _, other := range otherDocuments {
			if strings.HasPrefix(name, "/"+other.entry) {
				kind = other.kind
			}
		}
	}
	if typed && (word || kind == "a ZIP archive") { // the main part of a Word document may have any name
		return nil
	}
	return notWord(kind)
}

func notWord(kind string) error {
	return &Error{Code: CodeNotWord, Message: "the file is not a Word document but " + kind, Remedy: "use a .docx file"}
}

// signatures are first bytes of files that people take for documents.
var signatures = []struct{ begin, kind string }{
	{"%PDF-", "a PDF"}, {"{\\rtf", "a rich text file (RTF)"}, {"<?xml", "an XML file"}, {"<!doctype html", "a web page (HTML)"},
	{"<html", "a web page (HTML)"},
	{"\x89PNG", "an image (PNG)"}, {"\xFF\xD8\xFF", "an image (JPEG)"}, {"GIF8", "an image (GIF)"}, {"\x1F\x8B", "a gzip archive"},
	{"7z\xBC\xAF", "a 7-Zip archive"}, {"Rar!", "a RAR archive"},
}

// strangerError returns the error for a file that is not a zip file, with its type.
func strangerError(r io.ReaderAt) error {
	head := make([]byte, 64)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read package: %w", err)
	}
	begin := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\xEF\xBB\xBF")), " \t\r\n")))
	for _, known := range signatures {
		if strings.HasPrefix(begin, strings.ToLower(known.begin)) {
			return &Error{Code: CodeNotZip, Message: "the file is not a Word document but " + known.kind, Remedy: "use a .docx file"}
		}
	}
	return &Error{Code: CodeNotZip, Message: "the file is not a Word document: a .docx is a zip file", Remedy: remedySaveAgain}
}

// compoundSignature begins a compound file: a document of Word 97, or an encrypted document (MS-CFB, MS-OFFCRYPTO).
const compoundSignature = "\xD0\xCF\x11\xE0"

// compoundError returns the error for one of these, depending on the names at the start of its directory.
func compoundError(r io.ReaderAt) error {
	const headerBytes, entries = 512, 16 << 10
	header := make([]byte, headerBytes)
	if _, err := r.ReadAt(header, 0); err == nil {
		sector := int64(1) << min(binary.LittleEndian.Uint16(header[30:]), 12)
		directory := make([]byte, entries)
		n, err := r.ReadAt(directory, (int64(binary.LittleEndian.Uint32(header[48:]))+1)*sector)
		if err != nil && err != io.EOF {
			return fmt.Errorf("read package: %w", err)
		}
		switch {
		case bytes.Contains(directory[:n], wide("EncryptedPackage")):
			return &Error{Code: CodeEncrypted, Message: "the file is protected with a password",
				Remedy: "remove the password in Word and save it again"}
		case bytes.Contains(directory[:n], wide("WordDocument")):
			return &Error{Code: CodeEncrypted, Message: "the file is an old .doc (Word 97–2003)", Remedy: "save it as .docx"}
		case bytes.Contains(directory[:n], wide("Workbook")):
			return &Error{Code: CodeNotWord, Message: "the file is not a Word document but an old Excel workbook", Remedy: "use a .docx file"}
		}
	}
	return &Error{Code: CodeEncrypted, Message: "the file is an old Office file, or protected with a password",
		Remedy: "save it as .docx without a password"}
}

// wide is a name as a directory of a compound file has it.
func wide(name string) []byte {
	var text []byte
	for _, unit := range utf16.Encode([]rune(name)) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	return text
}
