// Package blobtest contains the tests that every [blob.Store] must pass, and a store that fails on cue.
package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"platen/blob"
)

const (
	largeSize = 64 << 20
	// maxMemory is the maximum total allocation to store and read an object of largeSize.
	maxMemory = 16 << 20
)

// Run runs the tests of a store, each on an empty store that open returns and Run closes.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, test := range map[string]func(*testing.T, blob.Store){
		"round trip":                         testRoundTrip,
		"ranges":                             testRanges,
		"a key exists":                       testExist,
		"a key is missing":                   testMissing,
		"invalid keys":                       testKeys,
		"similar keys":                       testSimilarKeys,
		"list":                               testList,
		"a source that fails leaves nothing": testSourceFails,
		"a canceled put leaves nothing":      testCancelledPut,
		"a canceled get":                     testCancelledGet,
		"concurrent puts of one key":         testOneWinner,
		"concurrent puts":                    testConcurrent,
		"large objects are streamed":         testLarge,
		"read all within a limit":            testReadAll,
		"check":                              testCheck,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, s)
		})
	}
}

func put(t *testing.T, s blob.Store, key, content string) {
	t.Helper()
	n, err := s.Put(t.Context(), key, strings.NewReader(content))
	if err != nil || n != int64(len(content)) {
		t.Fatalf("Put(%q) = %d, %v, want %d", key, n, err, len(content))
	}
}

func get(ctx context.Context, s blob.Store, key string, offset, length int64) (string, error) {
	r, err := s.Open(ctx, key, offset, length)
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return string(data), err
}

// wantContent fails the test unless the object has this content.
func wantContent(t *testing.T, s blob.Store, key, want string) {
	t.Helper()
	got, err := get(t.Context(), s, key, 0, -1)
	if err != nil || got != want {
		t.Errorf("content of %q = %.40q (%d bytes), %v, want %.40q (%d bytes)", key, got, len(got), err, want, len(want))
	}
}

// wantKeys fails the test unless these are the keys with the prefix.
func wantKeys(t *testing.T, s blob.Store, prefix string, want ...string) {
	t.Helper()
	sizes := list(t, s, prefix)
	got := slices.Sorted(maps.Keys(sizes))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("List(%q) = %q, want %q", prefix, got, want)
	}
}

func list(t *testing.T, s blob.Store, prefix string) map[string]blob.Info {
	t.Helper()
	infos := map[string]blob.Info{}
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := infos[info.Key]; ok {
			t.Errorf("%q is listed twice", info.Key)
		}
		infos[info.Key] = info
	}
	return infos
}

func testRoundTrip(t *testing.T, s blob.Store) {
	for _, size := range []int{0, 1, 4096, 1<<20 + 1} {
		key, content := fmt.Sprintf("of-size/%d", size), strings.Repeat("x", size)
		before := time.Now()
		put(t, s, key, content)
		wantContent(t, s, key, content)
		info, err := s.Stat(t.Context(), key)
		if err != nil || info.Key != key || info.Size != int64(size) {
			t.Errorf("Stat = %+v, %v", info, err)
		}
		// Clocks of file systems and servers can be coarser than this one, or differ from it.
		if age := info.Modified.Sub(before).Abs(); age > time.Minute {
			t.Errorf("Modified = %v, put at %v", info.Modified, before)
		}
	}
}

func testRanges(t *testing.T, s blob.Store) {
	put(t, s, "k", "0123456789")
	put(t, s, "empty", "")
	for _, test := range []struct {
		key            string
		offset, length int64
		want           string
		err            error
	}{
		{"k", 0, -1, "0123456789", nil},
		{"k", 0, 10, "0123456789", nil},
		{"k", 3, 4, "3456", nil},
		{"k", 3, -1, "3456789", nil},
		{"k", 9, 100, "9", nil},
		{"k", 0, 0, "", nil},
		{"k", 10, -1, "", nil},
		{"k", 10, 5, "", nil},
		{"k", 11, -1, "", blob.ErrRange},
		{"k", -1, 1, "", blob.ErrRange},
		{"empty", 0, -1, "", nil},
		{"empty", 1, -1, "", blob.ErrRange},
	} {
		got, err := get(t.Context(), s, test.key, test.offset, test.length)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s from %d, %d bytes: %q, %v, want %q, %v", test.key, test.offset, test.length, got, err, test.want, test.err)
		}
	}
}

