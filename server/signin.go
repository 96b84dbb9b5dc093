package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// maxGuestBytes is the maximum size of the body of a request that needs no access token. It must arrive within formTime.
const maxGuestBytes = 16 << 10

// readGuestBody is readBody for requests that anyone can make. The limit of guest requests bounds the memory for all of them.
func readGuestBody[T any](c *call) (*T, error) {
	if err := wantMediaType(c.r, jsonType); err != nil {
		return nil, err
	}
	if c.r.ContentLength > maxGuestBytes {
		return nil, tooLarge(maxGuestBytes)
	}
	body := c.openBody(maxGuestBytes, false)
	body.expect(time.Now().Add(formTime))
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	v := new(T)
	problems, err := c.decode(text, v)
	if err != nil {
		return nil, err
	}
	return v, docgen.Invalid(problems...)
}

type session struct {
	Type        string    `json:"type" enum:"session"`
	ID          ID        `json:"id"`
	CreatedAt   timestamp `json:"created_at"`
	LastUsedAt  timestamp `json:"last_used_at" doc:"Updated about once a minute; null until the first use."`
	ExpiresAt   timestamp `json:"expires_at" doc:"When it ends, however much it is used."`
	IdleSeconds int64     `json:"idle_seconds" doc:"It ends earlier if it is not used for this long."`
	Address     string    `json:"address" doc:"The IP address of the client that signed in, or its IPv6 network."`
	Agent       string    `json:"agent" doc:"The User-Agent of the client that signed in, at most 200 bytes."`
	IsCurrent   bool      `json:"is_current" doc:"Whether this request uses it."`
}

func sessionOf(s *docgen.Session) session {
	return session{
		Type: "session", ID: ID(s.ID), CreatedAt: timestamp{s.CreatedAt}, LastUsedAt: timestamp{s.UsedAt}, ExpiresAt: timestamp{s.ExpiresAt},
		IdleSeconds: wholeSeconds(s.IdleTTL), Address: s.Address, Agent: s.Agent, IsCurrent: s.Current,
	}
}

// setsCookie documents the cookie of a response.
func setsCookie(status, description string) func(*api, *huma.Operation) {
	return func(_ *api, op *huma.Operation) {
		op.Responses[status].Headers = map[string]*huma.Param{"Set-Cookie": {
			Description: description, Schema: &huma.Schema{Type: huma.TypeString},
		}}
	}
}

// signedIn is the response to signing in. The secret of the session is in the cookie alone.
type signedIn struct {
	Session session  `json:"session"`
	User    userMini `json:"user"`
}

func exampleSignIn() session {
	return session{
		Type: "session", ID: 57913580, CreatedAt: timestamp{exampleTime}, ExpiresAt: timestamp{exampleTime.Add(12 * time.Hour)},
		IdleSeconds: 7200, Address: "203.0.113.7", Agent: "Mozilla/5.0", IsCurrent: true,
	}
}

type signInRequest struct {
	Login    string `json:"login" doc:"The login of the user, regardless of case."`
	Password string `json:"password"`
	Remember bool   `json:"remember,omitempty" doc:"Stay signed in for up to 30 days, and 7 days without use, even if the browser is closed (default: 12 hours, and 2 hours without use)."`
}

var docSignIn = doc{
	id: "sign_in", tag: tagSessions, guest: true, secret: true,
	summary: "Sign in",
	description: "Begins a session and sets its cookie, which is not readable by scripts and not sent with requests of other sites. A " +
		"request with the cookie has all scopes of the user except enterprise_content. The response to an unknown login and to a wrong " +
		"password is the same. After 5 failures of a login from an address, that address must wait for up to 15 minutes. A Platen extension.",
	status:  http.StatusCreated,
	errors:  []docgen.Code{docgen.CodeUnauthorized, docgen.CodeForbidden, docgen.CodeRefused, codeMediaType, docgen.CodeBodyTooLarge},
	body:    signInRequest{Login: "mira@example.com", Password: "correct horse battery staple"},
	example: signedIn{exampleSignIn(), exampleAuthor},
	also:    setsCookie("201", "The session. It is HttpOnly, SameSite=Strict and, over HTTPS, Secure."),
}

func (a *api) signIn(ctx context.Context, c *call, _ *struct{}) (*reply[signedIn], error) {
	cookie, err := a.cookieName(c.r)
	if err != nil {
		return nil, err
	}
	request, err := readGuestBody[signInRequest](c)
	if err != nil {
		return nil, err
	}
	made, err := a.service.SignIn(ctx, docgen.SignIn{
		Login: request.Login, Password: request.Password, Remember: request.Remember, Address: addressKey(c.r.RemoteAddr),
	})
	if err != nil {
		return nil, limited(c, err)
	}
	maxAge := 0
	if made.Remember {
		maxAge = int(made.ExpiresAt.Sub(made.CreatedAt) / time.Second)
	}
	setSession(c.w, cookie, made.Secret, maxAge)
	made.Current = true
	return &reply[signedIn]{signedIn{sessionOf(&made.Session), userMiniOf(&made.User)}}, nil
}

// limited returns the error of an attempt with a password for the client.
func limited(c *call, err error) error {
	if limit, ok := errors.AsType[*docgen.SignInLimitError](err); ok {
		c.w.Header().Set("Retry-After", retryAfter(limit.Wait))
		return failf(codeRateLimit, "Too many failed attempts. Try again in %s seconds.", retryAfter(limit.Wait))
	}
	return err
}

// sessionList is a list that fits on one page.
type sessionList struct {
	Entries []session `json:"entries" doc:"The sessions, the newest first; at most 50."`
}

