package docgen

import (
	"slices"
	"strings"
)

// Trigger is a kind of event of files or folders that webhooks can be notified of.
type Trigger string

// The triggers that this server fires.
const (
	FileUploaded   Trigger = "FILE.UPLOADED" // a file was added to a folder in any way, or has a new version
	FileDownloaded Trigger = "FILE.DOWNLOADED"
	FileTrashed    Trigger = "FILE.TRASHED"
	FileDeleted    Trigger = "FILE.DELETED" // permanently
	FileRestored   Trigger = "FILE.RESTORED"
	FileCopied     Trigger = "FILE.COPIED"
	FileMoved      Trigger = "FILE.MOVED"
	FileRenamed    Trigger = "FILE.RENAMED"

	FolderCreated    Trigger = "FOLDER.CREATED"
	FolderDownloaded Trigger = "FOLDER.DOWNLOADED"
	FolderTrashed    Trigger = "FOLDER.TRASHED"
	FolderDeleted    Trigger = "FOLDER.DELETED" // permanently
	FolderRestored   Trigger = "FOLDER.RESTORED"
	FolderCopied     Trigger = "FOLDER.COPIED"
	FolderMoved      Trigger = "FOLDER.MOVED"
	FolderRenamed    Trigger = "FOLDER.RENAMED"

	CollaborationWasCreated  Trigger = "COLLABORATION.CREATED"
	CollaborationWasAccepted Trigger = "COLLABORATION.ACCEPTED"
	CollaborationWasRejected Trigger = "COLLABORATION.REJECTED"
	CollaborationWasRemoved  Trigger = "COLLABORATION.REMOVED"
	CollaborationWasUpdated  Trigger = "COLLABORATION.UPDATED"

	SharedLinkCreated Trigger = "SHARED_LINK.CREATED"
	SharedLinkUpdated Trigger = "SHARED_LINK.UPDATED"
	SharedLinkDeleted Trigger = "SHARED_LINK.DELETED"

	DocumentStarted   Trigger = "DOCGEN_DOCUMENT_GENERATION_STARTED"
	DocumentSucceeded Trigger = "DOCGEN_DOCUMENT_GENERATION_SUCCEEDED"
	DocumentFailed    Trigger = "DOCGEN_DOCUMENT_GENERATION_FAILED"

	WebhookDeleted Trigger = "WEBHOOK.DELETED" // sent to every webhook that the server deletes, without a subscription
)

// A TriggerRule determines the targets that a webhook with a trigger can have, and whether this server fires the
// trigger. Other triggers are accepted, but their events do not exist here.
type TriggerRule struct {
	Trigger       Trigger
	Files, Fired  bool // every trigger except WebhookDeleted is valid for folders
	NotSelectable bool
}