func testExist(t *testing.T, s blob.Store) {
	put(t, s, "k", "first")
	if _, err := s.Put(t.Context(), "k", strings.NewReader("second")); !errors.Is(err, blob.ErrExist) {
		t.Errorf("Put again = %v, want ErrExist", err)
	}
	wantContent(t, s, "k", "first")
	if err := s.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "third")
	wantContent(t, s, "k", "third")
}

func testMissing(t *testing.T, s blob.Store) {
	if _, err := s.Open(t.Context(), "none", 0, -1); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("Open = %v, want ErrNotExist", err)
	}
	if _, err := s.Stat(t.Context(), "none"); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("Stat = %v, want ErrNotExist", err)
	}
	if err := s.Delete(t.Context(), "none"); err != nil {
		t.Errorf("Delete = %v, want nil", err)
	}
	wantKeys(t, s, "")
}

func testKeys(t *testing.T, s blob.Store) {
	long := strings.Repeat("k", blob.MaxKeyLength)
	put(t, s, long, "long")
	wantContent(t, s, long, "long")
	for _, key := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.b", ".a", "A", "ä", "a b", "a\x00b",
		"a\\b", "a~b", "a\n", "a:b", "\xff", long + "k"} {
		_, putErr := s.Put(t.Context(), key, strings.NewReader("x"))
		_, openErr := s.Open(t.Context(), key, 0, -1)
		_, statErr := s.Stat(t.Context(), key)
		for call, err := range map[string]error{"Put": putErr, "Open": openErr, "Stat": statErr, "Delete": s.Delete(t.Context(), key)} {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("%s(%.40q) = %v, want ErrKey", call, key, err)
			}
		}
	}
	wantKeys(t, s, "", long)
}

func testSimilarKeys(t *testing.T, s blob.Store) {
	keys := []string{"a", "a/a", "a/a/a", "a.a", "a-a", "a_a", "a/b.c-d_e", "aa", "tmp", "tmp/a", "00", "00/a", "0", "a..b"}
	for _, key := range keys {
		put(t, s, key, "content of "+key)
	}
	for _, key := range keys {
		wantContent(t, s, key, "content of "+key)
	}
	wantKeys(t, s, "", slices.Clone(keys)...)
}

func testList(t *testing.T, s blob.Store) {
	for _, key := range []string{"v/1", "v/2", "v/20", "w/1", "v"} {
		put(t, s, key, key)
	}
	wantKeys(t, s, "", "v", "v/1", "v/2", "v/20", "w/1")
	wantKeys(t, s, "v/", "v/1", "v/2", "v/20")
	wantKeys(t, s, "v/2", "v/2", "v/20")
	wantKeys(t, s, "none")
	if info := list(t, s, "")["v/20"]; info.Size != 4 || info.Modified.IsZero() {
		t.Errorf("listed as %+v", info)
	}
	for info, err := range s.List(t.Context(), "") { // a sweep deletes objects while it lists them, and can stop
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), info.Key); err != nil {
			t.Fatal(err)
		}
		break
	}
	if left := list(t, s, ""); len(left) != 4 {
		t.Errorf("left: %v", left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for info, err := range s.List(ctx, "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("List with a canceled context returned %v, %v", info, err)
		}
	}
}

func testSourceFails(t *testing.T, s blob.Store) {
	boom := errors.New("boom")
	for _, before := range []int{0, 1, 300 << 10} {
		r := io.MultiReader(strings.NewReader(strings.Repeat("x", before)), iotest.ErrReader(boom))
		if _, err := s.Put(t.Context(), "k", r); !errors.Is(err, boom) {
			t.Errorf("Put = %v, want boom", err)
		}
		wantKeys(t, s, "")
	}
	put(t, s, "k", "at last")
	wantContent(t, s, "k", "at last")
}

