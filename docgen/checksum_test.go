package docgen_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// block is the unit in which large content is checked.
const block = 256 << 10

// keyOf returns the key of the content of a file's current version.
func (w *world) keyOf(file *docgen.Item) string {
	w.t.Helper()
	return query[string](w, fmt.Sprintf("SELECT blob_key FROM file_versions WHERE id = %d", file.VersionID))[0]
}

// damage replaces a stored object.
func damage(t *testing.T, blobs blob.Store, key string, change func([]byte) []byte) {
	t.Helper()
	data, err := blob.ReadAll(t.Context(), blobs, key, 16<<20)
	must(t, err)
	must(t, blobs.Delete(t.Context(), key))
	_, err = blobs.Put(t.Context(), key, bytes.NewReader(change(data)))
	must(t, err)
}

// readRange reads a range of a file's content.
func (w *world) readRange(file int64, offset, length int64) ([]byte, error) {
	w.t.Helper()
	content, err := w.Content(w.t.Context(), w.alice, file, 0)
	must(w.t, err)
	r, err := content.Open(w.t.Context(), offset, length)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// longText returns a text with the given number of bytes in which no two blocks are equal.
func longText(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()[:size]
}

func TestDamagedContentIsNotRead(t *testing.T) {
	flip := func(at int) func([]byte) []byte {
		return func(data []byte) []byte { data[at] ^= 0x10; return data }
	}
	cut := func(data []byte) []byte { return data[:len(data)-1] }
	const last = 3*block + 99
	tests := []struct {
		name         string
		size         int
		change       func([]byte) []byte // nil deletes the object
		from, length int64
		sound        bool // the range can still be read
	}{
		{"a short content, all of it", 10, flip(9), 0, -1, false},
		{"a short content, a range elsewhere", 10, flip(9), 0, 2, false},
		{"a short content that was cut", 10, cut, 0, 2, false},
		{"a short content with more at its end", 10, func(data []byte) []byte { return append(data, 'x') }, 0, -1, false},
		{"a short content that is gone", 10, nil, 0, -1, false},
		{"exactly one block", block, flip(block - 1), 0, 1, false},
		{"a long content, all of it", last + 1, flip(last), 0, -1, false},
		{"a long content, its first block", last + 1, flip(0), 5, 1, false},
		{"a long content, the block of the range", last + 1, flip(2 * block), 3*block - 1, 1, false},
		{"a long content, the last block of the range", last + 1, flip(2*block + 1), block + 7, block, false},
		{"a long content, a block in front of the range", last + 1, flip(2*block - 1), 2 * block, -1, true},
		{"a long content, a block after the range", last + 1, flip(2 * block), block, block, true},
		{"a long content that was cut", last + 1, cut, 0, -1, false},
		{"a long content that ends in front of the range", last + 1, func(data []byte) []byte { return data[:100] }, 2 * block, 1, false},
		{"a long content that is gone", last + 1, nil, block, 1, false},
	}
	for _, kept := range []bool{true, false} { // without checksums, as a server of an earlier version left the content
		t.Run(fmt.Sprintf("checksums kept %t", kept), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				for i, tt := range tests {
					text := longText(tt.size)
					file := w.upload(w.alice, 0, fmt.Sprintf("%d.txt", i), text)
					key := w.keyOf(file)
					if !kept {
						must(t, w.exec("DELETE FROM content_blocks"))
					}
					end := int64(tt.size)
					if tt.length >= 0 {
						end = tt.from + tt.length
					}
					if tt.change == nil {
						must(t, w.blobs.Delete(t.Context(), key))
					} else {
						damage(t, w.blobs, key, tt.change)
					}
					got, err := w.readRange(file.ID, tt.from, tt.length)
					switch want := text[tt.from:end]; {
					case tt.sound && kept:
						if err != nil || string(got) != want {
							t.Errorf("%s: %d bytes, %v, want the %d of the range", tt.name, len(got), err, len(want))
						}
					case !docgen.IsCode(err, docgen.CodeContentDamaged):
						t.Errorf("%s: %d bytes, %v, want content_damaged", tt.name, len(got), err)
					case !strings.HasPrefix(want, string(got)):
						t.Errorf("%s: bytes were returned that were never stored", tt.name)
					}
				}
			})
		})
	}
}

