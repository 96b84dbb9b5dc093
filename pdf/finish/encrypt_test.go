package finish

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"platen/pdf"
)

func TestEncryptedOpensWithItsPasswords(t *testing.T) {
	for name, test := range map[string]struct{ user, owner string }{
		"both":      {"open sesame", "change sesame"},
		"user":      {"s3cret", ""},
		"owner":     {"", "change sesame"},
		"non-ASCII": {"Zażółć gęślą jaźń", "密码 пароль"},
		"long":      {strings.Repeat("ü", 60), strings.Repeat("x", 127)},
	} {
		t.Run(name, func(t *testing.T) {
			plain := tagged(t)
			sealed := encrypt(t, plain, Protection{UserPassword: test.user, OwnerPassword: test.owner})
			path := saved(t, sealed)
			for _, password := range []string{test.user, test.owner} {
				if password == "" && password == test.owner {
					continue // no one knows it
				}
				sameContent(t, plain, decrypted(t, path, password))
			}
			// Poppler's programs truncate passwords to 32 bytes.
			if len(test.user) <= 32 {
				if out := tool(t, "pdftotext", "-upw", test.user, path, "-"); !strings.Contains(out, "Ada Byron") {
					t.Errorf("text with the password: %q", out)
				}
			}
			if test.user != "" {
				for _, wrong := range []string{"", "wrong", test.user + "x"} {
					if !refuses(t, "qpdf", "--check", "--password="+wrong, path) || !refuses(t, "pdfinfo", "-upw", wrong, path) {
						t.Errorf("the PDF opens with %q", wrong)
					}
				}
			}
			for _, open := range []string{"LibreOffice", "Our logo", "\xfe\xff\x00W\x00r\x00i\x00t"} {
				if bytes.Contains(sealed, []byte(open)) || bytes.Contains(sealed, hex.AppendEncode(nil, []byte(open))) {
					t.Errorf("%q is readable", open)
				}
			}
		})
	}
}

