package server

import (
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"platen/docgen"
)

// The parts of a notification.

type notification struct {
	Type           string             `json:"type" enum:"webhook_event"`
	ID             string             `json:"id" format:"uuid" doc:"The id of the event. It is the same for every attempt, and in the notifications of all webhooks that match the event. Use it to detect duplicates."`
	CreatedAt      timestamp          `json:"created_at" doc:"When the event happened."`
	Trigger        triggerName        `json:"trigger"`
	Webhook        webhookRef         `json:"webhook" doc:"The webhook that subscribes to the event."`
	CreatedBy      userMini           `json:"created_by" doc:"The user who caused the event."`
	Source         notificationSource `json:"source" doc:"The object of the event, as GET /files/{file_id}, /folders/{folder_id}, or /collaborations/{collaboration_id} showed it to the owner of the webhook at that moment; only id and type if the owner may not see it. For WEBHOOK.DELETED, the webhook."`
	AdditionalInfo additionalInfo     `json:"additional_info" doc:"Details of the event; an empty list if there are none."`
}

type webhookRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"webhook"`
}

// sourceRef is a source without details.
type sourceRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"file,folder,collaboration,webhook"`
}

// oneOf is a part of a notification that has several forms.
type oneOf struct{ shown any }

// MarshalJSON writes the form that is set.
func (o oneOf) MarshalJSON() ([]byte, error) { return marshal(o) }

// MarshalJSONTo writes it to a stream.
func (o oneOf) MarshalJSONTo(to *jsontext.Encoder) error { return json.MarshalEncode(to, o.shown) }

// notificationSource is a file, a folder, a collaboration, or a reference.
type notificationSource struct{ oneOf }

// Schema describes the sources for the OpenAPI document.
func (notificationSource) Schema(r huma.Registry) *huma.Schema {
	return anyOf(r, reflect.TypeFor[file](), reflect.TypeFor[folder](), reflect.TypeFor[collaboration](), reflect.TypeFor[sourceRef]())
}

// The forms of additional_info.
type (
	renamedInfo struct {
		OldName string `json:"old_name" doc:"For FILE.RENAMED and FOLDER.RENAMED: the previous name."`
	}
	movedInfo struct {
		Before folderRef `json:"before" doc:"For FILE.MOVED and FOLDER.MOVED: the source folder; 0 is the root folder of a user."`
		After  folderRef `json:"after" doc:"The destination folder."`
	}
	copiedInfo struct {
		Copy itemRef `json:"copy" doc:"For FILE.COPIED and FOLDER.COPIED: the copy."`
	}
	generatedInfo struct {
		Batch               batchRef          `json:"batch"`
		Job                 jobRef            `json:"job"`
		Status              docgen.Status     `json:"status" enum:"submitted,completed,completed_with_error,failed"`
		TemplateFile        namedFileRef      `json:"template_file"`
		TemplateFileVersion fileVersionRef    `json:"template_file_version"`
		Destination         folderRef         `json:"destination_folder" doc:"The destination of the document; 0 is the root folder of the user who created the batch."`
		OutputFile          optional[fileRef] `json:"output_file" doc:"The document; null if there is none."`
		OutputType          string            `json:"output_type" enum:"docx,pdf"`
		Reason              *string           `json:"reason" doc:"Why there is no document, or what it lacks; null otherwise."`
	}
	autoDeletedInfo struct {
		Reason string `json:"reason" doc:"For WEBHOOK.DELETED: why the server deleted the webhook." example:"target_deleted"`
	}
	testInfo struct {
		Test bool `json:"test" doc:"Always true: this is a test, not an event."`
	}
)

type jobRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"docgen_job"`
}

type namedFileRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"file"`
	Name string `json:"name"`
}

// additionalInfo is one of the forms, or an empty list.
type additionalInfo struct{ oneOf }

