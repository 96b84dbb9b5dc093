package server

import (
	"net/http"
	"time"

	"platen/docgen"
)

// The examples of the documentation. They are values of the types on the wire, so they are always valid.

const (
	exampleFile       ID = 12345678
	exampleVersion    ID = 87654321
	exampleFolder     ID = 22334455
	exampleHook       ID = 13579246
	exampleDeliveryID ID = 24680135
	exampleBatchID       = "64528422-fbf4-4f8d-b6a0-b099c6572cf2"
	exampleSHA1          = "85136c79cbf9fe36bb9d05d0639c70c265c18d37"
	exampleEventID       = "eb0c4e06-751f-442c-86f8-fd5bb404dbec"
)

var (
	exampleTime   = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	exampleETag   = "3"
	exampleAuthor = userMini{Type: typeUser, ID: 33445566, Name: "Ada Lovelace", Login: "ada@example.com"}
	exampleRoot   = folderMini{Type: typeFolder, ID: 0, Name: "All Files"}
)

func (a *api) exampleError(code docgen.Code) *errorBody {
	kind := kindOf(code)
	return &errorBody{
		Type: "error", Status: kind.Status, Code: code, Message: http.StatusText(kind.Status),
		HelpURL: a.baseURL + "/docs/errors#" + string(code), RequestID: "9bfc9e4f1d2b4a0c8f6e5d4c3b2a1908",
	}
}

func exampleJob() job {
	return job{
		ID: 22234947, Type: typeJob, Batch: batchRef{ID: exampleBatchID, Type: typeBatch},
		TemplateFile:        fileRef{ID: exampleFile, Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: exampleVersion, Type: typeFileVersion},
		Status:              docgen.StatusCompleted, OutputType: docgen.OutputPDF,
		OutputFile:        optional[fileRef]{&fileRef{ID: 44556677, Type: typeFile}},
		OutputFileVersion: optional[fileVersionRef]{&fileVersionRef{ID: 55667788, Type: typeFileVersion}},
		Fonts: &fontReport{
			AskedFor: []askedFont{{Name: "Calibri", Status: "metric_compatible", Used: "Carlito", Characters: 52}},
			Used:     []string{"Carlito"}, Fallback: []glyphs{}, Missing: []glyphs{},
		},
		CreatedAt: timestamp{exampleTime}, CreatedBy: userRef{ID: exampleAuthor.ID, Type: typeUser},
		Enterprise: enterpriseRef{ID: 11223344, Type: typeEnterprise}, Source: docgen.InputSource,
	}
}

func exampleContract() contract {
	schema := anyObject(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
		`"properties":{"name":{"type":"string"}},"required":["name"]}`)
	sample := anyObject(`{"name":"Ada Lovelace"}`)
	return contract{
		TemplateFile:        fileRef{ID: exampleFile, Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: exampleVersion, Type: typeFileVersion},
		Schema:              optional[anyObject]{&schema}, Sample: optional[anyObject]{&sample}, Failures: failuresOf(docgen.Failures{}),
	}
}

func exampleBatch() createBatchRequest {
	return createBatchRequest{
		File:        templateFileRef{ID: exampleFile, Type: typeFile},
		InputSource: docgen.InputSource,
		Destination: folderRef{ID: exampleFolder, Type: typeFolder},
		OutputType:  docgen.OutputPDF,
		Options: &batchOptions{
			Locale: "de-CH", TimeZone: "Europe/Paris", Missing: "blank",
			PDF: &pdfOptions{Watermark: "DRAFT", Permissions: &pdfPermissions{Print: docgen.PrintLowQuality},
				Merged: &pdfMerged{Name: "All invoices"}},
		},
		Data: []documentToMake{{
			Name: "Invoice 4711",
			Input: userInput{new(docgen.Inputs).Parse([]byte(`{"customer":{"name":"Example Ltd"},"items":[{"name":"A4 ` +
				`paper","quantity":100,"price":"29.00"}]}`))},
		}},
	}
}

