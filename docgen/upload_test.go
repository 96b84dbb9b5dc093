package docgen_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/docgen"
)

// partsOf divides a content into the parts of a session.
func partsOf(content []byte) (parts []docgen.UploadPart, texts [][]byte) {
	for from := 0; from < len(content); from += docgen.UploadPartSize {
		text := content[from:min(len(content), from+docgen.UploadPartSize)]
		sum := sha1.Sum(text)
		parts = append(parts, docgen.UploadPart{Offset: int64(from), Size: int64(len(text)), SHA1: hex.EncodeToString(sum[:])})
		texts = append(texts, text)
	}
	return parts, texts
}

func TestUploadInParts(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		content := bytes.Repeat([]byte("0123456789abcdef"), (2*docgen.UploadPartSize+1000)/16)
		size := int64(len(content))
		parts, texts := partsOf(content)
		start := func(n docgen.NewUpload) docgen.UploadSession {
			t.Helper()
			n.Size = size
			session, err := w.CreateUpload(ctx, w.alice, n)
			must(t, err)
			return session
		}
		save := func(session int64, i int) docgen.UploadPart {
			t.Helper()
			saved, err := w.SavePart(ctx, w.alice, session, parts[i], size, bytes.NewReader(texts[i]))
			must(t, err)
			return saved
		}
		session := start(docgen.NewUpload{Name: "large.bin"})
		if session.Parts != 3 || session.Received != 0 || !session.ExpiresAt.Equal(noon.Add(docgen.UploadTTL)) {
			t.Errorf("the session is %+v", session)
		}

		// All parts at once, each twice.
		saved := make([]docgen.UploadPart, len(parts))
		var sending sync.WaitGroup
		for i := range 2 * len(parts) {
			sending.Go(func() {
				part, err := w.SavePart(ctx, w.alice, session.ID, parts[i%3], size, bytes.NewReader(texts[i%3]))
				if err != nil {
					t.Error(err)
				}
				if i < 3 {
					saved[i] = part
				}
			})
		}
		sending.Wait()
		listed, err := w.UploadParts(ctx, w.alice, session.ID, docgen.OffsetRequest{Limit: 2, Offset: 1})
		must(t, err)
		if listed.Total != 3 || len(listed.Entries) != 2 || listed.Entries[1] != saved[2] {
			t.Errorf("the parts are %+v, want the last two of %+v", listed, saved)
		}

		commit := docgen.Commit{SHA1: sha1Of(string(content)), Parts: saved, ContentModifiedAt: noon.AddDate(-1, 0, 0)}
		for why, change := range map[string]func(c *docgen.Commit){
			"another digest":  func(c *docgen.Commit) { c.SHA1 = sha1Of("other") },
			"a missing part":  func(c *docgen.Commit) { c.Parts = c.Parts[1:] },
			"a repeated part": func(c *docgen.Commit) { c.Parts = []docgen.UploadPart{saved[0], saved[0], saved[2]} },
			"a changed part":  func(c *docgen.Commit) { c.Parts = []docgen.UploadPart{saved[0], saved[1], {ID: saved[2].ID}} },
		} {
			wrong := commit
			change(&wrong)
			if _, err := w.CommitUpload(ctx, w.alice, session.ID, wrong); !docgen.IsCode(err, docgen.CodeBadRequest) &&
				!docgen.IsCode(err, docgen.CodeBadDigest) {
				t.Errorf("%s: %v", why, err)
			}
		}
		_, err = w.CommitUpload(ctx, w.bob, session.ID, commit)
		wantCode(t, err, docgen.CodeNotFound)
		file, err := w.CommitUpload(ctx, w.alice, session.ID, commit)
		must(t, err)
		if file.Name != "large.bin" || file.Size != size || !file.ContentModifiedAt.Equal(noon.AddDate(-1, 0, 0)) {
			t.Errorf("the file is %+v", file)
		}
		if w.text(w.alice, file.ID, 0) != string(content) {
			t.Error("the file has other content")
		}
		_, err = w.CommitUpload(ctx, w.alice, session.ID, commit)
		wantCode(t, err, docgen.CodeNotFound)
		w.wantNoParts()

		// A version, whose parts arrive in the reverse order.
		session = start(docgen.NewUpload{FileID: file.ID, Name: "renamed.bin"})
		for i := len(parts) - 1; i >= 0; i-- {
			saved[i] = save(session.ID, i)
		}
		commit.IfMatch = "77"
		_, err = w.CommitUpload(ctx, w.alice, session.ID, commit)
		wantCode(t, err, docgen.CodePrecondition)
		commit.IfMatch = "0"
		file, err = w.CommitUpload(ctx, w.alice, session.ID, commit)
		must(t, err)
		if file.Name != "renamed.bin" || file.VersionNumber != 2 {
			t.Errorf("the file is %+v", file)
		}
		w.wantNoOrphans()
	})
}