func testCancelledPut(t *testing.T, s blob.Store) {
	for _, after := range []int64{0, 1, 300 << 10} {
		ctx, cancel := context.WithCancel(t.Context())
		r := &source{size: 1 << 20, at: after, then: cancel}
		if _, err := s.Put(ctx, "k", r); !errors.Is(err, context.Canceled) {
			t.Errorf("Put canceled after %d bytes = %v, want Canceled", after, err)
		}
		wantKeys(t, s, "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &source{size: 1000, at: 1000, then: cancel} // everything was read, nothing is stored yet
	if _, err := s.Put(ctx, "k", r); !errors.Is(err, context.Canceled) {
		t.Errorf("Put canceled at the end = %v, want Canceled", err)
	}
	wantKeys(t, s, "")
}

func testCancelledGet(t *testing.T, s blob.Store) {
	if _, err := s.Put(t.Context(), "k", &source{size: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := s.Open(ctx, "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, context.Canceled) {
		t.Errorf("reading on = %v, want Canceled", err)
	}
}

func testOneWinner(t *testing.T, s blob.Store) {
	const n = 16
	var mu sync.Mutex
	var winner string
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			content := strings.Repeat(fmt.Sprint(i%10), 200<<10)
			_, err := s.Put(t.Context(), "k", strings.NewReader(content))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && winner == "":
				winner = content
			case err == nil:
				t.Error("two Puts of one key have succeeded")
			case !errors.Is(err, blob.ErrExist):
				t.Errorf("Put = %v, want ErrExist", err)
			}
		})
		wg.Go(func() { // readers see nothing or everything
			got, err := get(t.Context(), s, "k", 0, -1)
			if err == nil && len(got) != 200<<10 || err != nil && !errors.Is(err, blob.ErrNotExist) {
				t.Errorf("seen meanwhile: %d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	wantContent(t, s, "k", winner)
	wantKeys(t, s, "", "k")
}

func testConcurrent(t *testing.T, s blob.Store) {
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			key, content := fmt.Sprintf("many/%d", i), strings.Repeat(fmt.Sprint(i), 1000)
			if _, err := s.Put(t.Context(), key, strings.NewReader(content)); err != nil {
				t.Error(err)
			}
			wantContent(t, s, key, content)
			if i%2 == 0 {
				if err := s.Delete(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left := list(t, s, "many/"); len(left) != 32 {
		t.Errorf("%d objects are left, want 32", len(left))
	}
}

func testLarge(t *testing.T, s blob.Store) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := &source{size: largeSize, hash: sha256.New()}
	if n, err := s.Put(t.Context(), "large", in); err != nil || n != largeSize {
		t.Fatalf("Put = %d, %v", n, err)
	}
	r, err := s.Open(t.Context(), "large", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := sha256.New()
	if n, err := io.Copy(out, r); err != nil || n != largeSize {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	runtime.ReadMemStats(&after)
	if !bytes.Equal(in.hash.Sum(nil), out.Sum(nil)) {
		t.Error("what was got is not what was put")
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > maxMemory {
		t.Errorf("%d MiB were allocated for an object of %d MiB", used>>20, largeSize>>20)
	}
}

func testReadAll(t *testing.T, s blob.Store) {
	put(t, s, "k", "0123456789")
	if got, err := blob.ReadAll(t.Context(), s, "k", 10); err != nil || string(got) != "0123456789" {
		t.Errorf("ReadAll = %q, %v", got, err)
	}
	if got, err := blob.ReadAll(t.Context(), s, "k", 9); !errors.Is(err, blob.ErrTooLarge) {
		t.Errorf("ReadAll beyond the limit = %q, %v, want ErrTooLarge", got, err)
	}
	if _, err := blob.ReadAll(t.Context(), s, "none", 9); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("ReadAll = %v, want ErrNotExist", err)
	}
}

func testCheck(t *testing.T, s blob.Store) {
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check = %v", err)
	}
	wantKeys(t, s, "")
}

// pattern is the data of a source. Its length is odd, so that no two pages or buffers are equal.
var pattern = func() []byte {
	b := make([]byte, 1<<16+1)
	for i := range b {
		b[i] = byte(uint64(i) * 0x9e3779b97f4a7c15 >> 56)
	}
	return b
}()

// source provides size bytes of the pattern, and calls then once, before the byte at.
type source struct {
	size, read, at int64
	then           func()
	hash           hash.Hash // of the data, if not nil
}

func (s *source) Read(p []byte) (int, error) {
	if s.then != nil && s.read >= s.at {
		s.then()
		s.then = nil
	}
	n := min(int64(len(p)), s.size-s.read)
	if s.then != nil {
		n = min(n, s.at-s.read)
	}
	if n == 0 {
		return 0, io.EOF
	}
	n = int64(copy(p[:n], pattern[s.read%int64(len(pattern)):]))
	s.read += n
	if s.hash != nil {
		s.hash.Write(p[:n])
	}
	return int(n), nil
}