func exampleBatchObject() batch {
	asked := exampleBatch()
	return batch{
		ID: exampleBatchID, Type: typeBatch, TemplateFile: fileRef{ID: exampleFile, Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: exampleVersion, Type: typeFileVersion}, DestinationFolder: asked.Destination,
		OutputType: asked.OutputType, Options: *asked.Options, IsProtected: true, Jobs: jobCounts{Total: 100, Completed: 100},
		Merged: optional[mergedOutput]{&mergedOutput{
			Name: "All invoices.pdf", Status: docgen.StatusCompleted,
			OutputFile:        optional[fileRef]{&fileRef{ID: 44556688, Type: typeFile}},
			OutputFileVersion: optional[fileVersionRef]{&fileVersionRef{ID: 55667799, Type: typeFileVersion}},
		}},
		CreatedAt: timestamp{exampleTime}, CreatedBy: userRef{ID: exampleAuthor.ID, Type: typeUser},
		Enterprise: enterpriseRef{ID: 11223344, Type: typeEnterprise}, Source: docgen.InputSource,
	}
}

func exampleFileObject() file {
	parent := folderMini{Type: typeFolder, ID: exampleFolder, SequenceID: &exampleETag, ETag: &exampleETag, Name: "Templates"}
	return file{
		Type: typeFile, ID: exampleFile, ETag: exampleETag, SequenceID: exampleETag, SHA1: exampleSHA1, Name: "Invoice.docx",
		FileVersion: fileVersion{Type: typeFileVersion, ID: exampleVersion, SHA1: exampleSHA1},
		Description: "The invoice that customers get", Size: 18231,
		PathCollection: pathCollection{TotalCount: 2, Entries: []folderMini{exampleRoot, parent}},
		CreatedAt:      timestamp{exampleTime}, ModifiedAt: timestamp{exampleTime},
		ContentCreatedAt: timestamp{exampleTime}, ContentModifiedAt: timestamp{exampleTime},
		CreatedBy: exampleAuthor, ModifiedBy: exampleAuthor, OwnedBy: exampleAuthor,
		Parent: optional[folderMini]{&parent}, ItemStatus: "active",
	}
}

func exampleFolderObject() folder {
	return folder{
		Type: typeFolder, ID: exampleFolder, ETag: &exampleETag, SequenceID: &exampleETag, Name: "Templates",
		PathCollection: pathCollection{TotalCount: 1, Entries: []folderMini{exampleRoot}},
		CreatedAt:      timestamp{exampleTime}, ModifiedAt: timestamp{exampleTime},
		ContentCreatedAt: timestamp{exampleTime}, ContentModifiedAt: timestamp{exampleTime},
		CreatedBy: exampleAuthor, ModifiedBy: exampleAuthor, OwnedBy: exampleAuthor,
		Parent: optional[folderMini]{&exampleRoot}, ItemStatus: "active", ItemCollection: exampleItems(),
	}
}

func exampleItems() *itemPage {
	return &itemPage{
		TotalCount: 1, Limit: docgen.DefaultPageLimit,
		Entries: []entry{{&view[file]{value: exampleFileObject(), mini: true}}},
		Order:   []sortOrder{{By: "type", Direction: "ASC"}, {By: "name", Direction: "ASC"}},
	}
}

func exampleFileVersion() fileVersionFull {
	return fileVersionFull{
		Type: typeFileVersion, ID: exampleVersion, SHA1: exampleSHA1, Name: "Invoice.docx", Size: 18231, VersionNumber: "1",
		UploaderDisplayName: exampleAuthor.Name, CreatedAt: timestamp{exampleTime}, ModifiedAt: timestamp{exampleTime}, ModifiedBy: exampleAuthor,
	}
}

func exampleTrashedFile() file {
	f := exampleFileObject()
	f.ItemStatus, f.TrashedAt = "trashed", timestamp{exampleTime}
	f.PathCollection = pathCollection{TotalCount: 1, Entries: []folderMini{trashFolder}}
	return f
}

func exampleTrashedFolder() folder {
	f := exampleFolderObject()
	f.ItemStatus, f.TrashedAt, f.ItemCollection = "trashed", timestamp{exampleTime}, nil
	f.PathCollection = pathCollection{TotalCount: 1, Entries: []folderMini{trashFolder}}
	return f
}

func exampleRestoration() restoreRequest {
	return restoreRequest{Name: "Invoice (restored).docx", Parent: &parentRef{ID: exampleFolder}}
}

func exampleChange() itemChange {
	name, description := "Invoice 2026.docx", "The invoice that customers get"
	return itemChange{Name: &name, Description: &description, Parent: &movedRef{ID: exampleFolder}}
}