// wantNoParts checks that the blob store has no parts.
func (w *world) wantNoParts() {
	w.t.Helper()
	got := 0
	for _, err := range w.blobs.List(w.t.Context(), "parts/") {
		must(w.t, err)
		got++
	}
	if got != 0 {
		w.t.Errorf("%d parts are stored, want none", got)
	}
}

func TestPartsThatDoNotFit(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		session, err := w.CreateUpload(ctx, w.alice, docgen.NewUpload{Name: "a.txt", Size: docgen.UploadPartSize + 4})
		must(t, err)
		last := docgen.UploadPart{Offset: docgen.UploadPartSize, Size: 4, SHA1: sha1Of("text")}
		for _, tt := range []struct {
			why   string
			part  docgen.UploadPart
			total int64
			text  string
			code  docgen.Code
		}{
			{"another total", last, session.Size + 1, "text", docgen.CodeBadRequest},
			{"no multiple", docgen.UploadPart{Offset: 4, Size: 4, SHA1: last.SHA1}, session.Size, "text", docgen.CodeBadRequest},
			{"a negative size", docgen.UploadPart{Offset: last.Offset, Size: -4, SHA1: last.SHA1}, session.Size, "text", docgen.CodeBadRequest},
			{"beyond the end", docgen.UploadPart{Offset: 2 * last.Offset, Size: 4, SHA1: last.SHA1}, session.Size, "text", docgen.CodeBadRequest},
			{"too short a first part", docgen.UploadPart{Size: 4, SHA1: last.SHA1}, session.Size, "text", docgen.CodeBadRequest},
			{"less content", last, session.Size, "tex", docgen.CodeBadRequest},
			{"more content", last, session.Size, "text!", docgen.CodeBadRequest},
			{"other content", last, session.Size, "TEXT", docgen.CodeBadDigest},
		} {
			_, err := w.SavePart(ctx, w.alice, session.ID, tt.part, tt.total, strings.NewReader(tt.text))
			if !docgen.IsCode(err, tt.code) {
				t.Errorf("%s: %v", tt.why, err)
			}
		}
		broken := errors.New("broken")
		_, err = w.SavePart(ctx, w.alice, session.ID, last, session.Size, io.MultiReader(strings.NewReader("te"), failing{broken}))
		if !errors.Is(err, broken) {
			t.Errorf("an interrupted part: %v", err)
		}
		w.wantNoParts()
		_, err = w.SavePart(ctx, w.bob, session.ID, last, session.Size, strings.NewReader("text"))
		wantCode(t, err, docgen.CodeNotFound)
		first, err := w.SavePart(ctx, w.alice, session.ID, last, session.Size, strings.NewReader("text"))
		must(t, err)
		last.SHA1 = sha1Of("TEXT")
		_, err = w.SavePart(ctx, w.alice, session.ID, last, session.Size, strings.NewReader("TEXT"))
		wantCode(t, err, docgen.CodeConflict)
		_, err = w.CommitUpload(ctx, w.alice, session.ID, docgen.Commit{SHA1: last.SHA1, Parts: []docgen.UploadPart{first}})
		wantCode(t, err, docgen.CodeBadRequest)
		wantCode(t, w.DeleteUpload(ctx, w.bob, session.ID), docgen.CodeNotFound)
		must(t, w.DeleteUpload(ctx, w.alice, session.ID))
		w.wantNoParts()
		_, err = w.Upload(ctx, w.alice, session.ID)
		wantCode(t, err, docgen.CodeNotFound)
	})
}

