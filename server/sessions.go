package server

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// Uploads in parts. The paths and fields are those of the Box API.

type uploadSession struct {
	Type      string           `json:"type" enum:"upload_session"`
	ID        ID               `json:"id"`
	ExpiresAt timestamp        `json:"session_expires_at" doc:"When the session ends, unless it is committed before."`
	PartSize  int64            `json:"part_size" doc:"Size of every part but the last, in bytes."`
	Parts     int              `json:"total_parts" doc:"Number of parts that make up the content."`
	Received  int              `json:"num_parts_processed" doc:"Number of parts that the server has."`
	Endpoints sessionEndpoints `json:"session_endpoints" doc:"The URLs of the session."`
}

type sessionEndpoints struct {
	Part     string `json:"upload_part" format:"uri"`
	Commit   string `json:"commit" format:"uri"`
	Abort    string `json:"abort" format:"uri"`
	List     string `json:"list_parts" format:"uri"`
	Status   string `json:"status" format:"uri"`
	LogEvent null   `json:"log_event" doc:"Always null."`
}

type uploadPart struct {
	ID     ID     `json:"part_id"`
	Offset int64  `json:"offset" doc:"Position of the first byte of the part in the content."`
	Size   int64  `json:"size" doc:"Size of the part, in bytes."`
	SHA1   string `json:"sha1" doc:"The SHA-1 of the part, in hexadecimal."`
}

func (a *api) sessionOf(s docgen.UploadSession) *reply[uploadSession] {
	base := a.baseURL + prefix + uploadsPath + "/" + ID(s.ID).String()
	return &reply[uploadSession]{uploadSession{
		Type: typeUploadSession, ID: ID(s.ID), ExpiresAt: timestamp{s.ExpiresAt}, PartSize: s.PartSize, Parts: s.Parts, Received: s.Received,
		Endpoints: sessionEndpoints{Part: base, Commit: base + "/commit", Abort: base, List: base + "/parts", Status: base},
	}}
}

func partOf(p *docgen.UploadPart) uploadPart {
	return uploadPart{ID: ID(p.ID), Offset: p.Offset, Size: p.Size, SHA1: p.SHA1}
}

const aboutSessions = " The parts can be sent in any order, and several at once. A session ends after 24 hours."

var docCreateSession = doc{
	id: "create_upload_session", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Start to upload a file in parts",
	description: "Checks the name, the permissions, and the size like an upload." + aboutSessions,
	status:      http.StatusCreated,
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeForbidden, docgen.CodeTooLarge, docgen.CodeNotFound,
		docgen.CodeTrashed, docgen.CodeNameInUse, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:    sessionRequest{FolderID: exampleFolder, Name: "Video.mp4", Size: exampleSessionSize},
	example: exampleSession(0),
}

type sessionRequest struct {
	FolderID ID     `json:"folder_id" doc:"The parent folder; 0 is the root folder of the caller."`
	Name     string `json:"file_name" doc:"The name of the file."`
	Size     int64  `json:"file_size" doc:"Size of the content, in bytes."`
}

func (a *api) createSession(ctx context.Context, c *call, _ *struct{}) (*reply[uploadSession], error) {
	request, err := readBody[sessionRequest](c)
	if err != nil {
		return nil, err
	}
	made, err := a.service.CreateUpload(ctx, c.caller, docgen.NewUpload{
		ParentID: int64(request.FolderID), Name: request.Name, Size: request.Size,
	})
	if err != nil {
		return nil, err
	}
	return a.sessionOf(made), nil
}

var docCreateVersionSession = doc{
	id: "create_version_upload_session", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Start to upload a new version of a file in parts",
	description: "Like a session for a new file.",
	status:      http.StatusCreated,
	errors:      docCreateSession.errors,
	body:        versionSessionRequest{Size: exampleSessionSize},
	example:     exampleSession(0),
}

type versionSessionRequest struct {
	Name string `json:"file_name,omitempty" minLength:"1" doc:"A new name for the file."`
	Size int64  `json:"file_size" doc:"Size of the content, in bytes."`
}

func (a *api) createVersionSession(ctx context.Context, c *call, in *FilePath) (*reply[uploadSession], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[versionSessionRequest](c)
	if err != nil {
		return nil, err
	}
	made, err := a.service.CreateUpload(ctx, c.caller, docgen.NewUpload{FileID: id, Name: request.Name, Size: request.Size})
	if err != nil {
		return nil, err
	}
	return a.sessionOf(made), nil
}