func exampleAttributes() fileAttributes {
	return fileAttributes{
		Name: "Invoice.docx", Parent: parentRef{ID: exampleFolder},
		ContentCreatedAt: timestamp{exampleTime}, ContentModifiedAt: timestamp{exampleTime},
	}
}

func exampleVersionAttributes() versionAttributes {
	return versionAttributes{Name: "Invoice.docx", ContentModifiedAt: timestamp{exampleTime}}
}

func exampleUpload() uploaded {
	return uploaded{TotalCount: 1, Entries: []view[file]{{value: exampleFileObject()}}}
}

func exampleCollaboration() collaborationView {
	return collaborationOf(&docgen.Collaboration{
		ID: 66778899, Item: &docgen.Item{Kind: docgen.Folder, ID: int64(exampleFolder), ETag: 3, Name: "Templates"},
		User: &docgen.UserRef{ID: 99887766, Name: "Grace Hopper", Login: "grace@example.com"},
		Role: docgen.RoleEditor, Status: docgen.CollaborationAccepted, AcknowledgedAt: exampleTime,
		CreatedBy: docgen.UserRef{ID: int64(exampleAuthor.ID), Name: exampleAuthor.Name, Login: exampleAuthor.Login},
		CreatedAt: exampleTime, ModifiedAt: exampleTime,
	}, nil)
}

func exampleInvitation() collaborationView {
	invitation := exampleCollaboration()
	invitation.value.Item, invitation.value.AcknowledgedAt = optional[entry]{}, timestamp{}
	invitation.value.Status, invitation.value.InviteEmail = docgen.CollaborationPending, &invitation.value.AccessibleBy.value.Login
	return invitation
}

func exampleCollaborations() markerPage[collaborationView] {
	return markerPage[collaborationView]{Limit: docgen.DefaultPageLimit, Entries: []collaborationView{exampleCollaboration(),
		exampleInvitation()}}
}

func exampleUser() user {
	return user{
		Type: typeUser, ID: exampleAuthor.ID, Name: exampleAuthor.Name, Login: exampleAuthor.Login, Status: docgen.StatusActive,
		CreatedAt: timestamp{exampleTime}, ModifiedAt: timestamp{exampleTime}, Language: "en", TimeZone: "Europe/London",
		SpaceAmount: -1, SpaceUsed: 1834123, MaxUploadSize: 5 << 30, JobTitle: "Analyst", Phone: "+44 20 7946 0000",
		Address: "12 St James's Square, London",
	}
}

func exampleToken() issuedToken {
	return issuedToken{
		Type: typeToken, ID: 46802468, Kind: docgen.TokenAccess, Name: "Nightly invoices", User: exampleAuthor,
		Application: applicationMini{Type: typeApplication, ID: 11335577, Name: docgen.CommandLineApplication},
		Scopes:      []docgen.Scope{docgen.ScopeDocGen, docgen.ScopeWrite}, CreatedAt: timestamp{exampleTime},
		ExpiresAt: timestamp{exampleTime.Add(docgen.DefaultTokenTTL)}, LastUsedAt: timestamp{exampleTime}, IsCurrent: true,
	}
}

func exampleAuditEvent() auditEvent {
	return auditEvent{
		Type: typeAuditEvent, ID: 57913579, CreatedAt: timestamp{exampleTime}, Action: string(docgen.AuditUserUpdated),
		Outcome: docgen.AuditSuccess,
		Actor:   auditUser{exampleAuthor.ID, exampleAuthor.Login}, User: auditUser{exampleAuthor.ID, exampleAuthor.Login},
		Application: auditApplication{11335577, docgen.CommandLineApplication}, TokenID: 46802468, Address: "203.0.113.7", Agent: "curl/8.5.0",
		RequestID: "9bfc9e4f1d2b4a0c8f6e5d4c3b2a1908", TargetKind: "user", TargetID: "99887766",
		Details: map[string]string{"role": "user → coadmin"},
	}
}

func exampleArchive() archive {
	description := "Documents to keep for ten years"
	return archive{
		ID: 77889900, Type: typeArchive, Name: "Contracts 2026", Description: &description, Size: 18231,
		OwnedBy: userRef{ID: 88990011, Type: typeUser},
	}
}

func exampleArchiveChange() updateArchiveRequest {
	example := exampleArchive()
	return updateArchiveRequest{Name: &example.Name, Description: example.Description}
}

