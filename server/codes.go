package server

import (
	"net/http"

	"platen/docgen"
)

// An errorKind says everything there is to say about one code. This table is the only place where a code meets its
// status, and the only source of its explanation: /docs/errors and docs/errors.md are made from it.
type errorKind struct {
	Code      docgen.Code
	Status    int
	challenge string // error of the WWW-Authenticate header (RFC 6750, section 3.1); empty for no such header
	Cause     string
	Remedy    string
}

var errorKinds = []errorKind{
	{Code: docgen.CodeBadRequest, Status: http.StatusBadRequest,
		Cause:  "The request cannot be understood: the body is not valid JSON, or fields or parameters are missing, unknown or wrong. `context_info.errors` lists all that is wrong, each with the path of the field, as in `document_generation_data[3].user_input`.",
		Remedy: "Correct what is listed. Where the body is not JSON, the message names line and column."},
	{Code: codeVersion, Status: http.StatusBadRequest,
		Cause:  "The version header is missing, empty, sent more than once, or names another version than `2025.0`. Every operation demands it, unless the operator runs the server with `--compat box`.",
		Remedy: "Send `svc-version: 2025.0` (or `box-version: 2025.0`), once."},
	{Code: docgen.CodeInvalidLimit, Status: http.StatusBadRequest,
		Cause:  "`limit` is not a whole number from 1, or the entries of a page by offset have more than 8 MiB together.",
		Remedy: "Send a number, or leave `limit` out for 100. Above 1000 it counts as 1000. If the page is too large, send a smaller limit."},
	{Code: docgen.CodeInvalidOffset, Status: http.StatusBadRequest,
		Cause:  "`offset` is not a whole number, or is above 300000.",
		Remedy: "Advance `offset` by `limit` from page to page. Beyond 300000 page by marker: `usemarker=true`."},
	{Code: docgen.CodeNameInvalid, Status: http.StatusBadRequest,
		Cause:  "A file or folder cannot have this name: it is empty, is `.` or `..`, begins or ends with a blank, or holds a slash, a backslash or a control character.",
		Remedy: "Choose another name; the message says what is wrong with this one."},
	{Code: docgen.CodeNameTooLong, Status: http.StatusBadRequest,
		Cause:  "The name of a file or folder has more than 255 characters.",
		Remedy: "Choose a shorter name."},
	{Code: docgen.CodeFolderNotEmpty, Status: http.StatusBadRequest,
		Cause:  "A folder or an archive that is to be deleted holds something.",
		Remedy: "Delete that first or move it elsewhere, or send `recursive=true` to delete it with the folder."},
	{Code: docgen.CodeCycle, Status: http.StatusBadRequest,
		Cause:  "A folder was to be moved or copied into itself, or into a folder below it.",
		Remedy: "Choose another parent."},
	{Code: docgen.CodeBadDigest, Status: http.StatusBadRequest,
		Cause:  "The content that arrived does not have the SHA-1 that the `Content-MD5` header promised. Nothing was kept.",
		Remedy: "Send it again. Despite its name the header holds the SHA-1 of the content, in hexadecimal."},
	{Code: codeParts, Status: http.StatusBadRequest,
		Cause:  "The part `file` of an upload came before the part `attributes`.",
		Remedy: "Send `attributes` first, so that rights and name can be checked before the content."},
	{Code: docgen.CodeCollaborator, Status: http.StatusBadRequest,
		Cause:  "The user is a collaborator on the item already, or owns it.",
		Remedy: "Change the role with `PUT /collaborations/{collaboration_id}`."},
	{Code: docgen.CodeRootCollaboration, Status: http.StatusBadRequest,
		Cause:  "The root folder of a user cannot be shared.",
		Remedy: "Share a folder in it."},
	{Code: docgen.CodeInvalidStatus, Status: http.StatusBadRequest,
		Cause:  "An invitation is to be answered that was answered already, to be changed after it was rejected, or to make an owner before it was accepted.",
		Remedy: "Read the collaboration again; its `status` says what became of it. One that was rejected can be made anew."},
	{Code: docgen.CodeUnauthorized, Status: http.StatusUnauthorized, challenge: "invalid_token",
		Cause:  "The request has no access token, or one that is malformed, unknown, expired, or whose user is inactive.",
		Remedy: "Send `Authorization: Bearer` followed by a valid token. Ask the operator for one."},
	{Code: docgen.CodeForbidden, Status: http.StatusForbidden,
		Cause:  "The caller sees the item, or the user, but may not do this with it; or may not act for the user that the header `As-User` names. The message says which.",
		Remedy: "Ask the owner of the item for a role that allows it, or an administrator."},
	{Code: docgen.CodeScope, Status: http.StatusForbidden, challenge: "insufficient_scope",
		Cause:  "The access token lacks the scope that the operation needs; the message names it.",
		Remedy: "Use a token with that scope: `docgen.readwrite` for Doc Gen, `root_readonly` or `root_readwrite` for files and folders, `enterprise_content` besides for archives, `manage_webhook` for webhooks."},
	{Code: docgen.CodeRefused, Status: http.StatusForbidden,
		Cause:  "This server does that for nobody: its operator has turned it off, or there would be more of something than there can be. The message says which.",
		Remedy: "Ask the operator, or make room."},
	{Code: docgen.CodeTooLarge, Status: http.StatusForbidden,
		Cause:  "The file that was uploaded is larger than this server accepts. Nothing was kept.",
		Remedy: "Upload a smaller file, or ask the operator to raise the limit, which the message names."},
	{Code: docgen.CodeStorageFull, Status: http.StatusForbidden,
		Cause:  "The server has no disk space left for what the request would save, or the owner of the folder would exceed a quota; the message says which. Nothing was saved.",
		Remedy: "With a `Retry-After` header, the server is out of disk space: tell the operator, and send the request again later. Otherwise delete files for good, or ask an administrator for a larger quota."},
	{Code: docgen.CodeNotFound, Status: http.StatusNotFound,
		Cause:  "There is no such thing, or the caller may not see it: the two are not told apart. Also the answer for an address that this interface does not have.",
		Remedy: "Check the id and the address, and that the token, or the header `As-User`, is that of the right user."},
	{Code: docgen.CodeTrashed, Status: http.StatusNotFound,
		Cause:  "The item is in the trash, or lies in a folder that is; or the version of a file is in the trash.",
		Remedy: "Take it out of the trash with `POST /files/{file_id}` or `POST /folders/{folder_id}`, a version with `PUT /files/{file_id}/versions/{file_version_id}`, or use another."},
	{Code: docgen.CodeNotTrashed, Status: http.StatusNotFound,
		Cause:  "The item, or the version of a file, is not in the trash. What merely lies in a folder that is in the trash counts as not being there itself.",
		Remedy: "Use it as it is; or take the folder out of the trash that it lies in."},
	{Code: codeMethod, Status: http.StatusMethodNotAllowed,
		Cause:  "The address does not have this method.",
		Remedy: "Use one of the methods that the `Allow` header lists."},
	{Code: codeTimeout, Status: http.StatusRequestTimeout,
		Cause:  "The body of the request did not arrive in time.",
		Remedy: "Send it again over a faster connection. An upload may take as long as it likes while bytes keep coming."},
	{Code: docgen.CodeConflict, Status: http.StatusConflict,
		Cause:  "There is a thing with this value already, such as an archive of that name, or a webhook of the same user and application on that target; or there are too many, or something that has ended cannot be used; or another change came first. The message says which.",
		Remedy: "Choose another value where the message names one. Otherwise read the item again and repeat the change."},
	{Code: docgen.CodeNameInUse, Status: http.StatusConflict,
		Cause:  "The folder has an item of that name; upper and lower case are not told apart. `context_info.conflicts` shows it.",
		Remedy: "Choose another name, or upload a new version of the file that is there."},
	{Code: docgen.CodeLoginInUse, Status: http.StatusConflict,
		Cause:  "Another user has that login.",
		Remedy: "Choose another login."},
	{Code: docgen.CodeUserOwns, Status: http.StatusConflict,
		Cause:  "A user who is to be deleted owns files or folders, perhaps in the trash.",
		Remedy: "Move them to another user with `PUT /users/{user_id}/folders/0`, or send `force=true` to remove them for good."},
	{Code: docgen.CodePrecondition, Status: http.StatusPreconditionFailed,
		Cause:  "The item has changed since the etag in `If-Match` was read.",
		Remedy: "Read the item again and repeat the change with its new etag."},
	{Code: docgen.CodeBodyTooLarge, Status: http.StatusRequestEntityTooLarge,
		Cause:  "The body of the request is larger than the operation accepts; the message names the limit.",
		Remedy: "Send less: divide a batch into several."},
	{Code: codeMediaType, Status: http.StatusUnsupportedMediaType,
		Cause:  "The `Content-Type` of the body is not the one that the operation takes, or the body is compressed.",
		Remedy: "Send `application/json`, or `multipart/form-data` for an upload, as it is."},
	{Code: codeRange, Status: http.StatusRequestedRangeNotSatisfiable,
		Cause:  "The `Range` header asks for bytes that the file does not have.",
		Remedy: "Ask for a range within the size that the `Content-Range` header names."},
	{Code: codeHeaderTooLarge, Status: http.StatusRequestHeaderFieldsTooLarge,
		Cause:  "The header of the request, with the address in it, has more than 64 KiB.",
		Remedy: "Send less in headers and parameters."},
	{Code: codeRateLimit, Status: http.StatusTooManyRequests,
		Cause:  "The user, or an address without a valid token, has sent too many requests within a minute.",
		Remedy: "Wait for the seconds that the `Retry-After` header names, and send less often."},
	{Code: docgen.CodeContentDamaged, Status: http.StatusInternalServerError,
		Cause:  "The stored content of the file is missing from the server's disk, or its bytes are no longer the ones that were uploaded. Damage that shows after the response has begun closes the connection instead, before the last byte.",
		Remedy: "Tell the operator, who can restore the content from a backup. Other versions of the file may still be readable. A retry does not help."},
	{Code: docgen.CodeUnavailable, Status: http.StatusServiceUnavailable,
		Cause:  "The database is busy or cannot be reached. Nothing was changed.",
		Remedy: "Wait for the seconds that the `Retry-After` header names, and send the request again."},
	{Code: codeBusy, Status: http.StatusServiceUnavailable,
		Cause:  "The requests that are being answered hold as much as the server, or one user, may have at a time: requests, or bytes of their bodies. Nothing was done.",
		Remedy: "Wait for the seconds that the `Retry-After` header names, and send the request again. Send fewer large requests at a time."},
	{Code: codeInternal, Status: http.StatusInternalServerError,
		Cause:  "The server met a condition that it did not expect.",
		Remedy: "Try again later; if it stays so, tell the operator the request id, under which the server's log has the details."},
}

// kindOf returns what is known of a code. A code that the table lacks is a fault of ours, and is answered as one.
func kindOf(code docgen.Code) errorKind {
	for _, kind := range errorKinds {
		if kind.Code == code {
			return kind
		}
	}
	return errorKind{Code: code, Status: http.StatusInternalServerError}
}