// Schema describes the forms for the OpenAPI document.
func (additionalInfo) Schema(r huma.Registry) *huma.Schema {
	forms := anyOf(r, reflect.TypeFor[renamedInfo](), reflect.TypeFor[movedInfo](), reflect.TypeFor[copiedInfo](),
		reflect.TypeFor[generatedInfo](),
		reflect.TypeFor[autoDeletedInfo](), reflect.TypeFor[testInfo]())
	none := 0
	forms.AnyOf = append(forms.AnyOf, &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}, MaxItems: &none})
	return forms
}

// Notification encodes a notification, as it is sent: in ASCII, so that receivers get the same text whatever encoding they assume, and
// even if they escape it again before they check the signature.
func Notification(n docgen.Notification) ([]byte, error) {
	text, err := marshal(notificationOf(n))
	return asciiJSON(text), err
}

func notificationOf(n docgen.Notification) notification {
	return notification{
		Type: "webhook_event", ID: n.EventID, CreatedAt: timestamp{n.CreatedAt}, Trigger: triggerName(n.Trigger),
		Webhook: webhookRef{ID: ID(n.WebhookID), Type: typeWebhook}, CreatedBy: userMiniOf(&n.CreatedBy),
		Source: sourceOf(n.Source), AdditionalInfo: additionalInfoOf(n.Info),
	}
}

func sourceOf(s docgen.Source) notificationSource {
	switch {
	case s.Collaboration != nil:
		shown := collaborationOf(s.Collaboration, nil)
		return notificationSource{oneOf{&shown}}
	case s.Item == nil:
		return notificationSource{oneOf{sourceRef{ID: ID(s.ID), Type: s.Type}}}
	case s.Item.Kind == docgen.Folder:
		return notificationSource{oneOf{&view[folder]{value: folderOf(s.Item)}}}
	}
	return notificationSource{oneOf{&view[file]{value: fileOf(s.Item)}}}
}

func additionalInfoOf(info docgen.Info) additionalInfo {
	switch i := info.(type) {
	case docgen.Renamed:
		return additionalInfo{oneOf{renamedInfo{i.OldName}}}
	case docgen.Moved:
		return additionalInfo{oneOf{movedInfo{folderRef{ID(i.BeforeID), typeFolder}, folderRef{ID(i.AfterID), typeFolder}}}}
	case docgen.Copied:
		return additionalInfo{oneOf{copiedInfo{itemRef{ID(i.ID), i.Kind.String()}}}}
	case docgen.Generated:
		return additionalInfo{oneOf{generatedInfoOf(&i)}}
	case docgen.AutoDeleted:
		return additionalInfo{oneOf{autoDeletedInfo{i.Reason}}}
	case docgen.Test:
		return additionalInfo{oneOf{testInfo{true}}}
	}
	return additionalInfo{oneOf{[]any{}}}
}

func generatedInfoOf(g *docgen.Generated) generatedInfo {
	info := generatedInfo{
		Batch: batchRef{g.BatchID, typeBatch}, Job: jobRef{ID(g.JobID), typeJob}, Status: g.Status,
		TemplateFile:        namedFileRef{ID(g.TemplateID), typeFile, g.TemplateName},
		TemplateFileVersion: fileVersionRef{ID(g.TemplateVersionID), typeFileVersion},
		Destination:         folderRef{ID(g.DestinationID), typeFolder},
		OutputType:          g.OutputType, Reason: orNull(strings.Join(g.Failures, "\n")),
	}
	if g.OutputFileID != 0 {
		info.OutputFile.value = &fileRef{ID(g.OutputFileID), typeFile}
	}
	return info
}

// asciiJSON rewrites JSON in printable ASCII, with a backslash before every slash, like clients of the Box API do when a signature does
// not match the body they received.
func asciiJSON(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\':
			out = append(out, text[i:i+2]...)
			i += 2
		case c == '/': // which occurs only in strings
			out = append(out, `\/`...)
			i++
		case c < 0x7f:
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			out = appendEscaped(out, r)
			i += size
		}
	}
	return out
}

