package docgen_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// kinds are the kinds of caller, in the order of outcomes: without access, each role, the owner, and a user who manages
// the content of all users.
var kinds = []string{"nobody", "previewer", "viewer", "uploader", "previewer uploader", "viewer uploader", "editor", "co-owner",
	"owner", "manager"}

// outcomes lists for each operation whether it succeeds for each kind of caller, or the status of the response.
const outcomes = `
                                                  none  preview     view   upload p+upload v+upload     edit   co-own      own  manager
File                                               404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Folder                                             404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Items                                              404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
ItemsByOffset                                      404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Template                                           404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Jobs of a template                                 404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Collaboration                                      404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Collaborations                                     404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Collaborations of a file                           404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Trashed                                            404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Trashed, a folder                                  404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Tags                                               404        ✓        ✓      403        ✓        ✓        ✓        ✓        ✓        ✓
Contract                                           404        ✓        ✓      403        ✓        ✓        ✓        ✓        ✓        ✓
Sample                                             404        ✓        ✓      403        ✓        ✓        ✓        ✓        ✓        ✓
SampleReport                                       404        ✓        ✓      403        ✓        ✓        ✓        ✓        ✓        ✓
Content                                            404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
CreateBatch from a template                        404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
AcceptBatch from a template                        404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
TryBatch from a template                           404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
TryData from a template                            404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
CreateBatch into a folder                          400      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
AcceptBatch into a folder                          400      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
OrderDocument from a template                      404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
OrderDocument into a folder                        400      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
RequestDocument from a template                    404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
RequestDocument into a folder                      400      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
StoreDocument into a folder                        404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Ticket                                             404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
CreateZip of a file                                404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
CreateZip of a folder                              404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
CreateUpload of a file                             404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
CreateUpload of a version                          404      403      403      403      403      403        ✓        ✓        ✓        ✓
CreateFile                                         404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
CreateFolder                                       404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
UpdateFile to move something of one's own in       404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Restore something of one's own into it             404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Version                                            404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
Versions                                           404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
CopyFile from it                                   404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
CopyFolder from it                                 404      403        ✓      403      403        ✓        ✓        ✓        ✓        ✓
CheckFile                                          404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
CopyFile into it                                   404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
CopyFolder into it                                 404      403      403        ✓        ✓        ✓        ✓        ✓        ✓        ✓
CheckVersion                                       404      403      403      403      403      403        ✓        ✓        ✓        ✓
PromoteVersion                                     404      403      403      403      403      403        ✓        ✓        ✓        ✓
PromoteTemplateVersion                             404      403      403      403      403      403        ✓        ✓        ✓        ✓
TrashVersion                                       404      403      403      403      403      403        ✓        ✓        ✓        ✓
RestoreVersion                                     404      403      403      403      403      403        ✓        ✓        ✓        ✓
UpdateFile                                         404      403      403      403      403      403        ✓        ✓        ✓        ✓
UpdateFolder                                       404      403      403      403      403      403        ✓        ✓        ✓        ✓
CreateVersion                                      404      403      403      403      403      403        ✓        ✓        ✓        ✓
UpdateFolder to move something within              404      403      403      403      403      403        ✓        ✓        ✓        ✓
UpdateFolder to move something out                 404      403      403      403      403      403      403      403        ✓        ✓
UpdateFile to move into an archive                 404      403      403      403      403      403      404      404      404        ✓
UpdateFolder to move into an archive               404      403      403      403      403      403      404      404      404        ✓
CreateWebhook                                      404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
CreateListener                                     404        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓        ✓
MarkTemplate                                       404      403      403      403      403      403        ✓        ✓        ✓        ✓
UpdateTemplate                                     404      403      403      403      403      403        ✓        ✓        ✓        ✓
SaveSample                                         404      403      403      403      403      403        ✓        ✓        ✓        ✓
CheckTemplate                                      404      403      403      403      403      403        ✓        ✓        ✓        ✓
DeleteSample                                       404      403      403      403      403      403        ✓        ✓        ✓        ✓
UnmarkTemplate                                     404      403      403      403      403      403        ✓        ✓        ✓        ✓
CreateCollaboration                                404      403      403      403      403      403        ✓        ✓        ✓        ✓
CreateCollaboration with more rights               404      403      403      403      403      403      403        ✓        ✓        ✓
CreateCollaboration that shows the path            404      403      403      403      403      403      403        ✓        ✓        ✓
UpdateFile to share it                             404      403      403      403      403      403        ✓        ✓        ✓        ✓
UpdateFolder to share it                           404      403      403      403      403      403        ✓        ✓        ✓        ✓
UpdateCollaboration                                404      403      403      403      403      403      403        ✓        ✓        ✓
UpdateCollaboration to accept for another          404      403      403      403      403      403      403      403      403      403
UpdateCollaboration to make an owner               404      403      403      403      403      403      403      403        ✓        ✓
DeleteCollaboration                                404      403      403      403      403      403      403        ✓        ✓        ✓
Restore                                            404      403      403      403      403      403        ✓        ✓        ✓        ✓
Restore, a folder                                  404      403      403      403      403      403        ✓        ✓        ✓        ✓
Purge                                              404      403      403      403      403      403      403      403        ✓        ✓
Purge, a folder                                    404      403      403      403      403      403      403      403        ✓        ✓
UpdateArchive                                      403      403      403      403      403      403      403      403      403        ✓
DeleteArchive                                      403      403      403      403      403      403      403      403      403        ✓
TrashFile                                          404      403      403      403      403      403        ✓        ✓        ✓        ✓
TrashFolder                                        404      403      403      403      403      403        ✓        ✓        ✓        ✓
`

