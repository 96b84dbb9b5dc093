package docgen

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"platen/store"
)

// Operations of administrators, and of applications with permission, on the users of the enterprise. Only the operator
// manages the accounts of applications and of the enterprise itself.

// manages reports whether a caller may manage users of a kind: app users, or managed users.
func (c *Caller) manages(platformOnly bool) bool {
	if platformOnly {
		return c.has(ScopeAppUsers)
	}
	return c.has(ScopeManagedUsers)
}

// requireManager returns an Error if the token cannot manage any users.
func (c *Caller) requireManager() error {
	if c.has(ScopeAppUsers) {
		return nil
	}
	return c.require(ScopeManagedUsers)
}

// managed returns a user whom the caller manages. Other users are not found.
func (s *Service) managed(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.User, error) {
	row, err := s.account(ctx, q, id)
	if err == nil && (row.Kind == KindService || !c.manages(row.PlatformOnly)) {
		return store.User{}, NotFound("user", id)
	}
	return row, err
}

// lockManaged returns a user whom the caller manages and whom nobody else can change until the transaction ends. Only
// administrators can change administrators.
func (s *Service) lockManaged(ctx context.Context, tx *store.Tx, c *Caller, id int64) (store.User, error) {
	row, err := s.managed(ctx, tx.Queries, c, id)
	if err != nil {
		return row, err
	}
	if _, err := tx.LockUser(ctx, id); err != nil {
		return row, err
	}
	if row, err = s.managed(ctx, tx.Queries, c, id); err != nil {
		return row, err
	}
	return row, c.checkAdmin(row)
}

// checkAdmin returns an Error if the user is an administrator and the caller is not.
func (c *Caller) checkAdmin(row store.User) error {
	if row.Role == RoleAdmin && c.User.Role != RoleAdmin {
		return failf(CodeForbidden, "Access denied – only administrators can change administrators.")
	}
	return nil
}

// checkRole checks that a caller may assign a role.
func (c *Caller) checkRole(role string) error {
	if role == RoleAdmin && c.User.Role != RoleAdmin {
		return failf(CodeForbidden, "Access denied – only administrators can create administrators.")
	}
	return nil
}

// User returns a user whom the caller manages.
func (s *Service) User(ctx context.Context, c *Caller, id int64) (User, error) {
	if err := c.requireManager(); err != nil {
		return User{}, err
	}
	var user User
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := s.managed(ctx, q, c, id)
		if err != nil {
			return err
		}
		user, err = s.describeUser(ctx, q, row)
		return err
	})
	return user, err
}

// FindUser returns a user whom the caller manages, by login, regardless of case, or by id. If a login is also the id of
// another user, the login takes precedence.
func (s *Service) FindUser(ctx context.Context, c *Caller, name string) (User, error) {
	if err := c.requireManager(); err != nil {
		return User{}, err
	}
	var user User
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := userByLogin(ctx, q, kept(name))
		if id, failure := strconv.ParseInt(name, 10, 64); failure == nil && IsCode(err, CodeNotFound) {
			row.ID, err = id, nil
		}
		if err == nil {
			row, err = s.managed(ctx, q, c, row.ID)
		}
		if IsCode(err, CodeNotFound) {
			return failf(CodeNotFound, "No user has the login or id %q.", name)
		}
		if err != nil {
			return err
		}
		user, err = s.describeUser(ctx, q, row)
		return err
	})
	return user, err
}

// UserFilter selects users. The zero value selects all.
type UserFilter struct {
	Term       string // prefix of the name or the login
	Type       string // all, managed or external; empty is all
	ExternalID string
}

// check checks a filter. selects is false if it selects nobody, as for another enterprise.
func (f UserFilter) check() (selects bool, err error) {
	var problems []Problem
	if !slices.Contains([]string{"", "all", "managed", "external"}, f.Type) {
		problems = append(problems, invalidField("user_type", "user_type must be all, managed, or external"))
	}
	for name, text := range map[string]string{"filter_term": f.Term, "external_app_user_id": f.ExternalID} {
		if !keepable(text) || len(text) > 4*maxProfileLength {
			problems = append(problems, invalidField(name, "%s must be UTF-8 without NUL, and at most %d bytes long", name, 4*maxProfileLength))
		}
	}
	return f.Type != "external", Invalid(problems...)
}

// selected says in the terms of the queries which users a filter selects for a caller: none but those whom the caller manages.
func (s *Service) selected(c *Caller, f UserFilter) (store.CountUsersParams, error) {
	selects, err := f.check()
	return store.CountUsersParams{
		EnterpriseID: s.enterprise.id, Term: foldKey(f.Term), ExternalID: f.ExternalID,
		SeesAppUsers: selects && c.manages(true), SeesManagedUsers: selects && c.manages(false),
	}, err
}

