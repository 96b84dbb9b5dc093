package docgen

import (
	"fmt"
	"time"
)

// Code identifies a kind of failure. Codes are part of the API: their meaning never changes.
type Code string

// The codes, with their meanings.
const (
	CodeBadRequest        Code = "bad_request"               // a parameter is missing or wrong; Problems say which
	CodeInvalidLimit      Code = "invalid_limit"             // limit is not a positive number
	CodeInvalidOffset     Code = "invalid_offset"            // offset is not a number, or exceeds MaxOffset
	CodeNameInvalid       Code = "item_name_invalid"         // the name of an item is invalid
	CodeNameTooLong       Code = "item_name_too_long"        // a name has more than MaxNameLength characters
	CodeFolderNotEmpty    Code = "folder_not_empty"          // deleting a folder with items without recursive
	CodeCycle             Code = "cyclical_folder_structure" // moving or copying a folder below itself
	CodeBadDigest         Code = "bad_digest"                // the content does not match the digest in the request
	CodeCollaborator      Code = "user_already_collaborator" // the user already has a role on the item
	CodeRootCollaboration Code = "collaborations_not_available_on_root_folder"
	CodeInvalidStatus     Code = "invalid_status"                         // the invitation was already answered, or not yet accepted
	CodeUnauthorized      Code = "unauthorized"                           // the token is missing, unknown, or expired
	CodeForbidden         Code = "access_denied_insufficient_permissions" // the caller sees the object but lacks the permission
	CodeScope             Code = "insufficient_scope"                     // the token lacks the scope of the operation
	CodeRefused           Code = "forbidden"                              // the settings or limits of the server forbid it for all callers
	CodeTooLarge          Code = "file_size_limit_exceeded"               // an upload is larger than Limits.UploadBytes
	CodeStorageFull       Code = "storage_limit_exceeded"                 // the server has no space for the content
	CodeNotFound          Code = "not_found"                              // the object does not exist, or the caller may not see it
	CodeTrashed           Code = "trashed"                                // the item, a folder above it, or the version is in the trash
	CodeNotTrashed        Code = "not_trashed"                            // the item, or version, is not in the trash
	CodeConflict          Code = "conflict"                               // the object already exists, or another change came first
	CodeNameInUse         Code = "item_name_in_use"                       // the folder has an item of that name
	CodeLoginInUse        Code = "user_login_already_used"                // another user has that login
	CodeUserOwns          Code = "user_owns_content"                      // deleting a user who owns files or folders
	CodePrecondition      Code = "precondition_failed"                    // the item no longer has the etag in the request
	CodeBodyTooLarge      Code = "request_entity_too_large"               // the request body is larger than its limit
	CodeContentDamaged    Code = "content_damaged"                        // stored content is missing or has changed
	CodeDocumentFailed    Code = "document_failed"                        // a document cannot be generated; Failures say why
	CodeZipFiles          Code = "zip_download_file_count_exceeded_limit" // a ZIP download would have too many files
	CodeZipStreams        Code = "user_too_many_concurrent_downloads"     // the user downloads too many ZIP files at once
	CodeUnavailable       Code = "unavailable"                            // the database is busy or cannot be reached
	CodeKeyReused         Code = "idempotency_key_reused"                 // another request had the idempotency key
	CodeKeyInUse          Code = "idempotency_key_in_use"                 // the first request with the idempotency key has not ended
	CodeKeyLost           Code = "idempotency_result_lost"                // the response of the first request with the key is unknown
)

// The reasons of a Problem.
const (
	ReasonMissing = "missing_parameter"
	ReasonInvalid = "invalid_parameter"
)

// Problem is one problem with a request.
type Problem struct {
	Reason  string // ReasonMissing or ReasonInvalid
	Name    string // path of the field, such as document_generation_data[3].user_input, or name of the parameter
	Message string // what is wrong and what to do about it
}

// Error is a failure that its caller can understand and do something about.
type Error struct {
	Code      Code
	Message   string
	Problems  []Problem // all problems of the request, if there are several
	Conflicts []Item    // the conflicting items, for CodeNameInUse; in listing form
	Failures  *Failures // why a document cannot be generated, for CodeDocumentFailed

	RetryAfter time.Duration // when the same operation may succeed; 0 if waiting does not help
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// IsCode reports whether the public form of an error has a code; see PublicError.
func IsCode(err error, code Code) bool {
	e := PublicError(err)
	return e != nil && e.Code == code
}

// failf makes an Error without problems.
func failf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns the Error of a request with problems, or nil if there are none.
func Invalid(problems ...Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Code: CodeBadRequest, Message: "Invalid input parameters in request: " + problems[0].Message, Problems: problems}
}

// invalidField returns a Problem with the value of a field.
func invalidField(name, format string, args ...any) Problem {
	return Problem{Reason: ReasonInvalid, Name: name, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns the Error for something that does not exist, or that the caller may not see.
func NotFound(kind string, id any) *Error {
	return &Error{Code: CodeNotFound, Message: "Not Found", Problems: []Problem{
		invalidField(kind, "Invalid value '%v'. '%s' with value '%v' not found", id, kind, id),
	}}
}
