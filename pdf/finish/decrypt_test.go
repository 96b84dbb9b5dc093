package finish

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"platen/pdf"
)

// mergeSealed merges encrypted PDFs into one that is encrypted too.
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

// What is merged of encrypted documents is what would have been merged of them before.
func TestMergedOfEncrypted(t *testing.T) {
	singles := [][]byte{tagged(t), convert(t, contract(3), pdf.Options{Tagged: true, Bookmarks: true})}
	want := merge(t, singles...)
	for name, protection := range map[string]Protection{
		"with a password":   {UserPassword: "Zażółć", OwnerPassword: "owner", Permissions: Permissions{PrintDraft: true}},
		"with an owner":     {OwnerPassword: "owner", Permissions: Permissions{Copy: true}},
		"of nobody":         {Permissions: Permissions{Print: true}},
		"with all allowed":  {UserPassword: "s3cret", Permissions: AllPermissions()},
		"in streams before": {UserPassword: "s3cret"},
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
				t.Error("it opens without its password")
			}
			got, single := tool(t, "qpdf", "--show-encryption", "--password="+protection.UserPassword, path),
				tool(t, "qpdf", "--show-encryption", "--password="+protection.UserPassword, saved(t, sealed[0]))
			if got != single {
				t.Errorf("it is encrypted as\n%s\nwant\n%s", got, single)
			}
			sameContent(t, want, decrypted(t, path, protection.UserPassword))
		})
	}
	t.Run("into what is not", func(t *testing.T) {
		sealed := encrypt(t, tagged(t), Protection{UserPassword: "s3cret"})
		sameContent(t, merge(t, tagged(t), tagged(t)), mergeSealed(t, "s3cret", nil, sealed, tagged(t)))
	})
}

// Files of others that are encrypted in the same way are read too, with their objects in streams.
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
		"another password": encrypt(t, tagged(t), Protection{UserPassword: "other"}),
		"the owner's":      encrypt(t, tagged(t), Protection{UserPassword: "user", OwnerPassword: "s3cret"}),
		"another way":      contentOf(t, weak),
	} {
		t.Run(name, func(t *testing.T) {
			list := documents(sealed)
			list[0].Password = "s3cret"
			var unreadable *BrokenError
			if err := Merge(&bytes.Buffer{}, list, nil); !errors.As(err, &unreadable) || !strings.Contains(unreadable.Reason, "encrypted") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// Wherever an encrypted file is damaged, it is read or refused.
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
	for _, broken := range []string{"/U <", "/UE <", "/Perms <"} { // shorter than it must be
		cut := bytes.Replace(sound, []byte(broken), []byte(broken+"> /X <"), 1)
		var unreadable *BrokenError
		if err := Merge(&bytes.Buffer{}, documents(cut), nil); !errors.As(err, &unreadable) {
			t.Errorf("with a cut %s: %v", broken, err)
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
