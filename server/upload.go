package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// Limits of an upload, in addition to the size of the file.
const (
	maxPartsBytes      = 1 << 20 // attributes, boundaries, headers
	maxAttributesBytes = 512 << 10
)

var docUploadFile = doc{
	id: "upload_file", tag: tagFiles, upload: true, scope: docgen.ScopeWrite,
	summary: "Upload a file",
	description: "The body is multipart/form-data with two parts in this order: attributes, a JSON object, and the content. The part " +
		"with the content can have any name. The server checks permissions and the name before it reads the content. An upload that fails " +
		"leaves nothing behind.",
	status: http.StatusCreated,
	errors: []docgen.Code{codeParts, docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeBadDigest,
		docgen.CodeForbidden, docgen.CodeTooLarge, docgen.CodeStorageFull, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeNameInUse,
		docgen.CodeBodyTooLarge, codeMediaType, codeTimeout},
	example: exampleUpload(),
	also:    uploadBody[fileAttributes](exampleAttributes, "attributes", "file"),
}

var docUploadVersion = doc{
	id: "upload_version", tag: tagFiles, upload: true, scope: docgen.ScopeWrite,
	summary: "Upload a new version of a file",
	description: "The body is the same as for a new file. If attributes contains a name, the file is renamed. The part attributes can " +
		"be omitted.",
	status: http.StatusOK,
	errors: []docgen.Code{codeParts, docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeBadDigest,
		docgen.CodeForbidden, docgen.CodeTooLarge, docgen.CodeStorageFull, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeNameInUse,
		docgen.CodePrecondition, docgen.CodeBodyTooLarge, codeMediaType, codeTimeout},
	example: exampleUpload(),
	also:    uploadBody[versionAttributes](exampleVersionAttributes, "file"),
}

type fileAttributes struct {
	Name              string    `json:"name" doc:"The name of the file."`
	Parent            parentRef `json:"parent" doc:"The parent folder."`
	ContentCreatedAt  timestamp `json:"content_created_at,omitzero" doc:"When the content was created (default now)."`
	ContentModifiedAt timestamp `json:"content_modified_at,omitzero" doc:"When the content was last changed (default now)."`
}

type versionAttributes struct {
	Name              string    `json:"name,omitempty" minLength:"1" doc:"A new name for the file."`
	ContentCreatedAt  timestamp `json:"content_created_at,omitzero" doc:"When the content was created (default: as before)."`
	ContentModifiedAt timestamp `json:"content_modified_at,omitzero" doc:"When the content was last changed (default now)."`
}

// UploadQuery holds the parameters of an upload.
type UploadQuery struct {
	FieldsQuery
	Digest string `header:"Content-MD5" doc:"The SHA-1 of the content in hexadecimal, despite the name of the header. Content with another digest is rejected."`
}

// UploadVersionQuery holds the parameters of an upload of a version.
type UploadVersionQuery struct {
	FilePath
	UploadQuery
	IfMatchHeader
}

// uploaded returns a list with the uploaded file as its only entry.
type uploaded struct {
	TotalCount int          `json:"total_count"`
	Entries    []view[file] `json:"entries"`
}

func uploadedReply(item *docgen.Item, fields string) *reply[uploaded] {
	return &reply[uploaded]{uploaded{TotalCount: 1, Entries: []view[file]{{value: fileOf(item), fields: selectionOf(fields)}}}}
}

func (a *api) uploadFile(ctx context.Context, c *call, in *UploadQuery) (*reply[uploaded], error) {
	var attributes fileAttributes
	content, err := a.readUpload(c, &attributes, false)
	if err != nil {
		return nil, err
	}
	item, err := a.service.CreateFile(ctx, c.caller, docgen.NewFile{
		Name: attributes.Name, ParentID: int64(attributes.Parent.ID), SHA1: in.Digest, AtLeast: contentAtLeast(c.r),
		ContentCreatedAt: attributes.ContentCreatedAt.Time, ContentModifiedAt: attributes.ContentModifiedAt.Time,
	}, content)
	if err != nil {
		return nil, err
	}
	return uploadedReply(item, in.Fields), nil
}