func (s *Service) describeUsers(ctx context.Context, q *store.Queries, rows []store.User, err error) ([]User, error) {
	if err != nil {
		return nil, err
	}
	users := make([]User, len(rows))
	for i, row := range rows {
		if users[i], err = s.describeUser(ctx, q, row); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// Users returns one page by marker of the users whom the caller manages, in ascending order of id.
func (s *Service) Users(ctx context.Context, c *Caller, f UserFilter, r PageRequest) (Page[User], error) {
	if err := c.requireManager(); err != nil {
		return Page[User]{}, err
	}
	of, err := s.selected(c, f)
	if err != nil {
		return Page[User]{}, err
	}
	var result Page[User]
	err = s.db.Read(ctx, func(q *store.Queries) (err error) {
		describe := func(rows []store.User, err error) ([]User, error) { return s.describeUsers(ctx, q, rows, err) }
		params := store.UsersAfterParams{
			EnterpriseID: of.EnterpriseID, Term: of.Term, ExternalID: of.ExternalID,
			SeesAppUsers: of.SeesAppUsers, SeesManagedUsers: of.SeesManagedUsers,
		}
		result, err = page(s, c, r, list[User]{
			name: "users/" + f.Type + "/" + params.Term + "/" + foldKey(f.ExternalID),
			keys: 1,
			key:  func(u User) []int64 { return []int64{u.ID} },
			after: func(from []int64, limit int32) ([]User, error) {
				params.FromID, params.Count = from[0], limit
				return describe(q.UsersAfter(ctx, params))
			},
			before: func(from []int64, limit int32) ([]User, error) {
				params.FromID, params.Count = from[0], limit
				return describe(q.UsersBefore(ctx, store.UsersBeforeParams(params)))
			},
		})
		return err
	})
	return result, err
}

// UsersByOffset returns one page by offset of the users whom the caller manages, in ascending order of id. Other users
// are not even counted: otherwise, a filter could reveal their logins.
func (s *Service) UsersByOffset(ctx context.Context, c *Caller, f UserFilter, r OffsetRequest) (OffsetPage[User], error) {
	if err := c.requireManager(); err != nil {
		return OffsetPage[User]{}, err
	}
	of, err := s.selected(c, f)
	if err != nil {
		return OffsetPage[User]{}, err
	}
	var result OffsetPage[User]
	err = s.db.Read(ctx, func(q *store.Queries) (err error) {
		describe := func(rows []store.User, err error) ([]User, error) { return s.describeUsers(ctx, q, rows, err) }
		result, err = pageAt(c, r,
			func() (int64, error) { return q.CountUsers(ctx, of) },
			func(limit, offset int32) ([]User, error) {
				return describe(q.UsersAt(ctx, store.UsersAtParams{
					EnterpriseID: of.EnterpriseID, Term: of.Term, ExternalID: of.ExternalID,
					SeesAppUsers: of.SeesAppUsers, SeesManagedUsers: of.SeesManagedUsers, Count: limit, Skip: offset,
				}))
			})
		return err
	})
	return result, err
}

// AddUser creates a user for a caller who manages such users.
func (s *Service) AddUser(ctx context.Context, c *Caller, u NewUser) (User, error) {
	need := ScopeManagedUsers
	if u.PlatformOnly {
		need = ScopeAppUsers
	}
	if err := c.require(need); err != nil {
		return User{}, err
	}
	if err := Invalid(u.Problems()...); err != nil {
		return User{}, err
	}
	if err := c.checkRole(u.Role); err != nil {
		return User{}, err
	}
	return s.createUser(ctx, c, u)
}

// UserChange is a change of a user. Nil fields stay unchanged.
type UserChange struct {
	Login, Name, Role, Status, ExternalID        *string
	Language, TimeZone, JobTitle, Phone, Address *string
	SpaceAmount                                  *int64 // bytes that the user may store; NoQuota for no limit
	Weight                                       *int64 // share of the machine, from 1 to MaxWeight; only administrators change it
}

// apply changes the fields of a user.
func (change UserChange) apply(u *NewUser) {
	for to, from := range map[*string]*string{
		&u.Login: change.Login, &u.Name: change.Name, &u.Role: change.Role, &u.Status: change.Status, &u.ExternalID: change.ExternalID,
		&u.Profile.Language: change.Language, &u.Profile.TimeZone: change.TimeZone, &u.Profile.JobTitle: change.JobTitle,
		&u.Profile.Phone: change.Phone, &u.Profile.Address: change.Address,
	} {
		if from != nil {
			*to = *from
		}
	}
}

// Problems says everything that is wrong with a change.
func (change UserChange) Problems() []Problem {
	u := NewUser{Login: "login", Name: "name"}
	change.apply(&u)
	problems := u.Problems()
	for _, field := range []struct {
		name  string
		value *string
	}{{"role", change.Role}, {"status", change.Status}} {
		if field.value != nil && *field.value == "" { // which for a new user would mean the default
			problems = append(problems, invalidField(field.name, "%s must not be empty; omit it to keep the current value", field.name))
		}
	}
	if n := change.SpaceAmount; n != nil && (*n < NoQuota || *n == 0) {
		problems = append(problems, invalidField("space_amount", "space_amount must be a positive number of bytes, or -1 for no limit"))
	}
	if n := change.Weight; n != nil && (*n < 1 || *n > MaxWeight) {
		problems = append(problems, invalidField("weight", "weight must be an integer from 1 to %d", MaxWeight))
	}
	return problems
}

// UpdateUser changes a user whom the caller manages. Callers cannot change their own role or status, and there is always an administrator.
// A user with a new login gets the items to which that login was invited, so changing one's own login requires ScopeGlobalContent.
func (s *Service) UpdateUser(ctx context.Context, c *Caller, id int64, change UserChange) (User, error) {
	if err := c.requireManager(); err != nil {
		return User{}, err
	}
	if err := Invalid(change.Problems()...); err != nil {
		return User{}, err
	}
	var user User
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockSetting(ctx, settingAdmins); err != nil {
			return err
		}
		row, err := s.lockManaged(ctx, tx, c, id)
		if err != nil {
			return err
		}
		if err := s.updateUser(ctx, tx, c, row, change); err != nil {
			return err
		}
		if change.SpaceAmount != nil {
			if err := tx.SetQuota(ctx, id, *change.SpaceAmount); err != nil {
				return err
			}
		}
		if err := setWeight(ctx, tx, c, row, change.Weight); err != nil {
			return err
		}
		if err := s.checkAdmins(ctx, tx, row); err != nil {
			return err
		}
		if user, err = s.user(ctx, tx.Queries, id); err != nil {
			return err
		}
		changes := userChanges(row, user)
		if change.SpaceAmount != nil {
			changes = append(changes, "space_amount", strconv.FormatInt(*change.SpaceAmount, 10))
		}
		return s.audit(ctx, tx, c, AuditUserUpdated, auditOf("user", id), changes...)
	})
	return user, err
}

