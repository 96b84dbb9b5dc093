package docgen

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"platen/store"
)

// A client that does not get a response cannot know whether its request was processed. With an idempotency key, it can send the request
// again: the first request claims the key before it begins, and every transaction of the request records in the row of the key that
// something has changed. So the key and the effect are durable together, and a request that lost its claim can commit nothing. When the
// request has ended, its response is stored, and repeated requests get it.
//
// A request that ends without a response, because the server crashed, leaves the key claimed for keyLease. If it has changed nothing, the
// next request takes the key over and runs. If it has recorded what it created, the next request gets the response for that. Otherwise,
// the outcome is unknown, and the next request gets CodeKeyLost, but nothing happens twice.

const (
	keyLife  = 24 * time.Hour   // how long a key is kept after its first request began
	keyLease = 30 * time.Second // how long a key stays claimed after its server was last alive
	// MaxStoredResponse is the maximum number of bytes of a response that is stored. A larger one is sent only once.
	MaxStoredResponse = 32 << 10
	// keyPortion is the number of keys that one transaction deletes.
	keyPortion = 500
)

// StoredResponse is the response of a request with an idempotency key.
type StoredResponse struct {
	Status int               `json:"-"`
	Header map[string]string `json:"header,omitempty"`
	Body   json.RawMessage   `json:"body,omitempty"` // nil for a response without a body
	Lost   bool              `json:"-"`              // only the status is known
	FileID int64             `json:"file,omitempty"` // what the request stored, if the response is not stored, but has this file
}

// KeyedRequest is a request with an idempotency key.
type KeyedRequest struct {
	Key    string
	Target string        // method, path, and query
	Scope  Scope         // that the operation requires; "" for none
	Digest func() string // digest of the body as far as it is known: "" until it was read completely
}

// KeyClaim is the claim of a request on its idempotency key. It ends with Complete or Fail.
type KeyClaim struct {
	service *Service
	row     store.IdempotencyKey
	digest  func() string
	result  string // what the request has created
	stop    context.CancelFunc
	renewed sync.WaitGroup
}

// KeptKey is a key whose request has ended.
type KeptKey struct {
	Response StoredResponse // if Result is empty
	Result   string         // what the request created, if the server crashed before it stored the response
	digest   string
}

// Same returns an Error unless a body has the digest of the body of the first request.
func (k *KeptKey) Same(digest string) error {
	if k.digest != "" && k.digest != digest {
		return errKeyReused()
	}
	if k.Response.FileID != 0 {
		return failf(CodeKeyLost, "The first request with this Idempotency-Key stored its document as file %d. The response was sent only "+
			"once: download the file.", k.Response.FileID)
	}
	if k.Result == "" && k.Response.Lost {
		return failf(CodeKeyLost, "The first request with this Idempotency-Key was processed, but its response was not stored: it was "+
			"interrupted or too large. Check the result of that request before you send another one with another key.")
	}
	return nil
}

func errKeyReused() error {
	return failf(CodeKeyReused, "A different request was sent with this Idempotency-Key. Send each request with its own key, and repeat "+
		"a request unchanged.")
}

func errKeyInUse(wait time.Duration) error {
	return &Error{Code: CodeKeyInUse, RetryAfter: max(wait, time.Second),
		Message: "The first request with this Idempotency-Key has not ended. Send the request again later to get its response."}
}