func (a *api) uploadVersion(ctx context.Context, c *call, in *UploadVersionQuery) (*reply[uploaded], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	var attributes versionAttributes
	content, err := a.readUpload(c, &attributes, true)
	if err != nil {
		return nil, err
	}
	item, err := a.service.CreateVersion(ctx, c.caller, docgen.NewVersion{
		FileID: id, Name: attributes.Name, IfMatch: bareETag(in.IfMatch), SHA1: in.Digest, AtLeast: contentAtLeast(c.r),
		ContentCreatedAt: attributes.ContentCreatedAt.Time, ContentModifiedAt: attributes.ContentModifiedAt.Time,
	}, content)
	if err != nil {
		return nil, err
	}
	return uploadedReply(item, in.Fields), nil
}

var docCheckUpload = doc{
	id: "check_upload", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Check whether a file can be uploaded",
	description: "Checks the name, the permissions, and the size like an upload, but creates nothing. The response says where to upload.",
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeForbidden, docgen.CodeTooLarge, docgen.CodeNotFound,
		docgen.CodeTrashed, docgen.CodeNameInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:    checkUploadRequest{Name: "Invoice.docx", Parent: parentRef{ID: exampleFolder}, Size: 18231},
	example: uploadPlace{UploadURL: "https://platen.example.com/2.0/files/content"},
}

var docCheckVersion = doc{
	id: "check_version", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Check whether a new version of a file can be uploaded",
	description: "Like the check for a new file.",
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeForbidden, docgen.CodeTooLarge, docgen.CodeNotFound,
		docgen.CodeTrashed, docgen.CodeNameInUse, docgen.CodePrecondition, codeMediaType, docgen.CodeBodyTooLarge},
	body:    checkVersionRequest{Name: "Invoice.docx", Size: 18231},
	example: uploadPlace{UploadURL: "https://platen.example.com/2.0/files/12345678/content"},
}

type checkUploadRequest struct {
	Name   string    `json:"name" doc:"The name of the file."`
	Parent parentRef `json:"parent" doc:"The parent folder."`
	Size   int64     `json:"size,omitempty" doc:"Size of the content, in bytes."`
}

type checkVersionRequest struct {
	Name   string     `json:"name,omitempty" minLength:"1" doc:"A new name for the file."`
	Parent *parentRef `json:"parent,omitempty" doc:"Ignored: a version stays with its file."`
	Size   int64      `json:"size,omitempty" doc:"Size of the content, in bytes."`
}

// uploadPlace is the result of a successful check: where to upload.
type uploadPlace struct {
	UploadURL   string `json:"upload_url" format:"uri"`
	UploadToken null   `json:"upload_token" doc:"Always null: uploads use the access token."`
}

func (a *api) checkUpload(ctx context.Context, c *call, _ *struct{}) (*reply[uploadPlace], error) {
	request, err := readBody[checkUploadRequest](c)
	if err != nil {
		return nil, err
	}
	err = a.service.CheckFile(ctx, c.caller, docgen.NewFile{Name: request.Name, ParentID: int64(request.Parent.ID)}, request.Size)
	if err != nil {
		return nil, err
	}
	return &reply[uploadPlace]{uploadPlace{UploadURL: a.baseURL + prefix + "/files/content"}}, nil
}

// CheckVersionQuery identifies the file for which a version will be uploaded.
type CheckVersionQuery struct {
	FilePath
	IfMatchHeader
}

func (a *api) checkVersionUpload(ctx context.Context, c *call, in *CheckVersionQuery) (*reply[uploadPlace], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[checkVersionRequest](c)
	if err != nil {
		return nil, err
	}
	version := docgen.NewVersion{FileID: id, Name: request.Name, IfMatch: bareETag(in.IfMatch)}
	if err := a.service.CheckVersion(ctx, c.caller, version, request.Size); err != nil {
		return nil, err
	}
	return &reply[uploadPlace]{uploadPlace{UploadURL: a.baseURL + prefix + "/files/" + ID(id).String() + "/content"}}, nil
}

// contentAtLeast returns the minimum size of the content of an upload, given the declared length of the request.
func contentAtLeast(r *http.Request) int64 {
	return max(0, r.ContentLength-maxPartsBytes)
}