func encrypt(t testing.TB, pdf []byte, protection Protection) []byte {
	t.Helper()
	sealed, err := Encrypt(pdf, protection)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// decrypted returns an encrypted file, decrypted by qpdf.
func decrypted(t *testing.T, path, password string) []byte {
	t.Helper()
	to := path + ".plain"
	tool(t, "qpdf", "--decrypt", "--password="+password, path, to)
	plain, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// sameContent checks that two PDFs have the same pages, both rendered and as text, and the same bookmarks and
// structure.
func sameContent(t *testing.T, want, got []byte) {
	t.Helper()
	for what, command := range map[string][]string{
		"text":      {"pdftotext", "-layout"},
		"pixels":    {"pdftoppm", "-r", "50"},
		"structure": {"pdfinfo", "-struct-text"},
		"links":     {"pdfinfo", "-dests"},
		"outline":   {"qpdf", "--json", "--json-key=outlines"},
	} {
		a, b := outcome(t, command, want), outcome(t, command, got)
		switch what {
		case "outline":
			a, b = titles(a), titles(b)
		case "structure": // qpdf sorts the attributes
			a, b = sorted(a), sorted(b)
		}
		if a != b {
			t.Errorf("%s differs:\n%.2000s\nwant:\n%.2000s", what, b, a)
		}
	}
}

func outcome(t *testing.T, command []string, pdf []byte) string {
	t.Helper()
	arguments := slices.Concat(command[1:], []string{saved(t, pdf)})
	if command[0] == "pdftotext" {
		arguments = append(arguments, "-")
	}
	return tool(t, command[0], arguments...)
}

func sorted(text string) string { return strings.Join(slices.Sorted(strings.Lines(text)), "") }

// titles returns the lines with the titles of bookmarks and with their target pages.
func titles(json string) string {
	var found []string
	for line := range strings.Lines(json) {
		if strings.Contains(line, `"title"`) || strings.Contains(line, `"destpageposfrom1"`) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return strings.Join(found, "\n")
}

func TestEncryptedAllowsWhatItSays(t *testing.T) {
	const allowed = ": allowed"
	yes := map[bool]string{true: "yes", false: "no"}
	for name, test := range map[string]struct {
		permissions Permissions
		want        []string // in qpdf's terms
	}{
		"nothing":  {Permissions{}, nil},
		"print":    {Permissions{Print: true}, []string{"print low resolution", "print high resolution"}},
		"draft":    {Permissions{PrintDraft: true}, []string{"print low resolution"}},
		"copy":     {Permissions{Copy: true}, []string{"extract for any purpose"}},
		"change":   {Permissions{Change: true}, []string{"modify other"}},
		"comment":  {Permissions{Comment: true}, []string{"modify annotations", "modify forms"}},
		"fill":     {Permissions{FillForms: true}, []string{"modify forms"}},
		"assemble": {Permissions{Assemble: true}, []string{"modify document assembly"}},
		"all": {AllPermissions(), []string{
			"extract for any purpose", "print low resolution", "print high resolution", "modify document assembly",
			"modify forms", "modify annotations", "modify other", "modify anything",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := saved(t, encrypt(t, tagged(t), Protection{Permissions: test.permissions}))
			shown := tool(t, "qpdf", "--show-encryption", path)
			for _, want := range append(test.want, "extract for accessibility") {
				if !strings.Contains(shown, want+allowed) {
					t.Errorf("%s is not allowed:\n%s", want, shown)
				}
			}
			if got := strings.Count(shown, allowed); got != len(test.want)+1 {
				t.Errorf("%d permissions, want %d:\n%s", got, len(test.want)+1, shown)
			}
			for _, want := range []string{"R = 6", "stream encryption method: AESv3", "string encryption method: AESv3"} {
				if !strings.Contains(shown, want) {
					t.Errorf("the output lacks %q:\n%s", want, shown)
				}
			}
			p := test.permissions
			want := "print:" + yes[p.Print || p.PrintDraft] + " copy:" + yes[p.Copy] + " change:" + yes[p.Change] + " addNotes:" +
				yes[p.Comment] + " algorithm:AES-256"
			if info := tool(t, "pdfinfo", path); !strings.Contains(info, want) {
				t.Errorf("the output of pdfinfo lacks %q:\n%s", want, info)
			}
		})
	}
}

// SASLprep maps passwords that look the same to one password.
func TestPasswordsAreTheSameHoweverTyped(t *testing.T) {
	for _, test := range []struct{ typed, prepared string }{
		{"pass word", "pass word"},
		{"pass\u00a0word", "pass word"}, // no-break space
		{"pass\u00adword", "password"},  // a soft hyphen
		{"u\u0308ber", "über"},          // decomposed and composed
		{"ﬁle Ⅸ", "file IX"},            // ligatures and other compatibility characters
		{"ＷＩＤＥ", "WIDE"},                // full-width characters
		{"גישה", "גישה"},                // right-to-left
		{"A\u2060B", "AB"},              // a word joiner
	} {
		got, err := preparePassword(test.typed)
		if err != nil || string(got) != test.prepared {
			t.Errorf("%q is prepared as %q, %v; want %q", test.typed, got, err, test.prepared)
		}
	}
	path := saved(t, encrypt(t, tagged(t), Protection{UserPassword: "u\u0308ber \ufb01le"}))
	tool(t, "qpdf", "--check", "--password=über file", path)
}

func TestPasswordsThatAreNone(t *testing.T) {
	for name, protection := range map[string]Protection{
		"the same":                   {UserPassword: "same", OwnerPassword: "same"},
		"the same after preparation": {UserPassword: "ﬁle", OwnerPassword: "file"},
		"too long":                   {UserPassword: strings.Repeat("ü", 64)},
		"not UTF-8":                  {UserPassword: "\xff"},
		"control":                    {OwnerPassword: "a\x07b"},
		"mixed directions":           {OwnerPassword: "aגb"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Encrypt(tagged(t), protection); err == nil {
				t.Error("the PDF was encrypted")
			}
		})
	}
}

func TestEncryptOfManyKinds(t *testing.T) {
	long := convert(t, contract(4), pdf.Options{Tagged: true, Bookmarks: true})
	for name, plain := range map[string][]byte{"table": long, "stream": packedAway(t, long)} {
		t.Run(name, func(t *testing.T) {
			path := saved(t, encrypt(t, plain, Protection{UserPassword: "s3cret"}))
			tool(t, "qpdf", "--check", "--password=s3cret", path)
			sameContent(t, plain, decrypted(t, path, "s3cret"))
		})
	}
}

func TestArchivesAreNotEncrypted(t *testing.T) {
	if _, err := Encrypt(archived(t), Protection{UserPassword: "s3cret"}); !errors.Is(err, ErrArchive) {
		t.Errorf("error: %v", err)
	}
}

func TestEncryptedIsNotEncryptedAgain(t *testing.T) {
	sealed := encrypt(t, tagged(t), Protection{UserPassword: "s3cret"})
	var unreadable *BrokenError
	if _, err := Encrypt(sealed, Protection{UserPassword: "s3cret"}); !errors.As(err, &unreadable) {
		t.Errorf("error: %v", err)
	}
}

func BenchmarkEncrypt(b *testing.B) {
	for name, document := range map[string][]byte{"letter": letter("Ms Ada Byron"), "contract": contract(50)} {
		plain := convert(b, document, pdf.Options{})
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				encrypt(b, plain, Protection{UserPassword: "s3cret", Permissions: Permissions{Print: true}})
			}
		})
	}
}