// Every range of undamaged content can be read, even of content without checksums, which then gets them.
func TestRangesOfLongContent(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		text := longText(2*block + 5)
		file := w.upload(w.alice, 0, "long.txt", text)
		w.upload(w.alice, 0, "short.txt", longText(block))
		if n := w.count("SELECT COUNT(*) FROM content_blocks"); n != 1 {
			t.Errorf("%d contents have checksums, want the long one", n)
		}
		sums := query[string](w, "SELECT checksums FROM content_blocks")[0]
		must(t, w.exec("DELETE FROM content_blocks"))
		for _, from := range []int64{0, 1, block - 1, block, 2 * block, 2*block + 4, 2*block + 5} {
			for _, length := range []int64{-1, 0, 1, block, block + 1, 3 * block} {
				end := min(from+length, int64(len(text)))
				if length < 0 {
					end = int64(len(text))
				}
				if got, err := w.readRange(file.ID, from, length); err != nil || string(got) != text[from:end] {
					t.Errorf("%d bytes from %d: %d bytes, %v", length, from, len(got), err)
				}
			}
		}
		if again := query[string](w, "SELECT checksums FROM content_blocks"); len(again) != 1 || again[0] != sums {
			t.Errorf("the checksums that were computed afterward differ")
		}
	})
}

func TestChecksumsAreDeletedWithContent(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		count := func() int { return w.count("SELECT COUNT(*) FROM content_blocks") }
		file := w.upload(w.alice, 0, "long.txt", longText(block+1))
		w.upload(w.alice, 0, "other.txt", longText(block+2))
		copied, err := w.CopyFile(t.Context(), w.alice, docgen.NewCopy{ItemID: file.ID, Name: "copy.txt"})
		must(t, err)
		for i, id := range []int64{file.ID, copied.ID} {
			must(t, w.TrashFile(t.Context(), w.alice, id, ""))
			must(t, w.Purge(t.Context(), w.alice, docgen.File, id))
			_, err := w.Sweep(t.Context())
			must(t, err)
			if got := count(); got != 2-i {
				t.Errorf("checksums of %d contents, want %d", got, 2-i)
			}
		}
	})
}

// The count and the log inform the operator of damage.
func TestDamageIsCounted(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		blobs, err := blob.Open(t.TempDir())
		must(t, err)
		w := newWorld(t, cfg, blobs, docgen.Limits{})
		counted := map[string]int{}
		w.Service, err = docgen.New(t.Context(), docgen.Config{
			Store: w.db, Blobs: blobs, Now: w.clock.now, CountDamage: func(kind string) { counted[kind]++ },
		})
		must(t, err)
		file := w.upload(w.alice, 0, "a.txt", "0123456789")
		damage(t, blobs, w.keyOf(file), bytes.ToUpper)
		if got := w.text(w.alice, file.ID, 0); got != "0123456789" {
			t.Errorf("read %q", got)
		}
		damage(t, blobs, w.keyOf(file), func([]byte) []byte { return []byte("x123456789") })
		if _, err := w.readRange(file.ID, 0, 1); !docgen.IsCode(err, docgen.CodeContentDamaged) {
			t.Errorf("changed: %v", err)
		}
		must(t, blobs.Delete(t.Context(), w.keyOf(file)))
		if _, err := w.readRange(file.ID, 0, 1); !docgen.IsCode(err, docgen.CodeContentDamaged) || !strings.Contains(err.Error(), "missing") {
			t.Errorf("missing: %v", err)
		}
		if counted[docgen.DamageChanged] != 1 || counted[docgen.DamageMissing] != 1 {
			t.Errorf("counted %v", counted)
		}
	})
}

// BenchmarkContent compares reading content with checks against copying the same object from the store.
func BenchmarkContent(b *testing.B) {
	blobs, err := blob.Open(b.TempDir())
	must(b, err)
	w := newWorld(b, storetest.SQLite(b), blobs, docgen.Limits{})
	for _, size := range []int{30 << 10, block, 64 << 20} {
		file := w.upload(w.alice, 0, fmt.Sprint(size), longText(size))
		key := w.keyOf(file)
		content, err := w.Content(b.Context(), w.alice, file.ID, 0)
		must(b, err)
		reads := map[string]func() (io.ReadCloser, error){
			"plain":   func() (io.ReadCloser, error) { return blobs.Open(b.Context(), key, 0, -1) },
			"checked": func() (io.ReadCloser, error) { return content.Open(b.Context(), 0, -1) },
		}
		for name, open := range reads {
			b.Run(fmt.Sprintf("%dKiB/%s", size>>10, name), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					r, err := open()
					must(b, err)
					n, err := io.Copy(io.Discard, r)
					must(b, err)
					if n != int64(size) {
						b.Fatalf("%d bytes, want %d", n, size)
					}
					must(b, r.Close())
				}
			})
		}
	}
}
