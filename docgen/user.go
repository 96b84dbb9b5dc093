package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"platen/store"
)

// Roles of a user in the enterprise.
const (
	RoleAdmin   = "admin"
	RoleCoadmin = "coadmin"
	RoleUser    = "user"
)

// Kinds of user: a person, or an application's own account.
const (
	KindManaged = "managed"
	KindService = "service"
)

// Statuses of a user. An inactive user's tokens are refused.
const (
	StatusActive   = "active"
	StatusInactive = "inactive"
)

// User is an account of the enterprise.
type User struct {
	ID             int64
	Login          string // unique, whatever its case
	Name           string
	Kind           string // KindManaged or KindService
	Role           string // RoleAdmin, RoleCoadmin or RoleUser
	Status         string // StatusActive, StatusInactive or one of the interface's other two
	EnterpriseID   int64
	EnterpriseName string // empty in a Caller
	CreatedAt      time.Time
	ModifiedAt     time.Time
}

// UserRef is a user as other objects name one.
type UserRef struct {
	ID    int64
	Name  string
	Login string
}

func userOf(row store.User, enterprise string) User {
	return User{
		ID: row.ID, Login: row.Login, Name: row.Name, Kind: row.Kind, Role: row.Role, Status: row.Status,
		EnterpriseID: row.EnterpriseID, EnterpriseName: enterprise,
		CreatedAt: timeOf(row.CreatedAt), ModifiedAt: timeOf(row.ModifiedAt),
	}
}

// Me returns the caller's own account. It needs no scope.
func (s *Service) Me(ctx context.Context, c *Caller) (User, error) {
	var user User
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := q.User(ctx, c.User.ID)
		if err != nil {
			return err
		}
		user = userOf(row.User, row.EnterpriseName)
		return nil
	})
	return user, err
}

// NewUser describes a user to be made.
type NewUser struct {
	Login string
	Name  string
	Role  string // RoleUser when empty
	Kind  string // KindManaged when empty
}

// maxLoginLength is the most characters a login or a user's name has.
const maxLoginLength = 254

func (u NewUser) problems() []Problem {
	var problems []Problem
	if u.Login == "" || !keepable(u.Login) || strings.ContainsAny(u.Login, " \t\r\n") || utf8.RuneCountInString(u.Login) > maxLoginLength {
		problems = append(problems, invalidField("login", "a login has 1 to %d characters and no blanks", maxLoginLength))
	}
	if strings.TrimSpace(u.Name) == "" || !keepable(u.Name) || utf8.RuneCountInString(u.Name) > maxLoginLength {
		problems = append(problems, invalidField("name", "a name has 1 to %d characters", maxLoginLength))
	}
	if !slices.Contains([]string{RoleAdmin, RoleCoadmin, RoleUser}, u.Role) {
		problems = append(problems, invalidField("role", "%q is no role; the roles are admin, coadmin and user", u.Role))
	}
	if !slices.Contains([]string{KindManaged, KindService}, u.Kind) {
		problems = append(problems, invalidField("kind", "%q is no kind of user; the kinds are managed and service", u.Kind))
	}
	return problems
}

// CreateUser makes a user with an empty root folder. It is an act of the operator, not of a caller.
func (s *Service) CreateUser(ctx context.Context, u NewUser) (User, error) {
	u.Role, u.Kind = cmp.Or(u.Role, RoleUser), cmp.Or(u.Kind, KindManaged)
	if err := Invalid(u.problems()...); err != nil {
		return User{}, err
	}
	var user User
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row := s.newUserRow(s.enterprise.id, u)
		added, err := s.insertUser(ctx, tx, row)
		if err != nil {
			return err
		}
		if !added {
			return failf(CodeLoginInUse, "There is a user with the login %q already.", u.Login)
		}
		made, err := tx.User(ctx, row.ID)
		user = userOf(made.User, made.EnterpriseName)
		return err
	})
	return user, err
}

// newUserRow describes a user who comes into being now.
func (s *Service) newUserRow(enterpriseID int64, u NewUser) store.InsertUserParams {
	now := s.micros()
	return store.InsertUserParams{
		ID: s.newID(), EnterpriseID: enterpriseID, Login: u.Login, LoginKey: foldKey(u.Login), Name: u.Name, NameKey: foldKey(u.Name),
		Kind: u.Kind, Role: u.Role, Status: StatusActive, RootFolderID: s.newID(), CreatedAt: now, ModifiedAt: now,
	}
}

// insertUser adds a user with an empty root folder; false when the login is taken.
func (s *Service) insertUser(ctx context.Context, tx *store.Tx, row store.InsertUserParams) (bool, error) {
	added, err := tx.InsertUser(ctx, row)
	if err != nil || added == 0 {
		return false, err
	}
	if _, err = tx.InsertItem(ctx, newItemRow(Folder, row.RootFolderID, sql.NullInt64{}, rootName, row.ID, row.ID, row.CreatedAt)); err != nil {
		return false, err
	}
	return true, bindInvitations(ctx, tx, row.ID, row.LoginKey)
}