func exampleStoragePolicy() storagePolicy {
	return storagePolicy{ID: 99001122, Type: typeStoragePolicy, Name: "Cold"}
}

func exampleNewWebhook() createWebhookRequest {
	example := exampleWebhook()
	return createWebhookRequest{Target: example.Target, Address: example.Address, Triggers: example.Triggers}
}

func exampleWebhookChange() updateWebhookRequest {
	example := exampleWebhook()
	return updateWebhookRequest{Address: &example.Address, Triggers: &example.Triggers, Status: &example.Status}
}

func exampleWebhook() webhook {
	return webhook{
		ID: exampleHook, Type: typeWebhook, Target: itemRef{ID: exampleFolder, Type: typeFolder}, CreatedBy: exampleAuthor,
		CreatedAt: timestamp{exampleTime},
		Address:   "https://hooks.example.com/platen", Triggers: []triggerName{"FILE.UPLOADED", "DOCGEN_DOCUMENT_GENERATION_FAILED"},
		Status: docgen.WebhookActive,
	}
}

func exampleWebhookMini() webhookMini {
	example := exampleWebhook()
	return webhookMini{ID: example.ID, Type: example.Type, Target: example.Target}
}

func exampleNotification() notification {
	return notification{
		Type: "webhook_event", ID: exampleEventID, CreatedAt: timestamp{exampleTime}, Trigger: triggerName(docgen.FileUploaded),
		Webhook: webhookRef{ID: exampleHook, Type: typeWebhook}, CreatedBy: exampleAuthor,
		Source: notificationSource{oneOf{&view[file]{value: exampleFileObject()}}}, AdditionalInfo: additionalInfo{oneOf{[]any{}}},
	}
}

func exampleDelivery() delivery {
	example := exampleListedDelivery()
	text, err := marshal(exampleNotification())
	if err != nil {
		panic(err) // impossible: the value is a constant
	}
	example.Body = new(string(asciiJSON(text)))
	return example
}

func exampleListedDelivery() delivery {
	reason := "the receiver responded with 503 Service Unavailable"
	return delivery{
		ID: exampleDeliveryID, Type: typeDelivery, Webhook: webhookRef{exampleHook, typeWebhook}, EventID: exampleEventID,
		Trigger: triggerName(docgen.FileUploaded), State: string(docgen.DeliveryPending), CreatedAt: timestamp{exampleTime},
		BegunAt: timestamp{exampleTime},
		Tries:   1, Attempts: 1, DueAt: timestamp{exampleTime.Add(10 * time.Second)}, Reason: &reason,
	}
}

func exampleAttempt() attempt {
	name, reason, status := "f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f", "the receiver responded with 503 Service Unavailable",
		http.StatusServiceUnavailable
	return attempt{
		ID: 24680136, Type: typeAttempt, Name: &name, BegunAt: timestamp{exampleTime}, Duration: 132, Outcome: "status", Reason: &reason,
		Status:          &status,
		RequestHeaders:  optional[map[string]string]{&map[string]string{"Box-Delivery-Id": name, "Content-Type": "application/json"}},
		ResponseHeaders: optional[map[string]string]{&map[string]string{"Content-Type": "text/plain"}}, ResponseBody: "busy",
	}
}

func exampleReplay() replayRequest {
	hook := exampleHook
	return replayRequest{WebhookID: &hook, State: string(docgen.DeliveryFailed), CreatedAfter: &timestamp{exampleTime}, DryRun: true}
}

func exampleKeys() keyList {
	return keyList{[]signingKey{
		{Type: typeKey, Slot: docgen.KeyPrimary, Secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDB1v0FQ6oBRM=", CreatedAt: timestamp{exampleTime}},
		{Type: typeKey, Slot: docgen.KeySecondary, Secret: "whsec_7v3mIWYvJm4p2bX2nS1s0uW3m1tqZzqkq0m5mE3n1wE=",
			CreatedAt: timestamp{exampleTime}},
	}}
}

func exampleListener() webhookListener {
	return webhookListener{
		ID: 35791357, Type: typeListener, Target: itemRef{ID: exampleFolder, Type: typeFolder},
		Triggers:  []triggerName{triggerName(docgen.FileUploaded)},
		CreatedAt: timestamp{exampleTime}, ExpiresAt: timestamp{exampleTime.Add(docgen.ListenerTimeout)},
	}
}
