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

// What a webhook is told.

type notification struct {
	Type           string             `json:"type" enum:"webhook_event"`
	ID             string             `json:"id" format:"uuid" doc:"Names the event. It is the same in every attempt to deliver it, and in the notifications of all webhooks that hear of it: use it to find out what came twice."`
	CreatedAt      timestamp          `json:"created_at" doc:"When it happened."`
	Trigger        triggerName        `json:"trigger"`
	Webhook        webhookRef         `json:"webhook" doc:"The webhook that asked for it."`
	CreatedBy      userMini           `json:"created_by" doc:"Who did it."`
	Source         notificationSource `json:"source" doc:"What it happened to, as GET /files/{file_id}, /folders/{folder_id} or /collaborations/{collaboration_id} answered the owner of the webhook at that moment; id and type alone of what the owner may not see. Of WEBHOOK.DELETED, the webhook."`
	AdditionalInfo additionalInfo     `json:"additional_info" doc:"What there is to say besides; an empty list when there is nothing."`
}

type webhookRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"webhook"`
}

// sourceRef is a source of which no more is told.
type sourceRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"file,folder,collaboration,webhook"`
}

// oneOf is a part of a notification that has several forms.
type oneOf struct{ shown any }

// MarshalJSON writes the form that there is.
func (o oneOf) MarshalJSON() ([]byte, error) { return marshal(o) }

// MarshalJSONTo does so into a notification.
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
		OldName string `json:"old_name" doc:"Of FILE.RENAMED and FOLDER.RENAMED: the name before."`
	}
	movedInfo struct {
		Before folderRef `json:"before" doc:"Of FILE.MOVED and FOLDER.MOVED: the folder that it came from; 0 is the root folder of a user."`
		After  folderRef `json:"after" doc:"The folder that it went to."`
	}
	copiedInfo struct {
		Copy itemRef `json:"copy" doc:"Of FILE.COPIED and FOLDER.COPIED: the copy."`
	}
	generatedInfo struct {
		Batch               batchRef          `json:"batch"`
		Job                 jobRef            `json:"job"`
		Status              docgen.Status     `json:"status" enum:"submitted,completed,completed_with_error,failed"`
		TemplateFile        namedFileRef      `json:"template_file"`
		TemplateFileVersion fileVersionRef    `json:"template_file_version"`
		Destination         folderRef         `json:"destination_folder" doc:"Where the document is written; 0 is the root folder of who made the batch."`
		OutputFile          optional[fileRef] `json:"output_file" doc:"The document; null where there is none."`
		OutputType          string            `json:"output_type" enum:"docx,pdf"`
		Reason              *string           `json:"reason" doc:"Why there is no document, or what it lacks; null otherwise."`
	}
	autoDeletedInfo struct {
		Reason string `json:"reason" doc:"Of WEBHOOK.DELETED: why the server deleted it." example:"target_deleted"`
	}
	testInfo struct {
		Test bool `json:"test" doc:"true: nothing happened, somebody tests the webhook."`
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
	forms := anyOf(r, reflect.TypeFor[renamedInfo](), reflect.TypeFor[movedInfo](), reflect.TypeFor[copiedInfo](), reflect.TypeFor[generatedInfo](),
		reflect.TypeFor[autoDeletedInfo](), reflect.TypeFor[testInfo]())
	none := 0
	forms.AnyOf = append(forms.AnyOf, &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}, MaxItems: &none})
	return forms
}

// Notification writes what a webhook is told, as it is sent: in ASCII, so that who reads it as any encoding, and who writes
// it again with escapes before checking its signature, has the same text.
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

// asciiJSON writes JSON so that it says the same in printable ASCII, with a backslash before every slash: as the clients of
// this interface write it again when a signature does not fit what they got.
func asciiJSON(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\':
			out = append(out, text[i:i+2]...)
			i += 2
		case c == '/': // which is nowhere but in strings
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

// appendEscaped adds a character by its number, or its two surrogates.
func appendEscaped(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	for _, unit := range utf16.AppendRune(nil, r) {
		out = append(out, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
	}
	return out
}

// describeNotifications documents what webhooks are sent, which no operation of this server is.
func (a *api) describeNotifications() {
	text := &huma.Schema{Type: huma.TypeString}
	header := func(name string, required bool, example any, description string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: required, Schema: text, Example: example, Description: description}
	}
	op := &huma.Operation{
		OperationID: "receive_notification", Tags: []string{tagWebhooks}, Summary: "Be told what happened",
		Description: "What a webhook's address is sent. Answer with a status from 200 to 299 within 30 seconds, and do the work afterwards. Any other " +
			"answer, redirects too, is a failure, and the notification is sent again later with the same body. It may come more than once also when it " +
			"was answered, and notifications come in any order: remember the ids of those that are done. Judge the signature before anything else, by the " +
			"bytes of the body as they came, and refuse timestamps older than 10 minutes. A notification is signed in two ways, each enough by itself: by " +
			"BOX-SIGNATURE headers, and by those of Standard Webhooks 1.0 (webhook-id, webhook-timestamp, webhook-signature), for which there are libraries " +
			"in many languages.",
		Security: []map[string][]string{},
		Parameters: []*huma.Param{
			header("BOX-DELIVERY-ID", true, "f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f", "Names this attempt."),
			header("BOX-DELIVERY-TIMESTAMP", true, "2026-01-31T12:00:01Z", "When this attempt was made."),
			header("BOX-SIGNATURE-PRIMARY", false, "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=",
				"HMAC-SHA256 of the body followed by BOX-DELIVERY-TIMESTAMP, in base64. Its key is the ASCII text of the application's primary key, all of it."),
			header("BOX-SIGNATURE-SECONDARY", false, "v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=", "The same with the secondary key. One of the two must fit."),
			header("BOX-SIGNATURE-VERSION", false, "1", "1."),
			header("BOX-SIGNATURE-ALGORITHM", false, "HmacSHA256", "HmacSHA256."),
			header("webhook-id", true, exampleEventID, "The id in the body."),
			header("webhook-timestamp", true, "1769860801", "When this attempt was made, in seconds since 1970."),
			header("webhook-signature", false, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
				"By Standard Webhooks 1.0: a signature for each key that signs at present, with blanks between them."),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			jsonType: {Schema: a.schemaOf(notification{}), Example: exampleNotification()},
		}},
		Responses: map[string]*huma.Response{
			"2XX": {Description: "The notification is taken."},
			"410": {Description: "The receiver wants nothing more: the webhook is disabled."},
			"429": {Description: "Too many: sent again later, not before Retry-After.", Headers: map[string]*huma.Param{"Retry-After": {
				Description: "Seconds, or a time of HTTP.", Schema: text,
			}}},
		},
	}
	a.huma.OpenAPI().Webhooks = map[string]*huma.PathItem{"notification": {Post: op}}
}

// A triggerName is a trigger; docgen knows them all.
type triggerName string

// triggerComponent is the name of the schema of a trigger in the OpenAPI document.
const triggerComponent = "Trigger"

// Schema describes a trigger for the OpenAPI document, once for all.
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
	schema.Description = "Something that happens to a file or folder. FILE.UPLOADED: a file came into the folder in any way, or has a new version. " +
		"Only for webhooks on folders: " + strings.Join(folders, ", ") + ". Taken, but never sent, because what they tell of does not happen on this " +
		"server: " + strings.Join(silent, ", ") + ". WEBHOOK.DELETED cannot be asked for: it is sent to every webhook that the server deletes."
	return schema
}
