package docgen_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"platen/docgen"
)

func keyed(key, target string) docgen.KeyedRequest {
	return docgen.KeyedRequest{Key: key, Target: target, Digest: func() string { return "digest" }}
}

// claimKey claims a key that must be free.
func (w *world) claimKey(c *docgen.Caller, key string) *docgen.KeyClaim {
	w.t.Helper()
	claim, kept, err := w.ClaimKey(w.t.Context(), c, keyed(key, "POST /folders"))
	must(w.t, err)
	if claim == nil {
		w.t.Fatalf("the key %q is not free, but has %+v", key, kept)
	}
	w.t.Cleanup(claim.Abandon)
	return claim
}

var created = docgen.StoredResponse{Status: 201, Header: map[string]string{"ETag": "3"}, Body: json.RawMessage(`{"id":"1"}`)}

// A request with a key runs once; repeated ones get its response for 24 hours.
func TestKeys(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		claim := w.claimKey(w.alice, "k")
		_, _, err := w.ClaimKey(ctx, w.alice, keyed("k", "POST /folders"))
		wantCode(t, err, docgen.CodeKeyInUse)
		must(t, claim.Complete(ctx, created))

		_, kept, err := w.ClaimKey(ctx, w.alice, keyed("k", "POST /folders"))
		must(t, err)
		if r := kept.Response; r.Status != 201 || string(r.Body) != `{"id":"1"}` || r.Header["ETag"] != "3" || r.Lost {
			t.Errorf("the stored response is %+v", r)
		}
		wantCode(t, kept.Same("digest"), "")
		wantCode(t, kept.Same("another"), docgen.CodeKeyReused)
		_, _, err = w.ClaimKey(ctx, w.alice, keyed("k", "POST /archives"))
		wantCode(t, err, docgen.CodeKeyReused)
		_, _, err = w.ClaimKey(ctx, w.caller("alice", docgen.ScopeRead), docgen.KeyedRequest{
			Key: "k", Target: "POST /folders", Scope: docgen.ScopeWrite,
		})
		wantCode(t, err, docgen.CodeScope)
		must(t, w.claimKey(w.bob, "k").Complete(ctx, created))

		removed, err := w.RemoveExpiredKeys(ctx)
		must(t, err)
		w.clock.advance(24 * time.Hour)
		must(t, w.claimKey(w.alice, "k").Complete(ctx, created))
		w.clock.advance(time.Hour)
		late, err := w.RemoveExpiredKeys(ctx)
		must(t, err)
		if removed != 0 || late != 1 {
			t.Errorf("%d and %d keys were removed, want none, and then that of bob", removed, late)
		}
	})
}

// Errors are not stored: the key is free again. But if the outcome of a request is unknown, nothing runs again.
func TestKeysAfterErrors(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for _, mistake := range []bool{true, false} {
			must(t, w.claimKey(w.alice, "unchanged").Fail(ctx, mistake))
		}
		claim := w.claimKey(w.alice, "mistake")
		w.folderWith(claim, "a")
		must(t, claim.Fail(ctx, true))
		w.claimKey(w.alice, "mistake")

		claim = w.claimKey(w.alice, "changed")
		w.folderWith(claim, "b")
		must(t, claim.Fail(ctx, false))
		w.wantLost("changed")

		claim = w.claimKey(w.alice, "too large")
		w.folderWith(claim, "c")
		large := `"` + strings.Repeat("x", docgen.MaxStoredResponse) + `"`
		must(t, claim.Complete(ctx, docgen.StoredResponse{Status: 201, Body: json.RawMessage(large)}))
		w.wantLost("too large")
		must(t, w.claimKey(w.alice, "harmless").Complete(ctx, docgen.StoredResponse{Status: 200, Body: json.RawMessage(`{"a`), Lost: true}))
		w.claimKey(w.alice, "harmless")
	})
}

// folderWith creates a folder in a request with a key.
func (w *world) folderWith(claim *docgen.KeyClaim, name string) {
	w.t.Helper()
	_, err := w.CreateFolder(claim.Context(w.t.Context()), w.alice, docgen.NewFolder{Name: name})
	must(w.t, err)
}

func (w *world) wantLost(key string) {
	w.t.Helper()
	_, kept, err := w.ClaimKey(w.t.Context(), w.alice, keyed(key, "POST /folders"))
	must(w.t, err)
	wantCode(w.t, kept.Same("digest"), docgen.CodeKeyLost)
	wantCode(w.t, kept.Same("another"), docgen.CodeKeyReused)
}

// A server that crashes leaves its keys claimed for 30 s. Then a request that changed nothing runs again, and a batch is not created twice.
func TestKeysOfKilledServer(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		lost := w.claimKey(w.alice, "early")
		lost.Abandon()
		late := w.claimKey(w.alice, "late")
		id, err := w.CreateBatch(late.Context(ctx), w.alice, batchOf(template.ID, 0, "{}"))
		must(t, err)
		late.Abandon()
		changed := w.claimKey(w.alice, "changed")
		w.folderWith(changed, "a")
		changed.Abandon()

		w.clock.advance(29 * time.Second)
		_, _, err = w.ClaimKey(ctx, w.alice, keyed("early", "POST /folders"))
		if wantCode(t, err, docgen.CodeKeyInUse); asError(t, err).RetryAfter != time.Second {
			t.Errorf("Retry-After is %v, want 1s", asError(t, err).RetryAfter)
		}
		w.clock.advance(time.Second)
		w.claimKey(w.alice, "early")
		_, err = w.CreateBatch(lost.Context(ctx), w.alice, batchOf(template.ID, 0, "{}")) // it was only slow, and not dead
		wantCode(t, err, docgen.CodeKeyInUse)
		if n := w.count("SELECT COUNT(*) FROM docgen_batches"); n != 1 {
			t.Errorf("there are %d batches, want 1", n)
		}
		_, kept, err := w.ClaimKey(ctx, w.alice, keyed("late", "POST /folders"))
		must(t, err)
		if wantCode(t, kept.Same("digest"), ""); kept.Result != id {
			t.Errorf("the result is %q, want the batch %s", kept.Result, id)
		}
		w.wantLost("changed")
	})
}

// Of many requests with a key, on two servers, one runs at a time.
func TestConcurrentKeys(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		servers := []*docgen.Service{w.Service, w.again(docgen.Config{}).Service}
		var claims atomic.Int64
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				claim, _, err := servers[i%2].ClaimKey(context.WithoutCancel(t.Context()), w.alice, keyed("k", "POST /folders"))
				if claim != nil {
					claims.Add(1)
					claim.Abandon()
					return
				}
				wantCode(t, err, docgen.CodeKeyInUse)
			})
		}
		all.Wait()
		if n := claims.Load(); n != 1 {
			t.Errorf("%d requests have the key, want 1", n)
		}
	})
}

func TestMaximumOfKeys(t *testing.T) {
	runWith(t, docgen.Limits{Keys: 2}, func(t *testing.T, w *world) {
		w.claimKey(w.alice, "1")
		w.claimKey(w.alice, "2")
		_, _, err := w.ClaimKey(t.Context(), w.alice, keyed("3", "POST /folders"))
		wantCode(t, err, docgen.CodeRefused)
		w.claimKey(w.bob, "3")
		w.clock.advance(24 * time.Hour)
		w.claimKey(w.alice, "3")
	})
}