// target has the items for an operation, all in one folder.
type target struct {
	between          int64 // the folder of all items
	folder, inner    int64 // inner is in folder
	file, template   int64
	collaboration    int64    // of another user on the folder
	gift             int64    // by another user, on another folder in it
	guest            int64    // a user to invite
	own, ownTemplate int64    // a folder of the caller's own, and a template in it
	past             int64    // a version of the file before its current one
	trashed, gone    [2]int64 // a file and a folder in the trash: one to restore, and one to delete permanently
	archive          int64
}

// operation is one call of the service for a target by a caller.
type operation struct {
	name   string
	unseen docgen.Code // the code for callers who do not see the target, if the request body refers to it; otherwise not_found
	call   func(w *world, c *docgen.Caller, at target) error
}

// operations lists every operation on an item; destructive ones come last.
var operations = []operation{
	{"File", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.File(w.t.Context(), c, at.file)
		return err
	}},
	{"Folder", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Folder(w.t.Context(), c, at.folder)
		return err
	}},
	{"Items", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Items(w.t.Context(), c, at.folder, docgen.PageRequest{})
		return err
	}},
	{"ItemsByOffset", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.ItemsByOffset(w.t.Context(), c, at.folder, docgen.OffsetRequest{Limit: 1}, docgen.ItemOrder{})
		return err
	}},
	{"Template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Template(w.t.Context(), c, at.template)
		return err
	}},
	{"Jobs of a template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Jobs(w.t.Context(), c, docgen.JobFilter{TemplateID: new(at.template)}, docgen.PageRequest{})
		return err
	}},
	{"Collaboration", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Collaboration(w.t.Context(), c, at.collaboration)
		return err
	}},
	{"Collaborations", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Collaborations(w.t.Context(), c, docgen.Folder, at.folder, docgen.PageRequest{})
		return err
	}},
	{"Collaborations of a file", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Collaborations(w.t.Context(), c, docgen.File, at.file, docgen.PageRequest{})
		return err
	}},
	{"Trashed", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Trashed(w.t.Context(), c, docgen.File, at.trashed[0])
		return err
	}},
	{"Trashed, a folder", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Trashed(w.t.Context(), c, docgen.Folder, at.trashed[1])
		return err
	}},
	{"Tags", "", func(w *world, c *docgen.Caller, at target) error {
		_, _, err := w.Tags(w.t.Context(), c, at.template, 0, docgen.PageRequest{})
		return err
	}},
	{"Contract", "", func(w *world, c *docgen.Caller, at target) error {
		_, _, err := w.Contract(w.t.Context(), c, at.template, 0)
		return err
	}},
	{"Sample", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Sample(w.t.Context(), c, at.template, "sample")
		return err
	}},
	{"SampleReport", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.SampleReport(w.t.Context(), c, at.template, 0)
		return err
	}},
	{"Content", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Content(w.t.Context(), c, at.file, 0)
		return err
	}},
	{"CreateBatch from a template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateBatch(w.t.Context(), c, batchOf(at.template, at.own, "{}"))
		return err
	}},
	{"TryBatch from a template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.TryBatch(w.t.Context(), c, batchOf(at.template, at.own, "{}"))
		return err
	}},
	{"Ticket", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Ticket(w.t.Context(), c, at.file, 0)
		return err
	}},
	{"CreateZip of a file", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateZip(w.t.Context(), c, docgen.NewZip{Items: []docgen.ZipItem{{Kind: docgen.File, ID: at.file}}})
		return err
	}},
	{"CreateZip of a folder", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateZip(w.t.Context(), c, docgen.NewZip{Items: []docgen.ZipItem{{Kind: docgen.Folder, ID: at.folder}}})
		return err
	}},
	{"CreateUpload of a file", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateUpload(w.t.Context(), c, docgen.NewUpload{ParentID: at.folder, Name: "large.bin", Size: 1})
		return err
	}},
	{"CreateUpload of a version", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateUpload(w.t.Context(), c, docgen.NewUpload{FileID: at.file, Size: 1})
		return err
	}},
	{"OrderDocument from a template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.OrderDocument(w.t.Context(), c, documentOf(at.template, nil))
		return err
	}},
	{"OrderDocument into a folder", docgen.CodeBadRequest, func(w *world, c *docgen.Caller, at target) error {
		_, err := w.OrderDocument(w.t.Context(), c, documentOf(at.ownTemplate, &at.folder))
		return err
	}},
	{"RequestDocument from a template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.RequestDocument(w.t.Context(), c, documentOf(at.template, nil))
		return err
	}},
	{"RequestDocument into a folder", docgen.CodeBadRequest, func(w *world, c *docgen.Caller, at target) error {
		_, err := w.RequestDocument(w.t.Context(), c, documentOf(at.ownTemplate, &at.folder))
		return err
	}},
	{"StoreDocument into a folder", "", func(w *world, c *docgen.Caller, at target) error {
		request := oneDocument()
		request.DestinationID = new(int64) // for the storage policy
		order, err := w.OrderDocument(w.t.Context(), w.alice, request)
		must(w.t, err)
		order.DestinationID = &at.folder
		_, err = w.StoreDocument(w.t.Context(), c, order, strings.NewReader("text"))
		return err
	}},
	{"AcceptBatch from a template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.AcceptBatch(w.t.Context(), c, batchOf(at.template, at.own), ndjson, strings.NewReader(`{"user_input":{}}`))
		return err
	}},
	{"AcceptBatch into a folder", docgen.CodeBadRequest, func(w *world, c *docgen.Caller, at target) error {
		_, err := w.AcceptBatch(w.t.Context(), c, batchOf(at.ownTemplate, at.folder), ndjson, strings.NewReader(`{"user_input":{}}`))
		return err
	}},
	{"TryData from a template", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.TryData(w.t.Context(), c, batchOf(at.template, at.own), ndjson, strings.NewReader(`{"user_input":{}}`))
		return err
	}},
	{"CreateBatch into a folder", docgen.CodeBadRequest, func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateBatch(w.t.Context(), c, batchOf(at.ownTemplate, at.folder, "{}"))
		return err
	}},
	{"CreateFile", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateFile(w.t.Context(), c, docgen.NewFile{Name: "new.txt", ParentID: at.folder}, reader("new"))
		return err
	}},
	{"CreateFolder", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateFolder(w.t.Context(), c, docgen.NewFolder{Name: "new", ParentID: at.folder})
		return err
	}},
	{"UpdateFile to move something of one's own in", "", func(w *world, c *docgen.Caller, at target) error {
		mine := w.upload(c, at.own, "mine.txt", "mine")
		_, err := w.UpdateFile(w.t.Context(), c, mine.ID, docgen.ItemChange{ParentID: &at.folder})
		if err != nil {
			must(w.t, w.TrashFile(w.t.Context(), c, mine.ID, ""))
		}
		return err
	}},
	{"Restore something of one's own into it", "", func(w *world, c *docgen.Caller, at target) error {
		box := w.folder(c, at.own, "box")
		mine := w.upload(c, box, "boxed.txt", "mine")
		must(w.t, w.TrashFile(w.t.Context(), c, mine.ID, ""))
		must(w.t, w.TrashFolder(w.t.Context(), c, box, true, ""))
		_, err := w.Restore(w.t.Context(), c, docgen.File, mine.ID, docgen.Restoration{ParentID: &at.folder})
		return err
	}},
	{"Version", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Version(w.t.Context(), c, at.file, at.past)
		return err
	}},
	{"Versions", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Versions(w.t.Context(), c, at.file, docgen.OffsetRequest{Limit: 1})
		return err
	}},
	{"CopyFile from it", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CopyFile(w.t.Context(), c, docgen.NewCopy{ItemID: at.file, ParentID: at.own})
		return err
	}},
	{"CopyFolder from it", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CopyFolder(w.t.Context(), c, docgen.NewCopy{ItemID: at.folder, ParentID: at.own})
		return err
	}},
	{"CheckFile", "", func(w *world, c *docgen.Caller, at target) error {
		return w.CheckFile(w.t.Context(), c, docgen.NewFile{Name: "newer.txt", ParentID: at.folder}, 1)
	}},
	{"CopyFile into it", "", func(w *world, c *docgen.Caller, at target) error {
		mine := w.upload(c, at.own, "mine.txt", "mine")
		_, err := w.CopyFile(w.t.Context(), c, docgen.NewCopy{ItemID: mine.ID, ParentID: at.folder, Name: "copied.txt"})
		must(w.t, w.TrashFile(w.t.Context(), c, mine.ID, ""))
		return err
	}},
	{"CopyFolder into it", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CopyFolder(w.t.Context(), c, docgen.NewCopy{ItemID: at.own, ParentID: at.folder, Name: "copied"})
		return err
	}},
	{"CheckVersion", "", func(w *world, c *docgen.Caller, at target) error {
		return w.CheckVersion(w.t.Context(), c, docgen.NewVersion{FileID: at.file}, 1)
	}},
	{"PromoteTemplateVersion", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.PromoteTemplateVersion(w.t.Context(), c, at.template, 0, docgen.Override{Reason: "it is right"})
		return err
	}},
	{"PromoteVersion", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.PromoteVersion(w.t.Context(), c, at.file, at.past)
		return err
	}},
	{"TrashVersion", "", func(w *world, c *docgen.Caller, at target) error {
		return w.TrashVersion(w.t.Context(), c, at.file, at.past, "")
	}},
	{"RestoreVersion", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.RestoreVersion(w.t.Context(), c, at.file, at.past)
		return err
	}},
	{"UpdateFile", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateFile(w.t.Context(), c, at.file, docgen.ItemChange{Name: new("renamed.txt")})
		return err
	}},
	{"UpdateFolder", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateFolder(w.t.Context(), c, at.folder, docgen.ItemChange{Description: new("described")})
		return err
	}},
	{"CreateVersion", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateVersion(w.t.Context(), c, docgen.NewVersion{FileID: at.file}, reader("newer"))
		return err
	}},
	{"UpdateFolder to move something within", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateFolder(w.t.Context(), c, at.inner, docgen.ItemChange{ParentID: &at.between})
		return err
	}},
	{"UpdateFolder to move something out", "", func(w *world, c *docgen.Caller, at target) error {
		elsewhere := int64(0)
		_, err := w.UpdateFolder(w.t.Context(), c, at.inner, docgen.ItemChange{ParentID: &elsewhere})
		return err
	}},
	{"UpdateFile to move into an archive", "", func(w *world, c *docgen.Caller, at target) error {
		file := w.upload(w.alice, at.folder, "to keep.txt", "text")
		_, err := w.UpdateFile(w.t.Context(), c, file.ID, docgen.ItemChange{ParentID: &at.archive})
		return err
	}},
	{"UpdateFolder to move into an archive", "", func(w *world, c *docgen.Caller, at target) error {
		folder := w.folder(w.alice, at.folder, "to keep")
		_, err := w.UpdateFolder(w.t.Context(), c, folder, docgen.ItemChange{ParentID: &at.archive})
		if err == nil {
			must(w.t, w.TrashFolder(w.t.Context(), c, folder, true, ""))
		}
		return err
	}},
	{"CreateWebhook", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateWebhook(w.t.Context(), c, docgen.NewWebhook{
			TargetKind: docgen.Folder, TargetID: at.folder, Address: "https://example.com/", Triggers: []docgen.Trigger{docgen.FileUploaded},
		})
		return err
	}},
	{"CreateListener", "", func(w *world, c *docgen.Caller, at target) error {
		made, err := w.CreateListener(w.t.Context(), c, docgen.WebhookTarget{Kind: docgen.Folder, ID: at.folder}, nil)
		if err != nil {
			return err
		}
		return w.DeleteListener(w.t.Context(), c, made.ID)
	}},
	{"MarkTemplate", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.MarkTemplate(w.t.Context(), c, at.file)
		return err
	}},
	{"UpdateTemplate", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateTemplate(w.t.Context(), c, at.template, docgen.TemplateChange{Locale: new("de")})
		return err
	}},
	{"SaveSample", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.SaveSample(w.t.Context(), c, at.template, newSample("new"))
		return err
	}},
	{"CheckTemplate", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CheckTemplate(w.t.Context(), c, at.template, 0)
		return err
	}},
	{"DeleteSample", "", func(w *world, c *docgen.Caller, at target) error {
		return w.DeleteSample(w.t.Context(), c, at.template, "sample")
	}},
	{"UnmarkTemplate", "", func(w *world, c *docgen.Caller, at target) error {
		return w.UnmarkTemplate(w.t.Context(), c, at.template)
	}},
	{"CreateCollaboration", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateCollaboration(w.t.Context(), c,
			docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: at.folder, UserID: at.guest, Role: docgen.RolePreviewer})
		return err
	}},
	{"CreateCollaboration with more rights", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateCollaboration(w.t.Context(), c,
			docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: at.folder, Login: "co@example.com", Role: docgen.RoleCoOwner})
		return err
	}},
	{"CreateCollaboration that shows the path", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateCollaboration(w.t.Context(), c,
			docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: at.folder, Login: "path@example.com", Role: docgen.RolePreviewer,
				CanViewPath: true})
		return err
	}},
	{"UpdateFile to share it", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateFile(w.t.Context(), c, at.file, docgen.ItemChange{Link: &docgen.LinkChange{Access: docgen.LinkOpen}})
		return err
	}},
	{"UpdateFolder to share it", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateFolder(w.t.Context(), c, at.folder, docgen.ItemChange{Link: &docgen.LinkChange{Access: docgen.LinkOpen}})
		return err
	}},
	{"UpdateCollaboration", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateCollaboration(w.t.Context(), c, at.collaboration, docgen.CollaborationChange{Role: docgen.RoleEditor})
		return err
	}},
	{"UpdateCollaboration to accept for another", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateCollaboration(w.t.Context(), c, at.collaboration, docgen.CollaborationChange{Status: docgen.CollaborationAccepted})
		return err
	}},
	{"UpdateCollaboration to make an owner", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateCollaboration(w.t.Context(), c, at.gift, docgen.CollaborationChange{Role: docgen.RoleOwner})
		return err
	}},
	{"DeleteCollaboration", "", func(w *world, c *docgen.Caller, at target) error {
		return w.DeleteCollaboration(w.t.Context(), c, at.collaboration)
	}},
	{"Restore", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Restore(w.t.Context(), c, docgen.File, at.trashed[0], docgen.Restoration{})
		return err
	}},
	{"Restore, a folder", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Restore(w.t.Context(), c, docgen.Folder, at.trashed[1], docgen.Restoration{})
		return err
	}},
	{"Purge", "", func(w *world, c *docgen.Caller, at target) error {
		return w.Purge(w.t.Context(), c, docgen.File, at.gone[0])
	}},
	{"Purge, a folder", "", func(w *world, c *docgen.Caller, at target) error {
		return w.Purge(w.t.Context(), c, docgen.Folder, at.gone[1])
	}},
	{"UpdateArchive", "", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateArchive(w.t.Context(), c, at.archive, docgen.ArchiveChange{Description: new("kept")})
		return err
	}},
	{"DeleteArchive", "", func(w *world, c *docgen.Caller, at target) error {
		return w.DeleteArchive(w.t.Context(), c, w.archive(w.archivist(), fmt.Sprint("empty ", at.folder)).ID)
	}},
	{"TrashFile", "", func(w *world, c *docgen.Caller, at target) error {
		return w.TrashFile(w.t.Context(), c, at.file, "")
	}},
	{"TrashFolder", "", func(w *world, c *docgen.Caller, at target) error {
		return w.TrashFolder(w.t.Context(), c, at.folder, true, "")
	}},
}