// SessionPath identifies an upload session.
type SessionPath struct {
	SessionID string `path:"upload_session_id" doc:"The id of the upload session." example:"12121212"`
}

func (p SessionPath) id() (int64, error) { return pathID(typeUploadSession, p.SessionID) }

var docGetSession = doc{
	id: "get_upload_session", tag: tagFiles, scope: docgen.ScopeWrite,
	summary: "Get an upload session",
	errors:  []docgen.Code{docgen.CodeNotFound},
	example: exampleSession(2),
}

func (a *api) getSession(ctx context.Context, c *call, in *SessionPath) (*reply[uploadSession], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	found, err := a.service.Upload(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return a.sessionOf(found), nil
}

var docDeleteSession = doc{
	id: "delete_upload_session", tag: tagFiles, scope: docgen.ScopeWrite,
	summary: "Cancel an upload in parts",
	status:  http.StatusNoContent,
	errors:  []docgen.Code{docgen.CodeNotFound},
}

func (a *api) deleteSession(ctx context.Context, c *call, in *SessionPath) (*empty, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.DeleteUpload(ctx, c.caller, id)
}

var docListParts = doc{
	id: "list_upload_parts", tag: tagFiles, scope: docgen.ScopeWrite,
	summary: "List the parts that an upload session has received",
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset, docgen.CodeNotFound},
	example: offsetPage[uploadPart]{TotalCount: 1, Limit: docgen.DefaultPageLimit, Entries: []uploadPart{examplePart()}},
}

// ListPartsQuery holds the parameters of a list of parts.
type ListPartsQuery struct {
	SessionPath
	OffsetQuery
}

func (a *api) listParts(ctx context.Context, c *call, in *ListPartsQuery) (*reply[offsetPage[uploadPart]], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.UploadParts(ctx, c.caller, id, request)
	if err != nil {
		return nil, err
	}
	return offsetPageOf(page, partOf), nil
}

var docUploadPart = doc{
	id: "upload_part", tag: tagFiles, scope: docgen.ScopeWrite,
	summary: "Upload a part",
	description: "The body is the part, of the media type application/octet-stream. A part that the session already has is not stored " +
		"again, so that you can repeat a request.",
	errors: []docgen.Code{docgen.CodeBadDigest, docgen.CodeNotFound, docgen.CodeConflict, docgen.CodeBodyTooLarge, codeMediaType,
		codeTimeout},
	example: partReply{Part: examplePart()},
	also:    partBody,
}

// PartQuery holds the parameters of an upload of a part.
type PartQuery struct {
	SessionPath
	Digest string `header:"Digest" required:"true" doc:"sha= and the SHA-1 of the part in Base64." example:"sha=fpnDYzr8dIbqAYmBmHrcAKyYhSM="`
	Range  string `header:"Content-Range" required:"true" doc:"The range of the part, and the size of the whole content." example:"bytes 8388608-16777215/20000000"`
}

type partReply struct {
	Part uploadPart `json:"part"`
}

func (a *api) uploadPart(ctx context.Context, c *call, in *PartQuery) (*reply[partReply], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	part, total, err := in.part()
	if err != nil {
		return nil, err
	}
	if err := wantMediaType(c.r, octetStream); err != nil {
		return nil, err
	}
	saved, err := a.service.SavePart(ctx, c.caller, id, part, total, c.openBody(docgen.UploadPartSize, true))
	if err != nil {
		return nil, err
	}
	return &reply[partReply]{partReply{partOf(&saved)}}, nil
}

const octetStream = "application/octet-stream"

// partBody documents the body of an upload of a part.
func partBody(_ *api, op *huma.Operation) {
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{octetStream: {
		Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}, Example: "…",
	}}}
}

var contentRange = regexp.MustCompile(`^bytes (\d{1,18})-(\d{1,18})/(\d{1,18})$`)

// part returns the part that the headers describe, and the size of the whole content.
func (q *PartQuery) part() (p docgen.UploadPart, total int64, err error) {
	var problems []docgen.Problem
	if p.SHA1, err = hexDigest(q.Digest); err != nil {
		problems = append(problems, parameterProblem("Digest", err.Error()))
	}
	match := contentRange.FindStringSubmatch(q.Range)
	if match == nil {
		problems = append(problems, parameterProblem("Content-Range", "Content-Range must be the range of the part and the size of the file: "+
			"bytes 0-8388607/20000000"))
		return p, 0, docgen.Invalid(problems...)
	}
	var numbers [3]int64
	for i := range numbers {
		numbers[i], _ = strconv.ParseInt(match[i+1], 10, 64) // at most 18 digits
	}
	p.Offset, p.Size = numbers[0], numbers[1]-numbers[0]+1
	return p, numbers[2], docgen.Invalid(problems...)
}

