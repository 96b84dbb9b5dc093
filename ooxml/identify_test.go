package ooxml_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"platen/ooxml"
)

// compound is a compound file whose directory, in its last sector, has some names.
func compound(names ...string) []byte {
	file := make([]byte, 4*512)
	copy(file, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	binary.LittleEndian.PutUint16(file[30:], 9)
	binary.LittleEndian.PutUint32(file[48:], 2)
	for i, name := range names {
		for j, unit := range utf16.Encode([]rune(name)) {
			binary.LittleEndian.PutUint16(file[3*512+128*i+2*j:], unit)
		}
	}
	return file
}

func zipOf(t *testing.T, names ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, name := range names {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestIdentify(t *testing.T) {
	const types = "[Content_Types].xml"
	for _, tt := range []struct {
		name, want string // part of the error; empty for none
		file       []byte
	}{
		{"a Word document", "", zipOf(t, types, "word/document.xml")},
		{"a Word document with a main part of another name", "", zipOf(t, types, "main.xml")},
		{"a Word document that embeds a workbook", "", zipOf(t, types, "word/document.xml", "word/embeddings/book.xlsx", "xl/x.xml")},
		{"nothing", "the file is empty", nil},
		{"a PDF", "a PDF", []byte("%PDF-1.7\n")},
		{"text", "a .docx is a zip file", []byte("Dear {{name}}")},
		{"rich text", "RTF", []byte(`{\rtf1 x}`)},
		{"a web page", "HTML", []byte("\xEF\xBB\xBF\r\n<!DOCTYPE HTML><html>")},
		{"an image", "PNG", []byte("\x89PNG\r\n\x1A\n")},
		{"an old document", "an old .doc (Word 97–2003): save it as .docx", compound("Root Entry", "WordDocument")},
		{"a document with a password", "protected with a password", compound("Root Entry", "EncryptionInfo", "EncryptedPackage")},
		{"an old workbook", "an old Excel workbook", compound("Root Entry", "Workbook")},
		{"a compound file that ends early", "an old Office file", []byte("\xD0\xCF\x11\xE0")},
		{"a workbook", "an Excel workbook", zipOf(t, types, "xl/workbook.xml")},
		{"a presentation", "a PowerPoint presentation", zipOf(t, "ppt/presentation.xml", types)},
		{"an OpenDocument text", "an OpenDocument file", zipOf(t, "mimetype", "content.xml")},
		{"another archive", "a ZIP archive", zipOf(t, "letter.docx")},
		{"an archive that ends early", "damaged", zipOf(t, types, "word/document.xml")[:60]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := ooxml.Identify(bytes.NewReader(tt.file), int64(len(tt.file)), ooxml.Limits{})
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			if known, ok := errors.AsType[*ooxml.Error](err); !ok || !strings.Contains(known.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
	t.Run("a directory that is too large", func(t *testing.T) {
		file := zipOf(t, types, "word/document.xml", "a", "b", "c")
		if err := ooxml.Identify(bytes.NewReader(file), int64(len(file)), ooxml.Limits{Entries: 4}); err == nil {
			t.Error("no error")
		}
	})
}