// documentOf returns a request for a document of a template.
func documentOf(template int64, folder *int64) docgen.DocumentRequest {
	return docgen.DocumentRequest{TemplateID: template, OutputType: docgen.OutputDocx, DestinationID: folder,
		Input: new(docgen.Inputs).Parse([]byte("{}"))}
}

var ndjson = docgen.DataFormat{Format: docgen.FormatNDJSON, Name: "Document"}

// notOnItems are the operations without a target: on lists, on users, and without roles.
var notOnItems = []string{"AddApplication", "AddUser", "Archives", "As", "Attempts", "AuditEvents", "Batch", "BatchBundle",
	"Batches", "CancelBatch",
	"CheckBatch", "ClaimKey", "CommitUpload", "DeleteUpload", "SavePart", "Upload", "UploadParts",
	"CreateArchive", "DeleteBatch", "DeleteUser", "DeleteWebhook", "Deliveries", "DeliveriesByOffset", "Delivery",
	"DeleteListener", "EraseUser", "FindUser",
	"ChangePassword", "EndSession", "EndSessions", "InviteUser", "Sessions",
	"CreateOwnToken", "ListApplications", "Operations", "Receiver", "RemoveApplication", "ReplaceSecret",
	"PollListener", "Invitations", "Job", "JobInput", "RetryBatch", "RetryJob", "WaitForBatch", "WaitForJob", "WatchBatch",
	"Events", "FindZip", "StartZip", "WaitForEvents", "ZipStatus",
	"Me", "NoteDenied", "PlanErasure", "RenewSigningKey", "ReplayDeliveries", "ReplayDelivery", "RevokeToken", "SigningKeys",
	"StoragePolicies",
	"StoragePolicy", "Templates", "TestWebhook", "Tokens", "TransferContent", "Trash", "TrashByOffset", "UpdateUser", "UpdateWebhook", "User",
	"Users", "UsersByOffset", "Webhook", "Webhooks", "WithLink"}

