package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// An Error is an error response of the server.
type Error struct {
	ErrorBody
}

// Error returns all problems that the server reports, the id of the request, and the URL of the server's explanation.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server responded with %d %s: %s", e.Status, e.Code, e.Message)
	if e.ContextInfo != nil && e.ContextInfo.Errors != nil {
		for _, problem := range *e.ContextInfo.Errors {
			fmt.Fprintf(&b, "; %s: %s", problem.Name, problem.Message)
		}
	}
	fmt.Fprintf(&b, " (request %s; see %s)", e.RequestId, e.HelpUrl)
	return b.String()
}

// errorOf returns the error in a response.
func errorOf(status int, body []byte) error {
	e := &Error{}
	if err := json.Unmarshal(body, &e.ErrorBody); err != nil || e.Type == "" {
		return fmt.Errorf("the server responded with %d", status)
	}
	return e
}

// Conflict returns the id of the existing item if err says that a name is in use, and "" for any other error.
func Conflict(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != "item_name_in_use" || e.ContextInfo == nil {
		return ""
	}
	taken := e.ContextInfo.Conflicts
	if folders, ok := taken.([]any); ok && len(folders) > 0 {
		taken = folders[0]
	}
	item, _ := taken.(map[string]any)
	id, _ := item["id"].(string)
	return id
}