// ClaimKey claims an idempotency key for a request. If an earlier request has ended, it returns that instead. If another request holds the
// key, the Error has CodeKeyInUse; if it was another request, CodeKeyReused.
func (s *Service) ClaimKey(ctx context.Context, c *Caller, r KeyedRequest) (*KeyClaim, *KeptKey, error) {
	if r.Scope != "" {
		if err := c.require(r.Scope); err != nil {
			return nil, nil, err
		}
	}
	now := s.micros()
	row := store.IdempotencyKey{
		UserID: c.User.ID, ApplicationID: c.ApplicationID, Name: r.Key, Request: digestOf(r.Target), Claim: uuid.NewString(),
		ClaimedUntil: now + keyLease.Microseconds(), CreatedAt: now, ExpiresAt: now + keyLife.Microseconds(),
	}
	var kept *KeptKey
	err := s.db.WriteAsync(ctx, func(tx *store.Tx) (err error) {
		kept, err = s.claimKey(ctx, tx, row, now)
		return err
	})
	if err != nil || kept != nil {
		return nil, kept, err
	}
	claim := &KeyClaim{service: s, row: row, digest: r.Digest}
	claim.hold(ctx)
	return claim, nil, nil
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// claimKey claims a key in a transaction, or returns what is kept of an earlier request.
func (s *Service) claimKey(ctx context.Context, tx *store.Tx, row store.IdempotencyKey, now int64) (*KeptKey, error) {
	err := tx.DeleteExpiredKey(ctx, store.DeleteExpiredKeyParams{
		UserID: row.UserID, ApplicationID: row.ApplicationID, Name: row.Name, Now: now,
	})
	if err != nil {
		return nil, err
	}
	known, err := tx.Key(ctx, row.UserID, row.ApplicationID, row.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, s.insertRequestKey(ctx, tx, row)
	}
	if err != nil {
		return nil, err
	}
	switch wait := time.Duration(known.ClaimedUntil-now) * time.Microsecond; {
	case known.Request != row.Request:
		return nil, errKeyReused()
	case known.Status == 0 && wait > 0:
		return nil, errKeyInUse(wait)
	case known.Status == 0 && !known.Changed:
		return nil, takeRequestKey(ctx, tx, row, known, now)
	}
	kept := &KeptKey{digest: known.Body, Response: StoredResponse{Status: int(known.Status), Lost: known.Response == ""}}
	if known.Status == 0 {
		kept.Result = known.Result
	}
	if known.Response != "" {
		err = json.Unmarshal([]byte(known.Response), &kept.Response)
	}
	return kept, err
}

func (s *Service) insertRequestKey(ctx context.Context, tx *store.Tx, row store.IdempotencyKey) error {
	most := int64(s.limits.Keys)
	user, err := s.keys.user(row.UserID, s.now(), func() (int64, error) { return tx.CountKeys(ctx, row.UserID, row.CreatedAt, int32(most)) })
	if err != nil {
		return err
	}
	if !s.keys.take(user, most) {
		return failf(CodeRefused, "The user has %d idempotency keys of the last 24 hours, the maximum. Send the request without "+
			"Idempotency-Key, or wait until keys expire.", most)
	}
	n, err := tx.InsertKey(ctx, store.InsertKeyParams{
		UserID: row.UserID, ApplicationID: row.ApplicationID, Name: row.Name, Request: row.Request, Claim: row.Claim,
		ClaimedUntil: row.ClaimedUntil, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt,
	})
	if err == nil && n == 0 { // another server was faster
		err = errKeyInUse(keyLease)
	}
	return err
}

// takeKey takes over the key of a lost request that has changed nothing.
func takeRequestKey(ctx context.Context, tx *store.Tx, row, known store.IdempotencyKey, now int64) error {
	n, err := tx.TakeKey(ctx, store.TakeKeyParams{
		UserID: row.UserID, ApplicationID: row.ApplicationID, Name: row.Name, Claim: row.Claim, Until: row.ClaimedUntil,
		Was: known.Claim, Now: now,
	})
	if err == nil && n == 0 {
		err = errKeyInUse(keyLease)
	}
	return err
}

// hold keeps the claim while the request runs.
func (k *KeyClaim) hold(ctx context.Context) {
	ctx, k.stop = context.WithCancel(context.WithoutCancel(ctx))
	k.renewed.Go(func() {
		tick := time.NewTicker(keyLease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := k.service.db.WriteAsync(ctx, func(tx *store.Tx) error {
				_, err := tx.HoldKey(ctx, store.HoldKeyParams{
					UserID: k.row.UserID, ApplicationID: k.row.ApplicationID, Name: k.row.Name, Claim: k.row.Claim,
					Until: k.service.micros() + keyLease.Microseconds(),
				})
				return err
			})
			if err != nil && ctx.Err() == nil {
				k.service.log.WarnContext(ctx, "cannot extend the claim of a request on its idempotency key", "error", err)
			}
		}
	})
}

type keyClaimKey struct{}

// Context returns a context whose durable transactions record that the request has changed something.
func (k *KeyClaim) Context(ctx context.Context) context.Context {
	return store.WithLastStep(context.WithValue(ctx, keyClaimKey{}, k), k.noteChange)
}

// noteChange is the last step of each transaction of the request.
func (k *KeyClaim) noteChange(ctx context.Context, tx *store.Tx) error {
	n, err := tx.NoteChange(ctx, store.NoteChangeParams{
		UserID: k.row.UserID, ApplicationID: k.row.ApplicationID, Name: k.row.Name, Claim: k.row.Claim, Body: k.digest(), Result: k.result,
	})
	if err == nil && n == 0 {
		err = errKeyInUse(keyLease)
	}
	return err
}

// noteResult records what a request with an idempotency key creates in the current transaction. After a crash, that is enough for the
// response.
func noteResult(ctx context.Context, result string) {
	if k, ok := ctx.Value(keyClaimKey{}).(*KeyClaim); ok {
		k.result = result
	}
}

// Complete stores the response of a request that succeeded. A response that is Lost or too large is not stored; if the request has changed
// nothing, the key is then free again.
func (k *KeyClaim) Complete(ctx context.Context, r StoredResponse) error {
	if r.Lost {
		return k.end(ctx, r.Status)
	}
	text, err := json.Marshal(r)
	if err != nil || len(text) > MaxStoredResponse {
		return errors.Join(err, k.end(ctx, r.Status))
	}
	return k.finish(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.EndKey(ctx, k.ending(r, string(text)))
		return err
	})
}