// userChanges describes a change of a user for the audit log, as "before → after". It leaves out the profile.
func userChanges(before store.User, after User) []string {
	var changes []string
	for _, field := range []struct{ name, before, after string }{
		{"login", before.Login, after.Login}, {"name", before.Name, after.Name}, {"role", before.Role, after.Role},
		{"status", before.Status, after.Status},
	} {
		if field.before != field.after {
			changes = append(changes, field.name, field.before+auditArrow+field.after)
		}
	}
	if before.Weight != after.Weight {
		changes = append(changes, "weight", fmt.Sprintf("%d → %d", before.Weight, after.Weight))
	}
	return changes
}

// setWeight changes the weight of a user, unless weight is nil.
func setWeight(ctx context.Context, tx *store.Tx, c *Caller, row store.User, weight *int64) error {
	if weight == nil || *weight == row.Weight {
		return nil
	}
	if c.User.Role != RoleAdmin {
		return failf(CodeForbidden, "Access denied – only administrators can change the weight of a user.")
	}
	return tx.SetUserWeight(ctx, row.ID, *weight)
}

func (s *Service) updateUser(ctx context.Context, tx *store.Tx, c *Caller, row store.User, change UserChange) error {
	before, err := s.describeUser(ctx, tx.Queries, row)
	if err != nil {
		return err
	}
	u := NewUser{
		Login: before.Login, Name: before.Name, Role: before.Role, Status: before.Status, ExternalID: before.ExternalID, Profile: before.Profile,
	}
	change.apply(&u)
	if row.ID == c.User.ID && (u.Role != row.Role || u.Status != row.Status) {
		return failf(CodeForbidden, "Access denied – you cannot change your own role or status.")
	}
	if row.ID == c.User.ID && foldKey(u.Login) != row.LoginKey { // the user would get the invitations of that login
		if err := c.require(ScopeGlobalContent); err != nil {
			return err
		}
	}
	if err := c.checkRole(u.Role); err != nil {
		return err
	}
	profile, err := u.Profile.text()
	if err != nil {
		return err
	}
	err = tx.UpdateUser(ctx, store.UpdateUserParams{
		ID: row.ID, Login: u.Login, LoginKey: foldKey(u.Login), Name: u.Name, NameKey: foldKey(u.Name), Role: u.Role, Status: u.Status,
		ExternalID: u.ExternalID, Profile: profile, ModifiedAt: s.micros(),
	})
	if store.IsUniqueViolation(err) {
		return loginInUse(u.Login)
	}
	if err != nil || foldKey(u.Login) == row.LoginKey {
		return err
	}
	return s.bindInvitations(ctx, tx, row.ID, foldKey(u.Login))
}

// checkAdmins returns an Error if no administrator is left after a change of one.
func (s *Service) checkAdmins(ctx context.Context, tx *store.Tx, before store.User) error {
	if before.Role != RoleAdmin || before.Status == StatusInactive {
		return nil
	}
	left, err := tx.CountActiveAdmins(ctx, s.enterprise.id)
	if err == nil && left == 0 {
		return failf(CodeForbidden, "Access denied – user %d is the last administrator. Promote another user first.", before.ID)
	}
	return err
}
