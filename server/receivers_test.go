package server_test

import (
	"testing"
	"time"

	"platen/docgen"
)

func TestReceiverOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		hook := id(w.hook("inbox"))
		get := func() object { return w.do("GET /webhooks/"+hook+"/receiver", request{}).want(w.t, 200) }
		if r := get(); r["state"] != "working" || r["last_failure"] != nil || r["resting_until"] != nil || r["next_attempt_at"] != nil {
			w.t.Errorf("of a new webhook: %v", r)
		}
		sent := w.do("POST /webhooks/"+hook+"/test", request{body: object{"trigger": "FILE.UPLOADED"}}).want(w.t, 202)
		now := time.UnixMicro(w.clock.Load())
		w.tried(sent["id"].(string), docgen.AttemptResult{
			Attempt: docgen.Attempt{Outcome: "busy", Status: 503, Reason: "the receiver answered 503"}, Again: now.Add(time.Minute),
			Health: docgen.Unhealthy, RestingUntil: now.Add(time.Minute), RetryAfter: time.Minute,
		})
		r := get()
		failure := r["last_failure"].(object)
		if r["state"] != "resting" || r["resting_until"] == nil || r["failures"] != 1.0 || r["pending_deliveries"] != 1.0 ||
			failure["status"] != 503.0 || failure["retry_after_seconds"] != 60.0 || failure["reason"] != "the receiver answered 503" {
			w.t.Errorf("while it rests: %v", r)
		}
		w.clock.Add((2 * time.Minute).Microseconds())
		w.tried(sent["id"].(string), docgen.AttemptResult{
			Attempt: docgen.Attempt{Outcome: "timeout", Reason: "no response"}, Again: now.Add(time.Minute), Health: docgen.Unhealthy,
		})
		r = get()
		if failure := r["last_failure"].(object); r["state"] != "failing" || failure["status"] != nil || failure["retry_after_seconds"] != nil {
			w.t.Errorf("while it fails: %v", r)
		}
	})
}