// Fail ends a request that failed. If it was a mistake of the client, or if the request has changed nothing, the key is free again.
// Otherwise, the outcome is unknown.
func (k *KeyClaim) Fail(ctx context.Context, mistake bool) error {
	if !mistake {
		return k.end(ctx, 0)
	}
	return k.finish(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ForgetKey(ctx, store.ForgetKeyParams(k.deletion()))
		return err
	})
}

func (k *KeyClaim) deletion() store.DeleteKeyParams {
	return store.DeleteKeyParams{UserID: k.row.UserID, ApplicationID: k.row.ApplicationID, Name: k.row.Name, Claim: k.row.Claim}
}

func (k *KeyClaim) ending(r StoredResponse, text string) store.EndKeyParams {
	return store.EndKeyParams{
		UserID: k.row.UserID, ApplicationID: k.row.ApplicationID, Name: k.row.Name, Claim: k.row.Claim,
		Status: int64(r.Status), Response: text, Body: k.digest(),
	}
}

// end ends a request without a response to store: if it has changed nothing, it deletes the key. A status of 0 means that the outcome is
// unknown.
func (k *KeyClaim) end(ctx context.Context, status int) error {
	return k.finish(ctx, func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.DeleteKey(ctx, k.deletion())
		if err != nil || n > 0 {
			return err
		}
		if status == 0 { // nothing works on it anymore
			_, err = tx.HoldKey(ctx, store.HoldKeyParams{
				UserID: k.row.UserID, ApplicationID: k.row.ApplicationID, Name: k.row.Name, Claim: k.row.Claim,
			})
			return err
		}
		_, err = tx.EndKey(ctx, k.ending(StoredResponse{Status: status}, ""))
		return err
	})
}

// finish ends the claim in a transaction, whether or not ctx has ended.
func (k *KeyClaim) finish(ctx context.Context, end func(ctx context.Context, tx *store.Tx) error) error {
	k.stop()
	k.renewed.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	return k.service.db.WriteAsync(ctx, func(tx *store.Tx) error { return end(ctx, tx) })
}

// RemoveKeys is the task that deletes expired idempotency keys.
type RemoveKeys struct{}

// Kind names the task.
func (RemoveKeys) Kind() string { return "remove_idempotency_keys" }

// ScheduleKeys schedules the deletion of expired idempotency keys, now and again for as long as the task is snoozed.
func (s *Service) ScheduleKeys(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: RemoveKeys{}, Unique: true, Priority: 4, Tries: maintenanceTries})
		return err
	})
}

// RemoveExpiredKeys deletes the idempotency keys whose time is up, and returns their number.
func (s *Service) RemoveExpiredKeys(ctx context.Context) (removed int64, err error) {
	for portion := int64(keyPortion); err == nil && portion == keyPortion; removed += portion {
		err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
			portion, err = tx.DeleteExpiredKeys(ctx, s.micros(), keyPortion)
			return err
		})
	}
	return removed, err
}
