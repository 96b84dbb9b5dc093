package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"platen/docgen"
)

type userCreateCmd struct {
	location
	Login string `required:"" placeholder:"LOGIN" help:"Login of the user, usually an email address."`
	Name  string `required:"" placeholder:"NAME" help:"Name of the person."`
	Role  string `default:"user" enum:"user,coadmin,admin" help:"Role of the user: user, coadmin, or admin (default user)."`
}

// Run creates the user and prints only the id.
func (c *userCreateCmd) Run(ctx context.Context, s *streams) error {
	return c.withNewService(ctx, func(service *docgen.Service) error {
		user, err := service.CreateUser(ctx, docgen.NewUser{Login: c.Login, Name: c.Name, Role: c.Role})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, user.ID)
		return err
	})
}

type userListCmd struct {
	location
	Filter string `placeholder:"TEXT" help:"List users whose name or login starts with this text (default: all users)."`
	JSON   bool   `name:"json" help:"Print JSON, one user per line."`
}

// listedUser is a user as JSON.
type listedUser struct {
	ID           string    `json:"id"`
	Login        string    `json:"login"`
	Name         string    `json:"name"`
	Role         string    `json:"role"`
	Status       string    `json:"status"`
	Weight       int64     `json:"weight"`
	PlatformOnly bool      `json:"is_platform_access_only"`
	CreatedAt    time.Time `json:"created_at"`
	ModifiedAt   time.Time `json:"modified_at"`
	SpaceUsed    int64     `json:"space_used"`             // bytes
	FileCount    int64     `json:"file_count"`             // including the trash
	SpaceAmount  int64     `json:"space_amount,omitempty"` // the user's own quota in bytes; absent for none, or the server's default
}

func listedUserOf(u docgen.User) listedUser {
	return listedUser{
		ID: strconv.FormatInt(u.ID, 10), Login: u.Login, Name: u.Name, Role: u.Role, Status: u.Status, Weight: u.Weight,
		PlatformOnly: u.PlatformOnly, CreatedAt: u.CreatedAt, ModifiedAt: u.ModifiedAt,
		SpaceUsed: u.Space.Bytes, FileCount: u.Space.Files, SpaceAmount: u.Space.Quota.Bytes,
	}
}

// Run prints one line for each user.
func (c *userListCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		pages := func(r docgen.PageRequest) (docgen.Page[docgen.User], error) {
			return service.Users(ctx, service.Operator(), docgen.UserFilter{Term: c.Filter}, r)
		}
		if c.JSON {
			return eachEntry(pages, func(u docgen.User) error { return printLine(s.out, listedUserOf(u)) })
		}
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tLOGIN\tNAME\tROLE\tSTATUS\tCREATED")
		err := eachEntry(pages, func(u docgen.User) error {
			_, err := fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", u.ID, u.Login, u.Name, u.Role, u.Status, shortTime(u.CreatedAt, "-"))
			return err
		})
		return errors.Join(err, table.Flush())
	})
}

// userName identifies a user on the command line.
type userName struct {
	User string `arg:"" placeholder:"USER" help:"Login or id of the user."`
}

// change changes the given user, and prints the user as JSON.
func (n userName) change(ctx context.Context, l *location, s *streams, change docgen.UserChange) error {
	return l.withService(ctx, func(service *docgen.Service) error {
		user, err := service.FindUser(ctx, service.Operator(), n.User)
		if err != nil {
			return err
		}
		if user, err = service.UpdateUser(ctx, service.Operator(), user.ID, change); err != nil {
			return err
		}
		return printJSON(s.out, listedUserOf(user))
	})
}

type userShowCmd struct {
	location
	userName
}

// Run prints the user as JSON.
func (c *userShowCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		user, err := service.FindUser(ctx, service.Operator(), c.User)
		if err != nil {
			return err
		}
		return printJSON(s.out, listedUserOf(user))
	})
}

type userInviteCmd struct {
	location
	User string `arg:"" placeholder:"USER" help:"Login or id of the user."`
}

// Run prints only the secret.
func (c *userInviteCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		user, err := service.FindUser(ctx, service.Operator(), c.User)
		if err != nil {
			return err
		}
		made, err := service.InviteUser(ctx, service.Operator(), user.ID)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, made.Secret)
		return err
	})
}

type userUpdateCmd struct {
	location
	userName
	Login  *string     `placeholder:"LOGIN" help:"New login."`
	Name   *string     `placeholder:"NAME" help:"New name."`
	Role   *string     `placeholder:"ROLE" enum:"user,coadmin,admin" help:"New role: user, coadmin, or admin. One administrator must stay active."`
	Status *string     `placeholder:"STATUS" enum:"active,inactive,cannot_delete_edit,cannot_delete_edit_upload" help:"New status: active, inactive, cannot_delete_edit, or cannot_delete_edit_upload."`
	Space  *sizeOrNone `placeholder:"SIZE" help:"Storage quota of the user, including past versions and the trash, such as 20GiB; none for no limit. Overrides --user-bytes of the server."`
	Weight *int64      `placeholder:"N" help:"The user's share of the machine for documents and notifications, relative to the weights of other users, from 1 (default) to 100."`
}