// appendEscaped appends a character as its code point, or as two surrogates.
func appendEscaped(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	for _, unit := range utf16.AppendRune(nil, r) {
		out = append(out, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
	}
	return out
}

// describeNotifications documents the notifications, which are requests from this server.
func (a *api) describeNotifications() {
	text := &huma.Schema{Type: huma.TypeString}
	header := func(name string, required bool, example any, description string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: required, Schema: text, Example: example, Description: description}
	}
	op := &huma.Operation{
		OperationID: "receive_notification", Tags: []string{tagWebhooks}, Summary: "Receive notifications of events",
		Description: "The request that a webhook's address receives. Respond with a status from 200 to 299 within 30 seconds, and " +
			"process the event afterward. Any other response, including a redirect, is a failure, and the server sends the same body " +
			"again later. A notification can arrive more than once, even after a successful response, and in any order: remember the " +
			"ids that you have processed. Verify the signature first, over the raw bytes of the body, and reject timestamps older " +
			"than 10 minutes. Every notification has two kinds of signatures, and either is sufficient: the BOX-SIGNATURE headers, " +
			"and those of Standard Webhooks 1.0 (webhook-id, webhook-timestamp, webhook-signature), which libraries in many languages " +
			"support.",
		Security: []map[string][]string{},
		Parameters: []*huma.Param{
			header("BOX-DELIVERY-ID", true, "f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f", "Identifies this attempt."),
			header("BOX-DELIVERY-TIMESTAMP", true, "2026-01-31T12:00:01Z", "The time of this attempt."),
			header("BOX-SIGNATURE-PRIMARY", false, "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=",
				"HMAC-SHA256 of the body followed by BOX-DELIVERY-TIMESTAMP, in base64. The key is the complete ASCII text of the "+
					"application's primary key."),
			header("BOX-SIGNATURE-SECONDARY", false, "v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=",
				"The same with the secondary key. One of the two must match."),
			header("BOX-SIGNATURE-VERSION", false, "1", "1."),
			header("BOX-SIGNATURE-ALGORITHM", false, "HmacSHA256", "HmacSHA256."),
			header("webhook-id", true, exampleEventID, "The id in the body."),
			header("webhook-timestamp", true, "1769860801", "The time of this attempt, in seconds since 1970."),
			header("webhook-signature", false, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
				"As in Standard Webhooks 1.0: one signature for each current key, separated by spaces."),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			jsonType: {Schema: a.schemaOf(notification{}), Example: exampleNotification()},
		}},
		Responses: map[string]*huma.Response{
			"2XX": {Description: "The receiver accepted the notification."},
			"410": {Description: "The receiver wants no more notifications: the webhook is disabled."},
			"429": {Description: "Too many requests: the server retries after Retry-After.", Headers: map[string]*huma.Param{"Retry-After": {
				Description: "Seconds, or an HTTP date.", Schema: text,
			}}},
		},
	}
	a.huma.OpenAPI().Webhooks = map[string]*huma.PathItem{"notification": {Post: op}}
}

// A triggerName is a trigger. docgen validates it.
type triggerName string

// triggerComponent is the name of the schema of a trigger in the OpenAPI document.
const triggerComponent = "Trigger"

// Schema describes a trigger for the OpenAPI document, as a shared component.
func (triggerName) Schema(r huma.Registry) *huma.Schema {
	if _, ok := r.Map()[triggerComponent]; !ok {
		r.Map()[triggerComponent] = triggerSchema()
	}
	return &huma.Schema{Ref: "#/components/schemas/" + triggerComponent}
}

func triggerSchema() *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	var folders, silent []string
	for _, rule := range docgen.Triggers() {
		name := string(rule.Trigger)
		schema.Enum = append(schema.Enum, name)
		if !rule.Files && !rule.NotSelectable {
			folders = append(folders, name)
		}
		if !rule.Fired {
			silent = append(silent, name)
		}
	}
	schema.Description = "An event on a file or folder. FILE.UPLOADED: a file was added to the folder in any way, or has a new version. " +
		"Only for webhooks on folders: " + strings.Join(folders, ", ") + ". Accepted but never sent, because this server has no such " +
		"events: " + strings.Join(silent, ", ") + ". You cannot subscribe to WEBHOOK.DELETED: every webhook that the server deletes " +
		"receives it."
	return schema
}
