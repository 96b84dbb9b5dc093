package server

import (
	"context"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"platen/docgen"
)

// linkHeader is the header with which clients of the Box API use a shared link.
const linkHeader = "BoxApi"

// The parts of the header.
const (
	linkPart     = "shared_link="
	passwordPart = "&shared_link_password="
)

// Limits of the passwords that are compared in a minute.
const (
	maxGuesses       = 10 // of one user, or one address without an account
	maxGuessesOfLink = 60 // for one link
)

// sharedLink is the shared link of a file or folder.
type sharedLink struct {
	URL                 string            `json:"url" format:"uri" doc:"The URL of the link. Everyone who has it has the access that the link gives." example:"https://platen.example.com/s/AAYdTf2uYZkq0S3m4hQ5Cw3NfD0kqS2e"`
	DownloadURL         *string           `json:"download_url" format:"uri" doc:"The URL of the content; null for folders, and if the link does not permit downloads."`
	VanityURL           null              `json:"vanity_url" doc:"Always null."`
	VanityName          null              `json:"vanity_name" doc:"Always null."`
	EffectiveAccess     docgen.LinkAccess `json:"effective_access" enum:"open,company,collaborators" doc:"The same as access."`
	EffectivePermission string            `json:"effective_permission" enum:"can_download,can_preview" doc:"The most that the link permits."`
	IsPasswordEnabled   bool              `json:"is_password_enabled" doc:"Whether the link has a password."`
	UnsharedAt          timestamp         `json:"unshared_at" doc:"When the link expires; null for never."`
	DownloadCount       int64             `json:"download_count" doc:"The number of downloads with the link."`
	PreviewCount        int64             `json:"preview_count" doc:"Always 0: previews are not counted."`
	Access              docgen.LinkAccess `json:"access" enum:"open,company,collaborators" doc:"Who has access: anyone, the users of the enterprise, or only users who have access anyway."`
	Permissions         linkPermissions   `json:"permissions"`
}

// linkPermissions are the permissions of a shared link.
type linkPermissions struct {
	CanPreview  bool `json:"can_preview" doc:"Always true."`
	CanDownload bool `json:"can_download"`
	CanEdit     bool `json:"can_edit" doc:"Always false."`
}

func sharedLinkOf(l *docgen.SharedLink) sharedLink {
	permission := "can_preview"
	if l.CanDownload {
		permission = "can_download"
	}
	return sharedLink{
		URL: l.URL, DownloadURL: orNull(l.DownloadURL), EffectiveAccess: l.Access, EffectivePermission: permission,
		IsPasswordEnabled: l.HasPassword, UnsharedAt: timestamp{l.ExpiresAt}, DownloadCount: l.Downloads, Access: l.Access,
		Permissions: linkPermissions{CanPreview: true, CanDownload: l.CanDownload},
	}
}

// linkChange is the shared link in a change of a file or folder.
type linkChange struct {
	Access      string                 `json:"access,omitempty" enum:"open,company,collaborators" doc:"Who has access (default company): anyone, the users of the enterprise, or only users who have access anyway."`
	Password    change[string]         `json:"password,omitzero" doc:"A password with at least 8 characters, or null for none. Only for the access open."`
	UnsharedAt  change[timestamp]      `json:"unshared_at,omitzero" doc:"When the link expires: a time in the future, or null for never."`
	VanityName  string                 `json:"vanity_name,omitempty" doc:"Not supported: omit it, or send null."`
	Permissions *linkPermissionsChange `json:"permissions,omitempty" doc:"What the link permits."`
}

// linkPermissionsChange are the permissions in a change of a shared link.
type linkPermissionsChange struct {
	CanDownload *bool `json:"can_download,omitempty" doc:"Whether the content can be downloaded (default true). Not for the access collaborators."`
	CanPreview  *bool `json:"can_preview,omitempty" doc:"Must be true."`
	CanEdit     *bool `json:"can_edit,omitempty" doc:"Not supported: omit it, or send false."`
}

// linkChangeOf decodes the change of a shared link. null removes the link.
func linkChangeOf(c change[linkChange]) *docgen.LinkChange {
	switch {
	case !c.Given:
		return nil
	case c.Value == nil:
		return &docgen.LinkChange{Remove: true}
	}
	link := &docgen.LinkChange{Access: docgen.LinkAccess(c.Value.Access), VanityName: c.Value.VanityName, Password: textOf(c.Value.Password)}
	if at := c.Value.UnsharedAt; at.Given && at.Value == nil {
		link.ExpiresAt = new(time.Time)
	} else if at.Given {
		link.ExpiresAt = &at.Value.Time
	}
	if p := c.Value.Permissions; p != nil {
		link.CanDownload, link.CanPreview, link.CanEdit = p.CanDownload, p.CanPreview, p.CanEdit
	}
	return link
}