// kong calls Validate after parsing.
func (c *userUpdateCmd) Validate() error {
	if c.Login == nil && c.Name == nil && c.Role == nil && c.Status == nil && c.Space == nil && c.Weight == nil {
		return errors.New("nothing to change: set --login, --name, --role, --status, --space, or --weight")
	}
	return nil
}

// Run changes the user.
func (c *userUpdateCmd) Run(ctx context.Context, s *streams) error {
	change := docgen.UserChange{Login: c.Login, Name: c.Name, Role: c.Role, Status: c.Status, Weight: c.Weight}
	if c.Space != nil {
		change.SpaceAmount = new(cmp.Or(int64(*c.Space), docgen.NoQuota))
	}
	return c.change(ctx, &c.location, s, change)
}

type userDeactivateCmd struct {
	location
	userName
}

// Run changes the user.
func (c *userDeactivateCmd) Run(ctx context.Context, s *streams) error {
	return c.change(ctx, &c.location, s, docgen.UserChange{Status: new(docgen.StatusInactive)})
}

type userActivateCmd struct {
	location
	userName
}

// Run changes the user.
func (c *userActivateCmd) Run(ctx context.Context, s *streams) error {
	return c.change(ctx, &c.location, s, docgen.UserChange{Status: new(docgen.StatusActive)})
}

type userEraseCmd struct {
	location
	userName
	TransferTo    string `placeholder:"USER" xor:"content" help:"Transfer the user's files and folders to this user: a login or an id."`
	DeleteContent bool   `xor:"content" help:"Permanently delete the user's files and folders."`
	Yes           bool   `help:"Erase the user (default: change nothing)."`
}

// erasurePlan is what an erasure deletes or changes, as JSON.
type erasurePlan struct {
	UserID      string     `json:"user_id"`
	Erased      bool       `json:"erased"`
	ErasedAt    *time.Time `json:"erased_at"` // null until it is done
	Files       int64      `json:"files"`
	Folders     int64      `json:"folders"`
	Bytes       int64      `json:"bytes"`
	Tokens      int64      `json:"tokens"`
	Shares      int64      `json:"shares"`
	Batches     int64      `json:"batches"`
	Jobs        int64      `json:"jobs"`
	Webhooks    int64      `json:"webhooks"`
	Deliveries  int64      `json:"deliveries"`
	AuditEvents int64      `json:"audit_events"`
}

func erasurePlanOf(p docgen.ErasurePlan) erasurePlan {
	plan := erasurePlan{
		UserID: strconv.FormatInt(p.UserID, 10), Files: p.Files, Folders: p.Folders, Bytes: p.Bytes, Tokens: p.Tokens, Shares: p.Shares,
		Batches: p.Batches, Jobs: p.Jobs, Webhooks: p.Webhooks, Deliveries: p.Deliveries, AuditEvents: p.AuditEvents,
	}
	if !p.ErasedAt.IsZero() {
		plan.Erased, plan.ErasedAt = true, &p.ErasedAt
	}
	return plan
}

// Run prints what will be erased, and erases it with --yes.
func (c *userEraseCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		plan, err := service.PlanErasure(ctx, service.Operator(), c.User)
		if err != nil {
			return err
		}
		if c.Yes {
			if err := c.erase(ctx, service, plan.UserID); err != nil {
				return err
			}
			done, err := service.PlanErasure(ctx, service.Operator(), strconv.FormatInt(plan.UserID, 10))
			if err != nil {
				return err
			}
			plan.ErasedAt = done.ErasedAt
		} else if plan.ErasedAt.IsZero() {
			fmt.Fprintln(s.err, "Nothing was changed. To erase this permanently, repeat the command with --yes.")
		}
		return printJSON(s.out, erasurePlanOf(plan))
	})
}

// erase erases a user, and deletes from the database what a server would delete in the background.
func (c *userEraseCmd) erase(ctx context.Context, service *docgen.Service, id int64) error {
	e := docgen.Erasure{Delete: c.DeleteContent}
	if c.TransferTo != "" {
		to, err := service.FindUser(ctx, service.Operator(), c.TransferTo)
		if err != nil {
			return err
		}
		e.To = to.ID
	}
	err := service.EraseUser(ctx, service.Operator(), id, e)
	if docgen.IsCode(err, docgen.CodeUserOwns) {
		return errors.New("the user owns files or folders, possibly in the trash: add --transfer-to USER or --delete-content")
	}
	if err != nil {
		return err
	}
	for _, work := range []func(context.Context) (bool, error){
		service.EraseUsers, service.RemoveTrees,
		func(ctx context.Context) (bool, error) { _, more, err := service.RemoveBatches(ctx); return more, err },
	} {
		for more := true; more; {
			if more, err = work(ctx); err != nil {
				return err
			}
		}
	}
	if err := service.TruncateLog(ctx); err != nil {
		return fmt.Errorf("the user was erased, but the write-ahead log of the database still contains the deleted data: restart the "+
			"server to empty it: %w", err)
	}
	return nil
}
