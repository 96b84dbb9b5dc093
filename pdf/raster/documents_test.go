package raster_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// document returns a PDF whose pages have these entries and contents, and each of the objects as number 3 and up.
func document(entries string, contents []string, objects ...string) []byte {
	var kids strings.Builder
	first := 3 + len(objects)
	for i := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", first+2*i)
	}
	all := append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d %s >>", kids.String(), len(contents), entries),
	}, objects...)
	for i, content := range contents {
		all = append(all, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R >>", first+2*i+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(all))
	for i, object := range all {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(all)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(all)+1, start)
	return b.Bytes()
}

// bar returns the content of page n: a black bar at n/10 of the height from the top.
func bar(n, height int) string {
	return fmt.Sprintf("0 g 0 %d 10000 %d re f", height-height*(n+1)/10, height/10)
}

// letters returns a PDF with pages of a size in points.
func letters(width, height, count int) []byte {
	var contents []string
	for n := range count {
		contents = append(contents, bar(n+1, height))
	}
	return document(fmt.Sprintf("/MediaBox [0 0 %d %d]", width, height), contents)
}

// noise returns a PDF with a page whose image cannot be compressed.
func noise() []byte {
	const side = 400
	pixels := make([]byte, 3*side*side)
	random := rand.NewChaCha8([32]byte{})
	random.Read(pixels) //nolint:errcheck // it always succeeds
	image := fmt.Sprintf("<< /Type /XObject /Subtype /Image /Width %[1]d /Height %[1]d /ColorSpace /DeviceRGB /BitsPerComponent 8 "+
		"/Length %[2]d >>\nstream\n%[3]s\nendstream", side, len(pixels), pixels)
	return document(fmt.Sprintf("/MediaBox [0 0 %[1]d %[1]d] /Resources << /XObject << /I 3 0 R >> >>", side),
		[]string{fmt.Sprintf("%[1]d 0 0 %[1]d 0 0 cm /I Do", side)}, image)
}

// bombs returns a PDF with a page of forms that draw each other: ten times each, twelve levels deep.
func bombs() []byte {
	const depth = 12
	var forms []string
	for i := range depth {
		content := strings.Repeat(fmt.Sprintf("/F%d Do ", i+1), 10)
		if i == depth-1 {
			content = "0 0 9 9 re f"
		}
		forms = append(forms, fmt.Sprintf("<< /Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources << /XObject << /F%d %d 0 R >> >> "+
			"/Length %d >>\nstream\n%s\nendstream", i+1, 3+i+1, len(content), content))
	}
	return document("/MediaBox [0 0 99 99] /Resources << /XObject << /F0 3 0 R >> >>", []string{"/F0 Do"}, forms...)
}

// hugeJBIG2 returns a PDF with a page whose JBIG2 image claims to have the largest possible size.
func hugeJBIG2() []byte {
	const data = "\x00\x00\x00\x00\x30\x00\x01\x00\x00\x00\x13" + // segment 0: page information, 19 bytes
		"\x7f\xff\xff\xff\x7f\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	image := fmt.Sprintf("<< /Type /XObject /Subtype /Image /Width 65535 /Height 65535 /ColorSpace /DeviceGray /BitsPerComponent 1 "+
		"/Filter /JBIG2Decode /Length %d >>\nstream\n%s\nendstream", len(data), data)
	return document("/MediaBox [0 0 99 99] /Resources << /XObject << /I 3 0 R >> >>", []string{"99 0 0 99 0 0 cm /I Do"}, image)
}