// digestError is the problem of a Digest header.
type digestError string

func (e digestError) Error() string { return string(e) }

// hexDigest returns the SHA-1 in a Digest header (RFC 3230) in hexadecimal.
func hexDigest(header string) (string, error) {
	algorithm, text, _ := strings.Cut(header, "=")
	sum, err := base64.StdEncoding.DecodeString(text)
	if !strings.EqualFold(algorithm, "sha") || err != nil || len(sum) != 20 {
		return "", digestError("Digest must be sha= and the SHA-1 in Base64")
	}
	return hex.EncodeToString(sum), nil
}

var docCommitSession = doc{
	id: "commit_upload_session", tag: tagFiles, scope: docgen.ScopeWrite,
	summary: "Create the file or the version from the parts of an upload session",
	description: "Ends the session. The body lists all parts, as the uploads of the parts returned them. If the commit fails, the session " +
		"continues.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeBadDigest, docgen.CodeForbidden, docgen.CodeTooLarge,
		docgen.CodeStorageFull, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeNameInUse, docgen.CodeConflict, docgen.CodePrecondition,
		codeMediaType, docgen.CodeBodyTooLarge},
	body:    commitRequest{Parts: []uploadPart{examplePart()}},
	example: exampleUpload(),
}

type commitRequest struct {
	Parts      []uploadPart     `json:"parts" doc:"All parts of the session."`
	Attributes *commitAttribute `json:"attributes,omitempty" doc:"As for other uploads."`
}

type commitAttribute struct {
	ContentCreatedAt  timestamp `json:"content_created_at,omitzero" doc:"When the content was created."`
	ContentModifiedAt timestamp `json:"content_modified_at,omitzero" doc:"When the content was last changed (default now)."`
}

// CommitQuery holds the parameters of a commit.
type CommitQuery struct {
	SessionPath
	FieldsQuery
	IfMatchHeader
	Digest string `header:"Digest" required:"true" doc:"sha= and the SHA-1 of the whole content in Base64." example:"sha=fpnDYzr8dIbqAYmBmHrcAKyYhSM="`
}

func (a *api) commitSession(ctx context.Context, c *call, in *CommitQuery) (*reply[uploaded], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	sum, err := hexDigest(in.Digest)
	if err != nil {
		return nil, docgen.Invalid(parameterProblem("Digest", err.Error()))
	}
	request, err := readBody[commitRequest](c)
	if err != nil {
		return nil, err
	}
	commit := docgen.Commit{SHA1: sum, IfMatch: bareETag(in.IfMatch), Parts: make([]docgen.UploadPart, len(request.Parts))}
	for i, p := range request.Parts {
		commit.Parts[i] = docgen.UploadPart{ID: int64(p.ID), Offset: p.Offset, Size: p.Size, SHA1: p.SHA1}
	}
	if request.Attributes != nil {
		commit.ContentCreatedAt, commit.ContentModifiedAt = request.Attributes.ContentCreatedAt.Time, request.Attributes.ContentModifiedAt.Time
	}
	item, err := a.service.CommitUpload(ctx, c.caller, id, commit)
	if err != nil {
		return nil, err
	}
	return uploadedReply(item, in.Fields), nil
}

// exampleSessionSize is the size of the content in the examples.
const exampleSessionSize = 20_000_000

func exampleSession(received int) uploadSession {
	const base = "https://platen.example.com/2.0/files/upload_sessions/12121212"
	return uploadSession{
		Type: typeUploadSession, ID: 12121212, ExpiresAt: timestamp{exampleTime}, PartSize: docgen.UploadPartSize, Parts: 3, Received: received,
		Endpoints: sessionEndpoints{Part: base, Commit: base + "/commit", Abort: base, List: base + "/parts", Status: base},
	}
}

func examplePart() uploadPart {
	return uploadPart{ID: 34343434, Offset: 0, Size: docgen.UploadPartSize, SHA1: exampleSHA1}
}