// TestEveryOperationHasRoles checks that the table has every operation of the service that takes a caller.
func TestEveryOperationHasRoles(t *testing.T) {
	var done, said []string
	service, caller := reflect.TypeFor[*docgen.Service](), reflect.TypeFor[*docgen.Caller]()
	for method := range service.Methods() {
		if method.Type.NumIn() > 2 && method.Type.In(2) == caller {
			done = append(done, method.Name)
		}
	}
	for _, op := range operations {
		name, _, _ := strings.Cut(op.name, " ")
		said = append(said, strings.TrimSuffix(name, ","))
	}
	said = append(said, notOnItems...)
	slices.Sort(said)
	if said = slices.Compact(said); !slices.Equal(said, done) {
		t.Errorf("the table and notOnItems name\n%q\nthe service has\n%q", said, done)
	}
}

// newTarget creates a target of alice in a folder.
func (w *world) newTarget(parent int64, caller, other, guest *docgen.Caller) target {
	w.t.Helper()
	at := target{between: parent, folder: w.folder(w.alice, parent, "target"), guest: guest.User.ID}
	at.inner = w.folder(w.alice, at.folder, "inner")
	file := w.upload(w.alice, at.folder, "file.txt", "older text")
	at.file, at.past = file.ID, file.VersionID
	w.version(w.alice, at.file, "text")
	template := w.template(w.alice, at.folder, "template.docx")
	at.template = template.ID
	must(w.t, w.SaveReading(w.t.Context(), template.VersionID, docgen.Reading{Schema: []byte(`{"type":"object"}`)}))
	_, err := w.SaveSample(w.t.Context(), w.alice, at.template, newSample("sample"))
	must(w.t, err)
	at.collaboration = w.share(docgen.Folder, at.folder, other, docgen.RoleViewer).ID
	at.gift = w.share(docgen.Folder, w.folder(w.alice, at.folder, "gift"), other, docgen.RoleViewer).ID
	for i, pair := range []*[2]int64{&at.trashed, &at.gone} {
		file, folder := w.upload(w.alice, at.folder, fmt.Sprint("trashed ", i), "text").ID,
			w.folder(w.alice, at.folder, fmt.Sprint("trashed folder ", i))
		must(w.t, w.TrashFile(w.t.Context(), w.alice, file, ""))
		must(w.t, w.TrashFolder(w.t.Context(), w.alice, folder, false, ""))
		*pair = [2]int64{file, folder}
	}
	at.archive = w.archive(w.archivist(), fmt.Sprint("archive ", at.folder)).ID
	at.own = w.folder(caller, 0, "own")
	at.ownTemplate = w.template(caller, at.own, "own.docx").ID
	return at
}

