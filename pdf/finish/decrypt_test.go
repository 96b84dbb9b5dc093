package finish

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"platen/pdf"
)

// mergeSealed merges encrypted PDFs into one encrypted PDF.
func mergeSealed(t testing.TB, password string, protection *Protection, pdfs ...[]byte) []byte {
	t.Helper()
	list := documents(pdfs...)
	for i := range list {
		list[i].Password = password
	}
	var out bytes.Buffer
	if err := Merge(&out, list, protection); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func contentOf(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Merging encrypted documents gives the same result as merging them before encryption.
func TestMergedOfEncrypted(t *testing.T) {
	singles := [][]byte{tagged(t), convert(t, contract(3), pdf.Options{Tagged: true, Bookmarks: true})}
	want := merge(t, singles...)
	for name, protection := range map[string]Protection{
		"with a password":   {UserPassword: "Zażółć", OwnerPassword: "owner", Permissions: Permissions{PrintDraft: true}},
		"with an owner":     {OwnerPassword: "owner", Permissions: Permissions{Copy: true}},
		"without passwords": {Permissions: Permissions{Print: true}},
		"with all allowed":  {UserPassword: "s3cret", Permissions: AllPermissions()},
		"object streams":    {UserPassword: "s3cret"},
	} {
		t.Run(name, func(t *testing.T) {
			var sealed [][]byte
			for _, single := range singles {
				if strings.Contains(name, "streams") {
					single = packedAway(t, single)
				}
				sealed = append(sealed, encrypt(t, single, protection))
			}
			path := saved(t, mergeSealed(t, protection.UserPassword, &protection, sealed...))
			tool(t, "qpdf", "--check", "--password="+protection.UserPassword, path)
			if protection.UserPassword != "" && !refuses(t, "qpdf", "--check", path) {
				t.Error("the PDF opens without its password")
			}
			got, single := tool(t, "qpdf", "--show-encryption", "--password="+protection.UserPassword, path),
				tool(t, "qpdf", "--show-encryption", "--password="+protection.UserPassword, saved(t, sealed[0]))
			if got != single {
				t.Errorf("the encryption is\n%s\nwant\n%s", got, single)
			}
			sameContent(t, want, decrypted(t, path, protection.UserPassword))
		})
	}
	t.Run("to an unencrypted PDF", func(t *testing.T) {
		sealed := encrypt(t, tagged(t), Protection{UserPassword: "s3cret"})
		sameContent(t, merge(t, tagged(t), tagged(t)), mergeSealed(t, "s3cret", nil, sealed, tagged(t)))
	})
}

// Merge also reads files that other programs encrypted the same way, with object streams.
func TestMergedOfWhatOthersEncrypted(t *testing.T) {
	plain := saved(t, tagged(t))
	path := plain + ".sealed"
	tool(t, "qpdf", "--object-streams=generate", "--encrypt", "s3cret", "owner", "256", "--", plain, path)
	sameContent(t, merge(t, tagged(t)), mergeSealed(t, "s3cret", nil, contentOf(t, path)))
}

func TestEncryptedIsNotMergedWithoutPassword(t *testing.T) {
	plain := saved(t, tagged(t))
	weak := plain + ".weak"
	tool(t, "qpdf", "--allow-weak-crypto", "--encrypt", "s3cret", "owner", "128", "--use-aes=y", "--", plain, weak)
	for name, sealed := range map[string][]byte{
		"another password":  encrypt(t, tagged(t), Protection{UserPassword: "other"}),
		"the owner's":       encrypt(t, tagged(t), Protection{UserPassword: "user", OwnerPassword: "s3cret"}),
		"another algorithm": contentOf(t, weak),
	} {
		t.Run(name, func(t *testing.T) {
			list := documents(sealed)
			list[0].Password = "s3cret"
			var unreadable *BrokenError
			if err := Merge(&bytes.Buffer{}, list, nil); !errors.As(err, &unreadable) || !strings.Contains(unreadable.Reason, "encrypted") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// An encrypted file that is damaged anywhere is either read or rejected.
func TestDamagedEncryptedFilesAreReadOrRefused(t *testing.T) {
	sound := encrypt(t, written(small...), Protection{})
	for i := range sound {
		damaged := bytes.Clone(sound)
		damaged[i] ^= 0x11
		var unreadable *BrokenError
		if err := Merge(&bytes.Buffer{}, documents(damaged), nil); err != nil && !errors.As(err, &unreadable) {
			t.Errorf("damaged at %d: %v", i, err)
		}
	}
	for _, broken := range []string{"/U <", "/UE <", "/Perms <"} { // shorter than required
		cut := bytes.Replace(sound, []byte(broken), []byte(broken+"> /X <"), 1)
		var unreadable *BrokenError
		if err := Merge(&bytes.Buffer{}, documents(cut), nil); !errors.As(err, &unreadable) {
			t.Errorf("with a truncated %s: %v", broken, err)
		}
	}
}

func BenchmarkMergeEncrypted(b *testing.B) {
	protection := Protection{UserPassword: "s3cret"}
	for name, document := range map[string][]byte{"letter": letter("Ms Ada Byron"), "contract": contract(50)} {
		sealed := encrypt(b, convert(b, document, pdf.Options{Tagged: true}), protection)
		b.Run(name, func(b *testing.B) {
			const documents = 100
			list := make([][]byte, documents)
			for i := range list {
				list[i] = sealed
			}
			b.SetBytes(int64(len(sealed) * documents))
			for b.Loop() {
				mergeSealed(b, "s3cret", &protection, list...)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*documents), "µs/document")
		})
	}
}