var docListSessions = doc{
	id: "list_sessions", tag: tagSessions,
	summary:     "List your sessions",
	description: "The sessions of the person who is signed in, the newest first. A Platen extension.",
	errors:      []docgen.Code{docgen.CodeForbidden},
	example:     sessionList{[]session{exampleSignIn()}},
}

func (a *api) listSessions(ctx context.Context, c *call, _ *struct{}) (*reply[sessionList], error) {
	sessions, err := a.service.Sessions(ctx, c.caller)
	if err != nil {
		return nil, err
	}
	return &reply[sessionList]{sessionList{each(sessions, sessionOf)}}, nil
}

// SignInPath identifies a session.
type SignInPath struct {
	SessionID string `path:"session_id" doc:"The id of the session, from the list of sessions." example:"57913580"`
}

var docEndSession = doc{
	id: "end_session", tag: tagSessions,
	summary: "End a session", status: http.StatusNoContent,
	description: "Signs out. The server rejects the session from the next request on. A Platen extension.",
	errors:      []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound},
	also:        setsCookie("204", "Deletes the cookie, if it was that of the session."),
}

func (a *api) endSession(ctx context.Context, c *call, in *SignInPath) (*empty, error) {
	id, err := pathID("session", in.SessionID)
	if err != nil {
		return nil, err
	}
	if err := a.service.EndSession(ctx, c.caller, id); err != nil {
		return nil, err
	}
	if id == c.caller.TokenID {
		a.forgetSession(c)
	}
	return &empty{}, nil
}

var docEndSessions = doc{
	id: "end_sessions", tag: tagSessions,
	summary: "End all your sessions", status: http.StatusNoContent,
	description: "Signs out everywhere, here too. Tokens stay valid. A Platen extension.",
	errors:      []docgen.Code{docgen.CodeForbidden},
	also:        setsCookie("204", "Deletes the cookie."),
}

func (a *api) endSessions(ctx context.Context, c *call, _ *struct{}) (*empty, error) {
	if err := a.service.EndSessions(ctx, c.caller); err != nil {
		return nil, err
	}
	a.forgetSession(c)
	return &empty{}, nil
}

// forgetSession makes the client forget its cookie.
func (a *api) forgetSession(c *call) {
	if name, err := a.cookieName(c.r); err == nil {
		setSession(c.w, name, "", -1)
	}
}

type invitation struct {
	Type      string    `json:"type" enum:"invitation"`
	User      userMini  `json:"user"`
	Secret    string    `json:"secret" doc:"The secret. The server stores only its hash and never shows it again."`
	ExpiresAt timestamp `json:"expires_at"`
}

var docInviteUser = doc{
	id: "invite_user", tag: tagSessions, secret: true,
	summary: "Invite a user to set a password",
	description: "Returns a secret with which the user sets a password, once, within 72 hours; also to replace a forgotten one. An earlier " +
		"invitation becomes invalid. The current password and sessions stay valid until then. The secret lets its holder act as the user, so " +
		"the access token must be allowed to act for users, and have the scopes of the user's sessions. It requires the scope " +
		"`manage_managed_users`. Only administrators can invite administrators. A Platen extension.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeScope, docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeConflict},
	example: invitation{
		Type: "invitation", User: exampleAuthor, Secret: "pVxJ2mUfCh0zq3B8kX1y7dN5sT9wR4aE6gL0uQvI2oM", ExpiresAt: timestamp{exampleTime},
	},
}

func (a *api) inviteUser(ctx context.Context, c *call, in *UserPath) (*reply[invitation], error) {
	id, err := pathID("user", in.UserID)
	if err != nil {
		return nil, err
	}
	made, err := a.service.InviteUser(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[invitation]{invitation{"invitation", userMiniOf(&made.User), made.Secret, timestamp{made.ExpiresAt}}}, nil
}

type acceptInvitationRequest struct {
	Secret   string `json:"secret" doc:"The secret of the invitation."`
	Password string `json:"password" doc:"The new password: 12 to 256 characters."`
}

var docAcceptInvitation = doc{
	id: "accept_invitation", tag: tagSessions, guest: true, secret: true,
	summary: "Set a password with an invitation", status: http.StatusNoContent,
	description: "Sets the password, and ends all sessions of the user. The invitation becomes invalid. Sign in afterward. A Platen " +
		"extension.",
	errors: []docgen.Code{docgen.CodeUnauthorized, docgen.CodeForbidden, codeMediaType, docgen.CodeBodyTooLarge},
	body:   acceptInvitationRequest{"pVxJ2mUfCh0zq3B8kX1y7dN5sT9wR4aE6gL0uQvI2oM", "correct horse battery staple"},
}

func (a *api) acceptInvitation(ctx context.Context, c *call, _ *struct{}) (*empty, error) {
	request, err := readGuestBody[acceptInvitationRequest](c)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.AcceptInvitation(ctx, request.Secret, request.Password, addressKey(c.r.RemoteAddr))
}

type changePasswordRequest struct {
	Current string `json:"current_password"`
	New     string `json:"new_password" doc:"12 to 256 characters."`
}

var docChangePassword = doc{
	id: "change_password", tag: tagSessions,
	summary: "Change your password", status: http.StatusNoContent,
	description: "Changes the password of the person who is signed in, and ends all other sessions. Wrong current passwords count like " +
		"failed attempts to sign in. A Platen extension.",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:   changePasswordRequest{"correct horse battery staple", "nine purple elephants juggle"},
}

func (a *api) changePassword(ctx context.Context, c *call, _ *struct{}) (*empty, error) {
	request, err := readBody[changePasswordRequest](c)
	if err != nil {
		return nil, err
	}
	err = a.service.ChangePassword(ctx, c.caller, request.Current, request.New, addressKey(c.r.RemoteAddr))
	return &empty{}, limited(c, err)
}