// outcomesOf parses the table: the result of an operation for each kind of caller, in the order of kinds.
func outcomesOf(t *testing.T) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(outcomes), "\n")[1:] {
		cells := strings.Fields(line)
		at := len(cells) - len(kinds)
		name := strings.Join(cells[:at], " ")
		if rows[name] != nil || !slices.ContainsFunc(operations, func(op operation) bool { return op.name == name }) {
			t.Errorf("the table says something of %q, which is no operation, or says it twice", name)
		}
		rows[name] = cells[at:]
	}
	return rows
}

// outcome returns an error in the form of the table.
func outcome(err error) string {
	switch {
	case err == nil:
		return "✓"
	case docgen.IsCode(err, docgen.CodeForbidden), docgen.IsCode(err, docgen.CodeScope):
		return "403"
	case docgen.IsCode(err, docgen.CodeNotFound):
		return "404"
	case docgen.IsCode(err, docgen.CodeBadRequest):
		return "400"
	}
	return err.Error()
}

// TestRoles calls every operation as every kind of caller, with the role on a folder two levels above the target.
func TestRoles(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		rows := outcomesOf(t)
		other, guest := w.user("other"), w.user("guest")
		for i, kind := range kinds {
			top := w.folder(w.alice, 0, kind)
			caller := w.callerOf(kind, top)
			at := w.newTarget(w.folder(w.alice, top, "between"), caller, other, guest)
			for _, op := range operations {
				if rows[op.name] == nil {
					t.Fatalf("the table says nothing of %s", op.name)
				}
				if err := op.call(w, caller, at); outcome(err) != rows[op.name][i] {
					t.Errorf("%s by %s: %v, want %s", op.name, kind, err, rows[op.name][i])
				}
			}
		}
	})
}