// failing is a Reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestLimitsOfUploads creates sessions that must not exist, and too many.
func TestLimitsOfUploads(t *testing.T) {
	runWith(t, docgen.Limits{UploadBytes: 1000}, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.upload(w.alice, 0, "taken", "x")
		bobs := w.upload(w.bob, 0, "bobs", "x")
		for _, tt := range []struct {
			n    docgen.NewUpload
			code docgen.Code
		}{
			{docgen.NewUpload{Name: "a"}, docgen.CodeBadRequest},
			{docgen.NewUpload{Name: "a", Size: -1}, docgen.CodeBadRequest},
			{docgen.NewUpload{Name: "a", Size: 1001}, docgen.CodeTooLarge},
			{docgen.NewUpload{Name: "Taken", Size: 1}, docgen.CodeNameInUse},
			{docgen.NewUpload{Name: "a/b", Size: 1}, docgen.CodeNameInvalid},
			{docgen.NewUpload{Name: "a", Size: 1, ParentID: 77}, docgen.CodeNotFound},
			{docgen.NewUpload{FileID: bobs.ID, Size: 1}, docgen.CodeNotFound},
		} {
			_, err := w.CreateUpload(ctx, w.alice, tt.n)
			wantCode(t, err, tt.code)
		}
		for range 4 {
			_, err := w.CreateUpload(ctx, w.alice, docgen.NewUpload{Name: "a", Size: 1000})
			must(t, err)
		}
		_, err := w.CreateUpload(ctx, w.alice, docgen.NewUpload{Name: "a", Size: 1})
		wantCode(t, err, docgen.CodeConflict)
		for range 100 {
			_, err := w.CreateUpload(ctx, w.bob, docgen.NewUpload{Name: "a", Size: 1})
			must(t, err)
		}
		_, err = w.CreateUpload(ctx, w.bob, docgen.NewUpload{Name: "a", Size: 1})
		wantCode(t, err, docgen.CodeConflict)
		w.clock.advance(docgen.UploadTTL)
		_, err = w.CreateUpload(ctx, w.bob, docgen.NewUpload{Name: "a", Size: 1})
		must(t, err)
	})
}

// TestExpiredUploads sweeps the parts of sessions that have expired, and of none.
func TestExpiredUploads(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.clock.micros.Store(time.Now().UnixMicro()) // objects have the time of the disk
		text := docgen.UploadPart{Size: 4, SHA1: sha1Of("text")}
		start := func() (docgen.UploadSession, docgen.UploadPart) {
			session, err := w.CreateUpload(ctx, w.alice, docgen.NewUpload{Name: "a.txt", Size: 4})
			must(t, err)
			part, err := w.SavePart(ctx, w.alice, session.ID, text, 4, strings.NewReader("text"))
			must(t, err)
			return session, part
		}
		old, part := start()
		w.clock.advance(time.Hour)
		start()
		_, err := w.blobs.Put(ctx, "parts/77", strings.NewReader("left by a crash"))
		must(t, err)
		w.clock.advance(docgen.UploadTTL - time.Hour)
		for _, err := range []error{
			func() error { _, err := w.Upload(ctx, w.alice, old.ID); return err }(),
			func() error {
				_, err := w.CommitUpload(ctx, w.alice, old.ID, docgen.Commit{SHA1: sha1Of("text"), Parts: []docgen.UploadPart{part}})
				return err
			}(),
			func() error {
				_, err := w.SavePart(ctx, w.alice, old.ID, text, 4, strings.NewReader("text"))
				return err
			}(),
		} {
			wantCode(t, err, docgen.CodeNotFound)
		}
		w.clock.advance(time.Hour + time.Minute) // everything is older than a day
		_, err = w.Sweep(ctx)
		must(t, err)
		w.wantNoParts()
		if n := w.count("SELECT COUNT(*) FROM upload_sessions") + w.count("SELECT COUNT(*) FROM upload_parts"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}
