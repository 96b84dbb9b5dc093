package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

// Downloads of several files and folders in one ZIP file. The paths and fields are those of the Box API.

const (
	zipsPath = "/zip_downloads"
	zipParam = "zip_download_id"
)

var docCreateZip = doc{
	id: "create_zip_download", tag: tagFiles, scope: docgen.ScopeRead,
	summary: "Prepare a download of files and folders as a ZIP file",
	description: "Checks that the caller may download all items. Then request `download_url`, within 15 minutes: it needs no access token, " +
		"and no header, so a browser can follow it. Folders have everything in them, except for what is in the trash. A ZIP file can have " +
		"10,000 files, 10,000 folders, and 32 GiB. A user can have 100 prepared and past downloads: new ones replace the oldest." + aboutPDF,
	status: http.StatusAccepted, secret: true,
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeZipFiles, docgen.CodeForbidden, docgen.CodeNotFound,
		docgen.CodeTrashed, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body: zipRequest{
		Items: []itemRef{{ID: exampleFile, Type: typeFile}, {ID: exampleFolder, Type: typeFolder}}, Name: "January",
	},
	example: zipReply{
		DownloadURL: exampleZip + "/content", StatusURL: exampleZip + "/status", ExpiresAt: timestamp{exampleTime},
		Conflicts: [][]zipConflict{{
			{ID: exampleFile, Type: typeFile, Original: "Invoice.docx", Download: "Invoice.docx"},
			{ID: exampleFile + 1, Type: typeFile, Original: "Invoice.docx", Download: "Invoice (1).docx"},
		}},
	},
}

const exampleZip = "https://platen.example.com/2.0" + zipsPath + "/AgAA5N6zdLxX4q"

type zipRequest struct {
	Items []itemRef `json:"items" doc:"1 to 1000 files and folders, each once. The root folder 0 is not allowed."`
	Name  string    `json:"download_file_name,omitempty" minLength:"1" doc:"The name of the file, without its extension (default: the name of the only item, or Files)."`
	Type  string    `json:"output_type,omitempty" enum:"zip,pdf" doc:"The type of the file (default zip): a ZIP file, or one PDF with the pages of all files, which must be PDFs. This is an extension."`
}

type zipReply struct {
	DownloadURL string          `json:"download_url" format:"uri" doc:"The URL of the ZIP file. It contains a secret: anyone who has it can download the file. A download can start once; if it fails, again until expires_at."`
	StatusURL   string          `json:"status_url" format:"uri" doc:"The URL of the status, from the start of the download on, for 12 hours. It needs an access token of the user."`
	ExpiresAt   timestamp       `json:"expires_at" doc:"Until when the download can start."`
	Conflicts   [][]zipConflict `json:"name_conflicts" doc:"Pairs of requested items with equal names. The second one has another name in the ZIP file."`
}

type zipConflict struct {
	ID       ID     `json:"id"`
	Type     string `json:"type" enum:"file,folder"`
	Original string `json:"original_name" doc:"The name of the item."`
	Download string `json:"download_name" doc:"Its name in the ZIP file."`
}

func (a *api) createZip(ctx context.Context, c *call, _ *struct{}) (*reply[zipReply], error) {
	request, err := readBody[zipRequest](c)
	if err != nil {
		return nil, err
	}
	wanted := docgen.NewZip{Name: request.Name, OutputType: request.Type, Items: each(request.Items, func(i *itemRef) docgen.ZipItem {
		item := docgen.ZipItem{Kind: docgen.Folder, ID: int64(i.ID)}
		if i.Type == typeFile {
			item.Kind = docgen.File
		}
		return item
	})}
	made, err := a.service.CreateZip(ctx, c.caller, wanted)
	if err != nil {
		return nil, err
	}
	base := a.baseOf(c) + prefix + zipsPath + "/" + made.Ticket
	return &reply[zipReply]{zipReply{
		DownloadURL: base + "/content", StatusURL: base + "/status", ExpiresAt: timestamp{made.ExpiresAt},
		Conflicts: each(made.Conflicts, func(pair *[2]docgen.ZipName) []zipConflict { return each(pair[:], zipConflictOf) }),
	}}, nil
}

func zipConflictOf(n *docgen.ZipName) zipConflict {
	return zipConflict{ID: ID(n.ID), Type: n.Kind.String(), Original: n.Original, Download: n.Download}
}

// ZipPath identifies a ZIP download.
type ZipPath struct {
	ZipID string `path:"zip_download_id" doc:"The signed text in the URLs of the download." example:"AgAA5N6zdLxX4q"`
}

var docDownloadZip = doc{
	id: "download_zip", tag: tagFiles, ticket: zipParam, unversioned: true, scope: docgen.ScopeRead,
	summary: "Download a ZIP file",
	description: "The `download_url` of a ZIP download. It needs no access token, and is valid while the access token that created the " +
		"download is valid. The permissions are checked again. Files and folders that were deleted since, or that the user may no longer " +
		"download, are left out: the file `" + docgen.MissingName + "` and the status say how many. Paths are relative. Names that " +
		"Windows does not allow are changed, and equal names in a folder get a number. Every content is verified: if one is damaged, the " +
		"connection is closed before the end. A download can start once; if it fails, again. A user can download five ZIP files at once.",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, docgen.CodeZipStreams,
		docgen.CodeContentDamaged},
	also: answersZip,
}

func (a *api) downloadZip(ctx context.Context, c *call, _ *ZipPath) (*streamed, error) {
	if c.r.Method == http.MethodHead {
		bundle, err := a.service.FindZip(ctx, c.caller, c.ticket.ZipID)
		if err != nil {
			return nil, err
		}
		beginBundle(c, bundle)
		return sent, nil
	}
	bundle, err := a.service.StartZip(ctx, c.caller, c.ticket.ZipID)
	if err != nil {
		return nil, err
	}
	return sent, a.sendBundle(ctx, c, bundle)
}

var docGetZipStatus = doc{
	id: "get_zip_download_status", tag: tagFiles, scope: docgen.ScopeRead,
	summary:     "Get the status of a ZIP download",
	description: "The `status_url` of a ZIP download, for 12 hours after its start. Before that, it is not found.",
	errors:      []docgen.Code{docgen.CodeNotFound},
	example:     zipStatus{Files: 20, Downloaded: 10, Skipped: 1, State: docgen.ZipInProgress},
}

type zipStatus struct {
	Files          int64  `json:"total_file_count" doc:"Number of files, counted when the download was created, and again at its end."`
	Downloaded     int64  `json:"downloaded_file_count" doc:"Number of files that were sent."`
	Skipped        int64  `json:"skipped_file_count" doc:"Number of files that were left out, because they were deleted, the user may no longer download them, or their path is longer than 1024 bytes."`
	SkippedFolders int64  `json:"skipped_folder_count" doc:"Number of folders that were left out, for the same reasons. The files in them are not counted."`
	State          string `json:"state" enum:"in_progress,succeeded,failed" doc:"A download whose server has crashed has failed after five minutes."`
}

func (a *api) getZipStatus(ctx context.Context, c *call, in *ZipPath) (*reply[zipStatus], error) {
	status, err := a.service.ZipStatus(ctx, c.caller, in.ZipID)
	if err != nil {
		return nil, err
	}
	return &reply[zipStatus]{zipStatus(status)}, nil
}
