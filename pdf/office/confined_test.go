package office_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
)

// The sandbox stops a document that has taken over LibreOffice.
func TestConfined(t *testing.T) {
	engine := newOffice(t, office.Config{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("TOP SECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for order, want := range map[string]string{
		"dial " + listener.Addr().String(): "forbidden",
		"dial [::1]:53":                    "forbidden",
		"read " + secret:                   "forbidden",
		"read /etc/passwd":                 "forbidden",
		fmt.Sprintf("read /proc/%d/environ", os.Getppid()):        "forbidden",
		fmt.Sprintf("read /proc/%d/environ", os.Getpid()):         "forbidden",
		"read /usr/share/common-licenses/Apache-2.0":              "allowed",
		"list " + filepath.Dir(secret):                            "forbidden",
		"write " + filepath.Join(filepath.Dir(secret), "new.txt"): "forbidden",
		"write " + filepath.Join(engine.Folder(), "new.txt"):      "forbidden",
		"write /usr/new.txt":                                      "forbidden",
		"execute /bin/true":                                       "forbidden",
		"execute " + self:                                         "forbidden",
		fmt.Sprintf("signal %d", os.Getpid()):                     "forbidden",
	} {
		t.Run(order, func(t *testing.T) {
			_, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous(order)})
			if refused, ok := errors.AsType[*pdf.DocumentError](err); !ok || refused.Reason != want {
				t.Errorf("%v", err)
			}
		})
	}
}

// A worker cannot trick the server into reading another file.
func TestLinkInsteadOfPDF(t *testing.T) {
	engine := newOffice(t, office.Config{})
	if result, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous("link /etc/passwd")}); err == nil &&
		strings.Contains(string(result.PDF), "root:") {
		t.Error("the PDF is a file of the system")
	}
	convertText(t, engine, "somebody")
}

// LibreOffice fetches nothing that a document references by URL or path.
func TestNothingIsFetched(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer server.Close()
	var connections atomic.Int64
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	folder := t.TempDir()
	secret := new(pdftest.Document).Paragraph("TOP SECRET").Bytes()
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "secret.docx"), secret, 0o644),
		os.WriteFile(filepath.Join(folder, "secret.txt"), []byte("TOP SECRET"), 0o644)); err != nil {
		t.Fatal(err)
	}
	document := new(pdftest.Document).Paragraph("Before").
		Link("web", "image", server.URL+"/picture.png").Picture(`r:link="web"`).
		Link("local", "image", "file://"+folder+"/secret.txt").Picture(`r:link="local"`).
		Link("frame", "subDocument", server.URL+"/part.docx").XML(`<w:subDoc r:id="frame"/>`).
		Link("template", "attachedTemplate", server.URL+"/template.dotm").
		XML(field(`INCLUDEPICTURE "` + server.URL + `/other.png" \d`)).
		XML(field(`INCLUDETEXT "` + folder + `/secret.docx"`)).
		XML(field(`INCLUDETEXT "` + folder + `/secret.txt"`)).
		XML(field(`DDEAUTO soffice "` + folder + `/secret.docx" text`)).
		Paragraph("After").Bytes()
	engine := newOffice(t, office.Config{})
	result, err := engine.Convert(t.Context(), pdf.Request{Document: document})
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(t, result.PDF)
	if !strings.Contains(text, "Before") || !strings.Contains(text, "After") || strings.Contains(text, "TOP SECRET") {
		t.Errorf("the document is\n%s", text)
	}
	if requests.Load() > 0 || connections.Load() > 0 {
		t.Errorf("%d requests on %d connections, want none", requests.Load(), connections.Load())
	}
}

func field(code string) string {
	return `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> ` +
		strings.ReplaceAll(code, `"`, "&quot;") +
		` </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>result</w:t></w:r><w:r><w:fldChar ` +
		`w:fldCharType="end"/></w:r></w:p>`
}