// readUpload reads the attributes of an upload and returns its content, the part after them. If they are optional, the content may also be
// the first part. The content streams from the connection to the blob store: an upload needs neither memory for it nor a temporary file.
func (a *api) readUpload(c *call, attributes any, optional bool) (io.Reader, error) {
	if err := wantMediaType(c.r, "multipart/form-data"); err != nil {
		return nil, err
	}
	c.r.Body = io.NopCloser(c.openBody(a.service.Limits().UploadBytes+maxPartsBytes, true))
	parts, err := c.r.MultipartReader()
	if err != nil {
		return nil, failf(docgen.CodeBadRequest, "The body is not valid multipart/form-data: the Content-Type header has no boundary.")
	}
	part, err := c.nextPart(parts, "attributes")
	announced := err == nil && part.FormName() == "attributes"
	switch {
	case err != nil:
		return nil, err
	case announced:
		if err := c.readAttributes(part, attributes); err != nil {
			return nil, err
		}
		if part, err = c.nextPart(parts, "file"); err != nil {
			return nil, err
		}
	case !optional:
		return nil, failf(codeParts, messageParts)
	}
	if part.FormName() == "attributes" {
		return nil, docgen.Invalid(repeatedPart("attributes"))
	}
	return &filePart{part, parts, announced, c}, nil
}

const messageParts = "The part attributes must come before the part with the content."

// readAttributes reads the part attributes of an upload.
func (c *call) readAttributes(part io.Reader, attributes any) error {
	text, err := io.ReadAll(io.LimitReader(part, maxAttributesBytes+1))
	if err != nil {
		return c.unreadableParts()
	}
	if len(text) > maxAttributesBytes {
		return failf(docgen.CodeBodyTooLarge, "The part attributes is larger than the limit of %d bytes.", maxAttributesBytes)
	}
	problems, err := c.decode(text, attributes)
	return cmp.Or(err, docgen.Invalid(problems...))
}

// A filePart is the content of an upload. It may end too early even if the connection is intact. The upload must end with it: another
// part is an error, because the server would drop it.
type filePart struct {
	*multipart.Part
	parts     *multipart.Reader
	announced bool // whether the part attributes came before
	call      *call
}

func (f *filePart) Read(p []byte) (int, error) {
	n, err := f.Part.Read(p)
	if err == io.EOF { //nolint:errorlint // as a Reader returns it
		if failure := f.noFurtherPart(); failure != nil {
			return n, failure
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && f.call.body.failure == nil {
		f.call.body.failure = err
	}
	return n, err
}

// noFurtherPart returns an Error that names the part after the content, or nil if there is none.
func (f *filePart) noFurtherPart() error {
	part, err := f.parts.NextRawPart()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return f.call.unreadableParts()
	case part.FormName() == "attributes" && !f.announced:
		return failf(codeParts, messageParts)
	case part.FormName() == f.FormName() || part.FormName() == "attributes":
		return docgen.Invalid(repeatedPart(part.FormName()))
	}
	return docgen.Invalid(parameterProblem(part.FormName(), "an upload ends with the content; there must be no further part"))
}

func repeatedPart(name string) docgen.Problem {
	return parameterProblem(name, quoteParameter(name)+" is sent twice; an upload has one such part")
}

// nextPart returns the next part. name is for the error if there is none.
func (c *call) nextPart(parts *multipart.Reader, name string) (*multipart.Part, error) {
	part, err := parts.NextPart()
	switch {
	case errors.Is(err, io.EOF):
		return nil, docgen.Invalid(missingPart(name))
	case err != nil:
		return nil, c.unreadableParts()
	}
	return part, nil
}

func missingPart(name string) docgen.Problem {
	return docgen.Problem{Reason: docgen.ReasonMissing, Name: name, Message: "the part '" + name + "' is required"}
}

// unreadableParts returns the Error for parts that cannot be read, because of the connection or because of their content. The message
// does not repeat the content.
func (c *call) unreadableParts() error {
	if f := c.bodyError(); f != nil {
		return f
	}
	return failf(docgen.CodeBadRequest, "The body is not valid multipart/form-data.")
}

// uploadBody documents the parts of an upload. required are those that cannot be omitted.
func uploadBody[T any](example func() T, required ...string) func(*api, *huma.Operation) {
	return func(a *api, op *huma.Operation) {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {
			Schema: &huma.Schema{
				Type: huma.TypeObject, Required: required,
				Properties: map[string]*huma.Schema{
					"attributes": a.schemaOf(example()),
					"file":       {Type: huma.TypeString, Format: "binary", Description: "The content. The part can have another name."},
				},
			},
			Encoding: map[string]*huma.Encoding{"attributes": {ContentType: "application/json"}},
			Example:  map[string]any{"attributes": example(), "file": "…"},
		}}}
	}
}
