package server

import (
	"net/http"

	"platen/docgen"
)

// An errorKind is everything about one error code. This table is the only place that maps a code to a status, and the only source of its
// explanation: /docs/errors and docs/errors.md are generated from it.
type errorKind struct {
	Code      docgen.Code
	Status    int
	challenge string // error of the WWW-Authenticate header (RFC 6750, section 3.1); empty for no such header
	Cause     string
	Remedy    string
}

var errorKinds = []errorKind{
	{Code: docgen.CodeBadRequest, Status: http.StatusBadRequest,
		Cause: "The request is invalid: the body is not valid JSON, or fields or parameters are missing, unknown, or wrong. " +
			"`context_info.errors` lists every problem with the path of the field, such as `document_generation_data[3].user_input`.",
		Remedy: "Fix the listed problems. If the body is not JSON, the message contains the line and column."},
	{Code: codeVersion, Status: http.StatusBadRequest,
		Cause: "The version header is missing, empty, repeated, or contains a version other than `2025.0`. Every operation requires " +
			"it, unless the operator runs the server with `--compat box`.",
		Remedy: "Send `svc-version: 2025.0` (or `box-version: 2025.0`), once."},
	{Code: docgen.CodeInvalidLimit, Status: http.StatusBadRequest,
		Cause: "`limit` is not a positive integer, or the entries of a page by offset exceed 8 MiB in total.",
		Remedy: "Send an integer, or omit `limit` (default 100). Values above 1000 count as 1000. If the page is too large, send a " +
			"smaller limit."},
	{Code: docgen.CodeInvalidOffset, Status: http.StatusBadRequest,
		Cause:  "`offset` is not a non-negative integer, or exceeds 300000.",
		Remedy: "Increase `offset` by `limit` from page to page. Beyond 300000, page by marker: `usemarker=true`."},
	{Code: docgen.CodeNameInvalid, Status: http.StatusBadRequest,
		Cause: "The name is not valid for a file or folder: it is empty, is `.` or `..`, starts or ends with a space, or contains a " +
			"slash, backslash, or control character.",
		Remedy: "Choose another name. The message says what is wrong."},
	{Code: docgen.CodeNameTooLong, Status: http.StatusBadRequest,
		Cause:  "The name of a file or folder is longer than 255 characters.",
		Remedy: "Choose a shorter name."},
	{Code: docgen.CodeFolderNotEmpty, Status: http.StatusBadRequest,
		Cause:  "The folder or archive to delete is not empty.",
		Remedy: "Delete or move its items first, or send `recursive=true` to delete a folder with its items."},
	{Code: docgen.CodeCycle, Status: http.StatusBadRequest,
		Cause:  "The target of a move or copy of a folder is the folder itself, or a folder below it.",
		Remedy: "Choose another parent."},
	{Code: docgen.CodeBadDigest, Status: http.StatusBadRequest,
		Cause:  "The SHA-1 of the received content does not match the `Content-MD5` header. Nothing was saved.",
		Remedy: "Send the request again. Despite its name, the header contains the SHA-1 of the content, in hexadecimal."},
	{Code: codeParts, Status: http.StatusBadRequest,
		Cause:  "The content of an upload came before the part `attributes`.",
		Remedy: "Send `attributes` first, so that the server can check permissions and the name before the content."},
	{Code: docgen.CodeCollaborator, Status: http.StatusBadRequest,
		Cause:  "The user already collaborates on the item, or owns it.",
		Remedy: "Change the role with `PUT /collaborations/{collaboration_id}`."},
	{Code: docgen.CodeRootCollaboration, Status: http.StatusBadRequest,
		Cause:  "The root folder of a user cannot be shared.",
		Remedy: "Share a folder inside it."},
	{Code: docgen.CodeInvalidStatus, Status: http.StatusBadRequest,
		Cause:  "The status of the invitation does not allow the change: it was already accepted or rejected, or was not accepted yet.",
		Remedy: "Read the collaboration again and check its `status`. You can create a new invitation after a rejection."},
	{Code: docgen.CodeZipFiles, Status: http.StatusBadRequest,
		Cause:  "The ZIP file would have more than 10,000 files, more than 10,000 folders, or more than 32 GiB. The message says which.",
		Remedy: "Download fewer files and folders at a time."},
	{Code: docgen.CodeUnauthorized, Status: http.StatusUnauthorized, challenge: "invalid_token",
		Cause:  "The access token is missing, malformed, unknown, or expired, or its user is inactive.",
		Remedy: "Send `Authorization: Bearer` followed by a valid token. Ask the operator for one."},
	{Code: docgen.CodeForbidden, Status: http.StatusForbidden,
		Cause: "The caller can see the item or user, but lacks the permission for this operation, or may not act for the user in the " +
			"header `As-User`. The message says which.",
		Remedy: "Ask the owner of the item for a role with that permission, or ask an administrator."},
	{Code: docgen.CodeScope, Status: http.StatusForbidden, challenge: "insufficient_scope",
		Cause: "The access token lacks the scope that the operation requires. The message contains the scope.",
		Remedy: "Use a token with that scope: `docgen.readwrite` for Doc Gen, `root_readonly` or `root_readwrite` for files and " +
			"folders, also `enterprise_content` for archives, and `manage_webhook` for webhooks."},
	{Code: docgen.CodeRefused, Status: http.StatusForbidden,
		Cause:  "The server refuses the operation for all callers: the operator has disabled it, or a limit is reached. The message says which.",
		Remedy: "Ask the operator, or delete something that counts toward the limit."},
	{Code: docgen.CodeTooLarge, Status: http.StatusForbidden,
		Cause:  "The uploaded file exceeds the maximum size of the server. Nothing was saved.",
		Remedy: "Upload a smaller file, or ask the operator to raise the limit, which the message contains."},
	{Code: docgen.CodeStorageFull, Status: http.StatusForbidden,
		Cause: "The server has no disk space left, or the owner of the folder would exceed a quota. The message says which. Nothing was saved.",
		Remedy: "If the response has a `Retry-After` header, the server is out of disk space: contact the operator, and send the " +
			"request again later. Otherwise, delete files permanently, or ask an administrator for a larger quota."},
	{Code: docgen.CodeNotFound, Status: http.StatusNotFound,
		Cause: "The object does not exist, or the caller may not see it. The response is the same for both. Also the response for a " +
			"path that the API does not have.",
		Remedy: "Check the id and the path, and check that the token or the header `As-User` belongs to the right user."},
	{Code: docgen.CodeTrashed, Status: http.StatusNotFound,
		Cause: "The item is in the trash or in a trashed folder, or the version of a file is in the trash.",
		Remedy: "Restore it with `POST /files/{file_id}` or `POST /folders/{folder_id}`, or a version with `PUT " +
			"/files/{file_id}/versions/{file_version_id}`. Or use another one."},
	{Code: docgen.CodeNotTrashed, Status: http.StatusNotFound,
		Cause:  "The item, or the version of a file, is not in the trash. Items inside a trashed folder do not count as trashed themselves.",
		Remedy: "Use the item as it is, or restore the trashed folder that contains it."},
	{Code: codeMethod, Status: http.StatusMethodNotAllowed,
		Cause:  "The path does not support this method.",
		Remedy: "Use one of the methods that the `Allow` header lists."},
	{Code: codeTimeout, Status: http.StatusRequestTimeout,
		Cause:  "The request body did not arrive in time.",
		Remedy: "Send the request again over a faster connection. An upload has no time limit as long as data keeps arriving."},
	{Code: docgen.CodeConflict, Status: http.StatusConflict,
		Cause: "The request conflicts with the current state: the value is taken, such as the name of an archive or the target of a " +
			"webhook; a limit is reached; the object has expired; or another change came first. The message says which.",
		Remedy: "If the message contains a value, choose another one. Otherwise, read the item again and repeat the change."},
	{Code: docgen.CodeNameInUse, Status: http.StatusConflict,
		Cause:  "The folder already has an item of that name, ignoring case. `context_info.conflicts` contains it.",
		Remedy: "Choose another name, or upload a new version of the existing file."},
	{Code: docgen.CodeLoginInUse, Status: http.StatusConflict,
		Cause:  "Another user has that login.",
		Remedy: "Choose another login."},
	{Code: docgen.CodeUserOwns, Status: http.StatusConflict,
		Cause:  "The user to delete owns files or folders, possibly in the trash.",
		Remedy: "Move them to another user with `PUT /users/{user_id}/folders/0`, or send `force=true` to delete them permanently."},
	{Code: docgen.CodeKeyInUse, Status: http.StatusConflict,
		Cause:  "The first request with the `Idempotency-Key` has not ended, or its server crashed less than 30 seconds ago.",
		Remedy: "Wait for the number of seconds in the `Retry-After` header, and send the same request again."},
	{Code: docgen.CodeKeyLost, Status: http.StatusConflict,
		Cause: "The first request with the `Idempotency-Key` changed something, but its response was not stored: the server crashed " +
			"before it ended, or the response was too large or a document. Nothing was done again.",
		Remedy: "Check what the first request has done: for a stored document, the message has the ID of its file. If the request must be " +
			"repeated, send it with another key."},
	{Code: docgen.CodePrecondition, Status: http.StatusPreconditionFailed,
		Cause:  "The item has changed since you read the etag in `If-Match`.",
		Remedy: "Read the item again and repeat the change with its new etag."},
	{Code: docgen.CodeBodyTooLarge, Status: http.StatusRequestEntityTooLarge,
		Cause:  "The request body exceeds the limit of the operation, which the message contains.",
		Remedy: "Send less: split a batch into several."},
	{Code: codeMediaType, Status: http.StatusUnsupportedMediaType,
		Cause:  "The `Content-Type` of the body does not match the operation, or the body is compressed.",
		Remedy: "Send `application/json`, or `multipart/form-data` for an upload, without compression."},
	{Code: docgen.CodeDocumentFailed, Status: http.StatusUnprocessableEntity,
		Cause: "The document cannot be generated: the template has a mistake, the data is not complete although the options require that, or " +
			"the server has no PDF engine. `context_info.failures` lists everything that is wrong, with locations in the template.",
		Remedy: "Correct the template or the data, as the messages say, and send the request again."},
	{Code: docgen.CodeKeyReused, Status: http.StatusUnprocessableEntity,
		Cause:  "An earlier request of the user with the same `Idempotency-Key` had another method, path, query, or body.",
		Remedy: "Use a new key for each request, such as a UUID. To repeat a request, send it unchanged."},
	{Code: codeRange, Status: http.StatusRequestedRangeNotSatisfiable,
		Cause:  "The `Range` header requests bytes beyond the end of the file.",
		Remedy: "Request a range within the size in the `Content-Range` header."},
	{Code: codeHeaderTooLarge, Status: http.StatusRequestHeaderFieldsTooLarge,
		Cause:  "The headers of the request, including the URL, exceed 64 KiB.",
		Remedy: "Send fewer or shorter headers and parameters."},
	{Code: codeRateLimit, Status: http.StatusTooManyRequests,
		Cause:  "The user, or an address without a valid token, sent too many requests in the last minute.",
		Remedy: "Wait for the number of seconds in the `Retry-After` header, and send requests less often."},
	{Code: docgen.CodeZipStreams, Status: http.StatusTooManyRequests,
		Cause:  "The user is downloading five ZIP files, the maximum. If the server of a download crashes, it counts for five minutes.",
		Remedy: "Wait until one of them is complete, and send the request again."},
	{Code: docgen.CodeContentDamaged, Status: http.StatusInternalServerError,
		Cause: "The stored content of the file is missing on the server's disk, or does not match the uploaded content. If the server " +
			"detects the damage after the response has started, it closes the connection before the last byte instead.",
		Remedy: "Contact the operator, who can restore the content from a backup. Other versions of the file may still be readable. A " +
			"retry does not help."},
	{Code: docgen.CodeUnavailable, Status: http.StatusServiceUnavailable,
		Cause:  "The database is busy or cannot be reached. Nothing was changed.",
		Remedy: "Wait for the number of seconds in the `Retry-After` header, and send the request again."},
	{Code: codeBusy, Status: http.StatusServiceUnavailable,
		Cause: "The requests in progress have reached a limit of the server or of the user: their number, or the bytes of their " +
			"bodies. Nothing was done.",
		Remedy: "Wait for the number of seconds in the `Retry-After` header, and send the request again. Send fewer large requests at a time."},
	{Code: codeInternal, Status: http.StatusInternalServerError,
		Cause:  "The server encountered an unexpected error.",
		Remedy: "Try again later. If the error persists, send the request id to the operator: the server's log has the details."},
}

// kindOf returns the errorKind of a code. A code that is missing in the table is a bug, and becomes an internal error.
func kindOf(code docgen.Code) errorKind {
	for _, kind := range errorKinds {
		if kind.Code == code {
			return kind
		}
	}
	return errorKind{Code: code, Status: http.StatusInternalServerError}
}
