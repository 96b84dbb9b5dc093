package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/language"

	"platen/store"
)

// The roles of a user in the enterprise.
const (
	RoleAdmin   = "admin"
	RoleCoadmin = "coadmin"
	RoleUser    = "user"
)

// The kinds of user: a person, or the account of an application or of the enterprise.
const (
	KindManaged = "managed"
	KindService = "service"
)

// The statuses of a user. Tokens of an inactive user are rejected; the last two statuses remove permissions (see
// restrictions).
const (
	StatusActive             = "active"
	StatusInactive           = "inactive"
	StatusCannotDelete       = "cannot_delete_edit"
	StatusCannotDeleteUpload = "cannot_delete_edit_upload"
)

// User is an account of the enterprise.
type User struct {
	ID             int64
	Login          string // unique, regardless of case
	Name           string
	Kind           string // KindManaged or KindService
	Role           string // RoleAdmin, RoleCoadmin, or RoleUser
	Status         string // one of the statuses
	PlatformOnly   bool   // only applications can see the user
	ExternalID     string // identifies the user in an application
	Profile        Profile
	EnterpriseID   int64
	EnterpriseName string // empty in a Caller
	CreatedAt      time.Time
	ModifiedAt     time.Time
	Space          Space // zero in a Caller
	Weight         int64 // share of the machine, compared with the weights of others; from 1 to MaxWeight
}

// MaxWeight is the largest weight of a user. Users have 1 unless an administrator says otherwise.
const MaxWeight = 100

// Profile has the data of a user that no rule depends on.
type Profile struct {
	Language string `json:"language,omitempty"`
	TimeZone string `json:"timezone,omitempty"`
	JobTitle string `json:"job_title,omitempty"`
	Phone    string `json:"phone,omitempty"`
	Address  string `json:"address,omitempty"`
}

// UserRef is a reference to a user from other objects.
type UserRef struct {
	ID    int64
	Name  string
	Login string
}

// userOf converts a row to a User, without the profile.
func userOf(row store.User, enterprise string) User {
	return User{
		ID: row.ID, Login: row.Login, Name: row.Name, Kind: row.Kind, Role: row.Role, Status: row.Status,
		PlatformOnly: row.PlatformOnly, ExternalID: row.ExternalID, EnterpriseID: row.EnterpriseID, EnterpriseName: enterprise,
		Weight:    row.Weight,
		CreatedAt: timeOf(row.CreatedAt), ModifiedAt: timeOf(row.ModifiedAt),
	}
}

// describeUser converts a row to a User, with the profile.
func (s *Service) describeUser(ctx context.Context, q *store.Queries, row store.User) (user User, err error) {
	user = userOf(row, s.enterprise.name)
	if user.Space, err = s.space(ctx, q, row.ID); err != nil || row.Profile == "" {
		return user, err
	}
	if err := json.Unmarshal([]byte(row.Profile), &user.Profile); err != nil {
		return user, fmt.Errorf("profile of user %d: %w", row.ID, err)
	}
	return user, nil
}

// isActive reports whether an account can be used.
func isActive(row store.User) bool { return row.Status != StatusInactive && row.DeletedAt == 0 }

// account returns an account of the enterprise that has not been deleted.
func (s *Service) account(ctx context.Context, q *store.Queries, id int64) (store.User, error) {
	row, err := q.User(ctx, id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (row.User.DeletedAt != 0 || row.User.EnterpriseID != s.enterprise.id) {
		return store.User{}, NotFound("user", id)
	}
	return row.User, err
}

// Me returns the caller's own account. It needs no scope.
func (s *Service) Me(ctx context.Context, c *Caller) (User, error) {
	var user User
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		user, err = s.user(ctx, q, c.User.ID)
		return err
	})
	return user, err
}

// user returns a user of the enterprise. Deleted users are not found.
func (s *Service) user(ctx context.Context, q *store.Queries, id int64) (User, error) {
	row, err := s.account(ctx, q, id)
	if err != nil {
		return User{}, err
	}
	return s.describeUser(ctx, q, row)
}

// NewUser describes a user to create.
type NewUser struct {
	Login        string // may be empty if PlatformOnly is set
	Name         string
	Role         string // RoleUser if empty
	Status       string // StatusActive if empty
	PlatformOnly bool
	ExternalID   string
	Profile      Profile
}

// Limits of the texts about a user, in characters.
const (
	maxLoginLength   = 254 // a login, or a name
	maxProfileLength = 255 // anything else
)

func (u NewUser) withDefaults() NewUser {
	u.Role, u.Status = cmp.Or(u.Role, RoleUser), cmp.Or(u.Status, StatusActive)
	return u
}

