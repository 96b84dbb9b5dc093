package server_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"platen/docgen"
	"platen/server"
)

const eventID = "eb0c4e06-751f-442c-86f8-fd5bb404dbec"

// notificationOf returns a notification of an event for an object with the given name.
func notificationOf(name string, info docgen.Info) docgen.Notification {
	by := docgen.UserRef{ID: 7, Name: name, Login: "ada@example.com"}
	return docgen.Notification{
		EventID: eventID, Trigger: docgen.FileRenamed, CreatedAt: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), WebhookID: 53, CreatedBy: by,
		Source: docgen.Source{Type: "file", ID: 12, Item: &docgen.Item{Kind: docgen.File, ID: 12, ETag: 3, Name: name, Owner: by,
			CreatedBy: by, ModifiedBy: by}},
		Info: info,
	}
}

// TestNotificationBytes shows the exact bytes of notifications.
func TestNotificationBytes(t *testing.T) {
	user := `{"type":"user","id":"7","name":"Ada","login":"ada@example.com"}`
	head := `{"type":"webhook_event","id":"` + eventID + `","created_at":"2026-01-31T12:00:00+00:00","trigger":"FILE.RENAMED",` +
		`"webhook":{"id":"53","type":"webhook"},"created_by":` + user + `,"source":`
	hidden := notificationOf("Ada", nil)
	hidden.Source.Item = nil
	for name, c := range map[string]struct {
		n    docgen.Notification
		want string
	}{
		"a source that the owner does not see": {hidden, head + `{"id":"12","type":"file"},"additional_info":[]}`},
		"WEBHOOK.DELETED": {
			docgen.Notification{
				EventID: eventID, Trigger: docgen.WebhookDeleted, CreatedAt: hidden.CreatedAt, WebhookID: 53, CreatedBy: hidden.CreatedBy,
				Source: docgen.Source{Type: "webhook", ID: 53}, Info: docgen.AutoDeleted{Reason: "target_deleted"},
			},
			strings.Replace(head, "FILE.RENAMED", "WEBHOOK.DELETED", 1) +
				`{"id":"53","type":"webhook"},"additional_info":{"reason":"target_deleted"}}`,
		},
		"another name, not in ASCII": {
			docgen.Notification{
				EventID: eventID, Trigger: docgen.FileRenamed, CreatedAt: hidden.CreatedAt, WebhookID: 53, CreatedBy: hidden.CreatedBy,
				Source: hidden.Source, Info: docgen.Renamed{OldName: "Größe / \"日本\" \\/ \U0001F469\u007f~.txt"},
			},
			head + `{"id":"12","type":"file"},"additional_info":{"old_name":"Gr\u00f6\u00dfe \/ \"\u65e5\u672c\" \\\/ \ud83d\udc69\u007f~.txt"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := server.Notification(c.n)
			must(t, err)
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNotificationIsASCII compares a notification with the same JSON without escapes.
func TestNotificationIsASCII(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := notificationOf(rapid.String().Draw(t, "name"),
			docgen.Renamed{OldName: rapid.StringOf(rapid.SampledFrom([]rune(`/\"a<é€😀`+"\x7f\x00\u2028"))).Draw(t, "old name")})
		sent, err := server.Notification(n)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := server.PlainNotification(n)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range sent {
			if c < ' ' || c > '~' || c == '/' && sent[i-1] != '\\' {
				t.Fatalf("byte %d is %q: %s", i, c, sent)
			}
		}
		var got, want any
		if err := json.Unmarshal(sent, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("sent %s\nplain %s", sent, plain)
		}
	})
}