// LinkHeader holds the header with a shared link.
type LinkHeader struct {
	BoxAPI string `header:"BoxApi" doc:"A shared link, and its password if it has one. It gives access to its item and to everything below it. Both values can be percent-encoded." example:"shared_link=https://platen.example.com/s/AAYdTf2uYZkq0S3m4hQ5Cw3NfD0kqS2e&shared_link_password=correct horse"`
}

// useLink gives the caller the permissions of the shared link in the header BoxApi, if the operation reads it.
func (a *api) useLink(c *call, d *doc) error {
	values := c.r.Header.Values(linkHeader)
	if !d.link || len(values) == 0 || values[0] == "" {
		return nil
	}
	if len(values) > 1 {
		return invalidParam(linkHeader, "the header %s must be sent once", linkHeader)
	}
	key, ok := parseLinkHeader(values[0])
	if !ok {
		return invalidParam(linkHeader, "%s must be %sURL, or %[2]sURL%s and the password", linkHeader, linkPart, passwordPart)
	}
	key.Attempt = a.guessLimit(c)
	caller, item, err := a.service.WithLink(docgen.ForCaller(c.r.Context(), c.caller), c.caller, key)
	if err != nil {
		return err
	}
	c.caller, c.linked = caller, &item
	return nil
}

// guessLimit returns a function that counts the passwords that a caller or a visitor sends, and those that are sent for a link.
func (a *api) guessLimit(c *call) func(linkID int64) error {
	return func(linkID int64) error {
		if err := a.limit(c, "passwords of "+c.holder(), maxGuesses); err != nil {
			return err
		}
		return a.limit(c, "passwords of link "+ID(linkID).String(), maxGuessesOfLink)
	}
}

// parseLinkHeader parses the header with a shared link. Some clients encode its values, and some do not: the URL shows which.
func parseLinkHeader(text string) (key docgen.LinkKey, ok bool) {
	rest, ok := strings.CutPrefix(text, linkPart)
	if !ok {
		return key, false
	}
	link, password, _ := strings.Cut(rest, passwordPart)
	if !strings.Contains(link, "/") {
		var wrong [2]error
		link, wrong[0] = url.QueryUnescape(link)
		password, wrong[1] = url.QueryUnescape(password)
		if wrong != [2]error{} {
			return key, false
		}
	}
	target, err := url.Parse(link)
	if err != nil {
		return key, false
	}
	return docgen.LinkKey{Secret: path.Base(target.Path), Password: password}, true
}

var docGetSharedItem = doc{
	id: "get_shared_item", tag: tagLinks, scope: docgen.ScopeRead, link: true,
	summary: "Get the file or folder of a shared link",
	description: "The item of the link in the header BoxApi, which is required here. Send the same header to get a file, its content, a " +
		"folder, or the items in it with the link.",
	errors:  []docgen.Code{docgen.CodeTrashed},
	example: sharedItem{first: &view[file]{value: exampleFileObject()}},
	also:    answersNotModified,
}

// SharedItemQuery holds the parameters of a request for the item of a shared link.
type SharedItemQuery struct {
	FieldsQuery
	LinkHeader
	IfNoneMatchHeader
}

// A sharedItem is a file or a folder.
type sharedItem = either[view[file], view[folder]]

func (a *api) getSharedItem(ctx context.Context, c *call, in *SharedItemQuery) (*itemReplyOf[sharedItem], error) {
	if c.linked == nil {
		return nil, docgen.Invalid(docgen.Problem{Reason: docgen.ReasonMissing, Name: linkHeader,
			Message: "the header " + linkHeader + " with the shared link is required"})
	}
	read := a.service.File
	if c.linked.Kind == docgen.Folder {
		read = a.service.Folder
	}
	item, err := read(ctx, c.caller, c.linked.ID)
	if err != nil {
		return nil, err
	}
	if in.matches(item.ETag) {
		return nil, notModified(etagHeader(item.ETag))
	}
	if item.Kind == docgen.File {
		reply := fileReply(item, in.Fields)
		return &itemReplyOf[sharedItem]{ETag: reply.ETag, Body: sharedItem{first: &reply.Body}}, nil
	}
	reply, err := a.describedFolder(ctx, c, item, firstItems, in.Fields)
	if err != nil {
		return nil, err
	}
	return &itemReplyOf[sharedItem]{ETag: reply.ETag, Body: sharedItem{second: &reply.Body}}, nil
}

// linkFileURL returns the path of the content of a file on the pages of a link, relative to the first of them.
func linkFileURL(secret string, fileID int64) string {
	return secret + "/files/" + strconv.FormatInt(fileID, 10)
}