// Problems returns all problems of a new user.
func (u NewUser) Problems() []Problem {
	u = u.withDefaults()
	var problems []Problem
	if u.Login == "" && !u.PlatformOnly {
		problems = append(problems, Problem{Reason: ReasonMissing, Name: "login",
			Message: "'login' is required unless is_platform_access_only is true"})
	} else {
		problems = append(problems, loginProblems("login", u.Login)...)
	}
	problems = append(problems, nameProblems(u.Name)...)
	if roles := []string{RoleAdmin, RoleCoadmin, RoleUser}; !slices.Contains(roles, u.Role) {
		problems = append(problems, invalidField("role", "%q is not a role; the roles are %s", u.Role, strings.Join(roles, ", ")))
	}
	if statuses := []string{StatusActive, StatusInactive, StatusCannotDelete, StatusCannotDeleteUpload}; !slices.Contains(statuses, u.Status) {
		problems = append(problems, invalidField("status", "%q is not a status; the statuses are %s", u.Status, strings.Join(statuses, ", ")))
	}
	return append(problems, u.profileProblems()...)
}

// loginProblems returns the problems of the login in a field.
func loginProblems(field, login string) []Problem {
	if !keepable(login) || strings.ContainsAny(login, " \t\r\n") || utf8.RuneCountInString(login) > maxLoginLength {
		return []Problem{invalidField(field, "a login must have 1 to %d characters, without spaces", maxLoginLength)}
	}
	return nil
}

func (u NewUser) profileProblems() []Problem {
	var problems []Problem
	for _, field := range []struct{ name, value string }{
		{"external_app_user_id", u.ExternalID}, {"language", u.Profile.Language}, {"timezone", u.Profile.TimeZone},
		{"job_title", u.Profile.JobTitle}, {"phone", u.Profile.Phone}, {"address", u.Profile.Address},
	} {
		if !keepable(field.value) || utf8.RuneCountInString(field.value) > maxProfileLength {
			problems = append(problems, invalidField(field.name, "%s must be UTF-8 without NUL, and at most %d characters long", field.name,
				maxProfileLength))
		}
	}
	if _, err := language.Parse(u.Profile.Language); u.Profile.Language != "" && err != nil {
		problems = append(problems, invalidField("language", "language must be a language tag such as de or pt-BR"))
	}
	if _, err := time.LoadLocation(u.Profile.TimeZone); u.Profile.TimeZone == "Local" || err != nil {
		problems = append(problems, invalidField("timezone", "timezone must be the name of a time zone such as Europe/Paris"))
	}
	return problems
}

// CreateUser creates a user with an empty root folder. It is reserved for the operator.
func (s *Service) CreateUser(ctx context.Context, u NewUser) (User, error) {
	return s.createUser(ctx, s.Operator(), u)
}

func (s *Service) createUser(ctx context.Context, c *Caller, u NewUser) (User, error) {
	if err := Invalid(u.Problems()...); err != nil {
		return User{}, err
	}
	var user User
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.newUserRow(s.enterprise.id, KindManaged, u)
		if err != nil {
			return err
		}
		added, err := s.insertUser(ctx, tx, row)
		if err != nil {
			return err
		}
		if !added {
			return loginInUse(u.Login)
		}
		if err := s.audit(ctx, tx, c, AuditUserCreated, auditOf("user", row.ID), "login", row.Login, "role", row.Role, "status",
			row.Status); err != nil {
			return err
		}
		user, err = s.user(ctx, tx.Queries, row.ID)
		return err
	})
	return user, err
}

func loginInUse(login string) error {
	return failf(CodeLoginInUse, "Another user has the login %q.", login)
}

// newUserRow returns the row of a new user.
func (s *Service) newUserRow(enterpriseID int64, kind string, u NewUser) (store.InsertUserParams, error) {
	u = u.withDefaults()
	now, id := s.micros(), s.newID()
	if u.PlatformOnly && u.Login == "" {
		u.Login = "AppUser_" + strconv.FormatInt(id, 10) + accountDomain
	}
	profile, err := u.Profile.text()
	return store.InsertUserParams{
		ID: id, EnterpriseID: enterpriseID, Login: u.Login, LoginKey: foldKey(u.Login), Name: u.Name, NameKey: foldKey(u.Name),
		Kind: kind, Role: u.Role, Status: u.Status, RootFolderID: s.newID(), CreatedAt: now, ModifiedAt: now,
		PlatformOnly: u.PlatformOnly, ExternalID: u.ExternalID, Profile: profile,
	}, err
}

// text returns the stored form of a profile.
func (p Profile) text() (string, error) {
	if p == (Profile{}) {
		return "", nil
	}
	b, err := json.Marshal(p)
	return string(b), err
}

// insertUser adds a user with an empty root folder. It returns false if the login is taken.
func (s *Service) insertUser(ctx context.Context, tx *store.Tx, row store.InsertUserParams) (bool, error) {
	added, err := tx.InsertUser(ctx, row)
	if err != nil || added == 0 {
		return false, err
	}
	if _, err = tx.InsertItem(ctx, newItemRow(Folder, row.RootFolderID, sql.NullInt64{}, rootName, row.ID, row.ID,
		row.CreatedAt)); err != nil {
		return false, err
	}
	return true, s.bindInvitations(ctx, tx, row.ID, row.LoginKey)
}

// userID returns the column value for a user.
func userID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: true} }