// callerOf creates a caller of a kind, with the role of that name on a folder of alice.
func (w *world) callerOf(kind string, folder int64) *docgen.Caller {
	w.t.Helper()
	name := strings.ReplaceAll(kind, " ", "-")
	switch kind {
	case "owner":
		return w.alice
	case "manager":
		return w.contentManager(name)
	case "nobody":
		return w.user(name)
	}
	caller := w.user(name)
	w.share(docgen.Folder, folder, caller, docgen.Role(kind))
	return caller
}

// TestRolesDocument compares the table in docs/sharing.md with rights: its rows are the permissions in order.
func TestRolesDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/sharing.md")
	must(t, err)
	first := regexp.MustCompile(`(?m)(^\|.*\|\n)+`).FindString(string(text))
	table := strings.Split(strings.TrimSpace(first), "\n")
	words := strings.Fields(rights["owner"])
	if len(table) != len(words)+2 {
		t.Fatalf("the table has %d lines, want a row for each of %q below two of heading", len(table), words)
	}
	cellsOf := func(line string) []string {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		return cells[1:]
	}
	if columns := cellsOf(table[0]); !slices.Equal(columns, kinds[1:len(kinds)-1]) {
		t.Fatalf("the columns are %q, want the roles and the owner of %q", columns, kinds)
	}
	for i, word := range words {
		for j, cell := range cellsOf(table[i+2]) {
			kind := kinds[j+1]
			if may := slices.Contains(strings.Fields(rights[kind]), word); may != (cell == "yes") {
				t.Errorf("%s of %s: the document says %q, the service %v", word, kind, cell, may)
			}
		}
	}
}