// triggerRules lists every trigger, in the order of the documentation.
var triggerRules = []TriggerRule{
	{Trigger: FileUploaded, Fired: true},
	{Trigger: "FILE.PREVIEWED", Files: true},
	{Trigger: FileDownloaded, Files: true, Fired: true},
	{Trigger: FileTrashed, Files: true, Fired: true},
	{Trigger: FileDeleted, Files: true, Fired: true},
	{Trigger: FileRestored, Files: true, Fired: true},
	{Trigger: FileCopied, Files: true, Fired: true},
	{Trigger: FileMoved, Files: true, Fired: true},
	{Trigger: "FILE.LOCKED", Files: true},
	{Trigger: "FILE.UNLOCKED", Files: true},
	{Trigger: FileRenamed, Files: true, Fired: true},
	{Trigger: FolderCreated, Fired: true},
	{Trigger: FolderRenamed, Fired: true},
	{Trigger: FolderDownloaded, Fired: true},
	{Trigger: FolderRestored, Fired: true},
	{Trigger: FolderDeleted, Fired: true},
	{Trigger: FolderCopied, Fired: true},
	{Trigger: FolderMoved, Fired: true},
	{Trigger: FolderTrashed, Fired: true},
	{Trigger: CollaborationWasCreated, Fired: true},
	{Trigger: CollaborationWasAccepted, Fired: true},
	{Trigger: CollaborationWasRejected, Fired: true},
	{Trigger: CollaborationWasRemoved, Fired: true},
	{Trigger: CollaborationWasUpdated, Fired: true},
	{Trigger: DocumentStarted, Files: true, Fired: true},
	{Trigger: DocumentSucceeded, Files: true, Fired: true},
	{Trigger: DocumentFailed, Files: true, Fired: true},
	{Trigger: "COMMENT.CREATED", Files: true},
	{Trigger: "COMMENT.UPDATED", Files: true},
	{Trigger: "COMMENT.DELETED", Files: true},
	{Trigger: "METADATA_INSTANCE.CREATED", Files: true},
	{Trigger: "METADATA_INSTANCE.UPDATED", Files: true},
	{Trigger: "METADATA_INSTANCE.DELETED", Files: true},
	{Trigger: SharedLinkCreated, Files: true, Fired: true},
	{Trigger: SharedLinkUpdated, Files: true, Fired: true},
	{Trigger: SharedLinkDeleted, Files: true, Fired: true},
	{Trigger: "TASK_ASSIGNMENT.CREATED", Files: true},
	{Trigger: "TASK_ASSIGNMENT.UPDATED", Files: true},
	{Trigger: "SIGN_REQUEST.COMPLETED", Files: true},
	{Trigger: "SIGN_REQUEST.DECLINED", Files: true},
	{Trigger: "SIGN_REQUEST.EXPIRED", Files: true},
	{Trigger: "SIGN_REQUEST.SIGNER_EMAIL_BOUNCED", Files: true},
	{Trigger: "SIGN_REQUEST.SIGNER_SIGNED", Files: true},
	{Trigger: "SIGN_REQUEST.SIGN_SIGNER_SIGNED", Files: true},
	{Trigger: "SIGN_REQUEST.SIGNATURE_REQUESTED", Files: true},
	{Trigger: "SIGN_REQUEST.SIGN_DOCUMENT_CREATED", Files: true},
	{Trigger: "SIGN_REQUEST.ERROR_FINALIZING", Files: true},
	{Trigger: "SIGN_REQUEST.SIGN_ERROR_FINALIZING", Files: true},
	{Trigger: WebhookDeleted, Fired: true, NotSelectable: true},
}

// Triggers returns all triggers with their rules.
func Triggers() []TriggerRule { return slices.Clone(triggerRules) }

// ruleOf returns the rule of a trigger, or nil if there is no such trigger.
func ruleOf(trigger Trigger) *TriggerRule {
	i := slices.IndexFunc(triggerRules, func(r TriggerRule) bool { return r.Trigger == trigger })
	if i < 0 {
		return nil
	}
	return &triggerRules[i]
}

// triggerProblem returns why a webhook on a kind of target cannot have a trigger, or "" if it can.
func triggerProblem(trigger Trigger, kind Kind) string {
	switch rule := ruleOf(trigger); {
	case rule == nil:
		return "unknown trigger; the documentation of webhooks lists all triggers"
	case rule.NotSelectable:
		return string(trigger) + " cannot be subscribed to: it is sent to every webhook that the server deletes"
	case kind == File && !rule.Files:
		return string(trigger) + " is only valid for folders: omit it, or create a webhook on the folder of the file"
	}
	return ""
}

// joinTriggers returns the stored form of triggers: their names, separated by spaces.
func joinTriggers(triggers []Trigger) string {
	names := make([]string, len(triggers))
	for i, t := range triggers {
		names[i] = string(t)
	}
	return strings.Join(names, " ")
}

func splitTriggers(text string) []Trigger {
	triggers := []Trigger{}
	for name := range strings.FieldsSeq(text) {
		triggers = append(triggers, Trigger(name))
	}
	return triggers
}
